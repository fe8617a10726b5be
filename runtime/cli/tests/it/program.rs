//! What `mcp-rev` says of itself, and what it does without a checkout.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use crate::schemas::rows;
use crate::{Run, fed};

/// Runs the program far from any checkout.
fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .current_dir(Path::new(env!("CARGO_TARGET_TMPDIR")))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_diff_needs_no_checkout() {
    let told = text(&["diff", "2025-11-25", "2026-07-28"]);
    assert!(told.starts_with("2025-11-25 -> 2026-07-28: "), "{told}");
    assert!(!told.contains('\u{1b}'), "a pipe has no colours");
    let gate = run(&["diff", "2025-11-25", "2026-07-28", "--fail-on", "breaking"]);
    assert_eq!(gate.status.code(), Some(1));
    assert_eq!(
        run(&["diff", "2025-11-25", "2027-01-01"]).status.code(),
        Some(2)
    );
    assert_eq!(
        run(&["diff", "2025-11-25", "no-such.json"]).status.code(),
        Some(3)
    );
    assert!(text(&["explain", "became-required"]).contains("What to do:"));
}

#[test]
fn a_rule_is_explained_as_well_as_a_kind_of_change() {
    let told = text(&["explain", "structured-content"]);
    assert!(
        told.starts_with("structured-content: conversion rule of 2025-03-26..2025-06-18\n"),
        "{told}"
    );
    for head in [
        "Applies to: ",
        "To older: ",
        "Loss: ",
        "Why: ",
        "Source: ",
        "For example: ",
    ] {
        assert!(told.contains(head), "{head}: {told}");
    }
    let told = text(&["explain", "no-counterpart"]);
    assert!(
        told.starts_with("no-counterpart: conversion rule of every pair\n"),
        "one that stands in no file: {told}"
    );
    for (name, says) in [
        ("proven", "proven: no conversion rule\n"),
        (
            "required-meta",
            "required-meta: rule of the protocol, which no schema states\n",
        ),
        (
            "elicit-result-number",
            "elicit-result-number: erratum, a correction of published schemas\n",
        ),
        (
            "probe-of-a-child",
            "probe-of-a-child: change of 2025-11-25..2026-07-28 that no schema shows\n",
        ),
        ("0123456789ab", "0123456789ab: fingerprint of a change\n"),
    ] {
        let told = text(&["explain", name]);
        assert!(told.starts_with(says), "{told}");
    }
    let wrong = run(&["explain", "structured-conten"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `structured-content`?"));
}

#[test]
fn a_name_that_is_misspelled_is_told_the_nearest_one() {
    for (arguments, near) in [
        (
            [
                "check",
                "--revision",
                "2025-11-25",
                "--type",
                "CallToolReslt",
                "-",
            ],
            "`CallToolResult`",
        ),
        (
            [
                "check",
                "--revision",
                "2025-11-25",
                "--method",
                "tool/call",
                "-",
            ],
            "`tools/call`",
        ),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(&format!("did you mean {near}?")), "{told}");
    }
}

#[test]
fn the_readme_names_each_subcommand_and_no_other() {
    let readme = include_str!("../../README.md");
    let cells = readme.lines().filter(|line| line.starts_with("| `"));
    let cells = cells.filter_map(|line| line.split('|').nth(1));
    let mut named: Vec<&str> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    named.sort_unstable();
    let help = text(&["--help"]);
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let mut known: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    known.sort_unstable();
    assert_eq!(named, known);
}

#[test]
fn revisions_are_listed_with_the_stage_of_each_extension() {
    let listed = fed(&["list", "revisions", "--json"], "");
    let rows: Vec<Value> = (listed.out.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(row("2024-11-05")["lifecycle"], "handshake");
    assert_eq!(row("2026-07-28-rc")["status"], "candidate");
    assert_eq!(row("skills")["stageSince"], "2026-10-29");
    assert_eq!(
        (&row("apps")["stage"], &row("apps")["stageSince"]),
        (&json!("stable"), &Value::Null)
    );
    let shown = fed(&["list", "revisions"], "").out;
    assert_eq!(shown.lines().count(), rows.len());
    assert!(
        shown.contains("released, beta since 2026-10-29\n"),
        "{shown}"
    );
    let refused = fed(&["list", "revisions", "tasks"], "");
    assert!(refused.err.contains("leave `tasks` out"), "{}", refused.err);
}

#[test]
fn names_are_listed_as_json_of_the_published_schema() {
    for (of, count) in [("2025-11-25", 20), ("tasks", 4)] {
        let methods = rows("list", &text(&["list", "methods", of, "--json"]));
        assert!(methods.len() >= count, "{of}: {methods:?}");
        assert!(methods.iter().all(|row| row["kind"].is_string()), "{of}");
        assert!(rows("list", &text(&["list", "types", of, "--json"])).len() > count);
    }
}

/// Options that would do nothing are refused, and values that no listener can use; each error says what to give.
#[test]
fn an_option_of_the_bridge_that_could_not_work_is_refused_with_the_cure() {
    for (options, cure) in [
        (&["--isolate"][..], "give --listen http://ADDRESS:PORT/mcp"),
        (&["--backplane", "redis://127.0.0.1/"], "give --listen"),
        (&["--header", "x: y"], "cannot be used with '[COMMAND]...'"),
        (
            &["--max-servers", "0"],
            "expected a whole number, 1 or more",
        ),
        (
            &["--idle-timeout", "1m"],
            "expected a whole number, 1 or more",
        ),
        (&["--http-sse", "sse"], "expected a path, such as /sse"),
        (
            &["--allow-origin", "example.com"],
            "such as https://app.example.com",
        ),
        (
            &["--listen", "https://127.0.0.1:0/mcp"],
            "for TLS, put a reverse proxy before the bridge",
        ),
        (&["--listen", "127.0.0.1:8000"], "`http://ADDRESS:PORT/mcp`"),
    ] {
        let output = run(&[&["bridge"], options, &["--", "no-such-program"]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(cure), "{options:?}: {said}");
    }
    // A file and an address that cannot be used are no fault of the server.
    let held = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = format!("http://{}/mcp", held.local_addr().unwrap());
    for (options, why) in [
        (["--loss-log", "/no/such/folder/log"], "cannot write"),
        (["--record", "/no/such/folder/log"], "cannot write"),
        (["--listen", &taken], "cannot listen on"),
    ] {
        let output = run(&[&["bridge"], &options[..], &["--", "no-such-program"]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{options:?}: {said}");
        assert!(said.contains(why), "{options:?}: {said}");
    }
    let listener = ["bridge", "--listen", "http://127.0.0.1:0/mcp"];
    let shared = [
        "--backplane",
        "redis://127.0.0.1:1/",
        "--",
        "no-such-program",
    ];
    let output = run(&[&listener[..], &shared].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(said.matches("Connection refused").count(), 1, "{said}");
    let output = run(&["bridge", "--combine", "--config", "/no/such/file.json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot read /no/such/file.json"), "{said}");
    let pages = run(&["man", "--output", "/no/such/folder"]);
    assert_eq!(pages.status.code(), Some(3), "{pages:?}");
}

/// The script for bash completes in a bash, also behind a subcommand.
#[cfg(unix)]
#[test]
fn bash_completes_options_of_subcommands() {
    let script = r#"source <("$0" completions bash)
        COMP_WORDS=(mcp-rev $1); COMP_CWORD=$(($# > 0 ? ${#COMP_WORDS[@]} - 1 : 0))
        complete=$(complete -p mcp-rev); complete=${complete#*-F }
        ${complete%% *} mcp-rev "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[@]}""#;
    for (words, expected) in [
        ("bri", "bridge"),
        ("bridge --loss", "--loss-log"),
        ("auth check --client-i", "--client-id"),
        ("bridge --listen x --comb", "--combine"),
    ] {
        let output = Command::new("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_mcp-rev"), words])
            .output()
            .unwrap();
        let completed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            completed.trim(),
            expected,
            "{words}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn colours_are_there_when_they_are_asked_for() {
    let told = text(&["diff", "2025-11-25", "2026-07-28", "--color", "always"]);
    assert!(told.contains("\u{1b}["), "{told}");
}

/// A committed schema is compared as a file is.
#[test]
fn a_diff_reads_files_of_a_commit() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("committed");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(&dir)
            .args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
            .args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../spec/2025-11-25/schema.json"
    );
    std::fs::copy(schema, dir.join("schema.json")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "schema.json"]);
    git(&["commit", "-q", "-m", "schema"]);
    std::fs::remove_file(dir.join("schema.json")).unwrap();
    let diff = |old: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
        program
            .current_dir(&dir)
            .args(["diff", old, "2026-07-28"])
            .output()
            .unwrap()
    };
    let output = diff("git:HEAD:schema.json");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.starts_with("git:HEAD:schema.json -> 2026-07-28: "),
        "{told}"
    );
    let output = diff("git:HEAD:none.json");
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("none.json"), "{told}");
}

#[test]
fn it_says_what_it_is() {
    let version = text(&["--version"]);
    assert!(version.contains("revisions: 2024-11-05, "), "{version}");
    let help = text(&["--help"]);
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&["completions", shell]).contains("mcp-rev"));
    }
    let page = text(&["man"]);
    assert!(page.starts_with(".ie"));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    std::fs::create_dir_all(&dir).unwrap();
    let pages = text(&["man", "--output", dir.to_str().unwrap()]);
    let pages: Vec<&str> = pages.lines().collect();
    assert!(pages.len() > 5, "{pages:?}");
    let source = concat!("\"mcp-rev ", env!("CARGO_PKG_VERSION"), "\"");
    for file in pages {
        let page = std::fs::read_to_string(file).unwrap();
        let heading = page.lines().find(|line| line.starts_with(".TH "));
        assert!(
            heading.is_some_and(|heading| heading.contains(source)),
            "{file}: {heading:?}"
        );
    }
    let page = std::fs::read_to_string(dir.join("mcp-rev-check.1")).unwrap();
    assert!(page.contains("\\fBmcp\\-rev check\\fR"), "{page}");
}

