//! What `mcp-rev` says of itself, and what it does without a checkout.

use std::path::Path;
use std::process::{Command, Stdio};

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use crate::mcp_rev;
use crate::schemas::rows;
use crate::{Run, fed};

/// Runs the program with the words of a line, far from any checkout.
fn run(line: &str) -> Run {
    let mut program = mcp_rev(line);
    program.current_dir(env!("CARGO_TARGET_TMPDIR"));
    Run::of(program.output().unwrap())
}

fn text(line: &str) -> String {
    let run = run(line);
    assert_eq!(run.code, 0, "{line}: {}", run.err);
    run.out
}

#[test]
fn a_diff_needs_no_checkout() {
    let told = text("diff 2025-11-25 2026-07-28");
    assert!(told.starts_with("2025-11-25 -> 2026-07-28: "), "{told}");
    assert!(!told.contains('\u{1b}'), "a pipe has no colours");
    for (line, code) in [
        ("diff 2025-11-25 2026-07-28 --fail-on breaking", 1),
        ("diff 2025-11-25 2027-01-01", 2),
        ("diff 2025-11-25 no-such.json", 3),
    ] {
        assert_eq!(run(line).code, code, "{line}");
    }
    assert!(text("explain became-required").contains("What to do:"));
}

#[test]
fn a_rule_is_explained_as_well_as_a_kind_of_change() {
    let told = text("explain structured-content");
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
    let told = text("explain no-counterpart");
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
        let told = text(&format!("explain {name}"));
        assert!(told.starts_with(says), "{told}");
    }
    let wrong = run("explain structured-conten");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("did you mean `structured-content`?"));
}

#[test]
fn a_name_that_is_misspelled_is_told_the_nearest_one() {
    for (name, near) in [
        ("--type CallToolReslt", "`CallToolResult`"),
        ("--method tool/call", "`tools/call`"),
    ] {
        let run = run(&format!("check --revision 2025-11-25 {name} -"));
        assert_eq!(run.code, 2);
        assert!(
            run.err.contains(&format!("did you mean {near}?")),
            "{}",
            run.err
        );
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
    let help = text("--help");
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
    let listed = text("list revisions --json");
    let rows: Vec<Value> = (listed.lines())
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
    let shown = text("list revisions");
    assert_eq!(shown.lines().count(), rows.len());
    assert!(
        shown.contains("released, beta since 2026-10-29\n"),
        "{shown}"
    );
    let refused = run("list revisions tasks");
    assert!(refused.err.contains("leave `tasks` out"), "{}", refused.err);
}

#[test]
fn names_are_listed_as_json_of_the_published_schema() {
    for (of, count) in [("2025-11-25", 20), ("tasks", 4)] {
        let methods = rows("list", &text(&format!("list methods {of} --json")));
        assert!(methods.len() >= count, "{of}: {methods:?}");
        assert!(methods.iter().all(|row| row["kind"].is_string()), "{of}");
        assert!(rows("list", &text(&format!("list types {of} --json"))).len() > count);
    }
}

/// Options that would do nothing are refused, and values that no listener can use; each error says what to give.
#[test]
fn an_option_of_the_bridge_that_could_not_work_is_refused_with_the_cure() {
    let bridge = |options: &str| run(&format!("bridge {options} -- no-such-program"));
    for (options, cure) in [
        ("--isolate", "give --listen http://ADDRESS:PORT/mcp"),
        ("--backplane redis://127.0.0.1/", "give --listen"),
        ("--header x:y", "cannot be used with '[COMMAND]...'"),
        ("--max-servers 0", "expected a whole number, 1 or more"),
        ("--idle-timeout 1m", "expected a whole number, 1 or more"),
        ("--http-sse sse", "expected a path, such as /sse"),
        (
            "--allow-origin example.com",
            "such as https://app.example.com",
        ),
        (
            "--listen https://127.0.0.1:0/mcp",
            "for TLS, put a reverse proxy before the bridge",
        ),
        ("--listen 127.0.0.1:8000", "`http://ADDRESS:PORT/mcp`"),
    ] {
        let Run { code, err, .. } = bridge(options);
        assert_eq!(code, 2, "{options}: {err}");
        assert!(err.contains(cure), "{options}: {err}");
    }
    // A file and an address that cannot be used are no fault of the server.
    let held = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = format!("--listen http://{}/mcp", held.local_addr().unwrap());
    let shared = "--listen http://127.0.0.1:0/mcp --backplane redis://127.0.0.1:1/";
    for (run, why) in [
        (bridge("--loss-log /no/such/folder/log"), "cannot write"),
        (bridge("--record /no/such/folder/log"), "cannot write"),
        (bridge(&taken), "cannot listen on"),
        (bridge(shared), "Connection refused"),
        (
            run("bridge --combine --config /no/such/file.json"),
            "cannot read /no/such/file.json",
        ),
        (run("man --output /no/such/folder"), "/no/such/folder"),
    ] {
        assert_eq!(run.code, 3, "{}", run.err);
        assert_eq!(run.err.matches(why).count(), 1, "{}", run.err);
    }
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
    let told = text("diff 2025-11-25 2026-07-28 --color always");
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
        let mut program = mcp_rev("diff");
        Run::of(
            program
                .args([old, "2026-07-28"])
                .current_dir(&dir)
                .output()
                .unwrap(),
        )
    };
    let told = diff("git:HEAD:schema.json").out;
    assert!(
        told.starts_with("git:HEAD:schema.json -> 2026-07-28: "),
        "{told}"
    );
    let missing = diff("git:HEAD:none.json");
    assert_eq!(missing.code, 3, "{}", missing.err);
    assert!(missing.err.contains("none.json"), "{}", missing.err);
}

