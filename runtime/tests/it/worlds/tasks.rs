//! Worlds with tasks: clients of each kind before handlers that make tasks, over lines and over HTTP. Several calls are
//! open at a time; each follows a seeded script: it is waited for, given up, looked at, cancelled, left alone, or expires.
//!
//! In each of them: every call has one answer, which is its own; what was given up is at work no more; and what expired is
//! gone from the store. `WORLDS_TASKS=50` runs that many worlds of each kind.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::client_transport::{
    Application, Driver, Handle, RequestReply, Transport, drive,
};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::client::{
    Answer, Channel, Client, Event, Options, OutgoingRequest, Profile,
};
use mcp_revisions::sansio::server::{
    IncomingRequest, MemoryTasks, Server, TaskOptions, TaskSupport,
};
use mcp_revisions::serve::Peer;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Lifecycle, Limits, Revision, RevisionSet, http, stdio};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const CORE: Revision = Revision::V2025_11_25;
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// How many calls a world has, and how many worlds a cell.
const CALLS: u64 = 12;
const WORLDS: u64 = 3;
/// Tools: `plain` is no task, `only` is nothing else, `waits` takes as long as it is let, `asks` asks who is there.
const TOOLS: [&str; 5] = ["plain", "quick", "only", "waits", "asks"];
/// How long a world may take that goes on as it should.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a client does about tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// It knows none, and waits for results.
    Plain,
    /// It waits for results, and its connection looks at tasks.
    Waits,
    /// It has tasks, and looks at them itself.
    Looks,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    kind: Kind,
    /// What is spoken, and what the handlers speak.
    spoken: Revision,
    app: Revision,
    channel: Channel,
    seed: u64,
    /// Whether tasks are kept so briefly that some expire before their end.
    is_brief: bool,
}

impl Cell {
    fn is_core(self) -> bool {
        self.spoken == CORE
    }

    /// Whether a call becomes a task; `prefers` says whether it asks for one where it can.
    fn makes_task(self, tool: &str, prefers: bool) -> bool {
        let has_tasks = self.kind != Kind::Plain
            && (self.is_core() || self.spoken.lifecycle() == Lifecycle::PerRequest);
        has_tasks && tool != "plain" && (!self.is_core() || prefers || tool == "only")
    }
}

/// What the handlers share with their world.
#[derive(Clone, Default)]
struct Made {
    store: Arc<MemoryTasks>,
    at_work: Arc<AtomicUsize>,
    /// What lets each call of `waits` go on.
    gates: Arc<Mutex<HashMap<u64, Arc<Notify>>>>,
}

