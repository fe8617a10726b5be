//! A client and its server that come to know each other late: who is started for what, what waits, and what is left behind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_bridge::{Bridge, ClientSettings, ServerDirectory, Upstream};
use mcp_revisions::http::{self, Body};
use mcp_revisions::{Revision, core::PeerRole};
use serde_json::{Value, json};

use crate::outside::{Raw, calls, initialize, opens, result, scripted, within};

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The bridge's response to a message over HTTP, with these headers.
async fn send<S>(
    service: &S,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, ::http::HeaderMap, Value)
where
    S: tower_service::Service<
            ::http::Request<String>,
            Response = ::http::Response<Body>,
            Error = std::convert::Infallible,
        > + Clone,
{
    let mut request = ::http::Request::builder()
        .method(method)
        .uri(
            headers
                .iter()
                .find(|it| it.0 == "path")
                .map_or("/mcp", |it| it.1),
        )
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers.iter().filter(|it| it.0 != "path") {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_owned()).unwrap();
    let answer = within(tower_service::Service::call(&mut service.clone(), request)).await;
    let (head, body) = answer.unwrap().into_parts();
    let body = within(http_body_util::BodyExt::collect(body))
        .await
        .unwrap()
        .to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let message = text
        .lines()
        .rev()
        .find_map(|line| serde_json::from_str(line.strip_prefix("data:").unwrap_or(line)).ok());
    (
        head.status.as_u16(),
        head.headers,
        message.unwrap_or_default(),
    )
}

/// A server of a revision with sessions that asks for roots as soon as its session is open, logs, and gives them to each call.
fn asks_at_once(revision: Revision) -> Upstream {
    let roots: Arc<Mutex<Value>> = Arc::default();
    scripted(move |message| {
        let mut answers = opens(message, revision);
        if message["method"] == "notifications/initialized" {
            answers.push(json!({ "jsonrpc": "2.0", "id": 900, "method": "roots/list" }));
            answers.push(json!({ "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "error", "data": "the disk is full" } }));
        }
        if message["id"] == 900 {
            *roots.lock().unwrap() = message.clone();
        }
        if message["method"] == "tools/call" {
            let text = roots.lock().unwrap().to_string();
            answers = result(
                message,
                &json!({ "content": [{ "type": "text", "text": text }] }),
            );
        }
        Some(answers)
    })
}

/// The server is told that its session is open before the client says so.
#[tokio::test]
async fn a_question_that_a_server_asks_at_once_waits_until_its_client_has_opened_the_session() {
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
    ] {
        for pause in [0, 100] {
            let mut raw = Raw::of(Bridge::new(asks_at_once(revision)));
            raw.says(initialize(
                revision.protocol_version(),
                &json!({ "roots": {} }),
            ))
            .await;
            assert!(raw.hears().await["result"].is_object());
            // The server has asked by now, or asks when the client says that its session is open.
            tokio::time::sleep(Duration::from_millis(pause)).await;
            raw.says(INITIALIZED).await;
            let question = loop {
                let heard = raw.hears().await;
                if heard["method"] != "notifications/message" {
                    break heard;
                }
            };
            assert_eq!(question["method"], "roots/list", "{question}");
            let roots = json!({ "roots": [{ "uri": "file:///r" }] });
            raw.says(json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots }))
                .await;
            // A call may overtake the answer on its way to the server.
            let mut id = 2;
            let text = loop {
                raw.says(calls(id, "any")).await;
                let answer = raw.hears_answer(id).await;
                let text = answer["result"]["content"][0]["text"].to_string();
                if text != "\"null\"" || id > 100 {
                    break text;
                }
                id += 1;
            };
            assert!(text.contains("file:///r"), "{revision} {pause}: {text}");
        }
    }
}

/// A client of the per-request lifecycle is asked in its next call; what else comes outside of calls is reported as lost.
#[tokio::test]
async fn what_a_server_says_outside_of_calls_waits_for_the_next_call_or_is_reported() {
    let lost: Arc<Mutex<Vec<String>>> = Arc::default();
    let reports = Arc::clone(&lost);
    let clients = ClientSettings::new().on_loss(move |message| {
        if message.undelivered.is_some() && message.peer == PeerRole::Client {
            reports.lock().unwrap().push(message.method.to_owned());
        }
    });
    let bridge = Bridge::new(asks_at_once(Revision::V2025_06_18)).with_clients(clients);
    let mut raw = Raw::of(bridge);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
    });
    let asks = |id: i64, method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    };
    raw.says(asks(1, "server/discover", json!({}))).await;
    assert!(raw.hears_answer(1).await["result"].is_object());
    raw.says(asks(2, "tools/call", json!({ "name": "any" })))
        .await;
    let asked = raw.hears_answer(2).await;
    let questions = asked["result"]["inputRequests"]
        .as_object()
        .unwrap_or_else(|| panic!("{asked}"));
    let (key, question) = questions.iter().next().unwrap();
    assert_eq!(question["method"], "roots/list", "{asked}");
    let responses = json!({ key: { "roots": [{ "uri": "file:///r" }] } });
    let state = asked["result"]["requestState"].clone();
    raw.says(asks(
        3,
        "tools/call",
        json!({ "name": "any", "inputResponses": responses, "requestState": state }),
    ))
    .await;
    assert!(raw.hears_answer(3).await["result"]["content"].is_array());
    assert_eq!(*lost.lock().unwrap(), ["notifications/message"]);
}

