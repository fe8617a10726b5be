//! Whole messages: their envelope, their direction, and what they are about.

use serde_json::{Value, json};

use super::{between, down, run};

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
    let back = between("2025-06-18", "2025-03-26", &[], batch);
    assert_eq!(back.code, 2);
    assert!(back.err.contains("has no batches"), "{}", back.err);
}

#[test]
fn a_candidate_takes_no_part_and_its_release_is_named() {
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
    assert_eq!((told.code, told.out.as_str()), (2, ""), "{}", told.err);
    assert!(told.err.contains("use --from 2026-07-28\n"), "{}", told.err);
}

#[test]
fn who_cancels_has_to_be_said() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let up = ["--from", "2025-11-25", "--to", "2026-07-28"];
    assert_eq!(run(&[&up[..], &["-"]].concat(), text).code, 2);
    let of = |sender| run(&[&up[..], &["--sender", sender, "-"]].concat(), text).code;
    assert_eq!((of("client"), of("server")), (0, 5));
    // Where both mean the same, nobody is asked.
    let told = between("2025-06-18", "2024-11-05", &[], text);
    assert_eq!((told.code, told.out.trim()), (0, text), "{}", told.err);
}

#[test]
fn a_request_of_the_server_crosses_into_a_result_and_back_by_the_round_trip_adapter_only() {
    let asks = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let answers = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    let answer = ["--method", "roots/list"];
    for (from, step) in [
        ("2025-11-25", "2025-11-25..2026-07-28"),
        ("2024-11-05", "2025-11-25..2026-07-28"),
    ] {
        for told in [
            between(from, "2026-07-28", &[], asks),
            between(from, "2026-07-28", &answer, answers),
        ] {
            assert_eq!((told.code, told.out.as_str()), (5, ""), "{}", told.err);
            let expected = format!("needs the multi-round-trip adapter ({step}, ");
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
            assert!(
                told.err
                    .contains("expected a method that is a message of its own"),
                "{}",
                told.err
            );
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

/// What two peers of one revision say to each other is not judged, and not written anew.
#[test]
fn equal_revisions_pass_untouched() {
    for (method, result) in [
        (
            "tools/call",
            r#"{"content":[{"type":"text", "text":"3"}],"isError":"no"}"#,
        ),
        (
            "tools/call",
            r#"{"content":[{"type":"text","text":"3","annotations":5}]}"#,
        ),
        (
            "tools/call",
            r#"{"content":[{"type":"new-block"}], "x":1.0}"#,
        ),
        ("com.example/own", r#"[ 1 ]"#),
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0", "id":1, "result":{result}}}"#);
        for revision in ["2024-11-05", "2025-06-18", "2026-07-28"] {
            let told = between(revision, revision, &["--method", method], &message);
            let expected = (0, format!("{message}\n"), "");
            assert_eq!((told.code, told.out, &*told.err), expected);
        }
        let part = ["--method", "tools/call", "--part", "result"];
        let told = between("2025-06-18", "2025-06-18", &part, result);
        assert_eq!((told.code, told.out), (0, format!("{result}\n")));
    }
}

#[test]
fn a_message_that_cannot_be_read_costs_no_other_of_its_batch() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":5}},7,
        {"jsonrpc":"2.0","id":3,"method":"no/such"},{"jsonrpc":"2.0","id":4,"method":"ping"}]"#;
    let told = between("2025-03-26", "2024-11-05", &["--json"], batch);
    assert_eq!(told.code, 1, "{}", told.err);
    let rows: Vec<Value> = (told.out.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| {
            (
                row["status"].as_str().unwrap(),
                row["pointer"].as_str().unwrap_or(""),
            )
        })
        .collect();
    let invalid = |pointer| ("invalid", pointer);
    let expected = [
        ("exact", ""),
        invalid("/1/params/cursor"),
        invalid("/2"),
        invalid("/3"),
        ("exact", ""),
    ];
    assert_eq!(found, expected);
    let told = between("2025-03-26", "2024-11-05", &[], batch);
    assert_eq!(
        (told.code, told.out.lines().count()),
        (1, 2),
        "{}",
        told.out
    );
    assert!(told.err.contains("at /1/params/cursor"), "{}", told.err);
}

/// `--type` names the message that `--method` names, and both are as tolerant.
#[test]
fn the_type_of_a_message_and_its_method_judge_alike() {
    let listed = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}"#;
    let called = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":true}}}}"#;
    for (ty, method, text) in [
        (
            "ListToolsResultResponse",
            &["--method", "tools/list"][..],
            listed,
        ),
        ("CallToolRequest", &[], called),
    ] {
        let by_type = between("2026-07-28", "2025-11-25", &["--type", ty], text);
        let by_method = between("2026-07-28", "2025-11-25", method, text);
        assert_eq!(
            (by_type.code, &by_type.out),
            (4, &by_method.out),
            "{}",
            by_type.err
        );
        assert_eq!(by_type.err, by_method.err);
    }
    let told = between(
        "2026-07-28",
        "2025-11-25",
        &["--type", "ListToolsRequest"],
        called,
    );
    assert_eq!((told.code, &*told.out), (1, ""), "{}", told.err);
    // A type that the revision lacks is not there, whatever its name means elsewhere.
    let told = between(
        "2025-11-25",
        "2025-06-18",
        &["--type", "CallToolResultResponse"],
        listed,
    );
    assert_eq!((told.code, &*told.out), (2, ""), "{}", told.err);
    assert!(
        told.err
            .contains("no type `CallToolResultResponse` in 2025-11-25"),
        "{}",
        told.err
    );
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
        let expected = "converted from and to 2025-11-25";
        assert!(refused.err.contains(expected), "{}", refused.err);
    }
}
