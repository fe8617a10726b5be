//! One session: starts the client, the bridge and the server, and collects the output of the client.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use super::Programs;
use super::servers::Server;
use crate::interop::peers::Installed;
use crate::interop::run::told;

/// How long a server or the bridge may take until it listens.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a client tells of its steps, in one revision.
pub(super) fn one(
    client: &Installed,
    mode: &str,
    server: &Server,
    programs: &Programs,
    channel: &str,
    revision: &str,
) -> anyhow::Result<Vec<Value>> {
    let mut command = Command::new(&client.program);
    command
        .args(&client.arguments)
        .arg(server.plan(revision))
        .args([mode, channel]);
    let options = [
        "bridge",
        "--loss-log",
        "off",
        "--client-revisions",
        revision,
    ];
    if channel == "stdio" {
        command
            .arg(&programs.bridge)
            .args(options)
            .args(["--log", "off", "--"])
            .args(&server.stdio);
        return told(command);
    }
    let (program, arguments) = server.http.split_first().context("no program")?;
    let mut listening = Command::new(program);
    listening.args(arguments);
    if let Some(port) = server.port {
        listening.env("PORT", port.to_string());
    }
    let (_server, url) = Listening::start(listening, server.port)?;
    let mut bridge = Command::new(&programs.bridge);
    bridge
        .args(options)
        .args(["--listen", "http://127.0.0.1:0/mcp", &url]);
    let (_bridge, url) = Listening::start(bridge, None)?;
    command.arg(url);
    told(command)
}

/// A program that listens over HTTP; ended with this.
struct Listening(Child);

impl Listening {
    /// Starts it, and waits until it says where it listens, or can be reached at its port.
    fn start(mut command: Command, port: Option<u16>) -> anyhow::Result<(Self, String)> {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut started = Self(child.context("cannot be started")?);
        let (told, lines) = std::sync::mpsc::channel();
        let outputs: [Option<Box<dyn std::io::Read + Send>>; 2] = [
            started.0.stdout.take().map(|it| Box::new(it) as _),
            started.0.stderr.take().map(|it| Box::new(it) as _),
        ];
        for output in outputs.into_iter().flatten() {
            let told = told.clone();
            // Read to the end, so that nobody waits for room.
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let _ = told.send(line);
                }
            });
        }
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(port) = port {
                if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Ok((started, format!("http://127.0.0.1:{port}/mcp")));
                }
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
            let Ok(line) = lines.recv_timeout(PATIENCE) else {
                break;
            };
            if let Some(url) = line.split_whitespace().find(|it| it.starts_with("http://")) {
                return Ok((started, url.to_owned()));
            }
        }
        bail!("no server listens")
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
