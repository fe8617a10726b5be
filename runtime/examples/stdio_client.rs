//! A client that does not care which revision its server speaks: `cargo run -p mcp-revisions --example stdio_client -- SERVER [ARGUMENT...]`, or with a URL.
//!
//! It starts the server, or connects to its URL, lists and calls tools, reads a resource, gets a prompt, and prints what came, one JSON line for each.

mod arguments;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller;
use mcp_revisions::service::client::{Child, Client};
use serde_json::{Value, json};
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (only, command) = arguments::arguments()?;
    let (program, arguments) = command.split_first().ok_or("name the server to start")?;

    let mut client = Client::builder(&mcp_revisions::program!());
    if let Some(only) = only {
        client = client.with_revisions(only);
    }
    let client = if program.starts_with("http://") {
        client.url(program)?
    } else {
        let mut command = Command::new(program);
        command.args(arguments);
        client.child(Child::new(command).on_error_line(|_| {}))?
    };
    let tool = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let greet = json!({"name": "greet", "arguments": {"name": "Ada"}});
    for (step, method, params) in [
        ("tools/list", "tools/list", json!({})),
        ("add", "tools/call", tool("add", json!({"a": 1, "b": 2}))),
        ("pixel", "tools/call", tool("pixel", json!({}))),
        ("weather", "tools/call", tool("weather", json!({}))),
        ("fail", "tools/call", tool("fail", json!({}))),
        (
            "resources/read",
            "resources/read",
            json!({"uri": "example://greeting"}),
        ),
        ("prompts/get", "prompts/get", greet),
    ] {
        // As JSON, for whoever reads this; typed calls are those of `CallServer`.
        let answer = client.request(method, Some(Json::from(params))).await;
        if let Some(server) = client.server().filter(|_| step == "tools/list") {
            println!(
                "{}",
                json!({"step": "connect", "value": server.revision.id()})
            );
        }
        match answer {
            Ok(result) => println!(
                "{}",
                json!({"step": step, "value": result.parse::<Value>()?})
            ),
            Err(error) => println!("{}", json!({"step": step, "error": error.to_string()})),
        }
    }
    client.close().await?;
    Ok(())
}
