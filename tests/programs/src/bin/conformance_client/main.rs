//! The client that the official conformance suite wants to see: one that uses all that its server offers, and answers
//! what it is asked.
//!
//! `cargo xtask conformance` has the suite start it, with the URL of a server that watches what it does. It lists tools,
//! calls each of them at the same time as the others, reads resources and gets prompts, and loads skills; of scenarios it
//! knows the tool calls that one may prescribe, and that one only wants skills to be listed.

#[path = "../../../../../runtime/examples/sample/mod.rs"]
mod sample;
mod sign_in;
mod skills;

use std::env;
use std::error::Error;

use mcp_revisions::latest::{self as mcp, CallServer, ClientHandlers};
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::service::client::{ClientContext, Http};
use mcp_revisions::service::{self, Client};
use mcp_revisions::{Latest, Revision, RevisionSet};
use serde_json::Value;
use tokio::task::JoinSet;

/// A user who fills in every form with its defaults.
struct Agreeable;

impl ClientHandlers<ClientContext<Latest>> for Agreeable {
    async fn elicit(
        &self,
        params: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, service::Error> {
        let mcp::ElicitRequestParams::Form(form) = params else {
            return Ok(mcp::ElicitResult::new(mcp::ElicitAction::Decline));
        };
        let schema = Json::of(&form.requested_schema).parse();
        let filled_in = Json::from(sample::of(&schema.unwrap_or_default()));
        Ok(mcp::ElicitResult::new(mcp::ElicitAction::Accept).with_content(filled_in.read()?))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().next_back().ok_or("name the URL of a server")?;
    let mut client = Client::builder(&mcp_revisions::program!());
    if let Ok(revision) = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
        let revision =
            Revision::from_protocol_version(&revision).ok_or("the suite names no revision")?;
        client = client.with_revisions(RevisionSet::none().with(revision));
    }
    let http = Http::new(&url)?;
    let oauth = sign_in::provider(&http)?;
    let client = client
        .with_handlers(Agreeable)
        .with_custom_methods()
        .with_tasks()
        .http(http.with_authorization(oauth));

    let tools = client.list_tools(None).await?.tools;
    let mut calls = JoinSet::new();
    for params in
        prescribed()?.unwrap_or_else(|| tools.iter().map(|it| call_of(it, &tools)).collect())
    {
        let client = client.clone();
        calls.spawn(async move { client.call_tool(params).await });
    }
    while let Some(called) = calls.join_next().await {
        match called? {
            // What the server answers is its own affair.
            Ok(_) | Err(service::Error::Rpc(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let offers = client.server().and_then(|server| server.capabilities);
    let offers: Value = offers.unwrap_or_default().parse()?;
    if offers.get("resources").is_some() {
        for resource in client.list_resources(None).await?.resources {
            let params = mcp::ReadResourceRequestParams::new(resource.uri);
            client.read_resource(params).await?;
        }
    }
    if offers.get("prompts").is_some() {
        for prompt in client.list_prompts(None).await?.prompts {
            client
                .get_prompt(mcp::GetPromptRequestParams::new(prompt.name))
                .await?;
        }
    }
    skills::load(&client).await?;
    client.close().await?;
    Ok(())
}

/// The calls that the scenario prescribes, if it does.
fn prescribed() -> Result<Option<Vec<mcp::CallToolRequestParams>>, Box<dyn Error>> {
    let Ok(context) = env::var("MCP_CONFORMANCE_CONTEXT") else {
        return Ok(None);
    };
    let context: Value = serde_json::from_str(&context)?;
    let Some(calls) = context.get("toolCalls").and_then(Value::as_array) else {
        return Ok(None);
    };
    let calls = calls.iter().map(|call| {
        let name = call["name"].as_str().unwrap_or_default();
        let arguments = JsonObject::try_from(Json::from(call["arguments"].clone()))?;
        Ok(mcp::CallToolRequestParams::new(name).with_arguments(arguments))
    });
    calls.collect::<Result<_, _>>().map(Some)
}

/// A tool that wants to see the input schema of the other tool as the client has it, in the argument `schema`.
const ECHO: &str = "json_schema_echo";

/// A call of a tool with arguments that its schema allows.
fn call_of(tool: &mcp::Tool, tools: &[mcp::Tool]) -> mcp::CallToolRequestParams {
    let schema = Json::from(tool.input_schema.clone());
    let mut arguments = sample::of(&schema.parse().unwrap_or_default());
    let other = tools.iter().find(|other| other.name != tool.name);
    if let Some(other) = other.filter(|_| tool.name == ECHO) {
        let schema = Json::from(other.input_schema.clone());
        arguments["schema"] = schema.parse().unwrap_or_default();
    }
    let params = mcp::CallToolRequestParams::new(tool.name.as_str());
    match JsonObject::try_from(Json::from(arguments)) {
        Ok(arguments) => params.with_arguments(arguments),
        Err(_) => params,
    }
}
