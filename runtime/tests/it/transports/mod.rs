//! The client's transports, against servers that answer, and against servers that die, hang, flood and send away.

mod child;
mod http;
mod http_sse;
mod oauth;
mod session;
mod tls;

use mcp_revisions::Newest;
use mcp_revisions::newest as mcp;
use mcp_revisions::service::client::Connect;
use mcp_revisions::service::{Client, Cx, Error, Router};
use serde::Deserialize;

#[derive(Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// The server of all tests.
fn router() -> Router {
    Router::new()
        .tool("hello", "Greets.", || async { "hello" })
        .tool("slow", "Never answers.", || {
            std::future::pending::<&'static str>()
        })
        .tool("count", "Counts.", |cx: Cx<Newest>| async move {
            cx.progress(1, 2).await;
            "counted"
        })
        .tool("who", "Asks.", |cx: Cx<Newest>| async move {
            Ok::<_, Error>(cx.elicit::<Name>("Who?").await?.name)
        })
}

fn client() -> Connect<Newest, ()> {
    Client::new(&mcp::Implementation::new(
        "client",
        mcp_revisions::words::Version("1.0.0"),
    ))
}

/// Calls a tool, and gives back its text.
async fn call(client: &Client, name: &str) -> Result<String, Error> {
    use mcp::CallServer;
    let result = client
        .call_tool(mcp::CallToolRequestParams::new(name))
        .await?;
    match &result.content[0] {
        mcp::ContentBlock::Text(text) => Ok(text.text.clone()),
        other => panic!("{other:?}"),
    }
}
