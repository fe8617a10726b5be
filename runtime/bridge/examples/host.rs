//! A host of an agent, with the servers of a file: `cargo run -p mcp-bridge --example host -- mcp.json`.
//!
//! Its model is the user: each line is the name of a tool and its arguments, such as `notes_write {"name": "a", "text": "b"}`;
//! `tools` lists the tools, and `reload` reads the file again.

use mcp_bridge::config::Clients;
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::Map;
use mcp_revisions::service::client::{Change, ClientContext, ResultText};
use mcp_revisions::{Client, Error};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader};
use tokio::sync::mpsc::UnboundedSender;

/// The user's screen.
#[derive(Clone)]
struct Screen(UnboundedSender<String>);

impl Screen {
    fn show(&self, line: impl Into<String>) {
        // It is closed at the end of the program.
        let _ = self.0.send(line.into());
    }
}

impl ClientHandlers<ClientContext> for Screen {
    /// Agrees to everything; a real host shows the form to the user.
    async fn elicit(
        &self,
        params: mcp::ElicitRequestParams,
        _: ClientContext,
    ) -> Result<mcp::ElicitResult, Error> {
        let mcp::ElicitRequestParams::Form(form) = params else {
            return Ok(mcp::ElicitResult::new(mcp::ElicitAction::Decline));
        };
        self.show(format!("asked: {}", form.message));
        let content = Map::from_iter([("sure", mcp::ElicitValue::from(true))]);
        Ok(mcp::ElicitResult::new(mcp::ElicitAction::Accept).with_content(content))
    }

    /// Runs a model; this one answers with the same text every time.
    async fn create_message(
        &self,
        _: mcp::CreateMessageRequestParams,
        _: ClientContext,
    ) -> Result<mcp::CreateMessageResult, Error> {
        let text = mcp::SamplingContent::Text(mcp::TextContent::new("In short: a note."));
        Ok(mcp::CreateMessageResult::new(
            mcp::Role::Assistant,
            text,
            "no-model",
        ))
    }
}

/// Shows the tools whenever they change.
async fn watch(client: Client, screen: Screen) -> Result<(), Error> {
    let filter = mcp::SubscriptionFilter::new().with_tools_list_changed(true);
    let mut changes = client.listen(filter).await?;
    while let Some(change) = changes.next().await {
        if change == Change::Tools {
            screen.show(tools(&client).await?);
        }
    }
    Ok(())
}

async fn tools(client: &Client) -> Result<String, Error> {
    let tools = client.list_all_tools().await?;
    let names: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
    Ok(format!("tools: {}", names.join(", ")))
}

/// Calls a tool with arguments as JSON, and shows the progress.
async fn call(client: &Client, screen: &Screen, line: &str) -> Result<String, Error> {
    let (tool, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
    let arguments: Value = serde_json::from_str(arguments)
        .map_err(|why| Error::InvalidParams(format!("the arguments of {tool}: {why}")))?;
    let progress = screen.clone();
    let called = client.on_progress(move |it| progress.show(format!("progress: {}", it.done)));
    let result = called.call(tool, &arguments).await?;
    Ok(format!("{tool}: {}", result.text()))
}

/// Runs the host until its input ends.
pub(crate) async fn run(
    file: &str,
    input: impl AsyncBufRead + Unpin,
    output: UnboundedSender<String>,
) -> Result<(), Box<dyn std::error::Error>> {
    let screen = Screen(output);
    let pages = screen.clone();
    let servers = Clients::from_config(file)?
        .on_sign_in(move |page| pages.show(format!("sign in at {page}")));
    for (server, why) in servers.mistakes() {
        screen.show(format!("{server} cannot be used: {why}"));
    }
    let builder = Client::builder(&mcp_revisions::program!()).with_handlers(screen.clone());
    let client = servers.connect(builder)?;
    tokio::spawn(watch(client.clone(), screen.clone()));
    let mut lines = input.lines();
    while let Some(line) = lines.next_line().await? {
        let shown = match line.as_str() {
            "tools" => tools(&client).await,
            "reload" => servers
                .reload()
                .map(|()| "loaded again".to_owned())
                .map_err(Error::internal),
            line => call(&client, &screen, line).await,
        };
        screen.show(shown.unwrap_or_else(|error| format!("failed: {error}")));
    }
    client.close().await?;
    servers.close().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "mcp.json".to_owned());
    let (output, mut shown) = tokio::sync::mpsc::unbounded_channel();
    let screen = tokio::spawn(async move {
        while let Some(line) = shown.recv().await {
            println!("{line}");
        }
    });
    run(&file, BufReader::new(tokio::io::stdin()), output).await?;
    Ok(screen.await?)
}
