//! A server of rmcp behind lines of text, with the thin core in front of it: its clients speak any revision.
//! `cargo run --bin lines` serves standard input and output.

use std::io::Error;

use mcp_revisions_core::{Front, FrontOutput, Json, Profile, Revision};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

#[path = "../adder.rs"]
mod adder;

/// The revision that the server speaks; its clients speak any.
const OWN: Revision = Revision::V2025_06_18;

/// Serves one client: `server` is the other end of the server's own transport.
async fn serve(
    client: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    server: impl AsyncRead + AsyncWrite,
) -> Result<(), Error> {
    let (from_server, mut to_server) = tokio::io::split(server);
    let (mut client_lines, mut to_client) = (BufReader::new(client.0).lines(), client.1);
    let mut server_lines = BufReader::new(from_server).lines();
    // The server meets one client of its own revision, whoever speaks to it.
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"front","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    to_server.write_all(format!("{hello}\n").as_bytes()).await?;
    let introduction = server_lines.next_line().await?.unwrap_or_default();
    to_server.write_all(format!("{ready}\n").as_bytes()).await?;
    let introduction: Json = introduction.parse().map_err(Error::other)?;
    let part = |name: &str| introduction.get("result")?.get(name);
    let profile = Profile::new(&part("serverInfo").unwrap_or_default(), &part("capabilities").unwrap_or_default());
    let mut front = Front::new(OWN, profile).map_err(Error::other)?;
    loop {
        let (is_client, outputs) = tokio::select! {
            line = client_lines.next_line() => match line? {
                None => return Ok(()),
                Some(line) => (true, front.from_client(&line)),
            },
            line = server_lines.next_line() => match line? {
                None => return Ok(()),
                Some(line) => (false, front.from_server(&line)),
            },
        };
        front.losses().iter().for_each(|loss| eprintln!("{loss}"));
        front.notes().iter().for_each(|note| eprintln!("{note}"));
        for output in outputs {
            match (is_client, output) {
                (true, FrontOutput::Forward(line)) | (false, FrontOutput::Reply(line)) => {
                    to_server.write_all(format!("{line}\n").as_bytes()).await?;
                }
                (true, FrontOutput::Reply(line)) | (false, FrontOutput::Forward(line)) => {
                    to_client.write_all(format!("{line}\n").as_bytes()).await?;
                }
            }
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
    use mcp_revisions_core::RevisionSet;
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
