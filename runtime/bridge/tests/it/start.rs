//! The first messages with a server: which revision is spoken with it, and what clients are told of it.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_bridge::{Bridge, ClientSettings, Error, Upstream};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::sansio::server::{Profile, Server};
use mcp_revisions::service::Client;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Lifecycle, Revision, RevisionSet, args, http, stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::outside::{Raw, initialize, opens, result, scripted, within};
use crate::{client, greets, in_process, names, server, text};

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

/// A start for each of them would let the last one wait as many times as long as the first.
#[tokio::test]
async fn requests_that_wait_for_one_start_fail_together_and_the_next_one_starts_again() {
    let heard = Arc::new(AtomicUsize::new(0));
    let hears = Arc::clone(&heard);
    let upstream = scripted(move |_| {
        hears.fetch_add(1, Ordering::SeqCst);
        Some(Vec::new())
    });
    let bridge = Bridge::new(upstream).with_start_timeout(Duration::from_secs(1));
    let service = bridge.into_service();
    let list = || {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut request = post(&json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta },
        }));
        for (name, value) in [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
        ] {
            let value = ::http::HeaderValue::from_static(value);
            request.headers_mut().insert(name, value);
        }
        let mut service = service.clone();
        async move {
            let answer = within(tower_service::Service::call(&mut service, request)).await;
            let body = http_body_util::BodyExt::collect(answer.unwrap().into_body()).await;
            let answer: Value = serde_json::from_slice(&body.unwrap().to_bytes()).unwrap();
            let why = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(why.contains("did not say which revision"), "{answer}");
        }
    };
    tokio::join!(list(), list(), list(), list());
    let of_one_start = heard.load(Ordering::SeqCst);
    list().await;
    assert_eq!(heard.load(Ordering::SeqCst), 2 * of_one_start);
    service.shutdown().await;
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
        server.with_revisions(RevisionSet::all()),
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
        .with_clients(
            ClientSettings::new()
                .with_max_servers(2)
                .with_max_servers_per_client(2),
        )
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
    raw.hangs_up().await;
    assert!(matches!(
        raw.served.await.unwrap(),
        Err(Error::Upstream { .. })
    ));
}

/// A name that is longer than is kept is refused without a server.
#[tokio::test]
async fn a_client_that_says_much_of_itself_starts_no_server() {
    let starts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&starts);
    let upstream = scripted(|message| Some(opens(message, Revision::V2025_11_25)));
    let upstream = upstream.with_tap(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(|_, _: &str| ())
    });
    let info = json!({ "name": "x".repeat(100 << 10), "version": "1" });
    let mut opening = initialize("2025-11-25", &json!({}));
    opening["params"]["clientInfo"] = info.clone();
    let claim = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": info,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let listing =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": claim } });
    for (first, method) in [(opening, "initialize"), (listing, "tools/list")] {
        let mut raw = Raw::of(Bridge::new(upstream.clone()));
        raw.says(&first).await;
        let over_streams = raw.hears().await;
        let service = Bridge::new(upstream.clone()).into_service();
        let mut request = post(&first);
        let headers = request.headers_mut();
        if method != "initialize" {
            headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
            headers.insert("mcp-method", method.parse().unwrap());
        }
        let answer = within(tower_service::Service::call(&mut service.clone(), request)).await;
        let body = http_body_util::BodyExt::collect(answer.unwrap().into_body()).await;
        let listening: Value = serde_json::from_slice(&body.unwrap().to_bytes()).unwrap();
        for answer in [over_streams, listening] {
            let why = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(
                why.contains("at most 65536 are taken"),
                "{method}: {answer}"
            );
        }
        service.shutdown().await;
    }
    assert_eq!(starts.load(Ordering::SeqCst), 0);
}

/// A body that never comes.
struct SilentBody;

impl http_body::Body for SilentBody {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn messages_of_one_address_that_never_come_hold_up_no_client_of_another() {
    let service = Bridge::new(in_process(Revision::V2025_11_25)).into_service();
    let at = |address: [u8; 4]| http::PeerAddress(address.into());
    let mut silent = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let mut request = post(&Value::Null).map(|_| SilentBody);
        request.extensions_mut().insert(at([192, 0, 2, 1]));
        let mut service = service.clone();
        silent.spawn(async move { tower_service::Service::call(&mut service, request).await });
    }
    tokio::task::yield_now().await;
    let mut opening = post(&initialize("2025-11-25", &json!({})));
    opening.extensions_mut().insert(at([192, 0, 2, 2]));
    let answer = within(tower_service::Service::call(&mut service.clone(), opening)).await;
    assert_eq!(answer.unwrap().status(), 200);
    drop(silent);
    service.shutdown().await;
}

