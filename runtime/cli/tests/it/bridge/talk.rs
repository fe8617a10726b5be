//! A client of one revision, driven by hand, and the bridge behind it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::mcp_rev;
use mcp_revisions::RevisionSet;
use mcp_revisions::sansio::client::{
    Answer, Channel, Client, Connection, Event, Options, OutgoingRequest, Output, Profile, Token,
};
use mcp_revisions_core::Revision;
use mcp_wire::Json;
use serde_json::{Value, json};

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The example `peer`, which `cargo test --test it` does not build by itself.
pub(crate) fn peer() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-rev"));
    let peer = program
        .with_file_name("examples")
        .join(format!("peer{}", std::env::consts::EXE_SUFFIX));
    let written = |file: &Path| file.metadata().and_then(|file| file.modified()).ok();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/peer.rs");
    assert!(
        written(&peer) >= written(&source),
        "{} is missing or old: run `cargo build -p mcp-rev --example peer`",
        peer.display()
    );
    peer
}

pub(crate) fn bridge(options: &[&str], server: Revision) -> Child {
    bridge_to(options, server, &[])
}

/// A bridge to a server that is started with these options of its own.
pub(crate) fn bridge_to(options: &[&str], server: Revision, own: &[&str]) -> Child {
    mcp_rev("bridge")
        .args(options)
        .arg("--")
        .arg(peer())
        .args(["--only", server.id()])
        .args(own)
        .spawn()
        .unwrap()
}

/// A client over stdio of one revision, driven by hand.
pub(crate) struct Talk {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    pub(crate) client: Connection<Client>,
    pub(crate) start: Instant,
    pub(crate) progress: usize,
    /// What it was told, by method; but for progress.
    pub(crate) told: Vec<(String, Value)>,
    /// Each text, and whether the client sent it.
    pub(crate) said: Vec<(bool, String)>,
}

impl Talk {
    pub(crate) fn new(revision: Revision, mut child: Child) -> Self {
        let info = Json::from(json!({ "name": "client", "version": "1" }));
        let capabilities = Json::from(
            json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": { "listChanged": true }, "tasks": { "list": {} } }),
        );
        let options = Options::new(Channel::Stdio, Profile::new(&info, &capabilities))
            .with_revisions(RevisionSet::none().with(revision))
            .with_other_methods();
        let output = child.stdout.take().unwrap();
        let (told, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if told.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            client: Connection::new(Client::new(Revision::V2025_11_25, options)),
            start: Instant::now(),
            progress: 0,
            told: Vec::new(),
            said: Vec::new(),
        }
    }

    pub(crate) fn ask(&mut self, ask: OutgoingRequest) -> Token {
        self.client.ask(ask, self.start.elapsed()).unwrap()
    }

    pub(crate) fn tool(&mut self, name: &str) -> Token {
        let params = json!({ "name": name, "arguments": { "a": 1, "b": 2.5 } });
        self.ask(OutgoingRequest::new("tools/call", Some(Json::from(params))).with_progress())
    }

    /// Returns what a call of a tool is answered with.
    pub(crate) fn call(&mut self, tool: &str) -> Value {
        let token = self.tool(tool);
        value(&self.answers(&[token])[&token])
    }

    /// Calls the tool `add`, which answers.
    pub(crate) fn adds(&mut self) {
        let answer = self.call("add");
        assert_eq!(answer["content"][0]["text"], "3.5", "{answer}");
    }

    /// Sends what waits.
    pub(crate) fn sends(&mut self) {
        while let Some(output) = self.client.poll() {
            self.does(output, &mut BTreeMap::new());
        }
    }

    /// Goes on until all of these are answered.
    pub(crate) fn answers(&mut self, asked: &[Token]) -> BTreeMap<Token, Answer> {
        let mut answers = BTreeMap::new();
        self.until(&mut answers, |_, answers| {
            asked.iter().all(|token| answers.contains_key(token))
        });
        answers
    }

    /// Goes on until it was told by this method.
    pub(crate) fn hears(&mut self, method: &str) -> Value {
        let is_it = |(one, _): &(String, Value)| one == method;
        self.until(&mut BTreeMap::new(), |talk, _| talk.told.iter().any(is_it));
        let place = self.told.iter().position(is_it).unwrap();
        self.told.remove(place).1
    }

