//! Replicas that are killed and started under load.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use http_body_util::BodyExt;
use mcp_revisions::http::Service;
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{IncomingRequest, TaskOptions, TaskSupport};
use mcp_revisions::serve::Peer;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{Replica, Server};
use crate::http::replicas::{in_session, request};

/// What a call came to, as its client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Answered,
    /// An error that says that its replica is gone, or status 503.
    Refused,
    /// The connection broke.
    Broke,
    /// It became a task, whose replica was killed before its end.
    Failed,
}

/// What the clients and their killer share.
struct Chaos {
    replicas: RwLock<Vec<Option<(u64, Replica)>>>,
    next: AtomicU64,
    /// The replica that last began to work on each call, and how often handlers have worked on it.
    worked: Mutex<HashMap<u64, (u64, u32)>>,
    is_over: AtomicBool,
}

impl Chaos {
    /// Works on a call at a replica.
    async fn work(&self, replica: u64, call: IncomingRequest, peer: Peer) -> Json {
        let params: Value = serde_json::from_str(call.params.text()).unwrap();
        let id = params["arguments"]["id"].as_u64().unwrap_or_default();
        self.worked.lock().unwrap().entry(id).or_default().0 = replica;
        let _ = peer.start_task().await;
        let takes = if id.is_multiple_of(3) { 40 } else { id % 5 };
        tokio::time::sleep(Duration::from_millis(takes)).await;
        self.worked.lock().unwrap().entry(id).or_default().1 += 1;
        Json::from(json!({"content": [], "marked": id}))
    }

