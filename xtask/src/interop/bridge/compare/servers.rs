//! The servers: where each comes from, how it starts, and what the client does with it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

use crate::interop::peers::{copy, pypi};
use crate::process::{RunningProcess, npm_install, output};
use crate::workspace::root;

/// A server before it is installed.
pub(super) struct ServerSource {
    pub(super) name: &'static str,
    /// Its package, and the name of its registry.
    package: Package,
    /// How many seconds it sleeps before it reads its first message.
    late: u32,
}

enum Package {
    PyPi(&'static str),
    Npm(&'static str),
}

pub(super) const ALL: [ServerSource; 4] = [
    ServerSource {
        name: "FastMCP",
        package: Package::PyPi("fastmcp"),
        late: 0,
    },
    ServerSource {
        name: "FastMCP, 8 s late",
        package: Package::PyPi("fastmcp"),
        late: 8,
    },
    ServerSource {
        name: "mcp-server-git",
        package: Package::PyPi("mcp-server-git"),
        late: 0,
    },
    ServerSource {
        name: "server-filesystem",
        package: Package::Npm("@modelcontextprotocol/server-filesystem"),
        late: 0,
    },
];

/// A server that can be started.
pub(super) struct PopularServer {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) stdio: Vec<String>,
    /// The program and its arguments over HTTP, before its port; empty if it has none.
    http: Vec<String>,
    late: u32,
    pub(super) plan: Value,
}

impl PopularServer {
    pub(super) fn is_late(&self) -> bool {
        self.late > 0
    }

    /// Returns the ways to reach it: over stdio, over stdio behind a listener, and over HTTP.
    pub(super) fn channels(&self) -> Vec<&'static str> {
        let has_http = !self.http.is_empty();
        let all = ["stdio", "stdio behind a listener", "http"];
        all.into_iter().take(if has_http { 3 } else { 2 }).collect()
    }

    /// Starts it over HTTP.
    pub(super) fn listen(&self, port: u16) -> anyhow::Result<(RunningProcess, String)> {
        let (program, arguments) = self.http.split_first().context("no program")?;
        let mut command = Command::new(program);
        command.args(arguments).arg(port.to_string());
        RunningProcess::listening(&mut command, Some(port))
    }
}

/// Installs a server, and lays out what it serves.
pub(super) fn install(source: &ServerSource, folder: &Path) -> anyhow::Result<PopularServer> {
    eprintln!("{}: installing", source.name);
    output(Command::new("python3").arg("--version"))?;
    let compared = folder.join("compared");
    fs::create_dir_all(&compared)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (version, stdio, http, plan) = match source.package {
        Package::PyPi("fastmcp") => {
            let script = compared.join("fastmcp_server.py");
            copy(
                &root()?.join("tests/interop/bridge/fastmcp_server.py"),
                &script,
            )?;
            let (version, python, _) = pypi(&["fastmcp"], "fastmcp_server.py", &compared)?;
            let late = match source.late {
                0 => Vec::new(),
                late => vec!["env".to_owned(), format!("LATE={late}")],
            };
            let command = [text(&python), text(&script)];
            let stdio = [&late[..], &command, &["stdio".to_owned()]].concat();
            let http = match source.late {
                0 => [&command[..], &["http".to_owned()]].concat(),
                _ => Vec::new(),
            };
            (version, stdio, http, fastmcp())
        }
        Package::PyPi(package) => {
            let (version, python, _) = pypi(&[package], "", &compared)?;
            let repository = repository(&compared)?;
            let module = package.replace('-', "_");
            let words = ["-m", &module, "--repository"].map(str::to_owned);
            let stdio = [&[text(&python)][..], &words, &[text(&repository)]].concat();
            (version, stdio, Vec::new(), git(&text(&repository)))
        }
        Package::Npm(package) => {
            let (installed, version) = npm_install(package, &compared.join("filesystem"))?;
            let files = compared.join("files");
            fs::create_dir_all(&files)?;
            fs::write(files.join("hello.txt"), "Hello\n")?;
            let files = text(&fs::canonicalize(files)?);
            let script = text(&installed.join("dist/index.js"));
            let stdio = vec!["node".to_owned(), script, files.clone()];
            (version, stdio, Vec::new(), filesystem(&files))
        }
    };
    Ok(PopularServer {
        name: source.name,
        version,
        stdio,
        http,
        late: source.late,
        plan,
    })
}

