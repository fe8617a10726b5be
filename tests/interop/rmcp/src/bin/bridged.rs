//! rmcp behind a bridge: `bridged PLAN initialize|discover|auto stdio|http TARGET...`; one JSON line for each step.

use std::fmt::Display;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, GetPromptRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ResourceUpdatedNotificationParam, ServerNotification,
    SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(10);

/// A model and a person that always say the same.
struct Said(UnboundedSender<String>);

impl ClientHandler for Said {
    fn get_info(&self) -> ClientConfig {
        let config = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "sampling": {}, "elicitation": {} },
            "clientInfo": { "name": "interop", "version": "1" },
        });
        serde_json::from_value(config).expect("a client")
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let said = json!({
            "role": "assistant",
            "model": "none",
            "content": { "type": "text", "text": "Monday" },
        });
        serde_json::from_value(said).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({ "day": "Monday", "name": "Ada" });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(params.uri);
    }
}

type Client = RunningService<RoleClient, Said>;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan, mode, channel, command, rest @ ..] = arguments.as_slice() else {
        return eprintln!("bridged PLAN initialize|discover|auto stdio|http TARGET...");
    };
    let plan: Value = serde_json::from_str(plan).expect("a plan");
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = match mode.as_str() {
        "initialize" => ClientLifecycleMode::Initialize,
        "discover" => ClientLifecycleMode::Discover { preferred_versions },
        _ => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
    };
    let (sender, updates) = unbounded_channel();
    let handler = Said(sender);
    let client = match channel.as_str() {
        "http" => {
            let transport = StreamableHttpClientTransport::from_uri(command.as_str());
            handler.serve_with_lifecycle(transport, mode).await
        }
        _ => {
            let mut server = Command::new(command);
            server.args(rest);
            match TokioChildProcess::new(server) {
                Ok(transport) => handler.serve_with_lifecycle(transport, mode).await,
                Err(error) => return say::<Value, _>("connect", Err(error)),
            }
        }
    };
    match client {
        Ok(client) => steps(&client, &plan, updates).await,
        Err(error) => say::<Value, _>("connect", Err(error)),
    }
}

async fn steps(client: &Client, plan: &Value, updates: UnboundedReceiver<String>) {
    let revision = client
        .peer_info()
        .map(|info| info.protocol_version.to_string());
    say("connect", Ok::<_, String>(revision.clone()));
    let tools = client.list_all_tools().await;
    say("tools/list", tools.map(|tools| !tools.is_empty()));
    say("tool", text(client, &plan["tool"]).await);
    say("sampling", text(client, &plan["sampling"]).await);
    if !plan["elicitation"].is_null() {
        say("elicitation", text(client, &plan["elicitation"]).await);
    }
    let uri = plan["resource"].as_str().unwrap_or_default();
    let read = client.read_resource(ReadResourceRequestParams::new(uri));
    let read = read.await;
    say("resource", read.map(|read| json!(read)["contents"][0]["text"].clone()));
    let is_per_request = revision.is_some_and(|revision| revision.as_str() >= "2026");
    say("subscription", heard(client, plan, is_per_request, updates).await);
    let name = plan["prompt"].as_str().unwrap_or_default();
    let prompt = client.get_prompt(GetPromptRequestParams::new(name)).await;
    say(
        "prompt",
        prompt.map(|prompt| json!(prompt)["messages"][0]["content"]["text"].clone()),
    );
}

async fn text(client: &Client, tool: &Value) -> Result<Value, String> {
    let name = tool[0].as_str().unwrap_or_default().to_owned();
    let arguments = tool[1].as_object().cloned().unwrap_or_default();
    let called = client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments));
    let called = timeout(PATIENCE, called).await.map_err(|_| "no answer")?;
    let called = called.map_err(|error| error.to_string())?;
    Ok(json!(called)["content"][0]["text"].clone())
}

/// Listens to a resource, has it changed, and tells what is heard.
async fn heard(
    client: &Client,
    plan: &Value,
    is_per_request: bool,
    mut updates: UnboundedReceiver<String>,
) -> Result<Value, String> {
    let uri = plan["resource"].as_str().unwrap_or_default().to_owned();
    if is_per_request {
        let filter = SubscriptionFilter::builder().resource_subscription(uri).build();
        let stream = client.peer().listen(filter).await;
        let mut stream = stream.map_err(|error| error.to_string())?;
        text(client, &plan["touch"]).await?;
        let next = timeout(PATIENCE, stream.next()).await;
        let next = next.map_err(|_| "nothing was heard")?;
        return match next.map_err(|error| error.to_string())? {
            Some(ServerNotification::ResourceUpdatedNotification(said)) => Ok(said.params.uri.into()),
            other => Err(format!("{other:?}")),
        };
    }
    let subscribed = client.subscribe(SubscribeRequestParams::new(uri)).await;
    subscribed.map_err(|error| error.to_string())?;
    text(client, &plan["touch"]).await?;
    let next = timeout(PATIENCE, updates.recv()).await;
    Ok(next.map_err(|_| "nothing was heard")?.into())
}

fn say<T: Into<Value>, E: Display>(step: &str, result: Result<T, E>) {
    match result {
        Ok(value) => println!("{}", json!({"step": step, "value": value.into()})),
        Err(error) => println!("{}", json!({"step": step, "error": error.to_string()})),
    }
}