#[tokio::test]
async fn the_server_of_a_session_is_sent_the_name_of_its_client_and_of_no_other() {
    for (is_renamed, expected) in [
        (false, vec!["myhost", "other"]),
        (true, vec!["ours", "ours"]),
    ] {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&sent);
        let upstream = in_process(Revision::V2025_11_25).with_tap(move || {
            let heard = Arc::clone(&heard);
            Ok(move |_, text: &str| {
                let message: Value = text.parse().unwrap();
                if let Some(name) = message["params"]["clientInfo"]["name"].as_str() {
                    heard.lock().unwrap().push(name.to_owned());
                }
            })
        });
        let mut bridge = Bridge::new(upstream);
        if is_renamed {
            bridge = bridge.with_client_info(Json::from(json!({ "name": "ours", "version": "1" })));
        }
        let service = bridge.into_service();
        let opening = post(&initialize("2025-11-25", &json!({})));
        let opened = within(tower_service::Service::call(&mut service.clone(), opening)).await;
        assert_eq!(opened.unwrap().status(), 200);
        let info = mcp_revisions::latest::Implementation::new("other", args::Version("1"));
        let other = Client::builder(&info)
            .with_revisions(RevisionSet::none().with(Revision::V2025_11_25))
            .http(Http::in_process(service.clone()));
        assert_eq!(names(&other).await, ["greet"]);
        assert_eq!(*sent.lock().unwrap(), expected);
        service.shutdown().await;
    }
}

/// Both wait for one start, which fails; the next request starts it again, and the one after it finds what that has started.
#[tokio::test]
async fn a_server_that_starts_at_the_second_attempt_is_that_of_the_next_client_too() {
    let starts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&starts);
    let upstream = Upstream::streams("second", move || {
        let is_first = count.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if is_first {
                // Until the other client waits, too.
                for _ in 0..1_000 {
                    tokio::task::yield_now().await;
                }
                return Err(std::io::Error::other("not yet"));
            }
            let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
            let server = server(Revision::V2025_06_18);
            tokio::spawn(stdio::serve_on(server, greets, ours.0, theirs.0));
            Ok((theirs.1, ours.1))
        }
    });
    let proxy = Bridge::new(upstream).into_proxy(Revision::V2025_11_25);
    let options = http::Options::new().without_param_check();
    let service = http::Service::with_options(server(Revision::LATEST), proxy, options);
    let client = client(Revision::LATEST).http(Http::in_process(service));
    let list = || client.request("tools/list", None);
    let (one, other) = within(async { tokio::join!(list(), list()) }).await;
    assert!(one.is_err() && other.is_err(), "{one:?} {other:?}");
    assert_eq!(starts.load(Ordering::SeqCst), 1);
    for _ in 0..2 {
        assert_eq!(names(&client).await, ["greet"]);
    }
    assert_eq!(starts.load(Ordering::SeqCst), 2);
}

#[test]
fn proxies_and_gateways_are_made_outside_of_a_runtime() {
    let bridge = || Bridge::new(Upstream::command("no-such-program", ["x"]));
    drop(bridge().into_proxy(Revision::LATEST));
    mcp_bridge::Gateway::builder()
        .build()
        .insert("one", bridge())
        .unwrap();
}

/// Neither that of a URL nor that of a command.
#[tokio::test]
async fn a_secret_of_the_way_to_a_server_is_told_to_no_client() {
    let listener = http::bind(("127.0.0.1", 0)).await.unwrap();
    let guarded = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let refusal =
                b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(refusal).await;
        }
    });
    let url = |address: &str| {
        let url = format!("http://me:s3cret@{address}/mcp?key=s3cret");
        Upstream::url(Http::new(&url).unwrap().with_max_attempts(1))
    };
    let guarded = guarded.to_string();
    for (upstream, name) in [
        (url(&guarded), format!("http://{guarded}/mcp")),
        (url("127.0.0.1:1"), "http://127.0.0.1:1/mcp".to_owned()),
        (
            Upstream::command("no-such-program", ["--token", "s3cret"]),
            "no-such-program".to_owned(),
        ),
    ] {
        for answer in opened(|| Bridge::new(upstream.clone()), "2025-11-25").await {
            let answer = answer["error"].to_string();
            assert!(
                answer.contains(&format!("the server {name} cannot be used")),
                "{answer}"
            );
            assert!(!answer.contains("s3cret"), "{answer}");
        }
        let named = || Bridge::new(upstream.clone()).with_name("git");
        for answer in opened(named, "2025-11-25").await {
            let why = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(why.starts_with("the server git cannot be used"), "{answer}");
        }
    }
}
