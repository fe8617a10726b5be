//! `mcp-rev tap`: what goes by is untouched, and written down.

#![cfg(unix)]
use crate::{fed, mcp_rev};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tap");
    std::fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

fn tap(arguments: &[&str], server: &str) -> Child {
    mcp_rev("tap")
        .args(arguments)
        .args(["--", "sh", "-c", server])
        .spawn()
        .unwrap()
}

fn says(mut child: Child, input: &[u8]) -> Output {
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn bytes_go_through_as_they_are_and_the_code_comes_back() {
    let input = b"{\"jsonrpc\": \"2.0\",\t\"id\":1.0e0}\r\nnot json \xff\n\nno end";
    let output = says(tap(&[], "cat; exit 7"), input);
    assert_eq!(output.stdout, input);
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn what_went_by_is_a_transcript() {
    let file = scratch("talk.jsonl");
    let name = file.to_str().unwrap();
    let server = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[], "nextCursor":"a"}}'; cat > /dev/null"#;
    let ask = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    let output = says(tap(&["--record", name], server), ask);
    assert!(output.status.success());
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let [answer, asked] = lines.as_slice() else {
        panic!("{text}");
    };
    assert!(asked.starts_with("{\"dir\":\">\",\"at\":"), "{asked}");
    assert!(
        asked.ends_with("\"message\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}"),
        "{asked}"
    );
    // Spaces between members are the sender's.
    assert!(
        answer.ends_with("{\"tools\":[], \"nextCursor\":\"a\"}}}"),
        "{answer}"
    );
    let read = mcp_rev("transcript").arg(name).output().unwrap();
    assert_eq!(
        read.status.code(),
        Some(1),
        "nothing says which revision is spoken"
    );
}

#[test]
fn answers_come_while_the_client_goes_on_and_are_shown_with_their_time() {
    let server = r#"while read line; do echo '{"jsonrpc":"2.0","id":1,"result":{}}'; done"#;
    let mut child = tap(&["--watch"], server);
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    to.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
        .unwrap();
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    drop(to);
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(shown.contains("> 1  ping\n"), "{shown}");
    assert!(shown.contains("< 1  ping: ok  "), "{shown}");
    assert!(!shown.contains('\u{1b}'), "a pipe has no colours: {shown}");
}