#[test]
fn lines_are_checked_one_by_one() {
    let input = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{}}\n";
    let Run { code, out, .. } = fed(&["check", "--revision", "2025-11-25", "-"], input);
    assert_eq!(code, 1);
    let told = out;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert_eq!(lines[0], "-:1: ok (tools/list request)");
    assert!(
        lines[1].starts_with("-:3: error (tools/call request): "),
        "{told}"
    );
}

/// `null` is read as an absent member; a check names it as the mistake that it is.
#[test]
fn a_null_where_the_schema_has_something_else_is_named() {
    let revision = ["--revision", "2025-06-18"];
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":null}}"#;
    let told = check(list, &[&revision[..], &["--method", "tools/list"]].concat());
    let expected = "at /result/nextCursor: expected a string, found null";
    assert!(told.contains(expected), "{told}");
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":null}}"#;
    let told = check(call, &revision);
    let expected = "at /params/arguments: expected an object, found null";
    assert!(told.contains(expected), "{told}");
    let both = r#"{"jsonrpc":"2.0","id":1,"error":null,"result":{}}"#;
    let told = check(both, &[&revision[..], &["--method", "ping"]].concat());
    let expected = "at /error: expected no `error` beside a `result`, found null";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_file_without_an_end_is_not_read_for_ever() {
    let endless = run(&[
        "check",
        "--revision",
        "2025-11-25",
        "--max-bytes",
        "1000",
        "/dev/zero",
    ]);
    assert_eq!(endless.status.code(), Some(3));
    let told = String::from_utf8_lossy(&endless.stderr);
    assert!(
        told.contains("larger than 1000 bytes") && told.contains("--max-bytes"),
        "{told}"
    );
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let most = ping.len().to_string();
    let arguments = [
        "check",
        "--revision",
        "2025-11-25",
        "--max-bytes",
        &most,
        "-",
    ];
    assert_eq!(fed(&arguments, ping).code, 0);
}

/// Checks a text that comes on standard input.
fn check(input: &str, arguments: &[&str]) -> String {
    fed(&[&["check"], arguments, &["-"]].concat(), input).out
}

#[test]
fn messages_of_an_extension_are_checked_and_listed() {
    let get = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":1}}"#;
    for known in ["2026-07-28", "tasks"] {
        let told = check(get, &["--revision", known]);
        assert!(told.contains("/params/taskId: expected a string"), "{told}");
    }
    let task = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"1","status":"working","createdAt":"2026-08-01T10:30:00Z","lastUpdatedAt":"2026-08-01T10:30:00Z","ttlMs":null}}"#;
    // An extension is of the revision that it rests on, and of a draft that does not differ from that; a draft may have its
    // messages in the core.
    let draft_has_tasks = Revision::Draft.same_types(Revision::V2026_07_28)
        || Revision::Draft
            .methods()
            .iter()
            .any(|method| method.name == "tasks/get");
    for (revision, has_tasks) in [
        (Revision::V2026_07_28, true),
        (Revision::Draft, draft_has_tasks),
    ] {
        let told = check(
            task,
            &["--revision", revision.id(), "--method", "tools/call"],
        );
        let is_read = told.contains("ok (tools/call response)");
        assert_eq!(is_read, has_tasks, "{told}");
    }
    let told = check(get, &["--revision", "2025-11-25"]);
    assert!(!told.contains("unknown method"), "{told}");
    let told = check(get, &["--revision", "2025-06-18"]);
    assert!(told.contains("unknown method tasks/get"), "{told}");
    assert!(text(&["list", "methods", "2026-07-28"]).contains("tasks/update"));
    assert!(text(&["list", "types", "2026-07-28"]).contains("DetailedTask\n"));
    assert!(!text(&["list", "methods", "2025-06-18"]).contains("tasks/"));
}

