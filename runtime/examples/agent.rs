//! An agent with several servers, each a URL or a program: `cargo run -p mcp-revisions --example agent -- SERVER...`
//!
//! Its model is the user: each line is the name of a tool and its arguments, such as `write {"name": "a", "text": "b"}`.

use std::collections::HashMap;

use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::Map;
use mcp_revisions::service::client::{ClientContext, ResultText};
use mcp_revisions::{Client, Error};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// What the agent does when a server asks it.
#[derive(Clone)]
struct Desk;

impl ClientHandlers<ClientContext> for Desk {
    /// Agrees to everything; a real one shows the form to the user.
    async fn elicit(
        &self,
        params: mcp::ElicitRequestParams,
        _: ClientContext,
    ) -> Result<mcp::ElicitResult, Error> {
        let mcp::ElicitRequestParams::Form(form) = params else {
            return Ok(mcp::ElicitResult::new(mcp::ElicitAction::Decline));
        };
        println!("asked: {}", form.message);
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

/// Connects to a server, and says what it has.
async fn connect(server: &str) -> Result<(Client, Vec<mcp::Tool>), Error> {
    let builder = Client::builder(&mcp_revisions::program!()).with_handlers(Desk);
    let client = match server.contains("://") {
        true => builder.url(server)?,
        false => builder.command(server.split_whitespace())?,
    };
    let facts = client.connect().await?;
    let tools = client.list_all_tools().await?;
    let name = client
        .server_info()
        .map_or_else(|| server.to_owned(), |info| info.name);
    println!(
        "{name} speaks {} and has {} tools",
        facts.revision,
        tools.len()
    );
    Ok((client, tools))
}

/// Prints what changes on a server, until its connection ends.
async fn watch(client: Client) -> Result<(), Error> {
    let filter = mcp::SubscriptionFilter::new()
        .with_tools_list_changed(true)
        .with_resources_list_changed(true);
    let mut changes = client.listen(filter).await?;
    while let Some(change) = changes.next().await {
        println!("changed: {change:?}");
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut clients, mut owners) = (Vec::new(), HashMap::new());
    for server in std::env::args().skip(1) {
        let (client, tools) = connect(&server).await?;
        for tool in tools {
            owners.insert(tool.name, client.clone());
        }
        // A server without changes has nothing to watch.
        tokio::spawn(watch(client.clone()));
        clients.push(client);
    }
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let (tool, arguments) = line.split_once(' ').unwrap_or((&line, "{}"));
        let Some(client) = owners.get(tool) else {
            println!("no server has {tool}");
            continue;
        };
        let arguments: Value = serde_json::from_str(arguments)?;
        // A server that has ended names its exit status here.
        match client.call(tool, &arguments).await {
            Ok(result) => println!("{tool}: {}", result.text()),
            Err(error) => println!("{tool} failed: {error}"),
        }
    }
    drop(owners);
    for client in clients {
        client.close().await?;
    }
    Ok(())
}
