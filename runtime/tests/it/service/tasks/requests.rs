//! Tasks by the requests of their clients, in both forms.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{
    MemoryTasks, Stored, Task, TaskCount, TaskStore, TaskStoreError,
};
use mcp_revisions::service::{Error, RequestContext, Router};
use mcp_revisions::{Latest, Lifecycle, Limits, Revision};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::service::peer::revisions;

use super::{CORE, EXTENSION, World, call, comes_true, task_call, until};

#[tokio::test]
async fn a_client_that_asks_for_a_task_fetches_the_result_later() {
    let world = World::default();
    let mut peer = world.peer(CORE).await;
    let tools = peer.once("tools/list", json!({})).await.unwrap();
    let support = |name: &str| {
        let mut tools = tools["tools"].as_array().unwrap().iter();
        let tool = tools.find(|tool| tool["name"] == name).unwrap();
        tool["execution"]["taskSupport"].clone()
    };
    assert_eq!(support("plain"), Value::Null);
    assert_eq!(
        (support("waits"), support("only")),
        (json!("optional"), json!("required"))
    );

    // A tool without tasks makes none, and one that runs as a task alone has to be asked for one.
    let refused = peer
        .once("tools/call", task_call("plain"))
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32601, "{refused}");
    let refused = peer.once("tools/call", call("only")).await.unwrap_err();
    assert_eq!(refused["code"], -32601, "{refused}");

    let mut params = task_call("waits");
    params["_meta"]["progressToken"] = json!("p");
    let created = peer.once("tools/call", params).await.unwrap();
    let task = &created["task"];
    assert_eq!(
        (&task["status"], &task["ttl"]),
        (&json!("working"), &json!(60_000))
    );
    assert!(task["createdAt"].as_str().unwrap().ends_with('Z'), "{task}");
    let id = &task["taskId"];
    let progress = peer.hears("notifications/progress").await;
    assert_eq!(progress["params"]["progressToken"], "p");
    assert_eq!(
        progress["params"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"],
        *id
    );
    let seen = until(&mut peer, id, "working").await;
    assert_eq!(seen["statusMessage"], "half way");
    // The result is waited for.
    let waiting = peer.begins("tasks/result", json!({"taskId": id})).await;
    world.leave.notify_one();
    let result = peer.answer_to(waiting).await.unwrap();
    assert_eq!(result["content"][0]["text"], "done");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"],
        *id
    );
    let told = peer.hears("notifications/tasks/status").await;
    assert_eq!(
        (&told["params"]["taskId"], &told["params"]["status"]),
        (id, &json!("completed"))
    );

    // A tool that tells of an error has failed here, and its result says how.
    let created = peer.once("tools/call", task_call("fails")).await.unwrap();
    let failed = created["task"]["taskId"].clone();
    until(&mut peer, &failed, "failed").await;
    let result = peer
        .once("tasks/result", json!({"taskId": failed}))
        .await
        .unwrap();
    assert_eq!(
        (&result["isError"], &result["content"][0]["text"]),
        (&json!(true), &json!("no luck"))
    );
    let created = peer.once("tools/call", task_call("crashes")).await.unwrap();
    let crashed = created["task"]["taskId"].clone();
    until(&mut peer, &crashed, "failed").await;
    let error = peer
        .once("tasks/result", json!({"taskId": crashed}))
        .await
        .unwrap_err();
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32000), &json!("crashed"))
    );

    let list = peer.once("tasks/list", json!({})).await.unwrap();
    let listed: Vec<&Value> = list["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| &task["taskId"])
        .collect();
    assert_eq!(listed.len(), 3);
    assert!(
        [id, &failed, &crashed].iter().all(|id| listed.contains(id)),
        "{list}"
    );
    // A client that asks for no task gets none.
    let plain = peer.once("tools/call", call("fails")).await.unwrap();
    assert_eq!(plain["content"][0]["text"], "no luck");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let unknown = peer.once(method, json!({"taskId": "made up"})).await;
        assert_eq!(unknown.unwrap_err()["code"], -32602, "{method}");
    }
    let unknown = peer.once("tasks/list", json!({"cursor": "made up"})).await;
    assert_eq!(unknown.unwrap_err()["code"], -32602);
}