/// Counts while it is there.
struct AtWork(Arc<AtomicUsize>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Made {
    fn gate(&self, call: u64) -> Arc<Notify> {
        Arc::clone(self.gates.lock().unwrap().entry(call).or_default())
    }

    async fn answer(
        self,
        app: Revision,
        call: IncomingRequest,
        peer: Peer,
    ) -> Result<Json, ErrorObject> {
        let params: Value = call.params.parse().unwrap();
        let mut result = if call.method == "tools/list" {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": TOOLS.map(tool)})
        } else {
            let tool = params["name"].as_str().unwrap();
            let number = params["arguments"]["n"].as_u64().unwrap();
            if tool != "plain" {
                peer.start_task().await?;
            }
            let mut text = format!("{tool} {number}");
            if tool == "waits" {
                self.at_work.fetch_add(1, Ordering::SeqCst);
                let _at_work = AtWork(Arc::clone(&self.at_work));
                self.gate(number).notified().await;
            }
            if tool == "asks" {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let who = Json::from(json!({"message": "who?", "requestedSchema": schema}));
                let answer = peer.ask("elicitation/create", Some(&who)).await?;
                let answer: Value = answer.parse().unwrap();
                text += &format!(
                    " {}",
                    answer["content"]["name"].as_str().unwrap_or_default()
                );
            }
            json!({"content": [{"type": "text", "text": text}]})
        };
        if app.lifecycle() == Lifecycle::PerRequest {
            result["resultType"] = json!("complete");
            if call.method == "tools/list" {
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
        }
        Ok(Json::from(result))
    }
}

fn accept() -> Value {
    json!({"action": "accept", "content": {"name": "Ada"}})
}

/// The application of a client, which says who it is.
struct Ada;

impl Application for Ada {
    type Call = ();

    fn event(&mut self, driver: &mut Driver<()>, event: Event) {
        if let Event::Request(call) = event {
            let answer = async { Ok(Json::from(accept())) };
            driver.answer_with(call.token, call.about, answer);
        }
    }
}

/// A client and its connection to the server.
#[derive(Clone)]
struct World {
    cell: Cell,
    made: Made,
    handle: Handle<()>,
    /// How many calls of `waits` are left alone.
    left_alone: Arc<AtomicUsize>,
}

impl World {
    fn new(cell: Cell) -> Self {
        let made = Made::default();
        let info = Json::from(json!({"name": "w", "version": "1"}));
        let profile = Profile::new(&info, &Json::from(json!({"tools": {}})));
        let ttl = Duration::from_millis(if cell.is_brief { 120 } else { 60_000 });
        let options = TaskOptions::new()
            .with_tool("only", TaskSupport::Required)
            .with_store(Arc::clone(&made.store) as _)
            .with_poll_interval(Duration::from_millis(5))
            .with_ttl(ttl)
            .with_max_ttl(ttl);
        let options = ["quick", "waits", "asks"]
            .into_iter()
            .fold(options, |it, tool| {
                it.with_tool(tool, TaskSupport::Optional)
            });
        let revisions = RevisionSet::none().with(cell.spoken);
        let server = Server::new(cell.app, profile).unwrap();
        let server = server.with_revisions(revisions).with_tasks(options);
        let handlers = made.clone();
        let handler = move |call, peer| handlers.clone().answer(cell.app, call, peer);
        let limit = Limits::default().max_message_bytes;
        let transport = match cell.channel {
            Channel::Http => {
                let service = http::Service::new(server, handler);
                Transport::http(Http::in_process(service), limit)
            }
            Channel::Stdio => {
                let (near, far) = tokio::io::duplex(1 << 16);
                let (input, output) = tokio::io::split(far);
                crate::support::spawn(stdio::serve_on(server, handler, input, output));
                let (input, output) = tokio::io::split(near);
                Transport::lines(input, output, limit)
            }
        };
        let mut capabilities = json!({"elicitation": {}});
        if cell.kind == Kind::Looks && !cell.is_core() {
            capabilities["extensions"] = json!({EXTENSION: {}});
        }
        let profile = Profile::new(&info, &Json::from(capabilities));
        let options = Options::new(cell.channel, profile).with_revisions(revisions);
        let client = match cell.kind {
            Kind::Plain => Client::new(Revision::LATEST, options),
            Kind::Waits => Client::new(Revision::LATEST, options.with_tasks()),
            // It writes and reads what is on the wire.
            Kind::Looks => Client::new(cell.spoken, options.with_other_methods()),
        };
        Self {
            cell,
            made,
            handle: drive(client, transport, Ada),
            left_alone: Arc::default(),
        }
    }

    /// Asks something, and waits for its answer.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, String> {
        let ask = OutgoingRequest::new(method, Some(Json::from(params))).with_task_in_result();
        let mut replies = self.handle.ask(ask, ()).await;
        loop {
            match replies.next().await.expect("an answer") {
                RequestReply::Answered(answered) => return value(&answered.answer),
                RequestReply::Refused(refused) => panic!("{refused} in {:?}", self.cell),
                RequestReply::Notification(..) | RequestReply::Task(_) => {}
            }
        }
    }

    /// A call follows its script.
    async fn call(self, number: u64) {
        let mut random = fastrand::Rng::with_seed(self.cell.seed * CALLS + number);
        let tool = *random.choice(&TOOLS).unwrap();
        match self.cell.kind {
            Kind::Looks if self.cell.makes_task(tool, true) => {
                self.looked_at(tool, number, &mut random).await;
            }
            _ => self.waited_for(tool, number, &mut random).await,
        }
    }

    /// A call whose result is waited for, or which is given up.
    async fn waited_for(&self, tool: &str, number: u64, random: &mut fastrand::Rng) {
        let (prefers, gives_up) = (random.bool(), tool == "waits" && random.bool());
        let pause = Duration::from_millis(random.u64(0..40));
        let params = json!({"name": tool, "arguments": {"n": number}});
        let mut ask = OutgoingRequest::new("tools/call", Some(Json::from(params)));
        if prefers {
            ask = ask.with_task_preferred();
        }
        let is_task = self.cell.makes_task(tool, prefers);
        if tool == "waits" && !gives_up {
            let gate = self.made.gate(number);
            crate::support::spawn(async move {
                sleep(pause).await;
                gate.notify_one();
            });
        }
        let mut replies = self.handle.ask(ask, ()).await;
        let mut has_task = false;
        loop {
            // A task that its client never heard of can only expire.
            let next = match gives_up && (has_task || !is_task) {
                true => timeout(pause, replies.next()).await,
                false => Ok(replies.next().await),
            };
            match next {
                Err(_) => return,
                Ok(Some(RequestReply::Task(_))) => has_task = true,
                Ok(Some(RequestReply::Notification(..))) => {}
                Ok(Some(RequestReply::Answered(answered))) => {
                    assert!(is_task || !has_task, "{tool} in {:?}", self.cell);
                    return self.judge(tool, number, value(&answered.answer));
                }
                Ok(other) => panic!("{other:?} in {:?}", self.cell),
            }
        }
    }

    /// A call whose task is looked at, cancelled, or left alone.
    async fn looked_at(&self, tool: &str, number: u64, random: &mut fastrand::Rng) {
        let pause = Duration::from_millis(random.u64(0..40));
        let (cancels, leaves) = (random.u8(0..4) == 0, random.u8(0..4) == 0);
        let mut params = json!({"name": tool, "arguments": {"n": number}});
        if self.cell.is_core() {
            params["task"] = json!({"ttl": 60_000});
        }
        let created = self.ask("tools/call", params).await.unwrap();
        let task = if self.cell.is_core() {
            &created["task"]
        } else {
            &created
        };
        let id = task["taskId"]
            .as_str()
            .unwrap_or_else(|| panic!("{created} in {:?}", self.cell));
        let unknown = self
            .ask("tasks/get", json!({"taskId": format!("{id}x")}))
            .await;
        assert!(unknown.unwrap_err().contains("-32602"));
        sleep(pause).await;
        if cancels {
            let cancelled = self.ask("tasks/cancel", json!({"taskId": id})).await;
            let seen = self.ask("tasks/get", json!({"taskId": id})).await;
            // It may have ended before, and have expired since.
            if let (Ok(_), Ok(seen), "waits" | "asks") = (cancelled, &seen, tool) {
                assert_eq!(seen["status"], "cancelled", "{tool} in {:?}", self.cell);
            }
            return assert!(
                seen.is_ok() || self.cell.is_brief,
                "{seen:?} in {:?}",
                self.cell
            );
        }
        if leaves {
            self.left_alone
                .fetch_add(usize::from(tool == "waits"), Ordering::SeqCst);
            return;
        }
        self.made.gate(number).notify_one();
        let ended = self.followed(id).await;
        self.judge(tool, number, ended);
    }

    /// Looks at a task until it has ended; its result.
    async fn followed(&self, id: &str) -> Result<Value, String> {
        loop {
            let seen = self.ask("tasks/get", json!({"taskId": id})).await?;
            let is_core = self.cell.is_core();
            let (own, other) = if is_core {
                ("ttl", "ttlMs")
            } else {
                ("ttlMs", "ttl")
            };
            assert!(seen[own].is_u64() && seen.get(other).is_none(), "{seen}");
            match seen["status"].as_str().unwrap() {
                "working" => sleep(Duration::from_millis(5)).await,
                // Questions come while it is waited for.
                _ if is_core => return self.ask("tasks/result", json!({"taskId": id})).await,
                "input_required" => {
                    let asked = seen["inputRequests"].as_object().unwrap().keys();
                    let answers: Value = asked.map(|key| (key.clone(), accept())).collect();
                    let update = json!({"taskId": id, "inputResponses": answers});
                    self.ask("tasks/update", update).await?;
                }
                "completed" => return Ok(seen["result"].clone()),
                status => return Err(format!("{status}: {}", seen["error"])),
            }
        }
    }

    /// What a call must have come to.
    fn judge(&self, tool: &str, number: u64, answer: Result<Value, String>) {
        let who = if tool == "asks" { " Ada" } else { "" };
        match answer {
            Ok(result) => {
                assert_eq!(
                    result["content"][0]["text"],
                    format!("{tool} {number}{who}"),
                    "{:?}",
                    self.cell
                );
                assert!(
                    tool != "only" || self.cell.makes_task(tool, true),
                    "{:?}",
                    self.cell
                );
            }
            Err(why) if tool == "only" && !self.cell.makes_task(tool, true) => {
                assert!(
                    why.contains("-32601") || why.contains("-32021"),
                    "{why} in {:?}",
                    self.cell
                );
            }
            Err(why) => assert!(self.cell.is_brief, "{tool}: {why} in {:?}", self.cell),
        }
    }

    async fn run(self) {
        self.ask("tools/list", json!({})).await.unwrap();
        let mut calls: JoinSet<()> = (0..CALLS).map(|number| self.clone().call(number)).collect();
        while let Some(ended) = calls.join_next().await {
            ended.unwrap();
        }
        // Only those are at work that nobody gave up.
        let alone = self.left_alone.load(Ordering::SeqCst);
        let at_work = || self.made.at_work.load(Ordering::SeqCst);
        comes_true(|| at_work() == alone || (self.cell.is_brief && at_work() == 0)).await;
        if self.cell.is_brief {
            comes_true(|| at_work() == 0 && self.made.store.is_empty()).await;
            assert_eq!(self.made.store.bytes(), 0, "{:?}", self.cell);
        }
        self.handle.close().await.unwrap();
        if self.cell.is_core() {
            // What is at work ends with the session.
            comes_true(|| at_work() == 0).await;
        }
    }
}

fn value(answer: &Answer) -> Result<Value, String> {
    answer.read::<Json>().map(|json| json.parse().unwrap())
}

async fn comes_true(what: impl Fn() -> bool) {
    while !what() {
        sleep(Duration::from_millis(2)).await;
    }
}

/// Runs worlds of every kind of client before handlers of a revision.
async fn every_client(app: Revision, channel: Channel) {
    let older = Revision::V2025_06_18;
    let kinds = [
        (Kind::Plain, CORE),
        (Kind::Plain, Revision::LATEST),
        (Kind::Waits, older),
        (Kind::Waits, CORE),
        (Kind::Waits, Revision::LATEST),
        (Kind::Looks, CORE),
        (Kind::Looks, Revision::LATEST),
    ];
    let mut worlds = JoinSet::new();
    for seed in 0..super::number("WORLDS_TASKS", WORLDS as usize) as u64 {
        for (kind, spoken) in kinds {
            let cell = Cell {
                kind,
                spoken,
                app,
                channel,
                seed,
                is_brief: seed % WORLDS == 0,
            };
            worlds.spawn(async move {
                let ran = timeout(PATIENCE, World::new(cell).run()).await;
                assert!(ran.is_ok(), "it goes on and on in {cell:?}");
            });
        }
    }
    while let Some(ended) = worlds.join_next().await {
        ended.unwrap();
    }
}

#[tokio::test]
async fn handlers_of_2025_11_25_over_lines() {
    every_client(CORE, Channel::Stdio).await;
}

#[tokio::test]
async fn handlers_of_2025_11_25_over_http() {
    every_client(CORE, Channel::Http).await;
}

#[tokio::test]
async fn handlers_of_the_latest_revision_over_lines() {
    every_client(Revision::LATEST, Channel::Stdio).await;
}

#[tokio::test]
async fn handlers_of_the_latest_revision_over_http() {
    every_client(Revision::LATEST, Channel::Http).await;
}
