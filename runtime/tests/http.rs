//! The HTTP service, request by request: status codes, headers, sessions, streams.

#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

#[path = "../examples/handlers/mod.rs"]
mod handlers;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use mcp_revisions::http::{Body, Options, Service};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::serve::{Handler, Peer};
use mcp_revisions::server::{Call, Server};
use mcp_revisions::{Limits, RevisionSet, V2025_11_25};
use serde_json::{Value, json};
use tower::ServiceExt;

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

fn server() -> Server<V2025_11_25> {
    handlers::server().unwrap()
}

/// A POST of a message.
struct Post {
    headers: Vec<(String, String)>,
    body: String,
}

impl Post {
    fn of(message: &Value) -> Self {
        let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { headers, body: message.to_string() }
    }

    /// A modern request with the headers that it has to have.
    fn modern(method: &str, mut params: Value) -> Self {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let post = Self::of(&message).with("MCP-Protocol-Version", MODERN).with("Mcp-Method", method);
        match name {
            Some(name) => post.with("Mcp-Name", &name),
            None => post,
        }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|header| !header.0.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|header| !header.0.eq_ignore_ascii_case(name));
        self
    }

    fn request(self, method: Method) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(Full::from(self.body)).unwrap()
    }

    async fn to<H: Handler>(self, service: &Service<V2025_11_25, H>) -> Response<Body> {
        service.clone().oneshot(self.request(Method::POST)).await.unwrap()
    }
}

async fn body(response: Response<Body>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

async fn message(response: Response<Body>) -> Value {
    assert_eq!(response.headers()["content-type"], "application/json");
    serde_json::from_str(&body(response).await).unwrap()
}

/// The messages of a stream.
async fn events(response: Response<Body>) -> Vec<Value> {
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let body = body(response).await;
    assert!(body.ends_with("\n\n"), "{body}");
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn initialize(version: &str) -> Post {
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    Post::of(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
}

/// Opens a session; its id.
async fn open<H: Handler>(service: &Service<V2025_11_25, H>, version: &str) -> String {
    let response = initialize(version).to(service).await;
    assert_eq!(response.status(), StatusCode::OK);
    let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert!(id.len() >= 32 && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
    assert_eq!(message(response).await["result"]["protocolVersion"], version);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = Post::of(&initialized).with("Mcp-Session-Id", &id).to(service).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    assert_eq!(body(response).await, "");
    id
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

#[tokio::test]
async fn one_service_serves_every_revision_at_once() {
    let service = Service::new(server(), handlers::handle);
    let mut sessions = Vec::new();
    for version in VERSIONS {
        sessions.push((version, open(&service, version).await));
    }
    for (version, session) in &sessions {
        let post = Post::of(&call("weather", json!({}))).with("Mcp-Session-Id", session);
        let answer = message(post.with("MCP-Protocol-Version", version).to(&service).await).await;
        let structured = answer["result"].get("structuredContent").is_some();
        assert_eq!(structured, *version >= "2025-06-18", "{version}: {answer}");
        assert_eq!(answer["result"].get("resultType"), None);
    }
    let response = Post::modern("tools/call", json!({"name": "weather"})).to(&service).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers().get("mcp-session-id"), None);
    let answer = message(response).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["structuredContent"]["degrees"], 21.5);
}

#[tokio::test]
async fn headers_that_do_not_repeat_the_body_are_refused() {
    let service = Service::new(server(), handlers::handle);
    let good = || Post::modern("tools/call", json!({"name": "add", "arguments": {"a": 1, "b": 2}}));
    assert_eq!(good().to(&service).await.status(), StatusCode::OK);
    let encoded = good().with("Mcp-Name", "=?base64?YWRk?=");
    assert_eq!(encoded.to(&service).await.status(), StatusCode::OK, "base64 of `add`");
    let bad = [
        good().without("MCP-Protocol-Version"),
        good().with("MCP-Protocol-Version", "2025-11-25"),
        good().without("Mcp-Method"),
        good().with("Mcp-Method", "tools/list"),
        good().with("Mcp-Method", "Tools/Call"),
        good().without("Mcp-Name"),
        good().with("Mcp-Name", "sub"),
        good().with("Mcp-Name", "=?base64?YWR?="),
    ];
    for post in bad {
        let headers = format!("{:?}", post.headers);
        let response = post.to(&service).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{headers}");
        let answer = message(response).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32020), &json!(1)), "{headers}");
    }
}

