//! A server for the tests of the bridge: `peer [--only REVISION] [--http PORT] [--started FILE] [--held PIPE] [--rounds]` speaks
//! that revision only, over stdio or on that port, adds a line to that file when it starts, and holds that pipe open until it
//! ends. With `--rounds` its handlers speak the latest revision, and ask in results.
//!
//! It adds numbers, asks in mid-call, tells of progress and logs, reads a resource and says when it changes, gets a prompt,
//! takes its time, waits for other calls, says more than anybody reads, and knows a method that no revision has.

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{
    CustomNotification, CustomRequest, IncomingRequest, Notification, Profile, Server,
};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::{Revision, RevisionSet, http, sansio::errors, stdio};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut served, mut port, mut rounds) = (RevisionSet::all(), None, false);
    while let Some(argument) = arguments.next() {
        if argument == "--only" {
            let id = arguments.next().ok_or("--only takes a revision")?;
            served = RevisionSet::none().with(id.parse()?);
        }
        rounds |= argument == "--rounds";
        if argument == "--http" {
            port = Some(arguments.next().ok_or("--http takes a port")?.parse()?);
        }
        if argument == "--held" {
            let file = arguments.next().ok_or("--held takes a file")?;
            let held = std::fs::OpenOptions::new().write(true).open(file)?;
            std::mem::forget(held);
        }
        if argument == "--started" {
            let file = arguments.next().ok_or("--started takes a file")?;
            let mut started = std::fs::OpenOptions::new();
            let mut file = started.create(true).append(true).open(file)?;
            writeln!(file, "started")?;
        }
    }
    let info = Json::from(json!({ "name": "peer", "version": "1" }));
    let resources = json!({ "subscribe": true, "listChanged": true });
    let capabilities = json!({ "tools": {}, "resources": resources, "prompts": {}, "logging": {}, "tasks": { "list": {} } });
    let profile = Profile::new(&info, &Json::from(capabilities))
        .in_words_of(Revision::V2025_11_25)
        .with_members([("x-vendor", Json::from(1))].into_iter().collect());
    match rounds {
        true => {
            serve(
                Server::new(Revision::LATEST, profile)?.with_revisions(served),
                port,
            )
            .await
        }
        false => {
            serve(
                Server::new(Revision::V2025_11_25, profile)?.with_revisions(served),
                port,
            )
            .await
        }
    }
}

async fn serve(server: Server, port: Option<u16>) -> Result<(), Box<dyn std::error::Error>> {
    let server = server.with_other_methods();
    match port {
        Some(port) => {
            let listener = http::bind(("127.0.0.1", port)).await?;
            println!("listening on http://{}/mcp", listener.local_addr()?);
            http::serve(listener, http::Service::new(server, Everything::default())).await;
        }
        None => stdio::serve(server, Everything::default()).await?,
    }
    Ok(())
}

/// The clients that get notifications.
#[derive(Default)]
struct Everything(Mutex<Vec<Session>>);

impl Everything {
    fn touch(&self) {
        let changed = Json::from(json!({ "uri": "file:///hello" }));
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| !session.is_over());
        for session in &*sessions {
            let _ = session.notify("notifications/resources/updated", Some(&changed));
        }
    }
}

impl Handler for Everything {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        if call.method == "tools/call" && call.params.text().contains(r#""touch""#) {
            self.touch();
        }
        answer(call, peer).await
    }

    fn on_initialized(&self, session: Session) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that listens anew is told once.
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }

    fn notice(&self, notice: Notification, session: Session) {
        let told = Json::from(json!({ "method": notice.method }));
        // Not while its session is at work.
        tokio::spawn(async move { session.notify("acme/heard", Some(&told)) });
    }

    /// Tells what came before it, and asks back by a method of its own where that can be.
    async fn custom_request(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let _ = peer.notify("acme/soon", Some(&call.params)).await;
        let asked = peer.ask("acme/who", Some(&call.params)).await;
        let asked = asked.unwrap_or_else(|error| Json::from(json!(error.code.to_string())));
        let said = format!(
            r#"{{"z":1.0,"method":{},"params":{},"asked":{}}}"#,
            Json::from(json!(call.method)).text(),
            call.params.text(),
            asked.text()
        );
        Json::from_text(&said).map_err(|error| errors::internal(&error.to_string()).error)
    }

    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        // Not while its session is at work.
        tokio::spawn(async move { session.notify("acme/heard", Some(&notice.params)) });
    }
}

