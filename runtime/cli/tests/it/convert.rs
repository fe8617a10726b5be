//! `mcp-rev convert` on files: what it prints where, and each of its exit codes.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::schemas::rows;
use crate::{Run, fed};

fn run(arguments: &[&str], input: &str) -> Run {
    let run = fed(&[&["convert"], arguments].concat(), input);
    if arguments.contains(&"--json") {
        rows("convert", &run.out);
    }
    run
}

/// A file with this text.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

const DOWN: [&str; 4] = ["--from", "2026-07-28", "--to", "2025-03-26"];
const RESULT: [&str; 4] = ["--method", "tools/call", "--part", "result"];

fn down(more: &[&str], input: &str) -> Run {
    run(&[&DOWN[..], more, &["-"]].concat(), input)
}

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
    let run = run(
        &[
            "--from",
            "2024-01-01",
            "--to",
            "2025-03-26",
            "--type",
            "Tool",
            "-",
        ],
        tool,
    );
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
fn a_whole_message_keeps_its_envelope() {
    let call =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"},"x-vendor":1.0}"#;
    let up = ["--from", "2025-11-25", "--to", "2026-07-28"];
    let session = ["--session-capabilities", "{}"];
    for ty in [
        &[][..],
        &["--type", "CallToolRequest"],
        &["--type", "JSONRPCRequest"],
    ] {
        let told = run(&[&up[..], &session, ty, &["-"]].concat(), call);
        assert_eq!(told.code, 0, "{}", told.err);
        let value: Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!((&value["id"], &value["x-vendor"]), (&json!(7), &json!(1.0)));
        assert!(value["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string());
    }
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}}"#;
    assert_eq!(down(&[], answer).code, 2, "nobody knows what it answers");
    let told = down(&["--method", "tools/list"], answer);
    assert_eq!(told.code, 0, "{}", told.err);
    let value: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(
        value,
        json!({ "jsonrpc": "2.0", "id": 7, "result": { "tools": [] } })
    );
    let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32021,"message":"m"}}"#;
    let told = down(&["--method", "tools/list"], error);
    assert!(told.out.contains("-32602"), "{}", told.out);
}

#[test]
fn a_batch_is_split_where_there_are_none_and_refused_where_it_comes_from_nowhere() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},
        {"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    let up = ["--from", "2025-03-26", "--to", "2025-06-18", "-"];
    let told = run(&up, batch);
    assert_eq!(told.code, 0, "{}", told.err);
    assert_eq!(told.out.lines().count(), 2, "{}", told.out);
    let back = run(&["--from", "2025-06-18", "--to", "2025-03-26", "-"], batch);
    assert_eq!(back.code, 2);
    assert!(back.err.contains("has no batches"), "{}", back.err);
}

#[test]
fn a_candidate_is_converted_as_what_it_became() {
    let tool = r#"{"name":"t","title":"T","inputSchema":{"type":"object"}}"#;
    let rc = [
        "--from",
        "2026-07-28-rc",
        "--to",
        "2025-03-26",
        "--type",
        "Tool",
        "-",
    ];
    let told = run(&rc, tool);
    assert_eq!(told.code, 4, "{}", told.err);
    assert!(told.out.contains("annotations"), "{}", told.out);
}

#[test]
fn who_cancels_has_to_be_said() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let up = ["--from", "2025-11-25", "--to", "2026-07-28"];
    assert_eq!(run(&[&up[..], &["-"]].concat(), text).code, 2);
    let of = |sender| run(&[&up[..], &["--sender", sender, "-"]].concat(), text).code;
    assert_eq!((of("client"), of("server")), (0, 5));
}

/// Runs a conversion between two revisions.
fn between(from: &str, to: &str, more: &[&str], input: &str) -> Run {
    run(
        &[&["--from", from, "--to", to][..], more, &["-"]].concat(),
        input,
    )
}

#[test]
fn a_request_of_the_server_crosses_into_a_result_and_back_by_the_round_trip_adapter_only() {
    let asks = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let answers = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    let answer = ["--method", "roots/list"];
    for (from, hop) in [
        ("2025-11-25", "2025-11-25..2026-07-28"),
        ("2024-11-05", "2025-11-25..2026-07-28"),
    ] {
        for told in [
            between(from, "2026-07-28", &[], asks),
            between(from, "2026-07-28", &answer, answers),
        ] {
            assert_eq!((told.code, told.out.as_str()), (5, ""), "{}", told.err);
            let expected = format!("needs the multi-round-trip adapter ({hop}, ");
            assert!(told.err.starts_with(&expected), "{}", told.err);
        }
    }
    // There it is no message of its own, and so none that could be converted.
    for to in ["2025-11-25", "2026-07-28", "2024-11-05"] {
        for told in [
            between("2026-07-28", to, &[], asks),
            between("2026-07-28", to, &answer, answers),
        ] {
            assert_eq!((told.code, told.out.as_str()), (1, ""), "{}", told.err);
            assert!(told.err.contains("no message of its own"), "{}", told.err);
        }
    }
    // Between older revisions it goes as it is.
    assert_eq!(between("2025-11-25", "2024-11-05", &[], asks).code, 0);
    assert_eq!(
        between("2025-11-25", "2024-11-05", &answer, answers).code,
        0
    );
}

