//! A server of rmcp behind lines of text, with the thin core in front of it: its clients speak any revision.
//! `cargo run --bin lines` serves standard input and output.

use std::collections::HashMap;
use std::io::Error;

use mcp_revisions_core::{
    Introductions, MessageContext, NegotiatedMessage, Profile, Revision, RevisionSet, convert_message,
    errors, negotiate, negotiate_initialize, peek,
};
use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, Json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

#[path = "../adder.rs"]
mod adder;

/// The revision that the server speaks; its clients speak any.
const OWN: Revision = Revision::V2025_06_18;

/// The core in front of the server, for one client.
struct Front {
    introductions: Introductions,
    session: Option<Revision>,
    /// The revision and the method of each request that the server has not answered, by id.
    pending: HashMap<String, (Revision, String)>,
}

impl Front {
    /// Converts a line of the client to the server's revision, or answers it: `Err` is a line for the client.
    fn to_server(&mut self, line: &str) -> Result<String, String> {
        let refuse = |id, error: ErrorObject| Err(write::error(id, &error));
        let message = match peek(line.as_bytes()) {
            Ok(message) => message,
            Err(unreadable) => return refuse(None, errors::parse_error(&unreadable.to_string()).error),
        };
        let (id, method) = (message.id.and_then(|id| id.to_id()), message.method.as_deref().unwrap_or_default());
        let served = RevisionSet::all();
        let negotiated = negotiate(&message, None, served).and_then(|it| it.within(self.session, served));
        let revision = match negotiated {
            Err(refusal) => return refuse(id.as_ref(), refusal.error),
            Ok(NegotiatedMessage::Single(revision)) => revision,
            Ok(NegotiatedMessage::Batch(_)) => return refuse(None, errors::invalid_request("no batches here").error),
            Ok(NegotiatedMessage::Initialize) => match negotiate_initialize(&message, served) {
                Ok(revision) => *self.session.insert(revision),
                Err(refusal) => return refuse(id.as_ref(), refusal.error),
            },
        };
        let introduction = match method {
            "initialize" => self.introductions.initialize_result(revision),
            "server/discover" => self.introductions.discover_result(revision, served),
            _ => None,
        };
        if let (Some(result), Some(id)) = (introduction, &id) {
            return Err(write::response(id, result.text()));
        }
        let converted = convert_message(line, revision, OWN, &MessageContext::default());
        let converted = converted.map_err(|error| errors::invalid_params(&error.to_string()).error);
        match (converted.and_then(|outcome| outcome.into_result()), id) {
            (Err(error), id) => refuse(id.as_ref(), error),
            (Ok(text), id) => {
                let pending = id.map(|id| (id.to_string(), (revision, method.to_owned())));
                self.pending.extend(pending);
                Ok(text.into_text())
            }
        }
    }

    /// Converts a line of the server to the client's revision; `None` if that has no such message.
    fn to_client(&mut self, line: &str) -> Option<String> {
        let id = peek(line.as_bytes()).ok()?.id.and_then(|id| id.to_id());
        let request = id.and_then(|id| self.pending.remove(&id.to_string()));
        let revision = request.as_ref().map(|(revision, _)| *revision).or(self.session)?;
        let context = MessageContext::default().answering(request.as_ref().map(|(_, method)| &**method));
        let converted = convert_message(line, OWN, revision, &context).ok()?;
        converted.value().map(Json::into_text)
    }
}

/// Serves one client: `server` is the other end of the server's own transport.
async fn serve(
    client: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    server: impl AsyncRead + AsyncWrite,
) -> Result<(), Error> {
    let (from_server, mut to_server) = tokio::io::split(server);
    let (mut client_lines, mut to_client) = (BufReader::new(client.0).lines(), client.1);
    let mut server_lines = BufReader::new(from_server).lines();
    // The server meets one client of its own revision, whoever speaks to it.
    let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"front","version":"1"}}"#;
    let hello = write::request(&0.into(), "initialize", Some(hello));
    let ready = write::notification("notifications/initialized", None);
    to_server.write_all(format!("{hello}\n").as_bytes()).await?;
    let introduction = server_lines.next_line().await?.unwrap_or_default();
    to_server.write_all(format!("{ready}\n").as_bytes()).await?;
    let introduction: Json = introduction.parse().map_err(Error::other)?;
    let part = |name: &str| introduction.get("result")?.get(name);
    let profile = Profile::new(&part("serverInfo").unwrap_or_default(), &part("capabilities").unwrap_or_default());
    let introductions = Introductions::new(profile, OWN).map_err(Error::other)?;
    let mut front = Front { introductions, session: None, pending: HashMap::new() };
    loop {
        tokio::select! {
            line = client_lines.next_line() => match line?.map(|line| front.to_server(&line)) {
                None => return Ok(()),
                Some(Ok(line)) => to_server.write_all(format!("{line}\n").as_bytes()).await?,
                Some(Err(line)) => to_client.write_all(format!("{line}\n").as_bytes()).await?,
            },
            line = server_lines.next_line() => match line? {
                None => return Ok(()),
                Some(line) => if let Some(line) = front.to_client(&line) {
                    to_client.write_all(format!("{line}\n").as_bytes()).await?;
                },
            },
        }
    }
}

/// Starts the server over a pipe of its own.
fn start() -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        if let Ok(server) = rmcp::serve_server(adder::Adder, tokio::io::split(theirs)).await {
            let _ = server.waiting().await;
        }
    });
    ours
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve((tokio::io::stdin(), tokio::io::stdout()), start()).await
}

#[cfg(test)]
mod tests {
    use mcp_revisions::service::Client;
    use mcp_revisions::mcp_wire::service::Caller as _;
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn clients_of_every_revision_call_a_server_of_rmcp_by_the_core_alone() {
        for revision in Revision::NEGOTIATED {
            let (client, front) = tokio::io::duplex(64 * 1024);
            tokio::spawn(serve(tokio::io::split(front), start()));
            let only = RevisionSet::none().with(*revision);
            let client_end = tokio::io::split(client);
            let client = Client::builder(&mcp_revisions::program!()).with_revisions(only);
            let client = client.lines(client_end.0, client_end.1);
            let listed = client.request("tools/list", None).await.unwrap();
            assert!(listed.text().contains("\"add\""), "{revision}: {}", listed.text());
            let call = json!({ "name": "add", "arguments": { "a": 1, "b": 2.5 } });
            let answer = client.request("tools/call", Some(Json::from(call))).await;
            let answer: Value = answer.unwrap().parse().unwrap();
            assert_eq!(answer["content"][0]["text"], "3.5", "{revision}");
            client.close().await.unwrap();
        }
    }
}
