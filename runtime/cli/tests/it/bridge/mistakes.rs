//! Servers that make mistakes in their messages: what reaches the client, and what an operator reads on stderr.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// A server in the shell; `$id` is the id of the request. `tools/call` is answered by what the test puts in the place of ANSWER.
const SERVER: &str = r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"odd","version":"1"}}}\n' "$id";;
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id";;
    *'"method":"tools/call"'*) ANSWER;;
  esac
done"#;

/// The response to a call through the bridge before a server that answers like this, and what stderr has.
fn called(answer: &str) -> (Option<Value>, String) {
    let mut bridge = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(["bridge", "--color", "never", "--", "sh", "-c"])
        .arg(SERVER.replace("ANSWER", answer))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = bridge.stdin.take().unwrap();
    let output = BufReader::new(bridge.stdout.take().unwrap());
    let (said, answers) = mpsc::channel();
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = said.send(serde_json::from_str::<Value>(&line).unwrap());
        }
    });
    let mut ask = |id: i64, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
    };
    let client = json!({"name": "test", "version": "1"});
    let opening =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    ask(1, "initialize", opening);
    answers.recv_timeout(LONG).unwrap();
    ask(2, "tools/call", json!({"name": "save", "arguments": {}}));
    // What is left out is followed by a message that is not.
    let mut answered = None;
    let wait = if answer.contains("left out") {
        Duration::from_secs(3)
    } else {
        LONG
    };
    while let Ok(message) = answers.recv_timeout(wait) {
        if message["id"] == 2 {
            answered = Some(message);
            break;
        }
    }
    drop(input);
    let mut stderr = String::new();
    bridge
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    bridge.wait().unwrap();
    (answered, stderr)
}

#[test]
fn mistakes_of_a_server_are_logged_as_warnings_with_method_and_place() {
    let done = r#""result":{"content":[{"type":"text","text":"done"}]}"#;
    let cases = [
        (
            format!(r#"printf '{{"jsonrpc":"2.0","id":"%s",{done}}}\n' "$id""#),
            "done",
            "/id",
        ),
        (
            format!(r#"printf '{{"jsonrpc":"2.0","id":0,{done}}}\n'"#),
            "done",
            "/id",
        ),
        (
            format!(r#"printf 'saving... {{"jsonrpc":"2.0","id":%s,{done}}}\n' "$id""#),
            "done",
            "saving...",
        ),
        (
            r#"printf '{"jsonrpc":"2.0","id":%s,"error":"disk is full"}\n' "$id""#.to_owned(),
            "disk is full",
            "/error",
        ),
    ];
    for (answer, words, place) in cases {
        let (answered, stderr) = called(&answer);
        assert!(
            answered.unwrap().to_string().contains(words),
            "{answer}: {stderr}"
        );
        let warning = stderr
            .lines()
            .find(|line| line.contains("WARN"))
            .unwrap_or_default();
        assert!(
            warning.contains("tools/call") && warning.contains(place),
            "{answer}: {stderr}"
        );
    }
}

#[test]
fn a_response_that_fits_no_request_is_logged_and_not_silence() {
    let (answered, stderr) =
        called(r#": left out; printf '{"jsonrpc":"2.0","id":77,"result":{}}\n'"#);
    assert_eq!(answered, None);
    let warning = stderr
        .lines()
        .find(|line| line.contains("WARN"))
        .unwrap_or_default();
    assert!(
        warning.contains("a mistake of the server") && warning.contains("77"),
        "{stderr}"
    );
}
