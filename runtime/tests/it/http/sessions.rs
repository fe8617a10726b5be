//! Sessions of the handshake lifecycle: opened, required, ended, and apart from each other.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use mcp_revisions::Limits;
use mcp_revisions::http::{Options, Principal, Service};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::http::{Post, body, call, initialize, message, open, server};
use crate::support::handlers;

#[tokio::test]
async fn sessions_are_required_known_and_ended() {
    let service = Service::new(server(), handlers::handle);
    let session = open(&service, "2025-06-18").await;
    let post = || Post::of(&call("add", json!({"a": 1, "b": 2})));
    assert_eq!(
        post().to(&service).await.status(),
        StatusCode::BAD_REQUEST,
        "missing"
    );
    assert_eq!(
        post()
            .with("Mcp-Session-Id", "guess")
            .to(&service)
            .await
            .status(),
        StatusCode::NOT_FOUND
    );
    let response = post().with("mcp-session-id", &session).to(&service).await;
    assert_eq!(message(response).await["result"]["content"][0]["text"], "3");

    let delete = |id: &str| {
        Post::of(&json!(0))
            .with("Mcp-Session-Id", id)
            .request(Method::DELETE)
    };
    let status = |request| async { service.clone().oneshot(request).await.unwrap().status() };
    assert_eq!(status(delete("guess")).await, StatusCode::NOT_FOUND);
    assert_eq!(status(delete(&session)).await, StatusCode::NO_CONTENT);
    assert_eq!(status(delete(&session)).await, StatusCode::NOT_FOUND);
    assert_eq!(
        post()
            .with("Mcp-Session-Id", &session)
            .to(&service)
            .await
            .status(),
        StatusCode::NOT_FOUND,
        "ended"
    );
}

#[tokio::test]
async fn handlers_see_the_request_that_a_call_came_in() {
    let seen = |_: IncomingRequest, peer: Peer| async move {
        let tenant = peer.headers().and_then(|headers| headers.get("x-tenant"));
        let said = json!([
            peer.session_id(),
            tenant.map(|tenant| tenant.to_str().unwrap()),
            peer.extension::<Principal>().map(|who| who.0.clone()),
        ]);
        let text = json!({"type": "text", "text": said.to_string()});
        Ok(Json::from(json!({"content": [text]})))
    };
    let service = Service::new(server(), seen);
    let session = open(&service, "2025-06-18").await;
    let call = Post::of(&call("add", json!({})))
        .with("Mcp-Session-Id", &session)
        .with("X-Tenant", "ours")
        .to(&service)
        .await;
    let text = message(call).await["result"]["content"][0]["text"].take();
    let said: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    assert_eq!(said, json!([session, "ours", null]));
}

/// Whoever has got hold of the id of another's session has nothing: a layer named who opened it.
#[tokio::test]
async fn a_session_is_used_by_nobody_but_whoever_opened_it() {
    let service = Service::new(server(), handlers::handle);
    let send = |who: Option<&str>, mut request: Request<Full<Bytes>>| {
        if let Some(who) = who {
            request.extensions_mut().insert(Principal(who.to_owned()));
        }
        let service = service.clone();
        async move { service.oneshot(request).await.unwrap() }
    };
    let opening = initialize("2025-11-25").request(Method::POST);
    let opened = send(Some("alice"), opening).await;
    let session = opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let ways = [Method::POST, Method::GET, Method::DELETE];
    let asked = |way: &Method| {
        let post = Post::of(&call("add", json!({"a": 1, "b": 2})));
        post.with("Mcp-Session-Id", &session).request(way.clone())
    };
    for who in [Some("mallory"), None] {
        for way in &ways {
            let answer = send(who, asked(way)).await;
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{who:?} {way}");
        }
    }
    for way in ways {
        let answer = send(Some("alice"), asked(&way)).await;
        assert!(answer.status().is_success(), "{way}");
    }
}

