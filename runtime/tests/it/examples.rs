//! The examples that newcomers copy do what their first lines say.
//!
//! `cargo test` builds them; a run of these tests alone (`--test it`) needs `cargo build -p mcp-revisions --examples` before.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::service::Client;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Revision, RevisionSet};
use serde_json::{Value, json};

/// The program of an example, or `None` where examples are not built.
fn example(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let program = test.parent()?.parent()?.join("examples").join(name);
    let is_built = program.is_file();
    if !is_built {
        eprintln!("skipped: {} is not built", program.display());
    }
    is_built.then_some(program)
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_interactive_client_answers_its_server() {
    let Some(interactive) = example("interactive") else {
        return;
    };
    let text = output(&mut Command::new(interactive));
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "the server asks: What is your name?",
        "greet: Hello, Ada.",
        "summarize: Three lines.",
        "folders: file:///home/ada/project",
        "1 of Some(3.0)",
        "2 of Some(3.0)",
        "3 of Some(3.0)",
        "count: done",
    ];
    assert_eq!(lines[..expected.len()], expected, "{text}");
    assert!(lines[expected.len()].contains("100ms"), "{text}");
    assert_eq!(lines[expected.len() + 1..], ["sleep: cancelled"], "{text}");
}

#[test]
fn the_client_of_the_readme_calls_its_server() {
    let (Some(client), Some(server)) = (example("client"), example("server")) else {
        return;
    };
    let text = output(Command::new(client).arg(server));
    assert!(text.starts_with("weather\n"), "{text}");
    assert!(text.contains(r#"{"celsius":21.5}"#), "{text}");
}

/// A client that is open and silent does not keep a server that was told to stop.
#[test]
#[cfg(unix)]
fn a_server_that_is_told_to_stop_ends_though_its_input_is_open() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let Some((text, status)) = stopped(&[ping], &["-INT"]) else {
        return;
    };
    assert_eq!((text.as_str(), status.success()), ("stopped\n", true));
}

/// Nor does a call at work: a second signal ends the server at once.
#[test]
#[cfg(unix)]
fn a_second_signal_ends_a_server_with_a_call_at_work() {
    let wait =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}"#;
    let opening = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let signals = ["-INT", "-TERM"];
    let Some((text, status)) = stopped(&[opening, wait], &signals) else {
        return;
    };
    assert_eq!((text.as_str(), status.code()), ("", Some(143)));
}

/// Sends lines to the example `stop`, and signals once the first one is answered. Returns what it says on standard error, and
/// how it ends, or `None` where examples are not built.
#[cfg(unix)]
fn stopped(lines: &[&str], signals: &[&str]) -> Option<(String, std::process::ExitStatus)> {
    let stop = example("stop")?;
    let mut server = Command::new(stop);
    let server = server.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    // It listens to signals by the time that it answers.
    let mut answers = BufReader::new(server.stdout.take().unwrap());
    answers.read_line(&mut String::new()).unwrap();
    let id = server.id().to_string();
    for signal in signals {
        output(Command::new("kill").args([*signal, id.as_str()]));
        // A signal that is repeated at once is the same one.
        std::thread::sleep(Duration::from_millis(500));
    }
    let (sender, ended) = std::sync::mpsc::channel();
    let mut farewell = server.stderr.take().unwrap();
    std::thread::spawn(move || {
        let mut text = String::new();
        farewell.read_to_string(&mut text).unwrap();
        sender.send((text, server.wait().unwrap())).unwrap();
    });
    let ended = ended.recv_timeout(Duration::from_secs(20)).unwrap();
    drop(input);
    Some(ended)
}

#[test]
fn a_client_follows_a_task_and_waits_where_there_is_none() {
    let Some(tasks) = example("tasks") else {
        return;
    };
    let text = output(&mut Command::new(tasks));
    assert!(text.contains("2026-07-28: the task is working"), "{text}");
    for revision in ["2026-07-28", "2025-06-18"] {
        assert!(
            text.contains(&format!("{revision}: built for linux")),
            "{text}"
        );
    }
}

/// A program that ends with the test, however that ends.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program, or says that it is skipped where it is not installed.
fn started(command: &mut Command) -> Option<Program> {
    let program = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
    match program {
        Ok(child) => Some(Program(child)),
        Err(_) => {
            let name = command.get_program().display();
            eprintln!("skipped: {name} is not on the PATH (apt-get install {name})");
            None
        }
    }
}

/// Starts a server, and returns the address that it says it listens on.
fn listening(command: &mut Command) -> (Program, String) {
    let mut server = started(command.stdout(Stdio::piped())).unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(server.0.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("listening on http://");
    (server, address.trim_end_matches("/mcp").to_owned())
}

/// Sends a request of 2026-07-28 with more headers, and returns the status and the answer.
fn posted(address: &str, method: &str, name: &str, headers: &str) -> (u16, Value) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": name, "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
        MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, serde_json::from_str(body).unwrap_or_default())
}

#[test]
fn a_server_in_axum_serves_those_who_have_a_token_and_knows_who_they_are() {
    let Some(server) = example("axum_auth") else {
        return;
    };
    let (_server, address) = listening(Command::new(server).arg("0"));
    assert_eq!(posted(&address, "tools/call", "whoami", "").0, 401);
    let alan = "Authorization: Bearer token-of-alan\r\n";
    assert_eq!(posted(&address, "tools/call", "sign", alan).0, 403);
    for (token, text) in [("ada", "You are ada."), ("alan", "You are alan.")] {
        let token = format!("Authorization: Bearer token-of-{token}\r\n");
        let (status, answer) = posted(&address, "tools/call", "whoami", &token);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["result"]["content"][0]["text"], text, "{answer}");
    }
}

