//! The first messages with a server: which revision is spoken with it, and what clients are told of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_bridge::{Bridge, Error, Upstream};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::sansio::server::{Profile, Server};
use mcp_revisions::service::client::Http;
use mcp_revisions::{Lifecycle, Revision, RevisionSet, http};
use serde_json::{Value, json};

use crate::outside::{Raw, initialize, opens, result, scripted, within};
use crate::{client, greets, names, text};

/// What a server of the per-request lifecycle answers, which says this of itself.
fn per_request(message: &Value, discovered: &Value) -> Vec<Value> {
    let (code, data) = match message["method"].as_str() {
        Some("server/discover") => return result(message, discovered),
        Some("initialize") => (-32022, json!({ "supported": ["2026-07-28"] })),
        Some(_) if !message["id"].is_null() => (-32601, Value::Null),
        _ => return Vec::new(),
    };
    let error = json!({ "code": code, "message": "no", "data": data });
    vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })]
}

fn discovered(meta: &Value) -> Value {
    json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "_meta": meta,
    })
}

fn post(body: &Value) -> ::http::Request<http_body_util::Full<bytes::Bytes>> {
    ::http::Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(http_body_util::Full::new(bytes::Bytes::from(
            body.to_string(),
        )))
        .unwrap()
}

/// The answer to `initialize`, of a bridge over two streams and of one that listens.
async fn opened(bridge: impl Fn() -> Bridge, version: &str) -> [Value; 2] {
    let opening = initialize(version, &json!({}));
    let mut raw = Raw::of(bridge());
    raw.says(&opening).await;
    let over_streams = raw.hears().await;
    let service = bridge().into_service();
    let request = post(&opening);
    let answer = within(tower_service::Service::call(&mut service.clone(), request)).await;
    let body = http_body_util::BodyExt::collect(answer.unwrap().into_body()).await;
    let listening = serde_json::from_slice(&body.unwrap().to_bytes()).unwrap();
    service.shutdown().await;
    [over_streams, listening]
}

