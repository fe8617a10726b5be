//! The servers of a host's file: each at a path of its own, or all as one, and the file read again.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
#[cfg(unix)]
use std::time::Duration;

use mcp_revisions::sansio::client::OutgoingRequest;
use mcp_revisions_core::Revision;
use mcp_wire::Json;
use serde_json::{Value, json};

use super::ends::signalled;
use super::guarded::{GUARDED, GuardedServer};
use super::http::{Program, exchange};
use super::talk::{PATIENCE, Talk, peer, value};
#[cfg(unix)]
use crate::mcp_rev;

/// A file of a host, in a folder of its own.
pub(super) struct File(pub(super) PathBuf);

impl File {
    pub(super) fn new(name: &str, servers: &Value) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("several-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = Self(folder.join("mcp.json"));
        file.write(servers);
        file
    }

    fn write(&self, servers: &Value) {
        let text = json!({ "mcpServers": servers }).to_string();
        std::fs::write(&self.0, text).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
    }
}

pub(super) fn definition(revision: Revision, started: &Path) -> Value {
    json!({ "command": peer(), "args": ["--only", revision.id(), "--started", "${STARTED_IN:-/nowhere}/".to_owned() + started.to_str().unwrap()], "type": "stdio" })
}

/// A bridge that listens, its port, and the lines of its log.
pub(super) fn listening(file: &File, options: &[&str]) -> (Program, u16, Receiver<String>) {
    let child = mcp_rev("--color never bridge --listen http://127.0.0.1:0 --loss-log off --config")
        .arg(&file.0)
        .args(options)
        .env("STARTED_IN", file.0.parent().unwrap())
        .env("GUARD_SECRET", "s3cret-of-guard")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut program = Program::of(child);
    let said = BufReader::new(program.stderr.take().unwrap());
    let (line, lines) = channel();
    std::thread::spawn(move || {
        said.lines()
            .map_while(Result::ok)
            .all(|text| line.send(text).is_ok())
    });
    let listens = told(&lines, "listening on http://127.0.0.1:");
    let port = listens.rsplit("127.0.0.1:").next().unwrap();
    let port = port.split('/').next().unwrap().parse().unwrap();
    (program, port, lines)
}

pub(super) fn told(lines: &Receiver<String>, part: &str) -> String {
    loop {
        let line = lines
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("never told: {part}"));
        if line.contains(part) {
            return line;
        }
    }
}

/// The servers of a file as one, over stdio, and a client of one revision.
fn combined(file: &File, revision: Revision) -> Talk {
    let child = mcp_rev("bridge --combine --loss-log off --config")
        .arg(&file.0)
        .env("STARTED_IN", file.0.parent().unwrap())
        .spawn()
        .unwrap();
    Talk::new(revision, child)
}

/// The result of a request of 2026-07-28 at a path.
pub(super) fn asked(port: u16, path: &str, method: &str, params: Value) -> Value {
    let text = asked_by(port, path, "", method, params);
    let json = text
        .lines()
        .find(|line| line.starts_with('{') || line.starts_with("data: {"));
    let json = json
        .unwrap_or_else(|| panic!("{text}"))
        .trim_start_matches("data: ");
    serde_json::from_str(json).unwrap()
}

/// The response to a request of 2026-07-28 at a path, with a header more.
fn asked_by(port: u16, path: &str, header: &str, method: &str, mut params: Value) -> String {
    let version = Revision::LATEST.protocol_version();
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" }, "io.modelcontextprotocol/clientCapabilities": {} });
    let headers = format!(
        "{header}MCP-Protocol-Version: {version}\r\nMcp-Method: {method}\r\nMcp-Name: {}\r\n",
        params["name"].as_str().unwrap_or_default()
    );
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    exchange(port, &format!("POST {path}"), &headers, &body)
}

fn sum(port: u16, path: &str, tool: &str) -> String {
    let called = asked(
        port,
        path,
        "tools/call",
        json!({ "name": tool, "arguments": { "a": 1, "b": 2.5 } }),
    );
    called["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{called}"))
        .to_owned()
}

