//! One conversation: starts both ends, and collects what the client tells of its steps.

use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use super::peers::{Installed, InteropRole, Mode};
use crate::process::{Built, RunningProcess};
use crate::replicas::{Balancer, RedisServer};

/// The time that a conversation may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The examples of the runtime.
pub(super) struct Examples {
    stdio_server: PathBuf,
    http_server: PathBuf,
    stdio_client: PathBuf,
    replica: PathBuf,
    /// The store that replicas share, if servers over HTTP are several replicas behind haproxy.
    shared: Option<RedisServer>,
    /// The folder in which peers are installed.
    pub(super) folder: PathBuf,
}

impl Examples {
    pub(super) fn build() -> anyhow::Result<Self> {
        let built = Built::of("--package mcp-revisions --examples")?;
        Ok(Self {
            http_server: built.program("http_server")?,
            stdio_client: built.program("stdio_client")?,
            replica: built.program("replica")?,
            shared: None,
            folder: built.folder("stdio_server")?,
            stdio_server: built.program("stdio_server")?,
        })
    }

    /// Has replicas behind haproxy serve clients over HTTP. Returns whether it, and Redis, are there.
    pub(super) fn share(&mut self) -> bool {
        let has_haproxy = Command::new("haproxy").arg("-v").output().is_ok();
        self.shared = RedisServer::start(&self.folder).filter(|_| has_haproxy);
        self.shared.is_some()
    }
}

/// What a client did, and what came of it.
pub(super) type Steps = Vec<Value>;

/// One conversation in one revision.
pub(super) fn one(
    peer: &Installed,
    examples: &Examples,
    mode: &Mode,
    channel: &str,
    revision: &str,
) -> anyhow::Result<Steps> {
    let mut command = match peer.role {
        InteropRole::Client => {
            let mut command = Command::new(&peer.program);
            command.args(&peer.arguments).args([mode.name, channel]);
            command
        }
        InteropRole::Server => {
            let mut command = Command::new(&examples.stdio_client);
            command.args(["--only", revision]);
            if channel == "stdio" {
                command.arg(&peer.program).args(&peer.arguments);
                return told(command);
            }
            let mut server = Command::new(&peer.program);
            let (_server, url) = RunningProcess::listening(server.args(&peer.arguments), None)?;
            command.arg(url);
            return told(command);
        }
    };
    if channel == "stdio" {
        command
            .arg(&examples.stdio_server)
            .args(["--only", revision]);
        return told(command);
    }
    let served = Served::start(examples, revision)?;
    let url = &served.url;
    command.arg(match channel {
        "sse" => url.replace("/mcp", "/sse"),
        _ => url.clone(),
    });
    told(command)
}

/// The example server over HTTP, or several replicas of it, and where clients reach them.
struct Served {
    _servers: Vec<RunningProcess>,
    _balancer: Option<Balancer>,
    url: String,
}

impl Served {
    fn start(examples: &Examples, revision: &str) -> anyhow::Result<Self> {
        let Some(redis) = &examples.shared else {
            let mut server = Command::new(&examples.http_server);
            server.args(["0", "--only", revision]);
            let (server, url) = RunningProcess::listening(&mut server, None)?;
            return Ok(Self {
                _servers: vec![server],
                _balancer: None,
                url,
            });
        };
        let replica = |_| {
            let mut server = Command::new(&examples.replica);
            server.args(["--only", revision]);
            server
                .env("LISTEN", "127.0.0.1:0")
                .env("MCP_KEY", "07".repeat(32));
            RunningProcess::listening(server.env("REDIS_URL", &redis.url), None)
        };
        let servers = (0..3).map(replica).collect::<anyhow::Result<Vec<_>>>()?;
        let (servers, urls): (Vec<RunningProcess>, Vec<String>) = servers.into_iter().unzip();
        let balancer = Balancer::start(&urls)?.context("haproxy cannot be started")?;
        Ok(Self {
            _servers: servers,
            url: balancer.url.clone(),
            _balancer: Some(balancer),
        })
    }
}

/// Returns the steps that a client tells of, one JSON line for each.
pub(super) fn told(mut command: Command) -> anyhow::Result<Steps> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut client = command.spawn().context("the client cannot be started")?;
    let output = client.stdout.take().context("no standard output")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = BufReader::new(output).read_to_string(&mut text);
        read.map(|_| text)
    });
    let deadline = Instant::now() + PATIENCE;
    while client.try_wait()?.is_none() {
        if Instant::now() > deadline {
            let _ = client.kill();
            let _ = client.wait();
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let Ok(text) = reader.join() else {
        bail!("the output of the client was not read")
    };
    Ok(text?
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}
