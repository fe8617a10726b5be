//! What clients of bad will try over HTTP: floods, what is never read, and what is said about oneself without end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use http::{Method, StatusCode};
use http_body_util::BodyExt;
use mcp_revisions::http::{Options, PeerAddress, Principal, Service};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Notification};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::{Limits, Revision};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::http::{PER_REQUEST, Post, call, events, initialize, message, open, server};
use crate::support::handlers;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_flood_of_initialize_locks_nobody_out() {
    let limits = Limits {
        max_sessions: 20,
        ..Limits::default()
    };
    let service = Service::new(server().with_limits(limits), handlers::handle);
    let before = open(&service, "2025-11-25").await;
    for _ in 0..200 {
        let flooded = initialize("2025-11-25").to(&service).await;
        assert_eq!(flooded.status(), StatusCode::OK);
    }
    // Who comes meanwhile gets in and stays, and so does who was there.
    let after = open(&service, "2025-06-18").await;
    for _ in 0..200 {
        initialize("2025-11-25").to(&service).await;
    }
    for session in [&before, &after] {
        let sum = Post::of(&call("add", json!({"a": 1, "b": 2}))).with("Mcp-Session-Id", session);
        let sum = message(sum.to(&service).await).await;
        assert_eq!(sum["result"]["content"][0]["text"], "3");
    }
}

/// What a message of somebody whom a layer has named comes to.
pub(crate) async fn send_as(
    service: &Service,
    who: &(impl Clone + Send + Sync + 'static),
    message: Post,
) -> http::Response<mcp_revisions::http::Body> {
    let mut request = message.request(Method::POST);
    request.extensions_mut().insert(who.clone());
    service.clone().oneshot(request).await.unwrap()
}

/// How many of the sessions are left that somebody opens; each only says that it is there.
async fn left_of(
    service: &Service,
    who: &(impl Clone + Send + Sync + 'static),
    sessions: &[http::HeaderValue],
) -> usize {
    let mut left = 0;
    for id in sessions {
        let ping = Post::of(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        let ping = ping.with("Mcp-Session-Id", id.to_str().unwrap());
        let answer = send_as(service, who, ping).await;
        left += usize::from(answer.status() == StatusCode::OK);
    }
    left
}

#[tokio::test]
async fn who_floods_ends_its_own_sessions_and_nobody_elses() {
    let limits = Limits {
        max_sessions_per_owner: 4,
        ..Limits::default()
    };
    let service = Service::new(server().with_limits(limits), handlers::handle);
    let (quiet, flood) = ["quiet", "flood"]
        .map(|name| Principal(name.to_owned()))
        .into();
    let (elsewhere, there) = ["192.0.2.1", "192.0.2.2"]
        .map(|address| PeerAddress(address.parse().unwrap()))
        .into();
    let opened = |answer: http::Response<_>| answer.headers()["mcp-session-id"].clone();
    let initialize = || initialize("2025-11-25");
    let by_quiet = [opened(send_as(&service, &quiet, initialize()).await)];
    let from_elsewhere = [opened(send_as(&service, &elsewhere, initialize()).await)];
    let (mut by_flood, mut from_there) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        by_flood.push(opened(send_as(&service, &flood, initialize()).await));
        from_there.push(opened(send_as(&service, &there, initialize()).await));
    }
    assert_eq!(left_of(&service, &flood, &by_flood).await, 4);
    assert_eq!(left_of(&service, &there, &from_there).await, 4);
    assert_eq!(left_of(&service, &quiet, &by_quiet).await, 1);
    assert_eq!(left_of(&service, &elsewhere, &from_elsewhere).await, 1);
}

#[tokio::test]
async fn initialize_with_a_claim_inside_a_session_is_a_session_of_its_own() {
    let service = Service::new(server(), handlers::handle);
    let first = open(&service, "2025-03-26").await;
    let mut ids = vec![first.clone()];
    for version in ["2025-11-25", PER_REQUEST] {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
            "_meta": {"io.modelcontextprotocol/protocolVersion": version}});
        let again = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let again = Post::of(&again)
            .with("Mcp-Session-Id", &first)
            .to(&service)
            .await;
        if let Some(id) = again.headers().get("mcp-session-id") {
            let id = id.to_str().unwrap().to_owned();
            assert!(!ids.contains(&id));
            ids.push(id);
        }
    }
    // The first is still what it was: batches are for its revision alone, and the new one goes without it.
    let batch = || Post::of(&json!([{"jsonrpc": "2.0", "id": 2, "method": "ping"}]));
    let answer = batch().with("Mcp-Session-Id", &first).to(&service).await;
    assert_eq!(answer.status(), StatusCode::OK);
    for id in &ids[1..] {
        let refused = batch().with("Mcp-Session-Id", id).to(&service).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
        let end = Post::of(&json!(0))
            .with("Mcp-Session-Id", id)
            .request(Method::DELETE);
        service.clone().oneshot(end).await.unwrap();
    }
    let answer = batch().with("Mcp-Session-Id", &first).to(&service).await;
    assert_eq!(answer.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_client_that_says_much_of_itself_is_refused_and_many_that_say_some_go_for_one_another() {
    let limits = Limits {
        max_client_info_bytes: 1_000,
        max_session_bytes: 3_000,
        ..Limits::default()
    };
    let service = Service::new(server().with_limits(limits), handlers::handle);
    let says = |bytes: usize| {
        let info = json!({"name": "x".repeat(bytes), "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        Post::of(&json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params}))
    };
    let refused = message(says(2_000).to(&service).await).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["id"]),
        (&json!(-32602), &json!(7))
    );
    // One without a session says it in each request.
    let claim = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "x".repeat(2_000), "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let listing = Post::of(
        &json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": {"_meta": claim}}),
    );
    let listing = listing
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", "tools/list");
    let refused = message(listing.to(&service).await).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["id"]),
        (&json!(-32602), &json!(8)),
        "{refused}"
    );
    let mut ids = Vec::new();
    for _ in 0..6 {
        let opened = says(800).to(&service).await;
        ids.push(
            opened.headers()["mcp-session-id"]
                .to_str()
                .unwrap()
                .to_owned(),
        );
    }
    let mut open = 0;
    for id in &ids {
        let ping = Post::of(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        let ping = ping.with("Mcp-Session-Id", id).to(&service).await;
        open += usize::from(ping.status() == StatusCode::OK);
    }
    assert_eq!(open, 3);
}

