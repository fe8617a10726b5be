//! The sign-in of a bridge to a server that wants one, and what is written of it: no log, record, error or list of processes has a
//! secret.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use super::http::{Program, exchange, post_with};
use super::several::told;
use crate::Run;
use crate::bridge::talk::PATIENCE;

/// The URL at which clients reach a guarded bridge.
const GUARDED: &str = "http://localhost:1/mcp";

/// Every secret of the servers begins like this.
const SECRET: &str = "s3cret";

/// What the servers have seen.
#[derive(Default)]
struct Seen {
    tokens: usize,
    /// Tokens up to this number are refused.
    withdrawn: usize,
    refuses_codes: bool,
    revoked: Vec<String>,
    /// Secrets of the client: verifiers of PKCE.
    verifiers: Vec<String>,
    /// The credentials of requests for the MCP server, and of questions about tokens.
    credentials: Vec<String>,
}

/// An MCP server and its authorization server, on one port.
#[derive(Clone)]
struct GuardedServer {
    origin: String,
    seen: Arc<Mutex<Seen>>,
}

impl GuardedServer {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let server = Self {
            origin: format!("http://{}", listener.local_addr().unwrap()),
            seen: Arc::default(),
        };
        let serves = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serves = serves.clone();
                thread::spawn(move || serves.answer(stream));
            }
        });
        server
    }

    fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    fn answer(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            head.push_str(&std::mem::take(&mut line));
        }
        let lower = head.to_ascii_lowercase();
        let header = |name: &str| {
            let mut lines = lower.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let length = header("content-length").and_then(|it| it.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let body = String::from_utf8(body).unwrap();
        let path = head.split(' ').nth(1).unwrap_or_default();
        let token = header("authorization").unwrap_or_default();
        let (status, more, answer) = self.of(path, token, &body);
        let mut stream = reader.into_inner();
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\n{more}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
            answer.len()
        );
    }

    fn of(&self, path: &str, token: &str, body: &str) -> (&'static str, String, String) {
        let origin = &self.origin;
        let ok = |body: Value| ("200 OK", String::new(), body.to_string());
        let mut seen = self.seen.lock().unwrap();
        let (place, query) = path.split_once('?').unwrap_or((path, ""));
        let of = |text: &str, name: &str| {
            let mut pairs = text.split('&').filter_map(|pair| pair.split_once('='));
            let value = pairs.find(|(one, _)| *one == name);
            value.map(|(_, value)| value.replace("%3A", ":").replace("%2F", "/"))
        };
        match place {
            "/.well-known/oauth-protected-resource/mcp" => ok(json!({
                "resource": self.url(), "authorization_servers": [origin]})),
            "/.well-known/oauth-authorization-server" => ok(json!({
                "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"), "registration_endpoint": format!("{origin}/register"),
                "revocation_endpoint": format!("{origin}/revoke"), "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"]})),
            "/register" => ok(
                json!({"client_id": "client", "client_secret": format!("{SECRET}-of-client"),
                "token_endpoint_auth_method": "client_secret_post"}),
            ),
            "/authorize" => {
                let (to, state) = (
                    of(query, "redirect_uri").unwrap(),
                    of(query, "state").unwrap(),
                );
                let location = format!("Location: {to}?code={SECRET}-code&state={state}\r\n");
                ("302 Found", location, String::new())
            }
            "/token" if seen.refuses_codes => {
                let why = json!({"error": "invalid_grant", "error_description": "no\u{1b}[31m"});
                ("400 Bad Request", String::new(), why.to_string())
            }
            "/token" => {
                assert!(
                    body.contains(&format!("client_secret={SECRET}-of-client")),
                    "{body}"
                );
                seen.verifiers.extend(of(body, "code_verifier"));
                seen.tokens += 1;
                let number = seen.tokens;
                ok(
                    json!({"access_token": format!("{SECRET}-access-{number}"), "token_type": "Bearer",
                    "expires_in": 3600, "refresh_token": format!("{SECRET}-refresh-{number}")}),
                )
            }
            "/introspect" => {
                seen.credentials.push(token.to_owned());
                let claims = |scope: &str, audience: &str| json!({"active": true, "iss": origin, "sub": "ada", "aud": audience, "scope": scope});
                ok(match of(body, "token").as_deref() {
                    Some("s3cret-good") => claims("use", GUARDED),
                    Some("s3cret-narrow") => claims("look", GUARDED),
                    Some("s3cret-elsewhere") => claims("use", "http://localhost:2/mcp"),
                    _ => json!({"active": false}),
                })
            }
            "/revoke" => {
                seen.revoked.extend(of(body, "token"));
                ok(json!({}))
            }
            _ => {
                seen.credentials.push(token.to_owned());
                let number = token.strip_prefix("bearer s3cret-access-");
                let number: usize = number.and_then(|it| it.parse().ok()).unwrap_or_default();
                if number <= seen.withdrawn {
                    let challenge = "WWW-Authenticate: Bearer scope=\"read\"\r\n";
                    return ("401 Unauthorized", challenge.to_owned(), String::new());
                }
                let Ok(message) = serde_json::from_str::<Value>(body) else {
                    return ("405 Method Not Allowed", String::new(), String::new());
                };
                let result = match message["method"].as_str().unwrap_or_default() {
                    "initialize" => {
                        json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                        "serverInfo": {"name": "guarded", "version": "1"}})
                    }
                    "tools/list" => {
                        json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]})
                    }
                    "tools/call" => json!({"content": [{"type": "text", "text": "hello"}]}),
                    _ if message["id"].is_null() => {
                        return ("202 Accepted", String::new(), String::new());
                    }
                    _ => {
                        let error = json!({"code": -32601, "message": "unknown"});
                        return ok(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
                    }
                };
                ok(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
            }
        }
    }
}

