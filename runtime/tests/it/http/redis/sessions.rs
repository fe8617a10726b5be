//! Sessions of replicas that share a Redis server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::{Method, Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use super::{Replica, Server, until};
use crate::http::replicas::{in_session, request, told_of};
use crate::http::{Post, VERSIONS, call, initialize};

fn waiting(id: u64) -> Value {
    let params = json!({"name": "waits", "arguments": {}, "_meta": {"progressToken": "p"}});
    request(id, "tools/call", params)
}

fn subscribe() -> Value {
    request(3, "resources/subscribe", json!({"uri": "example://a"}))
}

#[test]
fn a_session_is_one_whichever_process_its_requests_arrive_at() {
    let Some(server) = Server::start("one") else {
        return;
    };
    let replicas = [0, 1, 2].map(|_| server.replica());
    for version in VERSIONS {
        let session = replicas[0].open(version);
        let mut stream = replicas[1].get(&session, None).into_body();
        let subscribed = replicas[2].answer(in_session(&session, &subscribe()));
        assert_eq!(subscribed["result"], json!({}), "{version}");
        for replica in &replicas {
            let answer = replica.answer(in_session(&session, &call("add", json!({}))));
            assert_eq!(answer["result"]["content"][0]["text"], "3", "{version}");
            replica.changes.resource("example://a");
            let (_, told) = replicas[1].next(&mut stream);
            assert_eq!(told["params"]["uri"], "example://a", "{version}: {told}");
        }
        let delete = in_session(&session, &json!(0)).request(Method::DELETE);
        assert_eq!(replicas[2].send(delete).status(), StatusCode::NO_CONTENT);
        for replica in &replicas {
            let answer = replica.post(in_session(&session, &call("add", json!({}))));
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{version}");
        }
    }
}

#[test]
fn a_killed_replica_costs_its_running_calls_an_error_and_its_sessions_nothing() {
    let Some(server) = Server::start("killed") else {
        return;
    };
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let (home, other, third) = (server.replica(), server.replica(), server.replica());
        let session = home.open(version);
        home.answer(in_session(&session, &subscribe()));
        // One call came to it, one through another replica; both have said something.
        let mut here = home.post(in_session(&session, &waiting(7))).into_body();
        let (behind, _) = home.next(&mut here);
        let mut through = other.post(in_session(&session, &waiting(8))).into_body();
        other.next(&mut through);
        home.kill();
        let (_, answer) = other.next(&mut through);
        assert_eq!(answer["id"], 8, "{answer}");
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.contains("gone"), "{version}: {why}");
        let answer = other.answer(in_session(&session, &call("add", json!({}))));
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{version}");
        let mut rest = third.get(&session, behind.as_deref()).into_body();
        let (_, answer) = third.next(&mut rest);
        assert_eq!(
            (&answer["id"], answer["error"].is_object()),
            (&json!(7), true)
        );
        let mut stream = third.get(&session, None).into_body();
        third.block_on(told_of(&mut stream, "example://a"));
        third.changes.resource("example://a");
        third.block_on(told_of(&mut stream, "example://a"));
    }
}

#[test]
fn without_redis_sessions_are_refused_for_now_and_everything_else_is_served() {
    let Some(mut server) = Server::start("away") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let session = home.open("2025-11-25");
    let level = request(4, "logging/setLevel", json!({"level": "debug"}));
    let _ = home.post(in_session(&session, &level));
    let mut through = other.post(in_session(&session, &waiting(8))).into_body();
    other.next(&mut through);
    server.stop();
    let (_, answer) = other.next(&mut through);
    assert!(answer["error"].is_object(), "{answer}");
    for replica in [&home, &other] {
        let begun = Instant::now();
        let refused = replica.post(in_session(&session, &call("add", json!({}))));
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.headers().contains_key("retry-after"));
        let refused = replica.post(initialize("2025-11-25"));
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(begun.elapsed() < Duration::from_secs(10));
        let per_request = Post::per_request("tools/call", json!({"name": "add", "arguments": {}}));
        assert_eq!(
            replica.answer(per_request)["result"]["content"][0]["text"],
            "3"
        );
    }
    // Clients without sessions are served: no replica is taken out for that.
    for (path, status) in [("/readyz", 200), ("/healthz", 200)] {
        let asked = Request::get(path).body(Full::default()).unwrap();
        assert_eq!(other.send(asked).status(), status, "{path}");
    }
    server.restart();
    for replica in [&other, &home] {
        let call = || in_session(&session, &call("add", json!({})));
        let is_back = || match replica.post(call()).status() {
            StatusCode::SERVICE_UNAVAILABLE => false,
            status => status == StatusCode::OK,
        };
        until(is_back, "it does not connect again");
        let answer = replica.answer(call());
        assert_eq!(answer["result"]["content"][0]["text"], "3");
    }
}

