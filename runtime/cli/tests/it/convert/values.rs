//! Values of a type in a file: what they become, and what is lost.

use serde_json::{Value, json};

use super::{DOWN, RESULT, between, down, file, run};

#[test]
fn a_file_that_loses_nothing_is_exact() {
    let path = file(
        "exact.json",
        r#"{"name":"t","inputSchema":{"type":"object"}}"#,
    );
    let path = path.to_str().unwrap();
    let run = run(
        &[
            "--from",
            "2024-11-05",
            "--to",
            "2026-07-28",
            "--type",
            "Tool",
            path,
        ],
        "",
    );
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let value: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        value,
        json!({"name": "t", "inputSchema": {"type": "object"}})
    );
}

const LOSSY: &str = r#"{"content":[],"structuredContent":{"a":1.50},"resultType":"complete"}"#;

#[test]
fn losses_are_told_beside_the_value() {
    let run = down(&RESULT, LOSSY);
    assert_eq!(run.code, 4, "{}", run.err);
    assert_eq!(
        run.out,
        "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1.50}\"}]}\n"
    );
    assert_eq!(
        run.err.lines().collect::<Vec<_>>(),
        [
            "cosmetic loss at /content/0 (2025-06-18..2025-03-26, structured-content-text): added",
            "semantic loss at /structuredContent (2025-06-18..2025-03-26, structured-content): removed {\"a\":1.50}",
        ]
    );
}

#[test]
fn a_name_of_the_sender_stays_within_its_line() {
    let kind = r#"{"type":"string","oneOf":[{"const":"x","title":"T"}],"default":"x"}"#;
    let input = format!(
        r#"{{"message":"x","requestedSchema":{{"type":"object","properties":{{"a\u001b[31m\n- exact":{kind}}}}}}}"#
    );
    let part = ["--method", "elicitation/create", "--part", "params"];
    let run = between("2025-11-25", "2025-06-18", &part, &input);
    let told = run.err;
    assert!(
        told.contains(r"/properties/a\u{1b}[31m\n- exact ("),
        "{told}"
    );
    assert!(!told.contains('\u{1b}'), "{told:?}");
}

#[test]
fn value_and_losses_are_one_object_if_asked_for() {
    let run = down(&[&RESULT[..], &["--json"]].concat(), LOSSY);
    assert_eq!((run.code, run.err.as_str()), (4, ""));
    assert!(
        run.out.contains("{\\\"a\\\":1.50}"),
        "numbers keep their spelling: {}",
        run.out
    );
    assert!(
        run.out
            .contains("\"change\":\"removed\",\"value\":{\"a\":1.50}"),
        "those of a loss, too: {}",
        run.out
    );
    let row: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(row["status"], "lossy");
    assert_eq!(
        row["losses"][1],
        json!({
            "pointer": "/structuredContent", "step": "2025-06-18..2025-03-26", "rule": "structured-content",
            "severity": "semantic", "change": "removed", "value": {"a": 1.5},
        })
    );
    assert_eq!(row["losses"][0]["value"], Value::Null);
}

#[test]
fn carried_members_travel_and_come_back() {
    let carried = down(
        &[&RESULT[..], &["--unknown-fields", "preserve"]].concat(),
        LOSSY,
    );
    // A text is all that an old client shows, under any policy.
    assert_eq!(carried.code, 4, "{}", carried.err);
    assert!(
        carried.err.contains("carried at /structuredContent"),
        "{}",
        carried.err
    );
    let up = ["--from", "2025-03-26", "--to", "2026-07-28"];
    let back = |policy| {
        let more = ["--unknown-fields", policy, "-"];
        run(&[&up[..], &RESULT, &more].concat(), &carried.out)
    };
    // Who did not ask for it takes nothing from a member that the older revision does not name, and is told.
    let strict = back("drop");
    assert_eq!(strict.code, 4, "{}", strict.err);
    assert!(
        (strict.err).contains("unknown-member-of-that-name): removed {\"a\":1.50}"),
        "{}",
        strict.err
    );
    let back = back("preserve");
    assert_eq!((back.code, back.err.as_str()), (0, ""));
    let values =
        [back.out.as_str(), LOSSY].map(|text| serde_json::from_str::<Value>(text).unwrap());
    let [mut there, here] = values;
    assert_eq!(
        there["content"].as_array_mut().unwrap().pop().unwrap()["text"],
        "{\"a\":1.50}"
    );
    assert_eq!(there, here);
}