#[tokio::test]
async fn errors_of_the_protocol_have_their_status() {
    let service = Service::new(server(), handlers::handle);
    let meta = |meta: Value| Post::of(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}));
    let claim = |version: &str| json!({"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}});
    let list = |post: Post, version: &str| post.with("MCP-Protocol-Version", version).with("Mcp-Method", "tools/list");
    let cases = [
        (list(meta(claim("2031-01-01")), "2031-01-01"), 400, -32022),
        (list(meta(json!({"io.modelcontextprotocol/protocolVersion": MODERN})), MODERN), 400, -32602),
        (list(Post::of(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})), MODERN), 400, -32602),
        (Post::modern("tools/fly", json!({})), 404, -32601),
        (Post::modern("initialize", json!({})), 404, -32601),
        (Post::modern("ping", json!({})), 404, -32601),
        (Post::modern("logging/setLevel", json!({"level": "info"})), 404, -32601),
        (Post::modern("tools/call", json!({"name": "nobody"})), 200, -32602),
        (Post { body: "{".to_owned(), ..Post::of(&json!(0)) }, 400, -32700),
        (Post::of(&json!({"jsonrpc": "2.0", "id": 1})), 400, -32600),
    ];
    for (post, status, code) in cases {
        let body = post.body.clone();
        let response = post.to(&service).await;
        let found = response.status();
        let answer = message(response).await;
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
        assert_eq!(found.as_u16(), status, "{body}: {answer}");
        if code == -32022 {
            assert_eq!(answer["error"]["data"]["requested"], "2031-01-01");
            assert_eq!(answer["error"]["data"]["supported"][0], MODERN);
        }
    }
}

#[tokio::test]
async fn sessions_are_required_known_and_ended() {
    let service = Service::new(server(), handlers::handle);
    let session = open(&service, "2025-06-18").await;
    let post = || Post::of(&call("add", json!({"a": 1, "b": 2})));
    assert_eq!(post().to(&service).await.status(), StatusCode::BAD_REQUEST, "missing");
    assert_eq!(post().with("Mcp-Session-Id", "guess").to(&service).await.status(), StatusCode::NOT_FOUND);
    let response = post().with("mcp-session-id", &session).to(&service).await;
    assert_eq!(message(response).await["result"]["content"][0]["text"], "3");

    let delete = |id: &str| Post::of(&json!(0)).with("Mcp-Session-Id", id).request(Method::DELETE);
    let status = |request| async { service.clone().oneshot(request).await.unwrap().status() };
    assert_eq!(status(delete("guess")).await, StatusCode::NOT_FOUND);
    assert_eq!(status(delete(&session)).await, StatusCode::NO_CONTENT);
    assert_eq!(status(delete(&session)).await, StatusCode::NOT_FOUND);
    assert_eq!(post().with("Mcp-Session-Id", &session).to(&service).await.status(), StatusCode::NOT_FOUND, "ended");
}

#[tokio::test]
async fn a_session_on_a_modern_request_is_ignored() {
    let service = Service::new(server(), handlers::handle);
    let post = Post::modern("tools/list", json!({})).with("Mcp-Session-Id", "guess").with("Last-Event-ID", "7");
    let response = post.to(&service).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers().get("mcp-session-id"), None);
}

