//! Answers that are streams, clients that hang up, and handlers that ask or fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use http_body_util::BodyExt;
use mcp_revisions::http::{Options, Service};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::{Handler, Peer};
use serde_json::{Value, json};

use crate::http::{Post, body, call, events, message, open, server};
use crate::support::handlers;

/// A handler that never answers calls of one method, and counts how many of those are at work.
fn stuck(at_work: &Arc<AtomicUsize>, method: &'static str) -> impl Handler {
    struct Working(Arc<AtomicUsize>);
    impl Drop for Working {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let at_work = Arc::clone(at_work);
    move |call: IncomingRequest, peer: Peer| {
        let working = (call.method == method).then(|| {
            at_work.fetch_add(1, Ordering::SeqCst);
            Working(Arc::clone(&at_work))
        });
        async move {
            let Some(working) = working else {
                return handlers::handle(call, peer).await;
            };
            let progress = json!({"progressToken": "p", "progress": 1});
            let _ = peer
                .notify("notifications/progress", Some(&Json::from(progress)))
                .await;
            std::future::pending::<()>().await;
            drop(working);
            Ok(Json::null())
        }
    }
}

async fn settles_at(at_work: &AtomicUsize, count: usize) -> bool {
    for _ in 0..400 {
        if at_work.load(Ordering::SeqCst) == count {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn a_call_that_says_something_first_is_answered_by_a_stream() {
    let service = Service::new(server(), handlers::handle);
    let progress =
        json!({"name": "count", "arguments": {"to": 2}, "_meta": {"progressToken": "p"}});
    let told = events(
        Post::per_request("tools/call", progress.clone())
            .to(&service)
            .await,
    )
    .await;
    let methods: Vec<_> = told
        .iter()
        .map(|message| message["method"].as_str())
        .collect();
    assert_eq!(
        methods,
        [
            Some("notifications/progress"),
            Some("notifications/progress"),
            None
        ],
        "no logs were asked for"
    );
    assert_eq!(told[2]["result"]["content"][0]["text"], "done");

    let mut logs = progress;
    logs["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    let told = events(Post::per_request("tools/call", logs).to(&service).await).await;
    let logs = told
        .iter()
        .filter(|message| message["method"] == "notifications/message");
    assert_eq!((logs.count(), told.len()), (2, 5));

    // The same call without a wish for progress or logs is one object.
    let quiet = Post::per_request("tools/call", json!({"name": "count"}))
        .to(&service)
        .await;
    assert_eq!(message(quiet).await["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn a_per_request_client_that_hangs_up_gives_up_its_call() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let service = Service::new(server(), stuck(&at_work, "tools/call"));
    // Before anything was said.
    let post = Post::per_request("tools/call", json!({"name": "add"}));
    let waits = crate::support::spawn({
        let service = service.clone();
        async move { post.to(&service).await }
    });
    assert!(settles_at(&at_work, 1).await);
    waits.abort();
    assert!(settles_at(&at_work, 0).await, "the call is still at work");
    // In the middle of the stream.
    let post = Post::per_request(
        "tools/call",
        json!({"name": "add", "_meta": {"progressToken": "p"}}),
    );
    let mut stream = post.to(&service).await.into_body();
    assert!(stream.frame().await.is_some());
    assert_eq!(at_work.load(Ordering::SeqCst), 1);
    drop(stream);
    assert!(settles_at(&at_work, 0).await, "the call is still at work");
}

#[tokio::test]
async fn a_per_request_client_that_hangs_up_gives_up_the_look_at_the_tools_before_its_call() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let service = Service::new(server(), stuck(&at_work, "tools/list"));
    let post = Post::per_request("tools/call", json!({"name": "add"}));
    let waits = crate::support::spawn(async move { post.to(&service).await });
    assert!(settles_at(&at_work, 1).await);
    waits.abort();
    assert!(settles_at(&at_work, 0).await, "the tools are still listed");
}

#[tokio::test]
async fn a_stream_on_which_nothing_is_said_says_that_it_is_still_there() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let options = Options::new().with_keep_alive(Duration::from_millis(20));
    let service = Service::with_options(server(), stuck(&at_work, "tools/call"), options);
    let params = json!({"name": "add", "_meta": {"progressToken": "p"}});
    let mut stream = (Post::per_request("tools/call", params).to(&service).await).into_body();
    let mut said = Vec::new();
    for _ in 0..3 {
        let frame = tokio::time::timeout(Duration::from_secs(10), stream.frame()).await;
        said.push(frame.unwrap().unwrap().unwrap().into_data().unwrap());
    }
    assert!(said[0].starts_with(b"event: message\n"));
    assert_eq!(said[1..], [&b":\n\n"[..]; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_on_which_something_is_said_in_time_needs_no_other_sign_of_life() {
    let slow = |_: IncomingRequest, peer: Peer| async move {
        for progress in 0..4 {
            let progress = json!({"progressToken": "p", "progress": progress});
            let _ = peer
                .notify("notifications/progress", Some(&Json::from(progress)))
                .await;
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        Ok(Json::from(json!({"content": []})))
    };
    let service = Service::new(server(), slow);
    let params = json!({"name": "x", "_meta": {"progressToken": "p"}});
    let mut stream = (Post::per_request("tools/call", params).to(&service).await).into_body();
    for _ in 0..5 {
        let said = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(said.starts_with(b"event: message\n"), "{said:?}");
    }
    assert!(stream.frame().await.is_none());
}

#[tokio::test]
async fn a_handshake_client_that_hangs_up_does_not_but_may_cancel() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let service = Service::new(server(), stuck(&at_work, "tools/call"));
    let session = open(&service, "2025-11-25").await;
    let progress = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "_meta": {"progressToken": "p"}}});
    let stream = Post::of(&progress)
        .with("Mcp-Session-Id", &session)
        .to(&service)
        .await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(at_work.load(Ordering::SeqCst), 1);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let response = Post::of(&cancel)
        .with("Mcp-Session-Id", &session)
        .to(&service)
        .await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    assert!(settles_at(&at_work, 0).await, "the call is still at work");
}

#[tokio::test]
async fn the_response_of_a_call_that_is_cancelled_in_silence_ends() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let service = Service::new(server(), stuck(&at_work, "tools/call"));
    let session = open(&service, "2025-11-25").await;
    let of_session = |message: Value| Post::of(&message).with("Mcp-Session-Id", &session);
    let post = of_session(call("add", json!({"a": 1, "b": 2})));
    let waits = crate::support::spawn({
        let service = service.clone();
        async move { body(post.to(&service).await).await }
    });
    assert!(settles_at(&at_work, 1).await);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    of_session(cancel).to(&service).await;
    let ended = tokio::time::timeout(Duration::from_secs(20), waits).await;
    let said = ended.expect("the response stays open").unwrap();
    assert!(!said.contains("result"), "{said}");
}

#[tokio::test]
async fn a_handler_that_panics_is_answered_for() {
    let handler = |call: IncomingRequest, _: Peer| async move {
        assert!(call.params.text().contains("fine"), "as the test wants it");
        Ok(Json::from(json!({"content": []})))
    };
    let service = Service::new(server(), handler);
    let answer = message(
        Post::per_request("tools/call", json!({"name": "bad"}))
            .to(&service)
            .await,
    )
    .await;
    assert_eq!(answer["error"]["code"], -32603);
    let answer = message(
        Post::per_request("tools/call", json!({"name": "fine"}))
            .to(&service)
            .await,
    )
    .await;
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_handshake_client_is_asked_on_the_stream_of_its_call() {
    let handler = |_: IncomingRequest, peer: Peer| async move {
        let answer = peer.ask("roots/list", None).await?;
        let roots: Value = answer.parse().unwrap();
        let text = roots["roots"][0]["uri"].as_str().unwrap().to_owned();
        Ok(Json::from(
            json!({"content": [{"type": "text", "text": text}]}),
        ))
    };
    let service = Service::new(server(), handler);
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    let response =
        Post::of(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
            .to(&service)
            .await;
    let session = response.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let mut stream = Post::of(&call("roots", json!({})))
        .with("Mcp-Session-Id", &session)
        .to(&service)
        .await
        .into_body();
    let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
    let text = String::from_utf8(frame.to_vec()).unwrap();
    let asked: Value = serde_json::from_str(
        text.lines()
            .find_map(|line| line.strip_prefix("data: "))
            .unwrap(),
    )
    .unwrap();
    assert_eq!(asked["method"], "roots/list");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": "file:///here"}]}});
    assert_eq!(
        Post::of(&answer)
            .with("Mcp-Session-Id", &session)
            .to(&service)
            .await
            .status(),
        StatusCode::ACCEPTED
    );
    let rest = stream.collect().await.unwrap().to_bytes();
    assert!(
        String::from_utf8(rest.to_vec())
            .unwrap()
            .contains("file:///here")
    );
}

#[tokio::test]
async fn a_stream_ends_with_its_answer_whoever_could_still_say_something() {
    let keeps = |_: IncomingRequest, peer: Peer| async move {
        let progress = json!({"progressToken": "p", "progress": 1});
        let _ = peer
            .notify("notifications/progress", Some(&Json::from(progress)))
            .await;
        crate::support::spawn(async move {
            std::future::pending::<()>().await;
            drop(peer);
        });
        Ok(Json::from(json!({"content": []})))
    };
    let service = Service::new(server(), keeps);
    let params = json!({"name": "x", "_meta": {"progressToken": "p"}});
    let told = events(Post::per_request("tools/call", params).to(&service).await);
    let told = tokio::time::timeout(Duration::from_secs(10), told)
        .await
        .expect("the stream goes on");
    assert_eq!(told.len(), 2);
    assert_eq!(told[1]["result"]["resultType"], "complete");
}
