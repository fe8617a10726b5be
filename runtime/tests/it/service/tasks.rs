//! Tools whose calls become tasks, for clients of every revision, with and without tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use mcp_revisions::http::{Options, Principal};
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{MemoryTasks, TaskOptions, TaskStatus, TaskStore, TaskSupport};
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{Client, Error, McpServer, RequestContext, Router};
use mcp_revisions::{Latest, Lifecycle, Revision, args};
use serde_json::{Value, json};
use tokio::io::duplex;
use tokio::sync::Notify;

use crate::http::attacks::send_as;
use crate::http::{MODERN, Post, body, initialize, message};
use crate::service::peer::{Peer, revisions};
use crate::support::Ada;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const CORE: Revision = Revision::V2025_11_25;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// What the tools and their test share.
#[derive(Clone, Default)]
struct World {
    store: Arc<MemoryTasks>,
    /// Lets the tool `waits` go on.
    leave: Arc<Notify>,
    /// How many handlers of `waits` are at work.
    at_work: Arc<AtomicUsize>,
}

/// Counts while it is there.
struct AtWork(Arc<AtomicUsize>);

impl AtWork {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl World {
    fn server(&self, change: impl Fn(TaskOptions) -> TaskOptions) -> McpServer<Latest, Router> {
        let (leave, at_work) = (Arc::clone(&self.leave), Arc::clone(&self.at_work));
        let waits = move |cx: RequestContext<Latest>| {
            let (leave, at_work) = (Arc::clone(&leave), AtWork::new(&at_work));
            async move {
                let _at_work = at_work;
                cx.progress_with(1, Some(2.into()), "half way").await;
                leave.notified().await;
                "done"
            }
        };
        let options = TaskOptions::new()
            .with_store(Arc::clone(&self.store) as _)
            .with_poll_interval(Duration::from_millis(5));
        let router = Router::new()
            .tool("plain", "Answers.", || async { "plain" })
            .tool("waits", "Waits for leave.", waits)
            .as_task()
            .tool("asks", "Asks who is there.", asks)
            .as_task()
            .tool("fails", "Fails as tools do.", || async {
                Err::<String, _>("no luck")
            })
            .as_task()
            .tool("crashes", "Fails as requests do.", || async {
                Err::<String, _>(Error::application(-32000, "crashed"))
            })
            .as_task()
            .tool("only", "Runs as a task alone.", || async { "only" })
            .only_as_task()
            .tool("must_ask", "Asks as a task alone.", asks)
            .only_as_task();
        let server = router.build("example", "1").unwrap();
        server.with_tasks(change(options))
    }

    async fn peer(&self, revision: Revision) -> Peer {
        self.peer_of(self.server(|it| it), revision).await
    }

    async fn peer_of(&self, server: McpServer<Latest, Router>, revision: Revision) -> Peer {
        let (near, far) = duplex(1 << 16);
        tokio::spawn(async move {
            let (input, output) = tokio::io::split(far);
            server.lines(input, output).await.unwrap();
        });
        Peer::connect(revision, near).await
    }
}

async fn asks(cx: RequestContext<Latest>) -> Result<String, Error> {
    let Name { name } = cx.elicit("Who is there?").await?;
    Ok(format!("Hello, {name}"))
}

fn call(name: &str) -> Value {
    json!({"name": name, "arguments": {}})
}

/// A call that asks for a task.
fn task_call(name: &str) -> Value {
    json!({"name": name, "arguments": {}, "task": {"ttl": 60_000}})
}

/// Looks at a task until it has a status.
async fn until(peer: &mut Peer, id: &Value, status: &str) -> Value {
    loop {
        let task = peer.once("tasks/get", json!({"taskId": id})).await.unwrap();
        if task["status"] == status {
            return task;
        }
        assert!(
            task["status"] == "working" || task["status"] == "input_required",
            "{task}, not {status}"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn comes_true(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

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
    // A client that asks for no task gets none, and a tool without tasks makes none.
    let plain = peer.once("tools/call", call("fails")).await.unwrap();
    assert_eq!(plain["content"][0]["text"], "no luck");
    let refused = peer
        .once("tools/call", task_call("plain"))
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32601, "{refused}");
    let refused = peer.once("tools/call", call("only")).await.unwrap_err();
    assert_eq!(refused["code"], -32601, "{refused}");
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
        let result = peer.call("tools/call", params).await.unwrap();
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
    let plain = peer.once("tools/call", call("plain")).await.unwrap();
    assert_eq!(plain["resultType"], "complete");
    let removed = peer.once("tasks/result", json!({"taskId": id})).await;
    assert_eq!(removed.unwrap_err()["code"], -32601);
}

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
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("too many tasks"),
        "{refused}"
    );
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
    assert!(
        failed["error"]["message"]
            .as_str()
            .unwrap()
            .contains("too many tasks"),
        "{failed}"
    );
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

/// A request of the latest revision from a client with the extension.
fn modern(method: &str, mut params: Value, name: &str) -> Post {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    Post::of(&message)
        .with("MCP-Protocol-Version", MODERN)
        .with("Mcp-Method", method)
        .with("Mcp-Name", name)
}

#[tokio::test]
async fn a_task_of_somebody_else_is_no_task() {
    let world = World::default();
    let service = world.server(|it| it).into_http_service(Options::new());
    let [ada, eve] = ["ada", "eve"].map(|name| Principal(name.to_owned()));
    let created = send_as(&service, &ada, modern("tools/call", call("waits"), "waits")).await;
    let created = message(created).await["result"].take();
    let id = created["taskId"].as_str().unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let ask = |id: &str| {
            let params = json!({"taskId": id, "inputResponses": {}});
            modern(method, params, id)
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
    let own = message(send_as(&service, &ada, modern("tasks/get", params.clone(), id)).await).await;
    assert_eq!(own["result"]["status"], "working", "{own}");
    let wrong = send_as(&service, &ada, modern("tasks/get", params, "another")).await;
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
        problem.to_string().contains("add the tool first"),
        "{problem}"
    );
}

impl World {
    fn client(&self, revision: Revision) -> Client {
        let (near, far) = duplex(1 << 16);
        let server = self.server(|it| it);
        tokio::spawn(async move {
            let (input, output) = tokio::io::split(far);
            server.lines(input, output).await.unwrap();
        });
        let (input, output) = tokio::io::split(near);
        Client::builder(&mcp::Implementation::new("client", args::Version("1")))
            .with_revisions([revision].into_iter().collect())
            .with_handlers(Ada)
            .lines(input, output)
    }
}

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
    let call = tokio::spawn(async move { text(&client, "waits").await });
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
            .http(mcp_revisions::service::client::Http::in_process(
                service.clone(),
            ))
    };
    let client = connect().on_task(move |task| drop(seen.send(task)));
    let call = tokio::spawn(async move { text(&client, "waits").await });
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