/// Keeps hold of the sessions, and hangs when it is called.
#[derive(Clone, Default)]
struct Telling {
    sessions: Arc<Mutex<Vec<Session>>>,
}

impl Handler for Telling {
    async fn call(&self, call: IncomingRequest, _: Peer) -> Result<Json, ErrorObject> {
        match call.method {
            "resources/subscribe" | "resources/unsubscribe" => Ok(Json::from(json!({}))),
            _ => Ok(Json::from_text(r#"{"content":[]}"#).unwrap()),
        }
    }

    fn on_initialized(&self, session: Session) {
        self.sessions.lock().unwrap().push(session);
    }
}

impl Telling {
    /// Tells each session so much, a thousand bytes at a time.
    fn tell(&self, count: usize) {
        let params = Json::from(json!({"_meta": {"why": "x".repeat(1_000)}}));
        for session in self.sessions.lock().unwrap().clone() {
            for _ in 0..count {
                let _ = session.notify("notifications/tools/list_changed", Some(&params));
            }
        }
    }
}

fn telling() -> mcp_revisions::sansio::Server {
    let info = Json::from(json!({"name": "t", "version": "1"}));
    let capabilities = Json::from(json!({"tools": {"listChanged": true}}));
    mcp_revisions::sansio::Server::new(
        Revision::V2025_11_25,
        mcp_revisions::sansio::server::Profile::new(&info, &capabilities),
    )
    .unwrap()
}

#[tokio::test]
async fn what_a_session_is_told_while_its_stream_is_not_read_is_bounded_and_goes_on() {
    let handler = Telling::default();
    let service = Service::new(telling(), handler.clone());
    let session = open(&service, "2025-11-25").await;
    let get = Post::of(&json!(0))
        .with("Mcp-Session-Id", &session)
        .request(Method::GET);
    let mut stream = service.clone().oneshot(get).await.unwrap().into_body();
    handler.tell(5_000);
    let mut read = 0;
    while let Ok(Some(frame)) =
        tokio::time::timeout(Duration::from_millis(300), stream.frame()).await
    {
        read += frame.unwrap().into_data().unwrap().len();
    }
    assert!((100_000..1_000_000).contains(&read), "{read} bytes of 5 MB");
    // Whoever reads again hears what comes from now on.
    handler.tell(1);
    let frame = tokio::time::timeout(LONG, stream.frame()).await;
    assert!(frame.unwrap().is_some());
}

#[tokio::test]
async fn what_the_sessions_of_one_client_are_told_unread_counts_against_its_share() {
    let handler = Telling::default();
    let (limits, options) = small();
    let service = Service::with_options(telling().with_limits(limits), handler.clone(), options);
    let [greedy, other] = ["greedy", "other"].map(|name| Principal(name.to_owned()));
    let mut sessions = Vec::new();
    for who in [&greedy, &greedy, &greedy, &greedy, &other] {
        let opened = send_as(&service, who, initialize("2025-11-25")).await;
        let id = opened.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let initialized = Post::of(&initialized).with("Mcp-Session-Id", &id);
        send_as(&service, who, initialized).await;
        sessions.push((who, id));
    }
    handler.tell(40);
    let mut read = Vec::new();
    for (who, id) in sessions {
        let mut get = Post::of(&json!(0))
            .with("Mcp-Session-Id", &id)
            .request(Method::GET);
        get.extensions_mut().insert(who.clone());
        let mut stream = service.clone().oneshot(get).await.unwrap().into_body();
        let mut bytes = 0;
        while let Ok(Some(frame)) =
            tokio::time::timeout(Duration::from_millis(200), stream.frame()).await
        {
            bytes += frame.unwrap().into_data().unwrap().len();
        }
        read.push(bytes);
    }
    let (others, greedys) = read.split_last().unwrap();
    assert!(greedys.iter().sum::<usize>() < 70_000, "{read:?}");
    assert!(*others > 35_000, "{read:?}");
}

/// Services of such options leave each client a share of 64 KiB unread.
fn small() -> (Limits, Options) {
    let limits = Limits {
        max_message_bytes: 32 << 10,
        ..Limits::default()
    };
    let options = Options::new().with_unread_bytes(256 << 10).without_events();
    (limits, options)
}

#[tokio::test]
async fn what_a_session_is_asked_and_leaves_unread_beyond_its_share_is_dropped_and_no_more() {
    let handler = Telling::default();
    let (limits, options) = small();
    let service = Service::with_options(telling().with_limits(limits), handler.clone(), options);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let who = Principal("greedy".to_owned());
    let opened = send_as(&service, &who, Post::of(&initialize)).await;
    let id = opened.headers()["mcp-session-id"].to_str().unwrap();
    let of_session = |message: Value| Post::of(&message).with("Mcp-Session-Id", id);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    send_as(&service, &who, of_session(initialized)).await;
    let of_stream = |method: Method| {
        let mut request = of_session(json!(0)).request(method);
        request.extensions_mut().insert(who.clone());
        service.clone().oneshot(request)
    };
    let stream = of_stream(Method::GET).await.unwrap();
    let session = handler.sessions.lock().unwrap()[0].clone();
    let params = Json::from(json!({"_meta": {"why": "x".repeat(16_000)}}));
    let mut asked = Vec::new();
    for _ in 0..10 {
        let mut asking = Box::pin(session.ask("roots/list", Some(&params)));
        let polled = asking
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "{polled:?}");
        asked.push(asking);
    }
    of_stream(Method::DELETE).await.unwrap();
    let said = events(stream).await;
    assert_eq!(said.len(), 3, "{said:?}");
    let methods = said.iter().map(|it| &it["method"]);
    assert!(methods.eq([&json!("roots/list"); 3]), "{said:?}");
}

#[tokio::test]
async fn a_call_that_says_more_than_its_client_leaves_unread_is_answered_all_the_same() {
    let talks = |_: IncomingRequest, peer: Peer| async move {
        let message = "x".repeat(16_000);
        let progress = json!({"progressToken": "p", "progress": 1, "message": message});
        for _ in 0..10 {
            let _ = peer
                .notify(
                    "notifications/progress",
                    Some(&Json::from(progress.clone())),
                )
                .await;
        }
        Ok(Json::from(json!({"content": []})))
    };
    let (limits, options) = small();
    let service = Service::with_options(server().with_limits(limits), talks, options);
    let who = Principal("greedy".to_owned());
    let opened = send_as(&service, &who, initialize("2025-11-25")).await;
    let id = opened.headers()["mcp-session-id"].to_str().unwrap();
    let mut call = call("t", json!({}));
    call["params"]["_meta"] = json!({"progressToken": "p"});
    let call = Post::of(&call).with("Mcp-Session-Id", id);
    let stream = send_as(&service, &who, call).await;
    while service.counters().request_bytes > 0 {
        tokio::task::yield_now().await;
    }
    let said = tokio::time::timeout(LONG, events(stream)).await.unwrap();
    assert!(said.len() < 6, "{} of 11 messages", said.len());
    assert_eq!(said.last().unwrap()["id"], 1, "{said:?}");
}

#[tokio::test]
async fn a_stream_of_changes_that_is_not_read_is_ended() {
    let handler = Telling::default();
    let service = Service::new(telling(), handler.clone());
    let params = json!({"notifications": {"toolsListChanged": true}});
    let stream = Post::per_request("subscriptions/listen", params)
        .to(&service)
        .await;
    assert_eq!(stream.status(), StatusCode::OK);
    handler.tell(5_000);
    let body = tokio::time::timeout(LONG, stream.into_body().collect()).await;
    let read = body.expect("the stream goes on").unwrap().to_bytes().len();
    assert!(read < 1_000_000, "{read} bytes of 5 MB");
}

#[tokio::test]
async fn a_server_that_stops_tells_those_who_listen() {
    let service = Service::new(telling(), Telling::default());
    let params = json!({"notifications": {"toolsListChanged": true}});
    let stream = Post::per_request("subscriptions/listen", params)
        .to(&service)
        .await;
    service.close();
    let said = tokio::time::timeout(LONG, events(stream))
        .await
        .expect("the stream goes on");
    let methods: Vec<&Value> = said.iter().map(|it| &it["method"]).collect();
    assert_eq!(
        methods,
        [
            &json!("notifications/subscriptions/acknowledged"),
            &json!("notifications/cancelled"),
            &Value::Null
        ]
    );
    assert_eq!(
        (&said[1]["params"]["requestId"], &said[2]["id"]),
        (&json!(1), &json!(1))
    );
    let meta = &said[2]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(
        (meta, &said[2]["result"]["resultType"]),
        (&json!(1), &json!("complete"))
    );
}

/// Says something itself whenever it is told something.
#[derive(Clone, Default)]
struct Talkative {
    told: Arc<AtomicUsize>,
}

impl Handler for Talkative {
    async fn call(&self, _: IncomingRequest, _: Peer) -> Result<Json, ErrorObject> {
        Ok(Json::from_text(r#"{"content":[]}"#).unwrap())
    }

    fn on_initialized(&self, session: Session) {
        let _ = session.notify("notifications/tools/list_changed", None);
        self.told.fetch_add(1, Ordering::SeqCst);
    }

    fn notice(&self, _: Notification, session: Session) {
        let _ = session.notify("notifications/tools/list_changed", None);
        self.told.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn handlers_may_speak_while_they_are_told() {
    let handler = Talkative::default();
    let service = Service::new(telling(), handler.clone());
    let talk = async move {
        let session = open(&service, "2025-11-25").await;
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        let post = Post::of(&changed).with("Mcp-Session-Id", &session);
        assert_eq!(post.to(&service).await.status(), StatusCode::ACCEPTED);
        let get = Post::of(&json!(0))
            .with("Mcp-Session-Id", &session)
            .request(Method::GET);
        let mut stream = service.clone().oneshot(get).await.unwrap().into_body();
        for _ in 0..2 {
            let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(String::from_utf8_lossy(&frame).contains("list_changed"));
        }
    };
    let talk = crate::support::spawn(tokio::time::timeout(LONG, talk));
    talk.await
        .unwrap()
        .expect("the connection is locked for ever");
    assert_eq!(handler.told.load(Ordering::SeqCst), 2);
}