#[tokio::test]
async fn sessions_do_not_hear_of_each_other() {
    let service = Service::new(server(), handlers::handle);
    let one = open(&service, "2025-03-26").await;
    let two = open(&service, "2025-11-25").await;
    assert_ne!(one, two);
    // The same id in both, at the same time; and a batch, which only the first may send.
    let batch = json!([call("add", json!({"a": 1, "b": 1})), {"jsonrpc": "2.0", "id": 2, "method": "ping"}]);
    let (first, second, refused) = tokio::join!(
        Post::of(&batch).with("Mcp-Session-Id", &one).to(&service),
        Post::of(&call("add", json!({"a": 2, "b": 2}))).with("Mcp-Session-Id", &two).to(&service),
        Post::of(&batch).with("Mcp-Session-Id", &two).to(&service),
    );
    let first = message(first).await;
    let sum = first.as_array().unwrap().iter().find(|answer| answer["id"] == 1).unwrap();
    assert_eq!((first.as_array().unwrap().len(), &sum["result"]["content"][0]["text"]), (2, &json!("2")));
    assert_eq!(message(second).await["result"]["content"][0]["text"], "4");
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn get_and_delete_mean_nothing_to_the_modern_era() {
    let modern = Service::new(server().serving(RevisionSet::modern()), handlers::handle);
    let dual = Service::new(server(), handlers::handle);
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let post = || Post::of(&json!(0)).with("Mcp-Session-Id", "s");
        let response = modern.clone().oneshot(post().request(method.clone())).await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
        let response = dual.clone().oneshot(post().with("MCP-Protocol-Version", MODERN).request(method)).await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "GET, POST, DELETE");
    }
}

#[tokio::test]
async fn a_modern_server_names_its_revisions_to_a_handshake() {
    let service = Service::new(server().serving(RevisionSet::modern()), handlers::handle);
    let response = initialize("2025-11-25").to(&service).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(response.headers().get("mcp-session-id"), None);
    let answer = message(response).await;
    assert_eq!((&answer["error"]["code"], &answer["error"]["data"]["supported"]), (&json!(-32022), &json!([MODERN])));
}

