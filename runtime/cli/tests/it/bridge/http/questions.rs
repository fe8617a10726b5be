//! Clients that share a server, and are asked, or do not read.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use crate::bridge::talk::PATIENCE;

use super::{asking, call, listening, post, result};

/// The client that was asked does not come back; others go on, and can be asked.
#[test]
fn an_abandoned_question_holds_up_nobody() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let ask = |body: &Value| post(port, Revision::LATEST, body);
    let asked = result(&ask(&asking("ask", json!({}))));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let added = result(&ask(&asking("add", json!({}))));
    assert_eq!(added["content"][0]["text"], "3", "{added}");
    // Nor does any other call wait, of which it is not known whether it asks.
    let began = Instant::now();
    for number in 0..13 {
        let unknown = format!("no such tool {number}");
        ask(&asking(&unknown, json!({})));
        assert!(
            began.elapsed() < PATIENCE,
            "each call waits for the question"
        );
    }
    // It is asked in the call that is at work, though an earlier one waits.
    let asked = result(&ask(&asking("ask", json!({}))));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let questions = asked["inputRequests"].as_object().unwrap();
    let day = json!({ "action": "accept", "content": { "day": "Monday" } });
    let answers: serde_json::Map<String, Value> = (questions.keys())
        .map(|key| (key.clone(), day.clone()))
        .collect();
    let again = json!({ "requestState": asked["requestState"], "inputResponses": answers });
    let answered = result(&ask(&asking("ask", again)));
    assert_eq!(answered["content"][0]["text"], "Monday", "{answered}");
}

/// Calls of a tool that does not ask are at work at the same time, though their clients could be asked.
#[test]
fn calls_that_ask_nothing_go_side_by_side() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let meet = |wanted: usize| asking("meet", json!({ "arguments": { "a": wanted } }));
    let first = result(&post(port, Revision::LATEST, &meet(1)));
    assert_eq!(first["content"][0]["text"], "met", "{first}");
    // Those before count, too: two more meet each time. One that waits for the other to end begins when it has waited
    // long enough, which so many do not have the time for.
    let began = Instant::now();
    for round in 1..=13 {
        let wanted = 1 + 2 * round;
        let both = [(); 2]
            .map(|()| thread::spawn(move || result(&post(port, Revision::LATEST, &meet(wanted)))));
        for one in both {
            let one = one.join().unwrap();
            assert_eq!(one["content"][0]["text"], "met", "{one}");
        }
        assert!(began.elapsed() < PATIENCE, "one call waits for another");
    }
}

/// A question that comes while others are at work belongs to one of them: it is clear to whom, once they are answered.
#[test]
fn a_question_waits_until_it_is_clear_whose_it_is() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let nap = move || result(&post(port, Revision::LATEST, &asking("nap", json!({}))));
    let text = nap();
    assert_eq!(text["content"][0]["text"], "napped", "{text}");
    let napping = thread::spawn(nap);
    thread::sleep(Duration::from_millis(300));
    let asked = result(&post(port, Revision::LATEST, &asking("ask", json!({}))));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let napped = napping.join().unwrap();
    assert_eq!(napped["content"][0]["text"], "napped", "{napped}");
}

/// What its call tells is more than a client reads: the others that share its server are answered.
#[test]
fn a_client_that_does_not_read_holds_up_nobody_else() {
    let (mut child, port) = listening(Revision::V2025_06_18);
    let (full, is_full) = channel();
    let log = BufReader::new(child.stderr.take().unwrap());
    let lost = thread::spawn(move || {
        let lines = log.lines().map_while(Result::ok);
        let lost = lines.filter(|line| line.contains("the client does not read its call"));
        let told = lost.inspect(|_| {
            // The test may have seen enough.
            let _ = full.send(());
        });
        told.count()
    });
    let mut read = call("one", "progress");
    read["params"]["_meta"]["progressToken"] = 1.into();
    let answer = post(port, Revision::LATEST, &read);
    assert_eq!(
        answer.matches("notifications/progress").count(),
        3,
        "{answer}"
    );
    let mut flood = call("one", "flood");
    flood["params"]["_meta"]["progressToken"] = 1.into();
    let body = flood.to_string();
    let mut unread = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        unread,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\nMcp-Method: tools/call\r\nMcp-Name: flood\r\nContent-Length: {}\r\n\r\n{body}",
        Revision::LATEST.protocol_version(),
        body.len()
    )
    .unwrap();
    // All that holds some of it is full.
    is_full.recv_timeout(PATIENCE).unwrap();
    let until = Instant::now() + PATIENCE;
    for _ in 0..20 {
        let (answered, answer) = channel();
        thread::spawn(move || answered.send(post(port, Revision::LATEST, &call("one", "add"))));
        let answer = answer.recv_timeout(until.saturating_duration_since(Instant::now()));
        let answer = answer.unwrap_or_else(|_| panic!("it waits for somebody else's reader"));
        assert!(answer.contains("\"text\":\"3\""), "{answer}");
    }
    // None of them had to wait until its connection was closed.
    let mut rest = Vec::new();
    unread.read_to_end(&mut rest).unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("\"dry\""));
    // What is lost is said once, and of no other call.
    drop(child);
    assert_eq!(lost.join().unwrap(), 1);
}