/// Whether so many calls have come here within a minute.
async fn meet(wanted: usize) -> bool {
    static HERE: AtomicUsize = AtomicUsize::new(0);
    HERE.fetch_add(1, Ordering::SeqCst);
    for _ in 0..6_000 {
        if HERE.load(Ordering::SeqCst) >= wanted {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

async fn answer(call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    let params: Value = call
        .read::<Json>()
        .ok()
        .and_then(|json| json.parse().ok())
        .unwrap_or_default();
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let result = match (call.method, params["name"].as_str()) {
        ("tools/list", _) => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "x-vendor": 1 });
            let mut tools = ["add", "ask", "sample", "progress", "log", "touch", "where"].map(tool);
            let region = json!({ "type": "string", "x-mcp-header": "Region" });
            tools[6]["inputSchema"]["properties"] = json!({ "region": region });
            tools[6]["title"] = json!("Where");
            json!({ "tools": tools })
        }
        ("resources/list", _) => {
            json!({ "resources": [{ "name": "hello", "uri": "file:///hello" }] })
        }
        ("prompts/list", _) => json!({ "prompts": [{ "name": "greet" }] }),
        ("resources/subscribe" | "resources/unsubscribe" | "logging/setLevel", _) => json!({}),
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
        ("tools/call", Some("who")) => {
            text(call.caller.capabilities.as_ref().map_or("", Json::text))
        }
        ("tools/call", Some("two")) if params["inputResponses"].is_null() => {
            let form = json!({ "type": "object", "properties": {} });
            let asked = json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": form } });
            json!({ "resultType": "input_required", "inputRequests": { "day": asked, "place": asked }, "requestState": "mine" })
        }
        ("tools/call", Some("two")) => {
            let keys: Vec<&String> = params["inputResponses"]
                .as_object()
                .into_iter()
                .flat_map(|it| it.keys())
                .collect();
            let mut result =
                text(&json!({ "keys": keys, "state": params["requestState"] }).to_string());
            result["resultType"] = "complete".into();
            result
        }
        ("tools/call", Some("sample")) => {
            let message =
                json!({ "role": "user", "content": { "type": "text", "text": "Which day?" } });
            let wanted = json!({ "messages": [message], "maxTokens": 10 });
            let said = peer
                .ask("sampling/createMessage", Some(&Json::from(wanted)))
                .await?;
            let said: Value = said.parse().unwrap_or_default();
            text(said["content"]["text"].as_str().unwrap_or("?"))
        }
        ("tools/call", Some("log")) => {
            for level in ["debug", "warning"] {
                let said = json!({ "level": level, "data": level });
                let said = Some(Json::from(said));
                let _ = peer.notify("notifications/message", said.as_ref()).await;
            }
            text("logged")
        }
        ("tools/call", Some("meet")) => {
            let met = meet(params["arguments"]["a"].as_f64().unwrap_or_default() as usize).await;
            text(if met { "met" } else { "alone" })
        }
        ("tools/call", Some("nap")) => {
            tokio::time::sleep(Duration::from_secs(1)).await;
            text("napped")
        }
        ("tools/call", Some("flood")) => {
            let token: Value = (call.progress_token.as_ref())
                .and_then(|token| token.parse().ok())
                .unwrap_or_default();
            for step in 1..=600 {
                let water = "water ".repeat(10_000);
                let told = json!({ "progressToken": token, "progress": step, "message": water });
                let told = Json::from(told);
                let _ = peer.notify("notifications/progress", Some(&told)).await;
            }
            text("dry")
        }
        ("tools/call", Some("endless")) => text(&"x".repeat(17 << 20)),
        ("tools/call", Some("linked")) => {
            let link = json!({ "type": "resource_link", "name": "hello", "uri": "file:///hello" });
            json!({ "content": [link] })
        }
        ("tools/call", Some("touch")) => text("touched"),
        ("tools/call", Some("where")) => {
            let headers = peer
                .headers()
                .map(|headers| headers.get("Mcp-Param-Region"));
            let region = headers.flatten().and_then(|region| region.to_str().ok());
            text(region.unwrap_or("nowhere"))
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
        ("tools/call", Some("sleep")) | ("resources/templates/list", _) => {
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
