//! What an operator reads of a service: counters, health and readiness.

use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::Full;
use mcp_revisions::http::{Counters, Options, Service};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::http::{Post, message, open, server};
use crate::support::handlers;

/// One tool asks its client, another says something and waits for ever.
async fn slow(call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    let params: Value = call.params.parse().unwrap();
    match params["name"].as_str() {
        Some("asks") => peer.ask("roots/list", None).await,
        Some("waits") => {
            let progress = Json::from(json!({"progressToken": "p", "progress": 1}));
            let _ = peer.notify("notifications/progress", Some(&progress)).await;
            std::future::pending().await
        }
        _ => handlers::handle(call, peer).await,
    }
}

/// Reads the counters until they are as expected.
async fn until(service: &Service, is_so: impl Fn(&Counters) -> bool) -> Counters {
    for _ in 0..2_000 {
        let counters = service.counters();
        if is_so(&counters) {
            return counters;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{:?}", service.counters());
}

#[tokio::test]
async fn an_operator_reads_sessions_and_what_waits() {
    let service = Service::new(server(), slow);
    let nothing = service.counters();
    let waiting = |counters: &Counters| {
        let Counters {
            sessions,
            suspended_requests,
            request_bytes,
            unread_bytes,
            ..
        } = *counters;
        [sessions, suspended_requests, request_bytes, unread_bytes]
    };
    assert_eq!(waiting(&nothing), [0; 4]);

    open(&service, "2025-03-26").await;
    open(&service, "2025-11-25").await;
    assert_eq!(service.counters().sessions, 2);

    let mut asks = Post::per_request("tools/call", json!({"name": "asks"}));
    asks.allow("roots");
    let asked = message(asks.to(&service).await).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert_eq!(service.counters().suspended_requests, 1);

    let params = json!({"name": "waits", "_meta": {"progressToken": "p"}});
    let unread = Post::per_request("tools/call", params).to(&service).await;
    let counters = until(&service, |it| it.unread_bytes > 0).await;
    assert!(counters.request_bytes > 0, "{counters:?}");
    drop(unread);
    until(&service, |it| it.request_bytes + it.unread_bytes == 0).await;
    service.end_sessions();
    assert_eq!(service.counters().sessions, 0);
}

#[tokio::test]
async fn a_balancer_is_told_to_send_no_more_requests_once_the_service_is_closing() {
    let options = Options::new().with_health("/healthz");
    let options = options.with_readiness("/readyz");
    let service = Service::with_options(server(), handlers::handle, options);
    let status = async |method: &str, path: &str| {
        let asked = Request::builder().method(method).uri(path);
        let asked = asked.body(Full::<bytes::Bytes>::default()).unwrap();
        service.clone().oneshot(asked).await.unwrap().status()
    };
    for path in ["/healthz", "/readyz"] {
        for (method, expected) in [
            ("GET", StatusCode::OK),
            ("HEAD", StatusCode::OK),
            ("POST", StatusCode::METHOD_NOT_ALLOWED),
        ] {
            assert_eq!(status(method, path).await, expected, "{method} {path}");
        }
    }
    service.close();
    for path in ["/healthz", "/readyz"] {
        let closed = status("GET", path).await;
        assert_eq!(closed, StatusCode::SERVICE_UNAVAILABLE, "{path}");
    }
}