/// The place is that in the message, and the cure that is printed is one.
#[test]
fn a_message_says_where_it_is_invalid_and_what_stands_in_for_a_session() {
    let call = |name: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name}}}}}"#)
    };
    let up = ["--from", "2025-06-18", "--to", "2026-07-28"];
    let invalid = run(&[&up[..], &["-"]].concat(), &call("5"));
    assert_eq!(invalid.code, 1);
    assert_eq!(
        invalid.err,
        "error: input is not valid in 2025-06-18: at /params/name: expected a string, found 5\n"
    );
    let stateful = run(&[&up[..], &["-"]].concat(), &call("\"a\""));
    assert_eq!(stateful.code, 5);
    let options = ["--session-capabilities", "--session-client"];
    assert!(
        options.iter().all(|option| stateful.err.contains(option)),
        "{}",
        stateful.err
    );
    let session = [
        options[0],
        "{}",
        options[1],
        r#"{"name":"a","version":"1"}"#,
        "-",
    ];
    let helped = run(&[&up[..], &session[..]].concat(), &call("\"a\""));
    assert_eq!(helped.code, 0, "{}", helped.err);
}

#[test]
fn what_needs_state_names_the_adapter() {
    let asks = r#"{"resultType":"input_required","requestState":"x"}"#;
    let told = down(&RESULT, asks);
    assert_eq!((told.code, told.out.as_str()), (5, ""));
    assert_eq!(
        told.err,
        "needs the multi-round-trip adapter (2026-07-28..2025-11-25, input-required); \
         only a connection has what it needs: see `mcp-rev bridge`\n"
    );
    let told = down(&[&RESULT[..], &["--json"]].concat(), asks);
    assert_eq!((told.code, told.err.as_str()), (5, ""));
    let row: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(
        row,
        json!({
            "status": "requires-state", "adapter": "multi-round-trip", "rule": "input-required",
            "step": "2026-07-28..2025-11-25", "pointer": "",
        })
    );
}

#[test]
fn a_session_lets_requests_go_up() {
    let up = [
        "--from",
        "2025-11-25",
        "--to",
        "2026-07-28",
        "--method",
        "tools/call",
        "--part",
        "params",
    ];
    let call = r#"{"name":"t"}"#;
    assert_eq!(run(&[&up[..], &["-"]].concat(), call).code, 5);
    let session = ["--session-capabilities", "{}"];
    let told = run(&[&up[..], &session, &["-"]].concat(), call);
    assert_eq!(told.code, 0, "{}", told.err);
    let value: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(
        value["_meta"]["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    let wrong = run(
        &[&up[..], &["--session-capabilities", "{", "-"]].concat(),
        call,
    );
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.err.contains("--session-capabilities is not JSON"),
        "{}",
        wrong.err
    );
}

#[test]
fn what_is_rejected_or_swallowed_has_no_value() {
    let to = [
        "--from",
        "2025-11-25",
        "--to",
        "2025-06-18",
        "--part",
        "params",
        "--method",
    ];
    let tasks = run(
        &[&to[..], &["tasks/get", "-"]].concat(),
        r#"{"taskId":"1"}"#,
    );
    assert_eq!((tasks.code, tasks.out.as_str()), (6, ""));
    assert_eq!(
        tasks.err,
        "rejected (2025-11-25..2025-06-18, tasks-unknown): tasks are not part of revision 2025-06-18 (-32601)\n"
    );
    let done = r#"{"elicitationId":"e"}"#;
    let done = run(
        &[
            &to[..],
            &["notifications/elicitation/complete", "--json", "-"],
        ]
        .concat(),
        done,
    );
    assert_eq!(done.code, 6);
    let row: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        row,
        json!({
            "status": "dropped", "rule": "elicitation-complete",
            "step": "2025-11-25..2025-06-18", "pointer": "",
        })
    );
}

#[test]
fn an_error_gets_the_code_of_the_other_revision() {
    let up = [
        "--from",
        "2025-11-25",
        "--to",
        "2026-07-28",
        "--method",
        "resources/read",
        "--part",
        "error",
        "-",
    ];
    let told = run(
        &up,
        r#"{"code":-32002,"message":"no such resource","data":{"uri":"file:///a"}}"#,
    );
    assert_eq!(told.code, 4, "{}", told.err);
    let value: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(value["code"], -32602);
    assert_eq!(value["data"], json!({"uri": "file:///a"}));
}