#[test]
fn it_says_what_it_is() {
    let version = text("--version");
    assert!(version.contains("revisions: 2024-11-05, "), "{version}");
    let help = text("--help");
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&format!("completions {shell}")).contains("mcp-rev"));
    }
    let page = text("man");
    assert!(page.starts_with(".ie"));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    std::fs::create_dir_all(&dir).unwrap();
    let pages = text(&format!("man --output {}", dir.display()));
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
    let Run { code, out, .. } = fed("check --revision 2025-11-25 -".split(' '), input);
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
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":null}}"#;
    let told = check(list, "--revision 2025-06-18 --method tools/list");
    let expected = "at /result/nextCursor: expected a string, found null";
    assert!(told.contains(expected), "{told}");
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":null}}"#;
    let told = check(call, "--revision 2025-06-18");
    let expected = "at /params/arguments: expected an object, found null";
    assert!(told.contains(expected), "{told}");
    let both = r#"{"jsonrpc":"2.0","id":1,"error":null,"result":{}}"#;
    let told = check(both, "--revision 2025-06-18 --method ping");
    let expected = "at /error: expected no `error` beside a `result`, found null";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_file_without_an_end_is_not_read_for_ever() {
    let endless = run("check --revision 2025-11-25 --max-bytes 1000 /dev/zero");
    assert_eq!(endless.code, 3);
    for part in ["larger than 1000 bytes", "--max-bytes"] {
        assert!(endless.err.contains(part), "{}", endless.err);
    }
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let most = format!("check --revision 2025-11-25 --max-bytes {} -", ping.len());
    assert_eq!(fed(most.split(' '), ping).code, 0);
}

/// Checks a text that comes on standard input.
fn check(input: &str, options: &str) -> String {
    fed(format!("check {options} -").split(' '), input).out
}

#[test]
fn messages_of_an_extension_are_checked_and_listed() {
    let get = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":1}}"#;
    for known in ["2026-07-28", "tasks"] {
        let told = check(get, &format!("--revision {known}"));
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
        let told = check(task, &format!("--revision {revision} --method tools/call"));
        let is_read = told.contains("ok (tools/call response)");
        assert_eq!(is_read, has_tasks, "{told}");
    }
    let told = check(get, "--revision 2025-11-25");
    assert!(!told.contains("unknown method"), "{told}");
    let told = check(get, "--revision 2025-06-18");
    assert!(told.contains("unknown method tasks/get"), "{told}");
    assert!(text("list methods 2026-07-28").contains("tasks/update"));
    assert!(text("list types 2026-07-28").contains("DetailedTask\n"));
    assert!(!text("list methods 2025-06-18").contains("tasks/"));
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
        let told = check(&size("400"), &format!("--revision {known}"));
        assert!(
            told.contains("ok (ui/notifications/size-changed notification)"),
            "{told}"
        );
        let told = check(&size("\"wide\""), &format!("--revision {known}"));
        assert!(told.contains("/params/width: expected a number"), "{told}");
    }
    let meta = r#"{"resourceUri":"ui://weather","visibility":["app"],"later":1}"#;
    let told = check(meta, "--revision apps --type McpUiToolMeta");
    assert!(told.contains("ok"), "{told}");
    let hidden = meta.replace("[\"app\"]", "\"app\"");
    let told = check(&hidden, "--revision apps --type McpUiToolMeta");
    assert!(told.contains("/visibility: expected"), "{told}");
    let listed = text("list methods apps");
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
    let refused = fed("convert --from apps --to 2025-11-25 -".split(' '), request);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("the extension `apps`"),
        "{}",
        refused.err
    );
    text("diff apps apps@2026-01-26");
}

#[test]
fn entries_of_skills_are_checked_and_their_messages_are_known_where_they_rest() {
    let entry = |resources: &str| {
        format!(
            r#"{{"uri":"skill://pdf/SKILL.md","frontmatter":{{"name":"pdf","description":"x","rank":1}},"resources":{resources}}}"#
        )
    };
    let of_entry = |text: &str| check(text, "--revision skills --type Skill");
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
        let told = check(get, &format!("--revision {known}"));
        assert!(told.contains("ok (skills/get request)"), "{known}: {told}");
    }
    let told = check(get, "--revision 2025-11-25");
    assert!(told.contains("unknown method skills/get"), "{told}");
    let listed = text("list methods skills");
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names,
        ["resources/directory/read", "skills/get", "skills/list"]
    );
    text("diff skills skills@beta");
}