#[tokio::test]
async fn get_opens_the_one_stream_of_a_session() {
    let service = Service::new(server(), handlers::handle);
    let session = open(&service, "2025-11-25").await;
    let get = |id: &str| Post::of(&json!(0)).with("Mcp-Session-Id", id).request(Method::GET);
    let stream = service.clone().oneshot(get(&session)).await.unwrap();
    assert_eq!((stream.status(), &stream.headers()["content-type"]), (StatusCode::OK, &"text/event-stream".parse().unwrap()));
    assert_eq!(service.clone().oneshot(get(&session)).await.unwrap().status(), StatusCode::CONFLICT);
    assert_eq!(service.clone().oneshot(get("guess")).await.unwrap().status(), StatusCode::NOT_FOUND);
    // One that was given up makes room; one whose session ends, ends.
    drop(stream);
    let stream = service.clone().oneshot(get(&session)).await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    let delete = Post::of(&json!(0)).with("Mcp-Session-Id", &session).request(Method::DELETE);
    assert_eq!(service.clone().oneshot(delete).await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(body(stream).await, "");
}

#[tokio::test]
async fn a_call_that_says_something_first_is_answered_by_a_stream() {
    let service = Service::new(server(), handlers::handle);
    let progress = json!({"name": "count", "arguments": {"to": 2}, "_meta": {"progressToken": "p"}});
    let told = events(Post::modern("tools/call", progress.clone()).to(&service).await).await;
    let methods: Vec<_> = told.iter().map(|message| message["method"].as_str()).collect();
    assert_eq!(methods, [Some("notifications/progress"), Some("notifications/progress"), None], "no logs were asked for");
    assert_eq!(told[2]["result"]["content"][0]["text"], "done");

    let mut logs = progress;
    logs["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    let told = events(Post::modern("tools/call", logs).to(&service).await).await;
    let logs = told.iter().filter(|message| message["method"] == "notifications/message");
    assert_eq!((logs.count(), told.len()), (2, 5));

    // The same call without a wish for progress or logs is one object.
    let quiet = Post::modern("tools/call", json!({"name": "count"})).to(&service).await;
    assert_eq!(message(quiet).await["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn notifications_and_answers_are_accepted_without_a_body() {
    let service = Service::new(server(), handlers::handle);
    let session = open(&service, "2025-11-25").await;
    let messages = [
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}),
        json!({"jsonrpc": "2.0", "id": 5, "result": {}}),
    ];
    for message in messages {
        let response = Post::of(&message).with("Mcp-Session-Id", &session).to(&service).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert_eq!(body(response).await, "");
    }
}

#[tokio::test]
async fn origins_are_checked_before_anything_else() {
    let options = Options::new().with_origin("https://app.example.com");
    let service = Service::with_options(server(), handlers::handle, options);
    let cases = [
        (None, true),
        (Some("http://localhost:5173"), true),
        (Some("http://127.0.0.1"), true),
        (Some("https://app.example.com"), true),
        (Some("https://evil.example.com"), false),
        (Some("http://app.example.com"), false),
        (Some("https://app.example.com.evil.com"), false),
        (Some("http://localhost.evil.com"), false),
        (Some("null"), false),
    ];
    for (origin, allowed) in cases {
        for post in [Post::modern("tools/list", json!({})), initialize("2025-11-25")] {
            let post = match origin {
                Some(origin) => post.with("Origin", origin),
                None => post,
            };
            let status = post.to(&service).await.status();
            assert_eq!(status == StatusCode::OK, allowed, "{origin:?}: {status}");
            assert!(allowed || status == StatusCode::FORBIDDEN);
        }
        if let (Some(origin), false) = (origin, allowed) {
            let get = Post::of(&json!(0)).with("Origin", origin).request(Method::GET);
            assert_eq!(service.clone().oneshot(get).await.unwrap().status(), StatusCode::FORBIDDEN);
        }
    }
}

#[tokio::test]
async fn what_is_no_json_or_too_long_is_refused() {
    let limits = Limits { message_bytes: 2000, sessions: 2, ..Limits::default() };
    let service = Service::new(server().with_limits(limits), handlers::handle);
    let post = Post::modern("tools/list", json!({}));
    assert_eq!(post.with("Content-Type", "text/plain").to(&service).await.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let post = Post::modern("tools/list", json!({})).with("Content-Type", "Application/JSON; charset=utf-8");
    assert_eq!(post.to(&service).await.status(), StatusCode::OK);
    let long = Post::modern("tools/list", json!({"cursor": "x".repeat(2000)}));
    assert_eq!(long.to(&service).await.status(), StatusCode::PAYLOAD_TOO_LARGE);

    let session = open(&service, "2025-11-25").await;
    open(&service, "2025-11-25").await;
    assert_eq!(initialize("2025-11-25").to(&service).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    let delete = Post::of(&json!(0)).with("Mcp-Session-Id", &session).request(Method::DELETE);
    service.clone().oneshot(delete).await.unwrap();
    open(&service, "2025-11-25").await;
}

#[tokio::test]
async fn sessions_long_silent_make_room() {
    let limits = Limits { sessions: 1, ..Limits::default() };
    let options = Options::new().with_idle(Duration::ZERO);
    let service = Service::with_options(server().with_limits(limits), handlers::handle, options);
    let first = open(&service, "2025-11-25").await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    open(&service, "2025-06-18").await;
    let post = Post::of(&call("add", json!({"a": 1, "b": 2}))).with("Mcp-Session-Id", &first);
    assert_eq!(post.to(&service).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_sessions_every_request_stands_alone() {
    let service = Service::with_options(server(), handlers::handle, Options::new().without_sessions());
    let response = initialize("2025-06-18").to(&service).await;
    assert_eq!(response.headers().get("mcp-session-id"), None);
    let post = Post::of(&call("weather", json!({}))).with("MCP-Protocol-Version", "2025-06-18");
    let answer = message(post.to(&service).await).await;
    assert!(answer["result"]["structuredContent"].is_object());
    let answer = message(Post::of(&call("weather", json!({}))).to(&service).await).await;
    assert_eq!(answer["result"].get("structuredContent"), None, "2025-03-26, where nothing is said");
    let get = service.clone().oneshot(Post::of(&json!(0)).request(Method::GET)).await.unwrap();
    assert_eq!(get.status(), StatusCode::METHOD_NOT_ALLOWED);
}

/// A handler that never answers, and counts how many of its calls are at work.
fn stuck(at_work: &Arc<AtomicUsize>) -> impl Handler {
    struct Working(Arc<AtomicUsize>);
    impl Drop for Working {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let at_work = Arc::clone(at_work);
    move |_: Call, peer: Peer| {
        at_work.fetch_add(1, Ordering::SeqCst);
        let working = Working(Arc::clone(&at_work));
        async move {
            let progress = json!({"progressToken": "p", "progress": 1});
            let _ = peer.notify("notifications/progress", Some(&Json::from(progress))).await;
            std::future::pending::<()>().await;
            drop(working);
            Ok(Json::null())
        }
    }
}

async fn settles_at(at_work: &AtomicUsize, count: usize) -> bool {
    for _ in 0..400 {
        if at_work.load(Ordering::SeqCst) == count {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn a_modern_client_that_hangs_up_gives_up_its_call() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let service = Service::new(server(), stuck(&at_work));
    // Before anything was said.
    let post = Post::modern("tools/call", json!({"name": "add"}));
    let waits = tokio::spawn({
        let service = service.clone();
        async move { post.to(&service).await }
    });
    assert!(settles_at(&at_work, 1).await);
    waits.abort();
    assert!(settles_at(&at_work, 0).await, "the call is still at work");
    // In the middle of the stream.
    let post = Post::modern("tools/call", json!({"name": "add", "_meta": {"progressToken": "p"}}));
    let mut stream = post.to(&service).await.into_body();
    assert!(stream.frame().await.is_some());
    assert_eq!(at_work.load(Ordering::SeqCst), 1);
    drop(stream);
    assert!(settles_at(&at_work, 0).await, "the call is still at work");
}

#[tokio::test]
async fn a_legacy_client_that_hangs_up_does_not_but_may_cancel() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let service = Service::new(server(), stuck(&at_work));
    let session = open(&service, "2025-11-25").await;
    let progress = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "_meta": {"progressToken": "p"}}});
    let stream = Post::of(&progress).with("Mcp-Session-Id", &session).to(&service).await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(at_work.load(Ordering::SeqCst), 1);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let response = Post::of(&cancel).with("Mcp-Session-Id", &session).to(&service).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    assert!(settles_at(&at_work, 0).await, "the call is still at work");
}

#[tokio::test]
async fn a_handler_that_panics_is_answered_for() {
    let handler = |call: Call, _: Peer| async move {
        assert!(call.params.text().contains("fine"), "as the test wants it");
        Ok(Json::from(json!({"content": []})))
    };
    let service = Service::new(server(), handler);
    let answer = message(Post::modern("tools/call", json!({"name": "bad"})).to(&service).await).await;
    assert_eq!(answer["error"]["code"], -32603);
    let answer = message(Post::modern("tools/call", json!({"name": "fine"})).to(&service).await).await;
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_legacy_client_is_asked_on_the_stream_of_its_call() {
    let handler = |_: Call, peer: Peer| async move {
        let answer = peer.ask("roots/list", None).await?;
        let roots: Value = answer.parse().unwrap();
        let text = roots["roots"][0]["uri"].as_str().unwrap().to_owned();
        Ok(Json::from(json!({"content": [{"type": "text", "text": text}]})))
    };
    let service = Service::new(server(), handler);
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    let response = Post::of(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).to(&service).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let mut stream = Post::of(&call("roots", json!({}))).with("Mcp-Session-Id", &session).to(&service).await.into_body();
    let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
    let text = String::from_utf8(frame.to_vec()).unwrap();
    let asked: Value = serde_json::from_str(text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap()).unwrap();
    assert_eq!(asked["method"], "roots/list");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": "file:///here"}]}});
    assert_eq!(Post::of(&answer).with("Mcp-Session-Id", &session).to(&service).await.status(), StatusCode::ACCEPTED);
    let rest = stream.collect().await.unwrap().to_bytes();
    assert!(String::from_utf8(rest.to_vec()).unwrap().contains("file:///here"));
}

#[tokio::test]
async fn it_goes_into_axum() {
    let service = Service::new(server(), handlers::handle);
    let router = axum::Router::new().route_service("/mcp", service);
    let response = router.clone().oneshot(Post::modern("tools/list", json!({})).request(Method::POST)).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 5);
}
