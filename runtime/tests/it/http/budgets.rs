//! What all clients together may take up, whatever each of them does alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use http_body::Body as _;
use mcp_revisions::Limits;
use mcp_revisions::core::{V2025_06_18, v2025_06_18 as mcp};
use mcp_revisions::http::{Options, PeerAddress, Principal, Service};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::{Handler, Peer};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::http::attacks::send_as;
use crate::http::{Post, events, initialize, message, server};
use crate::service::server::Slow;

/// Says something, and answers once it has leave.
fn waiting(leave: &Arc<Semaphore>) -> impl Handler {
    let leave = Arc::clone(leave);
    move |call: IncomingRequest, peer: Peer| {
        let leave = Arc::clone(&leave);
        async move {
            if call.method == "tools/list" {
                return Ok(Json::from_text(r#"{"tools":[]}"#).unwrap());
            }
            let progress = Json::from(json!({"progressToken": "p", "progress": 1}));
            let _ = peer.notify("notifications/progress", Some(&progress)).await;
            drop(leave.acquire().await.unwrap());
            Ok(Json::from_text(r#"{"content":[]}"#).unwrap())
        }
    }
}

#[tokio::test]
async fn requests_that_are_worked_on_count_against_the_bytes_of_all() {
    let leave = Arc::new(Semaphore::new(0));
    let options = Options::new().with_body_bytes(64 << 10);
    let service = Service::with_options(server(), waiting(&leave), options);
    let post = || {
        let text = "x".repeat(30_000);
        let arguments = json!({"text": text});
        Post::per_request(
            "tools/call",
            json!({"name": "t", "arguments": arguments, "_meta": {"progressToken": "p"}}),
        )
    };
    // Two have begun their answers, and there is no room for a third.
    let (one, two) = (post().to(&service).await, post().to(&service).await);
    assert_eq!(
        (one.status(), two.status()),
        (StatusCode::OK, StatusCode::OK)
    );
    let refused = post().to(&service).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "1");
    leave.add_permits(1_000);
    for response in [one, two] {
        assert_eq!(events(response).await.len(), 2);
    }
    // Whoever worked on them has gone, and their room is free.
    for _ in 0..400 {
        if post().to(&service).await.status() == StatusCode::OK {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the room is never free again");
}

/// Asks for the roots of whoever calls.
async fn curious(_: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    peer.ask("roots/list", None).await?;
    Ok(Json::from_text(r#"{"content":[]}"#).unwrap())
}

/// A call of a client that can be asked for its roots.
fn askable(arguments: Value) -> Post {
    let mut post = Post::per_request("tools/call", json!({"name": "t", "arguments": arguments}));
    post.body = post.body.replace(
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#,
    );
    post
}

async fn asked(service: &Service) -> Value {
    message(askable(json!({})).to(service).await).await
}

/// Limits of which the shares of clients are small.
fn small() -> Limits {
    Limits {
        max_message_bytes: 32 << 10,
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_client_that_leaves_large_calls_suspended_leaves_room_for_the_others() {
    let options = Options::new().with_body_bytes(512 << 10);
    let service = Service::with_options(server().with_limits(small()), curious, options);
    let [greedy, other] = ["greedy", "other"].map(|name| Principal(name.to_owned()));
    let call = || askable(json!({"text": "x".repeat(30_000)}));
    let (mut suspended, mut refused) = (0, 0);
    for _ in 0..20 {
        let answer = message(send_as(&service, &greedy, call()).await).await;
        match answer["result"]["resultType"] == "input_required" {
            true => suspended += 1,
            false => {
                let why = answer["error"]["message"].as_str().unwrap();
                assert!(why.contains("share of one client"), "{answer}");
                refused += 1;
            }
        }
    }
    assert_eq!((suspended, refused), (1, 19));
    let answer = message(send_as(&service, &other, call()).await).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}

#[tokio::test]
async fn a_client_that_has_many_requests_worked_on_leaves_room_for_the_others() {
    let leave = Arc::new(Semaphore::new(0));
    let options = Options::new().with_body_bytes(256 << 10);
    let service = Service::with_options(server().with_limits(small()), waiting(&leave), options);
    let [greedy, other] = ["192.0.2.1", "192.0.2.2"].map(|it| PeerAddress(it.parse().unwrap()));
    let call = || {
        let arguments = json!({"text": "x".repeat(30_000)});
        let params = json!({"name": "t", "arguments": arguments, "_meta": {"progressToken": "p"}});
        Post::per_request("tools/call", params)
    };
    let mut at_work = Vec::new();
    for status in [200, 200, 503, 503] {
        let response = send_as(&service, &greedy, call()).await;
        assert_eq!(response.status().as_u16(), status);
        at_work.push(response);
    }
    let response = send_as(&service, &other, call()).await;
    assert_eq!(response.status(), StatusCode::OK);
}

/// Responses that have begun, whose calls are worked on.
type Begun = Vec<http::Response<mcp_revisions::http::Body>>;

/// Sends a call of an address that is worked on until it has leave. Returns its status, and why it is refused.
async fn begins(service: &Service, last: u8, begun: &mut Begun) -> (u16, String) {
    let arguments = json!({"text": "x".repeat(30_000)});
    let params = json!({"name": "t", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let from = PeerAddress([192, 0, 2, last].into());
    let response = send_as(service, &from, Post::per_request("tools/call", params)).await;
    let status = response.status().as_u16();
    if status == 200 {
        begun.push(response);
        return (status, String::new());
    }
    let body = http_body_util::BodyExt::collect(response.into_body()).await;
    let why = String::from_utf8_lossy(&body.unwrap().to_bytes()).into_owned();
    (status, why)
}

#[tokio::test]
async fn four_addresses_take_all_and_a_fifth_is_refused() {
    let leave = Arc::new(Semaphore::new(0));
    let options = Options::new().with_body_bytes(256 << 10);
    let service = Service::with_options(server().with_limits(small()), waiting(&leave), options);
    let begun = &mut Begun::new();
    for address in 1..=4 {
        for _ in 0..2 {
            assert_eq!(begins(&service, address, begun).await.0, 200);
        }
        let (status, why) = begins(&service, address, begun).await;
        assert!(
            status == 503 && why.contains("the share of one client"),
            "{why}"
        );
    }
    let (status, why) = begins(&service, 5, begun).await;
    assert!(
        status == 503 && why.contains("the limit for all clients"),
        "{why}"
    );
}

#[tokio::test]
async fn services_that_share_budgets_have_one_between_them() {
    let leave = Arc::new(Semaphore::new(0));
    let own = || Options::new().with_body_bytes(256 << 10);
    let service = |options: Options| {
        Service::with_options(server().with_limits(small()), waiting(&leave), options)
    };
    let shared = own().with_shared_budgets();
    for (options, of_the_other) in [([own(), own()], 200), ([shared.clone(), shared], 503)] {
        let [one, other] = options.map(service);
        let begun = &mut Begun::new();
        for status in [200, 200, 503] {
            assert_eq!(begins(&one, 1, begun).await.0, status);
        }
        assert_eq!(begins(&other, 1, begun).await.0, of_the_other);
    }
}

#[tokio::test]
async fn a_client_that_reads_no_answers_leaves_room_for_those_of_others() {
    let long = "x".repeat(50_000);
    let answer = Json::from(json!({"tools": [], "content": [{"type": "text", "text": long}]}));
    let handler = move |_: IncomingRequest, _: Peer| {
        let answer = answer.clone();
        async move { Ok(answer) }
    };
    let options = Options::new().with_unread_bytes(256 << 10);
    let service = Service::with_options(server().with_limits(small()), handler, options);
    let [greedy, other] = ["greedy", "other"].map(|name| Principal(name.to_owned()));
    let call = || Post::per_request("tools/call", json!({"name": "t"}));
    let unread = send_as(&service, &greedy, call()).await;
    let mut refused = Vec::new();
    for _ in 0..20 {
        let response = send_as(&service, &greedy, call()).await;
        assert!(response.body().size_hint().exact().unwrap() < 1_000);
        refused.push(response);
    }
    let answer = message(refused.remove(0)).await;
    assert_eq!(answer["id"], 1);
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("has not read"), "{answer}");
    let answer = message(send_as(&service, &other, call()).await).await;
    assert_eq!(answer["result"]["content"][0]["text"], long);
    // Once it has read, it is answered again.
    assert_eq!(message(unread).await["result"]["content"][0]["text"], long);
    let answer = message(send_as(&service, &greedy, call()).await).await;
    assert_eq!(answer["result"]["content"][0]["text"], long);
}

#[tokio::test]
async fn headers_are_checked_by_the_tools_that_the_caller_has() {
    let handler = move |call: IncomingRequest, peer: Peer| async move {
        if call.method != "tools/list" {
            return Ok(Json::from_text(r#"{"content":[]}"#).unwrap());
        }
        let repeated = peer.extension::<Principal>() == Some(&Principal("ada".to_owned()))
            || peer.headers().unwrap().contains_key("authorization");
        let region = match repeated {
            true => json!({"type": "string", "x-mcp-header": "Region"}),
            false => json!({"type": "string"}),
        };
        let schema = json!({"type": "object", "properties": {"region": region}});
        Ok(Json::from(
            json!({"tools": [{"name": "t", "inputSchema": schema}]}),
        ))
    };
    let service = Service::new(server(), handler);
    let params = json!({"name": "t", "arguments": {"region": "eu"}});
    let call = || Post::per_request("tools/call", params.clone());
    let [ada, bob] = ["ada", "bob"].map(|name| Principal(name.to_owned()));
    let bobs = send_as(&service, &bob, call()).await;
    assert_eq!(bobs.status(), StatusCode::OK);
    let adas = send_as(&service, &ada, call()).await;
    assert_eq!(adas.status(), StatusCode::BAD_REQUEST);
    let nobodys = call().to(&service).await;
    assert_eq!(nobodys.status(), StatusCode::OK);
    let bearers = call().with("Authorization", "Bearer x").to(&service).await;
    assert_eq!(bearers.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn parked_calls_of_all_clients_have_one_limit() {
    let limits = Limits {
        max_suspended_requests_in_total: 3,
        client_response_timeout: Duration::from_millis(300),
        ..Limits::default()
    };
    let service = Service::new(server().with_limits(limits), curious);
    for _ in 0..3 {
        let answer = asked(&service).await;
        assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    }
    let refused = asked(&service).await;
    assert!(refused["error"].is_object(), "{refused}");
    // Their time is over, and there is room again.
    for _ in 0..400 {
        if asked(&service).await["result"]["resultType"] == "input_required" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the suspended calls stay for ever");
}

/// However small its calls are.
#[tokio::test]
async fn a_client_that_leaves_many_calls_suspended_leaves_room_for_the_others() {
    let limits = Limits {
        max_suspended_requests_in_total: 8,
        ..Limits::default()
    };
    let service = Service::new(server().with_limits(limits), curious);
    let [greedy, other] = ["greedy", "other"].map(|name| Principal(name.to_owned()));
    let call = || askable(json!({}));
    for _ in 0..2 {
        let answer = message(send_as(&service, &greedy, call()).await).await;
        assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    }
    let refused = message(send_as(&service, &greedy, call()).await).await;
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("2, the share of one client"), "{refused}");
    let answer = message(send_as(&service, &other, call()).await).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}

/// Lists a tool with a parameter that a header repeats; the first time it takes longer than anybody waits.
#[tokio::test(start_paused = true)]
async fn a_list_of_tools_that_came_too_late_is_asked_for_again_soon() {
    let slow = Arc::new(Semaphore::new(1));
    let handler = move |call: IncomingRequest, _: Peer| {
        let slow = Arc::clone(&slow);
        async move {
            let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
            let tools = json!({"tools": [{"name": "t", "inputSchema": schema}]});
            if call.method == "tools/list" {
                if let Ok(first) = slow.try_acquire() {
                    first.forget();
                    tokio::time::sleep(Duration::from_secs(20)).await;
                }
                return Ok(Json::from(tools));
            }
            Ok(Json::from_text(r#"{"content":[]}"#).unwrap())
        }
    };
    let service = Service::new(server(), handler);
    let call = || {
        Post::per_request(
            "tools/call",
            json!({"name": "t", "arguments": {"region": "eu"}}),
        )
    };
    // Nobody knows what its headers should say.
    assert_eq!(call().to(&service).await.status(), StatusCode::OK);
    tokio::time::advance(Duration::from_secs(2)).await;
    let refused = call().to(&service).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(message(refused).await["error"]["code"], -32020);
    let agrees = call().with("Mcp-Param-Region", "eu").to(&service).await;
    assert_eq!(agrees.status(), StatusCode::OK);
}

#[tokio::test]
async fn handlers_list_their_tools_once_for_the_calls_of_a_minute() {
    let lists = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&lists);
    let handler = move |call: IncomingRequest, _: Peer| {
        if call.method == "tools/list" {
            seen.fetch_add(1, Ordering::Relaxed);
        }
        async move { Ok(Json::from(json!({"tools": [], "content": []}))) }
    };
    let service = Service::new(server(), handler);
    for _ in 0..3 {
        let call = Post::per_request("tools/call", json!({"name": "t"}));
        assert_eq!(call.to(&service).await.status(), StatusCode::OK);
    }
    assert_eq!(lists.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn notifications_of_one_client_leave_room_for_those_of_others() {
    let noted = Arc::new(AtomicUsize::new(0));
    let limits = Limits {
        max_pending_bytes: 16 << 10,
        ..Limits::default()
    };
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1"));
    let handlers = Slow(Arc::clone(&noted));
    let server = mcp_revisions::service::Server::<V2025_06_18>::new(&info).build(handlers);
    let service = (server.unwrap().with_limits(limits)).into_http_service(Options::new());
    let mut counts = Vec::new();
    for (name, times) in [("greedy", 20), ("modest", 1)] {
        let who = Principal(name.to_owned());
        let opened = send_as(&service, &who, initialize("2025-06-18")).await;
        let session = opened.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let send = |message: &Value| {
            send_as(
                &service,
                &who,
                Post::of(message).with("Mcp-Session-Id", &session),
            )
        };
        let note = |method: &str| json!({"jsonrpc": "2.0", "method": method});
        send(&note("notifications/initialized")).await;
        for _ in 0..times {
            send(&note("notifications/roots/list_changed")).await;
        }
        // A call is answered after what came before it was noted.
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        message(send(&call).await).await;
        counts.push(noted.load(Ordering::SeqCst));
    }
    // Each takes up a little more than a kibibyte.
    assert_eq!(counts, [3, 4]);
}

#[tokio::test]
async fn long_heads_count_against_the_bytes_of_all() {
    let leave = Arc::new(Semaphore::new(0));
    let options = Options::new().with_body_bytes(64 << 10);
    let service = Service::with_options(server(), waiting(&leave), options);
    let long = "x".repeat(30_000);
    let post = || {
        let params = json!({"name": "t", "_meta": {"progressToken": "p"}});
        Post::per_request("tools/call", params).with("X-Long", &long)
    };
    let mut at_work = Vec::new();
    for status in [200, 200, 503] {
        let response = post().to(&service).await;
        assert_eq!(response.status().as_u16(), status);
        at_work.push(response);
    }
}
