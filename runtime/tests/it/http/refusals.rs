//! What is answered with which status and headers, revision by revision.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Method, StatusCode};
use http_body_util::BodyExt;
use mcp_revisions::http::{Options, Service};
use mcp_revisions::{Limits, RevisionSet};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::http::{PER_REQUEST, Post, VERSIONS, body, call, initialize, message, open, server};
use crate::support::handlers;

#[tokio::test]
async fn one_service_serves_every_revision_at_once() {
    let service = Service::new(server(), handlers::handle);
    let mut sessions = Vec::new();
    for version in VERSIONS {
        sessions.push((version, open(&service, version).await));
    }
    for (version, session) in &sessions {
        let post = Post::of(&call("weather", json!({}))).with("Mcp-Session-Id", session);
        let answer = message(
            post.with("MCP-Protocol-Version", version)
                .to(&service)
                .await,
        )
        .await;
        let structured = answer["result"].get("structuredContent").is_some();
        assert_eq!(structured, *version >= "2025-06-18", "{version}: {answer}");
        assert_eq!(answer["result"].get("resultType"), None);
    }
    let response = Post::per_request("tools/call", json!({"name": "weather"}))
        .to(&service)
        .await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers().get("mcp-session-id"), None);
    let answer = message(response).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["structuredContent"]["degrees"], 21.5);
}

#[tokio::test]
async fn headers_that_do_not_repeat_the_body_are_refused() {
    let service = Service::new(server(), handlers::handle);
    let good = || {
        Post::per_request(
            "tools/call",
            json!({"name": "add", "arguments": {"a": 1, "b": 2}}),
        )
    };
    assert_eq!(good().to(&service).await.status(), StatusCode::OK);
    let encoded = good().with("Mcp-Name", "=?base64?YWRk?=");
    assert_eq!(
        encoded.to(&service).await.status(),
        StatusCode::OK,
        "base64 of `add`"
    );
    let bad = [
        good().without("MCP-Protocol-Version"),
        good().with("MCP-Protocol-Version", "2025-11-25"),
        good().without("Mcp-Method"),
        good().with("Mcp-Method", "tools/list"),
        good().with("Mcp-Method", "Tools/IncomingRequest"),
        good().without("Mcp-Name"),
        good().with("Mcp-Name", "sub"),
        good().with("Mcp-Name", "=?base64?YWR?="),
    ];
    for post in bad {
        let headers = format!("{:?}", post.headers);
        let response = post.to(&service).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{headers}");
        let answer = message(response).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(-32020), &json!(1)),
            "{headers}"
        );
    }
}

