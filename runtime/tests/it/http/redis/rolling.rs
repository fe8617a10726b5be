//! Replicas behind haproxy that are restarted one after the other under load, and Redis that pauses: what clients notice.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mcp_revisions::backplane::Redis;
use mcp_revisions::http::{self, Options};
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::service::client::Http;
use mcp_revisions::service::{Client, Error, RequestContext, Router};
use mcp_revisions::{Latest, Revision, RevisionSet};
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::{Server, until};
use crate::support::Ada;

/// Longer than haproxy takes to notice that a replica is not ready.
const LAME_DUCK: Duration = Duration::from_secs(4);
/// Longer than any call takes.
const GRACE: Duration = Duration::from_secs(30);
const CLIENTS: usize = 20;

#[derive(Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// Tools by all of whose ways a deployment can cost a call.
fn router() -> Router {
    let long = |cx: RequestContext<Latest>| async move {
        for step in 1..=10 {
            cx.progress(step, 10).await;
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        "long"
    };
    let asks = |cx: RequestContext<Latest>| async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let Name { name } = cx.elicit("Who?").await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok::<_, Error>(format!("asks {name}"))
    };
    let task = || async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        "task"
    };
    let session = |cx: RequestContext<Latest>| async move {
        let session = cx.peer().and_then(|peer| peer.session_id());
        session.unwrap_or("none").to_owned()
    };
    Router::new()
        .tool("add", "Adds.", || async { "add" })
        .tool("long", "Tells its progress.", long)
        .tool("asks", "Asks.", asks)
        .tool("task", "Runs as a task.", task)
        .as_task()
        .tool("session", "Names its session.", session)
}

/// A replica on a port, which ends as a process that gets SIGTERM.
struct Process {
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl Process {
    fn start(url: String, address: SocketAddr) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let serving = std::thread::spawn(move || {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let redis = Redis::connect(url.as_str()).await.unwrap();
                let options = Options::new()
                    .with_any_host()
                    .with_connections_per_address(1_000)
                    .with_readiness("/readyz")
                    .with_lame_duck(LAME_DUCK)
                    .with_backplane(redis);
                let server = router().build("rolling", "1.0").unwrap();
                let service = server.with_request_state_key([7; 32]);
                let service = service.into_http_service(options);
                let listener = http::bind(address).await.unwrap();
                ready.send(()).unwrap();
                let stop = async { drop(stopped.await) };
                http::serve_until(listener, service, stop, GRACE).await;
            });
            runtime.shutdown_background();
        });
        is_ready.recv().unwrap();
        Self {
            stop: Some(stop),
            serving: Some(serving),
        }
    }

    /// Ends the replica. Returns how long it took.
    fn end(mut self) -> Duration {
        let begun = Instant::now();
        drop(self.stop.take());
        self.serving.take().unwrap().join().unwrap();
        begun.elapsed()
    }
}

/// A port that is free.
fn free() -> SocketAddr {
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    free.local_addr().unwrap()
}

/// A balancer before three replicas, with the configuration of the guide.
struct Balancer(Child);

impl Balancer {
    /// Starts haproxy; `None` without it on the PATH.
    fn haproxy(address: SocketAddr, replicas: &[SocketAddr], _: &Path) -> Option<Self> {
        let mut haproxy = Command::new("haproxy");
        haproxy.arg("-f").arg(guide("haproxy.cfg"));
        haproxy.env("BIND", address.to_string());
        for (name, replica) in ["ONE", "TWO", "THREE"].iter().zip(replicas) {
            haproxy.env(name, replica.to_string());
        }
        Self::start(&mut haproxy, address)
    }

    /// Starts nginx in a folder; `None` without it on the PATH.
    fn nginx(address: SocketAddr, replicas: &[SocketAddr], folder: &Path) -> Option<Self> {
        let mut config = std::fs::read_to_string(guide("nginx.conf")).unwrap();
        let ours = std::iter::once(&address).chain(replicas);
        for (port, ours) in (8080..).zip(ours) {
            config = config.replace(&format!("127.0.0.1:{port}"), &ours.to_string());
        }
        std::fs::write(folder.join("nginx.conf"), config).unwrap();
        let mut nginx = Command::new("nginx");
        nginx.arg("-p").arg(folder).args(["-e", "stderr"]);
        nginx.arg("-c").arg(folder.join("nginx.conf"));
        Self::start(&mut nginx, address)
    }

    fn start(program: &mut Command, address: SocketAddr) -> Option<Self> {
        program.stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = program.spawn() else {
            let name = program.get_program().display();
            eprintln!("skipped: {name} is not on the PATH (apt-get install {name})");
            return None;
        };
        let balancer = Self(child);
        let is_up = || TcpStream::connect(address).is_ok();
        until(is_up, "the balancer does not listen");
        Some(balancer)
    }
}

fn guide(name: &str) -> PathBuf {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/replicas");
    guide.join(name)
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // nginx ends its workers, which a killed one leaves behind.
        let process = self.0.id().to_string();
        let _ = Command::new("kill").arg(process).status();
        let _ = self.0.wait();
    }
}

/// What the clients have come to.
#[derive(Default)]
struct Tally {
    is_over: AtomicBool,
    calls: AtomicUsize,
    failed: Mutex<Vec<String>>,
}

/// Calls a tool once, without another try; its text.
async fn call(client: &Client, name: &str) -> Result<String, Error> {
    let params = mcp::CallToolRequestParams::new(name);
    let result = client.call_tool(params).await?;
    match &result.content[0] {
        mcp::ContentBlock::Text(text) => Ok(text.text.clone()),
        other => panic!("{other:?}"),
    }
}