/// Makes a repository of one commit, which is the same whenever it is made.
fn repository(folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    let repository = folder.join("repository");
    if repository.join(".git").exists() {
        return Ok(repository);
    }
    fs::create_dir_all(&repository)?;
    fs::write(repository.join("hello.txt"), "Hello\n")?;
    let commands: [&[&str]; 3] = [
        &["init", "--quiet", "--initial-branch", "main"],
        &["add", "hello.txt"],
        &["commit", "--quiet", "--message", "Say hello"],
    ];
    for arguments in commands {
        let mut git = Command::new("git");
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), "Ada")
                .env(format!("GIT_{role}_EMAIL"), "ada@example.com")
                .env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
        }
        output(git.args(arguments).current_dir(&repository))?;
    }
    Ok(repository)
}

fn call(step: &str, tool: &str, arguments: &Value) -> Value {
    json!([step, "tools/call", { "name": tool, "arguments": arguments }])
}

fn fastmcp() -> Value {
    let token = json!({ "name": "report", "arguments": {}, "_meta": { "progressToken": "p" } });
    json!([
        ["tools", "tools/list", {}],
        ["resources", "resources/list", {}],
        ["templates", "resources/templates/list", {}],
        ["prompts", "prompts/list", {}],
        call("tool", "add", &json!({ "a": 1, "b": 2.5 })),
        call("tool that fails", "fail", &json!({})),
        ["progress", "tools/call", token],
        call("elicitation", "ask", &json!({})),
        ["resource", "resources/read", { "uri": "data://hello" }],
        ["templated resource", "resources/read", { "uri": "data://ada/profile" }],
        ["unknown resource", "resources/read", { "uri": "data://none/x/y" }],
        ["prompt", "prompts/get", { "name": "greet", "arguments": { "name": "Ada" } }],
        ["unknown prompt", "prompts/get", { "name": "none" }],
        call("unknown tool", "none", &json!({})),
        call("wrong arguments", "add", &json!({ "a": "x" })),
        ["unknown method", "acme/none", {}],
    ])
}

fn git(repository: &str) -> Value {
    json!([
        ["tools", "tools/list", {}],
        call("status", "git_status", &json!({ "repo_path": repository })),
        call("log", "git_log", &json!({ "repo_path": repository })),
        call(
            "commit",
            "git_show",
            &json!({ "repo_path": repository, "revision": "HEAD" })
        ),
        call(
            "unknown repository",
            "git_status",
            &json!({ "repo_path": "/none" })
        ),
        call("wrong arguments", "git_status", &json!({})),
        call("unknown tool", "none", &json!({})),
        ["unknown method", "acme/none", {}],
    ])
}

fn filesystem(files: &str) -> Value {
    json!([
        ["tools", "tools/list", {}],
        call("folders", "list_allowed_directories", &json!({})),
        call("folder", "list_directory", &json!({ "path": files })),
        call(
            "file",
            "read_text_file",
            &json!({ "path": format!("{files}/hello.txt") })
        ),
        call(
            "file as media",
            "read_media_file",
            &json!({ "path": format!("{files}/hello.txt") })
        ),
        call(
            "file outside",
            "read_text_file",
            &json!({ "path": "/etc/hostname" })
        ),
        call("wrong arguments", "read_text_file", &json!({ "path": 1 })),
        call("unknown tool", "none", &json!({})),
        ["unknown method", "acme/none", {}],
    ])
}
