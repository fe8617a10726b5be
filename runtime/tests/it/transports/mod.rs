//! The client's transports, against servers that answer, and against servers that die, hang, flood and send away.

mod child;
mod framing;
mod guarded;
mod http;
mod http_sse;
mod lines;
mod quirks;
mod session;
mod sign_in;
mod tls;
mod verifiers;

use mcp_revisions::Latest;
use mcp_revisions::latest as mcp;
use mcp_revisions::service::client::ClientBuilder;
use mcp_revisions::service::{Client, Error, RequestContext, Router};
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
        .tool(
            "count",
            "Counts.",
            |cx: RequestContext<Latest>| async move {
                cx.progress(1, 2).await;
                "counted"
            },
        )
        .tool("who", "Asks.", |cx: RequestContext<Latest>| async move {
            Ok::<_, Error>(cx.elicit::<Name>("Who?").await?.name)
        })
}

fn client() -> ClientBuilder<Latest, ()> {
    Client::builder(&mcp::Implementation::new(
        "client",
        mcp_revisions::args::Version("1.0.0"),
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