#[tokio::test]
async fn a_client_over_two_streams_whose_server_did_not_start_tries_again() {
    let starts = Arc::new(AtomicUsize::new(0));
    let works = Arc::clone(&starts);
    let upstream = scripted(move |message| {
        let does_it_work = works.load(Ordering::SeqCst) > 2;
        does_it_work.then(|| opens(message, Revision::V2025_11_25))
    });
    let mut raw = Raw::of(Bridge::new(upstream));
    for attempt in 0..3 {
        starts.store(attempt, Ordering::SeqCst);
        raw.says(initialize("2025-11-25", &json!({}))).await;
        let refused = raw.hears().await;
        let why = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("ended before it said"), "{refused}");
    }
    starts.store(3, Ordering::SeqCst);
    raw.says(initialize("2025-11-25", &json!({}))).await;
    let opened = raw.hears().await;
    assert_eq!(
        opened["result"]["serverInfo"]["name"], "scripted",
        "{opened}"
    );
    raw.hangs_up().await;
    within(raw.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_message_of_a_version_that_is_not_served_starts_no_server() {
    let starts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&starts);
    let upstream = scripted(|message| Some(opens(message, Revision::V2025_11_25)));
    let upstream = upstream.with_tap(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(|_, _: &str| ())
    });
    let listing = |version: &str| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        } } })
        .to_string()
    };
    for version in ["2030-01-01", "2026-07-28"] {
        let narrow = [Revision::V2025_11_25].into_iter().collect();
        let clients = || ClientSettings::new().with_revisions(narrow);
        let bridge = || Bridge::new(upstream.clone()).with_clients(clients());
        let mut raw = Raw::of(bridge());
        raw.says(listing(version)).await;
        assert!(!raw.hears().await["error"].is_null());
        let service = bridge().into_service();
        let headers = [
            ("mcp-protocol-version", version),
            ("mcp-method", "tools/list"),
        ];
        let (_, _, answer) = send(&service, "POST", &headers, &listing(version)).await;
        assert!(!answer["error"].is_null(), "{answer}");
        service.shutdown().await;
    }
    assert_eq!(starts.load(Ordering::SeqCst), 0);
}

/// Also the end of a server whose session has ended a moment before.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_server_is_left_when_a_bridge_has_ended() {
    let folder = std::env::temp_dir().join(format!("mcp-bridge-left-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pid = folder.join("pid");
    let opened = json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } } });
    // It goes on for a minute after its input has ended.
    let script = format!(
        "echo $$ > {}; read line; id=${{line#*\\\"id\\\":}}; id=${{id%%,*}}; echo '{}' | sed \"s/\\\"id\\\":0/\\\"id\\\":$id/\"; \
         while read line; do :; done; exec sleep 60",
        pid.display(),
        opened
    );
    let service = Bridge::new(Upstream::command("sh", ["-c", &script])).into_service();
    let opening = initialize("2025-06-18", &json!({})).to_string();
    let (_, headers, answer) = send(&service, "POST", &[], &opening).await;
    assert!(answer["result"].is_object(), "{answer}");
    let session = headers["mcp-session-id"].to_str().unwrap().to_owned();
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    let (status, ..) = send(&service, "DELETE", &headers, "").await;
    assert_eq!(status, 204);
    // Until the search for servers of sessions that are over has come by.
    tokio::time::sleep(Duration::from_millis(1_300)).await;
    within(service.shutdown()).await;
    let pid = std::fs::read_to_string(&pid).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    let is_alive = stat.is_ok_and(|stat| !stat.contains(") Z "));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(!is_alive, "the process {pid} is left");
}

#[tokio::test]
async fn servers_of_one_directory_share_the_number_that_may_be_open() {
    let directory = ServerDirectory::new(http::Options::new());
    for name in ["one", "other"] {
        let upstream = scripted(|message| Some(opens(message, Revision::V2025_11_25)));
        directory
            .insert(
                name,
                Bridge::new(upstream).with_clients(ClientSettings::new().with_max_servers(1)),
            )
            .unwrap();
    }
    let opening = initialize("2025-11-25", &json!({})).to_string();
    let (_, _, answer) = send(&directory, "POST", &[("path", "/one/mcp")], &opening).await;
    assert!(answer["result"].is_object(), "{answer}");
    let (_, _, answer) = send(&directory, "POST", &[("path", "/other/mcp")], &opening).await;
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("1 servers are at work"), "{answer}");
}

#[tokio::test]
async fn each_server_of_a_directory_has_a_card_and_the_catalog_names_them_all() {
    let parent = "https://mcp.example.com/tools";
    let options = http::Options::new().with_server_card(parent).unwrap();
    let directory = ServerDirectory::new(options);
    for name in ["one", "other"] {
        let upstream = scripted(|message| Some(opens(message, Revision::V2025_11_25)));
        directory.insert(name, Bridge::new(upstream)).unwrap();
    }
    let place = [("path", "/.well-known/ai-catalog.json")];
    let (status, _, catalog) = send(&directory, "GET", &place, "").await;
    assert_eq!(status, 200);
    let urls: Vec<&Value> = catalog["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["url"])
        .collect();
    let of = |name: &str| json!(format!("{parent}/{name}/mcp/server-card"));
    assert_eq!(urls, [&of("one"), &of("other")]);
    let (status, _, card) = send(&directory, "GET", &[("path", "/one/mcp/server-card")], "").await;
    assert_eq!(status, 200, "{card}");
    assert_eq!(card["remotes"][0]["url"], format!("{parent}/one/mcp"));
    let (status, ..) = send(&directory, "GET", &[("path", "/none/mcp/server-card")], "").await;
    assert_eq!(status, 404);
    let silent = ServerDirectory::new(http::Options::new());
    let (status, ..) = send(&silent, "GET", &place, "").await;
    assert_eq!(status, 404);
}
