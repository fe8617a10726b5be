//! Tasks of replicas that share a Redis server.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use super::{Replica, Server, until};
use crate::http::message;
use crate::http::replicas::{in_session, request};
use crate::http::tasks::{Work, about, answer, per_request, tool};

/// Looks at a task until it has a status.
fn becomes(replica: &Replica, task: &Value, status: &str) -> Value {
    for _ in 0..2_000 {
        let state = replica.answer(about("tasks/get", task))["result"].take();
        if state["status"] == status {
            return state;
        }
        let goes_on = ["working", "input_required"].map(Value::from);
        assert!(goes_on.contains(&state["status"]), "{state}, not {status}");
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{task} does not become {status}");
}

#[test]
fn a_task_is_one_whichever_process_is_asked_and_has_failed_once_its_own_is_killed() {
    let Some(server) = Server::start("tasks") else {
        return;
    };
    let work = Work::default();
    let start = |ttl: u64| {
        let ttl = Duration::from_secs(ttl);
        server.replica_of(|_, options| {
            let server = work.replica(|it| it.with_ttl(ttl));
            server.into_http_service(options)
        })
    };
    let (home, other, third) = (start(3600), start(3600), start(1));
    let created = |replica: &Replica, name: &str| {
        let created = replica.answer(tool(name))["result"].take();
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].clone()
    };
    let asks = created(&home, "asks");
    let asked = becomes(&other, &asks, "input_required");
    third.answer(answer(&asks, &asked));
    for replica in [&home, &other, &third] {
        let done = becomes(replica, &asks, "completed");
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada", "{done}");
    }
    let cancelled = created(&home, "waits");
    other.answer(about("tasks/cancel", &cancelled));
    let is_idle = || work.at_work.load(Ordering::SeqCst) == 0;
    until(is_idle, "the handler goes on");
    becomes(&home, &cancelled, "cancelled");
    // A session lists its own tasks, and those of nobody else.
    let session = other.open("2025-11-25");
    for _ in 0..3 {
        let params = json!({"name": "waits", "arguments": {}, "task": {}});
        other.answer(in_session(&session, &request(1, "tools/call", params)));
    }
    let listed = third.answer(in_session(&session, &request(2, "tasks/list", json!({}))));
    let listed = listed["result"]["tasks"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 3);
    let lost = created(&home, "waits");
    home.kill();
    let failed = becomes(&third, &lost, "failed");
    let why = failed["error"]["message"].as_str().unwrap();
    assert!(why.contains("gone"), "{failed}");
    // One whose process is gone expires by itself.
    let short = created(&third, "waits");
    third.kill();
    let gone = || other.answer(about("tasks/get", &short))["error"]["code"] == -32602;
    until(gone, "it does not expire");
    becomes(&other, &asks, "completed");
}

#[test]
fn the_result_of_a_task_outlasts_a_redis_that_is_away_when_its_handler_is_done() {
    let Some(mut server) = Server::start("tasks-away") else {
        return;
    };
    let work = Work::default();
    let start = || server.replica_of(|_, options| work.replica(|it| it).into_http_service(options));
    let (home, other) = (start(), start());
    let created = home.answer(tool("waits"))["result"].take();
    let task = &created["taskId"];
    server.stop();
    let listens = json!({"notifications": {"taskIds": [task]}});
    for request in [
        about("tasks/get", task),
        about("tasks/update", task),
        about("tasks/cancel", task),
        per_request("subscriptions/listen", listens),
    ] {
        let refused = other.post(request);
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.headers().contains_key("retry-after"));
        let refused = other.block_on(message(refused));
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("try again"), "{refused}");
    }
    // No task is made meanwhile: the client waits.
    work.leave.notify_one();
    until(|| work.at_work.load(Ordering::SeqCst) == 0, "it goes on");
    work.leave.notify_one();
    let waited = other.answer(tool("waits"));
    assert_eq!(waited["result"]["resultType"], "complete", "{waited}");
    server.restart();
    let is_back = || other.post(about("tasks/get", task)).status() == StatusCode::OK;
    until(is_back, "it does not connect again");
    let done = becomes(&other, task, "completed");
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
}
