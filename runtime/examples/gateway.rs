//! A gateway in axum, by the thin core: a server that speaks 2025-06-18, and clients of every revision.
//! `cargo run -p mcp-revisions --example gateway [-- PORT]`.
//!
//! The old server is a function of a message; it may as well be a process, or the URL of another host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mcp_revisions::core::{
    Front, FrontOutput, Headers, Json, MessageKind, Profile, ProfileError, Refusal, errors,
    methods, negotiate, peek,
};
use mcp_revisions::{Revision, RevisionSet};
use serde_json::{Value, json};

/// The header of a session.
const SESSION: &str = "mcp-session-id";
/// Sessions that are open at a time.
const MOST_SESSIONS: usize = 10_000;

/// Answers a message of 2025-06-18, the only revision that the old server has.
async fn old_server(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).ok()?;
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "tools/list" => {
            json!({ "tools": [{ "name": "shout", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => {
            let text = message["params"]["arguments"]["text"]
                .as_str()
                .unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": text.to_uppercase() }] })
        }
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
}

/// The sessions of clients, each with its front.
#[derive(Clone, Default)]
struct Gateway(Arc<Mutex<HashMap<String, Arc<tokio::sync::Mutex<Front>>>>>);

impl Gateway {
    fn front() -> Result<Front, ProfileError> {
        let info = Json::from(json!({ "name": "old server", "version": "1.0.0" }));
        let capabilities = Json::from(json!({ "tools": {} }));
        Front::new(Revision::V2025_06_18, Profile::new(&info, &capabilities))
    }

    /// Returns the front of a session, or a new one for a client that has none.
    fn of(&self, session: Option<&str>) -> Result<Arc<tokio::sync::Mutex<Front>>, Box<Refusal>> {
        let Some(id) = session else {
            let front = Self::front().map_err(|why| errors::internal(&why.to_string()))?;
            return Ok(Arc::new(tokio::sync::Mutex::new(front)));
        };
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = sessions.get(id).cloned();
        found.ok_or_else(|| Refusal::new(-32001, 404, "no such session: send `initialize`"))
    }

    /// Keeps the front of a new session, and returns the id of the session.
    fn keep(&self, front: Arc<tokio::sync::Mutex<Front>>) -> Result<String, Box<Refusal>> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MOST_SESSIONS {
            return Err(Refusal::new(
                -32603,
                503,
                "too many sessions: try again later",
            ));
        }
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|why| errors::internal(&why.to_string()))?;
        let id = format!("{:032x}", u128::from_be_bytes(random));
        sessions.insert(id.clone(), front);
        Ok(id)
    }

    /// Answers a POST: the session that it opens, and the messages for the client.
    async fn post(
        &self,
        headers: &HeaderMap,
        body: &str,
    ) -> Result<(Option<String>, Vec<String>), Box<Refusal>> {
        let message = peek(body.as_bytes()).map_err(|why| errors::parse_error(&why.to_string()))?;
        let pairs = headers.iter();
        let pairs = pairs.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        negotiate(
            &message,
            Some(&Headers::from_pairs(pairs)),
            RevisionSet::all(),
        )?;
        let shared = self.of(headers.get(SESSION).and_then(|id| id.to_str().ok()))?;
        let opens = message.method.as_deref() == Some(methods::INITIALIZE);
        let (mut front, mut answers) = (shared.lock().await, Vec::new());
        for output in front.from_client(body) {
            let text = match output {
                FrontOutput::Reply(text) => {
                    answers.push(text);
                    continue;
                }
                FrontOutput::Forward(text) => text,
            };
            let answer = old_server(&text).await;
            for output in answer.iter().flat_map(|answer| front.from_server(answer)) {
                if let FrontOutput::Forward(text) = output {
                    answers.push(text);
                }
            }
            front.losses().iter().for_each(|loss| eprintln!("{loss}"));
        }
        let session = opens.then(|| self.keep(Arc::clone(&shared)));
        Ok((session.transpose()?, answers))
    }
}

async fn post(State(gateway): State<Gateway>, headers: HeaderMap, body: String) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    match gateway.post(&headers, &body).await {
        Ok((_, answers)) if answers.is_empty() => StatusCode::ACCEPTED.into_response(),
        Ok((Some(id), answers)) => (json, [(SESSION, id)], answers.concat()).into_response(),
        Ok((None, answers)) => (json, answers.concat()).into_response(),
        Err(refusal) => {
            let message = peek(body.as_bytes()).ok();
            let request = message.filter(|it| it.kind == MessageKind::Request);
            let id = request.and_then(|it| it.id).map_or("null", |id| id.text());
            let error = Json::of(&refusal.error);
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
            let status = StatusCode::from_u16(refusal.status).unwrap_or_default();
            (status, json, body).into_response()
        }
    }
}

async fn end(State(gateway): State<Gateway>, headers: HeaderMap) -> StatusCode {
    let id = headers.get(SESSION).and_then(|id| id.to_str().ok());
    let mut sessions = gateway.0.lock().unwrap_or_else(PoisonError::into_inner);
    match id.and_then(|id| sessions.remove(id)) {
        Some(_) => StatusCode::NO_CONTENT,
        None => StatusCode::NOT_FOUND,
    }
}

/// Creates the service of the gateway.
pub(crate) fn service() -> axum::Router {
    let mcp = axum::routing::post(post).delete(end);
    axum::Router::new()
        .route("/mcp", mcp)
        .with_state(Gateway::default())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args()
        .nth(1)
        .map_or(Ok(8080), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, service())
        .with_graceful_shutdown(mcp_revisions::stop_signal()?)
        .await?;
    Ok(())
}
