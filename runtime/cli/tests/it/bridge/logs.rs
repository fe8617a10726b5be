//! Slow or absent readers and full disks of logs and records never stop a message.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use super::ends::{ends_soon, signalled};
use super::http::{Program, call_in, exchange, in_session, initialize, session_of};
use crate::mcp_rev;
use crate::schemas::rows;

use super::talk::{PATIENCE, Talk, bridge, peer, value};

fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("logs")
        .join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

fn mkfifo(path: &str) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Calls a tool whose result loses something each time.
fn calls(talk: &mut Talk, count: usize) {
    for _ in 0..count {
        let answer = talk.call("linked");
        assert_eq!(answer["content"][0]["type"], "text", "{answer}");
    }
}

/// All that a bridge writes to standard error from now on.
fn rest(child: &mut Child) -> String {
    let mut error = child.stderr.take().unwrap();
    let (read, all) = channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        let _ = error.read_to_end(&mut said);
        read.send(String::from_utf8_lossy(&said).into_owned())
    });
    all.recv_timeout(PATIENCE).unwrap()
}

/// A pipe holds 64 KiB: each of these calls writes a line about its loss.
#[test]
fn a_log_that_nobody_reads_stops_no_call_and_no_signal() {
    let mut talk = Talk::new(Revision::V2025_03_26, bridge(&[], Revision::LATEST));
    calls(&mut talk, 600);
    signalled(&talk.child, "-TERM");
    ends_soon(&mut talk.child, "its log is not read");
}

#[test]
fn lines_that_a_slow_reader_leaves_no_room_for_are_counted() {
    let server = "yes '0123456789012345678901234567890123456789' | head -n 100000 >&2";
    let (mut child, mut input) = behind(server, &["--log", "off"]);
    assert_eq!(said(&mut child, &mut input), "peer");
    // The server has written all of that: the bridge has read it, and has room for a part of it.
    let mut error = child.stderr.take().unwrap();
    drop(input);
    let mut all = String::new();
    error.read_to_string(&mut all).unwrap();
    let lines = all.lines().filter(|line| line.starts_with("0123")).count();
    let counts = all
        .lines()
        .filter_map(|line| line.strip_prefix("mcp-rev: "));
    let counts = counts.filter_map(|line| line.split(' ').next()?.parse::<usize>().ok());
    assert_eq!(lines + counts.sum::<usize>(), 100_000);
}

/// A bridge over stdio, to a server that runs these words of a shell first; standard error is not read.
fn behind(words: &str, options: &[&str]) -> (Child, std::process::ChildStdin) {
    let server = format!("{words}; exec '{}' --only 2025-11-25", peer().display());
    let mut child = mcp_rev("bridge")
        .args(options)
        .args(["--", "sh", "-c", &server])
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    (child, input)
}

