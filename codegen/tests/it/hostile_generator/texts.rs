//! Hostile texts of a schema stay data: they start no doctest, no HTML, no item and no line of a manifest.

use std::process::Command;

use mcp_codegen::generate::Crate;
use serde_json::{Value, json};

use super::{from_text, generated, string};
use crate::scratch::Scratch;
use crate::workspace::repository;

/// Ways out of a doc line, a literal, a comment and a manifest; each would run, or be seen, as PWNED.
const HOSTILE: [&str; 16] = [
    "```\nPWNED();\n```",
    "x\n```\nPWNED();\n```\n",
    "x\r\n\r\n```rust\r\nPWNED();\r\n```\r\n",
    "x\r```\rPWNED();\r```",
    "~~~\nPWNED();\n~~~",
    "x\n\n    PWNED();\n",
    "-      PWNED();",
    "1.     PWNED();\n\tPWNED();",
    "> ~~~\n> PWNED();",
    "`\n\n```\nPWNED();\n```",
    "<script>PWNED()</script>",
    "`<img src=x onerror=PWNED()>",
    "[x](javascript:PWNED) [PWNED]: javascript:PWNED",
    "\"]\n#[test]\nfn PWNED() {}\n//",
    "*/ fn PWNED() {} /*",
    "\u{0}\u{2028}```\u{2029}PWNED();\u{85}\u{202e}{{ PWNED }}",
];

/// A schema in which `text` is every text that a schema may choose: names, values, methods, descriptions, defaults.
fn every_text(text: &str) -> Value {
    let described = |value: Value| {
        let mut value = value;
        value["description"] = json!(text);
        value
    };
    let params =
        json!({"type": "object", "properties": {text: described(string())}, "required": [text]});
    json!({
        text: described(json!({
            "type": "object",
            "properties": {
                text: described(string()),
                "kind": {"const": text},
                "flag": described(json!({"type": "boolean", "default": true})),
                "start": {"type": "string", "default": text},
            },
            "required": ["kind"],
        })),
        "Choice": described(json!({"type": "string", "enum": [text, "other"]})),
        "Union": {"anyOf": [{"$ref": "#/$defs/Left"}, {"$ref": "#/$defs/Right"}], "description": text},
        "Left": {"type": "object", "properties": {"kind": {"const": text}}, "required": ["kind"]},
        "Right": {"type": "object", "properties": {"kind": {"const": "right"}}, "required": ["kind"]},
        "AnyRequest": described(json!({
            "type": "object",
            "properties": {
                "jsonrpc": {"const": "2.0"},
                "id": string(),
                "method": {"const": text},
                "params": params,
            },
            "required": ["jsonrpc", "id", "method", "params"],
        })),
        "AnyResult": {"type": "object", "properties": {"value": string()}},
        "ClientRequest": {"anyOf": [{"$ref": "#/$defs/AnyRequest"}]},
    })
}

/// The doc comments of the sources of a crate, one by one.
fn doc_comments(one: &Crate) -> Vec<String> {
    let mut comments = Vec::new();
    for (path, source) in one.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        assert!(
            !source.contains("/**") && !source.contains("/*!"),
            "{path}: {source}"
        );
        let mut comment = String::new();
        for line in source.lines().map(str::trim_start).chain([""]) {
            match line
                .strip_prefix("///")
                .or_else(|| line.strip_prefix("//!"))
            {
                Some(text) => comment.push_str(&format!("///{text}\n")),
                None if comment.is_empty() => {}
                None => comments.push(std::mem::take(&mut comment)),
            }
        }
    }
    comments
}

/// No letter of a source ends a line unseen or turns the text around, and each parses with nothing of the schema as an item.
#[track_caller]
fn is_inert(one: &Crate, text: &str) {
    for (path, source) in &one.files {
        let is_bad = |letter: char| {
            letter.is_control() && letter != '\n' || matches!(letter, '\u{2028}'..='\u{202e}')
        };
        assert!(
            !source.contains(is_bad),
            "{text:?} stands in {path} as it is"
        );
        assert!(path.len() < 120, "{path} is too long for a file");
        if path.ends_with(".toml") {
            assert!(!source.contains("PWNED"), "{text:?} is in {path}: {source}");
            toml::from_str::<toml::Table>(source).unwrap();
        }
    }
}