#[test]
fn apps_are_checked_listed_and_compared_between_a_view_and_its_host() {
    let size = |width: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"ui/notifications/size-changed","params":{{"width":{width}}}}}"#
        )
    };
    for known in [
        "2026-07-28",
        "apps",
        "apps@2026-01-26",
        "io.modelcontextprotocol/ui",
    ] {
        let told = check(&size("400"), &["--revision", known]);
        assert!(
            told.contains("ok (ui/notifications/size-changed notification)"),
            "{told}"
        );
        let told = check(&size("\"wide\""), &["--revision", known]);
        assert!(told.contains("/params/width: expected a number"), "{told}");
    }
    let meta = r#"{"resourceUri":"ui://weather","visibility":["app"],"later":1}"#;
    let told = check(meta, &["--revision", "apps", "--type", "McpUiToolMeta"]);
    assert!(told.contains("ok"), "{told}");
    let hidden = meta.replace("[\"app\"]", "\"app\"");
    let told = check(&hidden, &["--revision", "apps", "--type", "McpUiToolMeta"]);
    assert!(told.contains("/visibility: expected"), "{told}");
    let listed = text(&["list", "methods", "apps"]);
    let sent = |method: &str| {
        let line = listed
            .lines()
            .find(|line| line.starts_with(method))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(sent("ui/initialize"), "view-to-host");
    assert_eq!(sent("ui/resource-teardown"), "host-to-view");
    // No message of apps goes to a server: there is nothing to convert them to.
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"ui/open-link","params":{"url":"https://example.com"}}"#;
    let refused = fed(
        &["convert", "--from", "apps", "--to", "2025-11-25", "-"],
        request,
    );
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("the extension `apps`"),
        "{}",
        refused.err
    );
    let same = fed(&["diff", "apps", "apps@2026-01-26"], "");
    assert_eq!(same.code, 0, "{}", same.err);
}