/// The name of the server, as it answers `initialize`.
fn said(child: &mut Child, input: &mut impl std::io::Write) -> String {
    writeln!(input, "{}", initialize()).unwrap();
    let mut output = child.stdout.take().unwrap();
    let (read, line) = channel();
    thread::spawn(move || {
        use std::io::BufRead as _;
        let mut line = String::new();
        let _ = std::io::BufReader::new(&mut output).read_line(&mut line);
        let _ = read.send(line);
        let _ = output.read_to_end(&mut Vec::new());
    });
    let line = line.recv_timeout(PATIENCE).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    answer["result"]["serverInfo"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_server_that_floods_a_log_that_nobody_reads_still_answers() {
    let words = "yes 'a line of the server' | head -n 20000 >&2";
    let (mut child, mut input) = behind(words, &[]);
    assert_eq!(said(&mut child, &mut input), "peer");
    drop(input);
    ends_soon(&mut child, "its log is not read");
}

/// What a server writes when it ends is why it ended.
#[test]
fn the_last_words_of_a_server_are_in_the_log() {
    let mut child = mcp_rev("bridge -- sh -c")
        .args(["read line; echo 'no such database' >&2; exit 7"])
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", initialize()).unwrap();
    drop(input);
    let error = rest(&mut child);
    assert!(error.contains("no such database\n"), "{error}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// A bridge that listens, at a port that was free, with a log that is not read.
fn unread(options: &[&str], words: &str) -> (Program, u16) {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let child = mcp_rev("bridge --listen")
        .args([&format!("http://127.0.0.1:{port}/mcp")])
        .args(options)
        .args([
            "--",
            "sh",
            "-c",
            &format!("{words} exec '{}' --only 2026-07-28", peer().display()),
        ])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let child = Program::of(child);
    let deadline = Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "the bridge does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    (child, port)
}

#[test]
fn a_listener_whose_log_nobody_reads_stays_healthy() {
    let (mut child, port) = unread(&[], "");
    let mut long = initialize();
    long["params"]["clientInfo"]["name"] = "n".repeat(60_000).into();
    long["params"]["protocolVersion"] = "2025-03-26".into();
    for _ in 0..4 {
        let opened = in_session(port, None, Some(&long));
        let session = session_of(&opened).unwrap_or_else(|| panic!("{opened}"));
        for _ in 0..100 {
            let answer = call_in(port, &session, "linked");
            assert!(answer.contains("hello"), "{answer}");
        }
    }
    let health = exchange(port, "GET /healthz", "", "");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    signalled(&child, "-TERM");
    ends_soon(&mut child, "its log is not read");
}

#[test]
fn a_name_that_a_peer_chose_takes_little_room_in_the_log_and_stays_in_its_line() {
    let (mut child, mut input) = behind(":", &["--loss-log", "off"]);
    let mut opening = initialize();
    let name = format!("\u{202e}evil\nERROR forged {}", "n".repeat(60_000));
    opening["params"]["clientInfo"]["name"] = name.into();
    writeln!(input, "{opening}").unwrap();
    assert_eq!(said(&mut child, &mut input), "peer");
    drop(input);
    let log = rest(&mut child);
    assert!(log.contains("the server speaks 2025-11-25"), "{log}");
    assert!(log.lines().all(|line| line.chars().count() < 600), "{log}");
    assert!(
        !log.contains('\u{202e}') && !log.contains("\nERROR forged"),
        "{log}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_is_told_once_and_counted_and_stops_no_call() {
    for (option, what) in [("--loss-log", "the loss log"), ("--record", "the record")] {
        let options = [option, "/dev/full"];
        let mut talk = Talk::new(Revision::V2025_03_26, bridge(&options, Revision::LATEST));
        calls(&mut talk, 20);
        let (code, said) = talk.ends();
        assert_eq!(code, Some(0), "{said}");
        let told = said.matches("cannot write /dev/full: No space left on device");
        assert_eq!(told.count(), 1, "{said}");
        let counted = said.lines().find(|line| line.contains("are missing in"));
        let counted = counted.unwrap_or_else(|| panic!("{said}"));
        assert!(counted.contains(what), "{said}");
        let count: u64 = counted.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(count >= 20, "{said}");
    }
}

#[test]
fn a_pipe_without_a_reader_stops_neither_the_start_nor_a_call() {
    let folder = folder("pipes");
    let (losses, record) = (path(&folder, "losses"), path(&folder, "record"));
    mkfifo(&losses);
    mkfifo(&record);
    let options = ["--loss-log", &losses, "--record", &record];
    let mut talk = Talk::new(Revision::V2025_03_26, bridge(&options, Revision::LATEST));
    calls(&mut talk, 3);
    let (code, said) = talk.ends();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("messages that are missing in the record: "),
        "{said}"
    );
    assert!(
        said.contains("lines that are missing in the loss log: "),
        "{said}"
    );
}

#[test]
fn a_reader_that_comes_late_gets_what_was_written_before() {
    let folder = folder("late");
    let record = path(&folder, "record");
    mkfifo(&record);
    let options = ["--loss-log", "off", "--record", &record];
    let mut talk = Talk::new(Revision::V2025_03_26, bridge(&options, Revision::LATEST));
    calls(&mut talk, 3);
    let reader = thread::spawn(move || std::fs::read_to_string(record).unwrap());
    let (code, said) = talk.ends();
    assert_eq!(code, Some(0), "{said}");
    let record = reader.join().unwrap();
    assert_eq!(
        record.matches(r#""method":"tools/call""#).count(),
        3,
        "{record}"
    );
}

/// The first reader of the pipe leaves, and another one comes: what was missed between them is a line of its schema.
#[test]
fn a_gap_in_a_loss_log_is_a_line_of_it() {
    let losses = path(&folder("gap"), "losses");
    mkfifo(&losses);
    let options = ["--loss-log", &losses];
    let mut talk = Talk::new(Revision::V2025_03_26, bridge(&options, Revision::LATEST));
    let opened = losses.clone();
    let first = thread::spawn(move || std::fs::File::open(opened).unwrap());
    calls(&mut talk, 1);
    drop(first.join().unwrap());
    calls(&mut talk, 2);
    let second = thread::spawn(move || {
        let mut pipe = std::fs::File::open(losses).unwrap();
        let mut told = String::new();
        pipe.read_to_string(&mut told).unwrap();
        told
    });
    thread::sleep(Duration::from_millis(500));
    calls(&mut talk, 1);
    let (code, said) = talk.ends();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Broken pipe"), "{said}");
    let told = rows("loss", &second.join().unwrap());
    let place = told.iter().position(|row| row["change"] == "not-logged");
    let place = place.unwrap_or_else(|| panic!("{told:?}"));
    assert!(told[place]["lines"].as_u64() >= Some(2), "{told:?}");
    assert!(told[place + 1]["rule"].is_string(), "{told:?}");
}

/// As programs for rotation do it: the file is copied and emptied while it is written.
#[test]
fn a_loss_log_that_is_emptied_meanwhile_goes_on_at_its_beginning() {
    let losses = path(&folder("emptied"), "losses.jsonl");
    let options = ["--loss-log", &losses];
    let mut talk = Talk::new(Revision::V2025_03_26, bridge(&options, Revision::LATEST));
    calls(&mut talk, 5);
    let file = std::fs::File::options().write(true).open(&losses);
    file.unwrap().set_len(0).unwrap();
    calls(&mut talk, 5);
    assert_eq!(talk.ends().0, Some(0));
    let told = std::fs::read_to_string(&losses).unwrap();
    assert!(!rows("loss", &told).is_empty(), "{told:?}");
}

/// Each session has a server, and the second one is recorded beside the first: the name of that file can be guessed.
#[test]
fn records_are_for_their_owner_and_follow_no_link_at_a_name_that_was_made_up() {
    let folder = folder("private");
    let victim = folder.join("victim");
    std::fs::write(&victim, "precious").unwrap();
    symlink(&victim, folder.join("session.2.jsonl")).unwrap();
    let (record, losses) = (
        path(&folder, "session.jsonl"),
        path(&folder, "losses.jsonl"),
    );
    let (mut child, port) = unread(&["--record", &record, "--loss-log", &losses], "");
    for _ in 0..2 {
        let opened = in_session(port, None, Some(&initialize()));
        let session = session_of(&opened).unwrap_or_else(|| panic!("{opened}"));
        let answer = call_in(port, &session, "add");
        assert!(answer.contains("3.5"), "{answer}");
    }
    signalled(&child, "-TERM");
    ends_soon(&mut child, "it was told to");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    for name in ["session.jsonl", "session.2.jsonl", "losses.jsonl"] {
        let file = folder.join(name).symlink_metadata().unwrap();
        assert!(file.is_file(), "{name}");
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
    for name in ["session.jsonl", "session.2.jsonl"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(r#""name":"add""#), "{name}: {text}");
    }
}

#[test]
fn the_password_of_the_backplane_reaches_no_server() {
    let folder = folder("environment");
    let file = path(&folder, "environment");
    let server = format!("env > '{file}'; exec '{}'", peer().display());
    let mut child = mcp_rev("bridge -- sh -c")
        .arg(&server)
        .env("MCP_REV_BACKPLANE", "redis://:secret@127.0.0.1/")
        .env("MCP_OF_THE_SERVER", "stays")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    assert_eq!(said(&mut child, &mut input), "peer");
    let environment = std::fs::read_to_string(file).unwrap();
    assert!(
        environment.contains("MCP_OF_THE_SERVER=stays"),
        "{environment}"
    );
    assert!(!environment.contains("secret"), "{environment}");
    drop(input);
    ends_soon(&mut child, "its client has hung up");
}

/// A call that does not end within the grace has an answer all the same.
#[test]
fn a_bridge_that_ends_answers_open_calls_with_an_error() {
    thread::scope(|scope| {
        for (signals, most) in [(1, 30), (2, 4)] {
            scope.spawn(move || answered_over_stdio(signals, most));
            scope.spawn(move || answered_over_http(signals, most));
        }
    });
}

/// The first signal begins the grace, and a second one ends it.
fn signals_of(child: &Child, count: usize) {
    for _ in 0..count {
        signalled(child, "-HUP");
        thread::sleep(Duration::from_millis(500));
    }
}

fn answered_over_stdio(signals: usize, most: u64) {
    let mut talk = Talk::new(Revision::V2025_11_25, bridge(&[], Revision::V2025_11_25));
    talk.adds();
    let sleep = talk.tool("sleep");
    talk.sends();
    thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    signals_of(&talk.child, signals);
    let answer = value(&talk.answers(&[sleep])[&sleep]).to_string();
    assert!(answer.contains("the bridge has ended before"), "{answer}");
    ends_soon(&mut talk.child, "it was told to");
    assert!(
        began.elapsed() < Duration::from_secs(most),
        "{signals}: {:?}",
        began.elapsed()
    );
}

fn answered_over_http(signals: usize, most: u64) {
    let (mut child, port) = unread(&["--loss-log", "off"], "");
    let opened = in_session(port, None, Some(&initialize()));
    let session = session_of(&opened).unwrap_or_else(|| panic!("{opened}"));
    let open = thread::spawn(move || call_in(port, &session, "sleep"));
    thread::sleep(Duration::from_millis(800));
    let began = Instant::now();
    signals_of(&child, signals);
    let answer = open.join().unwrap();
    assert!(answer.contains("the bridge has ended before"), "{answer}");
    let id = answer.contains(r#""id":2"#) || answer.contains(r#""id": 2"#);
    assert!(id, "{answer}");
    ends_soon(&mut child, "it was told to");
    assert!(
        began.elapsed() < Duration::from_secs(most),
        "{signals}: {:?}",
        began.elapsed()
    );
}

/// The client waits for a server that does not start.
#[test]
fn a_bridge_that_ends_while_its_server_starts_answers_its_client() {
    let mut child = mcp_rev("bridge -- sleep 1000")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", initialize()).unwrap();
    thread::sleep(Duration::from_millis(500));
    signalled(&child, "-TERM");
    ends_soon(&mut child, "its server does not start");
    let mut answer = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["id"], json!(1));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("shutting down"),
        "{answer}"
    );
    drop(input);
}

/// The reader of the log leaves, and the bridge goes on.
#[test]
fn a_reader_of_the_log_that_leaves_changes_nothing() {
    let mut child = bridge(&[], Revision::LATEST);
    drop(child.stderr.take());
    child.stderr = None;
    let mut talk = Talk::new(Revision::V2025_03_26, child);
    calls(&mut talk, 20);
    let die = talk.tool("die");
    talk.answers(&[die]);
    ends_soon(&mut talk.child, "its server has ended");
    assert_eq!(talk.child.wait().unwrap().code(), Some(1));
}
