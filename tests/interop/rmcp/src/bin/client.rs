//! rmcp as a client: `client initialize|discover|auto stdio|http TARGET...`; one JSON line for each step.

use std::fmt::Display;

use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

type Client = RunningService<RoleClient, ()>;

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
    let client = match channel.as_str() {
        "http" => {
            ().serve_with_lifecycle(
                StreamableHttpClientTransport::from_uri(command.as_str()),
                mode,
            )
            .await
        }
        _ => {
            let mut server = Command::new(command);
            server.args(rest);
            match TokioChildProcess::new(server) {
                Ok(transport) => ().serve_with_lifecycle(transport, mode).await,
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
