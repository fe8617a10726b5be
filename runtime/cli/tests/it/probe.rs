//! `mcp-rev probe`: a sound server has no finding, and each fault of a server is found as that fault and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use mcp_revisions_core::{Lifecycle, Revision};
use serde_json::{Value, json};

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
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let sessions: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sessions = Arc::clone(&sessions);
            std::thread::spawn(move || serve(fault, stream, &sessions));
        }
    });
    url
}

/// A response: its status, its headers, its body.
type Answer = (u16, Vec<(&'static str, String)>, String);

/// Answers the one request of a connection.
fn serve(fault: &str, mut stream: TcpStream, sessions: &Mutex<BTreeSet<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let verb = line.split(' ').next()?.to_owned();
    let mut headers = BTreeMap::new();
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
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).ok()
}

fn answer(
    fault: &str,
    verb: &str,
    headers: &BTreeMap<String, String>,
    body: &str,
    sessions: &Mutex<BTreeSet<String>>,
) -> Answer {
    let plain = |status: u16| (status, Vec::new(), String::new());
    if headers.contains_key("origin") && verb == "POST" && fault != "rebinding" {
        return plain(403);
    }
    let session = headers.get("mcp-session-id").cloned();
    match verb {
        "GET" if fault == "get-stream" => return plain(200),
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
            && header("mcp-name") == named
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
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    (200, more, body.to_string())
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
            let versions = [&handshake()[..], &[LATEST]].concat();
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

fn listening(upstream: &str) -> Listening {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(["bridge", "--listen", &url, upstream])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Listening(child, url)
}

#[test]
fn a_sound_server_has_no_finding_over_http_and_over_stdio() {
    let url = server("");
    let bridge = listening(&url);
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
    // The first two break a second rule by the same act; the last one is another way to break one.
    for (fault, both) in [
        ("discover", ["discover", "latest"]),
        ("withdrawn-code", ["no-resource", "withdrawn-code"]),
        ("mcp-param", ["header-mismatch", "header-mismatch"]),
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
