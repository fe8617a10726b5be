//! What clients hear once something between the bridge and its upstream has broken.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_bridge::{Bridge, Upstream};
use mcp_revisions::Revision;
use mcp_revisions::service::client::Http;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::outside::{Raw, initialize, result, scripted, within};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const FILE: &str = "file:///a";

/// What a server of the latest revision with changes answers, but for `subscriptions/listen`.
fn discovered(message: &Value) -> Vec<Value> {
    if message["method"] != "server/discover" {
        let error = json!({ "code": -32601, "message": "no such method" });
        let refused = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        return (!message["id"].is_null())
            .then_some(refused)
            .into_iter()
            .collect();
    }
    let capabilities = json!({
        "tools": { "listChanged": true }, "resources": { "subscribe": true }, "logging": {}
    });
    let info = json!({ "name": "breaks", "version": "1" });
    result(
        message,
        &json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": [Revision::LATEST.protocol_version()],
            "capabilities": capabilities,
            "_meta": { "io.modelcontextprotocol/serverInfo": info },
        }),
    )
}

fn acknowledged(listens: &Value) -> Value {
    let params = json!({
        "notifications": listens["params"]["notifications"],
        "_meta": { SUBSCRIPTION: listens["id"] },
    });
    json!({ "jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": params })
}

/// A session client that is initialized, and its answer.
async fn session(bridge: Bridge) -> Raw {
    let mut raw = Raw::of(bridge);
    raw.says(initialize("2025-11-25", &json!({}))).await;
    let opened = raw.hears().await;
    assert_eq!(
        opened["result"]["capabilities"]["tools"]["listChanged"], true,
        "{opened}"
    );
    raw.says(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    raw
}

async fn subscribes(raw: &mut Raw, id: i64) -> Value {
    let params = json!({ "uri": FILE });
    raw.says(
        json!({ "jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": params }),
    )
    .await;
    raw.hears_answer(id).await
}

/// Hears that the list of tools and the resource may have changed.
async fn hears_of_all(raw: &mut Raw) {
    let mut missing = vec![
        "notifications/resources/updated",
        "notifications/tools/list_changed",
    ];
    while !missing.is_empty() {
        let told = raw.hears().await;
        missing.retain(|method| told["method"] != *method);
    }
}

#[tokio::test]
async fn a_session_client_hears_of_changes_after_its_server_over_stdio_has_ended_the_stream() {
    for ends_by in ["result", "cancelled", "error"] {
        let (listened, subscribed) = (Arc::new(AtomicUsize::new(0)), "resourceSubscriptions");
        let upstream = scripted(move |message| {
            if message["method"] != "subscriptions/listen" {
                return Some(discovered(message));
            }
            let mut said = vec![acknowledged(message)];
            let is_whole = !message["params"]["notifications"][subscribed].is_null();
            if is_whole && listened.fetch_add(1, Ordering::Relaxed) == 0 {
                let params = json!({ "requestId": message["id"] });
                said.extend(match ends_by {
                    "result" => result(message, &json!({ "resultType": "complete" })),
                    "cancelled" => vec![
                        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
                    ],
                    _ => {
                        let error = json!({ "code": -32000, "message": "restarting" });
                        vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })]
                    }
                });
            }
            Some(said)
        });
        let mut raw = session(Bridge::new(upstream)).await;
        let answer = subscribes(&mut raw, 7).await;
        assert_eq!(answer["result"], json!({}), "{ends_by}: {answer}");
        hears_of_all(&mut raw).await;
    }
}

#[tokio::test]
async fn a_subscription_that_the_server_declines_is_answered_with_an_error() {
    let upstream = scripted(|message| {
        if message["method"] != "subscriptions/listen" {
            return Some(discovered(message));
        }
        let mut said = acknowledged(message);
        said["params"]["notifications"] = json!({ "toolsListChanged": true });
        Some(vec![said])
    });
    let mut raw = session(Bridge::new(upstream)).await;
    let answer = subscribes(&mut raw, 7).await;
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("declined") && why.contains(FILE), "{answer}");
}

/// How a response over HTTP goes on after its events.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Open,
    Clean,
    Cut,
    Reset,
}