/// Sends a per-request call with these headers besides, and returns the status and body of the answer.
async fn with_more(more: &[(&'static str, &[u8])]) -> (StatusCode, String) {
    let service = Service::new(server(), handlers::handle);
    let params = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
    let mut request = Post::per_request("tools/call", params).request(Method::POST);
    for (name, value) in more {
        let value = http::HeaderValue::from_bytes(value).unwrap();
        request.headers_mut().append(*name, value);
    }
    let response = service.oneshot(request).await.unwrap();
    (response.status(), body(response).await)
}

#[tokio::test]
async fn a_header_that_says_two_things_is_refused() {
    let same: [(_, &[u8]); 2] = [("mcp-name", b"add"), ("mcp-method", b"tools/call")];
    assert_eq!(with_more(&same).await.0, StatusCode::OK);
    let twice: [&[(&str, &[u8])]; 4] = [
        &[("mcp-name", b"sub")],
        &[("mcp-name", "größe".as_bytes())],
        &[("mcp-method", b"\xff")],
        &[("mcp-param-region", b"eu"), ("mcp-param-region", b"us")],
    ];
    for more in twice {
        let (status, answer) = with_more(more).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{more:?}");
        assert!(answer.contains("came twice"), "{more:?}: {answer}");
    }
}

#[tokio::test]
async fn a_host_that_is_not_served_is_refused_and_the_error_says_how_to_serve_it() {
    let options = Options::new()
        .allow_host("mcp.example.com")
        .allow_host("two.example.com:8443");
    let service = Service::with_options(server(), handlers::handle, options);
    let cases = [
        ("localhost", true),
        ("mcp.example.com", true),
        ("MCP.example.com:8080", true),
        ("two.example.com:8443", true),
        ("two.example.com", false),
        ("two.example.com:80", false),
        ("evil.com", false),
        ("mcp.example.com:80@evil.com", false),
        ("mcp.example.com:", false),
        ("mcp.example.com:99999", false),
        ("mcp.example.com.evil.com", false),
    ];
    for (host, served) in cases {
        let post = Post::per_request("tools/list", json!({})).with("Host", host);
        let response = post.to(&service).await;
        assert_eq!(response.status() == StatusCode::OK, served, "{host}");
        if !served {
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{host}");
            let why = body(response).await;
            assert!(why.contains("`allow_host`") && why.contains(host), "{why}");
        }
    }
    let long = "x".repeat(5_000);
    let post = Post::per_request("tools/list", json!({})).with("Host", &long);
    assert!(body(post.to(&service).await).await.len() < 500);
}

#[tokio::test]
async fn errors_of_the_protocol_have_their_status() {
    let service = Service::new(server(), handlers::handle);
    let meta = |meta: Value| {
        Post::of(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}),
        )
    };
    let claim = |version: &str| json!({"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}});
    let list = |post: Post, version: &str| {
        post.with("MCP-Protocol-Version", version)
            .with("Mcp-Method", "tools/list")
    };
    let cases = [
        (list(meta(claim("2031-01-01")), "2031-01-01"), 400, -32022),
        (
            list(
                meta(json!({"io.modelcontextprotocol/protocolVersion": PER_REQUEST})),
                PER_REQUEST,
            ),
            400,
            -32602,
        ),
        (
            list(
                Post::of(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
                PER_REQUEST,
            ),
            400,
            -32602,
        ),
        (Post::per_request("tools/fly", json!({})), 404, -32601),
        (Post::per_request("initialize", json!({})), 404, -32601),
        (Post::per_request("ping", json!({})), 404, -32601),
        (
            Post::per_request("logging/setLevel", json!({"level": "info"})),
            404,
            -32601,
        ),
        (
            Post::per_request("tools/call", json!({"name": "nobody"})),
            200,
            -32602,
        ),
        (
            Post {
                body: "{".to_owned(),
                ..Post::of(&json!(0))
            },
            400,
            -32700,
        ),
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
            let supported = &answer["error"]["data"]["supported"];
            assert_eq!(*supported, json!(RevisionSet::all().protocol_versions()));
        }
    }
}

#[tokio::test]
async fn get_and_delete_mean_nothing_to_the_per_request_lifecycle() {
    let per_request = Service::new(
        server().with_revisions(RevisionSet::per_request()),
        handlers::handle,
    );
    let dual = Service::new(server(), handlers::handle);
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let post = || Post::of(&json!(0)).with("Mcp-Session-Id", "s");
        let response = per_request
            .clone()
            .oneshot(post().request(method.clone()))
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
        let response = dual
            .clone()
            .oneshot(
                post()
                    .with("MCP-Protocol-Version", PER_REQUEST)
                    .request(method),
            )
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "GET, POST, DELETE");
    }
}

#[tokio::test]
async fn a_per_request_server_names_its_revisions_to_a_handshake() {
    let service = Service::new(
        server().with_revisions(RevisionSet::per_request()),
        handlers::handle,
    );
    let response = initialize("2025-11-25").to(&service).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(response.headers().get("mcp-session-id"), None);
    let answer = message(response).await;
    assert_eq!(
        (
            &answer["error"]["code"],
            &answer["error"]["data"]["supported"]
        ),
        (
            &json!(-32022),
            &json!(RevisionSet::per_request().protocol_versions())
        )
    );
}

#[tokio::test]
async fn notifications_and_answers_are_accepted_without_a_body() {
    let service = Service::new(server(), handlers::handle);
    let session = open(&service, "2025-11-25").await;
    let messages = [
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}),
        json!({"jsonrpc": "2.0", "id": 5, "result": {}}),
        // One that cannot be read is put aside, and its client learns nothing of it.
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": "x"}}),
    ];
    for message in messages {
        let response = Post::of(&message)
            .with("Mcp-Session-Id", &session)
            .to(&service)
            .await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert_eq!(body(response).await, "");
    }
}

#[tokio::test]
async fn origins_are_checked_before_anything_else() {
    let options = Options::new().allow_origin("https://app.example.com");
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
        for post in [
            Post::per_request("tools/list", json!({})),
            initialize("2025-11-25"),
        ] {
            let post = match origin {
                Some(origin) => post.with("Origin", origin),
                None => post,
            };
            let status = post.to(&service).await.status();
            assert_eq!(status == StatusCode::OK, allowed, "{origin:?}: {status}");
            assert!(allowed || status == StatusCode::FORBIDDEN);
        }
        if let (Some(origin), false) = (origin, allowed) {
            let get = Post::of(&json!(0))
                .with("Origin", origin)
                .request(Method::GET);
            assert_eq!(
                service.clone().oneshot(get).await.unwrap().status(),
                StatusCode::FORBIDDEN
            );
        }
    }
}

