//! A client that answers what a server requests: elicitation, sampling and roots; with progress, a timeout and
//! cancellation. The server is in the same process: `cargo run -p mcp-revisions --example interactive`.
//!
//! Sampling and roots are deprecated since 2026-07-28; they are here because servers still use them.

use std::time::Duration;

use mcp_revisions::args;
use mcp_revisions::latest::{self as mcp, CallClient, CallServer, ClientHandlers};
use mcp_revisions::mcp_wire::Map;
use mcp_revisions::service::client::ClientContext;
use mcp_revisions::{Client, Error, RequestContext, Router};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the client does when the server sends it a request.
struct Desk;

impl ClientHandlers<ClientContext> for Desk {
    /// Shows the form to the user; this one fills in a name without asking.
    async fn elicit(
        &self,
        params: mcp::ElicitRequestParams,
        _: ClientContext,
    ) -> Result<mcp::ElicitResult, Error> {
        let mcp::ElicitRequestParams::Form(form) = params else {
            return Ok(mcp::ElicitResult::new(mcp::ElicitAction::Decline));
        };
        println!("the server asks: {}", form.message);
        let content = Map::from_iter([("name", mcp::ElicitValue::from("Ada".to_owned()))]);
        Ok(mcp::ElicitResult::new(mcp::ElicitAction::Accept).with_content(content))
    }

    /// Runs a model; this one answers with the same text every time.
    async fn create_message(
        &self,
        _: mcp::CreateMessageRequestParams,
        _: ClientContext,
    ) -> Result<mcp::CreateMessageResult, Error> {
        let text = mcp::SamplingContent::Text(mcp::TextContent::new("Three lines."));
        Ok(mcp::CreateMessageResult::new(
            mcp::Role::Assistant,
            text,
            "no-model",
        ))
    }

    /// Lists the folders that the server may work in.
    async fn list_roots(
        &self,
        _: mcp::ListRootsRequestParams,
        _: ClientContext,
    ) -> Result<mcp::ListRootsResult, Error> {
        let root = mcp::Root::new("file:///home/ada/project");
        Ok(mcp::ListRootsResult::new(vec![root]))
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(serve(far));
    let (input, output) = tokio::io::split(near);
    let info = mcp::Implementation::new("desk", args::Version("1.0.0"));
    let client = Client::builder(&info)
        .with_handlers(Desk)
        .lines(input, output);

    for tool in ["greet", "summarize", "folders"] {
        println!("{tool}: {}", call(&client, tool).await?);
    }

    // A handle whose calls report progress. It shares the connection.
    let slow = client.on_progress(|progress| println!("{} of {:?}", progress.done, progress.total));
    println!("count: {}", call(&slow, "count").await?);

    // A handle whose calls fail after 100 ms. The server is told that the call is cancelled.
    let hasty = client.within(Duration::from_millis(100));
    if let Err(error) = call(&hasty, "sleep").await {
        println!("sleep: {error}");
    }

    // Dropping the future of a call cancels it, too.
    let sleep = call(&client, "sleep");
    tokio::select! {
        result = sleep => println!("sleep: {result:?}"),
        () = tokio::time::sleep(Duration::from_millis(100)) => println!("sleep: cancelled"),
    }
    client.close().await
}

/// Calls a tool without arguments, and returns the text of its result.
async fn call(client: &Client, tool: &str) -> Result<String, Error> {
    let result = client
        .call_tool(mcp::CallToolRequestParams::new(tool))
        .await?;
    match result.content.into_iter().next() {
        Some(mcp::ContentBlock::Text(text)) => Ok(text.text),
        other => Err(Error::internal(format!("expected text, found {other:?}"))),
    }
}

/// A server whose tools need the client.
async fn serve(stream: tokio::io::DuplexStream) -> std::io::Result<()> {
    let server = Router::new()
        .tool("greet", "Greets the user by name.", greet)
        .tool(
            "summarize",
            "Has the client's model summarize a page.",
            summarize,
        )
        .tool("folders", "Lists the folders of the client.", folders)
        .tool("count", "Counts to three, and reports progress.", count)
        .tool("sleep", "Never returns.", std::future::pending::<String>)
        .build("interactive", "1.0.0")
        .map_err(std::io::Error::other)?;
    let (input, output) = tokio::io::split(stream);
    server.lines(input, output).await
}

#[derive(Deserialize, JsonSchema)]
struct Profile {
    name: String,
}

async fn greet(cx: RequestContext) -> Result<String, Error> {
    let Profile { name } = cx.elicit("What is your name?").await?;
    Ok(format!("Hello, {name}."))
}

#[expect(deprecated, reason = "servers still use sampling")]
async fn summarize(cx: RequestContext) -> Result<String, Error> {
    let text = mcp::SamplingContent::Text(mcp::TextContent::new("Summarize this page."));
    let message = mcp::SamplingMessage::new(mcp::Role::User, text);
    let params = mcp::CreateMessageRequestParams::new(vec![message], 100);
    match cx.create_message(params).await?.content {
        mcp::SamplingContent::Text(text) => Ok(text.text),
        other => Err(Error::internal(format!("expected text, found {other:?}"))),
    }
}

#[expect(deprecated, reason = "servers still use roots")]
async fn folders(cx: RequestContext) -> Result<String, Error> {
    let roots = cx.list_roots(None).await?.roots;
    Ok(roots
        .into_iter()
        .map(|root| root.uri)
        .collect::<Vec<_>>()
        .join(", "))
}

async fn count(cx: RequestContext) -> &'static str {
    for step in 1..=3 {
        cx.progress(step, 3).await;
    }
    "done"
}