#[test]
fn changes_that_were_not_heard_while_redis_was_away_are_told_once_it_is_back() {
    let Some(mut server) = Server::start("unheard") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let session = home.open("2025-11-25");
    home.answer(in_session(&session, &subscribe()));
    let mut stream = home.get(&session, None).into_body();
    server.stop();
    let is_away = || other.post(in_session(&session, &subscribe())).status() != StatusCode::OK;
    until(is_away, "it is not missed");
    other.changes.resource("example://a");
    server.restart();
    home.block_on(told_of(&mut stream, "example://a"));
}

#[test]
fn changes_between_the_end_of_a_replica_and_its_successor_are_told_to_the_clients_of_its_sessions()
{
    let Some(server) = Server::start("meanwhile") else {
        return;
    };
    for version in VERSIONS {
        let (home, other) = (server.replica(), server.replica());
        let session = home.open(version);
        home.answer(in_session(&session, &subscribe()));
        home.kill();
        other.changes.resource("example://a");
        // That its home is gone is found out by the first request.
        let mut tries = (0..100).map(|_| other.get(&session, None));
        let stream = tries.find(|got| got.status() == StatusCode::OK);
        let mut stream = stream.expect("a successor").into_body();
        let told = [(); 3].map(|()| other.next(&mut stream).1);
        for method in ["tools/list_changed", "resources/updated"] {
            let is_it = |told: &&Value| told["method"] == format!("notifications/{method}");
            assert_eq!(told.iter().filter(is_it).count(), 1, "{version}: {told:?}");
        }
    }
}

#[test]
fn a_session_that_runs_elsewhere_is_looked_up_once_for_all_of_its_calls() {
    const CALLS: usize = 50;
    let Some(server) = Server::start("looked-up") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let session = home.open("2025-11-25");
    let (looked_up, sent) = (server.commands("hget"), server.commands("publish"));
    for _ in 0..CALLS {
        let answer = other.answer(in_session(&session, &call("add", json!({}))));
        assert_eq!(answer["result"]["content"][0]["text"], "3");
    }
    assert_eq!(server.commands("hget") - looked_up, 1);
    // Each call is sent to the other replica, and its answer back.
    assert_eq!(server.commands("publish") - sent, 2 * CALLS);
    // Another one that knows its home finds its successor, and that it has ended there.
    let third = server.replica();
    home.kill();
    for (replica, status) in [(&third, 200), (&other, 200)] {
        let answer = replica.post(in_session(&session, &call("add", json!({}))));
        assert_eq!(answer.status(), status);
    }
    let delete = in_session(&session, &json!(0)).request(Method::DELETE);
    assert_eq!(third.send(delete).status(), StatusCode::NO_CONTENT);
    let answer = other.post(in_session(&session, &call("add", json!({}))));
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}

#[test]
fn a_suspended_request_goes_on_wherever_its_client_retries() {
    let Some(server) = Server::start("suspended") else {
        return;
    };
    let (keeps, other) = (server.replica(), server.replica());
    let asking = |params: Value| {
        let mut post = Post::per_request("tools/call", params);
        post.allow("roots");
        post
    };
    let asked = keeps.answer(asking(json!({"name": "asks", "arguments": {}})));
    let result = &asked["result"];
    let name = result["inputRequests"].as_object();
    let name = name.and_then(|requests| requests.keys().next());
    let name = name.unwrap_or_else(|| panic!("no question: {asked}"));
    let responses = json!({name: {"roots": [{"uri": "file:///a"}]}});
    let retry = json!({"name": "asks", "arguments": {}, "requestState": result["requestState"], "inputResponses": responses});
    let answer = other.answer(asking(retry));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("file:///a"), "{answer}");
}

/// Deletes the key of a replica, which was the first, for as long as it takes another one to take its session over.
fn is_taken_over(server: &Server, session: &str, by: &Replica) {
    let home = server.home(session);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                server.run(&format!("DEL mcp:at:{home}"));
            }
        });
        let taken_over = || {
            by.post(in_session(session, &call("add", json!({}))));
            server.home(session) != home
        };
        until(taken_over, "its home is not taken for gone");
        is_over.store(true, Ordering::Release);
    });
}

#[test]
fn a_key_that_vanishes_once_moves_no_session() {
    let Some(server) = Server::start("vanishes") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let session = home.open("2025-11-25");
    let first = server.home(&session);
    for _ in 0..3 {
        server.forget_replicas();
        let answer = other.answer(in_session(&session, &call("add", json!({}))));
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
        assert_eq!(server.home(&session), first);
    }
}