    /// Sends a request to the next replica that there is; its answer.
    fn ask(&self, session: &str, method: &str, params: Value) -> Result<Value, Came> {
        let (answers, answer) = mpsc::channel();
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        {
            let replicas = self.replicas.read().unwrap();
            let each =
                (0..replicas.len()).map(|at| &replicas[(turn as usize + at) % replicas.len()]);
            let (_, replica) = each.flatten().next().expect("two of three are there");
            let service = replica.service.clone();
            let post = in_session(session, &request(turn, method, params));
            let request = post.request(Method::POST);
            replica.runtime.as_ref().unwrap().spawn(async move {
                let response = service.oneshot(request).await.unwrap();
                let status = response.status();
                let body = response.into_body().collect().await.unwrap().to_bytes();
                let _ = answers.send((status, body));
            });
        }
        match answer.recv_timeout(Duration::from_secs(20)) {
            Ok((StatusCode::OK, body)) => {
                let mut answer: Value = serde_json::from_slice(&body).unwrap();
                match answer["result"].is_object() {
                    true => Ok(answer["result"].take()),
                    false => Err(Came::Refused),
                }
            }
            Ok((StatusCode::SERVICE_UNAVAILABLE, _)) => Err(Came::Refused),
            Ok((status, body)) => panic!("{status}: {}", String::from_utf8_lossy(&body)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(Came::Broke),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("{method} hangs: {turn}"),
        }
    }

    /// Calls a tool, which every third time becomes a task.
    fn call(&self, session: &str, id: u64) -> Came {
        let mut params = json!({"name": "mark", "arguments": {"id": id}});
        if id.is_multiple_of(3) {
            params["task"] = json!({});
        }
        let result = match self.ask(session, "tools/call", params) {
            Ok(mut created) if id.is_multiple_of(3) => {
                match self.outcome(session, id, &created["task"]["taskId"].take()) {
                    Some(result) => result,
                    None => return Came::Failed,
                }
            }
            Ok(result) => result,
            Err(came) => return came,
        };
        assert_eq!(result["marked"], id, "{result}");
        Came::Answered
    }

    /// The result of a task, which is never lost once it is acknowledged; `None` if its replica is gone.
    fn outcome(&self, session: &str, id: u64, task: &Value) -> Option<Value> {
        let begun = Instant::now();
        let mut method = "tasks/get";
        while begun.elapsed() < Duration::from_secs(20) {
            match self.ask(session, method, json!({"taskId": task})) {
                Ok(result) if method == "tasks/result" => return Some(result),
                Ok(state) if state["status"] == "failed" => return None,
                Ok(state) if state["status"] == "completed" => method = "tasks/result",
                // It goes on, or its client asks again.
                Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        panic!("task {task} of call {id} is lost");
    }
}

#[test]
fn replicas_that_are_killed_and_started_under_load_lose_no_session_and_answer_no_call_twice() {
    const CLIENTS: u64 = 4;
    const KILLS: usize = 4;
    let Some(server) = Server::start("chaos") else {
        return;
    };
    let chaos = Arc::new(Chaos {
        replicas: RwLock::default(),
        next: AtomicU64::new(1),
        worked: Mutex::default(),
        is_over: AtomicBool::new(false),
    });
    let start = |name: u64| {
        let chaos = Arc::downgrade(&chaos);
        let replica = server.replica_of(move |_, options| {
            let handler = move |call: IncomingRequest, peer: Peer| {
                let chaos = chaos.upgrade().expect("a test for its replicas");
                async move { Ok(chaos.work(name, call, peer).await) }
            };
            let tasks = TaskOptions::new().with_tool("mark", TaskSupport::Optional);
            let server = crate::http::server().with_tasks(tasks);
            Service::with_options(server, handler, options)
        });
        (name, replica)
    };
    let first: Vec<_> = (0..3).map(start).collect();
    let sessions: Vec<_> = (0..CLIENTS)
        .map(|client| first[client as usize % 3].1.open("2025-11-25"))
        .collect();
    chaos
        .replicas
        .write()
        .unwrap()
        .extend(first.into_iter().map(Some));
    let clients = sessions.iter().cloned().zip(1..).map(|(session, client)| {
        let chaos = Arc::clone(&chaos);
        std::thread::spawn(move || {
            let mut came = Vec::new();
            for count in 0_u64.. {
                if chaos.is_over.load(Ordering::Acquire) {
                    break;
                }
                let id = client * 1_000_000 + count;
                came.push((id, chaos.call(&session, id)));
            }
            came
        })
    });
    let clients: Vec<_> = clients.collect();
    let mut random = fastrand::Rng::with_seed(26);
    let mut killed = HashSet::new();
    for name in 3..3 + KILLS {
        std::thread::sleep(Duration::from_millis(300));
        let place = random.usize(..3);
        let taken = chaos.replicas.write().unwrap()[place].take();
        let (gone, replica) = taken.expect("all are there");
        replica.kill();
        killed.insert(gone);
        std::thread::sleep(Duration::from_millis(300));
        let started = start(name as u64);
        chaos.replicas.write().unwrap()[place] = Some(started);
    }
    std::thread::sleep(Duration::from_millis(300));
    chaos.is_over.store(true, Ordering::Release);
    let came: Vec<_> = clients
        .into_iter()
        .flat_map(|it| it.join().unwrap())
        .collect();
    // Each session goes on at each replica.
    for (session, id) in sessions.iter().zip(1..) {
        for turn in 0..3 {
            assert_eq!(chaos.call(session, id * 10 + turn), Came::Answered);
        }
    }
    let worked = chaos.worked.lock().unwrap();
    let count = |which| came.iter().filter(|(_, it)| *it == which).count();
    let (answered, failed) = (count(Came::Answered), count(Came::Failed));
    let lost = failed + count(Came::Refused) + count(Came::Broke);
    eprintln!("{answered} calls answered, {lost} lost with {KILLS} replicas, {failed} as tasks");
    for (id, came) in &came {
        let (at, worked) = worked.get(id).copied().unwrap_or_default();
        assert!(worked <= 1, "call {id} was worked on {worked} times");
        assert!(*came != Came::Answered || worked == 1, "call {id}");
        assert!(*came != Came::Failed || killed.contains(&at), "call {id}");
    }
    // A client has one call at work at a time; the next one finds the session taken over, or is taken over itself.
    assert!(lost <= 2 * KILLS * CLIENTS as usize, "{lost} calls lost");
    assert!(
        answered > 10 * lost,
        "{answered} calls answered, {lost} lost"
    );
}