#[test]
fn entries_of_skills_are_checked_and_their_messages_are_known_where_they_rest() {
    let entry = |resources: &str| {
        format!(
            r#"{{"uri":"skill://pdf/SKILL.md","frontmatter":{{"name":"pdf","description":"x","rank":1}},"resources":{resources}}}"#
        )
    };
    let of_entry = |text: &str| check(text, &["--revision", "skills", "--type", "Skill"]);
    let file = r#"[{"uri":"skill://pdf/SKILL.md","digest":"sha256:00","size":4}]"#;
    for resources in [file, "\"dynamic\"", "[]"] {
        let told = of_entry(&entry(resources));
        assert!(told.contains("ok"), "{resources}: {told}");
    }
    for (resources, at) in [
        ("\"static\"", "/resources"),
        ("null", "/resources"),
        (
            r#"[{"uri":"skill://pdf/SKILL.md","digest":"sha256:00"}]"#,
            "/resources/0",
        ),
        (
            r#"[{"uri":"skill://pdf/SKILL.md","digest":"sha256:00","size":"4"}]"#,
            "/resources/0/size",
        ),
    ] {
        let told = of_entry(&entry(resources));
        assert!(
            told.contains(at) && !told.contains("ok ("),
            "{resources}: {told}"
        );
    }
    let get = r#"{"jsonrpc":"2.0","id":1,"method":"skills/get","params":{"uri":"skill://pdf/SKILL.md","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    for known in [
        "2026-07-28",
        "skills",
        "skills@beta",
        "io.modelcontextprotocol/skills",
    ] {
        let told = check(get, &["--revision", known]);
        assert!(told.contains("ok (skills/get request)"), "{known}: {told}");
    }
    let told = check(get, &["--revision", "2025-11-25"]);
    assert!(told.contains("unknown method skills/get"), "{told}");
    let listed = text(&["list", "methods", "skills"]);
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names,
        ["resources/directory/read", "skills/get", "skills/list"]
    );
    let same = fed(&["diff", "skills", "skills@beta"], "");
    assert_eq!(same.code, 0, "{}", same.err);
}

