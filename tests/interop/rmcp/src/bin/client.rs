//! rmcp as a client: `client initialize|discover|auto stdio|http TARGET...`; one JSON line for each step.

use std::fmt::Display;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig,
    GetPromptRequestParams, GetTaskParams, Implementation, ProtocolVersion,
    ReadResourceRequestParams, TaskPayload,
};
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

type Client = RunningService<RoleClient, ClientConfig>;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, channel, command, rest @ ..] = arguments.as_slice() else {
        return eprintln!("client initialize|discover|auto stdio|http TARGET...");
    };
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = match mode.as_str() {
        "initialize" => ClientLifecycleMode::Initialize,
        "discover" => ClientLifecycleMode::Discover { preferred_versions },
        _ => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
    };
    let capabilities = ClientCapabilities::builder().enable_tasks().build();
    let config = ClientConfig::new(capabilities, Implementation::from_build_env());
    let client = match channel.as_str() {
        "http" => {
            config.serve_with_lifecycle(
                StreamableHttpClientTransport::from_uri(command.as_str()),
                mode,
            )
            .await
        }
        _ => {
            let mut server = Command::new(command);
            server.args(rest);
            match TokioChildProcess::new(server) {
                Ok(transport) => config.serve_with_lifecycle(transport, mode).await,
                Err(error) => return say::<Value, _>("connect", Err(error)),
            }
        }
    };
    match client {
        Ok(client) => steps(&client).await,
        Err(error) => say::<Value, _>("connect", Err(error)),
    }
}

async fn steps(client: &Client) {
    let revision = client
        .peer_info()
        .map(|info| info.protocol_version.to_string());
    let has_tasks = (revision.as_deref()).is_some_and(|revision| revision >= "2026");
    say("connect", Ok::<_, String>(revision));
    let tools = client.list_all_tools().await;
    say(
        "tools/list",
        tools.map(|tools| {
            let mut names: Vec<String> = tools
                .into_iter()
                .map(|tool| tool.name.to_string())
                .collect();
            names.sort();
            names
        }),
    );
    say("tools/call", call(client).await);
    let read = client
        .read_resource(ReadResourceRequestParams::new("example://greeting"))
        .await;
    say(
        "resources/read",
        read.map(|read| json!(read)["contents"][0]["text"].clone()),
    );
    let arguments = json!({"name": "Ada"})
        .as_object()
        .cloned()
        .unwrap_or_default();
    let prompt = client
        .get_prompt(GetPromptRequestParams::new("greet").with_arguments(arguments))
        .await;
    say(
        "prompts/get",
        prompt.map(|prompt| json!(prompt)["messages"][0]["content"]["text"].clone()),
    );
    if has_tasks {
        say("task", task(client).await);
    }
}

/// Calls a tool that becomes a task, and looks at that until it has ended.
async fn task(client: &Client) -> Result<Value, String> {
    let call = client.call_tool_once(CallToolRequestParams::new("count"));
    let CallToolResponse::Task(created) = call.await.map_err(|error| error.to_string())? else {
        return Err("the call became no task".to_owned());
    };
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let looked = client.peer().get_task(GetTaskParams::new(created.task.task_id.clone()));
        let looked = looked.await.map_err(|error| error.to_string())?;
        match looked.task.payload {
            TaskPayload::Completed { result } => {
                return Ok(json!(["taskCreated", json!(result)["content"][0]["text"]]));
            }
            _ if looked.task.status().is_terminal() => return Err("the task failed".to_owned()),
            _ => {}
        }
    }
}

async fn call(client: &Client) -> Result<Value, rmcp::ServiceError> {
    let tool = |name: &'static str, arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments))
    };
    let add = json!(tool("add", json!({"a": 1, "b": 2})).await?);
    let pixel = json!(tool("pixel", json!({})).await?);
    let weather = json!(tool("weather", json!({})).await?);
    let fail = json!(tool("fail", json!({})).await?);
    Ok(json!({
        "add": add["content"][0]["text"],
        "pixel": pixel["content"][0]["mimeType"],
        "weather": weather["structuredContent"]["degrees"],
        "fail": fail["isError"] == true,
    }))
}

fn say<T: Into<Value>, E: Display>(step: &str, result: Result<T, E>) {
    match result {
        Ok(value) => println!("{}", json!({"step": step, "value": value.into()})),
        Err(error) => println!("{}", json!({"step": step, "error": error.to_string()})),
    }
}
