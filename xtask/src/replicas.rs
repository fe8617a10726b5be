//! What several replicas need around them: a Redis server that they share, and haproxy before them.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::process::RunningProcess;
use crate::workspace::root;

/// The replicas in the configuration of haproxy, by the variables that name their addresses.
const REPLICAS: [&str; 3] = ["ONE", "TWO", "THREE"];

/// A Redis server, which ends with this.
pub(crate) struct RedisServer {
    _server: RunningProcess,
    pub(crate) url: String,
}

impl RedisServer {
    /// Starts a server on a socket in a folder; `None` without one on the PATH.
    pub(crate) fn start(folder: &Path) -> Option<Self> {
        let socket = folder.join("redis.socket");
        // One of an earlier run.
        let _ = std::fs::remove_file(&socket);
        let mut server = Command::new("redis-server");
        server.args(["--port", "0", "--save", "", "--unixsocket"]);
        let redis = Self {
            _server: RunningProcess::start(server.arg(&socket).stdout(Stdio::null())).ok()?,
            url: format!("redis+unix://{}", socket.display()),
        };
        let is_there = wait(|| socket.exists());
        is_there.then_some(redis)
    }
}

/// A load balancer that gives each request to the next replica, which ends with this.
pub(crate) struct Balancer {
    _server: RunningProcess,
    /// The address at which clients reach the replicas.
    pub(crate) url: String,
}

/// Why nothing was tried with replicas behind haproxy.
pub(crate) const SKIPPED: &str = "skipped: haproxy and redis-server have to be on the PATH (apt-get install haproxy redis-server)\n";

impl Balancer {
    /// Starts haproxy before three replicas, which are named by their URLs; `None` without it on the PATH.
    pub(crate) fn start(replicas: &[String]) -> anyhow::Result<Option<Self>> {
        let number = REPLICAS.len();
        ensure!(
            replicas.len() == number,
            "docs/replicas/haproxy.cfg has {number} replicas: ask for as many"
        );
        // The port is free again once this is dropped.
        let free = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let mut command = Command::new("haproxy");
        for (variable, url) in REPLICAS.iter().zip(replicas) {
            let address = url.trim_start_matches("http://").split('/').next();
            command.env(variable, address.context("a replica without an address")?);
        }
        command
            .arg("-f")
            .arg(root()?.join("docs/replicas/haproxy.cfg"))
            .env("BIND", free.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Ok(server) = RunningProcess::start(&mut command) else {
            return Ok(None);
        };
        let balancer = Self {
            _server: server,
            url: format!("http://{free}/mcp"),
        };
        let is_there = wait(|| std::net::TcpStream::connect(free).is_ok());
        ensure!(is_there, "haproxy does not listen on {free}");
        Ok(Some(balancer))
    }
}

/// Waits until that is so, for five seconds at most.
fn wait(is_so: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_so()
    })
}
