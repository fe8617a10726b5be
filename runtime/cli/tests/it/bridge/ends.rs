//! One side goes, or was never there: the other gets an answer or an end.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_registry::Revision;
use mcp_revisions::client::Answer;

use crate::bridge::talk::{PATIENCE, Talk, bridge, leaves_nobody, value};

#[test]
fn a_server_that_dies_leaves_an_answer_and_an_end() {
    for client in [Revision::V2025_11_25, Revision::NEWEST] {
        let mut talk = Talk::new(client, bridge(&[], Revision::V2025_06_18));
        let add = talk.tool("add");
        assert_eq!(
            value(&talk.answers(&[add])[&add])["content"][0]["text"],
            "3.5"
        );
        let (sleep, die) = (talk.tool("sleep"), talk.tool("die"));
        for (token, answer) in talk.answers(&[sleep, die]) {
            assert!(
                !matches!(answer, Answer::Result(_)),
                "{token:?}: {answer:?}"
            );
        }
        // The client has not hung up.
        let deadline = Instant::now() + PATIENCE;
        while talk.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the bridge does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_client_that_goes_leaves_nothing_behind() {
    let mut talk = Talk::new(Revision::V2025_11_25, bridge(&[], Revision::V2025_11_25));
    let add = talk.tool("add");
    talk.answers(&[add]);
    let _ = talk.tool("sleep");
    while let Some(output) = talk.client.poll() {
        talk.does(output, &mut BTreeMap::new());
    }
    drop(talk.ends());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_bridge_with_grace() {
    let mut talk = Talk::new(Revision::V2025_11_25, bridge(&[], Revision::V2025_11_25));
    let add = talk.tool("add");
    talk.answers(&[add]);
    let id = talk.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = talk.child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "the bridge does not end");
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(0));
}

#[test]
fn what_cannot_be_bridged_is_an_error() {
    for arguments in [
        &["--", "/no/such/program"][..],
        &["--record", "/no/such/folder/file", "--", "true"],
        &["--", "true"],
        &["http://127.0.0.1:1/mcp"],
        &["ftp://127.0.0.1/mcp"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
            .arg("bridge")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let _ = input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{arguments:?}"
        );
        drop(input);
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
            bridge(&["--losses", "off", "--log", "off"], *server),
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
            bridge(&["--losses", "off", "--log", "off"], *server),
        );
        let first = talk.tool("add");
        if random.bool() {
            talk.answers(&[first]);
        }
        for _ in 0..random.usize(..5) {
            talk.tool(random.choice(["add", "progress", "ask", "sample"]).unwrap());
        }
        while let Some(output) = talk.client.poll() {
            talk.does(output, &mut BTreeMap::new());
        }
        let (code, said) = talk.ends();
        assert_eq!(code, Some(0), "{round}: {client}, {server}: {said}");
    }
}

/// The bridge is killed after any number of messages: its client gets an end, and the server ends by itself.
#[test]
fn a_bridge_may_be_killed_at_any_point() {
    let mut random = fastrand::Rng::with_seed(13);
    for round in 0..12 {
        let client = random.choice(Revision::NEGOTIATED).unwrap();
        let server = random.choice(Revision::NEGOTIATED).unwrap();
        let mut talk = Talk::new(
            *client,
            bridge(&["--losses", "off", "--log", "off"], *server),
        );
        let add = talk.tool("add");
        talk.answers(&[add]);
        let mut asked = Vec::new();
        for _ in 0..random.usize(1..6) {
            asked.push(talk.tool(random.choice(["ask", "progress", "sample"]).unwrap()));
        }
        while let Some(output) = talk.client.poll() {
            talk.does(output, &mut BTreeMap::new());
        }
        thread::sleep(Duration::from_millis(random.u64(..20)));
        talk.child.kill().unwrap();
        // What was not answered is answered with the end.
        let answers = talk.answers(&asked);
        assert_eq!(answers.len(), asked.len(), "{round}: {client}, {server}");
        leaves_nobody(&mut talk.child);
    }
}
