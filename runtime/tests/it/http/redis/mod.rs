//! Replicas that share a Redis server: what a client notices while they, and the server, come and go.

mod chaos;
mod large;
mod rolling;
mod sessions;
mod store;
mod tasks;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use mcp_revisions::backplane::Redis;
use mcp_revisions::http::{Body, Options, Service};
use mcp_revisions::service::router::Changes;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::http::replicas::{in_session, next, replica};
use crate::http::{Post, initialize, message};

/// A Redis server of the test's own, on a socket in a folder.
struct Server {
    child: Child,
    folder: PathBuf,
}

impl Server {
    /// Starts a server; `None` without one on the PATH.
    fn start(name: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("mcp-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let Ok(child) = Self::child(&folder) else {
            eprintln!("skipped: redis-server is not on the PATH (apt-get install redis-server)");
            return None;
        };
        let server = Self { child, folder };
        server.is_up();
        Some(server)
    }

    fn child(folder: &PathBuf) -> std::io::Result<Child> {
        Command::new("redis-server")
            .args(["--port", "0", "--unixsocket", "socket", "--save", ""])
            .args(["--appendonly", "yes", "--appendfsync", "always"])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .spawn()
    }

    fn is_up(&self) {
        let socket = self.folder.join("socket");
        for _ in 0..1_000 {
            if UnixStream::connect(&socket).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("redis-server does not listen");
    }

    fn url(&self) -> String {
        format!("redis+unix://{}", self.folder.join("socket").display())
    }

    /// How often a command has been run.
    fn commands(&self, name: &str) -> usize {
        let mut socket = UnixStream::connect(self.folder.join("socket")).unwrap();
        socket.write_all(b"INFO commandstats\r\nQUIT\r\n").unwrap();
        let mut statistics = String::new();
        socket.read_to_string(&mut statistics).unwrap();
        let calls = format!("cmdstat_{name}:calls=");
        let calls = statistics
            .lines()
            .find_map(|line| line.strip_prefix(&calls));
        calls.map_or(0, |calls| calls.split(',').next().unwrap().parse().unwrap())
    }

    /// Runs a command, written as at its prompt; what the server says.
    fn run(&self, command: &str) -> String {
        let mut socket = UnixStream::connect(self.folder.join("socket")).unwrap();
        let wait = Some(Duration::from_secs(20));
        socket.set_read_timeout(wait).unwrap();
        let command = format!("{command}\r\nQUIT\r\n");
        socket.write_all(command.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Removes the keys by which replicas know each other, as an eviction or a step of the clock does.
    fn forget_replicas(&self) {
        let script = "for _, key in ipairs(redis.call('keys', 'mcp:at:*')) do redis.call('del', key) end return 'gone'";
        let answer = self.run(&format!("EVAL \"{script}\" 0"));
        assert!(answer.contains("gone"), "{answer}");
    }

    /// The replica that runs a session.
    fn home(&self, session: &str) -> String {
        let answer = self.run(&format!("HGET mcp:session:{session} home"));
        answer.lines().nth(1).unwrap_or_default().to_owned()
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn restart(&mut self) {
        let _ = std::fs::remove_file(self.folder.join("socket"));
        self.child = Self::child(&self.folder).unwrap();
        self.is_up();
    }

    /// Starts a replica, as a process of its own would be.
    fn replica(&self) -> Replica {
        self.replica_of(|changes, options| replica(changes).into_http_service(options))
    }

    fn replica_of(&self, service: impl FnOnce(&Changes, Options) -> Service) -> Replica {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let url = self.url();
        let (service, changes) = runtime.block_on(async {
            let redis = Redis::connect(url.as_str()).await.unwrap();
            let changes = Changes::new().shared_by(redis.clone());
            let options = Options::new().with_backplane(redis);
            let options = options.with_health("/healthz").with_readiness("/readyz");
            (service(&changes, options), changes)
        });
        Replica {
            runtime: Some(runtime),
            service,
            changes,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

struct Replica {
    runtime: Option<Runtime>,
    service: Service,
    changes: Changes,
}

impl Replica {
    fn send(&self, request: Request<Full<bytes::Bytes>>) -> Response<Body> {
        let service = self.service.clone();
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(async {
            let answer = crate::support::spawn(service.oneshot(request));
            let answer = tokio::time::timeout(Duration::from_secs(20), answer).await;
            answer.expect("an answer in time").unwrap().unwrap()
        })
    }

    fn post(&self, post: Post) -> Response<Body> {
        self.send(post.request(Method::POST))
    }

    fn get(&self, session: &str, behind: Option<&str>) -> Response<Body> {
        let mut get = in_session(session, &json!(0)).with("accept", "text/event-stream");
        if let Some(behind) = behind {
            get = get.with("Last-Event-ID", behind);
        }
        self.send(get.request(Method::GET))
    }

    fn answer(&self, post: Post) -> Value {
        let response = self.post(post);
        self.block_on(message(response))
    }

    fn next(&self, body: &mut Body) -> (Option<String>, Value) {
        self.block_on(next(body))
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.as_ref().unwrap().block_on(work)
    }

    fn open(&self, version: &str) -> String {
        let opened = self.post(initialize(version));
        assert_eq!(opened.status(), StatusCode::OK);
        let id = opened.headers()["mcp-session-id"].to_str().unwrap();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let taken = self.post(in_session(id, &initialized));
        assert_eq!(taken.status(), StatusCode::ACCEPTED);
        id.to_owned()
    }

    /// Ends all that it does, from one moment to the next.
    fn kill(mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Looks until it is so, for as long as anything may take.
fn until(is_so: impl Fn() -> bool, otherwise: &str) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{otherwise}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
