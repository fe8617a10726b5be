//! Texts that nobody should send, to every type of every revision and to the envelope: refused clearly, or kept as they are.

mod bytes;
mod nesting;
mod numbers;
mod time;
mod truncated;

use mcp_revisions_core::Revision;
use mcp_revisions_core::v2025_11_25;
use mcp_tests::{parallel, text};
use mcp_wire::{Error, ErrorObject, TypeInfo, UnknownMessage};

/// Returns the row of each type of all revisions, once where several revisions share it, and of the envelope.
fn every_type() -> Vec<(&'static str, TypeInfo)> {
    let of_crate = |one: &Revision| {
        let id = one.id();
        one.types().iter().map(move |row| (id, *row))
    };
    let mut rows: Vec<(&str, TypeInfo)> = Vec::new();
    for (id, row) in Revision::ALL.iter().flat_map(of_crate) {
        if !rows.iter().any(|(_, other)| other.is_same_type(&row)) {
            rows.push((id, row));
        }
    }
    let error = TypeInfo::of::<ErrorObject>("Error", "ErrorObject");
    let unknown = TypeInfo::of::<UnknownMessage>("Unknown", "UnknownMessage");
    rows.extend([("envelope", error), ("envelope", unknown)]);
    rows
}

/// Whether an error helps: it has a place in the text, and says what was expected and found in few words.
#[track_caller]
fn assert_clear(error: &Error, text: &str) {
    let shown = error.to_string();
    let start: String = text.chars().take(100).collect();
    assert!(
        text.is_char_boundary(error.offset()),
        "{shown}\nno place in {start}"
    );
    assert!(error.line() >= 1 && error.column() >= 1, "{shown}");
    assert!(
        error.pointer().is_empty() || error.pointer().starts_with('/'),
        "{shown}"
    );
    assert!(
        !error.expected().is_empty() && !error.found().is_empty(),
        "{shown}"
    );
    assert!(error.found().len() <= 500, "{shown}");
    assert!(error.expected().len() <= 800, "{shown}");
    // Nothing of the sender's acts on the terminal, or on the log, that shows it.
    let acts = |char: char| char.is_control() || "\u{202e}\u{2028}\u{feff}".contains(char);
    assert!(!shown.contains(acts), "{shown:?}\nof {start}");
}

/// Texts that are not JSON, whoever reads them.
const NOT_JSON: &[&str] = &[
    "",
    " ",
    "\n\t\r ",
    "{",
    "[",
    "}",
    "]",
    "{\"a\"",
    "{\"a\":",
    "{\"a\":}",
    "{\"a\":1,}",
    "{\"a\":1 \"b\":2}",
    "{,}",
    "{1:2}",
    "{'a':1}",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{\"a\":1]",
    "[1}",
    "nul",
    "nulL",
    "tru",
    "fals",
    "True",
    "NaN",
    "Infinity",
    "-",
    "+1",
    "01",
    "-01",
    "1.",
    ".5",
    "1e",
    "1e+",
    "0x10",
    "1_000",
    "\"",
    "\"unterminated",
    "\"\\",
    "\"\\x41\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"line\nfeed\"",
    "\"nul\0inside\"",
    "\0",
    "\0{}",
    "{}\0",
    "\u{feff}{}",
    "\u{feff}",
    "\u{a0}{}",
    "{}{}",
    "{} x",
    "[] []",
    "// comment\n{}",
    "{}//",
    "/* */{}",
    "<html></html>",
    "Content-Length: 2\r\n\r\n{}",
    "\u{202e}{}",
    "\u{1f600}",
];

#[test]
fn what_is_not_json_is_refused_by_every_type() {
    for text in NOT_JSON {
        assert!(text::parse(text).is_err(), "{text:?} is JSON");
    }
    let done = parallel::map(&every_type(), |(revision, row)| {
        for text in NOT_JSON {
            match row.round_trip(text) {
                Ok(written) => panic!("{revision} {} takes {text:?} as {written}", row.rust_name),
                Err(error) => assert_clear(&error, text),
            }
        }
        NOT_JSON.len()
    });
    println!("{} refusals", done.iter().sum::<usize>());
}

#[test]
fn any_json_is_refused_clearly_or_kept() {
    let texts = [
        "null",
        "true",
        "false",
        "0",
        "-0.0",
        "1e999999",
        "-1e999999",
        "1e-999999",
        "\"\"",
        "\"\\u0000\"",
        "\"\\ud83d\\ude00\"",
        "[]",
        "{}",
        "[null]",
        "[[[]]]",
        "{\"\":{}}",
        "{\"\\u0000\":null}",
        "[{},[],\"\",0]",
        "  {  }  ",
        "{\"method\":null}",
        "{\"type\":[]}",
        "{\"type\":\"\"}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"a\":1,\"b\":2,\"c\":{\"a\":1}}",
        "\"\u{feff}\"",
        "\"\u{202e}\"",
        "\"\u{7f}\u{9f}\"",
    ];
    parallel::map(&every_type(), |(revision, row)| {
        for text in texts {
            assert!(text::parse(text).is_ok(), "{text} is not JSON");
            match row.round_trip(text) {
                Ok(written) => assert!(
                    text::same(text, &written),
                    "{revision} {}: {text} is written as {written}",
                    row.rust_name
                ),
                Err(error) => assert_clear(&error, text),
            }
        }
    });
}

#[test]
fn a_member_that_comes_twice_is_refused_where_it_comes_again() {
    let twice = r#"{"x-a":1,"x-b":{"y":1,"y":2},"x-a":{"deep":[1,2]}}"#;
    let escaped = "{\"x-a\":1,\"\\u0078-a\":2}";
    let mut objects = 0;
    for (revision, row) in every_type() {
        for text in [twice, escaped] {
            match row.round_trip(text) {
                // Any JSON: what it says is not looked at.
                Ok(written) => assert_eq!(written, text, "{revision} {}", row.rust_name),
                Err(error) => {
                    assert_clear(&error, text);
                    if error.kind() == mcp_wire::ErrorKind::Duplicate {
                        assert_eq!(error.pointer(), "/x-a", "{revision} {}", row.rust_name);
                        let again = text.rfind(",\"").unwrap() + 1;
                        assert_eq!(error.offset(), again, "{revision} {}", row.rust_name);
                        objects += 1;
                    }
                }
            }
        }
    }
    assert!(objects > 200, "only {objects} types complain");
    // Ten thousand of them, known and unknown.
    for name in ["name", "x"] {
        let text = format!(
            "{{{}}}",
            vec![format!("\"{name}\":\"a\""); 10_000].join(",")
        );
        let error = mcp_wire::from_str::<v2025_11_25::Tool>(&text).unwrap_err();
        assert_eq!(
            (error.kind(), error.pointer()),
            (mcp_wire::ErrorKind::Duplicate, format!("/{name}").as_str())
        );
        assert_clear(&error, &text);
    }
}
