//! What is lost is told with the request that lost it, and refused where it is not put up with.

use std::path::Path;

use mcp_revisions::sansio::client::{Fate, OutgoingRequest, To};
use mcp_revisions_core::Revision;
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::mcp_rev;
use crate::schemas::rows;

use crate::bridge::several::{File, definition};
use crate::bridge::talk::{Talk, bridge, value};

#[test]
fn losses_are_told_and_refused_where_they_are_not_put_up_with() {
    let losses = Path::new(env!("CARGO_TARGET_TMPDIR")).join("losses.jsonl");
    let name = losses.to_str().unwrap();
    let mut talk = Talk::new(
        Revision::V2025_03_26,
        bridge(&["--loss-log", name], Revision::LATEST),
    );
    let linked = Json::from_text(r#"{"name":"linked"}"#).ok();
    let call = talk.ask(OutgoingRequest::new("tools/call", linked));
    assert!(value(&talk.answers(&[call])[&call])["content"].is_array());
    talk.ends();
    let told = std::fs::read_to_string(&losses).unwrap();
    assert!(!talked(&told).is_empty());
    // The client counts its requests from 1: `initialize`, and the call.
    let listed = (talked(&told).into_iter()).filter(|row| row["method"] == "tools/call");
    let ids: Vec<Value> = listed.map(|row| row["request"].clone()).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| *id == 2), "{told}");
    // What the handshake says for the whole session is not lost, and so not refused.
    let mut talk = Talk::new(
        Revision::V2025_06_18,
        bridge(
            &["--loss-log", "off", "--reject-loss", "cosmetic"],
            Revision::LATEST,
        ),
    );
    let list = talk.ask(OutgoingRequest::new("tools/list", None));
    assert!(value(&talk.answers(&[list])[&list])["tools"].is_array());
}

/// The losses of the one conversion count: of what travels as an unknown field nothing is lost.
#[test]
fn what_is_preserved_is_not_refused() {
    let options = [
        "--loss-log",
        "off",
        "--unknown-fields",
        "preserve",
        "--reject-loss",
        "cosmetic",
    ];
    let mut talk = Talk::new(Revision::V2025_03_26, bridge(&options, Revision::LATEST));
    let list = talk.ask(OutgoingRequest::new("tools/list", None));
    let answer = value(&talk.answers(&[list])[&list]);
    let tools = answer["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    assert!(
        tools.iter().any(|tool| tool["title"] == "Where"),
        "{answer}"
    );
}

/// A request and a result of which something would be lost that is not accepted: each is answered with an error, and has
/// a line in the log.
#[test]
fn what_is_not_put_up_with_is_refused_and_told() {
    let task = r#"{"name":"add","arguments":{"a":1,"b":2},"task":{}}"#;
    let linked = r#"{"name":"linked"}"#;
    for (client, params, end, rule) in [
        (Revision::V2025_11_25, task, "client", "task-request"),
        (
            Revision::V2025_03_26,
            linked,
            "client",
            "resource-link-block",
        ),
    ] {
        let losses = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("not-{rule}.jsonl"));
        let name = losses.to_str().unwrap();
        let options = ["--loss-log", name, "--reject-loss", "semantic"];
        let mut talk = Talk::new(client, bridge(&options, Revision::LATEST));
        let call = talk.ask(OutgoingRequest::new(
            "tools/call",
            Json::from_text(params).ok(),
        ));
        let answer = value(&talk.answers(&[call])[&call]).to_string();
        assert!(answer.contains("refused: semantic at "), "{answer}");
        talk.ends();
        let told = std::fs::read_to_string(&losses).unwrap();
        let mut rows = talked(&told).into_iter();
        let row = rows.find(|row| row["change"] == "rejected");
        let row = row.unwrap_or_else(|| panic!("{told}"));
        assert_eq!(
            (&row["method"], &row["end"], &row["request"], &row["rule"]),
            (&json!("tools/call"), &json!(end), &json!(2), &json!(rule))
        );
        let message = row["message"].as_str().unwrap();
        assert!(message.starts_with("refused: semantic at "), "{message}");
    }
}

/// A person reads standard error: a list may have dozens of losses of one kind.
#[test]
fn cosmetic_losses_of_one_kind_are_one_line_on_standard_error_and_each_one_in_a_file() {
    let losses = Path::new(env!("CARGO_TARGET_TMPDIR")).join("each.jsonl");
    let name = losses.to_str().unwrap();
    let one = definition(Revision::LATEST, Path::new("one"));
    let file = File::new("summed", &json!({ "one": one, "two": one }));
    let lines = |options: &[&str], told: fn(&str, &str) -> String| {
        let child = mcp_rev("bridge --combine --config")
            .arg(&file.0)
            .args(options)
            .env("STARTED_IN", file.0.parent().unwrap())
            .spawn()
            .unwrap();
        let mut talk = Talk::new(Revision::V2025_03_26, child);
        let list = talk.ask(OutgoingRequest::new("tools/list", None));
        talk.answers(&[list]);
        let (_, said) = talk.ends();
        let told = told(&said, options[1]);
        let lines: Vec<&str> = told.lines().filter(|line| line.starts_with('{')).collect();
        let rows = talked(&lines.join("\n")).into_iter();
        rows.filter(|row| row["method"] == "tools/list" && row["severity"] == "cosmetic")
            .collect::<Vec<Value>>()
    };
    let each = lines(&["--loss-log", name], |_, file| {
        std::fs::read_to_string(file).unwrap()
    });
    let summed = lines(&["--loss-log", "stderr"], |said, _| said.to_owned());
    assert!(summed.len() < each.len(), "{summed:?}");
    let count = |row: &Value| row["count"].as_u64().unwrap_or(1);
    assert_eq!(summed.iter().map(count).sum::<u64>(), each.len() as u64);
    assert!(each.iter().all(|row| row["count"].is_null()));
}

/// The one is answered with an error, the other with nothing: neither shows what became of it.
#[test]
fn what_is_refused_or_dropped_is_told() {
    let losses = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refused.jsonl");
    let name = losses.to_str().unwrap();
    let bridged = bridge(&["--loss-log", name], Revision::LATEST);
    let mut talk = Talk::new(Revision::V2025_11_25, bridged);
    talk.adds();
    let (method, now) = ("notifications/roots/list_changed", talk.start.elapsed());
    let said = talk.client.notify(To::Session, method, None, now);
    assert_eq!(said.fate, Fate::Sent);
    let task = Json::from_text(r#"{"taskId":"1"}"#).ok();
    let get = talk.ask(OutgoingRequest::new("tasks/get", task));
    talk.answers(&[get]);
    talk.ends();
    let told = std::fs::read_to_string(&losses).unwrap();
    let of = |method: &str| {
        let mut rows = talked(&told).into_iter();
        let row = rows.find(|row| row["method"] == method);
        row.unwrap_or_else(|| panic!("{method}: {told}"))
    };
    let dropped = of(method);
    assert_eq!(
        (&dropped["change"], &dropped["end"]),
        (&json!("dropped"), &json!("client"))
    );
    assert!(dropped["rule"].is_string(), "{dropped}");
    let refused = of("tasks/get");
    assert_eq!(
        (&refused["change"], &refused["code"]),
        (&json!("rejected"), &json!(-32601))
    );
    assert!(
        refused["rule"].is_string() && refused["request"] == 3,
        "{refused}"
    );
}

fn talked(told: &str) -> Vec<Value> {
    rows("loss", told)
}
