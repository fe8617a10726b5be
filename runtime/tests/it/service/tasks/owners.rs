//! Whose a task is, how many one may have, and for how long.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::StatusCode;
use mcp_revisions::Revision;
use mcp_revisions::http::{Options, Principal};
use mcp_revisions::sansio::server::{MemoryTasks, TaskOptions, TaskSupport};
use mcp_revisions::service::Router;
use serde_json::{Value, json};

use crate::http::attacks::send_as;
use crate::http::{Post, body, initialize, message};
use crate::support::says;

use super::{CORE, EXTENSION, World, call, comes_true, per_request, task_call, until};

#[tokio::test]
async fn a_flood_of_tasks_is_kept_within_the_share_of_its_client() {
    let world = World {
        store: Arc::new(MemoryTasks::new(8, 1 << 20)),
        ..World::default()
    };
    let mut peer = world.peer(CORE).await;
    for _ in 0..2 {
        peer.once("tools/call", task_call("waits")).await.unwrap();
    }
    let refused = peer
        .once("tools/call", task_call("waits"))
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32603, "{refused}");
    says(&refused["message"], "too many tasks");
    assert_eq!(world.store.len(), 2);
    // A client that asked for no task waits for the result.
    let mut other = world.peer(Revision::LATEST).await.with_extension(EXTENSION);
    for _ in 0..2 {
        let created = other.once("tools/call", call("fails")).await.unwrap();
        assert_eq!(created["resultType"], "task");
    }
    let waited = other.once("tools/call", call("fails")).await.unwrap();
    assert_eq!(waited["resultType"], "complete");
    assert_eq!(world.store.len(), 4);
    // A result that finds no room is an error, and not half a result.
    let small = World {
        store: Arc::new(MemoryTasks::new(8, 4 << 10)),
        ..World::default()
    };
    let long = Router::new()
        .tool("long", "Says much.", || async { "x".repeat(64 << 10) })
        .as_task();
    let server = long.build("example", "1").unwrap();
    let options = TaskOptions::new().with_store(Arc::clone(&small.store) as _);
    let mut peer = small
        .peer_of(server.with_tasks(options), Revision::LATEST)
        .await;
    peer = peer.with_extension(EXTENSION);
    let created = peer.once("tools/call", call("long")).await.unwrap();
    let failed = until(&mut peer, &created["taskId"], "failed").await;
    says(&failed["error"]["message"], "too many tasks");
    assert!(small.store.bytes() <= 4 << 10);
}

#[tokio::test]
async fn a_task_that_nobody_looks_at_is_given_up_when_its_time_is_over() {
    let world = World::default();
    let server = world.server(|it| it.with_max_ttl(Duration::from_millis(40)));
    let mut peer = world.peer_of(server, CORE).await;
    let created = peer.once("tools/call", task_call("waits")).await.unwrap();
    assert_eq!(created["task"]["ttl"], 40);
    comes_true(|| world.store.is_empty()).await;
    comes_true(|| world.at_work.load(Ordering::SeqCst) == 0).await;
    assert_eq!(world.store.bytes(), 0);
    let id = &created["task"]["taskId"];
    let expired = peer.once("tasks/get", json!({"taskId": id})).await;
    assert_eq!(expired.unwrap_err()["code"], -32602);
}

#[tokio::test]
async fn a_task_of_somebody_else_is_no_task() {
    let world = World::default();
    let service = world.server(|it| it).into_http_service(Options::new());
    let [ada, eve] = ["ada", "eve"].map(|name| Principal(name.to_owned()));
    let created = send_as(
        &service,
        &ada,
        per_request("tools/call", call("waits"), "waits"),
    )
    .await;
    let created = message(created).await["result"].take();
    let id = created["taskId"].as_str().unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let ask = |id: &str| {
            let params = json!({"taskId": id, "inputResponses": {}});
            per_request(method, params, id)
        };
        let foreign = message(send_as(&service, &eve, ask(id)).await).await;
        let unknown = message(send_as(&service, &eve, ask("made up")).await).await;
        assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
        assert_eq!(
            foreign["error"], unknown["error"],
            "{method} tells what there is"
        );
    }
    assert_eq!(world.at_work.load(Ordering::SeqCst), 1);
    let params = json!({"taskId": id});
    let own =
        message(send_as(&service, &ada, per_request("tasks/get", params.clone(), id)).await).await;
    assert_eq!(own["result"]["status"], "working", "{own}");
    let wrong = send_as(&service, &ada, per_request("tasks/get", params, "another")).await;
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
    assert_eq!(message(wrong).await["error"]["code"], -32020);
}

#[tokio::test]
async fn a_task_of_a_session_is_not_for_another_and_ends_with_its_own() {
    let world = World::default();
    let service = world.server(|it| it).into_http_service(Options::new());
    let open = async || {
        let opened = initialize("2025-11-25").to(&service).await;
        let id = opened.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let note = Post::of(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        body(note.with("Mcp-Session-Id", &id).to(&service).await).await;
        id
    };
    let say = async |session: &str, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let post = Post::of(&message).with("Mcp-Session-Id", session);
        crate::http::message(post.to(&service).await).await
    };
    let (own, other) = (open().await, open().await);
    let created = say(&own, "tools/call", task_call("waits")).await;
    let id = &created["result"]["task"]["taskId"];
    let foreign = say(&other, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
    let list = say(&other, "tasks/list", json!({})).await;
    assert_eq!(list["result"]["tasks"], json!([]));
    let list = say(&own, "tasks/list", json!({})).await;
    assert_eq!(list["result"]["tasks"][0]["taskId"], *id);
    let end = Post::of(&json!({})).with("Mcp-Session-Id", &own);
    let mut request = end.request(http::Method::DELETE);
    request.headers_mut().remove("content-type");
    tower::ServiceExt::oneshot(service.clone(), request)
        .await
        .unwrap();
    comes_true(|| world.store.is_empty() && world.at_work.load(Ordering::SeqCst) == 0).await;
}

#[test]
fn a_task_that_follows_no_tool_is_a_mistake_of_its_author() {
    let router = Router::new().may_start_task(TaskSupport::Optional);
    let problem = router.build("example", "1").unwrap_err();
    assert!(
        problem.to_string().contains("does not follow a tool"),
        "{problem}"
    );
}