#[test]
fn a_state_of_an_extension_goes_by_its_id() {
    let diff = text("diff tasks@2026-07-28 tasks@draft --verbose");
    assert!(diff.contains("tasks@2026-07-28"), "{diff}");
    let key = "only in tasks@draft, `_meta` of CallToolRequestParams may hold `io.modelcontextprotocol/relatedTaskIds`";
    let words: Vec<&str> = diff.split_whitespace().collect();
    assert!(words.join(" ").contains(key), "{diff}");
    let get = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let there = fed(
        "convert --from tasks@2026-07-28 --to tasks@draft -".split(' '),
        get,
    );
    assert_eq!(there.code, 0, "{}", there.err);
    assert!(there.out.contains("\"taskId\":\"1\""), "{}", there.out);
    let told = check(get, "--revision tasks@draft");
    assert!(told.contains("ok (tasks/get request)"), "{told}");
    let unknown = fed("check --revision tasks@2030-01-01 -".split(' '), get);
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
    let checked = run(&format!(
        "check --revision 2025-11-25 --json {}",
        file.display()
    ));
    let rows = rows("check", &checked.out);
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
    for line in [
        "check --revision 2025-11-25 FILE",
        "check --revision 2025-11-25 FILE/none",
        "transcript FILE",
        "convert --from 2025-11-25 --to 2024-11-05 FILE",
        "convert --from 2025-11-25 --to 2024-11-05 --type Tool FILE",
    ] {
        let Run { out, err, .. } = run(&line.replace("FILE", file));
        let told = out + &err;
        let acts = told.contains(['\u{1b}', '\u{7}', '\r']);
        assert!(!told.is_empty() && !acts, "{line}: {told:?}");
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
    for line in [
        format!("check --revision 2025-11-25 {request}"),
        format!("check --revision 2025-11-25 {call}"),
        format!("check --revision 2025-11-25 --type {raw} {request}"),
        format!("check --revision 2025-11-25 {raw}"),
        format!("transcript {record}"),
        format!("explain {raw}"),
        format!("convert --from 2025-11-25 --to 2024-11-05 --type Tool {tool}"),
        format!("convert --from 2025-11-25 --to 2024-11-05 {call}"),
        format!("diff 2025-11-25 {schema} --format text --verbose --examples"),
        format!("diff 2025-11-25 {schema} --format markdown --verbose --examples"),
        format!("diff 2025-11-25 {schema} --format html --verbose --examples"),
    ] {
        for colour in ["never", "always"] {
            let Run { code, out, err } = run(&format!("--color {colour} {line}"));
            // Programs read what is converted: it is as it was.
            let is_of_programs = line.starts_with("convert") && code == 4;
            let shown = if is_of_programs { err } else { out + &err };
            assert!(shown.contains("gnp"), "{line}: {shown}");
            let acts = shown.contains("\u{1b}[31mred") || shown.contains('\u{202e}');
            assert!(!acts, "{line}: {shown:?}");
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
    let killed = dir.join("killed.sh");
    std::fs::write(&killed, "echo '{}'; kill -9 $$").unwrap();
    let convert = "convert --from 2025-06-18 --to 2025-03-26 --method tools/call --part result";
    for line in [
        "check --revision 2025-11-25 /no/such/file",
        &format!("{convert} {}", result.display()),
        "convert --from 2025-11-25 --to 2024-11-05 /no/such/file",
        "diff /no/such/file 2025-11-25",
        "explain no-such-rule",
        "transcript /no/such/file",
        "tap -- /no/such/program",
        &format!("tap --watch -- sh {}", killed.display()),
        "bridge --loss-log /no/such/folder/file -- true",
        "man --output /no/such/folder",
        "no-such-command",
    ] {
        let expected = run(line);
        assert!(!expected.err.is_empty(), "{line}");
        let mut child = mcp_rev(line).stdin(Stdio::null()).spawn().unwrap();
        drop(child.stderr.take());
        let left = Run::of(child.wait_with_output().unwrap());
        assert_eq!(
            (left.code, left.out),
            (expected.code, expected.out),
            "{line}"
        );
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
    let mut check = mcp_rev("check --revision 2025-11-25 ok.json");
    check.current_dir(folder).stdout(full.unwrap());
    let run = Run::of(check.output().unwrap());
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(!run.err.is_empty());
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
    let diff = "diff 2024-11-05 2025-03-26";
    text(&format!("{diff} -o {}", link.display()));
    assert_eq!(reader.join().unwrap(), text(diff));
    assert!(link.is_symlink());
    let nowhere = run(&format!(
        "{diff} -o {}",
        folder.join("missing/file").display()
    ));
    assert_eq!(nowhere.code, 3, "{}", nowhere.err);
}
