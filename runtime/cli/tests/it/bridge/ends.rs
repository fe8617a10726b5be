//! One side goes, or was never there: the other gets an answer or an end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions::sansio::client::{Answer, OutgoingRequest};
use mcp_revisions_core::Revision;
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::bridge::http::initialize;
use crate::bridge::talk::Held;
use crate::bridge::talk::{PATIENCE, Talk, bridge, bridge_to, peer};
#[cfg(unix)]
use crate::mcp_rev;

/// Each of them waits for seconds, so they wait side by side.
#[test]
fn whoever_is_left_gets_an_answer_or_an_end() {
    thread::scope(|scope| {
        for client in [Revision::V2025_11_25, Revision::LATEST] {
            scope.spawn(move || a_server_that_dies_leaves_an_answer_and_an_end(client));
        }
        for (arguments, why) in [
            (&["--", "/no/such/program"][..], "cannot start"),
            (&["--", "true"], "exit status: 0"),
            (&["http://127.0.0.1:1/mcp"], "refused"),
        ] {
            scope.spawn(move || what_cannot_be_bridged_is_an_error(arguments, why));
        }
        #[cfg(unix)]
        scope.spawn(a_client_that_leaves_while_its_server_starts_leaves_nobody);
        let revisions = [
            Revision::V2025_06_18,
            Revision::V2025_11_25,
            Revision::LATEST,
        ];
        for client in revisions {
            for ends in revisions.map(|server| [client, server]) {
                for is_at_work in [false, true] {
                    scope.spawn(move || {
                        a_bridge_that_is_hung_up_waits_for_work_alone(ends, is_at_work)
                    });
                }
            }
        }
    });
}

fn a_server_that_dies_leaves_an_answer_and_an_end(client: Revision) {
    let mut talk = Talk::new(client, bridge(&[], Revision::V2025_06_18));
    talk.adds();
    let (sleep, die) = (talk.tool("sleep"), talk.tool("die"));
    for (token, answer) in talk.answers(&[sleep, die]) {
        assert!(
            !matches!(answer, Answer::Result(_)),
            "{token:?}: {answer:?}"
        );
    }
    // The client has not hung up.
    let (code, said) = talk.waits();
    assert_eq!(code, Some(1), "{client}: {said}");
    assert!(said.contains("exit status: 9"), "{client}: {said}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_bridge_with_grace() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let mut talk = Talk::new(Revision::V2025_11_25, bridge(&[], Revision::V2025_11_25));
        talk.adds();
        signalled(&talk.child, signal);
        let (code, said) = talk.waits();
        assert_eq!(code, Some(0), "{signal}: {said}");
    }
}

/// What its server says fills every pipe, for nobody reads it: the bridge ends all the same when it is told to, and when
/// its client hangs up.
#[cfg(unix)]
#[test]
fn a_bridge_ends_though_its_client_does_not_read() {
    thread::scope(|scope| {
        for hangs_up in [false, true] {
            scope.spawn(move || ends_unread(hangs_up));
        }
    });
}

#[cfg(unix)]
fn ends_unread(hangs_up: bool) {
    let mut child = bridge(&["--log", "off"], Revision::V2025_11_25);
    let output = child.stdout.take().unwrap();
    let mut input = child.stdin.take().unwrap();
    let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    writeln!(input, "{}\n{opened}", initialize()).unwrap();
    let params = json!({"name": "flood", "_meta": {"progressToken": 2}});
    let flood = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    writeln!(input, "{flood}").unwrap();
    thread::sleep(Duration::from_secs(2));
    if !hangs_up {
        signalled(&child, "-TERM");
    }
    let input = (!hangs_up).then_some(input);
    // Well before what is written is given up because nobody reads it.
    ends_soon(&mut child, &format!("hung up: {hangs_up}"));
    drop((input, output));
}