#[tokio::test]
async fn what_a_server_says_of_itself_reaches_clients_whose_initialize_it_refused() {
    let named = json!({ "io.modelcontextprotocol/serverInfo": { "name": "git", "version": "7" } });
    let upstream = scripted(move |message| Some(per_request(message, &discovered(&named))));
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        for answer in opened(|| Bridge::new(upstream.clone()), version).await {
            let result = &answer["result"];
            assert_eq!(result["serverInfo"]["name"], "git", "{answer}");
            assert!(result["capabilities"]["tools"].is_object(), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_server_without_a_name_is_given_none_but_that_of_the_bridge() {
    let upstream = scripted(|message| Some(per_request(message, &discovered(&json!({})))));
    for answer in opened(|| Bridge::new(upstream.clone()), "2025-11-25").await {
        assert_eq!(answer["result"]["serverInfo"]["name"], "mcp-bridge");
    }
}

#[tokio::test]
async fn a_server_that_does_not_say_what_it_is_is_not_made_up() {
    let upstream = scripted(|message| {
        let mut answers = opens(message, Revision::LATEST);
        if let Some(answer) = answers.first_mut().filter(|_| !message["id"].is_null()) {
            let error =
                json!({ "code": -32022, "message": "no", "data": { "supported": ["2026-07-28"] } });
            *answer = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        }
        Some(answers)
    });
    for answer in opened(|| Bridge::new(upstream.clone()), "2025-11-25").await {
        let why = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("its capabilities are not known"), "{answer}");
    }
}

#[tokio::test]
async fn a_server_that_never_starts_is_an_error_once_its_time_is_over() {
    let upstream = scripted(|_| Some(Vec::new()));
    let bridge = || Bridge::new(upstream.clone()).with_start_timeout(Duration::from_secs(1));
    for answer in opened(bridge, "2025-11-25").await {
        let why = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(
            why.contains("did not say which revision it speaks within 1 s"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_server_that_has_the_revision_of_its_client_is_sent_its_initialize_and_nothing_before() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
        let told = Arc::clone(&heard);
        let upstream = scripted(move |message| {
            told.lock().unwrap().push(message.clone());
            let offered = message["params"]["protocolVersion"].as_str();
            Some(opens(
                message,
                Revision::from_protocol_version(offered.unwrap_or(version))?,
            ))
        });
        for answer in opened(|| Bridge::new(upstream.clone()), version).await {
            assert_eq!(answer["result"]["protocolVersion"], version);
        }
        let heard = heard.lock().unwrap();
        let firsts = heard.iter().filter(|message| !message["id"].is_null());
        let firsts: Vec<_> = firsts
            .map(|it| {
                (
                    it["method"].as_str(),
                    it["params"]["protocolVersion"].as_str(),
                )
            })
            .collect();
        assert_eq!(firsts, [(Some("initialize"), Some(version)); 2]);
    }
}

/// The server is told that its session is open before the client says so.
#[tokio::test]
async fn what_a_server_tells_before_the_session_of_its_client_is_open_arrives_after_it() {
    let upstream = scripted(|message| {
        let mut answers = opens(message, Revision::V2025_11_25);
        if message["method"] == "notifications/initialized" {
            let method = "notifications/tools/list_changed";
            answers.push(json!({ "jsonrpc": "2.0", "method": method }));
        }
        Some(answers)
    });
    let mut raw = Raw::of(Bridge::new(upstream));
    raw.says(initialize("2025-11-25", &json!({}))).await;
    assert!(raw.hears().await["result"].is_object());
    // The server has told it by now.
    tokio::time::sleep(Duration::from_millis(200)).await;
    raw.says(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    let told = raw.hears().await;
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
}

/// A server that speaks every revision, in this process, and the connections to it.
fn of_every_revision() -> Upstream {
    let info = Json::from(json!({ "name": "every", "version": "1" }));
    let profile = Profile::new(&info, &Json::from(json!({ "tools": {} })));
    let server = Server::new(Revision::V2025_11_25, profile).unwrap();
    Upstream::service(http::Service::new(
        server.serving(RevisionSet::all()),
        greets,
    ))
}

#[tokio::test]
async fn clients_of_several_revisions_at_one_listener_are_served_in_their_own() {
    let service = Bridge::new(of_every_revision()).into_service();
    let clients: Vec<_> = (Revision::NEGOTIATED.iter())
        .map(|revision| {
            (
                revision,
                client(*revision).http(Http::in_process(service.clone())),
            )
        })
        .collect();
    // Each client sends a second request while the others are connected.
    for _ in 0..2 {
        for (revision, client) in &clients {
            assert_eq!(names(client).await, ["greet"], "{revision}");
            let expected = match revision.lifecycle() {
                Lifecycle::Handshake => format!("hello in {revision}"),
                Lifecycle::PerRequest => "hello in ".to_owned(),
            };
            assert_eq!(text(client, "greet").await, expected);
        }
    }
    for (_, client) in clients {
        client.close().await.unwrap();
    }
    service.shutdown().await;
}

#[tokio::test]
async fn a_slow_start_for_one_revision_holds_up_no_client_of_another() {
    let upstream = scripted(|message| {
        if message["params"]["protocolVersion"] == "2025-06-18" {
            return Some(Vec::new());
        }
        Some(opens(message, Revision::V2025_11_25))
    });
    let service = Bridge::new(upstream).into_service();
    let mut slow = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (mut service, opening) = (service.clone(), initialize("2025-06-18", &json!({})));
        slow.spawn(async move { tower_service::Service::call(&mut service, post(&opening)).await });
    }
    tokio::task::yield_now().await;
    let opening = post(&initialize("2025-11-25", &json!({})));
    let answer = within(tower_service::Service::call(&mut service.clone(), opening)).await;
    assert_eq!(answer.unwrap().status(), 200);
    drop(slow);
}

#[tokio::test]
async fn sessions_of_all_revisions_share_the_room_for_servers() {
    let service = Bridge::new(of_every_revision())
        .with_max_servers(2)
        .with_max_servers_per_client(2)
        .into_service();
    let mut clients = Vec::new();
    for (place, version) in ["2024-11-05", "2025-06-18", "2025-11-25"]
        .iter()
        .enumerate()
    {
        let revision = Revision::from_protocol_version(version).unwrap();
        let client = client(revision).http(Http::in_process(service.clone()));
        let listed = client.request("tools/list", None);
        assert_eq!(listed.await.is_ok(), place < 2, "{version}");
        clients.push(client);
    }
    service.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_before_it_said_anything_is_told_to_its_client() {
    let ends = || {
        Upstream::streams("ends", || {
            let (ours, theirs) = (tokio::io::duplex(64), tokio::io::duplex(64));
            drop((ours.0, theirs.0));
            std::future::ready(Ok((theirs.1, ours.1)))
        })
    };
    for answer in opened(|| Bridge::new(ends()), "2025-06-18").await {
        let why = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("ended before it said"), "{answer}");
    }
    let mut raw = Raw::of(Bridge::new(ends()));
    raw.says(initialize("2025-06-18", &json!({}))).await;
    raw.hears().await;
    assert!(matches!(
        raw.served.await.unwrap(),
        Err(Error::Upstream { .. })
    ));
}
