//! One set of handlers for every peer: handlers of three revisions, clients of each lifecycle and of both, stdio and HTTP, each with
//! a tool, questions in the middle of a call, subscriptions, logs, progress and cancellation.

mod dual;
mod handlers;
mod handshake;
mod per_request;
mod wire;

use mcp_revisions::{Lifecycle, Revision};
use serde_json::{Value, json};
use wire::Wire;

/// Returns what the tool `ask` can ask, the method that carries the question, and the client's answer.
fn questions_and_answers() -> [(&'static str, &'static str, Value); 3] {
    [
        (
            "roots",
            "roots/list",
            json!({"roots": [{"uri": "file:///r"}]}),
        ),
        (
            "sample",
            "sampling/createMessage",
            json!({"role": "assistant", "content": {"type": "text", "text": "yo"}, "model": "m"}),
        ),
        (
            "elicit",
            "elicitation/create",
            json!({"action": "accept", "content": {"name": "Ada"}}),
        ),
    ]
}

async fn every_client(app: Revision) {
    for over in ["stdio", "http"] {
        let all = Revision::NEGOTIATED.iter();
        for version in all
            .filter(|it| it.lifecycle() == Lifecycle::Handshake)
            .map(|it| it.protocol_version())
        {
            let place = format!("handlers of {app}, client of {version}, {over}");
            handshake::all(&mut Wire::open(app, over, &place), version).await;
            let place = format!("{place}, of the other lifecycle, too");
            dual::all(&mut Wire::open(app, over, &place), version).await;
        }
        let place = format!("handlers of {app}, per-request client, {over}");
        let mut wire = Wire::open(app, over, &place);
        per_request::all(&mut wire).await;
        // Who has no session hears nothing but on its streams.
        let left = wire.left(|it| it["method"] == "notifications/resources/updated");
        assert_eq!(left, 0, "{place}");
    }
}

#[tokio::test]
async fn handlers_of_2025_06_18_serve_every_client() {
    every_client(Revision::V2025_06_18).await;
}

#[tokio::test]
async fn handlers_of_2025_11_25_serve_every_client() {
    every_client(Revision::V2025_11_25).await;
}

#[tokio::test]
async fn handlers_of_2026_07_28_serve_every_client() {
    every_client(Revision::V2026_07_28).await;
}
