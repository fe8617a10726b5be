//! Servers that make mistakes in their messages: what reaches the client, and what an operator reads on stderr.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::sync::mpsc::{Receiver, channel};

use serde_json::json;

use super::http::{Program, initialize};
use super::several::told;
use crate::mcp_rev;

/// A server in the shell; `$id` is the id of the request. `tools/call` is answered by what the test puts in the place of ANSWER.
const SERVER: &str = r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"odd","version":"1"}}}\n' "$id";;
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id";;
    *'"method":"tools/call"'*) ANSWER;;
  esac
done"#;

/// Calls a tool through a bridge before a server that answers like this: the lines of both outputs.
fn called(answer: &str) -> (Program, [Receiver<String>; 2]) {
    let mut bridge = mcp_rev("bridge --color never -- sh -c");
    let bridge = bridge.arg(SERVER.replace("ANSWER", answer)).spawn();
    let mut bridge = Program::of(bridge.unwrap());
    let mut input = bridge.stdin.take().unwrap();
    let output = [
        lines(bridge.stdout.take().unwrap()),
        lines(bridge.stderr.take().unwrap()),
    ];
    let params = json!({"name": "save", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    writeln!(input, "{}", initialize()).unwrap();
    told(&output[0], "\"id\":1");
    writeln!(input, "{call}").unwrap();
    bridge.stdin = Some(input);
    (bridge, output)
}

fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (said, lines) = channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.all(|line| said.send(line).is_ok())
    });
    lines
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
        let (_bridge, [output, errors]) = called(&answer);
        let answered = told(&output, "\"id\":2");
        assert!(answered.contains(words), "{answer}: {answered}");
        let warning = told(&errors, "WARN");
        let is_placed = warning.contains("tools/call") && warning.contains(place);
        assert!(is_placed, "{answer}: {warning}");
    }
}

#[test]
fn a_response_that_fits_no_request_is_logged_and_not_silence() {
    let (_bridge, [output, errors]) = called(r#"printf '{"jsonrpc":"2.0","id":77,"result":{}}\n'"#);
    let warning = told(&errors, "WARN");
    let is_named = warning.contains("a mistake of the server") && warning.contains("77");
    assert!(is_named, "{warning}");
    assert_eq!(output.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
}
