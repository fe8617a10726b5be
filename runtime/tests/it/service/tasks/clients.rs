//! Typed clients of servers with tasks.

use std::sync::atomic::Ordering;

use mcp_revisions::http::Options;
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::TaskStatus;
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{Client, Error, Router};
use mcp_revisions::{Lifecycle, Limits, Revision, args};
use serde_json::{Value, json};

use crate::service::peer::revisions;

use super::{CORE, EXTENSION, World, call, comes_true, until};

async fn text(client: &Client, tool: &str) -> Result<String, Error> {
    let result = client
        .call_tool(mcp::CallToolRequestParams::new(tool))
        .await?;
    let result: Value = Json::of(&result).parse().unwrap();
    Ok(result["content"][0]["text"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_client_gets_the_result_of_a_tool_whichever_tasks_its_server_has() {
    for revision in revisions() {
        let world = World::default();
        let client = world.client(revision);
        let tools = client.list_tools(None).await.unwrap().tools;
        assert_eq!(tools.len(), 7, "{revision}");
        let has_tasks = revision == CORE || revision.lifecycle() == Lifecycle::PerRequest;
        let mut methods = revision.methods().iter();
        let can_ask = methods.any(|method| method.name == "elicitation/create");
        assert_eq!(text(&client, "plain").await.unwrap(), "plain");
        assert_eq!(text(&client, "fails").await.unwrap(), "no luck");
        let crashed = text(&client, "crashes").await.unwrap_err();
        assert!(
            matches!(&crashed, Error::Rpc(error) if error.message == "crashed"),
            "{crashed:?}"
        );
        if can_ask {
            assert_eq!(
                text(&client, "asks").await.unwrap(),
                "Hello, Ada",
                "{revision}"
            );
        }
        match has_tasks {
            true => {
                assert_eq!(text(&client, "only").await.unwrap(), "only", "{revision}");
                assert_eq!(
                    text(&client, "must_ask").await.unwrap(),
                    "Hello, Ada",
                    "{revision}"
                );
                assert!(world.store.len() >= 2, "{revision}");
            }
            false => assert!(text(&client, "only").await.is_err(), "{revision}"),
        }
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_call_that_its_client_drops_stops_the_task() {
    let world = World::default();
    let client = world.client(Revision::LATEST);
    let call = crate::support::spawn(async move { text(&client, "waits").await });
    comes_true(|| world.at_work.load(Ordering::SeqCst) == 1 && world.store.len() == 1).await;
    call.abort();
    comes_true(|| world.at_work.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn a_program_that_was_started_again_fetches_the_result_of_its_task() {
    let world = World::default();
    let (seen, mut ids) = tokio::sync::mpsc::unbounded_channel();
    let service = world.server(|it| it).into_http_service(Options::new());
    let connect = || {
        Client::builder(&mcp::Implementation::new("client", args::Version("1")))
            .with_revisions([Revision::LATEST].into_iter().collect())
            .with_tasks()
            .http(mcp_revisions::service::client::Http::in_process(
                service.clone(),
            ))
    };
    let client = connect().on_task(move |task| drop(seen.send(task)));
    let call = crate::support::spawn(async move { text(&client, "waits").await });
    let task = ids.recv().await.unwrap();
    assert_eq!(task.status, TaskStatus::Working);
    // It looks again, and hears how far the task is.
    let message = loop {
        match ids.recv().await.unwrap().message {
            Some(message) => break message,
            None => continue,
        }
    };
    assert_eq!(message, "half way");
    let again = connect();
    let resumed = again.resume_task::<mcp::CallToolResult>(task.id.clone());
    world.leave.notify_one();
    let result: Value = Json::of(&resumed.await.unwrap()).parse().unwrap();
    assert_eq!(result["content"][0]["text"], "done");
    assert_eq!(call.await.unwrap().unwrap(), "done");
    let unknown = again.resume_task::<mcp::CallToolResult>("made up").await;
    assert!(matches!(unknown, Err(Error::Rpc(error)) if error.code.as_i64() == Some(-32602)));
}

#[tokio::test]
async fn a_stream_tells_of_the_tasks_that_its_client_asked_for() {
    for revision in revisions().filter(|it| it.lifecycle() == Lifecycle::PerRequest) {
        let world = World::default();
        let made_up = "0123456789abcdef0123456789abcdef";
        let wanted =
            |ids: Value| json!({"notifications": {"toolsListChanged": true, "taskIds": ids}});
        let mut peer = world.peer(revision).await;
        let refused = peer.once("subscriptions/listen", wanted(json!([made_up])));
        assert_eq!(refused.await.unwrap_err()["code"], -32021);
        let mut peer = peer.with_extension(EXTENSION);
        let refused = peer.once("subscriptions/listen", wanted(json!("t")));
        assert_eq!(refused.await.unwrap_err()["code"], -32602);
        let created = peer.once("tools/call", call("asks")).await.unwrap();
        let id = &created["taskId"];
        let asked = until(&mut peer, id, "input_required").await;
        let stream = peer
            .begins("subscriptions/listen", wanted(json!([made_up, id, id])))
            .await;
        let agreed = peer.hears("notifications/subscriptions/acknowledged").await;
        assert_eq!(
            agreed["params"]["notifications"],
            json!({"taskIds": [id]}),
            "{revision}: no handler has lists, and no such task"
        );
        // Each tells all that a look at the task would have found, and which stream it is of.
        let told = peer.hears("notifications/tasks").await["params"].take();
        assert_eq!(told["inputRequests"], asked["inputRequests"], "{told}");
        assert_eq!(told.get("resultType"), None);
        let of = "io.modelcontextprotocol/subscriptionId";
        assert_eq!(told["_meta"][of], json!(stream), "{told}");
        let key = asked["inputRequests"].as_object().unwrap().keys().next();
        let accept = json!({"action": "accept", "content": {"name": "Ada"}});
        let params = json!({"taskId": id, "inputResponses": {key.unwrap(): accept}});
        peer.once("tasks/update", params).await.unwrap();
        let done = loop {
            let told = peer.hears("notifications/tasks").await["params"].take();
            assert_eq!(told["taskId"], *id);
            if told["status"] != "working" {
                break told;
            }
        };
        assert_eq!(done["status"], "completed", "{done}");
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada", "{done}");
    }
}

#[tokio::test]
async fn a_stream_follows_as_many_tasks_as_it_may_and_no_more() {
    let world = World::default();
    let mut peer = (world.peer(Revision::LATEST).await).with_extension(EXTENSION);
    let most = Limits::default().max_subscriptions;
    let many = |count: usize| {
        let ids: Vec<String> = (0..count).map(|id| format!("{id:032x}")).collect();
        json!({"notifications": {"taskIds": ids}})
    };
    let refused = peer.once("subscriptions/listen", many(most + 1)).await;
    let why = refused.unwrap_err()["message"].to_string();
    assert!(why.contains(&format!("{most} subscriptions")), "{why}");
    peer.begins("subscriptions/listen", many(most)).await;
    peer.hears("notifications/subscriptions/acknowledged").await;
}

#[tokio::test]
async fn a_stream_tells_of_tasks_beside_what_its_handler_tells() {
    let world = World::default();
    let changes = Changes::new();
    let router = Router::new().with_changes(&changes);
    let router = router.tool("task", "Runs as a task.", || async { "done" });
    let server = router.as_task().build("example", "1").unwrap();
    let mut peer = world.peer_of(server, Revision::LATEST).await;
    peer = peer.with_extension(EXTENSION);
    let created = peer.once("tools/call", call("task")).await.unwrap();
    let id = &created["taskId"];
    until(&mut peer, id, "completed").await;
    let wanted = json!({"notifications": {"toolsListChanged": true, "taskIds": [id]}});
    peer.begins("subscriptions/listen", wanted.clone()).await;
    let agreed = peer.hears("notifications/subscriptions/acknowledged").await;
    assert_eq!(agreed["params"]["notifications"], wanted["notifications"]);
    // One that has ended meanwhile is told of, too.
    let told = peer.hears("notifications/tasks").await;
    assert_eq!(told["params"]["status"], "completed", "{told}");
    changes.tools();
    peer.hears("notifications/tools/list_changed").await;
    // A server without tasks promises none.
    let router = Router::new().with_changes(&changes);
    let server = router.tool("plain", "Answers.", || async { "plain" });
    let peer = world.peer_of(server.build("example", "1").unwrap(), Revision::LATEST);
    let mut peer = peer.await.with_extension(EXTENSION);
    peer.begins("subscriptions/listen", wanted).await;
    let agreed = peer.hears("notifications/subscriptions/acknowledged").await;
    let agreed = &agreed["params"]["notifications"];
    assert_eq!(*agreed, json!({"toolsListChanged": true}));
}
