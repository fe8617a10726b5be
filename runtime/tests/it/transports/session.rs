//! A session of the handshake lifecycle over HTTP: what opens it, the stream beside it, and its end.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use mcp_revisions::latest::{self as mcp, CallServer, ClientHandlers};
use mcp_revisions::service::client::{ClientContext, Http};
use mcp_revisions::{Latest, RevisionSet};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::transports::client;

/// What the server saw, in order.
type Seen = Arc<Mutex<Vec<String>>>;

fn answer(status: u16, kind: &str, body: impl Into<Body>) -> Response {
    let response = Response::builder().status(status);
    let response = response.header("mcp-session-id", "s-1");
    response
        .header("content-type", kind)
        .body(body.into())
        .unwrap()
}

fn result(id: &Value, result: &Value) -> Response {
    let text = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    answer(200, "application/json", text)
}

fn log(text: &str) -> String {
    let params = json!({"level": "info", "data": text});
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}).to_string()
}

/// A server by hand, of one session: it takes its time with what ends the handshake, and tells things unasked.
async fn serve(seen: Seen) -> String {
    let handle = move |request: Request| {
        let seen = Arc::clone(&seen);
        async move { Ok::<_, Infallible>(handle(seen, request).await) }
    };
    let app = axum::Router::new().fallback_service(tower::service_fn(handle));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
    url
}

async fn handle(seen: Seen, request: Request) -> Response {
    let say = |what: String| seen.lock().unwrap().push(what);
    let headers = request.headers().clone();
    let header = |name: &str| {
        let value = headers.get(name);
        value.map_or("-", |value| value.to_str().unwrap())
    };
    let (session, last) = (header("mcp-session-id"), header("last-event-id"));
    let (method, accept) = (request.method().clone(), header("accept"));
    match method.as_str() {
        "GET" => {
            say(format!("GET {session} {accept} {last}"));
            match last {
                "-" => {
                    let event = format!("id: 1\nretry: 5\ndata: {}\n\n", log("first"));
                    answer(200, "text/event-stream", event)
                }
                "1" => {
                    let event = format!("id: 2\ndata: {}\n\n", log("second"));
                    answer(200, "text/event-stream", event)
                }
                // What a proxy says once it has had enough.
                _ => answer(200, "text/html", "<p>Log in again</p>"),
            }
        }
        "DELETE" => {
            say(format!("DELETE {session}"));
            answer(204, "text/plain", "")
        }
        _ => {
            let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
            let message: Value = serde_json::from_slice(&body).unwrap();
            let method = message["method"].as_str().unwrap().to_owned();
            say(format!("{method} {session}"));
            match method.as_str() {
                "initialize" => {
                    let info = json!({"name": "by hand", "version": "1"});
                    let capabilities = json!({"tools": {}, "logging": {}});
                    let version = &message["params"]["protocolVersion"];
                    let said = json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info});
                    result(&message["id"], &said)
                }
                "tools/list" => result(&message["id"], &json!({"tools": []})),
                _ => {
                    // Long enough for anything else to overtake it.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    say("taken".to_owned());
                    answer(202, "text/plain", "")
                }
            }
        }
    }
}

#[derive(Clone, Default)]
struct Ears {
    heard: Arc<Mutex<Vec<String>>>,
    all: Arc<Notify>,
}

impl ClientHandlers<ClientContext<Latest>> for Ears {
    async fn logging_message(
        &self,
        params: mcp::LoggingMessageNotificationParams,
        _: ClientContext<Latest>,
    ) {
        let mut heard = self.heard.lock().unwrap();
        heard.push(params.data.as_str().unwrap().into_owned());
        if heard.len() == 2 {
            self.all.notify_one();
        }
    }
}

#[tokio::test]
async fn a_session_is_opened_listened_to_and_ended() {
    let (seen, ears) = (Seen::default(), Ears::default());
    let url = serve(Arc::clone(&seen)).await;
    let http = Http::new(&url)
        .unwrap()
        .with_pause(Duration::from_millis(5));
    let client = client()
        .with_revisions(RevisionSet::handshake())
        .with_handlers(ears.clone())
        .http(http);
    assert!(client.list_tools(None).await.unwrap().tools.is_empty());
    let patience = Duration::from_secs(20);
    let all = tokio::time::timeout(patience, ears.all.notified()).await;
    // What is said unasked is heard, and goes on where the stream broke.
    all.unwrap();
    // A page in place of the stream ends it: it is not asked for again and again.
    let gets = || {
        let seen = seen.lock().unwrap();
        seen.iter().filter(|one| one.starts_with("GET")).count()
    };
    while gets() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(gets(), 3);
    client.close().await.unwrap();
    assert_eq!(*ears.heard.lock().unwrap(), ["first", "second"]);
    let seen = seen.lock().unwrap();
    // Nothing overtakes the end of the handshake.
    let opening = ["initialize -", "notifications/initialized s-1", "taken"];
    assert_eq!(seen[..3], opening, "{seen:?}");
    let has = |what: &str| seen.iter().any(|one| one == what);
    assert!(has("tools/list s-1"), "{seen:?}");
    assert!(has("GET s-1 text/event-stream -"), "{seen:?}");
    assert!(has("GET s-1 text/event-stream 1"), "{seen:?}");
    assert_eq!(seen.last().unwrap(), "DELETE s-1", "{seen:?}");
}
