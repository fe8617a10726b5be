//! `mcp-rev probe`: a sound server has no finding, and each fault of a server is found as that fault and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use mcp_revisions_core::{Lifecycle, Revision};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::mcp_rev;
use crate::schemas::rows;

const LATEST: &str = Revision::LATEST.protocol_version();
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The protocol versions of the handshake, oldest first.
fn handshake() -> Vec<&'static str> {
    let all = Revision::NEGOTIATED.iter();
    let of = all.filter(|one| one.lifecycle() == Lifecycle::Handshake);
    of.map(|one| one.protocol_version()).collect()
}

/// A server of all revisions over HTTP, with one fault; it serves for as long as the test runs.
fn server(fault: &'static str) -> String {
    serving(fault, "http", Some)
}

/// The same over connections as they are `opened`.
fn serving<S: Read + Write>(
    fault: &'static str,
    scheme: &str,
    opened: impl Fn(TcpStream) -> Option<S> + Clone + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("{scheme}://{}/mcp", listener.local_addr().unwrap());
    let sessions: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (sessions, opened) = (Arc::clone(&sessions), opened.clone());
            std::thread::spawn(move || serve(fault, opened(stream)?, &sessions));
        }
    });
    url
}

/// A response: its status, its headers, its body.
type Answer = (u16, Vec<(&'static str, String)>, String);

/// Answers the one request of a connection.
fn serve<S: Read + Write>(
    fault: &str,
    stream: S,
    sessions: &Mutex<BTreeSet<String>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let verb = words.next()?.to_owned();
    let mut headers = BTreeMap::from([(":path".to_owned(), words.next()?.to_owned())]);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|it| it.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    let (status, more, body) = answer(fault, &verb, &headers, &body, sessions);
    let mut head = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n");
    for (name, value) in more {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let stream = reader.get_mut();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    stream.flush().ok()
}

/// Answers as a server that wants a sign-in.
fn guarded(fault: &str, headers: &BTreeMap<String, String>) -> Answer {
    let own = format!("http://{}", headers["host"]);
    let metadata = format!("{own}/.well-known/oauth-protected-resource/mcp");
    let document = |value: Value| {
        (
            200,
            vec![("Content-Type", "application/json".to_owned())],
            value.to_string(),
        )
    };
    match headers[":path"].as_str() {
        "/.well-known/oauth-protected-resource/mcp" => document(json!({
            "resource": format!("{own}/mcp"), "authorization_servers": [own],
        })),
        "/.well-known/oauth-authorization-server" => {
            let issuer = if fault == "sign-in-metadata" {
                "http://127.0.0.1:9"
            } else {
                &own
            };
            document(json!({
                "issuer": issuer, "authorization_endpoint": format!("{own}/authorize"),
                "token_endpoint": format!("{own}/token"), "registration_endpoint": format!("{own}/register"),
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            }))
        }
        "/mcp" => {
            let challenge = match fault {
                "challenge" => "Bearer".to_owned(),
                _ => format!("Bearer resource_metadata=\"{metadata}\""),
            };
            (401, vec![("WWW-Authenticate", challenge)], String::new())
        }
        _ => (404, Vec::new(), String::new()),
    }
}

/// The faults of a server without a handshake.
const PER_REQUEST: [&str; 4] = [
    "initialize-refused",
    "other-verbs",
    "session-in-request",
    "lossy",
];

fn answer(
    fault: &str,
    verb: &str,
    headers: &BTreeMap<String, String>,
    body: &str,
    sessions: &Mutex<BTreeSet<String>>,
) -> Answer {
    let plain = |status: u16| (status, Vec::new(), String::new());
    let is_only_per_request = PER_REQUEST.contains(&fault);
    match fault {
        "sign-in" | "challenge" | "sign-in-metadata" => return guarded(fault, headers),
        "answer" => return plain(404),
        "redirect" if headers[":path"] == "/mcp" => {
            return (307, vec![("Location", "/there".to_owned())], String::new());
        }
        // Longer than the program waits.
        "time" => std::thread::sleep(Duration::from_secs(30)),
        "rebinding" => {}
        "origin" if headers["host"].starts_with("127.") => {}
        _ if headers.contains_key("origin") && verb == "POST" => return plain(403),
        _ => {}
    }
    let session = headers.get("mcp-session-id").cloned();
    match verb {
        "GET" if fault == "get-stream" || fault == "other-verbs" => return plain(200),
        _ if is_only_per_request && verb != "POST" => return plain(405),
        "DELETE" if fault == "delete-session" => return plain(500),
        "DELETE" => {
            let was = session.is_some_and(|it| sessions.lock().unwrap().remove(&it));
            return plain(if was { 200 } else { 404 });
        }
        "OPTIONS" if fault == "cors" => {
            let allowed = "Access-Control-Allow-Headers";
            let headers = vec![
                ("Access-Control-Allow-Origin", "*".to_owned()),
                (allowed, "content-type".to_owned()),
            ];
            return (204, headers, String::new());
        }
        "POST" => {}
        _ => return plain(405),
    }
    let message: Value = serde_json::from_str(body).unwrap();
    let (method, params) = (message["method"].as_str().unwrap(), &message["params"]);
    let mut more = vec![("Content-Type", "application/json".to_owned())];
    if fault == "content-type" {
        more[0].1 = "text/plain".to_owned();
    }
    let error = |status: u16, code: i64, data: Value| {
        let error = json!({ "code": code, "message": "no", "data": data });
        let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        (
            status,
            vec![("Content-Type", "application/json".to_owned())],
            body.to_string(),
        )
    };
    let claim = params["_meta"][VERSION].as_str();
    let header = |name: &str| headers.get(name).map(String::as_str);
    if let Some(claim) = claim {
        let named = params["uri"].as_str().or(params["name"].as_str());
        let agrees = header("mcp-protocol-version") == Some(claim)
            && header("mcp-method") == Some(method)
            && (header("mcp-name") == named || fault == "mcp-name")
            && (header("mcp-param-b") == params["arguments"]["b"].as_str() || fault == "mcp-param");
        if !agrees && fault != "header-mismatch" {
            return error(400, -32020, Value::Null);
        }
        if claim != LATEST && fault != "unsupported-version" {
            return error(
                400,
                -32022,
                json!({ "supported": [LATEST], "requested": claim }),
            );
        }
        if params["_meta"][CAPABILITIES].is_null() && fault != "required-meta" {
            return error(400, -32602, Value::Null);
        }
    } else if is_only_per_request {
        return match fault {
            "initialize-refused" => error(400, -32601, Value::Null),
            _ => error(
                400,
                -32022,
                json!({ "supported": [LATEST], "requested": "" }),
            ),
        };
    } else if method != "initialize" {
        match session
            .as_ref()
            .map(|it| sessions.lock().unwrap().contains(it))
        {
            None => return plain(if fault == "missing-session" { 403 } else { 400 }),
            Some(false) if session.as_ref().unwrap().starts_with("0000") => {
                return plain(if fault == "unknown-session" { 400 } else { 404 });
            }
            Some(false) => return plain(if fault == "ended-session" { 400 } else { 404 }),
            Some(true) => {}
        }
        let version = header("mcp-protocol-version").unwrap_or(LATEST);
        let is_known = handshake().contains(&version);
        if !is_known && fault != "version-header" {
            return plain(400);
        }
        if message["id"].is_null() {
            return plain(if fault == "notification-status" {
                200
            } else {
                202
            });
        }
    }
    let result = match result(fault, method, params, claim.is_some()) {
        Ok(result) => result,
        Err(-32601) if claim.is_some() && fault != "unknown-method" => {
            return error(404, -32601, Value::Null);
        }
        Err(code) => return error(200, code, Value::Null),
    };
    if method == "initialize" {
        let mut sessions = sessions.lock().unwrap();
        let id = format!("session-{}", sessions.len());
        let id = if fault == "session-id" {
            format!("ü{id}")
        } else {
            id
        };
        sessions.insert(id.clone());
        more.push(("Mcp-Session-Id", id));
    }
    let id = match &message["id"] {
        id if fault == "response" => json!(id.to_string()),
        id => id.clone(),
    };
    if fault == "session-in-request" {
        more.push(("Mcp-Session-Id", "session".to_owned()));
    }
    let mut body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    if claim.is_some() && ["buffering", "server-request"].contains(&fault) {
        more[0].1 = "text/event-stream".to_owned();
        body = format!("data: {body}\n\n");
        if fault == "server-request" {
            more.push(("X-Accel-Buffering", "no".to_owned()));
            let ping = json!({ "jsonrpc": "2.0", "id": "s", "method": "ping" });
            body = format!("data: {ping}\n\n{body}");
        }
    }
    (200, more, body)
}

/// Returns the result of a request, or the code of the error.
fn result(fault: &str, method: &str, params: &Value, is_per_request: bool) -> Result<Value, i64> {
    let capabilities = match fault {
        "capability" => json!({ "resources": {} }),
        _ => json!({ "tools": {}, "resources": {} }),
    };
    let cursor = params["cursor"].as_str();
    if cursor.is_some_and(|it| it.starts_with("mcp-rev")) && fault != "invalid-cursor" {
        return Err(-32602);
    }
    let mut schema = json!({ "type": "object", "properties": {
        "a": { "type": "number" }, "b": { "type": "string", "x-mcp-header": "B" },
    } });
    if fault == "parameter-header" {
        schema["properties"]["a"]["x-mcp-header"] = json!("A");
    }
    let name = if fault == "tool-name" {
        "add two"
    } else {
        "add"
    };
    let mut tool = json!({ "name": name, "inputSchema": schema });
    if fault == "structured-result" {
        tool["outputSchema"] = json!({ "type": "object" });
    }
    let info = json!({ "name": "sound", "version": "1" });
    let mut result = match (method, is_per_request) {
        ("initialize", false) => {
            let asked = params["protocolVersion"].as_str().unwrap();
            let is_known = handshake().contains(&asked) || fault == "negotiation";
            let version = if is_known { asked } else { handshake()[3] };
            json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": info })
        }
        ("server/discover", true) if fault == "latest" => return Err(-32000),
        ("server/discover", true) if fault == "discover" => return Err(-32601),
        ("server/discover", true) => {
            let others = handshake();
            let others = if PER_REQUEST.contains(&fault) {
                &[]
            } else {
                &others[..]
            };
            let versions = [others, &[LATEST]].concat();
            json!({ "supportedVersions": versions, "capabilities": capabilities })
        }
        ("ping", false) => json!({}),
        ("tools/list", _) if fault == "result" => json!({ "tools": [{ "name": "add" }] }),
        ("tools/list", _) if fault == "cursor" => json!({ "tools": [], "nextCursor": "again" }),
        ("tools/list", _) if fault == "page-scope" && cursor.is_none() => {
            json!({ "tools": [tool], "nextCursor": "2", "cacheScope": "private" })
        }
        ("tools/list", _) if cursor.is_some() => json!({ "tools": [] }),
        ("tools/list", _) => json!({ "tools": [tool] }),
        ("tools/call", _) if fault == "lossy" => {
            json!({ "content": [{ "type": "resource_link", "uri": "a:b", "name": "b" }] })
        }
        ("tools/call", _) if params["name"] != name => return Err(-32602),
        ("tools/call", _) => json!({ "content": [{ "type": "text", "text": "3" }] }),
        ("resources/list", _) => json!({ "resources": [{ "uri": "a:b", "name": "b" }] }),
        ("resources/templates/list", _) => json!({ "resourceTemplates": [] }),
        ("resources/read", _) if params["uri"] == "a:b" => {
            json!({ "contents": [{ "uri": "a:b", "text": "b" }] })
        }
        ("resources/read", _) if fault == "no-resource" => json!({ "contents": [] }),
        ("resources/read", true) if fault == "withdrawn-code" => return Err(-32002),
        ("resources/read", true) => return Err(-32602),
        ("resources/read", false) => return Err(-32002),
        _ => return Err(-32601),
    };
    if is_per_request {
        result["resultType"] = json!("complete");
        if method != "tools/call" {
            result["ttlMs"] = json!(0);
            if result["cacheScope"].is_null() {
                result["cacheScope"] = json!("public");
            }
        }
    }
    Ok(result)
}

/// Runs the program, and returns its exit code and its report.
fn probe(arguments: &[&str]) -> (i32, Value) {
    let run = crate::fed(&[&["probe", "--json"], arguments].concat(), "");
    let mut reports = rows("probe", &run.out);
    assert_eq!(reports.len(), 1, "{}{}", run.out, run.err);
    (run.code, reports.remove(0))
}

/// Returns the checks of the findings of a report, each once.
fn found(report: &Value) -> BTreeSet<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|one| one["check"].as_str().unwrap()).collect()
}

/// The bridge over HTTP, which ends with the test.
struct Listening(Child, String);

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn listening(upstream: &str, path: &str) -> Listening {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let child = mcp_rev("bridge --listen")
        .args([&url, "--http-sse", "/sse", upstream])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    Listening(child, url.replace("/mcp", path))
}

#[test]
fn a_sound_server_has_no_finding_over_http_and_over_stdio() {
    let url = server("");
    let bridge = listening(&url, "/mcp");
    let program = env!("CARGO_BIN_EXE_mcp-rev");
    for target in [
        &[url.as_str()][..],
        &[&bridge.1],
        &["--", program, "bridge", &url],
    ] {
        let call = ["--call", "add", r#"{"a":1,"b":"x"}"#];
        let (code, report) = probe(&[&call, target].concat());
        assert_eq!(report["findings"], json!([]), "{target:?}");
        assert_eq!((code, &report["ready"]["ready"]), (0, &json!(true)));
        let revisions = report["revisions"].as_array().unwrap();
        assert!(
            revisions.iter().all(|it| it["spoken"] == true),
            "{revisions:?}"
        );
        let called = report["facts"].to_string();
        assert!(called.contains("tools/call add"), "{called}");
    }
}

#[test]
fn each_fault_is_found_as_that_fault_and_nothing_else() {
    let faults = [
        "rebinding",
        "get-stream",
        "delete-session",
        "cors",
        "content-type",
        "header-mismatch",
        "unsupported-version",
        "required-meta",
        "missing-session",
        "unknown-session",
        "ended-session",
        "version-header",
        "notification-status",
        "unknown-method",
        "session-id",
        "response",
        "capability",
        "invalid-cursor",
        "parameter-header",
        "tool-name",
        "structured-result",
        "negotiation",
        "latest",
        "result",
        "cursor",
        "page-scope",
        "no-resource",
        "redirect",
        "origin",
        "buffering",
        "server-request",
        "initialize-refused",
        "other-verbs",
        "session-in-request",
    ];
    for fault in faults {
        let url = server(fault);
        let (code, report) = probe(&["--fail-on", "note", "--call", "add", r#"{"b":"x"}"#, &url]);
        assert_eq!(
            found(&report),
            BTreeSet::from([fault]),
            "{}",
            report["findings"]
        );
        assert_eq!(code, 1, "{fault}");
    }
    // The first two break a second rule by the same act; the last ones are other ways to break one.
    for (fault, both) in [
        ("discover", ["discover", "latest"]),
        ("withdrawn-code", ["no-resource", "withdrawn-code"]),
        ("mcp-param", ["header-mismatch", "header-mismatch"]),
        ("mcp-name", ["header-mismatch", "header-mismatch"]),
    ] {
        let (_, report) = probe(&["--call", "add", r#"{"b":"x"}"#, &server(fault)]);
        assert_eq!(
            found(&report),
            BTreeSet::from(both),
            "{}",
            report["findings"]
        );
    }
}

#[test]
fn a_server_that_is_not_known_any_further_says_why() {
    for (fault, expected) in [
        ("answer", &["answer"][..]),
        ("time", &["time"]),
        ("sign-in", &["sign-in"]),
        ("challenge", &["challenge", "sign-in"]),
        ("sign-in-metadata", &["sign-in", "sign-in-metadata"]),
    ] {
        let seconds = if fault == "time" { "1" } else { "60" };
        let (code, report) = probe(&["--timeout", seconds, &server(fault)]);
        let expected = BTreeSet::from_iter(expected.iter().copied());
        assert_eq!((code, found(&report)), (2, expected), "{fault}: {report}");
    }
}

/// Passes connections on to a server, but for those that begin with a POST to its stream of events.
fn without_streamable_http(url: &str) -> String {
    let (listener, server) = (TcpListener::bind("127.0.0.1:0").unwrap(), url.to_owned());
    let own = listener.local_addr().unwrap().to_string();
    let address = url.split('/').nth(2).unwrap().to_owned();
    let pass = |mut from: TcpStream, mut to: TcpStream| {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        })
    };
    let there = address.clone();
    let route = move |mut stream: TcpStream| {
        let mut start = [0; 10];
        if stream
            .peek(&mut start)
            .is_ok_and(|_| start == *b"POST /sse ")
        {
            let refusal = "HTTP/1.1 405 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.read(&mut [0; 1 << 12]);
            let _ = stream.write_all(refusal.as_bytes());
            return;
        }
        let upstream = TcpStream::connect(&there).unwrap();
        pass(stream.try_clone().unwrap(), upstream.try_clone().unwrap());
        pass(upstream, stream);
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let route = route.clone();
            std::thread::spawn(move || route(stream));
        }
    });
    server.replace(&address, &own)
}

#[test]
fn a_server_that_speaks_an_older_transport_is_told_so() {
    let bridge = listening(&server(""), "/sse");
    let (_, report) = probe(&["--timeout", "60", &without_streamable_http(&bridge.1)]);
    assert_eq!(
        found(&report),
        BTreeSet::from(["http-sse", "latest"]),
        "{report}"
    );
}

#[test]
fn what_a_bridge_would_lose_of_results_is_told() {
    let url = server("lossy");
    let (_, report) = probe(&["--call", "add", r#"{"b":"x"}"#, &url]);
    let rows = report["bridge"].as_array().unwrap();
    let losses = rows
        .iter()
        .flat_map(|row| row["losses"].as_array().unwrap());
    let places: Vec<&str> = losses
        .map(|loss| loss["pointer"].as_str().unwrap())
        .collect();
    assert!(
        places.iter().any(|place| place.starts_with("tools/call/")),
        "{report}"
    );
}

#[test]
fn a_process_keeps_its_output_clean_and_ends_with_its_input() {
    // A server of the per-request lifecycle. It stays only after the last request of its conversation.
    let script = r#"
        if [ "$2" = stdout ]; then echo starting; fi
        while IFS= read -r line; do
          id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
          answer='"error":{"code":-32601,"message":"no"}'
          case "$line" in
            *'"initialize"'*|*1900-01-01*)
              answer='"error":{"code":-32022,"message":"no","data":{"requested":"","supported":["'$1'"]}}' ;;
            *'server/discover'*clientCapabilities*|*clientCapabilities*'server/discover'*)
              answer='"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public","capabilities":{},"supportedVersions":["'$1'"]}' ;;
            *'server/discover'*) answer='"error":{"code":-32602,"message":"no"}' ;;
            *no-such-method*) is_last=1 ;;
          esac
          echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$answer}"
        done
        if [ "$2$is_last" = end1 ]; then exec sleep 60; fi"#;
    for (fault, expected) in [("", &[][..]), ("stdout", &["stdout"]), ("end", &["end"])] {
        let (_, report) = probe(&["--", "sh", "-c", script, "sh", LATEST, fault]);
        let expected = BTreeSet::from_iter(expected.iter().copied());
        assert_eq!(found(&report), expected, "{fault}: {report}");
    }
}