#[test]
fn a_state_of_an_extension_goes_by_its_id() {
    let diff = fed(
        &["diff", "tasks@2026-07-28", "tasks@draft", "--verbose"],
        "",
    );
    assert_eq!(diff.code, 0, "{}", diff.err);
    assert!(diff.out.contains("tasks@2026-07-28"), "{}", diff.out);
    let key = "only in tasks@draft, `_meta` of CallToolRequestParams may hold `io.modelcontextprotocol/relatedTaskIds`";
    let words: Vec<&str> = diff.out.split_whitespace().collect();
    assert!(words.join(" ").contains(key), "{}", diff.out);
    let get = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let there = fed(
        &[
            "convert",
            "--from",
            "tasks@2026-07-28",
            "--to",
            "tasks@draft",
            "-",
        ],
        get,
    );
    assert_eq!(there.code, 0, "{}", there.err);
    assert!(there.out.contains("\"taskId\":\"1\""), "{}", there.out);
    let told = check(get, &["--revision", "tasks@draft"]);
    assert!(told.contains("ok (tasks/get request)"), "{told}");
    let unknown = fed(&["check", "--revision", "tasks@2030-01-01", "-"], get);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("tasks@draft"), "{}", unknown.err);
}

#[test]
fn the_result_of_a_check_is_what_its_schema_says() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = dir.join("checked.jsonl");
    let ok = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let wrong = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}"#;
    std::fs::write(&file, format!("{ok}\n{wrong}\n")).unwrap();
    let output = run(&[
        "check",
        "--revision",
        "2025-11-25",
        "--json",
        file.to_str().unwrap(),
    ]);
    let rows = rows("check", &String::from_utf8(output.stdout).unwrap());
    let states: Vec<_> = rows
        .iter()
        .map(|row| row["status"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["ok", "error"]);
}

/// What a file says is shown, and does nothing to the terminal: neither by its content nor by its name.
#[test]
fn a_file_does_not_control_the_terminal() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("\u{1b}]0;title\u{7}.json");
    let method = r"\u001b[2J\u001b[8m\u009b1m\rnothing to see";
    let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
    std::fs::write(&file, request).unwrap();
    let file = file.to_str().unwrap();
    for arguments in [
        &["check", "--revision", "2025-11-25", file][..],
        &["check", "--revision", "2025-11-25", &format!("{file}/none")],
        &["transcript", file],
        &[
            "convert",
            "--from",
            "2025-11-25",
            "--to",
            "2024-11-05",
            file,
        ],
        &[
            "convert",
            "--from",
            "2025-11-25",
            "--to",
            "2024-11-05",
            "--type",
            "Tool",
            file,
        ],
    ] {
        let output = run(arguments);
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8(told).unwrap();
        let acts = told.contains(['\u{1b}', '\u{7}', '\r']);
        assert!(!told.is_empty() && !acts, "{arguments:?}: {told:?}");
    }
}

