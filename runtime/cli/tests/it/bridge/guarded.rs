//! An MCP server that wants a sign-in, its authorization server, and a program that signs in to it with a person.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::Run;
use crate::bridge::talk::PATIENCE;

/// The URL at which clients reach a guarded bridge.
pub(super) const GUARDED: &str = "http://localhost:1/mcp";

/// The variables that name proxies.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/// Every secret of the servers begins like this.
pub(super) const SECRET: &str = "s3cret";

/// What the servers have seen.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) tokens: usize,
    /// Tokens up to this number are refused.
    pub(super) withdrawn: usize,
    pub(super) refuses_codes: bool,
    pub(super) refuses_revocations: bool,
    pub(super) revoked: Vec<String>,
    /// Secrets of the client: verifiers of PKCE.
    pub(super) verifiers: Vec<String>,
    /// The credentials of requests for the MCP server, and of questions about tokens.
    pub(super) credentials: Vec<String>,
}

/// An MCP server and its authorization server, on one port.
#[derive(Clone)]
pub(super) struct GuardedServer {
    pub(super) origin: String,
    /// The origin at which a browser reaches it.
    local: String,
    pub(super) seen: Arc<Mutex<Seen>>,
}

impl GuardedServer {
    pub(super) fn start() -> Self {
        Self::named(None)
    }

    /// Starts one that has another origin for its clients than for its browser.
    pub(super) fn named(origin: Option<&str>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let local = format!("http://{}", listener.local_addr().unwrap());
        let server = Self {
            origin: origin.unwrap_or(&local).to_owned(),
            local,
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

    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Answers one request.
    pub(super) fn answer(&self, stream: impl Read + Write) {
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
                    Some("s3cret-of-origin") => claims("use", "http://localhost:1"),
                    Some("s3cret-narrow") => claims("look", GUARDED),
                    Some("s3cret-elsewhere") => claims("use", "http://localhost:2/mcp"),
                    _ => json!({"active": false}),
                })
            }
            "/revoke" if seen.refuses_revocations => {
                ("503 Service Unavailable", String::new(), String::new())
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
pub(super) fn open(page: &str) -> String {
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
pub(super) fn run(arguments: &[&str], input: &[Value]) -> (Run, String) {
    run_in(&[], None, arguments, input)
}

/// Runs the program with these variables. The pages of a server are opened where a browser reaches it.
pub(super) fn run_in(
    variables: &[(&str, &str)],
    server: Option<&GuardedServer>,
    arguments: &[&str],
    input: &[Value],
) -> (Run, String) {
    let server = server.cloned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
    // The proxies of the machine that runs the test are none of the program.
    for name in PROXIES {
        command
            .env_remove(name)
            .env_remove(name.to_ascii_lowercase());
    }
    let mut child = command
        .args(["--color", "never"])
        .args(arguments)
        .envs(variables.iter().copied())
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
            if line.starts_with("http") && line.contains("/authorize?") {
                let page = match &server {
                    Some(server) => line.replacen(&server.origin, &server.local, 1),
                    None => line,
                };
                others.push_str(&open(&page));
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

pub(super) fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A folder of the test, which is empty.
pub(super) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