/// Opens a page as a browser does: it follows the redirect, and comes back.
fn open(page: &str) -> String {
    let get = |url: &str| {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = get(page);
    let (_, rest) = answer.split_once("Location: ").unwrap();
    get(rest.lines().next().unwrap())
}

/// Runs the program, opens each page that it names, and returns its output without them.
fn run(arguments: &[&str], input: &[Value]) -> (Run, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(["--color", "never"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let listed = PathBuf::from(format!("/proc/{}/cmdline", child.id()));
    let errors = BufReader::new(child.stderr.take().unwrap());
    let reader = thread::spawn(move || {
        let mut others = String::new();
        for line in errors.lines().map_while(Result::ok) {
            if line.starts_with("http://") && line.contains("/authorize?") {
                others.push_str(&open(&line));
            } else {
                others.push_str(&line);
            }
            others.push('\n');
        }
        others
    });
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let (mut out, mut shown) = (String::new(), String::new());
    for message in input {
        writeln!(to, "{message}").unwrap();
        if !message["id"].is_null() {
            from.read_line(&mut out).unwrap();
        }
        shown.push_str(&std::fs::read_to_string(&listed).unwrap_or_default());
    }
    drop(to);
    from.read_to_string(&mut out).unwrap();
    let code = child.wait().unwrap().code().unwrap();
    let err = reader.join().unwrap();
    (Run { code, out, err }, shown)
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A folder of the test, which is empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_sign_in_its_refresh_its_failure_and_its_end_leave_no_secret_in_logs_records_errors_or_processes()
 {
    let (server, folder) = (GuardedServer::start(), folder("sign-in-secrets"));
    let (url, path) = (server.url(), |name: &str| {
        folder.join(name).display().to_string()
    });
    let (store, record, losses) = (path("store"), path("record.jsonl"), path("losses.jsonl"));
    let mut written = String::new();
    let mut keep = |(run, listed): (Run, String), code: i32| {
        assert_eq!(run.code, code, "{} {}", run.out, run.err);
        written.push_str(&format!("{}\n{}\n{listed}\n", run.out, run.err));
        run
    };
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let opening = [
        request(1, "initialize", client),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(2, "tools/call", json!({"name": "hello", "arguments": {}})),
    ];
    let bridge = [
        "bridge",
        "--no-browser",
        "--log",
        "trace",
        "--auth-store",
        &store,
        "--record",
        &record,
        "--loss-log",
        &losses,
        &url,
    ];
    let signed_in = keep(run(&bridge, &opening), 0);
    assert!(
        signed_in.out.contains("\"hello\""),
        "{} {}",
        signed_in.out,
        signed_in.err
    );
    assert!(
        signed_in.err.contains("You are signed in"),
        "{}",
        signed_in.err
    );
    // Its token is withdrawn: the next bridge refreshes it, and shows no page.
    server.seen.lock().unwrap().withdrawn = 1;
    let refreshed = keep(run(&bridge, &opening), 0);
    assert!(
        refreshed.out.contains("\"hello\""),
        "{} {}",
        refreshed.out,
        refreshed.err
    );
    assert!(!refreshed.err.contains("signed in"), "{}", refreshed.err);
    assert_eq!(server.seen.lock().unwrap().tokens, 2);
    keep(run(&["auth", "status", "--auth-store", &store], &[]), 0);
    keep(
        run(&["auth", "status", "--json", "--auth-store", &store], &[]),
        0,
    );
    keep(run(&["auth", "check", &url], &[]), 0);
    let out = keep(run(&["logout", "--auth-store", &store, &url], &[]), 0);
    assert_eq!(out.out, format!("signed out of {url}\n"));
    let revoked = server.seen.lock().unwrap().revoked.clone();
    assert_eq!(revoked, ["s3cret-refresh-2", "s3cret-access-2"]);
    // A sign-in that fails at its end, of a program without a store.
    server.seen.lock().unwrap().refuses_codes = true;
    let other = path("other");
    let failed = keep(
        run(
            &["login", "--no-browser", "--auth-store", &other, &url],
            &[],
        ),
        1,
    );
    assert!(failed.err.contains("invalid_grant"), "{}", failed.err);
    assert!(!failed.err.contains('\u{1b}'), "{}", failed.err);
    for file in [&record, &losses] {
        written.push_str(&std::fs::read_to_string(file).unwrap_or_default());
    }
    assert!(written.contains("tools/call"), "the record was not read");
    let mut secrets = server.seen.lock().unwrap().verifiers.clone();
    assert_eq!(secrets.len(), 1);
    secrets.push(SECRET.to_owned());
    for secret in secrets {
        let place = written.find(&secret);
        let around = place.map(|at| written[..at].lines().last().unwrap_or_default().to_owned());
        assert_eq!(around, None, "a secret behind this");
    }
    // What is kept until the end is the registration, in a file that only its owner reads.
    let kept = std::fs::read_dir(&store).unwrap();
    let texts = kept.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok());
    let kept: String = texts.collect();
    assert!(
        kept.contains("s3cret-of-client") && !kept.contains("s3cret-refresh"),
        "{kept}"
    );
}

#[test]
fn a_guarded_listener_asks_about_each_token_and_sends_its_server_only_credentials_of_its_own() {
    let server = GuardedServer::start();
    let (issuer, introspection) = (&server.origin, format!("{}/introspect", server.origin));
    let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args([
            "--color",
            "never",
            "bridge",
            "--log",
            "trace",
            "--listen",
            "http://127.0.0.1:0/mcp",
        ])
        .args([
            "--guard",
            GUARDED,
            "--guard-issuer",
            issuer,
            "--guard-introspection",
            &introspection,
        ])
        .args([
            "--guard-client-id",
            "bridge",
            "--guard-client-secret-env",
            "GUARD_SECRET",
        ])
        .args([
            "--guard-scope",
            "use",
            "--header-env",
            "Authorization=UPSTREAM_TOKEN",
            &server.url(),
        ])
        .env("GUARD_SECRET", "s3cret-of-guard")
        .env("UPSTREAM_TOKEN", "Bearer s3cret-access-7")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut program = Program::of(child);
    let errors = BufReader::new(program.stderr.take().unwrap());
    let (line, lines) = channel();
    let reader = thread::spawn(move || {
        let mut all = String::new();
        for text in errors.lines().map_while(Result::ok) {
            all.push_str(&text);
            let _ = line.send(text);
        }
        all
    });
    let listens = told(&lines, "listening on http://127.0.0.1:");
    let port = listens.rsplit("127.0.0.1:").next().unwrap();
    let port: u16 = port.split('/').next().unwrap().parse().unwrap();
    let list = |token: &str| {
        let header = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let meta = json!({"io.modelcontextprotocol/protocolVersion": Revision::LATEST.protocol_version(),
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"}});
        post_with(
            port,
            Revision::LATEST,
            &header,
            &request(1, "tools/list", json!({"_meta": meta})),
        )
    };
    let metadata = "http://localhost:1/.well-known/oauth-protected-resource/mcp";
    let answer = list("");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let challenge = format!("Bearer scope=\"use\", resource_metadata=\"{metadata}\"");
    assert!(answer.contains(&challenge), "{answer}");
    assert!(
        server.seen.lock().unwrap().credentials.is_empty(),
        "nobody was asked"
    );
    let document = exchange(
        port,
        "GET /.well-known/oauth-protected-resource/mcp",
        "",
        "",
    );
    assert!(
        document.starts_with("HTTP/1.1 200") && document.contains(GUARDED),
        "{document}"
    );
    for (token, status, error) in [
        ("s3cret-unknown", "401", "invalid_token"),
        ("s3cret-elsewhere", "401", "invalid_token"),
        ("s3cret-narrow", "403", "insufficient_scope"),
    ] {
        let answer = list(token);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{token}: {answer}"
        );
        assert!(answer.contains(error), "{token}: {answer}");
    }
    let basic = |it: &String| it.starts_with("basic ");
    let asked = std::mem::take(&mut server.seen.lock().unwrap().credentials);
    assert!(asked.len() == 3 && asked.iter().all(basic), "{asked:?}");
    let answer = list("s3cret-good");
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("\"hello\""),
        "{answer}"
    );
    let sent = std::mem::take(&mut server.seen.lock().unwrap().credentials);
    let (questions, others): (Vec<String>, Vec<String>) = sent.into_iter().partition(basic);
    assert_eq!(questions.len(), 1);
    assert!(
        !others.is_empty() && others.iter().all(|it| it == "bearer s3cret-access-7"),
        "{others:?}"
    );
    drop(program);
    let log = reader.join().unwrap();
    assert!(!log.contains(SECRET), "{log}");
}