#[cfg(unix)]
pub(crate) fn ends_soon(child: &mut std::process::Child, told: &str) {
    let deadline = Instant::now() + PATIENCE / 2;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the bridge does not end, {told}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Until its client says anything, the bridge waits, and a signal still ends it.
#[cfg(unix)]
#[test]
fn a_bridge_that_waits_for_its_client_is_ended_by_a_signal() {
    let mut child = bridge(&["--log", "off"], Revision::LATEST);
    thread::sleep(Duration::from_millis(500));
    signalled(&child, "-TERM");
    ends_soon(&mut child, "and its client has said nothing");
}

#[cfg(unix)]
pub(crate) fn signalled(child: &std::process::Child, signal: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

/// A bridge that is sent one request, to what it ends with, once its client has hung up after the answer.
fn refused(arguments: &[&str]) -> (Value, String) {
    let mut child = mcp_rev("bridge").args(arguments).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let _ = writeln!(input, "{}", initialize());
    let mut answer = String::new();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    answers.read_line(&mut answer).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let answer = serde_json::from_str(&answer).unwrap_or_default();
    (answer, String::from_utf8(output.stderr).unwrap())
}

/// The server says nothing, and reads nothing: not even the end of its input.
#[cfg(unix)]
fn a_client_that_leaves_while_its_server_starts_leaves_nobody() {
    let held = Held::new("starting");
    let server = format!("exec 9> '{}'; exec sleep 1000", held.path);
    let mut child = mcp_rev("bridge -- sh -c")
        .arg(&server)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", initialize()).unwrap();
    drop(input);
    ends_soon(&mut child, "and its client has left");
    held.leaves_nobody(&mut child);
}

/// Who starts the bridge reads why on standard error, and its client in the answer to what it asked first.
fn what_cannot_be_bridged_is_an_error(arguments: &[&str], why: &str) {
    let (answer, said) = refused(arguments);
    let told = answer["error"]["message"].as_str().unwrap_or_default();
    assert_eq!(answer["id"], 1, "{arguments:?}: {answer}");
    assert!(told.contains(why), "{arguments:?}: {answer}");
    assert!(said.contains(why), "{arguments:?}: {said}");
}

#[test]
fn a_server_that_cannot_be_meant_is_a_matter_of_usage() {
    let is_usage = |run: Output, why: &str| {
        let told = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2), "{why}: {told}");
        assert!(told.contains(why), "{why}: {told}");
    };
    for (options, why) in [
        ("ftp://127.0.0.1/mcp", "expected http://, https:// or unix:"),
        ("my-server", "expected http://, https:// or unix:"),
        ("http:///mcp", "no host"),
        ("", "<URL|COMMAND|--config <FILE>>"),
        ("--combine -- cat", "--combine is for the servers of a file"),
        ("--list-timeout 3 -- cat", "--combine"),
        (
            "--client-id x -- cat",
            "--client-id is for a server at a URL",
        ),
        (
            "--no-browser -- cat",
            "--no-browser is for a server at a URL",
        ),
        ("--auth off -- cat", "--auth is for a server at a URL"),
        ("--header A:b -- cat", "cannot be used with '[COMMAND]...'"),
        ("--metrics /m -- cat", "--metrics is for an HTTP listener"),
        ("--guard-scope x -- cat", "--guard"),
        ("--tool-for-scope a=b -- cat", "--guard"),
        ("URL --header-env A=NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"),
        (
            "URL --client-revisions 2025-06-18,2026-07-28-rc",
            "2025-11-25, 2026-07-28",
        ),
        (
            "URL --upstream-revision 2026-07-28-rc",
            "2025-11-25, 2026-07-28",
        ),
        ("URL --upstream-revision draft", "2025-11-25, 2026-07-28"),
    ] {
        let line = format!(
            "bridge {}",
            options.replace("URL", "http://127.0.0.1:1/mcp")
        );
        is_usage(mcp_rev(&line).output().unwrap(), why);
    }
    for (option, header, why) in [
        ("--header", "bad", "expected NAME:VALUE"),
        ("--header", ": x", "not a valid header name"),
        ("--header", "Bad Name: x", "not a valid header name"),
        ("--header", "X: a\nb", "holds a line break"),
        ("--header-env", "Bad Name=PATH", "not a valid header name"),
        ("--header", "content-length: 1", "the transport sets"),
        ("--header", "Host: x", "the transport sets"),
        ("--header", "Transfer-Encoding: x", "the transport sets"),
        ("--header", "Connection: close", "the transport sets"),
        ("--header", "Mcp-Session-Id: x", "the transport sets"),
        ("--header", "MCP-Protocol-Version: x", "the transport sets"),
        ("--header", "Mcp-Param-Region: x", "the transport sets"),
    ] {
        let mut bridge = mcp_rev("bridge http://127.0.0.1:1/mcp");
        is_usage(bridge.args([option, header]).output().unwrap(), why);
    }
}