#[test]
fn a_file_that_is_not_valid_says_where() {
    let told = down(&["--type", "Tool"], r#"{"name":7,"inputSchema":{}}"#);
    assert_eq!((told.code, told.out.as_str()), (1, ""));
    assert!(told.err.contains("/name"), "{}", told.err);
    let told = down(&["--type", "Tool", "--json"], "{");
    assert_eq!((told.code, told.err.as_str()), (1, ""));
    let row: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(row["status"], "invalid");
}

#[test]
fn what_makes_no_sense_is_a_matter_of_usage() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    for (arguments, told) in [
        (&["--type", "Tol"][..], "mcp-rev list types"),
        (
            &["--method", "tools/cal", "--part", "result"],
            "no method `tools/cal`",
        ),
        (
            &["--type", "Tool", "--method", "tools/call"],
            "cannot be used with",
        ),
        (&["--type", "Tool", "--unknown-fields", "hope"], "preserve"),
        // A type has no sender: only a method of both directions needs one.
        (&["--type", "Tool", "--sender", "client"], "--sender"),
    ] {
        let run = down(arguments, tool);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}");
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    }
    let run = between("2024-01-01", "2025-03-26", &["--type", "Tool"], tool);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("2024-11-05"), "{}", run.err);
}

#[test]
fn what_is_no_message_after_all_says_how_to_say_what_it_is() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    for arguments in [&["--method", "tools/call"][..], &[]] {
        let told = down(arguments, tool);
        assert_eq!((told.code, told.out.as_str()), (1, ""), "{arguments:?}");
        for option in ["`jsonrpc`", "--type", "--part"] {
            assert!(told.err.contains(option), "{arguments:?}: {}", told.err);
        }
        let told = down(&[arguments, &["--json"]].concat(), tool);
        let row: Value = serde_json::from_str(&told.out).unwrap();
        assert!(row["message"].as_str().unwrap().contains("--part"), "{row}");
    }
    // One that is a message is not asked what else it is.
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#;
    let told = down(&[], call);
    assert_eq!(told.code, 1);
    assert!(!told.err.contains("--part"), "{}", told.err);
}

#[test]
fn a_file_that_is_not_there_cannot_be_read() {
    let run = run(
        &[&DOWN[..], &["--type", "Tool", "no-such-file.json"]].concat(),
        "",
    );
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    assert!(run.err.contains("no-such-file.json"), "{}", run.err);
}

#[test]
fn a_type_that_both_revisions_have_alike_is_converted_as_it_is() {
    for (name, text) in [("RequestId", "7"), ("Cursor", "\"c\"")] {
        let told = between("2024-11-05", "2026-07-28", &["--type", name], text);
        assert_eq!((told.code, told.out.trim_end()), (0, text), "{}", told.err);
    }
}

/// A mistake of the sender costs the part that is wrong, which is named; what carries the meaning is not left out.
#[test]
fn a_mistake_in_the_input_costs_one_part_and_is_told() {
    let list = ["--method", "tools/list", "--part", "result"];
    let good = r#"{"name":"good","inputSchema":{"type":"object"}}"#;
    let text = format!(
        r#"{{"tools":[{good},{{"name":"now","inputSchema":null}},{{"name":"more","inputSchema":{{}},"title":5}}]}}"#
    );
    let plain = between("2025-06-18", "2025-11-25", &list, &text);
    assert_eq!(plain.code, 4, "{}", plain.err);
    let value: Value = serde_json::from_str(&plain.out).unwrap();
    assert_eq!(value["tools"].as_array().unwrap().len(), 2);
    assert_eq!(
        plain.err.lines().collect::<Vec<_>>(),
        [
            "invalid loss at /tools/1 of tool `now` (2025-06-18..2025-11-25, invalid-in-source): removed {\"name\":\"now\",\"inputSchema\":null}",
            "invalid loss at /tools/2/inputSchema/type of tool `more` (2025-06-18..2025-11-25, invalid-in-source): added",
            "invalid loss at /tools/2/title of tool `more` (2025-06-18..2025-11-25, invalid-in-source): removed 5",
        ]
    );
    let json = between(
        "2025-06-18",
        "2025-11-25",
        &[&list[..], &["--json"]].concat(),
        &text,
    );
    let row: Value = serde_json::from_str(&json.out).unwrap();
    let loss = &row["losses"][2];
    assert_eq!(
        (&loss["severity"], &loss["part"], &loss["value"]),
        (&json!("invalid"), &json!("tool `more`"), &json!(5))
    );
    let call = ["--method", "tools/call", "--part", "params"];
    let refused = between(
        "2025-06-18",
        "2025-11-25",
        &call,
        r#"{"name":"x","arguments":"all"}"#,
    );
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("at /arguments: expected"),
        "{}",
        refused.err
    );
}
