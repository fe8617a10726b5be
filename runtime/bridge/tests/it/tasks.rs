//! Tasks through the bridge: of an upstream with tasks of either form, made by the runtime or by the handlers themselves,
//! for clients of the same form, of the other one, and without tasks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_bridge::{Bridge, ClientSettings, Service, Upstream};
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{
    CustomRequest, IncomingRequest, MemoryTasks, Profile, Server, TaskOptions, TaskStatus,
    TaskStore, TaskSupport,
};
use mcp_revisions::serve::{Handler, Peer};
use mcp_revisions::service::client::{ClientContext, Http};
use mcp_revisions::service::{Client, Error};
use mcp_revisions::{
    Latest, Revision, RevisionSet,
    core::{V2025_11_25, v2025_11_25 as older},
    http,
    sansio::errors,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{client, names, server, text};

const CORE: Revision = Revision::V2025_11_25;
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The tasks of an upstream that the runtime makes, and what its tools wait for.
#[derive(Clone, Default)]
struct Made {
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

fn often() -> TaskOptions {
    TaskOptions::new().with_poll_interval(Duration::from_millis(5))
}

fn said(text: &str) -> Json {
    Json::from(json!({ "content": [{ "type": "text", "text": text }] }))
}

fn who() -> Json {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    Json::from(json!({ "message": "Who is there?", "requestedSchema": schema }))
}

impl Made {
    /// A server of one revision whose tools become tasks.
    fn upstream(&self, revision: Revision) -> Upstream {
        let options = ["build", "asks", "waits"]
            .into_iter()
            .fold(often(), |it, name| {
                it.with_tool(name, TaskSupport::Optional)
            });
        let options = options
            .with_tool("only", TaskSupport::Required)
            .with_store(Arc::clone(&self.store) as _);
        let made = self.clone();
        let builds = move |call: IncomingRequest, peer: Peer| made.clone().answer(call, peer);
        let server = server(revision).with_tasks(options);
        Upstream::service(http::Service::new(server, builds))
    }

    async fn answer(self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let params: Value = call.params.parse().unwrap();
        if call.method == "tools/list" {
            let tools = ["build", "only", "asks", "waits", "slow"];
            let tools =
                tools.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
            return Ok(Json::from(json!({ "tools": tools })));
        }
        let name = params["name"].as_str().unwrap_or_default();
        let is_task = name != "slow" && peer.start_task().await?;
        match name {
            "slow" => {
                self.leave.notified().await;
                Ok(said("slow"))
            }
            "asks" => {
                let answer = peer.ask("elicitation/create", Some(&who())).await?;
                let answer: Value = answer.parse().unwrap();
                let name = answer["content"]["name"].as_str().unwrap_or_default();
                Ok(said(&format!("Hello, {name}")))
            }
            "waits" => {
                let _at_work = AtWork::new(&self.at_work);
                peer.describe_task("half way").await;
                self.leave.notified().await;
                Ok(said("done"))
            }
            name => Ok(said(&format!("{name} {is_task}"))),
        }
    }
}

/// Says who it is.
struct Ada;

impl ClientHandlers<ClientContext<Latest>> for Ada {
    async fn elicit(
        &self,
        _: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, Error> {
        Ok(Json::from(json!({ "action": "accept", "content": { "name": "Ada" } })).read()?)
    }
}

impl older::ClientHandlers<ClientContext<V2025_11_25>> for Ada {
    async fn elicit(
        &self,
        _: older::ElicitRequestParams,
        _: ClientContext<V2025_11_25>,
    ) -> Result<older::ElicitOutcome, Error> {
        Ok(Json::from(json!({ "action": "accept", "content": { "name": "Ada" } })).read()?)
    }
}

/// A client that calls tools and gets their results, in a revision.
fn waiting(service: &Service, revision: Revision) -> Client {
    let client = client(revision).with_handlers(Ada);
    client.http(Http::in_process(service.clone()))
}

/// A client that asks for tasks and looks at them itself.
fn asking(service: &Service) -> Client<V2025_11_25> {
    Client::<V2025_11_25>::speaking(&mcp_revisions::program!())
        .with_revisions(RevisionSet::none().with(CORE))
        .with_handlers(Ada)
        .http(Http::in_process(service.clone()))
}

async fn request(client: &Client<V2025_11_25>, method: &'static str, params: Value) -> Value {
    let result = client.request(method, Some(Json::from(params))).await;
    result.unwrap().parse().unwrap()
}

/// The id of the task that a tool becomes.
async fn task_of(client: &Client<V2025_11_25>, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": {}, "task": { "ttl": 60_000 } });
    let created = request(client, "tools/call", params).await;
    created["task"]["taskId"].as_str().unwrap().to_owned()
}

async fn result_of(client: &Client<V2025_11_25>, id: &str) -> String {
    let result = request(client, "tasks/result", json!({ "taskId": id })).await;
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn comes_true(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn a_client_that_asks_for_tasks_has_them_before_an_upstream_of_the_extension() {
    let made = Made::default();
    let upstream = made.upstream(Revision::LATEST);
    let lost = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&lost);
    let service = Bridge::new(upstream)
        .with_task_options(often())
        .with_clients(ClientSettings::new().on_loss(move |report| {
            let rules = report.losses.iter().map(|loss| loss.rule());
            told.lock().unwrap().extend(rules);
        }))
        .into_service();
    let client = asking(&service);
    let tools = request(&client, "tools/list", json!({})).await;
    for tool in tools["tools"].as_array().unwrap() {
        assert_eq!(tool["execution"]["taskSupport"], "optional", "{tool}");
    }
    for tool in ["build", "only"] {
        let id = task_of(&client, tool).await;
        assert_eq!(result_of(&client, &id).await, format!("{tool} true"));
        assert!(
            made.store.get(&id).await.unwrap().is_none(),
            "an id of the bridge"
        );
    }
    assert!(
        !lost.lock().unwrap().contains(&"task-request"),
        "it has its task"
    );
    let asks = task_of(&client, "asks").await;
    assert_eq!(result_of(&client, &asks).await, "Hello, Ada");
    let listed = request(&client, "tasks/list", json!({})).await;
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 3);

    // The upstream makes no task of this tool, and takes its time.
    let slow = tokio::time::timeout(Duration::from_secs(20), task_of(&client, "slow"));
    let slow = slow.await.unwrap();
    made.leave.notify_one();
    assert_eq!(result_of(&client, &slow).await, "slow");

    // What the upstream says of its task is said of this one, which ends both when it is cancelled.
    let waits = task_of(&client, "waits").await;
    loop {
        let seen = request(&client, "tasks/get", json!({ "taskId": waits })).await;
        assert_eq!(seen["status"], "working");
        if seen["statusMessage"] == "half way" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(made.at_work.load(Ordering::SeqCst), 1);
    let cancelled = request(&client, "tasks/cancel", json!({ "taskId": waits })).await;
    assert_eq!(cancelled["status"], "cancelled");
    comes_true(|| made.at_work.load(Ordering::SeqCst) == 0).await;
    client.close().await.unwrap();
    service.shutdown().await;
}

#[tokio::test]
async fn a_client_of_the_extension_has_tasks_before_an_upstream_that_is_asked_for_them() {
    let made = Made::default();
    let upstream = made.upstream(CORE);
    let service = Bridge::new(upstream)
        .with_task_options(often())
        .into_service();
    let ids = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ids);
    let client = waiting(&service, Revision::LATEST);
    let client = client.on_task(move |task| seen.lock().unwrap().push(task));
    names(&client).await;
    for (tool, expected) in [
        ("build", "build true"),
        ("only", "only true"),
        ("asks", "Hello, Ada"),
    ] {
        ids.lock().unwrap().clear();
        assert_eq!(text(&client, tool).await, expected);
        let id = ids.lock().unwrap().first().unwrap().id.clone();
        assert!(
            made.store.get(&id).await.unwrap().is_none(),
            "an id of the bridge"
        );
    }
    ids.lock().unwrap().clear();
    let waits = {
        let client = client.clone();
        tokio::spawn(async move { text(&client, "waits").await })
    };
    let is_half_way = || {
        let seen = ids.lock().unwrap();
        seen.iter()
            .any(|task| task.message.as_deref() == Some("half way"))
    };
    comes_true(is_half_way).await;
    assert_eq!(ids.lock().unwrap()[0].status, TaskStatus::Working);
    waits.abort();
    comes_true(|| made.at_work.load(Ordering::SeqCst) == 0).await;
    client.close().await.unwrap();
    service.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_only_runs_as_a_task_serves_clients_of_every_revision() {
    for upstream in [CORE, Revision::LATEST] {
        let made = Made::default();
        let bridge = Bridge::new(made.upstream(upstream));
        let service = bridge.with_task_options(often()).into_service();
        for revision in Revision::NEGOTIATED {
            let client = client(*revision).http(Http::in_process(service.clone()));
            let tools = names(&client).await;
            assert_eq!(
                tools,
                ["build", "only", "asks", "waits", "slow"],
                "{revision}, {upstream}"
            );
            let before = made.store.len();
            let text = text(&client, "only").await;
            assert_eq!(text, "only true", "{revision}, {upstream}");
            assert_eq!(made.store.len(), before + 1, "{revision}, {upstream}");
            client.close().await.unwrap();
        }
        service.shutdown().await;
    }
}

#[tokio::test]
async fn a_task_of_the_upstream_is_the_task_of_a_client_of_its_revision() {
    // With the extension the client knows the task by the id that the upstream gave it.
    let made = Made::default();
    let service = Bridge::new(made.upstream(Revision::LATEST)).into_service();
    let ids = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ids);
    let client = client(Revision::LATEST).http(Http::in_process(service.clone()));
    let client = client.on_task(move |task| seen.lock().unwrap().push(task.id));
    assert_eq!(text(&client, "build").await, "build true");
    let id = ids.lock().unwrap().first().cloned().unwrap();
    assert!(
        made.store.get(&id).await.unwrap().is_some(),
        "and the upstream has it"
    );
    client.close().await.unwrap();
    service.shutdown().await;

    // With the tasks of the revision it asks for one itself.
    let made = Made::default();
    let service = Bridge::new(made.upstream(CORE)).into_service();
    let client = asking(&service);
    let id = task_of(&client, "build").await;
    assert!(made.store.get(&id).await.unwrap().is_some());
    assert_eq!(result_of(&client, &id).await, "build true");
    client.close().await.unwrap();
    service.shutdown().await;
}

/// Handlers that make tasks themselves, in the form of the revision that they speak: `build` may become one, and `only` and
/// `quiet` run no other way; all but `quiet` ask who is there.
#[derive(Default)]
struct Own {
    /// How often each task was looked at, and the answer to its question.
    tasks: Mutex<HashMap<String, (u32, Option<String>)>>,
    last: AtomicU32,
    cancelled: AtomicUsize,
}

impl Own {
    /// A service of these handlers in a revision.
    fn serve(self: &Arc<Self>, app: Revision) -> http::Service {
        let tasks = json!({ "requests": { "tools": { "call": {} } }, "cancel": {} });
        let capabilities = match app {
            CORE => json!({ "tools": {}, "tasks": tasks }),
            _ => json!({ "tools": {}, "extensions": { EXTENSION: {} } }),
        };
        let info = Json::from(json!({ "name": "own", "version": "1" }));
        let profile = Profile::new(&info, &Json::from(capabilities));
        let server = Server::new(app, profile).unwrap().with_other_methods();
        http::Service::new(
            server.with_revisions(RevisionSet::none().with(app)),
            Shared(Arc::clone(self)),
        )
    }

    fn create(&self, tool: &str) -> Value {
        let id = format!("{tool}-{}", self.last.fetch_add(1, Ordering::SeqCst));
        self.tasks.lock().unwrap().insert(id.clone(), (0, None));
        self.state(&id, "working")
    }

    fn state(&self, id: &str, status: &str) -> Value {
        json!({ "taskId": id, "status": status, "createdAt": "2026-01-01T00:00:00Z", "ttl": null, "ttlMs": null,
            "lastUpdatedAt": "2026-01-01T00:00:00Z", "pollInterval": 5, "pollIntervalMs": 5 })
    }

    /// Takes note of a look at a task, and returns how many there were and the answer to its question.
    fn look(&self, id: &str) -> Result<(u32, Option<String>), ErrorObject> {
        let mut tasks = self.tasks.lock().unwrap();
        let task = tasks
            .get_mut(id)
            .ok_or_else(|| errors::invalid_params("no such task").error)?;
        task.0 += 1;
        Ok(task.clone())
    }

    /// What a client that asks for tasks asks.
    async fn core(&self, method: &str, params: &Value, peer: Peer) -> Result<Value, ErrorObject> {
        let id = params["taskId"].as_str().unwrap_or_default();
        match method {
            "tools/call" if params["task"].is_object() => {
                let task = self.create(params["name"].as_str().unwrap_or_default());
                Ok(json!({ "task": task }))
            }
            "tools/call" if params["name"] == "build" => Ok(said("build").parse().unwrap()),
            "tools/call" => Err(ErrorObject::new(-32601, "call it with `task`")),
            "tasks/get" => match self.look(id)?.0 {
                1 => Ok(self.state(id, "working")),
                _ => Ok(self.state(id, "input_required")),
            },
            "tasks/cancel" => {
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                Ok(self.state(id, "cancelled"))
            }
            "tasks/result" if id.starts_with("quiet") => Ok(said("quiet").parse().unwrap()),
            "tasks/result" => {
                let answer = peer.ask("elicitation/create", Some(&who())).await?;
                let answer: Value = answer.parse().unwrap();
                let name = answer["content"]["name"].as_str().unwrap_or_default();
                Ok(said(&format!("Hello, {name}")).parse().unwrap())
            }
            other => Err(errors::invalid_params(other).error),
        }
    }

    /// What a client of the extension asks.
    fn extension(
        &self,
        method: &str,
        params: &Value,
        declares: bool,
    ) -> Result<Value, ErrorObject> {
        let id = params["taskId"].as_str().unwrap_or_default();
        let mut result = match method {
            "tools/call" if declares => {
                let mut task = self.create(params["name"].as_str().unwrap_or_default());
                task["resultType"] = json!("task");
                return Ok(task);
            }
            "tools/call" if params["name"] == "build" => said("build").parse().unwrap(),
            "tools/call" => return Err(ErrorObject::new(-32021, "declare the extension")),
            "tasks/get" => match self.look(id)? {
                (1, _) => self.state(id, "working"),
                (_, None) if !id.starts_with("quiet") => {
                    let mut state = self.state(id, "input_required");
                    let who: Value = who().parse().unwrap();
                    state["inputRequests"] =
                        json!({ "who": { "method": "elicitation/create", "params": who } });
                    state
                }
                (_, name) => {
                    let text = name.map_or("quiet".to_owned(), |name| format!("Hello, {name}"));
                    let mut result: Value = said(&text).parse().unwrap();
                    result["resultType"] = json!("complete");
                    let mut state = self.state(id, "completed");
                    state["result"] = result;
                    state
                }
            },
            "tasks/update" => {
                let name = params["inputResponses"]["who"]["content"]["name"].as_str();
                if let Some(task) = self.tasks.lock().unwrap().get_mut(id) {
                    task.1 = name.map(str::to_owned);
                }
                json!({})
            }
            "tasks/cancel" => {
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                json!({})
            }
            other => return Err(errors::invalid_params(other).error),
        };
        result["resultType"] = json!("complete");
        Ok(result)
    }
}

/// The handlers, as several connections share them.
struct Shared(Arc<Own>);

impl Handler for Shared {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let params: Value = call.params.parse().unwrap();
        if call.method == "tools/list" {
            let tool = |name: &str, support: &str| {
                let mut tool = json!({ "name": name, "inputSchema": { "type": "object" } });
                if call.revision == CORE {
                    tool["execution"] = json!({ "taskSupport": support });
                }
                tool
            };
            let tools = [
                tool("build", "optional"),
                tool("only", "required"),
                tool("quiet", "required"),
            ];
            let mut result = json!({ "tools": tools });
            if call.revision != CORE {
                result["resultType"] = json!("complete");
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
            return Ok(Json::from(result));
        }
        let result = match call.revision {
            CORE => self.0.core(call.method, &params, peer).await,
            _ => {
                let capabilities = call.caller.capabilities.as_ref();
                let declares = capabilities.is_some_and(|it| it.text().contains(EXTENSION));
                self.0.extension(call.method, &params, declares)
            }
        };
        result.map(Json::from)
    }

    async fn custom_request(&self, call: CustomRequest, _: Peer) -> Result<Json, ErrorObject> {
        let params: Value = call.params.parse().unwrap();
        self.0
            .extension(&call.method, &params, true)
            .map(Json::from)
    }
}

#[tokio::test]
async fn handlers_with_tasks_of_their_own_serve_clients_of_every_revision_behind_a_bridge() {
    for app in [CORE, Revision::LATEST] {
        let own = Arc::new(Own::default());
        let bridge = Bridge::new(Upstream::service(own.serve(app)));
        let service = bridge.with_task_options(often()).into_service();
        for revision in Revision::NEGOTIATED {
            let client = waiting(&service, *revision);
            assert_eq!(
                names(&client).await,
                ["build", "only", "quiet"],
                "{revision}, {app}"
            );
            assert_eq!(text(&client, "quiet").await, "quiet", "{revision}, {app}");
            let can_ask = revision
                .methods()
                .iter()
                .any(|it| it.name == "elicitation/create");
            if can_ask {
                assert_eq!(
                    text(&client, "only").await,
                    "Hello, Ada",
                    "{revision}, {app}"
                );
            }
            client.close().await.unwrap();
        }
        // A client that looks at its tasks itself has them whichever form the handlers know.
        let client = asking(&service);
        let id = task_of(&client, "only").await;
        assert_eq!(result_of(&client, &id).await, "Hello, Ada", "{app}");
        assert_eq!(own.cancelled.load(Ordering::SeqCst), 0, "{app}");
        let given_up = task_of(&client, "only").await;
        request(&client, "tasks/cancel", json!({ "taskId": given_up })).await;
        comes_true(|| own.cancelled.load(Ordering::SeqCst) == 1).await;
        client.close().await.unwrap();
        service.shutdown().await;
    }
}