#[tokio::test]
async fn a_task_asks_its_client_while_that_waits_for_the_result() {
    let world = World::default();
    let mut peer = world.peer(CORE).await;
    let created = peer.once("tools/call", task_call("asks")).await.unwrap();
    let id = created["task"]["taskId"].clone();
    until(&mut peer, &id, "input_required").await;
    peer.answers = vec![json!({"action": "accept", "content": {"name": "Ada"}})];
    let result = peer
        .once("tasks/result", json!({"taskId": id}))
        .await
        .unwrap();
    assert_eq!(result["content"][0]["text"], "Hello, Ada");
    let asked = &peer.asked[0];
    assert_eq!(
        (&asked["method"], &asked["params"]["message"]),
        (&json!("elicitation/create"), &json!("Who is there?"))
    );
    assert_eq!(
        asked["params"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"],
        id
    );
    until(&mut peer, &id, "completed").await;
}

#[tokio::test]
async fn a_task_whose_client_answers_with_an_error_is_told_of_it_and_asks_once() {
    let world = World::default();
    let mut peer = world.peer(CORE).await;
    let created = peer.once("tools/call", task_call("asks")).await.unwrap();
    let id = created["task"]["taskId"].clone();
    peer.answers = vec![json!({"error": {"code": -32000, "message": "the user is away"}})];
    let result = peer.once("tasks/result", json!({"taskId": id})).await;
    let why = format!("{result:?}");
    assert!(why.contains("the user is away"), "{why}");
    until(&mut peer, &id, "failed").await;
    assert_eq!(peer.asked.len(), 1);
}

#[tokio::test]
async fn a_task_that_asks_for_more_at_once_than_is_taken_is_told_how_much_that_is() {
    let asks_twice = |cx: RequestContext<Latest>| async move {
        let peer = cx.peer().ok_or_else(|| Error::internal("no call"))?;
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let who = Json::from(json!({"message": "Who is there?", "requestedSchema": schema}));
        let ask = || peer.ask("elicitation/create", Some(&who));
        let (one, other) = (ask(), ask());
        let answer = tokio::select! { it = one => it, it = other => it };
        answer.map_err(|error| Error::internal(error.message))?;
        Ok::<_, Error>("asked")
    };
    let limits = Limits {
        max_input_requests: 1,
        ..Limits::default()
    };
    let server = Router::new()
        .tool("asks_twice", "Asks twice at once.", asks_twice)
        .as_task()
        .build("example", "1")
        .unwrap()
        .with_limits(limits);
    let world = World::default();
    let peer = world.peer_of(server, Revision::LATEST).await;
    let mut peer = peer.with_extension(EXTENSION);
    let created = peer.once("tools/call", call("asks_twice")).await.unwrap();
    let done = until(&mut peer, &created["taskId"], "completed").await;
    let why = done["result"]["content"][0]["text"].to_string();
    assert!(why.contains("2 inputs are asked for at once"), "{why}");
}

#[tokio::test]
async fn a_cancelled_task_stops_its_handler_and_stays_cancelled() {
    for revision in [CORE, Revision::LATEST] {
        let world = World::default();
        let mut peer = world.peer(revision).await.with_extension(EXTENSION);
        let is_core = revision == CORE;
        let params = if is_core {
            task_call("waits")
        } else {
            call("waits")
        };
        let created = peer.once("tools/call", params).await.unwrap();
        let id = if is_core {
            &created["task"]["taskId"]
        } else {
            &created["taskId"]
        };
        comes_true(|| world.at_work.load(Ordering::SeqCst) == 1).await;
        let cancelled = peer
            .once("tasks/cancel", json!({"taskId": id}))
            .await
            .unwrap();
        comes_true(|| world.at_work.load(Ordering::SeqCst) == 0).await;
        until(&mut peer, id, "cancelled").await;
        let again = peer.once("tasks/cancel", json!({"taskId": id})).await;
        if is_core {
            assert_eq!(cancelled["status"], "cancelled");
            assert_eq!(again.unwrap_err()["code"], -32602);
            let result = peer.once("tasks/result", json!({"taskId": id})).await;
            assert_eq!(result.unwrap_err()["code"], -32603);
        } else {
            assert_eq!(cancelled["resultType"], "complete");
            assert_eq!(again.unwrap()["resultType"], "complete");
        }
    }
}

#[tokio::test]
async fn a_client_without_tasks_waits_for_the_result_and_hears_of_progress() {
    for revision in revisions() {
        let world = World::default();
        let mut peer = world.peer(revision).await;
        world.leave.notify_one();
        let params = json!({"name": "waits", "arguments": {}, "_meta": {"progressToken": "p"}});
        let result = peer.result("tools/call", params).await;
        assert_eq!(result["content"][0]["text"], "done", "{revision}");
        assert_eq!(
            peer.hears("notifications/progress").await["params"]["progressToken"],
            "p"
        );
        assert_eq!(world.store.len(), 0);
        let refused = peer.call("tools/call", call("only")).await.unwrap_err();
        let expected = match revision.lifecycle() {
            Lifecycle::Handshake => -32601,
            Lifecycle::PerRequest => -32021,
        };
        assert_eq!(refused["code"], expected, "{revision}: {refused}");
        if revision != CORE {
            let unknown = peer.call("tasks/get", json!({"taskId": "made up"})).await;
            assert_eq!(unknown.unwrap_err()["code"], expected, "{revision}");
        }
    }
}

#[tokio::test]
async fn a_client_with_the_extension_is_given_a_task_and_answers_by_updates() {
    let world = World::default();
    let mut peer = world.peer(Revision::LATEST).await.with_extension(EXTENSION);
    let created = peer.once("tools/call", call("asks")).await.unwrap();
    assert_eq!(created["resultType"], "task");
    let id = &created["taskId"];
    let asked = until(&mut peer, id, "input_required").await;
    let (key, question) = asked["inputRequests"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert_eq!(question["params"]["message"], "Who is there?");
    // A response to no question is ignored.
    let accept = json!({"action": "accept", "content": {"name": "Ada"}});
    let update = |responses: Value| json!({"taskId": id, "inputResponses": responses});
    peer.once("tasks/update", update(json!({"made up": accept})))
        .await
        .unwrap();
    until(&mut peer, id, "input_required").await;
    peer.once("tasks/update", update(json!({key: accept})))
        .await
        .unwrap();
    let done = until(&mut peer, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada");
    // An update of a task that is over is acknowledged, and changes nothing of what is kept.
    let eve = json!({"action": "accept", "content": {"name": "Eve"}});
    let kept = async |id: &Value| world.store.get(id.as_str().unwrap()).await.unwrap();
    let before = kept(id).await;
    peer.once("tasks/update", update(json!({key: eve})))
        .await
        .unwrap();
    assert_eq!(kept(id).await, before);
    assert_eq!(until(&mut peer, id, "completed").await, done);

    // Nor does the answer to a question that was open when its task was cancelled.
    let created = peer.once("tools/call", call("asks")).await.unwrap();
    let id = &created["taskId"];
    let asked = until(&mut peer, id, "input_required").await;
    let key = asked["inputRequests"].as_object().unwrap().keys().next();
    peer.once("tasks/cancel", json!({"taskId": id}))
        .await
        .unwrap();
    let before = kept(id).await;
    let late = json!({"taskId": id, "inputResponses": {key.unwrap(): eve}});
    peer.once("tasks/update", late).await.unwrap();
    assert_eq!(kept(id).await, before);
    until(&mut peer, id, "cancelled").await;

    // A tool that tells of an error has completed here.
    let created = peer.once("tools/call", call("fails")).await.unwrap();
    let done = until(&mut peer, &created["taskId"], "completed").await;
    assert_eq!(done["result"]["isError"], true);
    let created = peer.once("tools/call", call("crashes")).await.unwrap();
    let failed = until(&mut peer, &created["taskId"], "failed").await;
    assert_eq!(failed["error"]["code"], -32000);
    // One that runs only as a task is one without its handler's doing.
    let created = peer.once("tools/call", call("only")).await.unwrap();
    assert_eq!(created["resultType"], "task", "{created}");
    let plain = peer.once("tools/call", call("plain")).await.unwrap();
    assert_eq!(plain["resultType"], "complete");
    let removed = peer.once("tasks/result", json!({"taskId": id})).await;
    assert_eq!(removed.unwrap_err()["code"], -32601);
}

#[tokio::test]
async fn an_answer_to_a_task_that_is_none_is_refused_and_the_task_waits_for_another() {
    let world = World::default();
    let mut peer = world.peer(Revision::LATEST).await.with_extension(EXTENSION);
    let created = peer.once("tools/call", call("asks")).await.unwrap();
    let id = &created["taskId"];
    let asked = until(&mut peer, id, "input_required").await;
    let key = asked["inputRequests"].as_object().unwrap().keys().next();
    let update = |answer| json!({"taskId": id, "inputResponses": {key.unwrap(): answer}});
    for wrong in [json!(5), json!({}), json!({"action": "zzz"})] {
        let refused = peer.once("tasks/update", update(wrong.clone())).await;
        let refused = refused.expect_err(&format!("{wrong} is taken"));
        assert_eq!(refused["code"], -32602, "{wrong}: {refused}");
        until(&mut peer, id, "input_required").await;
    }
    let accept = json!({"action": "accept", "content": {"name": "Ada"}});
    peer.once("tasks/update", update(accept)).await.unwrap();
    let done = until(&mut peer, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada");
}

#[tokio::test]
async fn a_task_that_has_completed_does_not_say_how_far_it_is() {
    let world = World::default();
    let mut peer = world.peer(CORE).await;
    let created = peer.once("tools/call", task_call("waits")).await.unwrap();
    let id = &created["task"]["taskId"];
    let says =
        async { while until(&mut peer, id, "working").await["statusMessage"] != "half way" {} };
    let says = tokio::time::timeout(Duration::from_secs(20), says).await;
    says.expect("it says how far it is");
    world.leave.notify_one();
    let done = until(&mut peer, id, "completed").await;
    assert_eq!(done.get("statusMessage"), None, "{done}");
}

#[tokio::test]
async fn a_task_of_a_tool_that_is_not_there_is_refused_as_its_call_is() {
    let world = World::default();
    let mut peer = world.peer(CORE).await;
    for params in [call("none"), task_call("none")] {
        let refused = peer.once("tools/call", params).await.unwrap_err();
        assert_eq!(refused["code"], -32602, "{refused}");
        assert_eq!(refused["message"], "no tool `none`");
    }
    // A member that is null says nothing.
    let mut params = call("fails");
    params["task"] = Value::Null;
    let result = peer.once("tools/call", params).await.unwrap();
    assert_eq!(result["content"][0]["text"], "no luck", "{result}");
    assert_eq!(world.store.len(), 0);
}

/// A store whose answers to inserts never come.
#[derive(Default)]
struct Unanswering {
    memory: MemoryTasks,
    inserted: Notify,
    removed: Notify,
}

impl TaskStore for Unanswering {
    fn insert(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        Box::pin(async {
            self.memory.insert(task).await?;
            self.inserted.notify_one();
            std::future::pending().await
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> Stored<'a, Result<Option<Task>, TaskStoreError>> {
        self.memory.get(id)
    }

    fn replace(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        self.memory.replace(task)
    }

    fn remove<'a>(&'a self, id: &'a str) -> Stored<'a, Result<(), TaskStoreError>> {
        Box::pin(async {
            let removed = self.memory.remove(id).await;
            self.removed.notify_one();
            removed
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(TaskCount, &'a str)>,
        most: usize,
    ) -> Stored<'a, Result<Vec<Task>, TaskStoreError>> {
        self.memory.list(owner, after, most)
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_its_task_starts_leaves_no_task() {
    let store = Arc::new(Unanswering::default());
    let server = World::default().server(|it| it.with_store(Arc::clone(&store) as _));
    let mut peer = World::default().peer_of(server, CORE).await;
    let id = peer.begins("tools/call", task_call("waits")).await;
    store.inserted.notified().await;
    peer.notify("notifications/cancelled", json!({"requestId": id}))
        .await;
    let removed = tokio::time::timeout(Duration::from_secs(20), store.removed.notified()).await;
    removed.expect("the task stays");
    assert_eq!(store.memory.len(), 0);
}

#[tokio::test]
async fn a_task_that_never_expires_asks_a_client_that_has_all_time() {
    let limits = Limits {
        client_response_timeout: Duration::MAX,
        ..Limits::default()
    };
    let world = World::default();
    let server = world.server(|it| it.with_ttl(Duration::MAX).with_max_ttl(Duration::MAX));
    let mut peer = world.peer_of(server.with_limits(limits), CORE).await;
    let call = json!({"name": "asks", "arguments": {}, "task": {}});
    let created = peer.once("tools/call", call).await.unwrap();
    let id = created["task"]["taskId"].clone();
    peer.answers = vec![json!({"action": "accept", "content": {"name": "Ada"}})];
    let result = peer.once("tasks/result", json!({"taskId": id})).await;
    assert_eq!(result.unwrap()["content"][0]["text"], "Hello, Ada");
}
