//! A server for the tests of the bridge: `peer --only REVISION` speaks that revision over stdio, and nothing else.
//!
//! It adds numbers, asks in mid-call, tells of progress, reads a resource, gets a prompt, and takes its time.

use std::time::Duration;

use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::serve::Peer;
use mcp_revisions::server::{Call, Profile, Server};
use mcp_revisions::{RevisionSet, V2025_11_25, errors, stdio};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut served = RevisionSet::all();
    while let Some(argument) = arguments.next() {
        if argument == "--only" {
            let id = arguments.next().ok_or("--only takes a revision")?;
            served = RevisionSet::none().with(id.parse()?);
        }
    }
    let info = Json::from(json!({ "name": "peer", "version": "1" }));
    let capabilities = Json::from(json!({ "tools": {}, "resources": {}, "prompts": {} }));
    let server = Server::<V2025_11_25>::new(Profile::new(&info, &capabilities))?.serving(served);
    stdio::serve(server, answer).await?;
    Ok(())
}

async fn answer(call: Call, peer: Peer) -> Result<Json, ErrorObject> {
    let params: Value = call
        .read::<Json>()
        .ok()
        .and_then(|json| json.parse().ok())
        .unwrap_or_default();
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let result = match (call.method, params["name"].as_str()) {
        ("tools/list", _) => {
            json!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" }, "x-vendor": 1 }] })
        }
        ("tools/call", Some("add")) => {
            let number = |name: &str| params["arguments"][name].as_f64().unwrap_or_default();
            text(&(number("a") + number("b")).to_string())
        }
        ("tools/call", Some("ask")) => {
            let form = json!({ "message": "Which day?", "requestedSchema": { "type": "object", "properties": { "day": { "type": "string" } } } });
            let said = peer
                .ask("elicitation/create", Some(&Json::from(form)))
                .await?;
            let said: Value = said.parse().unwrap_or_default();
            text(said["content"]["day"].as_str().unwrap_or("?"))
        }
        ("tools/call", Some("progress")) => {
            if let Some(token) = &call.progress_token {
                let token: Value = token.parse().unwrap_or_default();
                for step in 1..=3 {
                    let told = json!({ "progressToken": token, "progress": step });
                    let _ = peer
                        .notify("notifications/progress", Some(&Json::from(told)))
                        .await;
                }
            }
            text("done")
        }
        ("tools/call", Some("sleep")) => {
            tokio::time::sleep(Duration::from_secs(600)).await;
            text("slept")
        }
        ("tools/call", Some("die")) => std::process::exit(9),
        ("resources/read", _) => {
            json!({ "contents": [{ "uri": params["uri"], "text": "Hello", "size": 50.0 }] })
        }
        ("prompts/get", _) => {
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "Greet" } }] })
        }
        (other, _) => return Err(errors::invalid_params(other).error),
    };
    Ok(Json::from(result))
}
