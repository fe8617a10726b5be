//! The tools of any server: `cargo run -p mcp-revisions --example client -- SERVER [ARGUMENT...]`.
use mcp_revisions::newest::CallServer;
use mcp_revisions::service::{Client, Error};
#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::new(&mcp_revisions::program!()).command(std::env::args().skip(1))?;
    for tool in client.list_tools(None).await?.tools {
        println!("{}", tool.name);
    }
    client.close().await
}