#[tokio::test]
async fn what_is_no_json_or_too_long_is_refused() {
    let limits = Limits {
        max_message_bytes: 2000,
        max_sessions: 2,
        ..Limits::default()
    };
    let service = Service::new(server().with_limits(limits), handlers::handle);
    let post = Post::per_request("tools/list", json!({}));
    assert_eq!(
        post.with("Content-Type", "text/plain")
            .to(&service)
            .await
            .status(),
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    let post = Post::per_request("tools/list", json!({}))
        .with("Content-Type", "Application/JSON; charset=utf-8");
    assert_eq!(post.to(&service).await.status(), StatusCode::OK);
    let long = Post::per_request("tools/list", json!({"cursor": "x".repeat(2000)}));
    let refused = long.to(&service).await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let why = message(refused).await["error"]["message"].to_string();
    assert!(why.contains("2001") && why.contains("2000"), "{why}");

    let session = open(&service, "2025-11-25").await;
    open(&service, "2025-11-25").await;
    assert_eq!(
        initialize("2025-11-25").to(&service).await.status(),
        StatusCode::SERVICE_UNAVAILABLE
    );
    let delete = Post::of(&json!(0))
        .with("Mcp-Session-Id", &session)
        .request(Method::DELETE);
    service.clone().oneshot(delete).await.unwrap();
    open(&service, "2025-11-25").await;
}

#[tokio::test]
async fn it_goes_into_axum() {
    let service = Service::new(server(), handlers::handle);
    let router = axum::Router::new().route_service("/mcp", service);
    let response = router
        .clone()
        .oneshot(Post::per_request("tools/list", json!({})).request(Method::POST))
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_session_operation_in_a_version_that_is_not_served_is_refused_and_changes_nothing() {
    let service = Service::new(server(), handlers::handle);
    let session = open(&service, "2025-11-25").await;
    let asked = |way: &Method, version| {
        let post = Post::of(&json!(0)).with("Mcp-Session-Id", &session);
        let request = post
            .with("MCP-Protocol-Version", version)
            .request(way.clone());
        service.clone().oneshot(request)
    };
    for way in [Method::GET, Method::DELETE] {
        let refused = asked(&way, "1999-01-01").await.unwrap();
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{way}");
        let refused = message(refused).await;
        assert_eq!(refused["id"], Value::Null, "{way}: {refused}");
    }
    let ended = asked(&Method::DELETE, "2025-11-25").await.unwrap();
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_message_in_a_coding_is_refused_as_such() {
    let service = Service::new(server(), handlers::handle);
    let post = || Post::per_request("tools/list", json!({}));
    let plain = post().with("Content-Encoding", "identity");
    assert_eq!(plain.to(&service).await.status(), StatusCode::OK);
    let response = post().with("Content-Encoding", "gzip").to(&service).await;
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let why = body(response).await;
    assert!(why.contains("Content-Encoding: gzip"), "{why}");
}

/// A body that never comes.
struct Unsent;

impl http_body::Body for Unsent {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn a_message_whose_head_says_that_it_is_too_long_is_refused_before_it_is_read() {
    let limits = Limits {
        max_message_bytes: 1_000,
        ..Limits::default()
    };
    let service = Service::new(server().with_limits(limits), handlers::handle);
    let head = Post::per_request("tools/list", json!({})).with("Content-Length", "1001");
    let (head, _) = head.request(Method::POST).into_parts();
    let body = Unsent;
    let request = http::Request::from_parts(head, body);
    let answered = service.clone().oneshot(request);
    let response = tokio::time::timeout(std::time::Duration::from_secs(10), answered).await;
    let status = response.expect("the body is waited for").unwrap().status();
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_byte_order_mark_before_a_message_is_skipped() {
    let service = Service::new(server(), handlers::handle);
    let mut post = Post::per_request("tools/list", json!({}));
    post.body.insert(0, '\u{feff}');
    assert_eq!(post.to(&service).await.status(), StatusCode::OK);
    let mut post = initialize("2025-06-18");
    post.body.insert(0, '\u{feff}');
    assert_eq!(post.to(&service).await.status(), StatusCode::OK);
}