#[test]
fn an_error_without_an_id_stays_where_errors_need_none() {
    for id in ["", r#""id":null,"#] {
        let error = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"m"}}}}"#);
        let of = ["--method", "tools/list"];
        let told = between("2025-11-25", "2025-06-18", &of, &error);
        assert_eq!((told.code, told.out.as_str()), (6, ""), "{}", told.err);
        assert!(
            told.err
                .starts_with("rejected at /id (2025-11-25..2025-06-18, no-counterpart)"),
            "{}",
            told.err
        );
        let told = between("2025-06-18", "2025-11-25", &of, &error);
        assert_eq!((told.code, told.out.as_str()), (1, ""), "{}", told.err);
        assert_eq!(between("2025-11-25", "2026-07-28", &of, &error).code, 0);
    }
}

#[test]
fn what_has_an_id_is_a_request_and_what_has_none_a_notification() {
    let notified = r#"{"jsonrpc":"2.0","id":1,"method":"notifications/progress","params":{"progressToken":1,"progress":2}}"#;
    let told = between("2025-11-25", "2025-06-18", &["--json"], notified);
    assert_eq!(told.code, 1, "{}", told.out);
    let row: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(row["pointer"], "/id", "{row}");
    let asked = r#"{"jsonrpc":"2.0","method":"tools/list"}"#;
    let told = between("2025-11-25", "2025-06-18", &[], asked);
    assert_eq!((told.code, told.out.as_str()), (1, ""));
    assert!(
        told.err.contains("`tools/list` is a request"),
        "{}",
        told.err
    );
}

#[test]
fn the_definition_of_a_request_is_its_envelope_where_the_revision_has_it_so() {
    let bare = r#"{"method":"tools/call","params":{"name":"t","_meta":{"progressToken":1}}}"#;
    let ty = ["--type", "CallToolRequest"];
    let told = between("2025-06-18", "2024-11-05", &ty, bare);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    let [value, given]: [Value; 2] =
        [told.out.as_str(), bare].map(|text| serde_json::from_str(text).unwrap());
    assert_eq!(value, given);
    // Later it has an id, which nobody can make up.
    let told = between("2025-06-18", "2025-11-25", &ty, bare);
    assert_eq!((told.code, told.out.as_str()), (6, ""), "{}", told.err);
    assert!(told.err.contains("whole message"), "{}", told.err);
    let told = between("2025-11-25", "2025-06-18", &ty, bare);
    assert_eq!((told.code, told.out.as_str()), (1, ""), "{}", told.err);
    // What is embedded in a result has none.
    let asks = r#"{"method":"roots/list"}"#;
    let ty = ["--type", "ListRootsRequest"];
    let told = between("2026-07-28", "2025-11-25", &ty, asks);
    assert_eq!((told.code, told.out.as_str()), (5, ""), "{}", told.err);
    // Losses are told by their place in it.
    let task = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","task":{}}}"#;
    let told = between(
        "2025-11-25",
        "2025-06-18",
        &["--type", "CallToolRequest"],
        task,
    );
    assert!(told.err.contains("loss at /params/task"), "{}", told.err);
}

#[test]
fn losses_and_faults_of_a_whole_message_are_told_by_their_place_in_it() {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","task":{}}}"#;
    let told = between("2025-11-25", "2025-06-18", &["--json"], call);
    let row: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(row["losses"][0]["pointer"], "/params/task", "{row}");
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"icons":[]}]}}"#;
    let of = ["--json", "--method", "tools/list"];
    let told = between("2025-11-25", "2025-06-18", &of, answer);
    let row: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(
        row["losses"][0]["pointer"], "/result/tools/0/icons",
        "{row}"
    );
    let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"m"}}"#;
    let told = between("2025-11-25", "2025-06-18", &of, error);
    let row: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(row["losses"][0]["pointer"], "/error/code", "{row}");
    let wrong = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}"#;
    let told = between("2025-11-25", "2025-06-18", &["--json"], wrong);
    let row: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(row["pointer"], "/params/name", "{row}");
}