/// Calls the tools one after the other until it is over.
async fn work(number: usize, url: String, tally: Arc<Tally>) {
    let revisions = [
        Revision::V2026_07_28,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
        Revision::V2025_06_18,
    ];
    let revision = revisions[number % revisions.len()];
    let http = Http::new(&url).unwrap().with_max_attempts(1);
    let client = Client::builder(&mcp_revisions::program!())
        .with_handlers(Ada)
        .with_revisions(RevisionSet::none().with(revision))
        .http(http)
        .within(Duration::from_secs(60));
    let session = call(&client, "session").await.unwrap();
    let tools = ["add", "long", "asks", "add", "task"];
    let told = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&told);
    let client = client.on_progress(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    for turn in number.. {
        if tally.is_over.load(Ordering::Acquire) {
            break;
        }
        let tool = tools[turn % tools.len()];
        let expected = if tool == "asks" { "asks Ada" } else { tool };
        told.store(0, Ordering::SeqCst);
        let begun = Instant::now();
        let came = call(&client, tool).await;
        let progress = told.load(Ordering::SeqCst);
        let is_whole = tool != "long" || progress == 10;
        tally.calls.fetch_add(1, Ordering::SeqCst);
        if came.as_deref() != Ok(expected) || !is_whole {
            let took = begun.elapsed();
            let failed = format!("{revision} {tool} after {took:?}: {came:?}, {progress} steps");
            tally.failed.lock().unwrap().push(failed);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The session of the beginning is the session of the end.
    let now = call(&client, "session").await;
    if now.as_deref() != Ok(&session) {
        let failed = format!("{revision}: session {session} is {now:?}");
        tally.failed.lock().unwrap().push(failed);
    }
}

/// Three replicas behind haproxy, and clients that call them.
struct Load {
    server: Server,
    addresses: Vec<SocketAddr>,
    replicas: Vec<Process>,
    _balancer: Balancer,
    runtime: Runtime,
    clients: Vec<tokio::task::JoinHandle<()>>,
    tally: Arc<Tally>,
}

impl Load {
    fn start(
        name: &str,
        balancer: fn(SocketAddr, &[SocketAddr], &Path) -> Option<Balancer>,
    ) -> Option<Self> {
        let server = Server::start(name)?;
        let addresses = [free(), free(), free()].to_vec();
        let balanced = free();
        let replicas = addresses.iter();
        let replicas = replicas.map(|address| Process::start(server.url(), *address));
        let replicas = replicas.collect();
        let balancer = balancer(balanced, &addresses, &server.folder)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let tally = Arc::<Tally>::default();
        let url = format!("http://{balanced}/mcp");
        let clients = (0..CLIENTS).map(|number| {
            let work = work(number, url.clone(), Arc::clone(&tally));
            runtime.spawn(work)
        });
        let clients = clients.collect();
        let load = Self {
            server,
            addresses,
            replicas,
            _balancer: balancer,
            runtime,
            clients,
            tally,
        };
        load.more_calls();
        Some(load)
    }

    /// Waits until each client has called some more.
    fn more_calls(&self) {
        let calls = || self.tally.calls.load(Ordering::SeqCst);
        let before = calls();
        until(|| calls() >= before + 3 * CLIENTS, "no call is answered");
    }

    /// Sends Redis a signal.
    fn signal(&self, signal: &str) {
        let process = self.server.child.id().to_string();
        let sent = Command::new("kill").args([signal, &process]).status();
        assert!(sent.unwrap().success());
    }

    /// Ends the clients. Returns how many calls they made, and those that failed.
    fn end(self) -> (usize, Vec<String>) {
        self.tally.is_over.store(true, Ordering::Release);
        for client in self.clients {
            self.runtime.block_on(client).unwrap();
        }
        self.runtime.shutdown_background();
        for replica in &mut self.replicas.into_iter() {
            drop(replica.stop);
        }
        let failed = self.tally.failed.lock().unwrap().clone();
        (self.tally.calls.load(Ordering::SeqCst), failed)
    }
}

#[test]
fn three_replicas_that_are_restarted_behind_haproxy_cost_no_client_a_call() {
    if let Some(load) = Load::start("haproxy", Balancer::haproxy) {
        restart(load);
    }
}

#[test]
fn three_replicas_that_are_restarted_behind_nginx_cost_no_client_a_call() {
    if let Some(load) = Load::start("nginx", Balancer::nginx) {
        restart(load);
    }
}

/// Restarts one replica after the other.
fn restart(mut load: Load) {
    for place in 0..3 {
        let took = load.replicas.remove(place).end();
        assert!(took < LAME_DUCK + GRACE, "it is not drained: {took:?}");
        let replica = Process::start(load.server.url(), load.addresses[place]);
        load.replicas.insert(place, replica);
        // The balancer has it back before the next one ends.
        std::thread::sleep(Duration::from_secs(2));
        load.more_calls();
    }
    let (calls, failed) = load.end();
    eprintln!("{calls} calls, {} failed", failed.len());
    assert!(
        failed.is_empty(),
        "{} of {calls}: {failed:#?}",
        failed.len()
    );
}

#[test]
fn a_redis_that_pauses_for_three_seconds_costs_no_client_a_call() {
    let Some(load) = Load::start("pause", Balancer::haproxy) else {
        return;
    };
    for _ in 0..2 {
        load.signal("-STOP");
        std::thread::sleep(Duration::from_secs(3));
        load.signal("-CONT");
        load.more_calls();
    }
    let (calls, failed) = load.end();
    eprintln!("{calls} calls, {} failed", failed.len());
    assert!(
        failed.is_empty(),
        "{} of {calls}: {failed:#?}",
        failed.len()
    );
}
