//! A tool that runs as a task, and a client that follows it: in both forms that the protocol has, and without any. The
//! server is in the same process: `cargo run -p mcp-revisions --example tasks`.

use std::time::Duration;

use mcp_revisions::latest::{self as mcp, CallServer, ClientHandlers};
use mcp_revisions::mcp_wire::Map;
use mcp_revisions::sansio::server::TaskOptions;
use mcp_revisions::service::client::ClientContext;
use mcp_revisions::{Client, Error, RequestContext, Revision, RevisionSet, Router};
use schemars::JsonSchema;
use serde::Deserialize;

/// A form.
#[derive(Deserialize, JsonSchema)]
struct Target {
    /// Where the build goes.
    target: String,
}

/// The tool asks in the middle of its task, and says how far it is.
async fn build(cx: RequestContext) -> Result<String, Error> {
    let Target { target } = cx.elicit("Where does the build go?").await?;
    cx.progress_with(1, Some(2.into()), "compiling").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(format!("built for {target}"))
}

/// What the client does when the server sends it a request.
struct Desk;

impl ClientHandlers<ClientContext> for Desk {
    async fn elicit(
        &self,
        _: mcp::ElicitRequestParams,
        _: ClientContext,
    ) -> Result<mcp::ElicitResult, Error> {
        let content = Map::from_iter([("target", mcp::ElicitValue::from("linux".to_owned()))]);
        Ok(mcp::ElicitResult::new(mcp::ElicitAction::Accept).with_content(content))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for revision in [Revision::LATEST, Revision::V2025_06_18] {
        // Calls of `build` become tasks for clients that have tasks; others wait for the result.
        let server = Router::new()
            .tool("build", "Builds it all.", build)
            .as_task()
            .build("ci", "1.0.0")?
            .with_tasks(TaskOptions::new().with_poll_interval(Duration::from_millis(20)));
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let (input, output) = tokio::io::split(far);
            server.lines(input, output).await
        });
        let (input, output) = tokio::io::split(near);
        let client = Client::builder(&mcp_revisions::program!())
            .with_handlers(Desk)
            .with_tasks()
            .with_revisions(RevisionSet::none().with(revision))
            .lines(input, output);
        // The call is the same; the id of the task would be kept for `resume_task`.
        let follows = client.on_task(move |task| match task.message {
            Some(message) => println!("{revision}: the task is {}: {message}", task.status),
            None => println!("{revision}: the task is {}", task.status),
        });
        let result = follows
            .call_tool(mcp::CallToolRequestParams::new("build"))
            .await?;
        for block in result.content {
            if let mcp::ContentBlock::Text(text) = block {
                println!("{revision}: {}", text.text);
            }
        }
        drop(follows);
        client.close().await?;
    }
    Ok(())
}
