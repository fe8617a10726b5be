//! What an operator sees of a bridge, and what it keeps clients from.

use serde_json::{Value, json};

use super::several::{File, asked, definition, listening, told};
use mcp_revisions_core::Revision;
use std::path::Path;

use super::http::exchange;

#[test]
fn metrics_say_what_is_called_of_whom_and_the_log_is_json() {
    let file = File::new(
        "watched",
        &json!({
            "old": definition(Revision::V2025_06_18, Path::new("old")),
            "broken": { "command": "/nowhere/at/all" },
        }),
    );
    let options = ["--metrics", "/metrics", "--log-format", "json"];
    let (_bridge, port, lines) = listening(&file, &options);
    for name in ["add", "no such tool"] {
        let params = json!({ "name": name, "arguments": { "a": 1, "b": 2 } });
        asked(port, "/old/mcp", "tools/call", params);
    }
    asked(port, "/broken/mcp", "tools/list", json!({}));
    exchange(port, "GET /nowhere", "", "");
    exchange(port, "POST /old/mcp", "", "{");
    let text = exchange(port, "GET /metrics", "", "");
    assert!(
        text.contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{text}"
    );
    let version = Revision::LATEST.protocol_version();
    for line in [
        format!(r#"mcp_server_operation_duration_seconds_count{{mcp_method_name="tools/call",mcp_protocol_version="{version}",network_transport="tcp"}} 1"#),
        format!(r#"mcp_server_operation_duration_seconds_count{{mcp_method_name="tools/call",mcp_protocol_version="{version}",network_transport="tcp",error_type="-32602"}} 1"#),
        r#"mcp_client_operation_duration_seconds_count{mcp_method_name="tools/call",server="old",mcp_protocol_version="2025-06-18"} 1"#.to_owned(),
        r#"mcp_bridge_servers{server="old"} 1.0"#.to_owned(),
        r#"mcp_bridge_server_failures_total{server="broken"} 1"#.to_owned(),
        r#"mcp_revisions_refusals_total{status="400"} 1"#.to_owned(),
        r#"mcp_revisions_refusals_total{status="404"} 1"#.to_owned(),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
    assert!(!text.contains("no such tool"), "{text}");
    let stranger = exchange(port, "GET /metrics", "Origin: http://evil.example\r\n", "");
    assert!(stranger.starts_with("HTTP/1.1 403"), "{stranger}");
    let line = told(&lines, "the server speaks");
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["level"], "INFO");
    assert!(
        line["timestamp"].is_string() && line["client"].is_string(),
        "{line}"
    );
}

#[test]
fn tools_that_are_not_allowed_are_neither_listed_nor_called() {
    let file = File::new(
        "rules",
        &json!({ "one": definition(Revision::V2025_06_18, Path::new("one")) }),
    );
    for (options, path, prefix) in [
        (
            &["--allow-tool", "a*", "--deny-tool", "*k"][..],
            "/one/mcp",
            "",
        ),
        (
            &["--combine", "--allow-tool", "one_a*", "--deny-tool", "*k"],
            "/mcp",
            "one_",
        ),
    ] {
        let (_bridge, port, _lines) = listening(&file, options);
        let listed = asked(port, path, "tools/list", json!({}));
        let names = listed["result"]["tools"].as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, [format!("{prefix}add")]);
        let refused = asked(
            port,
            path,
            "tools/call",
            json!({ "name": format!("{prefix}ask"), "arguments": {} }),
        );
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains("ask"),
            "{refused}"
        );
    }
}

#[test]
fn a_client_that_sends_too_many_requests_hears_when_to_come_back() {
    let file = File::new(
        "rate",
        &json!({
            "one": definition(Revision::LATEST, Path::new("one")),
            "two": definition(Revision::LATEST, Path::new("two")),
        }),
    );
    for (path, more) in [("/one/mcp", &[][..]), ("/mcp", &["--combine"])] {
        let limit = &["--rate-limit", "2"];
        let (_bridge, port, _lines) = listening(&file, &[limit, more].concat());
        let listed = || asked(port, path, "resources/list", json!({}));
        for _ in 0..2 {
            let listed = listed();
            assert!(listed["result"].is_object(), "{listed}");
            assert!(listed["result"]["_meta"]["io.github.mcp-revisions/unavailable"].is_null());
        }
        let refused = listed();
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(
            why.contains("at most 2 in a minute") && why.contains("try again in"),
            "{path}: {why}"
        );
    }
}