    /// Goes on until that is so.
    pub(crate) fn until(
        &mut self,
        answers: &mut BTreeMap<Token, Answer>,
        is_done: impl Fn(&Self, &BTreeMap<Token, Answer>) -> bool,
    ) {
        loop {
            while let Some(output) = self.client.poll() {
                self.does(output, answers);
            }
            if is_done(self, answers) {
                return;
            }
            assert!(self.start.elapsed() < PATIENCE, "no answer");
            let wake = self
                .client
                .wake_at()
                .map(|at| at.saturating_sub(self.start.elapsed()));
            let now = match self.lines.recv_timeout(wake.unwrap_or(PATIENCE)) {
                Ok(line) => {
                    self.said.push((false, line.clone()));
                    self.client
                        .receive(None, line.as_bytes(), self.start.elapsed());
                    continue;
                }
                Err(RecvTimeoutError::Timeout) if wake.is_some() => self.start.elapsed(),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the bridge keeps silent after {:#?}", self.said)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.client.closed(self.start.elapsed());
                    continue;
                }
            };
            self.client.wake(now);
        }
    }

    pub(crate) fn does(
        &mut self,
        output: Output<mcp_revisions::sansio::client::Post>,
        answers: &mut BTreeMap<Token, Answer>,
    ) {
        match output {
            Output::Send(post) => {
                self.said.push((true, post.text.clone()));
                // A bridge that has ended takes nothing.
                let _ = self
                    .input
                    .as_mut()
                    .unwrap()
                    .write_all(format!("{}\n", post.text).as_bytes());
            }
            Output::Event(Event::Answered(answered)) => {
                answers.insert(answered.token, answered.answer);
            }
            Output::Event(Event::Request(call)) => {
                let day = match call.method {
                    "elicitation/create" => {
                        json!({ "action": "accept", "content": { "day": "Monday" } })
                    }
                    "sampling/createMessage" => {
                        json!({ "role": "assistant", "model": "none", "content": { "type": "text", "text": "Monday" } })
                    }
                    other => panic!("{other}"),
                };
                let _ = self
                    .client
                    .answer(call.token, Ok(Json::from(day)), self.start.elapsed());
            }
            Output::Event(Event::Notification(notice)) => match notice.method {
                "notifications/progress" => self.progress += 1,
                method => {
                    let params = notice.params.parse().unwrap();
                    self.told.push((method.to_owned(), params));
                }
            },
            Output::Event(Event::CustomNotification(notice)) => {
                (self.told).push((notice.method, notice.params.parse().unwrap()));
            }
            Output::Event(Event::CustomRequest(call)) => {
                let params = call.params.clone();
                let _ = (self.client).answer(call.token, Ok(params), self.start.elapsed());
            }
            Output::Restart => panic!("the bridge ended when it was probed"),
            _ => {}
        }
    }

    /// Hangs up; the code that the bridge ends with, and what it said.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        self.waits()
    }

    /// Waits until the bridge ends; the code that it ends with, and what it said.
    pub(crate) fn waits(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the bridge does not end");
            thread::sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        (status.code(), said)
    }
}

pub(crate) fn value(answer: &Answer) -> Value {
    match answer {
        Answer::Result(result) => result.parse().unwrap(),
        other => json!({ "failed": format!("{other:?}") }),
    }
}

/// A pipe that servers hold open until they end: what they write to standard error may go through the bridge.
#[cfg(unix)]
pub(crate) struct Held {
    pub(crate) path: String,
    /// Keeps the pipe open while no server has it.
    own: std::fs::File,
    is_over: Receiver<()>,
}

#[cfg(unix)]
impl Held {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("held-{name}"));
        let _ = std::fs::remove_file(&path);
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let (over, is_over) = channel();
        let read = path.clone();
        thread::spawn(move || {
            let mut held = std::fs::File::open(read).unwrap();
            let _ = held.read_to_end(&mut Vec::new());
            over.send(())
        });
        Self {
            own: std::fs::File::options().write(true).open(&path).unwrap(),
            path: path.to_str().unwrap().to_owned(),
            is_over,
        }
    }

    /// Waits until the bridge and its servers have ended.
    pub(crate) fn leaves_nobody(self, child: &mut Child) {
        child.wait().unwrap();
        drop(self.own);
        let is_over = self.is_over.recv_timeout(PATIENCE);
        assert!(is_over.is_ok(), "somebody outlives the bridge");
    }
}
