//! The servers, and what each is asked: a tool, two questions in mid-call, a resource that changes, a prompt.

use anyhow::Context;
use serde_json::{Value, json};

use super::Programs;
use super::clients::has_http;
use crate::interop::peers::{self, InteropPeer, copy};
use crate::process::npm_install;
use crate::workspace::root;

/// A server, and what a client does with it.
pub(super) struct ComparedServer {
    pub(super) name: String,
    /// The program and its arguments, over stdio and over HTTP on any port.
    pub(super) stdio: Vec<String>,
    pub(super) http: Vec<String>,
    /// Its port over HTTP, if it does not find one by itself.
    pub(super) port: Option<u16>,
    /// The first revision of a client that it can ask by its form, if there is one.
    elicits: Option<&'static str>,
    plan: Value,
    /// What the answer of each step holds.
    pub(super) expected: Vec<(&'static str, &'static str)>,
}

impl ComparedServer {
    /// Returns whether a client of that revision can be asked by its form.
    pub(super) fn elicits(&self, revision: &str) -> bool {
        self.elicits.is_some_and(|first| first <= revision)
    }

    /// Returns the steps of a client of that revision.
    pub(super) fn plan(&self, revision: &str) -> String {
        let mut plan = self.plan.clone();
        if !self.elicits(revision) {
            plan["elicitation"] = Value::Null;
        }
        plan.to_string()
    }
}

/// Returns the reference server from npm, our own in the latest and in the oldest revision, and those of old SDKs.
pub(super) fn all(programs: &Programs, revisions: &[&str]) -> anyhow::Result<Vec<ComparedServer>> {
    let oldest = revisions.first().context("no revision is released")?;
    let latest = revisions.last().context("no revision is released")?;
    let mut all = vec![
        everything(programs)?,
        ours(programs, latest, Some("2025-06-18")),
        ours(programs, oldest, None),
    ];
    for peer in peers::old() {
        match old(&peer, programs) {
            Ok(server) => all.push(server),
            Err(why) => eprintln!("a server of {} is skipped: {why:#}", peer.name),
        }
    }
    Ok(all)
}

/// Returns a server of an old SDK, which speaks what its client does.
fn old(peer: &InteropPeer, programs: &Programs) -> anyhow::Result<ComparedServer> {
    eprintln!("{}: installing", peer.name);
    let installed = peers::install(peer, &programs.folder)?;
    let script = installed.arguments.first().context("no script")?;
    let has_http = has_http(script);
    let is_python = script.extension().is_some_and(|it| it == "py");
    let server = if is_python {
        "python_1_server.py"
    } else {
        "typescript-1-server.mjs"
    };
    let to = script.with_file_name(server);
    copy(&root()?.join("tests/interop/bridge").join(server), &to)?;
    let port = free_port()?;
    let command = |more: &[&str]| {
        let program = [&installed.program, &to].map(|it| it.to_string_lossy().into_owned());
        let words = more.iter().map(|&word| word.to_owned());
        program.into_iter().chain(words).collect()
    };
    // The first one that can be asked by a form, and which of them can.
    let elicits = peer
        .modes
        .iter()
        .any(|mode| mode.reaches("2025-06-18", "http"));
    let mut server = ComparedServer {
        name: format!("{} {}", peer.name, installed.version),
        stdio: command(&["stdio"]),
        http: if has_http {
            command(&["http", &port.to_string()])
        } else {
            Vec::new()
        },
        port: Some(port),
        ..ours(programs, "", elicits.then_some("2025-06-18"))
    };
    // Its framework has no subscriptions.
    if is_python {
        server.plan["touch"] = Value::Null;
        server.expected.retain(|(step, _)| *step != "subscription");
    }
    Ok(server)
}

fn everything(programs: &Programs) -> anyhow::Result<ComparedServer> {
    let package = "@modelcontextprotocol/server-everything";
    eprintln!("{package}: installing");
    let (folder, version) = npm_install(package, &programs.folder.join("everything"))?;
    let script = folder.join("dist/index.js").to_string_lossy().into_owned();
    let command = |channel: &str| vec!["node".to_owned(), script.clone(), channel.to_owned()];
    Ok(ComparedServer {
        name: format!("server-everything {version}"),
        stdio: command("stdio"),
        http: command("streamableHttp"),
        port: Some(free_port()?),
        // The form has a choice of several values, which older revisions do not.
        elicits: Some("2025-11-25"),
        plan: json!({
            "tool": ["echo", { "message": "hi" }],
            "sampling": ["trigger-sampling-request", { "prompt": "Which day?", "maxTokens": 10 }],
            "elicitation": ["trigger-elicitation-request", {}],
            "resource": "demo://resource/dynamic/text/1",
            "touch": ["toggle-subscriber-updates", {}],
            "prompt": "simple-prompt",
        }),
        expected: vec![
            ("tool", "Echo: hi"),
            ("sampling", "Monday"),
            ("elicitation", "User provided"),
            ("resource", "Resource 1: "),
            ("subscription", "demo://resource/dynamic/text/1"),
            ("prompt", "This is a simple prompt without arguments."),
        ],
    })
}

fn ours(programs: &Programs, revision: &str, elicits: Option<&'static str>) -> ComparedServer {
    let command = |more: &[&str]| {
        let peer = programs.peer.to_string_lossy().into_owned();
        let mut all = vec![peer, "--only".to_owned(), revision.to_owned()];
        all.extend(more.iter().map(|&word| word.to_owned()));
        all
    };
    ComparedServer {
        name: format!("our own, {revision}"),
        stdio: command(&[]),
        http: command(&["--http", "0"]),
        port: None,
        elicits,
        plan: json!({
            "tool": ["add", { "a": 1, "b": 2.5 }],
            "sampling": ["sample", {}],
            "elicitation": ["ask", {}],
            "resource": "file:///hello",
            "touch": ["touch", {}],
            "prompt": "greet",
        }),
        expected: vec![
            ("tool", "3.5"),
            ("sampling", "Monday"),
            ("elicitation", "Monday"),
            ("resource", "Hello"),
            ("subscription", "file:///hello"),
            ("prompt", "Greet"),
        ],
    }
}

/// Returns a port that is free at the moment.
pub(super) fn free_port() -> anyhow::Result<u16> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}