/// A Redis server, three replicas that share it, and haproxy before them, as the guide has them.
#[cfg(unix)]
struct Balanced {
    _redis: Program,
    _haproxy: Program,
    /// Each with its address.
    replicas: Vec<(Program, String)>,
    address: String,
    folder: PathBuf,
}

#[cfg(unix)]
impl Drop for Balanced {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Starts all of it; `None` where a program is missing.
#[cfg(unix)]
fn balanced() -> Option<Balanced> {
    let replica = example("replica")?;
    let folder = std::env::temp_dir().join(format!("mcp-{}-replicas", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut redis = Command::new("redis-server");
    redis.args(["--port", "0", "--save", "", "--unixsocket", "socket"]);
    let redis = started(redis.current_dir(&folder).stdout(Stdio::null()))?;
    let socket = folder.join("socket");
    for _ in 0..1_000 {
        if std::os::unix::net::UnixStream::connect(&socket).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let replicas = (0..3).map(|_| {
        let mut replica = Command::new(&replica);
        replica.env("LISTEN", "127.0.0.1:0");
        replica.env("MCP_KEY", "07".repeat(32));
        replica.env("REDIS_URL", format!("redis+unix://{}", socket.display()));
        listening(&mut replica)
    });
    let replicas: Vec<_> = replicas.collect();
    // The port is free again once this is dropped.
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/replicas/haproxy.cfg");
    let mut haproxy = Command::new("haproxy");
    haproxy.arg("-f").arg(guide).env("BIND", &address);
    for (variable, (_, address)) in ["ONE", "TWO", "THREE"].iter().zip(&replicas) {
        haproxy.env(variable, address);
    }
    let haproxy = started(haproxy.stdout(Stdio::null()))?;
    for _ in 0..1_000 {
        if TcpStream::connect(&address).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Some(Balanced {
        _redis: redis,
        _haproxy: haproxy,
        replicas,
        address,
        folder,
    })
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_behind_haproxy_are_one_server_also_when_one_of_them_is_killed() {
    let Some(mut balanced) = balanced() else {
        return;
    };
    let url = format!("http://{}/mcp", balanced.address);
    let mut clients = Vec::new();
    for revision in Revision::NEGOTIATED {
        let client = Client::builder(&mcp_revisions::program!())
            .with_revisions(RevisionSet::none().with(*revision))
            .http(Http::new(&url).unwrap());
        clients.push((revision, client));
    }
    let add = || Json::from(json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }));
    // Each of them has its turn.
    for _ in 0..4 {
        for (revision, client) in &clients {
            let answer = client.request("tools/call", Some(add())).await;
            let answer: Value = answer.unwrap().parse().unwrap();
            assert_eq!(answer["content"][0]["text"], "3", "{revision}");
        }
    }
    drop(balanced.replicas.remove(0));
    for (revision, client) in &clients {
        let mut tries = 0;
        // Its sessions go on elsewhere once the balancer and Redis know that it is gone.
        while let Err(error) = client.request("tools/call", Some(add())).await {
            tries += 1;
            assert!(tries < 200, "{revision}: {error}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    // The balancer names the address of the client; each replica takes its word.
    let of = |address: &str| format!("X-Forwarded-For: {address}\r\n");
    let method = "example/address";
    let (_, answer) = posted(&balanced.replicas[0].1, method, "", &of("192.0.2.7"));
    assert_eq!(answer["result"]["address"], "192.0.2.7", "{answer}");
    let (_, answer) = posted(&balanced.address, method, "", &of("192.0.2.7"));
    assert_eq!(answer["result"]["address"], "127.0.0.1", "{answer}");
}

/// A person types, and two servers are programs, one of which also runs behind a URL.
#[test]
fn an_agent_calls_the_tools_of_three_servers() {
    let (Some(agent), Some(notes), Some(server)) =
        (example("agent"), example("notes"), example("server"))
    else {
        return;
    };
    let (_remote, address) = listening(Command::new(&notes).arg("0"));
    let mut agent = Command::new(agent);
    agent
        .args([&server, &notes])
        .arg(format!("http://{address}/mcp"));
    let agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = agent.spawn().unwrap();
    let typed = [
        r#"weather {"name": "Paris"}"#,
        r#"write {"name": "a", "text": "one"}"#,
        r#"write {"name": "b", "text": "two"}"#,
        "find",
        r#"summarize {"name": "a"}"#,
        r#"remove {"name": "a"}"#,
        "export",
        r#"remove {"name": "c"}"#,
        "fly",
    ];
    let mut input = agent.stdin.take().unwrap();
    input
        .write_all(format!("{}\n", typed.join("\n")).as_bytes())
        .unwrap();
    drop(input);
    let output = agent.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = [
        "weather speaks 2026-07-28 and has 1 tools",
        "notes speaks 2026-07-28 and has 6 tools",
        r#"weather: {"celsius":21.5}"#,
        "write: a is written",
        "write: b is written",
        r#"find: {"names":["a","b"]}"#,
        "summarize: In short: a note.",
        "asked: Remove a?",
        "remove: a is removed",
        "export: b",
        "remove failed: no resource `notes://c` (-32602)",
        "no server has fly",
    ];
    for line in expected {
        assert!(text.lines().any(|it| it == line), "{line} is not in {text}");
    }
    assert!(text.contains("changed: Resources"), "{text}");
}