/// The answer of a server over HTTP.
enum Answer {
    Status(u16),
    Json(Value, Option<&'static str>),
    Events(Vec<Value>, End),
}

/// A request to a server over HTTP: its method, its session, and its message.
struct Request {
    method: String,
    session: Option<String>,
    message: Value,
}

async fn read(socket: &mut TcpStream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    let length = header("content-length").map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await.ok()?;
    Some(Request {
        method: head.split(' ').next()?.to_owned(),
        session: header("mcp-session-id"),
        message: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

async fn write(socket: &mut TcpStream, answer: Answer) -> std::io::Result<()> {
    match answer {
        Answer::Status(status) => {
            let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n");
            socket.write_all(head.as_bytes()).await
        }
        Answer::Json(body, session) => {
            let body = body.to_string();
            let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
            let head = format!(
                "HTTP/1.1 200 x\r\nContent-Type: application/json\r\n{session}Content-Length: {}\r\n\r\n",
                body.len()
            );
            socket.write_all((head + &body).as_bytes()).await
        }
        Answer::Events(events, end) => {
            let mut text = "HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
            for event in events {
                let event = format!("data: {event}\n\n");
                text += &format!("{:x}\r\n{event}\r\n", event.len());
            }
            if end == End::Clean {
                text += "0\r\n\r\n";
            }
            socket.write_all(text.as_bytes()).await?;
            match end {
                End::Clean => return Ok(()),
                End::Open => std::future::pending().await,
                End::Cut => {}
                End::Reset => {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    socket.set_zero_linger()?;
                }
            }
            Err(std::io::ErrorKind::ConnectionAborted.into())
        }
    }
}

/// A server over HTTP that answers requests by these.
async fn serving(answers: impl Fn(Request) -> Answer + Send + Sync + 'static) -> Upstream {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answers = Arc::new(answers);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let answers = Arc::clone(&answers);
            tokio::spawn(async move {
                while let Some(request) = read(&mut socket).await {
                    if write(&mut socket, answers(request)).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    Upstream::url(Http::new(&url).unwrap())
}

fn one(mut messages: Vec<Value>) -> Answer {
    match messages.pop() {
        Some(message) => Answer::Json(message, None),
        None => Answer::Status(202),
    }
}

#[tokio::test]
async fn a_session_client_hears_of_changes_after_the_stream_of_its_server_over_http_has_broken() {
    for end in [End::Clean, End::Cut, End::Reset] {
        let listened = AtomicUsize::new(0);
        let upstream = serving(move |request| {
            let message = &request.message;
            if message["method"] != "subscriptions/listen" {
                return one(discovered(message));
            }
            let is_whole = !message["params"]["notifications"]["resourceSubscriptions"].is_null();
            let is_first = is_whole && listened.fetch_add(1, Ordering::Relaxed) == 0;
            Answer::Events(
                vec![acknowledged(message)],
                if is_first { end } else { End::Open },
            )
        });
        let mut raw = session(Bridge::new(upstream.await)).await;
        let answer = subscribes(&mut raw, 7).await;
        assert_eq!(answer["result"], json!({}), "{end:?}: {answer}");
        hears_of_all(&mut raw).await;
    }
}

/// What a server is asked in its sessions: the session, the method and the params.
type Asked = Arc<Mutex<Vec<(String, String, Value)>>>;

/// A server of the handshake lifecycle that loses its first session once `lost` is set.
async fn forgetful(lost: Arc<AtomicUsize>, asked: Asked) -> Upstream {
    serving(move |request| {
        let Request {
            method,
            session,
            message,
        } = request;
        let is_lost = lost.load(Ordering::Relaxed) > 0;
        if is_lost && session.as_deref() == Some("one") {
            return Answer::Status(404);
        }
        if method == "GET" {
            // The first one ends once the session is lost: each is short.
            return Answer::Events(Vec::new(), if is_lost { End::Open } else { End::Clean });
        }
        let name = message["method"].as_str().unwrap_or_default().to_owned();
        if let Some(session) = session {
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push((session, name.clone(), message["params"].clone()));
        }
        match name.as_str() {
            "initialize" => {
                let capabilities = json!({
                    "tools": { "listChanged": true }, "resources": { "subscribe": true }, "logging": {}
                });
                let opened = json!({
                    "protocolVersion": "2025-11-25", "capabilities": capabilities,
                    "serverInfo": { "name": "forgets", "version": "1" },
                });
                let opened = result(&message, &opened).remove(0);
                Answer::Json(opened, Some(if is_lost { "two" } else { "one" }))
            }
            "server/discover" => {
                let error = json!({ "code": -32601, "message": "no such method" });
                one(vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })])
            }
            "tools/list" => one(result(&message, &json!({ "tools": [] }))),
            _ if message["id"].is_null() => Answer::Status(202),
            _ => one(result(&message, &json!({}))),
        }
    })
    .await
}

/// Says whether the client sends anything once the session is lost.
#[tokio::test]
async fn a_lost_session_is_restored_with_its_subscriptions_and_its_log_level() {
    for calls in [true, false] {
        let (lost, asked) = (Arc::new(AtomicUsize::new(0)), Asked::default());
        let upstream = forgetful(Arc::clone(&lost), Arc::clone(&asked)).await;
        let mut raw = session(Bridge::new(upstream)).await;
        subscribes(&mut raw, 7).await;
        let params = json!({ "level": "debug" });
        raw.says(
            json!({ "jsonrpc": "2.0", "id": 8, "method": "logging/setLevel", "params": params }),
        )
        .await;
        raw.hears_answer(8).await;
        raw.says(json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list" }))
            .await;
        raw.hears_answer(9).await;
        lost.store(1, Ordering::Relaxed);
        if calls {
            raw.says(json!({ "jsonrpc": "2.0", "id": 10, "method": "tools/list" }))
                .await;
        }
        hears_of_all(&mut raw).await;
        let asked = asked.lock().unwrap().clone();
        for (method, params) in [
            ("resources/subscribe", json!({ "uri": FILE })),
            ("logging/setLevel", json!({ "level": "debug" })),
        ] {
            assert!(
                asked.contains(&("two".to_owned(), method.to_owned(), params)),
                "{calls}: {method} is missing in {asked:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_per_request_client_that_listens_hears_of_changes_after_a_session_was_lost() {
    let (lost, asked) = (Arc::new(AtomicUsize::new(0)), Asked::default());
    let upstream = forgetful(Arc::clone(&lost), Arc::clone(&asked)).await;
    let mut raw = Raw::of(Bridge::new(upstream));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": [FILE] });
    let params = json!({ "notifications": filter, "_meta": meta });
    raw.says(
        json!({ "jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen", "params": params }),
    )
    .await;
    assert_eq!(raw.hears().await["method"], ACKNOWLEDGED);
    let is_subscribed = || {
        let asked = asked.lock().unwrap();
        asked
            .iter()
            .any(|(_, method, _)| method == "resources/subscribe")
    };
    within(async {
        while !is_subscribed() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    lost.store(1, Ordering::Relaxed);
    hears_of_all(&mut raw).await;
}

#[tokio::test]
async fn a_level_that_a_session_client_sets_reaches_an_older_server_before_the_next_call() {
    let (asked, sent) = tokio::sync::mpsc::unbounded_channel();
    let (asked, sent) = (asked, Mutex::new(sent));
    let upstream = scripted(move |message| {
        let method = message["method"].as_str().unwrap_or_default();
        let _ = asked.send((method.to_owned(), message["params"]["level"].clone()));
        Some(match method {
            "initialize" => {
                let capabilities = json!({ "tools": { "listChanged": true }, "logging": {} });
                let info = json!({ "name": "old", "version": "1" });
                result(
                    message,
                    &json!({ "protocolVersion": "2024-11-05", "capabilities": capabilities, "serverInfo": info }),
                )
            }
            "tools/list" => result(message, &json!({ "tools": [] })),
            "logging/setLevel" => result(message, &json!({})),
            "server/discover" => {
                let error = json!({ "code": -32601, "message": "no such method" });
                vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })]
            }
            _ => Vec::new(),
        })
    });
    let mut raw = session(Bridge::new(upstream)).await;
    let params = json!({ "level": "warning" });
    raw.says(json!({ "jsonrpc": "2.0", "id": 8, "method": "logging/setLevel", "params": params }))
        .await;
    assert_eq!(raw.hears_answer(8).await["result"], json!({}));
    raw.says(json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list" }))
        .await;
    raw.hears_answer(9).await;
    let mut sent = sent.into_inner().unwrap();
    let mut methods = Vec::new();
    while let Ok(one) = sent.try_recv() {
        methods.push(one);
    }
    let level = ("logging/setLevel".to_owned(), json!("warning"));
    let place = |wanted: &(String, Value)| methods.iter().position(|one| one == wanted);
    let call = ("tools/list".to_owned(), Value::Null);
    assert!(
        place(&level).is_some() && place(&level) < place(&call),
        "{methods:?}"
    );
    within(std::future::ready(())).await;
}
