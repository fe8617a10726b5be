//! One conversation: starts both ends, and collects what the client tells of its steps.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use super::Built;
use super::peers::{Installed, Mode, Role};
use crate::replicas::{Balancer, Redis};

/// How long a conversation may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The examples of the runtime.
pub(super) struct Examples {
    stdio_server: PathBuf,
    http_server: PathBuf,
    stdio_client: PathBuf,
    replica: PathBuf,
    /// What replicas share, and the workspace, if servers over HTTP are several replicas behind haproxy.
    shared: Option<(Redis, PathBuf)>,
    /// Where peers are installed.
    pub(super) folder: PathBuf,
}

impl Examples {
    /// Builds them.
    pub(super) fn build(workspace: &Path) -> anyhow::Result<Self> {
        let built = Built::of("--package mcp-revisions --examples", workspace)?;
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
    pub(super) fn share(&mut self, workspace: PathBuf) -> bool {
        let has_haproxy = Command::new("haproxy").arg("-v").output().is_ok();
        let redis = Redis::start(&self.folder).filter(|_| has_haproxy);
        self.shared = redis.map(|redis| (redis, workspace));
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
        Role::Client => {
            let mut command = Command::new(&peer.program);
            command.args(&peer.arguments).args([mode.name, channel]);
            command
        }
        Role::Server => {
            let mut command = Command::new(&examples.stdio_client);
            command.args(["--only", revision]);
            if channel == "stdio" {
                command.arg(&peer.program).args(&peer.arguments);
                return told(command);
            }
            let mut server = Command::new(&peer.program);
            let mut server = Server::start(server.args(&peer.arguments))?;
            command.arg(server.url()?);
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
    _servers: Vec<Server>,
    _balancer: Option<Balancer>,
    url: String,
}

impl Served {
    fn start(examples: &Examples, revision: &str) -> anyhow::Result<Self> {
        let Some((redis, workspace)) = &examples.shared else {
            let mut server = Command::new(&examples.http_server);
            let mut server = Server::start(server.args(["0", "--only", revision]))?;
            let url = server.url()?;
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
            Server::start(server.env("REDIS_URL", &redis.url))
        };
        let servers = (0..3).map(replica);
        let mut servers: Vec<Server> = servers.collect::<anyhow::Result<_>>()?;
        let urls = servers.iter_mut().map(Server::url);
        let urls: Vec<String> = urls.collect::<anyhow::Result<_>>()?;
        let balancer = Balancer::start(workspace, &urls)?.context("haproxy cannot be started")?;
        let url = format!("http://{}/mcp", balancer.address);
        Ok(Self {
            _servers: servers,
            _balancer: Some(balancer),
            url,
        })
    }
}

/// A server over HTTP, on a port that was free; ended with this.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let started = command.stdout(Stdio::piped()).spawn();
        started
            .map(Self)
            .context("the server over HTTP cannot be started")
    }

    fn url(&mut self) -> anyhow::Result<String> {
        let output = self.0.stdout.take().context("no standard output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let url = line.split_whitespace().next_back();
        url.map(str::to_owned)
            .context("the server over HTTP does not say where it listens")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The steps that a client tells of, one JSON line for each.
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