#[test]
fn an_error_answers_a_request_that_there_is() {
    let error = r#"{"code":-32002,"message":"m"}"#;
    for (method, why) in [
        ("tools/cal", "no method `tools/cal`"),
        ("notifications/progress", "nothing answers it"),
    ] {
        let of = ["--part", "error", "--method", method];
        let told = between("2025-11-25", "2026-07-28", &of, error);
        assert_eq!((told.code, told.out.as_str()), (2, ""), "{}", told.err);
        assert!(told.err.contains(why), "{}", told.err);
    }
}

#[test]
fn a_type_that_both_revisions_have_alike_is_converted_as_it_is() {
    for (name, text) in [("RequestId", "7"), ("Cursor", "\"c\"")] {
        let told = between("2024-11-05", "2026-07-28", &["--type", name], text);
        assert_eq!((told.code, told.out.trim_end()), (0, text), "{}", told.err);
    }
}

#[test]
fn what_is_said_of_a_session_is_read_and_converted() {
    let call = r#"{"name":"t"}"#;
    let of = ["--method", "tools/call", "--part", "params"];
    let session = |more: &[&str]| between("2025-11-25", "2026-07-28", &[&of, more].concat(), call);
    for (option, wrong) in [
        ("--session-capabilities", "7"),
        ("--session-capabilities", r#"{"sampling":true}"#),
        ("--session-client", r#"{"name":"c"}"#),
        ("--session-subscription", r#"{"id":7}"#),
    ] {
        let told = session(&["--session-capabilities", "{}", option, wrong]);
        // Clap refuses an option that is given twice; so it is given once.
        let told = match option {
            "--session-capabilities" => session(&[option, wrong]),
            _ => told,
        };
        assert_eq!((told.code, told.out.as_str()), (2, ""), "{option} {wrong}");
        assert!(told.err.contains(option), "{}", told.err);
    }
    // What only the older revision has does not stand in a request of the newer one.
    let told = session(&[
        "--session-capabilities",
        r#"{"tasks":{"list":{}},"sampling":{}}"#,
    ]);
    let value: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(
        value["_meta"]["io.modelcontextprotocol/clientCapabilities"],
        json!({"sampling": {}})
    );
    assert!(
        told.err.contains("--session-capabilities: "),
        "{}",
        told.err
    );
}

#[test]
fn only_what_a_subscription_delivers_bears_its_id() {
    let id = ["--session-subscription", "7"];
    let up = |text: &str| {
        between(
            "2025-11-25",
            "2026-07-28",
            &[&id[..], &["--sender", "server"]].concat(),
            text,
        )
    };
    let changed = up(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    assert!(
        changed
            .out
            .contains(r#""io.modelcontextprotocol/subscriptionId":7"#),
        "{}",
        changed.out
    );
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}"#;
    let told = up(progress);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    assert!(!told.out.contains("subscriptionId"), "{}", told.out);
}

const TASK: &str = r#"{"taskId":"7","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":60000,"pollInterval":500}"#;

#[test]
fn messages_of_an_extension_are_converted_from_and_to_the_revision_whose_core_had_them() {
    let of_answer = ["--method", "tasks/get", "--part", "result", "-"];
    let convert = |from: &str, to: &str, more: &[&str], input: &str| {
        run(&[&["--from", from, "--to", to], more].concat(), input)
    };
    for name in ["tasks", "io.modelcontextprotocol/tasks"] {
        let up = convert("2025-11-25", name, &of_answer, TASK);
        assert_eq!((up.code, up.err.as_str()), (0, ""));
        let value: Value = serde_json::from_str(&up.out).unwrap();
        assert_eq!(
            (&value["ttlMs"], &value["pollIntervalMs"]),
            (&json!(60_000), &json!(500))
        );
        let down = convert(name, "2025-11-25", &of_answer, &up.out);
        assert_eq!(down.code, 0, "{}", down.err);
        let value: Value = serde_json::from_str(&down.out).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(TASK).unwrap());
    }
    let note =
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{TASK}}}"#);
    let session = ["--sender", "server", "--session-subscription", "7", "-"];
    let told = convert("2025-11-25", "tasks", &session, &note);
    assert_eq!(told.code, 0, "{}", told.err);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["method"], "notifications/tasks");
    let ended = TASK.replace("working", "failed");
    let ended = convert("2025-11-25", "tasks", &of_answer, &ended);
    assert_eq!(
        ended.code, 5,
        "the error is not in the status: {}",
        ended.err
    );
    for (from, to) in [("2025-06-18", "tasks"), ("tasks", "2026-07-28")] {
        let refused = convert(from, to, &of_answer, "{}");
        assert_eq!(refused.code, 2);
        let expected = "converted from and to 2025-11-25, whose core had them";
        assert!(refused.err.contains(expected), "{}", refused.err);
    }
}
