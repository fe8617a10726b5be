//! Tasks of several replicas: each serves them all, and one that is gone takes only its own work with it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use mcp_revisions::Latest;
use mcp_revisions::backplane::Memory;
use mcp_revisions::http::{Options, Principal, Service};
use mcp_revisions::sansio::server::{
    MemoryTasks, Stored, Task, TaskCount, TaskOptions, TaskStore, TaskStoreError,
};
use mcp_revisions::service::{Error, McpServer, RequestContext, Router};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::http::attacks::send_as;
use crate::http::replicas::{in_session, next, request};
use crate::http::{PER_REQUEST, Post, message, open};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What the handlers of all replicas share with their test.
#[derive(Clone, Default)]
pub(crate) struct Work {
    /// Lets the tool `waits` go on.
    pub(crate) leave: Arc<Notify>,
    /// How many handlers of `waits` are at work.
    pub(crate) at_work: Arc<AtomicUsize>,
}

/// Counts while it is there.
struct AtWork(Arc<AtomicUsize>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

impl Work {
    /// A replica whose tasks nobody looks at by itself within an hour: what is noticed has been told.
    pub(crate) fn replica(&self, change: impl Fn(TaskOptions) -> TaskOptions) -> McpServer<Latest> {
        let work = self.clone();
        let waits = move || {
            work.at_work.fetch_add(1, Ordering::SeqCst);
            let (at_work, leave) = (AtWork(Arc::clone(&work.at_work)), Arc::clone(&work.leave));
            async move {
                let _at_work = at_work;
                leave.notified().await;
                "done"
            }
        };
        let asks = |cx: RequestContext<Latest>| async move {
            let Name { name } = cx.elicit("Who is there?").await?;
            Ok::<_, Error>(format!("Hello, {name}"))
        };
        let router = Router::new()
            .tool("waits", "Waits for leave.", waits)
            .as_task()
            .tool("asks", "Asks who is there.", asks)
            .as_task();
        let server = router.build("replica", "1.0").unwrap();
        let options = TaskOptions::new().with_poll_interval(Duration::from_secs(3600));
        server.with_tasks(change(options))
    }

    fn replicas<const COUNT: usize>(
        &self,
        change: impl Fn(TaskOptions) -> TaskOptions,
    ) -> [Service; COUNT] {
        let backplane = Memory::new();
        [(); COUNT].map(|()| {
            let options = Options::new().with_backplane(backplane.clone());
            self.replica(&change).into_http_service(options)
        })
    }

    async fn has(&self, at_work: usize) {
        within(async {
            while self.at_work.load(Ordering::SeqCst) != at_work {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }
}

/// A request of the latest revision from a client with tasks, which can be asked.
pub(crate) fn per_request(method: &str, mut params: Value) -> Post {
    let capabilities = json!({"elicitation": {}, "extensions": {EXTENSION: {}}});
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": PER_REQUEST,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let name = params.get("name").or(params.get("taskId")).cloned();
    let post = Post::of(&request(1, method, params))
        .with("MCP-Protocol-Version", PER_REQUEST)
        .with("Mcp-Method", method);
    match name.as_ref().and_then(Value::as_str) {
        Some(name) => post.with("Mcp-Name", name),
        None => post,
    }
}

/// A call of a tool.
pub(crate) fn tool(name: &str) -> Post {
    per_request("tools/call", json!({"name": name, "arguments": {}}))
}

/// A request about a task.
pub(crate) fn about(method: &str, task: &Value) -> Post {
    per_request(method, json!({"taskId": task, "inputResponses": {}}))
}

/// What a client of 2026-07-28 answers to the question of a task.
pub(crate) fn answer(task: &Value, state: &Value) -> Post {
    let questions = state["inputRequests"].as_object().unwrap();
    let accept = json!({"action": "accept", "content": {"name": "Ada"}});
    let responses: Value = questions
        .keys()
        .map(|key| (key.clone(), accept.clone()))
        .collect();
    per_request(
        "tasks/update",
        json!({"taskId": task, "inputResponses": responses}),
    )
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(20), work).await;
    done.expect("it comes in time")
}

async fn created(replica: &Service, name: &str) -> Value {
    let created = message(tool(name).to(replica).await).await;
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    created["result"]["taskId"].clone()
}

/// Looks at a task at a replica until it has a status.
async fn until(replica: &Service, task: &Value, status: &str) -> Value {
    within(async {
        loop {
            let state = message(about("tasks/get", task).to(replica).await).await;
            let state = &state["result"];
            if state["status"] == status {
                return state.clone();
            }
            let goes_on = ["working", "input_required"].map(Value::from);
            assert!(goes_on.contains(&state["status"]), "{state}, not {status}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_task_of_one_replica_is_looked_at_and_answered_at_any_other() {
    let work = Work::default();
    let replicas: [_; 3] = work.replicas(|it| it);
    let task = created(&replicas[0], "asks").await;
    let asked = until(&replicas[1], &task, "input_required").await;
    let updated = message(answer(&task, &asked).to(&replicas[2]).await).await;
    assert_eq!(updated["result"]["resultType"], "complete", "{updated}");
    for replica in &replicas {
        let done = until(replica, &task, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada", "{done}");
    }
}

#[tokio::test]
async fn a_task_that_is_cancelled_at_one_replica_stops_its_handler_at_another() {
    let work = Work::default();
    let replicas: [_; 2] = work.replicas(|it| it);
    let task = created(&replicas[0], "waits").await;
    work.has(1).await;
    let cancelled = message(about("tasks/cancel", &task).to(&replicas[1]).await).await;
    assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
    work.has(0).await;
    until(&replicas[0], &task, "cancelled").await;
}

#[tokio::test]
async fn a_task_of_somebody_else_is_no_task_at_any_replica() {
    let work = Work::default();
    let replicas: [_; 2] = work.replicas(|it| it);
    let [ada, eve] = ["ada", "eve"].map(|name| Principal(name.to_owned()));
    let created = message(send_as(&replicas[0], &ada, tool("waits")).await).await;
    let task = &created["result"]["taskId"];
    let made_up = json!("0123456789abcdef0123456789abcdef");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let foreign = message(send_as(&replicas[1], &eve, about(method, task)).await).await;
        assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
        let none = message(send_as(&replicas[1], &eve, about(method, &made_up)).await).await;
        assert_eq!(
            foreign["error"], none["error"],
            "{method} tells what there is"
        );
        let own = message(send_as(&replicas[1], &ada, about("tasks/get", task)).await).await;
        assert_eq!(own["result"]["status"], "working", "{own}");
    }
}

#[tokio::test]
async fn a_task_whose_replica_is_gone_has_failed_and_says_why() {
    let work = Work::default();
    let [home, other]: [_; 2] = work.replicas(|it| it);
    let task = created(&home, "waits").await;
    let over = created(&home, "asks").await;
    let asked = until(&home, &over, "input_required").await;
    message(answer(&over, &asked).to(&home).await).await;
    until(&home, &over, "completed").await;
    drop(home);
    let failed = until(&other, &task, "failed").await;
    for why in [&failed["error"]["message"], &failed["statusMessage"]] {
        assert!(why.as_str().unwrap().contains("gone"), "{failed}");
    }
    // What its replica had finished stays.
    let done = until(&other, &over, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada", "{done}");
}

#[tokio::test]
async fn tasks_of_a_replica_that_is_gone_expire_and_leave_room_for_others() {
    let work = Work::default();
    let store = Arc::new(MemoryTasks::new(4, 1 << 20));
    let [home, other]: [_; 2] = work.replicas(|it| {
        let it = it.with_store(Arc::clone(&store) as _);
        it.with_ttl(Duration::from_millis(300))
    });
    let task = created(&home, "waits").await;
    // A share of the store is full, whichever replica is asked: the client waits for the result.
    let waited = async { message(tool("waits").to(&other).await).await };
    let (waited, ()) = tokio::join!(waited, async {
        work.has(2).await;
        work.leave.notify_waiters();
    });
    assert_eq!(waited["result"]["resultType"], "complete", "{waited}");
    drop(home);
    within(async {
        while message(about("tasks/get", &task).to(&other).await).await["result"].is_object() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    created(&other, "waits").await;
    assert_eq!(store.len(), 1);
}

/// A store of tasks that cannot be reached.
struct Away;

fn away<'a, T: Send + 'a>() -> Stored<'a, Result<T, TaskStoreError>> {
    Box::pin(std::future::ready(Err(TaskStoreError::Away(
        "away".to_owned(),
    ))))
}

impl TaskStore for Away {
    fn insert(&self, _: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        away()
    }

    fn get<'a>(&'a self, _: &'a str) -> Stored<'a, Result<Option<Task>, TaskStoreError>> {
        away()
    }

    fn replace(&self, _: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        away()
    }

    fn remove<'a>(&'a self, _: &'a str) -> Stored<'a, Result<(), TaskStoreError>> {
        away()
    }

    fn list<'a>(
        &'a self,
        _: &'a str,
        _: Option<(TaskCount, &'a str)>,
        _: usize,
    ) -> Stored<'a, Result<Vec<Task>, TaskStoreError>> {
        away()
    }
}

#[tokio::test]
async fn requests_about_tasks_are_to_be_made_again_while_the_store_is_away() {
    let work = Work::default();
    let [replica]: [_; 1] = work.replicas(|it| it.with_store(Arc::new(Away)));
    let task = json!("0123456789abcdef0123456789abcdef");
    let listens = json!({"notifications": {"taskIds": [task]}});
    for request in [
        about("tasks/get", &task),
        about("tasks/update", &task),
        about("tasks/cancel", &task),
        per_request("subscriptions/listen", listens),
    ] {
        let refused = request.to(&replica).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "1");
        let refused = message(refused).await;
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("try again"), "{refused}");
    }
}

/// A message of the session of a client that asks for tasks itself, and its answer.
async fn say(replica: &Service, session: &str, method: &str, params: Value) -> Value {
    message(
        in_session(session, &request(9, method, params))
            .to(replica)
            .await,
    )
    .await
}

#[tokio::test]
async fn a_session_waits_for_the_result_of_its_task_at_any_replica() {
    let work = Work::default();
    let replicas: [_; 3] = work.replicas(|it| it);
    let session = open(&replicas[0], "2025-11-25").await;
    let call = json!({"name": "waits", "arguments": {}, "task": {}});
    let created = say(&replicas[1], &session, "tools/call", call.clone()).await;
    let task = json!({"taskId": created["result"]["task"]["taskId"]});
    let waits = say(&replicas[2], &session, "tasks/result", task.clone());
    let (done, ()) = tokio::join!(within(waits), async {
        work.has(1).await;
        work.leave.notify_one();
    });
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    // The session goes on at another replica, and knows its tasks; the one at work has gone with the first.
    let created = say(&replicas[1], &session, "tools/call", call).await;
    let lost = json!({"taskId": created["result"]["task"]["taskId"]});
    let [home, other, third] = replicas;
    home.close();
    home.leave();
    drop(home);
    let list = say(&other, &session, "tasks/list", json!({})).await;
    let listed = list["result"]["tasks"].as_array().unwrap();
    let statuses = |task: &Value| {
        let mut listed = listed.iter().filter(|one| one["taskId"] == task["taskId"]);
        listed.next().map(|one| one["status"].clone())
    };
    assert_eq!(
        (statuses(&task), statuses(&lost)),
        (Some(json!("completed")), Some(json!("failed"))),
        "{list}"
    );
    let failed = say(&third, &session, "tasks/result", lost).await;
    let why = failed["error"]["message"].as_str().unwrap();
    assert!(why.contains("gone"), "{failed}");
    let done = say(&third, &session, "tasks/result", task).await;
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_at_one_replica_is_told_of_a_task_of_another_as_it_changes() {
    let work = Work::default();
    let [home, other, third]: [_; 3] = work.replicas(|it| it);
    let [ada, eve] = ["ada", "eve"].map(|name| Principal(name.to_owned()));
    let created = async |name: &str| {
        let created = message(send_as(&home, &ada, tool(name)).await).await;
        created["result"]["taskId"].clone()
    };
    let (asks, waits) = (created("asks").await, created("waits").await);
    let wanted = json!({"notifications": {"taskIds": [asks, waits]}});
    let listen = per_request("subscriptions/listen", wanted);
    let mut stream = send_as(&other, &ada, listen).await.into_body();
    let (_, agreed) = next(&mut stream).await;
    let agreed = agreed["params"]["notifications"]["taskIds"].as_array();
    assert_eq!(agreed.unwrap().len(), 2);
    // Somebody else is promised nothing.
    let wanted = json!({"notifications": {"taskIds": [waits]}});
    let listen = per_request("subscriptions/listen", wanted);
    let mut foreign = send_as(&other, &eve, listen).await.into_body();
    let (_, none) = next(&mut foreign).await;
    assert_eq!(none["params"]["notifications"], json!({}));
    let mut states: HashMap<String, Value> = HashMap::new();
    let mut told = async |task: &Value, status: &str| loop {
        let task = task.as_str().unwrap();
        match states.get(task) {
            Some(state) if state["status"] == status => return state.clone(),
            _ => {}
        }
        let (_, told) = next(&mut stream).await;
        assert_eq!(told["method"], "notifications/tasks", "{told}");
        let of = told["params"]["taskId"].as_str().unwrap().to_owned();
        states.insert(of, told["params"].clone());
    };
    told(&waits, "working").await;
    let asked = told(&asks, "input_required").await;
    // From here on time passes only if nobody has anything to do.
    let begun = tokio::time::Instant::now();
    let updated = send_as(&third, &ada, answer(&asks, &asked)).await;
    assert_eq!(message(updated).await["result"]["resultType"], "complete");
    let done = told(&asks, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada", "{done}");
    work.leave.notify_one();
    told(&waits, "completed").await;
    assert!(begun.elapsed() < Duration::from_secs(1), "it was not told");
}

#[tokio::test(start_paused = true)]
async fn a_stream_hears_that_the_replica_of_a_task_is_gone() {
    let work = Work::default();
    let [home, other]: [_; 2] = work.replicas(|it| it);
    let waits = created(&home, "waits").await;
    let wanted = json!({"notifications": {"taskIds": [waits]}});
    let listen = per_request("subscriptions/listen", wanted);
    let mut stream = listen.to(&other).await.into_body();
    for method in [
        "notifications/subscriptions/acknowledged",
        "notifications/tasks",
    ] {
        assert_eq!(next(&mut stream).await.1["method"], method);
    }
    drop(home);
    let (_, told) = next(&mut stream).await;
    assert_eq!(told["params"]["status"], "failed", "{told}");
}

#[tokio::test]
async fn a_session_with_a_task_at_work_is_in_use() {
    let work = Work::default();
    let idle = Duration::from_secs(1);
    let options = Options::new().with_idle_timeout(idle);
    let service = work.replica(|it| it).into_http_service(options);
    let session = open(&service, "2025-11-25").await;
    let params = json!({"name": "waits", "arguments": {}, "task": {}});
    let post = |id, method, params| Post::of(&request(id, method, params));
    let send = async |post: Post| {
        let post = post.with("Mcp-Session-Id", &session);
        post.to(&service).await
    };
    let created = message(send(post(1, "tools/call", params)).await).await;
    let task = &created["result"]["task"]["taskId"];
    work.has(1).await;
    tokio::time::sleep(idle * 2).await;
    let about = json!({"taskId": task});
    let state = message(send(post(2, "tasks/get", about.clone())).await).await;
    assert_eq!(state["result"]["status"], "working", "{state}");
    work.leave.notify_one();
    work.has(0).await;
    let done = message(send(post(3, "tasks/result", about.clone())).await).await;
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    // Once it is over, the session is as any other.
    tokio::time::sleep(idle * 2).await;
    let gone = send(post(4, "tasks/get", about)).await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}
