//! `mcp-rev transcript`: faults that were put into a talk are found, each at its line, and nothing else is.

use std::path::Path;

use serde_json::Value;

use crate::fed;
use crate::mcp_rev;
use crate::schemas::rows;

/// Output and exit code.
fn transcript(arguments: &[&str], input: &str) -> (String, i32) {
    let run = fed(&[&["transcript"], arguments, &["-"]].concat(), input);
    (run.out, run.code)
}

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/goldens")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares with a file that is read in review; `BLESS=1` writes it.
fn matches_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/goldens")
        .join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    assert_eq!(
        found,
        golden(name),
        "run with BLESS=1 to write {name}, and read the difference"
    );
}

/// The findings of a talk: line and sort.
fn findings(input: &str) -> Vec<(u64, String)> {
    let (text, _) = transcript(&["--json"], input);
    let rows = rows("transcript", &text);
    (rows.iter())
        .filter_map(|row| Some((row["line"].as_u64()?, row["finding"].as_str()?.to_owned())))
        .collect()
}

#[test]
fn a_talk_without_faults_is_told_and_passes() {
    let (text, code) = transcript(&[], &golden("clean.jsonl"));
    assert_eq!(code, 0, "{text}");
    matches_golden("clean.out", &text);
}

/// What comes after a gap may answer what is missing, so the reader learns where it is.
#[test]
fn messages_that_are_missing_in_a_record_are_a_finding_at_their_place() {
    let gap = "# missing messages: 12, which could not be written in time";
    let talk = format!("# a comment\n{gap}\n{}", golden("clean.jsonl"));
    assert_eq!(findings(&talk), [(2, "gap".to_owned())]);
    let (text, code) = transcript(&[], &talk);
    assert_eq!(code, 1);
    let told = "-:2: gap: messages that are missing in the record: 12";
    assert!(text.contains(told), "{text}");
}

