//! Errors say where, what was expected and what was found.

use mcp_wire::{Decode, Error, ErrorKind, Integer, Json, JsonArray, Map, RequestId, from_str};

fn error<T: Decode>(text: &str) -> Error {
    from_str::<T>(text).err().unwrap()
}

#[test]
fn points_at_the_value() {
    for (text, pointer) in [
        (r#"{"a":[1]}"#, ""),
        (r#"[{"a":5}]"#, "/0"),
        (r#"[[],[{"a":true},{"a":true,"b":5}]]"#, "/1/1/b"),
        (r#"[[{"a/b":5}]]"#, "/0/0/a~1b"),
        (r#"[[{"a~b":5}]]"#, "/0/0/a~0b"),
        (r#"[[{"~1/":5}]]"#, "/0/0/~01~1"),
        (r#"[[{"":5}]]"#, "/0/0/"),
        (r#"[[{"a\u002fb\n":5}]]"#, "/0/0/a~1b\n"),
        (r#"[[{"x":true}, {"y" : true} , { "z" : "w" } ]]"#, "/0/2/z"),
    ] {
        assert_eq!(
            error::<Vec<Vec<Map<bool>>>>(text).pointer(),
            pointer,
            "{text}"
        );
    }
}

#[test]
fn points_at_broken_syntax() {
    for (text, pointer, expected, found) in [
        ("", "", "a JSON value", "the end of the text"),
        ("[1,2", "", "`,` or `]`", "the end of the text"),
        ("[1,]", "/1", "a JSON value", "`]`"),
        ("[1 2]", "", "`,` or `]`", "`2`"),
        (r#"{"a":{"b" 1}}"#, "/a/b", "`:`", "`1`"),
        (r#"{"a":1,}"#, "", "a member name in quotes", "`}`"),
        (r#"{"a":1 "b":2}"#, "", "`,` or `}`", "`\\\"`"),
        (r#"{"a":[tru]}"#, "/a/0", "a JSON value", "`t`"),
        (
            r#"{"a":[01]}"#,
            "/a/0",
            "no digit after a leading `0`",
            "`1`",
        ),
        (r#"{"a":["\q"]}"#, "/a/0", "an escape after `\\`", "`q`"),
        (r#"{"a":}"#, "/a", "a JSON value", "`}`"),
        (r#"{a:1}"#, "", "a member name in quotes", "`a`"),
    ] {
        let error = error::<Json>(text);
        assert_eq!(error.kind(), ErrorKind::Syntax);
        assert_eq!(
            (error.pointer(), error.expected(), error.found()),
            (pointer, expected, found),
            "{text}"
        );
        let typed = from_str::<Map<Json>>(text)
            .map(drop)
            .err()
            .or(from_str::<Vec<Json>>(text).err());
        assert!(typed.is_some());
    }
}

#[test]
fn counts_lines_and_characters() {
    let error = error::<Vec<bool>>("[\n  true,\n  \"é\", 1\n]");
    assert_eq!((error.line(), error.column(), error.offset()), (3, 3, 12));
    let later = from_str::<Vec<String>>("[\n  \"é\", 1]").unwrap_err();
    assert_eq!((later.line(), later.column()), (2, 8));
}

#[test]
fn shows_what_was_found() {
    let long = format!("\"{}\"", "é".repeat(100));
    for (text, found) in [
        ("null", "null"),
        ("true", "true"),
        ("{}", "an object"),
        ("[1]", "an array"),
        ("1.5", "1.5"),
        (r#""a\nb""#, r#"string "a\nb""#),
        (long.as_str(), &format!("string \"{}…\"", "é".repeat(40))),
    ] {
        let error = error::<Integer>(text);
        assert_eq!((error.kind(), error.found()), (ErrorKind::Kind, found));
        assert_eq!(error.expected(), "an integer");
    }
    assert_eq!(
        error::<RequestId>("null").expected(),
        "a string or an integer"
    );
    assert_eq!(error::<JsonArray>("{}").expected(), "an array");
}

#[test]
fn refuses_members_that_repeat() {
    for count in [2, 3, 12, 13, 40] {
        let mut members: Vec<String> = (0..count).map(|key| format!("\"k{key}\":[]")).collect();
        members.push(r#""k\u0031" : 5"#.to_owned());
        let text = format!("[{{{}}}]", members.join(" , "));
        let error = error::<Vec<Map<Json>>>(&text);
        assert_eq!(
            (error.kind(), error.pointer()),
            (ErrorKind::Duplicate, "/0/k1")
        );
        assert_eq!(error.offset(), text.find(r#""k\u"#).unwrap());
        assert!(
            Json::from_text(&text).is_ok(),
            "opaque text may repeat them"
        );
    }
}

#[test]
fn is_an_error() {
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(error::<bool>("1"));
    assert_eq!(
        error.to_string(),
        "at the root: expected a boolean, found 1 (line 1, column 1)"
    );
}
