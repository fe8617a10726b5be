//! What several replicas need around them: a Redis server that they share, and haproxy before them.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

/// The replicas in the configuration of haproxy, by the variables that name their addresses.
const REPLICAS: [&str; 3] = ["ONE", "TWO", "THREE"];

/// A Redis server, which ends with this.
pub(crate) struct Redis {
    child: Child,
    pub(crate) url: String,
}

impl Redis {
    /// Starts a server on a socket in a folder; `None` without one on the PATH.
    pub(crate) fn start(folder: &Path) -> Option<Self> {
        let socket = folder.join("redis.socket");
        // One of an earlier run.
        let _ = std::fs::remove_file(&socket);
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(&socket)
            .stdout(Stdio::null())
            .spawn();
        let child = child.ok()?;
        let url = format!("redis+unix://{}", socket.display());
        let redis = Self { child, url };
        let is_there = wait(|| socket.exists());
        is_there.then_some(redis)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// A load balancer that gives each request to the next replica, which ends with this.
pub(crate) struct Balancer {
    child: Child,
    /// Where it listens: `127.0.0.1:PORT`.
    pub(crate) address: String,
}

impl Balancer {
    /// Starts haproxy before three replicas, which are named by their URLs; `None` without it on the PATH.
    pub(crate) fn start(workspace: &Path, replicas: &[String]) -> anyhow::Result<Option<Self>> {
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
        let child = command
            .arg("-f")
            .arg(workspace.join("docs/replicas/haproxy.cfg"))
            .env("BIND", free.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(child) = child else {
            return Ok(None);
        };
        let balancer = Self {
            child,
            address: free.to_string(),
        };
        let is_there = wait(|| std::net::TcpStream::connect(free).is_ok());
        ensure!(is_there, "haproxy does not listen on {free}");
        Ok(Some(balancer))
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Waits until that is so, for five seconds at most.
fn wait(is_so: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_so()
    })
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
