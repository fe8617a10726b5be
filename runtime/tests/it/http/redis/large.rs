//! Large requests and responses between replicas, and who else notices them.

use std::time::{Duration, Instant};

use http::StatusCode;
use http_body_util::BodyExt;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use serde_json::{Value, json};

use super::{Replica, Server};
use crate::http::replicas::{in_session, request};

/// Returns as many letters as are asked for, and how many bytes were sent.
async fn letters(call: IncomingRequest, _: Peer) -> Result<Json, ErrorObject> {
    let params: Value = serde_json::from_str(call.params.text()).unwrap();
    let count = params["arguments"]["count"].as_u64().unwrap_or_default();
    let came = params["arguments"]["filler"].as_str().map_or(0, str::len);
    let text = |text: String| json!({"type": "text", "text": text});
    let content = [text("x".repeat(count as usize)), text(came.to_string())];
    Ok(Json::from(json!({ "content": content })))
}

fn replica(server: &Server) -> Replica {
    server.replica_of(|_, options| {
        let server = crate::http::server();
        mcp_revisions::http::Service::with_options(server, letters, options)
    })
}

fn calling(session: &str, id: u64, count: usize, filler: usize) -> crate::http::Post {
    let arguments = json!({"count": count, "filler": "y".repeat(filler)});
    let params = json!({"name": "letters", "arguments": arguments});
    in_session(session, &request(id, "tools/call", params))
}

/// The connections over which replicas get messages: Redis hangs up on one that leaves too much unread.
fn subscribers(server: &Server) -> Vec<String> {
    let clients = server.run("CLIENT LIST TYPE pubsub");
    let ids = clients.split_whitespace();
    let ids: Vec<String> = ids
        .filter(|word| word.starts_with("id="))
        .map(str::to_owned)
        .collect();
    assert_eq!(ids.len(), 2, "{clients}");
    ids
}

#[test]
fn a_result_of_34_mb_and_a_request_of_15_arrive_through_another_replica() {
    let Some(server) = Server::start("large") else {
        return;
    };
    let (home, other) = (replica(&server), replica(&server));
    let before = subscribers(&server);
    let session = home.open("2025-11-25");
    for (count, filler) in [(34 << 20, 0), (0, 15 << 20), (64 << 10, 64 << 10)] {
        let answer = other.post(calling(&session, 1, count, filler));
        assert_eq!(answer.status(), StatusCode::OK);
        let answer = other.block_on(answer.into_body().collect());
        let answer: Value = serde_json::from_slice(&answer.unwrap().to_bytes()).unwrap();
        let result = &answer["result"];
        assert!(result.is_object(), "{:.300}", answer.to_string());
        assert_eq!(result["content"][1]["text"], filler.to_string());
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(text.len(), count);
    }
    assert_eq!(subscribers(&server), before);
}

#[test]
fn one_client_with_large_calls_costs_another_none_of_its_calls() {
    let Some(server) = Server::start("bystander") else {
        return;
    };
    // What Redis allows a subscriber to leave unread, in proportion to the bodies here.
    let limit = "CONFIG SET client-output-buffer-limit \"pubsub 6mb 0 0\"";
    assert!(server.run(limit).contains("OK"));
    let (home, other) = (replica(&server), replica(&server));
    let before = subscribers(&server);
    let (greedy, bystander) = (home.open("2025-11-25"), home.open("2025-11-25"));
    let service = other.service.clone();
    let large: Vec<_> = (0..12)
        .map(|id| {
            let (service, post) = (service.clone(), calling(&greedy, id, 4 << 20, 4 << 20));
            let large = async move {
                let answer = post.to(&service).await;
                answer.into_body().collect().await.unwrap().to_bytes().len()
            };
            other.runtime.as_ref().unwrap().spawn(large)
        })
        .collect();
    let begun = Instant::now();
    let mut calls = 0;
    while large.iter().any(|large| !large.is_finished()) {
        let answer = other.answer(calling(&bystander, calls, 1, 1));
        assert_eq!(answer["result"]["content"][1]["text"], "1", "{answer}");
        calls += 1;
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it takes too long"
        );
    }
    for large in large {
        assert!(other.block_on(large).unwrap() > 4 << 20);
    }
    assert_eq!(subscribers(&server), before);
    assert!(calls > 0);
}
