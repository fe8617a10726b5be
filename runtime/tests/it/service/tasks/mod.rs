//! Tools whose calls become tasks, for clients of every revision, with and without tasks.

mod clients;
mod homes;
mod owners;
mod requests;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_revisions::latest::{self as mcp};
use mcp_revisions::sansio::server::{MemoryTasks, TaskOptions};
use mcp_revisions::service::{Client, Error, McpServer, RequestContext, Router};
use mcp_revisions::{Latest, Revision, args};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::http::{PER_REQUEST, Post};
use crate::service::peer::Peer;
use crate::support::Ada;
use crate::support::served;

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
    fn server(&self, change: impl Fn(TaskOptions) -> TaskOptions) -> McpServer<Latest> {
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

    async fn peer_of(&self, server: McpServer<Latest>, revision: Revision) -> Peer {
        Peer::connect(revision, served(server)).await
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
    let looked = Instant::now();
    while looked.elapsed() < Duration::from_secs(20) {
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
    panic!("the task is not {status} in time")
}

async fn comes_true(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A request of the latest revision from a client with the extension.
fn per_request(method: &str, mut params: Value, name: &str) -> Post {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": PER_REQUEST,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    Post::of(&message)
        .with("MCP-Protocol-Version", PER_REQUEST)
        .with("Mcp-Method", method)
        .with("Mcp-Name", name)
}

impl World {
    fn client(&self, revision: Revision) -> Client {
        let server = self.server(|it| it);
        let (input, output) = tokio::io::split(served(server));
        Client::builder(&mcp::Implementation::new("client", args::Version("1")))
            .with_revisions([revision].into_iter().collect())
            .with_tasks()
            .with_handlers(Ada)
            .lines(input, output)
    }
}