#[test]
fn no_text_of_a_schema_becomes_code() {
    let mut sources = String::new();
    for text in HOSTILE {
        let one = generated(&every_text(text)).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        is_inert(&one, text);
        assert!(!one.files["README.md"].contains("PWNED"), "{text:?}");
        for comment in doc_comments(&one) {
            let number = sources.len();
            sources.push_str(&format!("{comment}pub fn item_{number}() {{}}\n\n"));
        }
    }
    assert!(sources.contains("PWNED"), "the texts are there to be read");
    let scratch = Scratch::new();
    scratch.put("texts.rs", &sources);
    let rustdoc = |arguments: &[&str]| {
        let mut command = Command::new("rustdoc");
        command
            .current_dir(&scratch.0)
            .args(["--edition", "2024", "texts.rs"]);
        let out = command.args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            out.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&out.stderr)
        );
        text
    };
    let listed = rustdoc(&["--test", "--test-args", "--list"]);
    assert!(listed.contains("0 tests, 0 benchmarks"), "{listed}");
    rustdoc(&["--out-dir", "html", "--document-private-items"]);
    let mut pages = 0;
    for entry in std::fs::read_dir(scratch.0.join("html/texts")).unwrap() {
        let page = std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        for tag in [
            "<script>PWNED",
            "<img src=x",
            "href=\"javascript:",
            "<pre class=\"rust rust-example",
        ] {
            assert!(!page.contains(tag), "{tag} stands in a page: {page}");
        }
        pages += usize::from(page.contains("PWNED"));
    }
    assert!(pages > HOSTILE.len(), "{pages} pages show the texts");
}

/// Generated code hands texts of schemas to macros as literals: none puts one into a doc line, which rustdoc would run.
#[test]
fn no_macro_of_generated_code_documents_by_a_literal_of_its_caller() {
    let mut looked_at = 0;
    for folder in ["runtime/wire/src", "runtime/convert/src"] {
        let mut ahead = vec![repository().join(folder)];
        while let Some(path) = ahead.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).unwrap();
                ahead.extend(entries.map(|entry| entry.unwrap().path()));
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            for body in source.split("#[macro_export]").skip(1) {
                let body = body.split("\n}\n").next().unwrap_or(body);
                let literals = body
                    .split('$')
                    .filter_map(|part| part.split_once(":literal"));
                let literals: Vec<String> = literals.map(|(name, _)| format!("${name}")).collect();
                let docs = body.lines().filter(|line| line.contains("doc ="));
                for line in docs {
                    let named = literals.iter().find(|name| line.contains(name.as_str()));
                    assert_eq!(named, None, "{}: {line}", path.display());
                }
                looked_at += literals.len();
            }
        }
    }
    assert!(looked_at > 3, "{looked_at} literals of macros");
}

#[test]
fn a_name_of_any_length_is_no_name_of_a_file() {
    let long = "x".repeat(100_000);
    let method = json!({
        "LongRequest": {
            "type": "object",
            "properties": {"method": {"const": format!("{long}/{long}")}, "params": {"$ref": "#/$defs/P"}},
            "required": ["method", "params"],
        },
        "P": {"type": "object", "properties": {"a": string()}},
        "ClientRequest": {"anyOf": [{"$ref": "#/$defs/LongRequest"}]},
    });
    for area in [long.as_str(), "aux", "con", "nul", "lpt1"] {
        let mut method = method.clone();
        method["LongRequest"]["properties"]["method"]["const"] = json!(format!("{area}/get"));
        let one = generated(&method).unwrap();
        for path in one.files.keys() {
            let stem = path.rsplit('/').next().unwrap().trim_end_matches(".rs");
            assert!(stem.len() < 100 && stem != area, "{path}");
        }
    }
    let text = super::schema(&method);
    assert!(from_text(&text).is_ok());
}