/// A client may propose what nobody here knows: the server's answer is what they speak.
#[test]
fn a_proposal_of_tomorrow_is_a_handshake() {
    let talk = |info: &str| {
        let params = format!(
            r#"{{"protocolVersion":"2099-01-01","capabilities":{{}},"clientInfo":{info}}}"#
        );
        let ask = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
        let said = r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{said}}}"#);
        format!("{{\"dir\":\">\",\"message\":{ask}}}\n{{\"dir\":\"<\",\"message\":{answer}}}\n")
    };
    assert_eq!(findings(&talk(r#"{"name":"c","version":"1"}"#)), []);
    // It is read as one, too.
    let wrong = findings(&talk(r#"{"name":7,"version":"1"}"#));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(wrong[0].0, 1);
}

#[test]
fn a_file_without_messages_is_of_no_revision() {
    let (text, code) = transcript(&[], "");
    let told = "0 messages, no revision\nno findings\n";
    assert_eq!((text.as_str(), code), (told, 0));
}

#[test]
fn an_id_may_come_again_once_it_is_answered_where_the_revision_lets_it() {
    let asked = r#"> {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let told = r#"< {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}"#;
    let twice = [asked, told, asked, told].join("\n");
    assert_eq!(findings(&twice), []);
    let meanwhile = [asked, asked, told].join("\n");
    assert!(findings(&meanwhile).contains(&(2, "id-used-before".to_owned())));
}

#[test]
fn each_fault_is_found_at_its_line() {
    let (text, code) = transcript(&[], &golden("faults.txt"));
    assert_eq!(code, 1, "{text}");
    matches_golden("faults.out", &text);
    let found = findings(&golden("faults.txt"));
    let expected = [
        (2, "no-revision"),
        (2, "unanswered"),
        (5, "invalid"),
        (6, "invalid"),
        (7, "answered-twice"),
        (8, "unasked-response"),
        (9, "id-used-before"),
        (9, "unanswered"),
        (10, "direction"),
        (10, "unanswered"),
        (11, "version"),
        (11, "unanswered"),
        (12, "invalid"),
        (13, "no-message"),
        (14, "no-message"),
        (15, "line"),
        (18, "invalid"),
        (18, "unanswered"),
    ];
    let expected: Vec<(u64, String)> = expected
        .iter()
        .map(|(line, sort)| (*line, (*sort).to_owned()))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn another_peer_is_asked_what_it_would_lose() {
    let (text, code) = transcript(&["--as", "2024-11-05"], &golden("clean.jsonl"));
    assert_eq!(code, 4, "{text}");
    matches_golden("clean-as-2024-11-05.out", &text);
    let (text, _) = transcript(&["--as", "2024-11-05", "--json"], &golden("clean.jsonl"));
    let told = rows("transcript", &text);
    assert!(told.iter().any(|row| row["loss"] == "rejected"), "{text}");
    let (text, code) = transcript(&["--as", "2025-11-25"], &golden("clean.jsonl"));
    assert_eq!(code, 0, "{text}");
}

/// Whatever one line is changed into, what is wrong with it is told of that line or of the request that it answers.
#[test]
fn a_fault_put_into_any_message_is_found() {
    let clean = golden("clean.jsonl");
    let lines: Vec<&str> = clean.lines().collect();
    for (index, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.starts_with('{'))
    {
        let number = index as u64 + 1;
        let row: Value = serde_json::from_str(line).unwrap();
        let with = |changed: &str| {
            let mut lines = lines.clone();
            lines[index] = changed;
            findings(&lines.join("\n"))
        };
        // Cut short.
        let cut = &line[..line.len() - 2];
        assert!(with(cut).contains(&(number, "line".to_owned())), "{cut}");
        // From the other side.
        let (from, to) = match row["dir"].as_str() {
            Some(">") => ("\">\"", "\"<\""),
            _ => ("\"<\"", "\">\""),
        };
        let turned = line.replacen(from, to, 1);
        if !line.contains("acme/") && !line.contains("-32601") {
            assert!(!with(&turned).is_empty(), "{turned}");
        }
        // Without what it must have.
        for member in ["params", "result"] {
            let mut row = row.clone();
            if row["message"].get(member).is_some() {
                row["message"][member] = serde_json::json!([]);
                assert!(!with(&row.to_string()).is_empty(), "{row}");
            }
        }
        // Not answered, or answered by nothing.
        if row["message"].get("id").is_some() {
            assert!(!with("").is_empty(), "{line}");
        }
    }
}

#[test]
fn a_stateless_talk_is_read_by_its_claims() {
    let claim = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let talk = format!(
        "> {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"a\",{claim}}}}}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[]}}}}\n> {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"subscriptions/listen\",\"params\":{{\"notifications\":{{}},{claim}}}}}\n"
    );
    assert_eq!(findings(&talk), [(2, "invalid".to_owned())]);
    let whole = talk.replace("\"content\"", "\"resultType\":\"complete\",\"content\"");
    assert_eq!(findings(&whole), []);
}

#[test]
fn a_file_that_is_not_there_is_no_talk_without_faults() {
    let output = mcp_rev("transcript no-such-file").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty() && !output.stderr.is_empty());
}

/// A request of the server is none in a revision whose results ask, and its check says so as well.
#[test]
fn a_message_that_its_sender_may_not_send_is_a_finding() {
    let claimed = r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let list = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list",{claimed}}}"#);
    for method in ["roots/list", "sampling/createMessage", "elicitation/create"] {
        let asks = format!(r#"{{"jsonrpc":"2.0","id":6,"method":"{method}","params":{{}}}}"#);
        let (text, code) = transcript(&[], &format!("> {list}\n< {asks}\n"));
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("stands in a result"), "{text}");
        let checked = fed("check --revision 2026-07-28 -".split(' '), &asks);
        assert_eq!(checked.code, 1, "{}", checked.out);
        assert!(
            checked.out.contains("stands in a result"),
            "{}",
            checked.out
        );
        let older = fed(
            "check --revision 2025-11-25 -".split(' '),
            r#"{"jsonrpc":"2.0","id":6,"method":"roots/list"}"#,
        );
        assert_eq!(older.code, 0, "{}", older.out);
    }
}

#[test]
fn a_task_that_answers_a_call_is_read_as_one() {
    let claimed = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"t",{claimed}}}}}"#
    );
    let task = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"task","taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttlMs":1}}"#;
    let (text, code) = transcript(&[], &format!("> {call}\n< {task}\n"));
    assert!(code == 0 && !text.contains("CallToolResult"), "{text}");
    let broken = task.replace(r#""taskId":"t","#, "");
    let (text, code) = transcript(&[], &format!("> {call}\n< {broken}\n"));
    assert!(
        code == 1 && text.contains("taskId") && !text.contains("`content`"),
        "{text}"
    );
}

/// Other programs write records, too: a line that cannot be read costs that line only, and the report stays text or JSON.
#[test]
fn lines_that_chance_has_changed_cost_no_more_than_themselves() {
    let clean = golden("clean.jsonl");
    let whole: Vec<&str> = clean.lines().collect();
    let strange = [
        '"', '{', '}', '[', ']', ',', ':', '\\', '0', 'e', '-', '\u{2028}',
    ];
    for (seed, options) in [&[][..], &["--json"], &["--json", "--as", "2024-11-05"]]
        .into_iter()
        .enumerate()
    {
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let mut talk = String::new();
        for _ in 0..400 {
            let mut letters: Vec<char> = whole[random.usize(..whole.len())].chars().collect();
            for _ in 0..random.usize(..4) {
                let at = random.usize(..letters.len().max(1));
                match random.usize(..5) {
                    0 => letters.truncate(at),
                    1 => letters.insert(at, strange[random.usize(..strange.len())]),
                    2 if at < letters.len() => drop(letters.remove(at)),
                    3 => letters.extend_from_within(..at),
                    _ => letters.extend(whole[random.usize(..whole.len())].chars().skip(at)),
                }
            }
            talk.extend(letters);
            talk.push('\n');
        }
        let (text, code) = transcript(options, &talk);
        assert!(code == 0 || code == 1, "{code}: {text}");
        if !options.is_empty() {
            for line in text.lines() {
                let row: Result<Value, _> = serde_json::from_str(line);
                assert!(row.is_ok(), "{line}");
            }
        }
    }
}