#[test]
fn what_a_peer_says_stays_within_its_line() {
    let method = r"a\n< 1  ping: ok\u001b[31m";
    let server = format!(
        r#"read line; printf '%s\n' '{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"{method}"}}}}'; cat > /dev/null"#
    );
    let ask = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\"}}\n");
    let output = says(tap(&["--watch"], &server), ask.as_bytes());
    let shown = String::from_utf8(output.stderr).unwrap();
    let method = r"a\n< 1  ping: ok\u{1b}[31m";
    assert!(shown.contains(&format!("> 1  {method}\n")), "{shown}");
    let answer = format!("< 1  {method}: -1: {method}");
    assert!(shown.contains(&answer), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn a_reader_that_does_not_read_holds_up_nothing_and_is_told_how_much_it_missed() {
    const LINES: usize = 40_000;
    let server =
        format!(r#"yes '{{"jsonrpc":"2.0","method":"notifications/message"}}' | head -n {LINES}"#);
    let file = scratch("unread.jsonl");
    let mut child = tap(&["--watch", "--record", file.to_str().unwrap()], &server);
    let from = BufReader::new(child.stdout.take().unwrap());
    let (told, heard) = channel();
    thread::spawn(move || told.send(from.lines().map_while(Result::ok).count()));
    // Standard error is not read, and every line of the server arrives.
    let count = heard.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(count, LINES);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let record = std::fs::read_to_string(&file).unwrap();
    assert_eq!(record.lines().count(), LINES);
    let shown = String::from_utf8(output.stderr).unwrap();
    let lines = shown.lines().filter(|line| line.starts_with(['<', '!']));
    assert!(lines.count() > 100, "{shown}");
}

#[test]
fn a_record_goes_on_when_nobody_looks_on_any_more() {
    let file = scratch("alone.jsonl");
    let mut child = tap(&["--watch", "--record", file.to_str().unwrap()], "cat");
    drop(child.stderr.take());
    let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(50);
    let output = says(child, &input);
    assert_eq!(output.stdout, input);
    assert_eq!(output.status.code(), Some(0));
    let record = std::fs::read_to_string(&file).unwrap();
    assert_eq!(record.lines().count(), 100, "{record}");
}

#[test]
fn a_record_that_nobody_reads_holds_up_nothing_and_is_no_success() {
    let pipe = scratch("pipe");
    let _ = std::fs::remove_file(&pipe);
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let output = says(tap(&["--record", pipe.to_str().unwrap()], "cat"), input);
    assert_eq!(output.stdout, input);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("messages that are missing in the transcript: 2"),
        "{error}"
    );
    assert_eq!(output.status.code(), Some(3), "{error}");
}

#[test]
fn a_long_name_takes_little_room_on_the_terminal() {
    let method = format!("\u{202e}{}", "m".repeat(10_000));
    let ask = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{method}\",\"method\":\"{method}\"}}\n");
    let output = says(tap(&["--watch"], "cat > /dev/null"), ask.as_bytes());
    let shown = String::from_utf8(output.stderr).unwrap();
    let asked = shown.lines().find(|line| line.starts_with('>')).unwrap();
    assert!(asked.chars().count() < 500, "{asked}");
    assert!(!shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn a_server_that_is_killed_leaves_a_whole_record() {
    let file = scratch("killed.jsonl");
    let server = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = tap(&["--record", file.to_str().unwrap()], server);
    let from = ready(&mut child);
    signalled(&child, "-TERM");
    assert_eq!(ends(child).0, Some(137));
    let record = std::fs::read_to_string(&file).unwrap();
    assert!(record.contains("ready"), "{record}");
    drop(from);
}

#[test]
fn a_record_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = scratch("private.jsonl");
    let _ = std::fs::remove_file(&file);
    says(
        tap(&["--record", file.to_str().unwrap()], "cat"),
        b"hello\n",
    );
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_server_that_ends_ends_the_tap_though_its_client_waits() {
    let mut child = tap(&[], "exit 3");
    // The client says nothing, and does not go.
    let stdin = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    drop(stdin);
}

#[test]
fn what_cannot_be_started_or_written_is_an_error() {
    for (line, code) in [
        ("tap -- /no/such/program", 3),
        ("tap --record /no/such/folder/file -- true", 3),
        ("tap", 2),
    ] {
        let run = fed(line.split(' '), "");
        assert!(
            run.code == code && !run.err.is_empty(),
            "{line}: {}",
            run.err
        );
    }
}

/// The first line that the server prints, before anything else happens to the tap.
fn ready(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    from
}

fn signalled(child: &Child, signal: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

/// The exit code and standard error of a tap that ends soon, with all processes that have its standard error.
fn ends(mut child: Child) -> (Option<i32>, String) {
    let mut error = child.stderr.take().unwrap();
    let (told, heard) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        let _ = error.read_to_string(&mut text);
        told.send(text)
    });
    let text = heard.recv_timeout(Duration::from_secs(30)).unwrap();
    (child.wait().unwrap().code(), text)
}

const ON: &str = "while :; do sleep 0.05; done";

#[test]
fn signals_are_for_the_server_whose_end_is_that_of_the_tap() {
    for signal in ["TERM", "INT", "HUP"] {
        let server = format!("trap 'echo {signal}; exit 5' {signal}; echo ready; {ON}");
        let mut child = tap(&[], &server);
        let mut from = ready(&mut child);
        signalled(&child, &format!("-{signal}"));
        assert_eq!(ends(child).0, Some(5));
        let mut rest = String::new();
        from.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, format!("{signal}\n"));
    }
}

#[test]
fn a_server_that_stays_after_its_input_ended_is_ended_by_a_signal() {
    let mut child = tap(&[], &format!("cat > /dev/null; echo ready; {ON}"));
    drop(child.stdin.take());
    let from = ready(&mut child);
    assert!(child.try_wait().unwrap().is_none());
    signalled(&child, "-TERM");
    let (code, error) = ends(child);
    assert_eq!(code, Some(143));
    assert_eq!(error, "tap: the server was ended by signal 15\n");
    drop(from);
}

#[test]
fn a_server_that_ignores_signals_is_killed_with_what_its_wrapper_started() {
    let mut child = tap(&[], "trap '' TERM; (echo ready; sleep 60); true");
    let from = ready(&mut child);
    signalled(&child, "-TERM");
    let (code, error) = ends(child);
    assert_eq!(code, Some(137));
    assert_eq!(error, "tap: the server was ended by signal 9\n");
    drop(from);
}

#[test]
fn a_second_sigterm_kills_the_server() {
    // A busy machine may be slower than the grace, but not each time.
    let quick = (0..10).any(|_| {
        let mut child = tap(&[], &format!("trap 'echo ready' TERM; echo ready; {ON}"));
        let mut from = ready(&mut child);
        let start = Instant::now();
        signalled(&child, "-TERM");
        from.read_line(&mut String::new()).unwrap();
        signalled(&child, "-TERM");
        assert_eq!(ends(child).0, Some(137));
        start.elapsed() < Duration::from_millis(1500)
    });
    assert!(quick);
}

#[test]
fn a_server_that_a_signal_ended_gives_the_code_of_a_shell() {
    let (code, error) = ends(tap(&[], "kill -9 $$"));
    assert_eq!(code, Some(137));
    assert_eq!(error, "tap: the server was ended by signal 9\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_record_that_cannot_be_written_is_an_error_once_the_session_is_over() {
    let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(3);
    let output = says(tap(&["--record", "/dev/full"], "cat"), &input);
    assert_eq!(output.stdout, input);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error
            .matches("the transcript has gaps: cannot write /dev/full")
            .count()
            == 1,
        "{error}"
    );
    assert_eq!(output.status.code(), Some(3));
}