#[tokio::test]
async fn a_session_on_a_per_request_request_is_ignored() {
    let service = Service::new(server(), handlers::handle);
    let post = Post::per_request("tools/list", json!({}))
        .with("Mcp-Session-Id", "guess")
        .with("Last-Event-ID", "7");
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
        Post::of(&call("add", json!({"a": 2, "b": 2})))
            .with("Mcp-Session-Id", &two)
            .to(&service),
        Post::of(&batch).with("Mcp-Session-Id", &two).to(&service),
    );
    let first = message(first).await;
    let sum = first
        .as_array()
        .unwrap()
        .iter()
        .find(|answer| answer["id"] == 1)
        .unwrap();
    assert_eq!(
        (
            first.as_array().unwrap().len(),
            &sum["result"]["content"][0]["text"]
        ),
        (2, &json!("2"))
    );
    assert_eq!(message(second).await["result"]["content"][0]["text"], "4");
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn get_opens_the_one_stream_of_a_session() {
    let service = Service::new(server(), handlers::handle);
    let session = open(&service, "2025-11-25").await;
    let get = |id: &str| {
        Post::of(&json!(0))
            .with("Mcp-Session-Id", id)
            .request(Method::GET)
    };
    let stream = service.clone().oneshot(get(&session)).await.unwrap();
    assert_eq!(
        (stream.status(), &stream.headers()["content-type"]),
        (StatusCode::OK, &"text/event-stream".parse().unwrap())
    );
    assert_eq!(
        service
            .clone()
            .oneshot(get(&session))
            .await
            .unwrap()
            .status(),
        StatusCode::CONFLICT
    );
    assert_eq!(
        service
            .clone()
            .oneshot(get("guess"))
            .await
            .unwrap()
            .status(),
        StatusCode::NOT_FOUND
    );
    // One that was given up makes room; one whose session ends, ends.
    drop(stream);
    let stream = service.clone().oneshot(get(&session)).await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    let delete = Post::of(&json!(0))
        .with("Mcp-Session-Id", &session)
        .request(Method::DELETE);
    assert_eq!(
        service.clone().oneshot(delete).await.unwrap().status(),
        StatusCode::NO_CONTENT
    );
    assert_eq!(body(stream).await, "");
}

#[tokio::test]
async fn sessions_long_silent_make_room() {
    let limits = Limits {
        max_sessions: 1,
        ..Limits::default()
    };
    let options = Options::new().with_idle_timeout(Duration::from_secs(1));
    let service = Service::with_options(server().with_limits(limits), handlers::handle, options);
    let first = open(&service, "2025-11-25").await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    open(&service, "2025-06-18").await;
    let post = Post::of(&call("add", json!({"a": 1, "b": 2}))).with("Mcp-Session-Id", &first);
    assert_eq!(post.to(&service).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_sessions_every_request_stands_alone() {
    let service = Service::with_options(
        server(),
        handlers::handle,
        Options::new().without_sessions(),
    );
    let response = initialize("2025-06-18").to(&service).await;
    assert_eq!(response.headers().get("mcp-session-id"), None);
    let post = Post::of(&call("weather", json!({}))).with("MCP-Protocol-Version", "2025-06-18");
    let answer = message(post.to(&service).await).await;
    assert!(answer["result"]["structuredContent"].is_object());
    let answer = message(Post::of(&call("weather", json!({}))).to(&service).await).await;
    assert_eq!(
        answer["result"].get("structuredContent"),
        None,
        "2025-03-26, where nothing is said"
    );
    let get = service
        .clone()
        .oneshot(Post::of(&json!(0)).request(Method::GET))
        .await
        .unwrap();
    assert_eq!(get.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_session_that_its_handler_ends_is_not_found_any_more() {
    let ends = |call: IncomingRequest, peer: Peer| async move {
        if call.method == "tools/call" {
            peer.session().end();
        }
        handlers::handle(call, peer).await
    };
    let service = Service::new(server(), ends);
    let session = open(&service, "2025-11-25").await;
    let post = || Post::of(&call("add", json!({}))).with("Mcp-Session-Id", &session);
    body(post().to(&service).await).await;
    assert_eq!(post().to(&service).await.status(), StatusCode::NOT_FOUND);
}