#[test]
fn a_certificate_is_for_the_host_and_for_today() {
    let today = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let day = |from: i64| {
        let seconds = today.as_secs().saturating_add_signed(from * 86_400);
        date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds)
    };
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, host, days, expected, why) in [
        ("sound", "127.0.0.1", (-9, 90), None, ""),
        (
            "soon",
            "127.0.0.1",
            (-9, 5),
            Some("certificate-ends"),
            "it ends in ",
        ),
        (
            "ended",
            "127.0.0.1",
            (-9, -2),
            Some("certificate"),
            "it has ended, at ",
        ),
        (
            "early",
            "127.0.0.1",
            (2, 90),
            Some("certificate"),
            "it begins at ",
        ),
        (
            "other",
            "mcp.test",
            (-9, 90),
            Some("certificate"),
            "not valid for name",
        ),
    ] {
        let mut parameters = CertificateParams::new(vec![host.to_owned()]).unwrap();
        (parameters.not_before, parameters.not_after) = (day(days.0), day(days.1));
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let file = folder.join(format!("probe-{name}-{}.pem", std::process::id()));
        std::fs::write(&file, certificate.pem()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            );
        let config = Arc::new(config.unwrap());
        let url = serving("", "https", move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).ok()?;
            Some(StreamOwned::new(connection, stream))
        });
        let file = file.to_str().unwrap();
        let (_, report) = probe(&["--ca-file", file, &url]);
        assert_eq!(
            found(&report),
            BTreeSet::from_iter(expected),
            "{name}: {report}"
        );
        if expected.is_some() {
            let found = report["findings"][0]["found"].as_str().unwrap();
            assert!(found.contains(why), "{name}: {found}");
        }
        let trusted = probe(&[&url]).1.to_string();
        let is_unknown = trusted.contains("no trusted root certificate leads to it");
        assert!(name != "sound" || is_unknown, "{trusted}");
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn what_is_not_reached_says_where_the_way_ends() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let closed = format!("http://127.0.0.1:{port}/mcp");
    let tls = server("").replace("http:", "https:");
    let program = env!("CARGO_BIN_EXE_mcp-rev");
    for (target, check, why) in [
        (&[closed.as_str()][..], "connection", "refused"),
        (&["http://no-such-host.invalid/mcp"], "name", ""),
        (&[&tls], "certificate", ""),
        (&["--", program, "check"], "start", "required arguments"),
        (&["--", "/no/such/program"], "start", "cannot start"),
    ] {
        let (code, report) = probe(target);
        assert_eq!(
            (code, found(&report)),
            (2, BTreeSet::from([check])),
            "{report}"
        );
        let found = report["findings"][0]["found"].as_str().unwrap();
        assert!(found.contains(why), "{found}");
    }
}