#[test]
fn a_replica_that_was_taken_for_gone_ends_its_calls_of_a_session_that_another_one_runs_now() {
    let Some(server) = Server::start("taken-for-gone") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let session = home.open("2025-11-25");
    let mut stream = home.post(in_session(&session, &waiting(7))).into_body();
    home.next(&mut stream);
    is_taken_over(&server, &session, &other);
    let (_, answer) = home.next(&mut stream);
    assert_eq!(answer["id"], 7, "{answer}");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("another replica"), "{why}");
    // From now on there is one home, whichever replica is asked.
    let level = request(4, "logging/setLevel", json!({"level": "debug"}));
    for replica in [&home, &other] {
        let answer = replica.answer(in_session(&session, &level));
        assert_eq!(answer["result"], json!({}), "{answer}");
        let answer = replica.answer(in_session(&session, &call("add", json!({}))));
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
    }
}

#[test]
fn an_answer_to_a_question_of_a_home_before_is_refused_by_the_home_that_does_not_know_it() {
    let Some(server) = Server::start("answer-to-nothing") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = home.post(Post::of(&request(0, "initialize", params)));
    let session = opened.headers()["mcp-session-id"].to_str().unwrap();
    let asks = request(7, "tools/call", json!({"name": "asks", "arguments": {}}));
    let mut stream = home.post(in_session(session, &asks)).into_body();
    let (_, question) = home.next(&mut stream);
    assert_eq!(question["method"], "roots/list", "{question}");
    is_taken_over(&server, session, &other);
    let roots = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}});
    let refused = other.post(in_session(session, &roots));
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let refused = other.block_on(crate::http::body(refused));
    assert!(refused.contains("waits for this answer"), "{refused}");
    // The call that asked ends all the same.
    let ended = || home.next(&mut stream);
    let answer = std::iter::repeat_with(ended).find(|(_, it)| it["id"] == 7);
    assert!(answer.unwrap().1["error"].is_object());
}

#[test]
fn sessions_that_run_somewhere_outlive_a_redis_that_loses_its_keys() {
    let Some(server) = Server::start("emptied") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let sessions = ["2025-06-18", "2025-11-25"].map(|version| home.open(version));
    assert!(server.run("FLUSHALL").contains("OK"));
    // Neither of the replicas that are asked has asked before.
    for (session, replica) in sessions.iter().zip([&other, &server.replica()]) {
        assert_is_saved_again(session, replica);
    }
    // One that has ended is not saved again.
    let delete = in_session(&sessions[0], &json!(0)).request(Method::DELETE);
    assert_eq!(other.send(delete).status(), StatusCode::NO_CONTENT);
    server.forget_replicas();
    let add = || home.post(in_session(&sessions[0], &call("add", json!({}))));
    until(|| add().status() == StatusCode::NOT_FOUND, "it is back");
}

/// Asks a replica for a session until it is served: it is never said to have ended meanwhile.
fn assert_is_saved_again(session: &str, replica: &Replica) {
    let add = || replica.post(in_session(session, &call("add", json!({}))));
    let is_served = || match add().status() {
        StatusCode::SERVICE_UNAVAILABLE => false,
        status => {
            assert_eq!(status, StatusCode::OK);
            true
        }
    };
    until(is_served, "it is not saved again");
}

#[test]
fn a_session_has_not_ended_for_a_replica_that_saw_the_loss_before_its_home_did() {
    let Some(server) = Server::start("emptied-unseen") else {
        return;
    };
    let other = server.replica();
    // Replicas look at Redis each half second: the home looks when half of that has passed for the other one.
    std::thread::sleep(Duration::from_millis(250));
    let home = server.replica();
    let session = home.open("2025-11-25");
    assert!(server.run("FLUSHALL").contains("OK"));
    assert_is_saved_again(&session, &other);
}

#[test]
fn a_redis_without_memory_is_named_and_serves_the_sessions_that_it_has() {
    let Some(server) = Server::start("oom") else {
        return;
    };
    let (home, other) = (server.replica(), server.replica());
    let session = home.open("2025-11-25");
    assert!(server.run("CONFIG SET maxmemory 1").contains("OK"));
    let refused = other.post(initialize("2025-11-25"));
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let why = other.block_on(crate::http::body(refused));
    assert!(why.contains("Redis is out of memory"), "{why}");
    // For longer than a replica is there that does not say so.
    for _ in 0..13 {
        let answer = other.answer(in_session(&session, &call("add", json!({}))));
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
        std::thread::sleep(Duration::from_millis(500));
    }
}
