//! Every revision of a client in front of every revision of a server, all at once.

use std::path::Path;

use mcp_revisions::sansio::client::{Answer, OutgoingRequest, Token};
use mcp_revisions_core::Revision;
use mcp_wire::Json;
use serde_json::json;

use crate::bridge::talk::{Talk, bridge, value};
use crate::mcp_rev;

/// One client in front of one server: tools, a question in mid-call, progress, a resource, a prompt.
fn talks(client: Revision, server: Revision) -> Result<(), String> {
    let mut talk = Talk::new(client, bridge(&["--loss-log", "off"], server));
    let list = talk.ask(OutgoingRequest::new("tools/list", None));
    let add = talk.tool("add");
    let ask = talk.tool("ask");
    let progress = talk.tool("progress");
    let uri = json!({ "uri": "file:///hello" });
    let read = talk.ask(OutgoingRequest::new(
        "resources/read",
        Some(Json::from(uri)),
    ));
    let prompt = talk.ask(OutgoingRequest::new(
        "prompts/get",
        Some(Json::from(json!({ "name": "greet" }))),
    ));
    let sample = talk.tool("sample");
    let answers = talk.answers(&[list, add, ask, progress, read, prompt, sample]);
    let at = |token: Token, pointer: &str| value(&answers[&token]).pointer(pointer).cloned();
    // Who knows no elicitation is not asked.
    let asks = Revision::V2025_06_18 <= client && Revision::V2025_06_18 <= server;
    let day = if asks { Some(json!("Monday")) } else { None };
    for (what, found, expected) in [
        ("list", at(list, "/tools/0/name"), Some(json!("add"))),
        (
            "unknown member",
            at(list, "/tools/0/x-vendor"),
            Some(json!(1)),
        ),
        ("add", at(add, "/content/0/text"), Some(json!("3.5"))),
        ("ask", at(ask, "/content/0/text"), day),
        (
            "sample",
            at(sample, "/content/0/text"),
            Some(json!("Monday")),
        ),
        (
            "progress",
            at(progress, "/content/0/text"),
            Some(json!("done")),
        ),
        ("read", at(read, "/contents/0/text"), Some(json!("Hello"))),
        ("number", at(read, "/contents/0/size"), Some(json!(50.0))),
        (
            "prompt",
            at(prompt, "/messages/0/content/text"),
            Some(json!("Greet")),
        ),
    ] {
        if found != expected {
            return Err(format!("{what}: {found:?}, {answers:?}"));
        }
    }
    if talk.progress != 3 {
        return Err(format!("{} of 3 told of progress", talk.progress));
    }
    // What it has subscribed to, and what is logged from its level on.
    let subscribed = OutgoingRequest::new(
        "resources/subscribe",
        Some(Json::from(json!({ "uri": "file:///hello" }))),
    );
    let level = OutgoingRequest::new(
        "logging/setLevel",
        Some(Json::from(json!({ "level": "warning" }))),
    );
    let set = [talk.ask(subscribed), talk.ask(level)];
    for (token, answer) in talk.answers(&set) {
        if !matches!(answer, Answer::Result(_)) {
            return Err(format!("{token:?}: {answer:?}"));
        }
    }
    let told = [talk.tool("touch"), talk.tool("log")];
    talk.answers(&told);
    let updated = talk.hears("notifications/resources/updated");
    let logged = talk.hears("notifications/message");
    if updated["uri"] != "file:///hello" || logged["data"] != "warning" {
        return Err(format!("{updated}, {logged}"));
    }
    if !talk.told.is_empty() {
        return Err(format!("told more: {:?}", talk.told));
    }
    // One that is given up holds up nothing.
    let sleep = talk.tool("sleep");
    talk.sends();
    talk.client.cancel(sleep, None, talk.start.elapsed());
    let after = talk.tool("add");
    if value(&talk.answers(&[after])[&after])["content"][0]["text"] != "3.5" {
        return Err("nothing after what was given up".to_owned());
    }
    match talk.ends() {
        (Some(0), _) => Ok(()),
        (code, said) => Err(format!("ended with {code:?}: {said}")),
    }
}

#[test]
fn every_client_talks_to_every_server() {
    let mut failures = Vec::new();
    for client in Revision::NEGOTIATED {
        for server in Revision::NEGOTIATED {
            if let Err(problem) = talks(*client, *server) {
                failures.push(format!("{client} in front of {server}: {problem}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A server of the handshake lifecycle does not say in which call it asks; it is the one that can be meant.
#[test]
fn a_question_is_of_the_call_that_may_be_answered_by_one() {
    let mut talk = Talk::new(
        Revision::LATEST,
        bridge(&["--loss-log", "off"], Revision::V2025_11_25),
    );
    talk.adds();
    // It is out all the while.
    let list = talk.ask(OutgoingRequest::new("resources/templates/list", None));
    let ask = talk.tool("ask");
    let answers = talk.answers(&[ask]);
    let answer = value(&answers[&ask]);
    assert_eq!(answer["content"][0]["text"], "Monday", "{answer}");
    assert!(!answers.contains_key(&list), "{answers:?}");
    talk.client.cancel(list, None, talk.start.elapsed());
    talk.sends();
    assert_eq!(talk.ends().0, Some(0));
}

/// What nobody wants to be told is not sent in the first place.
#[test]
fn a_server_hears_from_which_level_on_its_client_wants_logs() {
    let record = Path::new(env!("CARGO_TARGET_TMPDIR")).join("levels.jsonl");
    let options = ["--loss-log", "off", "--record", record.to_str().unwrap()];
    let mut talk = Talk::new(Revision::LATEST, bridge(&options, Revision::V2025_11_25));
    let log = OutgoingRequest::new("tools/call", Some(Json::from(json!({ "name": "log" }))));
    let logged = talk.ask(log.with_log_level("warning"));
    talk.answers(&[logged]);
    assert_eq!(talk.hears("notifications/message")["data"], "warning");
    assert_eq!(talk.told, []);
    talk.ends();
    let said = std::fs::read_to_string(record).unwrap();
    assert!(said.contains("\"method\":\"logging/setLevel\""), "{said}");
    assert!(!said.contains("\"data\":\"debug\""), "{said}");
}

#[test]
fn what_goes_by_is_a_transcript_without_faults() {
    let record = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bridged.jsonl");
    let name = record.to_str().unwrap();
    let mut talk = Talk::new(
        Revision::LATEST,
        bridge(
            &["--loss-log", "off", "--record", name],
            Revision::V2025_11_25,
        ),
    );
    let (list, ask) = (
        talk.ask(OutgoingRequest::new("tools/list", None)),
        talk.tool("ask"),
    );
    talk.answers(&[list, ask]);
    talk.ends();
    let output = mcp_rev("transcript").arg(name).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("2025-11-25"), "{told}");
    assert!(told.contains("elicitation/create: 1 answered"), "{told}");
    assert!(output.status.success(), "{told}");
}