fn starts(file: &File, name: &str) -> usize {
    let text = std::fs::read_to_string(file.0.with_file_name(name)).unwrap_or_default();
    text.lines().count()
}

#[test]
fn each_server_of_a_hosts_file_has_a_path_and_is_listed() {
    let file = File::new(
        "apart",
        &json!({
            "old one": definition(Revision::V2025_06_18, Path::new("old")),
            "new": definition(Revision::LATEST, Path::new("new")),
        }),
    );
    let (_bridge, port, _lines) = listening(&file, &[]);
    assert_eq!(sum(port, "/old-one-ce2b25de/mcp", "add"), "3.5");
    assert_eq!(sum(port, "/new/mcp", "add"), "3.5");
    let index = exchange(port, "GET /", "", "");
    let listed: Value = serde_json::from_str(index.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(
        listed["mcpServers"]["old one"]["url"],
        format!("http://127.0.0.1:{port}/old-one-ce2b25de/mcp")
    );
    let nowhere = exchange(port, "GET /other/mcp", "", "");
    assert!(
        nowhere.starts_with("HTTP/1.1 404") && nowhere.contains("/new/mcp, /old-one-ce2b25de/mcp"),
        "{nowhere}"
    );
    assert!(exchange(port, "GET /healthz", "", "").starts_with("HTTP/1.1 200"));
    let stranger = exchange(port, "GET /", "Origin: http://evil.example\r\n", "");
    assert!(stranger.starts_with("HTTP/1.1 403"), "{stranger}");
}

#[test]
fn one_guard_stands_before_all_servers_of_a_hosts_file_and_before_their_list() {
    let server = GuardedServer::start();
    let introspection = format!("{}/introspect", server.origin);
    let mut one = definition(Revision::LATEST, Path::new("one"));
    let script = r#"env > "$0"; exec "$@""#;
    let peer = one["command"].take();
    let mut words = vec![
        json!("-c"),
        json!(script),
        json!("${STARTED_IN}/environment"),
        peer,
    ];
    words.append(one["args"].as_array_mut().unwrap());
    let one = json!({ "command": "sh", "args": words, "env": { "GUARD_OF_THE_SERVER": "stays" } });
    let file = File::new("guarded", &json!({ "one": one }));
    let guard = |url: &'static str| {
        let issuer = ["--guard", url, "--guard-issuer", &server.origin];
        let client = [
            "--guard-introspection",
            &introspection,
            "--guard-client-id",
            "bridge",
        ];
        let secret = ["--guard-client-secret-env", "GUARD_SECRET"];
        [&issuer[..], &client, &secret].concat()
    };
    for (url, more, token, path, tool) in [
        (
            "http://localhost:1/",
            &[][..],
            "s3cret-of-origin",
            "/one/mcp",
            "add",
        ),
        (GUARDED, &["--combine"], "s3cret-good", "/mcp", "one_add"),
    ] {
        let (_bridge, port, _lines) = listening(&file, &[&guard(url)[..], more].concat());
        let call = |token: &str| {
            let header = format!("Authorization: Bearer {token}\r\n");
            let call = json!({ "name": tool, "arguments": { "a": 1, "b": 2.5 } });
            asked_by(port, path, &header, "tools/call", call)
        };
        let refused = call("s3cret-unknown");
        assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
        let challenge = refused
            .split_once("resource_metadata=\"http://localhost:1")
            .unwrap()
            .1;
        let metadata = challenge.split('"').next().unwrap();
        let document = exchange(port, &format!("GET {metadata}"), "", "");
        assert!(
            document.contains(&format!("\"resource\":\"{url}\"")),
            "{document}"
        );
        let other = if more.is_empty() {
            "s3cret-good"
        } else {
            "s3cret-of-origin"
        };
        assert!(call(other).starts_with("HTTP/1.1 401"));
        assert!(call(token).contains("3.5"));
        let environment = std::fs::read_to_string(file.0.with_file_name("environment")).unwrap();
        assert!(environment.contains("GUARD_OF_THE_SERVER=stays"));
        assert!(!environment.contains("s3cret"), "{environment}");
        let list = exchange(port, "GET /", "", "");
        assert!(!list.contains("mcpServers"), "{list}");
        assert!(exchange(port, "GET /healthz", "", "").starts_with("HTTP/1.1 200"));
        if more.is_empty() {
            assert!(list.starts_with("HTTP/1.1 401"), "{list}");
            let header = format!("Authorization: Bearer {token}\r\n");
            let list = exchange(port, "GET /", &header, "");
            assert!(list.contains("/one/mcp"), "{list}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_again_leaves_alone_what_it_does_not_change() {
    let stays = definition(Revision::V2025_06_18, Path::new("stays"));
    let goes = definition(Revision::V2025_06_18, Path::new("goes"));
    let file = File::new("again", &json!({ "stays": stays, "goes": goes }));
    for options in [&[][..], &["--combine"]] {
        file.write(&json!({ "stays": stays, "goes": goes }));
        let path = |name: &str| {
            if options.is_empty() {
                format!("/{name}/mcp")
            } else {
                "/mcp".to_owned()
            }
        };
        let tool = |name: &str| {
            if options.is_empty() {
                "add".to_owned()
            } else {
                format!("{name}_add")
            }
        };
        let (bridge, port, lines) = listening(&file, options);
        let hang_up = || {
            let id = bridge.id().to_string();
            assert!(
                Command::new("kill")
                    .args(["-HUP", &id])
                    .status()
                    .unwrap()
                    .success()
            );
        };
        let before = starts(&file, "stays");
        assert_eq!(sum(port, &path("stays"), &tool("stays")), "3.5");
        assert_eq!(sum(port, &path("goes"), &tool("goes")), "3.5");
        assert_eq!(starts(&file, "stays"), before + 1);
        std::fs::write(&file.0, "{").unwrap();
        hang_up();
        told(&lines, "not loaded again");
        // A mistake costs its entry.
        file.write(&json!({ "stays": stays, "goes": { "command": 7 } }));
        hang_up();
        let why = "`command`: expected a text, found a number";
        told(
            &lines,
            &format!("mcp.json: server `goes` cannot be used: {why}"),
        );
        let call = json!({ "name": tool("goes"), "arguments": {} });
        let refused = asked(port, &path("goes"), "tools/call", call);
        assert!(
            refused["error"]["message"].as_str().unwrap().contains(why),
            "{refused}"
        );
        let health = exchange(port, "GET /healthz", "", "");
        assert!(
            health.starts_with("HTTP/1.1 200") && health.contains("goes: `command`"),
            "{health}"
        );
        let comes = definition(Revision::LATEST, Path::new("comes"));
        file.write(&json!({ "stays": stays, "comes": comes }));
        hang_up();
        told(&lines, "2 servers: ");
        assert_eq!(sum(port, &path("comes"), &tool("comes")), "3.5");
        assert_eq!(sum(port, &path("stays"), &tool("stays")), "3.5");
        assert_eq!(starts(&file, "stays"), before + 1, "it was started again");
        let gone = match options.is_empty() {
            true => exchange(port, &format!("GET {}", path("goes")), "", ""),
            false => asked(
                port,
                "/mcp",
                "tools/call",
                json!({ "name": "goes_add", "arguments": {} }),
            )
            .to_string(),
        };
        assert!(
            gone.contains("404") || gone.contains("no tool is called"),
            "{gone}"
        );
    }
}

#[test]
fn the_servers_of_a_hosts_file_are_one_server_over_stdio() {
    let file = File::new(
        "stdio",
        &json!({
            "old": definition(Revision::V2025_06_18, Path::new("old")),
            "broken": { "command": "/nowhere/at/all", "args": ["--token", "s3cret"] },
            "far": { "url": "http://127.0.0.1:1/mcp?key=s3cret" },
            "new": definition(Revision::LATEST, Path::new("new")),
        }),
    );
    let mut talk = combined(&file, Revision::V2025_11_25);
    for tool in ["old_add", "new_add"] {
        let asked = talk.tool(tool);
        let answer = talk.answers(&[asked]).remove(&asked).unwrap();
        assert!(format!("{answer:?}").contains("3.5"), "{tool}: {answer:?}");
    }
    for name in ["broken", "far"] {
        let asked = talk.tool(&format!("{name}_add"));
        let answer = format!("{:?}", talk.answers(&[asked]).remove(&asked).unwrap());
        let why = format!("the server {name} cannot be used");
        assert!(answer.contains(&why), "{answer}");
        assert!(!answer.contains("s3cret"), "{answer}");
    }
}

/// The names of servers, and the variables that they name, are each one's own.
#[cfg(unix)]
#[test]
fn servers_of_a_hosts_file_have_any_name_and_no_variable_of_another() {
    let shows = |own: &str| {
        let script = format!(r#"env > "{own}/environment"; exec "$0" "$@""#);
        let mut words = vec![json!("-c"), json!(script)];
        let mut peer = definition(Revision::LATEST, Path::new("any"));
        words.push(peer["command"].take());
        words.append(peer["args"].as_array_mut().unwrap());
        json!({ "command": "sh", "args": words, "env": { "OWN": "${OWN_TOKEN:-own}", "NULL_TOKEN": null } })
    };
    let far = json!({ "url": "http://127.0.0.1:1/", "headers": { "Authorization": "Bearer ${FAR_TOKEN}" } });
    let off = json!({ "disabled": true, "env": {} });
    let file = File::new("any", &json!({}));
    let own = shows(file.0.parent().unwrap().to_str().unwrap());
    file.write(&json!({ "日本": own, "日本語": far, "off": off }));
    let child = mcp_rev("bridge --combine --list-timeout 3 --config")
        .arg(&file.0)
        .envs([
            ("FAR_TOKEN", "far"),
            ("OWN_TOKEN", "mine"),
            ("NULL_TOKEN", "null"),
            ("FREE", "free"),
        ])
        .env("STARTED_IN", file.0.parent().unwrap())
        .spawn()
        .unwrap();
    let mut talk = Talk::new(Revision::V2025_11_25, child);
    let listed = talk.ask(OutgoingRequest::new("tools/list", None));
    let listed = value(&talk.answers(&[listed])[&listed]);
    let name = listed["tools"][0]["name"].as_str().unwrap();
    assert!(name.starts_with("server-") && name.is_ascii(), "{listed}");
    let asked = talk.tool(name.strip_suffix("_add").map_or(name, |_| name));
    talk.answers(&[asked]);
    let environment = std::fs::read_to_string(file.0.with_file_name("environment")).unwrap();
    let has = |line: &str| environment.lines().any(|it| it == line);
    assert!(
        has("OWN=mine") && has("OWN_TOKEN=mine") && has("FREE=free"),
        "{environment}"
    );
    assert!(environment.contains("PATH="), "{environment}");
    assert!(
        !environment.contains("FAR_TOKEN") && !environment.contains("NULL_TOKEN"),
        "{environment}"
    );
}

#[test]
fn options_that_say_no_place_for_several_servers_are_refused() {
    let file = File::new("refused", &json!({ "x": { "command": "x" } }));
    for (options, why) in [
        (&[][..], "--combine"),
        (&["--listen", "http://127.0.0.1:0/other"], "/NAME/mcp"),
        (&["--combine", "--http-sse", "/sse"], "--http-sse"),
    ] {
        let told = mcp_rev("bridge --config")
            .arg(&file.0)
            .args(options)
            .output()
            .unwrap();
        let told = (
            told.status.success(),
            String::from_utf8(told.stderr).unwrap(),
        );
        assert!(!told.0 && told.1.contains(why), "{options:?}: {}", told.1);
    }
}

/// The first server has the same resource: that of the second has another name for clients.
#[test]
fn questions_progress_and_subscriptions_go_through_servers_that_are_one() {
    for server in [Revision::V2025_06_18, Revision::LATEST] {
        let file = File::new(
            &format!("all-{server}"),
            &json!({
                "one": definition(server, Path::new("one")),
                "two": definition(server, Path::new("two")),
            }),
        );
        for client in [
            Revision::V2025_06_18,
            Revision::V2025_11_25,
            Revision::LATEST,
        ] {
            let mut talk = combined(&file, client);
            let said = talk.call("two_ask");
            // A server without sessions asks in results, which the peer does not without being told to.
            if server == Revision::V2025_06_18 {
                assert_eq!(
                    said["content"][0]["text"], "Monday",
                    "{client}, {server}: {said}"
                );
            }
            let asked = talk.tool("two_progress");
            talk.answers(&[asked]);
            assert_eq!(talk.progress, 3, "{client}, {server}");
            let request = |method: &str, params: Value| {
                OutgoingRequest::new(method, Some(Json::from(params)))
            };
            let listed = talk.ask(request("resources/list", json!({})));
            let listed = value(&talk.answers(&[listed])[&listed]);
            assert_eq!(
                listed["resources"][1]["uri"], "two+file:///hello",
                "{listed}"
            );
            let subscribed = talk.ask(request(
                "resources/subscribe",
                json!({ "uri": "two+file:///hello" }),
            ));
            let answer = value(&talk.answers(&[subscribed])[&subscribed]);
            assert!(answer["failed"].is_null(), "{client}, {server}: {answer}");
            let asked = talk.tool("two_touch");
            talk.answers(&[asked]);
            let heard = talk.hears("notifications/resources/updated");
            assert_eq!(heard["uri"], "two+file:///hello", "{client}, {server}");
            let (code, said) = talk.ends();
            assert_eq!(code, Some(0), "{said}");
        }
    }
}

/// A load balancer has time to notice before calls of any server of the file are refused.
#[cfg(unix)]
#[test]
fn readiness_says_that_a_bridge_of_several_servers_is_to_end_while_calls_are_served() {
    let revision = Revision::LATEST;
    let servers = json!({ "one": definition(revision, Path::new("one")) });
    let file = File::new("lame", &servers);
    let (mut program, port, lines) = listening(&file, &["--lame-duck", "3"]);
    let ready = || exchange(port, "GET /readyz", "", "");
    assert!(ready().starts_with("HTTP/1.1 200"));
    assert_eq!(sum(port, "/one/mcp", "add"), "3.5");
    let process = program.id().to_string();
    let ended = Command::new("kill").args(["-TERM", &process]).status();
    assert!(ended.unwrap().success());
    told(&lines, "closing");
    let deadline = std::time::Instant::now() + PATIENCE;
    while ready().starts_with("HTTP/1.1 200") {
        assert!(std::time::Instant::now() < deadline, "readiness stays");
    }
    assert_eq!(sum(port, "/one/mcp", "add"), "3.5");
    assert!(program.wait().unwrap().success());
}

/// The call was sent to its server, and has more time than the test.
#[cfg(unix)]
#[test]
fn a_second_signal_ends_the_time_of_calls_to_servers_that_are_one() {
    let servers = json!({ "one": definition(Revision::LATEST, Path::new("one")) });
    let file = File::new("early", &servers);
    let (mut program, port, lines) = listening(&file, &["--combine"]);
    let sleep = json!({ "name": "one_sleep", "arguments": {} });
    let call = std::thread::spawn(move || asked(port, "/mcp", "tools/call", sleep));
    let deadline = std::time::Instant::now() + PATIENCE;
    while starts(&file, "one") == 0 {
        assert!(std::time::Instant::now() < deadline, "never started");
        std::thread::sleep(Duration::from_millis(5));
    }
    signalled(&program, "-TERM");
    told(&lines, "closing");
    // It says nothing once it waits for another one.
    while !call.is_finished() {
        signalled(&program, "-TERM");
        std::thread::sleep(Duration::from_millis(50));
    }
    let answer = call.join().unwrap().to_string();
    assert!(answer.contains("has ended before"), "{answer}");
    told(&lines, "before the time is over");
    assert!(program.wait().unwrap().success());
}