/// A web server that answers everything with this.
fn web(status: &'static str, kind: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

#[test]
fn a_server_that_is_none_is_told_by_its_status_and_what_it_says() {
    let html = "<html>\u{1b}[31mWelcome</html>";
    for (url, expected) in [
        (
            web("401 Unauthorized", "text/plain", "who are you"),
            ["401", "who are you", "in a header"],
        ),
        (
            web("500 Internal Server Error", "text/html", html),
            ["500", "Welcome", "<html>"],
        ),
        (
            web("200 OK", "text/html", html),
            ["200", "Welcome", "<html>"],
        ),
        (
            web("404 Not Found", "text/plain", ""),
            ["404", "path", "mcp"],
        ),
    ] {
        let (answer, said) = refused(&[&url]);
        let told = answer["error"]["message"].as_str().unwrap_or_default();
        for part in expected {
            assert!(told.contains(part), "{expected:?}: {told}");
            assert!(said.contains(part), "{expected:?}: {said}");
        }
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
}

/// Whatever it speaks: what it opens, it opens once.
#[test]
fn a_server_is_started_once() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("started-once");
    for server in Revision::NEGOTIATED {
        let _ = std::fs::remove_file(&file);
        let own = ["--started", file.to_str().unwrap()];
        let mut talk = Talk::new(Revision::V2025_11_25, bridge_to(&[], *server, &own));
        talk.adds();
        assert_eq!(talk.ends().0, Some(0));
        let started = std::fs::read_to_string(&file).unwrap();
        assert_eq!(started.lines().count(), 1, "{server}");
    }
}

/// Who is told that nothing can be done reads what the server speaks instead.
#[test]
fn a_server_that_speaks_another_revision_is_told_by_what_it_speaks() {
    let peer = peer();
    let peer = peer.to_str().unwrap();
    for (server, wanted) in [
        (Revision::V2025_06_18, Revision::V2024_11_05),
        (Revision::V2025_06_18, Revision::LATEST),
        (Revision::LATEST, Revision::V2025_06_18),
    ] {
        let only = ["--only", server.id()];
        let options = ["--upstream-revision", wanted.id(), "--", peer];
        let (answer, said) = refused(&[&options[..], &only].concat());
        let told = answer["error"]["message"].as_str().unwrap_or_default();
        let speaks = format!("it speaks {}", server.protocol_version());
        assert!(told.contains(&speaks), "{server}, {wanted}: {told}");
        assert!(said.contains(&speaks), "{server}, {wanted}: {said}");
    }
}

/// Once the client has hung up, calls at work have some seconds to end, and without one the bridge ends at once. A stream
/// that listens to changes is not a call at work. Nothing is left behind: a server would hold the standard error of the bridge.
fn a_bridge_that_is_hung_up_waits_for_work_alone(
    [client, server]: [Revision; 2],
    is_at_work: bool,
) {
    let mut talk = Talk::new(client, bridge(&[], server));
    let uri = Json::from(json!({ "uri": "file:///hello" }));
    let listen = talk.ask(OutgoingRequest::new("resources/subscribe", Some(uri)));
    let add = talk.tool("add");
    talk.answers(&[listen, add]);
    if is_at_work {
        let _ = talk.tool("sleep");
        talk.sends();
    }
    let (code, said) = talk.ends();
    assert_eq!(code, Some(0), "{client}, {server}: {said}");
    let has_waited = said.contains("what is still open is given up");
    assert_eq!(has_waited, is_at_work, "{client}, {server}: {said}");
}

/// It may say what it likes, as long as it likes: the call ends, and others go on.
#[test]
fn an_answer_that_is_too_long_is_an_error() {
    for server in [Revision::V2025_06_18, Revision::LATEST] {
        let mut talk = Talk::new(Revision::V2025_11_25, bridge(&["--log", "off"], server));
        let endless = talk.tool("endless");
        let answers = talk.answers(&[endless]);
        let told = format!("{:?}", answers[&endless]);
        assert!(told.contains("16777216"), "{server}: {told}");
        talk.adds();
    }
}

/// Somewhere among other calls the server dies: each of them is answered, and the bridge ends.
#[test]
fn a_server_may_die_at_any_point() {
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..12 {
        let client = random.choice(Revision::NEGOTIATED).unwrap();
        let server = random.choice(Revision::NEGOTIATED).unwrap();
        let mut talk = Talk::new(
            *client,
            bridge(&["--loss-log", "off", "--log", "off"], *server),
        );
        let mut asked = Vec::new();
        let die = random.usize(..6);
        for place in 0..6 {
            let tool = match place == die {
                true => "die",
                false => random.choice(["add", "progress", "sample", "log"]).unwrap(),
            };
            asked.push(talk.tool(tool));
        }
        let answers = talk.answers(&asked);
        assert_eq!(answers.len(), 6, "{round}: {client}, {server}");
        let died = &answers[&asked[die]];
        assert!(!matches!(died, Answer::Result(_)), "{round}: {died:?}");
        let deadline = Instant::now() + PATIENCE;
        while talk.child.try_wait().unwrap().is_none() {
            assert!(
                Instant::now() < deadline,
                "{round}: the bridge does not end"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The client hangs up after any number of messages: the bridge ends, without a failure.
#[test]
fn a_client_may_hang_up_at_any_point() {
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..12 {
        let client = random.choice(Revision::NEGOTIATED).unwrap();
        let server = random.choice(Revision::NEGOTIATED).unwrap();
        let mut talk = Talk::new(
            *client,
            bridge(&["--loss-log", "off", "--log", "off"], *server),
        );
        let first = talk.tool("add");
        if random.bool() {
            talk.answers(&[first]);
        }
        for _ in 0..random.usize(..5) {
            talk.tool(random.choice(["add", "progress", "ask", "sample"]).unwrap());
        }
        talk.sends();
        let (code, said) = talk.ends();
        assert_eq!(code, Some(0), "{round}: {client}, {server}: {said}");
    }
}

/// The bridge is killed after any number of messages: its client gets an end, and the server ends by itself.
#[cfg(unix)]
#[test]
fn a_bridge_may_be_killed_at_any_point() {
    let mut random = fastrand::Rng::with_seed(13);
    for round in 0..12 {
        let client = random.choice(Revision::NEGOTIATED).unwrap();
        let server = random.choice(Revision::NEGOTIATED).unwrap();
        let held = Held::new(&format!("killed-{round}"));
        let (quiet, own) = (
            ["--loss-log", "off", "--log", "off"],
            ["--held", &held.path],
        );
        let mut talk = Talk::new(*client, bridge_to(&quiet, *server, &own));
        talk.adds();
        let mut asked = Vec::new();
        for _ in 0..random.usize(1..6) {
            asked.push(talk.tool(random.choice(["ask", "progress", "sample"]).unwrap()));
        }
        talk.sends();
        thread::sleep(Duration::from_millis(random.u64(..20)));
        talk.child.kill().unwrap();
        // What was not answered is answered with the end.
        let answers = talk.answers(&asked);
        assert_eq!(answers.len(), asked.len(), "{round}: {client}, {server}");
        held.leaves_nobody(&mut talk.child);
    }
}
