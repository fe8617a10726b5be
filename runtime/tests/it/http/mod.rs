//! The HTTP service, request by request: status codes, headers, sessions, streams.

pub(crate) mod attacks;
mod budgets;
mod cards;
mod counters;
mod guard;
mod http_sse;
mod listener;
#[cfg(unix)]
mod redis;
mod refusals;
pub(crate) mod replicas;
mod resume;
mod sessions;
mod streams;
mod tasks;

use crate::support::handlers;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use mcp_revisions::http::{Body, Service};
use mcp_revisions::sansio::server::Server;
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const PER_REQUEST: &str = "2026-07-28";

pub(crate) fn server() -> Server {
    handlers::server().unwrap()
}

/// A POST of a message.
pub(crate) struct Post {
    headers: Vec<(String, String)>,
    body: String,
}

impl Post {
    pub(crate) fn of(message: &Value) -> Self {
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let headers = headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        Self {
            headers,
            body: message.to_string(),
        }
    }

    /// A per-request request with the headers that it has to have.
    pub(crate) fn per_request(method: &str, mut params: Value) -> Self {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(PER_REQUEST);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let name = params
            .get("name")
            .or(params.get("uri"))
            .and_then(Value::as_str)
            .map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let post = Self::of(&message)
            .with("MCP-Protocol-Version", PER_REQUEST)
            .with("Mcp-Method", method);
        match name {
            Some(name) => post.with("Mcp-Name", &name),
            None => post,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers
            .retain(|header| !header.0.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|header| !header.0.eq_ignore_ascii_case(name));
        self
    }

    /// Declares a capability of a per-request client.
    pub(crate) fn allow(&mut self, capability: &str) {
        let none = r#""io.modelcontextprotocol/clientCapabilities":{"#;
        let one = format!(r#"{none}"{capability}":{{}}"#);
        self.body = self.body.replace(none, &one);
    }

    pub(crate) fn request(self, method: Method) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(Full::from(self.body)).unwrap()
    }

    pub(crate) async fn to(self, service: &Service) -> Response<Body> {
        service
            .clone()
            .oneshot(self.request(Method::POST))
            .await
            .unwrap()
    }
}

pub(crate) async fn body(response: Response<Body>) -> String {
    String::from_utf8(
        response
            .into_body()
            .collect()
            .await
            .unwrap()
            .to_bytes()
            .to_vec(),
    )
    .unwrap()
}

pub(crate) async fn message(response: Response<Body>) -> Value {
    assert_eq!(response.headers()["content-type"], "application/json");
    serde_json::from_str(&body(response).await).unwrap()
}

/// The messages of a stream.
pub(crate) async fn events(response: Response<Body>) -> Vec<Value> {
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let body = body(response).await;
    assert!(body.ends_with("\n\n"), "{body}");
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    // An event that holds nothing says where the next one stands.
    let data = data.filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

pub(crate) fn initialize(version: &str) -> Post {
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    Post::of(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
}

/// Opens a session; its id.
pub(crate) async fn open(service: &Service, version: &str) -> String {
    let response = initialize(version).to(service).await;
    assert_eq!(response.status(), StatusCode::OK);
    let id = response.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        id.len() >= 32 && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)),
        "{id}"
    );
    assert_eq!(
        message(response).await["result"]["protocolVersion"],
        version
    );
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = Post::of(&initialized)
        .with("Mcp-Session-Id", &id)
        .to(service)
        .await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    assert_eq!(body(response).await, "");
    id
}

pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}
