//! Several bridges that share their sessions through a Redis server.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use crate::bridge::http::{LISTENING, Program, listening_with, port_of, post, post_with, result};
use crate::bridge::talk::{PATIENCE, peer};

/// A Redis server of the test's own, with its files in a folder.
struct Redis {
    _server: Program,
    folder: PathBuf,
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Redis {
    /// Starts a server with these arguments, on a socket as well; `None` without one on the PATH.
    fn start(folder: PathBuf, arguments: &[&str]) -> Option<Self> {
        std::fs::create_dir_all(&folder).unwrap();
        let server = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket", "socket"])
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(server) = server else {
            eprintln!("skipped: redis-server is not on the PATH (apt-get install redis-server)");
            return None;
        };
        let server = Self {
            _server: Program::of(server),
            folder,
        };
        let deadline = Instant::now() + PATIENCE;
        while std::os::unix::net::UnixStream::connect(server.socket()).is_err() {
            assert!(Instant::now() < deadline, "redis-server does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        Some(server)
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("mcp-rev-{}-{name}", std::process::id()))
}

/// Opens a session, and returns the header that names it.
fn opened(port: u16, revision: Revision) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let opened = post(port, revision, &initialize);
    let id = opened.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_it = name.eq_ignore_ascii_case("mcp-session-id");
        is_it.then(|| value.trim().to_owned())
    });
    format!("Mcp-Session-Id: {}\r\n", id.expect(&opened))
}

fn add() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1, "b": 2.5}}})
}

#[test]
fn a_session_is_served_by_any_of_several_bridges_and_ends_with_the_one_that_runs_its_server() {
    let Some(redis) = Redis::start(folder("redis"), &[]) else {
        return;
    };
    let url = format!("redis+unix://{}", redis.socket().display());
    let revision = Revision::V2025_11_25;
    let two = [0, 1].map(|_| listening_with(&["--backplane", &url], revision));
    let [(mut home, near), (_other, far)] = two;
    let session = opened(near, revision);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post_with(far, revision, &session, &initialized);
    for port in [far, near, far] {
        let answer = post_with(port, revision, &session, &add());
        assert_eq!(result(&answer)["content"][0]["text"], "3.5", "{answer}");
    }
    home.kill().unwrap();
    home.wait().unwrap();
    let gone = post_with(far, revision, &session, &add());
    assert!(gone.starts_with("HTTP/1.1 404"), "{gone}");
}

/// A client of the per-request lifecycle that answers a question at another bridge than the one that asked it.
#[test]
fn a_question_is_answered_at_any_of_several_bridges() {
    let Some(redis) = Redis::start(folder("questions"), &[]) else {
        return;
    };
    let url = format!("redis+unix://{}", redis.socket().display());
    for server in [Revision::V2025_11_25, Revision::LATEST] {
        let two = [0, 1].map(|_| listening_with(&["--backplane", &url], server));
        let [(_home, near), (_other, far)] = two;
        let prefix = "io.modelcontextprotocol/";
        let ask = |port: u16, more: &Value| {
            let mut call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "ask", "arguments": {}, "_meta": {
                    format!("{prefix}protocolVersion"): Revision::LATEST.protocol_version(),
                    format!("{prefix}clientInfo"): {"name": "c", "version": "1"},
                    format!("{prefix}clientCapabilities"): {"elicitation": {"form": {}}},
                },
            }});
            for (name, value) in more.as_object().unwrap() {
                call["params"][name] = value.clone();
            }
            result(&post(port, Revision::LATEST, &call))
        };
        for _ in 0..3 {
            let asked = ask(near, &json!({}));
            assert_eq!(asked["resultType"], "input_required", "{asked}");
            let questions = asked["inputRequests"].as_object().unwrap();
            let key = questions.keys().next().unwrap();
            let day = json!({"action": "accept", "content": {"day": "Monday"}});
            let again =
                json!({"requestState": asked["requestState"], "inputResponses": {key: day}});
            let answered = ask(far, &again);
            assert_eq!(
                answered["content"][0]["text"], "Monday",
                "{server}: {answered}"
            );
        }
    }
}

/// Its certificate is one that the environment names; without it, the server is not trusted.
#[test]
fn bridges_share_sessions_through_a_redis_server_over_tls_that_they_trust() {
    let folder = folder("rediss");
    std::fs::create_dir_all(&folder).unwrap();
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let own = rcgen::generate_simple_self_signed(names).unwrap();
    std::fs::write(folder.join("cert.pem"), own.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), own.signing_key.serialize_pem()).unwrap();
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let tls = ["--tls-port", &port, "--tls-auth-clients", "no"];
    let files = ["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem"];
    let trusted = ["--tls-ca-cert-file", "cert.pem"];
    let Some(redis) = Redis::start(folder, &[&tls[..], &files, &trusted].concat()) else {
        return;
    };
    let url = format!("rediss://127.0.0.1:{port}/");
    let start = |trusts: bool| {
        let mut bridge = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
        bridge.arg("bridge").args(LISTENING);
        bridge.env("MCP_REV_BACKPLANE", &url);
        if trusts {
            bridge.env("SSL_CERT_FILE", redis.folder.join("cert.pem"));
        }
        bridge.arg("--").arg(peer());
        let streams = bridge.stdin(Stdio::null()).stdout(Stdio::null());
        streams.stderr(Stdio::piped()).spawn().unwrap()
    };
    let distrustful = start(false);
    let [(_home, near), (_other, far)] = [0, 1].map(|_| port_of(start(true)));
    let revision = Revision::V2025_11_25;
    let session = opened(near, revision);
    let answer = post_with(far, revision, &session, &add());
    assert_eq!(result(&answer)["content"][0]["text"], "3.5", "{answer}");
    let refused = distrustful.wait_with_output().unwrap();
    let why = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{why}");
    assert!(why.contains("cannot connect to Redis"), "{why}");
}