/// Colours and the order of letters are the program's own, whoever wrote what it shows, for a terminal and a page alike.
#[test]
fn what_is_shown_keeps_its_colours_and_its_order() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shown");
    std::fs::create_dir_all(&dir).unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let evil = "\\u001b[31mred\\u001b[0m\u{202e}gnp";
    let raw = "\u{1b}[31mred\u{1b}[0m\u{202e}gnp";
    let request = file(
        "request.json",
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{evil}","params":{{}}}}"#),
    );
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","{evil}":1,"arguments":"{evil}"}}}}"#
    );
    let call = file("call.json", &call);
    let tool = format!(
        r#"{{"name":"a","inputSchema":{{"type":"object"}},"{evil}":1,"title":"{evil}","icons":[{{"src":"{evil}"}}]}}"#
    );
    let tool = file("tool.json", &tool);
    let record =
        format!("> {{\"jsonrpc\":\"2.0\",\"id\":\"{evil}\",\"method\":\"{evil}\"}}\n< {raw}\n");
    let record = file("record.jsonl", &record);
    let published = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../spec/2025-11-25/schema.json"
    );
    let published = std::fs::read_to_string(published).unwrap();
    let mut schema: Value = serde_json::from_str(&published).unwrap();
    let property = json!({ "type": "string", "enum": [raw], "description": raw });
    let tool_type = &mut schema["$defs"]["Tool"];
    tool_type["properties"][raw] = property.clone();
    tool_type["properties"]["name"] = property;
    tool_type["required"] = json!([raw, "name", "inputSchema"]);
    let schema = file("schema.json", &schema.to_string());
    let diff = |format: &'static str| {
        vec![
            "diff",
            "2025-11-25",
            &schema,
            "--format",
            format,
            "--verbose",
            "--examples",
        ]
    };
    let from = ["--from", "2025-11-25", "--to", "2024-11-05"];
    let convert = |rest: &[&'static str], file: &'static str| {
        [&["convert"], &from[..], rest, &[file]].concat()
    };
    let (tool, call): (&'static str, &'static str) = (tool.leak(), call.leak());
    for arguments in [
        vec!["check", "--revision", "2025-11-25", &request],
        vec!["check", "--revision", "2025-11-25", call],
        vec!["check", "--revision", "2025-11-25", "--type", raw, &request],
        vec!["check", "--revision", "2025-11-25", raw],
        vec!["transcript", &record],
        vec!["explain", raw],
        convert(&["--type", "Tool"], tool),
        convert(&[], call),
        diff("text"),
        diff("markdown"),
        diff("html"),
    ] {
        for colour in ["never", "always"] {
            let output = run(&[&["--color", colour][..], &arguments].concat());
            // Programs read what is converted: it is as it was.
            let of_programs = arguments[0] == "convert" && output.status.code() == Some(4);
            let shown = if of_programs {
                output.stderr
            } else {
                [output.stdout, output.stderr].concat()
            };
            let shown = String::from_utf8(shown).unwrap();
            assert!(shown.contains("gnp"), "{arguments:?}: {shown}");
            let acts = shown.contains("\u{1b}[31mred") || shown.contains('\u{202e}');
            assert!(!acts, "{arguments:?}: {shown:?}");
        }
    }
}

/// Standard error may be a pipe whose reader has left: what is done, and the exit code, stay the same.
#[test]
fn a_reader_of_errors_that_leaves_changes_no_exit_code() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("left");
    std::fs::create_dir_all(&dir).unwrap();
    let result = dir.join("result.json");
    let text = r#"{"content":[],"structuredContent":{"a":1}}"#;
    std::fs::write(&result, text).unwrap();
    let result = result.to_str().unwrap();
    let from = ["--from", "2025-06-18", "--to", "2025-03-26"];
    let part = ["--method", "tools/call", "--part", "result", result];
    for arguments in [
        &["check", "--revision", "2025-11-25", "/no/such/file"][..],
        &[&["convert"], &from[..], &part].concat(),
        &[
            "convert",
            "--from",
            "2025-11-25",
            "--to",
            "2024-11-05",
            "/no/such/file",
        ],
        &["diff", "/no/such/file", "2025-11-25"],
        &["explain", "no-such-rule"],
        &["transcript", "/no/such/file"],
        &["tap", "--", "/no/such/program"],
        &["tap", "--watch", "--", "sh", "-c", "echo '{}'; kill -9 $$"],
        &["bridge", "--loss-log", "/no/such/folder/file", "--", "true"],
        &["man", "--output", "/no/such/folder"],
        &["no-such-command"],
    ] {
        let expected = run(arguments);
        assert!(!expected.stderr.is_empty(), "{arguments:?}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stderr.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            expected.status.code(),
            "{arguments:?}"
        );
        assert_eq!(output.stdout, expected.stdout, "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_is_no_success() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(
        folder.join("ok.json"),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    )
    .unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .current_dir(folder)
        .args(["check", "--revision", "2025-11-25", "ok.json"])
        .stdout(full.unwrap())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(!output.stderr.is_empty());
}

/// A link leads to a pipe: what stands at the place of the output is written into, never replaced.
#[cfg(unix)]
#[test]
fn an_output_that_is_no_plain_file_stays_what_it_is() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("output");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let (pipe, link) = (folder.join("pipe"), folder.join("link"));
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("pipe", &link).unwrap();
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    let diff = ["diff", "2024-11-05", "2025-03-26"];
    let to_link = run(&[&diff[..], &["-o", link.to_str().unwrap()]].concat());
    assert!(to_link.status.success(), "{to_link:?}");
    assert_eq!(reader.join().unwrap(), text(&diff));
    assert!(link.is_symlink());
    let nowhere = folder.join("missing/file");
    let to_nowhere = run(&[&diff[..], &["-o", nowhere.to_str().unwrap()]].concat());
    assert_eq!(to_nowhere.status.code(), Some(3), "{to_nowhere:?}");
}
