//! A client that gets its token by OAuth once the server challenges it: `cargo run -p mcp-revisions --example oauth`.
//!
//! All three are here, on this machine: a server that wants a token and an authorization server that hands them out
//! ([`servers`]), and the client. What the client does is [`tokens`].

mod servers;
mod tokens;

use mcp_revisions::latest::CallServer;
use mcp_revisions::service::Client;
use mcp_revisions::service::client::Http;

use tokens::{Failure, Registration, Tokens};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, servers::servers(&origin)?).into_future());

    let url = format!("{origin}/mcp");
    let registration = Registration {
        issuer: origin,
        client: "example".to_owned(),
        secret: "secret".to_owned(),
    };
    let http = Http::new(&url)?.with_authorization(Tokens::of(&url, registration));
    let client = Client::builder(&mcp_revisions::program!()).http(http);
    for tool in client.list_tools(None).await?.tools {
        println!("{}", tool.name);
    }
    Ok(client.close().await?)
}
