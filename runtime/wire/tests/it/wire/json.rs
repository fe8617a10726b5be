//! Opaque JSON: equality by value, access, conversions.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use mcp_wire::{
    ErrorKind, Json, JsonArray, JsonObject, Kind, MAX_DEPTH, from_str, one_line, to_string,
};
use serde_json::{Value, json};

use crate::wire::corpus::Random;

fn parse(text: &str) -> Json {
    Json::from_text(text).unwrap()
}

#[test]
fn is_equal_and_hashed_by_value() {
    let state = RandomState::new();
    for (a, b) in [
        ("1", "1.0"),
        ("[1,2]", " [ 10e-1 , 2.0 ] "),
        (r#"{"a":1,"b":[{}]}"#, r#"{ "b" : [ { } ] , "a" : 1 }"#),
        (r#""a/é""#, r#""\u0061\/\u00e9""#),
        (r#""\ud83d""#, r#""\uD83D""#),
        (r#""\ud83d\ude00""#, r#""😀""#),
        (r#"{"a":1,"a":2}"#, r#"{"\u0061":1,"a":2}"#),
        (
            r#"{"x":{"b":1,"a":[true,null]},"y":0}"#,
            r#"{"y":-0,"x":{"a":[true,null],"b":1}}"#,
        ),
        ("{}", "{ }"),
    ] {
        assert_eq!(parse(a), parse(b), "{a} and {b}");
        assert_eq!(parse(b), parse(a), "{b} and {a}");
        let hash = |text| state.hash_one(parse(text));
        assert_eq!(hash(a), hash(b), "{a} and {b}");
    }
    for (a, b) in [
        ("1", "2"),
        ("1", r#""1""#),
        ("9007199254740993", "9007199254740992"),
        ("[1,2]", "[2,1]"),
        ("[1]", "[1,1]"),
        ("[1,1]", "[1]"),
        ("[]", "{}"),
        ("null", "false"),
        (r#"{"a":1}"#, r#"{"a":2}"#),
        (r#"{"a":1}"#, r#"{"b":1}"#),
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
        (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
        (r#""\ud83d""#, r#""\ude00""#),
        (r#""\ud83d""#, r#""\ud83e""#),
        (r#""\ud83d""#, r#""\ud8bd""#),
        (r#""\ud83d""#, r#""\ufffd""#),
        (r#"{"a":[],"b":{}}"#, r#"{"a":{},"b":[]}"#),
    ] {
        assert_ne!(parse(a), parse(b));
        assert_ne!(parse(b), parse(a));
        let hash = |text| state.hash_one(parse(text));
        assert_ne!(hash(a), hash(b), "{a} and {b}");
    }
}

/// A random value, without floats, for which serde_json's equality is that of values.
fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => json!(null),
        1 => json!(random.below(3) == 0),
        2 => json!(random.below(3)),
        3 => json!(["", "a", "é\"", "\n"][random.below(4)]),
        4 => (0..random.below(4))
            .map(|_| value(random, depth - 1))
            .collect(),
        _ => {
            let names = ["a", "b", "", "\\", "ü"];
            let members = (0..random.below(4))
                .map(|_| (names[random.below(5)].to_owned(), value(random, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

#[test]
fn agrees_with_serde_json_about_equality() {
    let mut random = Random::new(42);
    let mut equal = 0;
    for _ in 0..20_000 {
        let (a, b) = (value(&mut random, 2), value(&mut random, 2));
        assert_eq!(Json::from(&a) == Json::from(&b), a == b, "{a} and {b}");
        equal += usize::from(a == b);
        let pretty = Json::from_text(&serde_json::to_string_pretty(&a).unwrap()).unwrap();
        assert_eq!(pretty, Json::from(&a));
        assert_eq!(Value::try_from(&pretty).unwrap(), a);
        assert_eq!(Value::try_from(pretty).unwrap(), a);
    }
    assert!(equal > 100);
}

#[test]
fn knows_its_kind() {
    for (text, kind) in [
        ("{}", Kind::Object),
        ("[]", Kind::Array),
        (r#""""#, Kind::String),
        ("-5", Kind::Integer),
        ("5.0", Kind::Number),
        ("5e0", Kind::Number),
        ("true", Kind::Boolean),
        ("null", Kind::Null),
    ] {
        assert_eq!(parse(text).kind(), kind);
        assert_eq!(mcp_wire::Reader::new(text).kind().unwrap(), kind);
    }
    assert!(Json::null().is_null() && Json::default().is_null());
    assert_eq!(parse(r#""a\n""#).as_str().unwrap(), "a\n");
    assert_eq!(parse("1.50").as_number().unwrap().to_string(), "1.50");
    assert_eq!(
        (parse("true").as_bool(), parse("1").as_bool()),
        (Some(true), None)
    );
}

#[test]
fn carries_values_of_serde() {
    let map = BTreeMap::from([("a", vec![1, 2]), ("b", vec![])]);
    let json = Json::from_value(&map).unwrap();
    assert_eq!(json.text(), r#"{"a":[1,2],"b":[]}"#);
    assert_eq!(
        json.parse::<BTreeMap<String, Vec<i32>>>().unwrap()["a"],
        [1, 2]
    );
    assert_eq!(JsonObject::from_value(&map).unwrap().text(), json.text());
    assert!(
        JsonArray::from_value(&map)
            .unwrap_err()
            .to_string()
            .contains("expected an array, found an object")
    );
    assert!(Json::from_value("text").is_ok(), "takes unsized values");
    let mut deep = json!(null);
    for _ in 0..MAX_DEPTH {
        deep = json!([deep]);
    }
    assert!(Json::from_value(&deep).is_ok());
    assert!(
        Json::from_value(&json!([deep]))
            .unwrap_err()
            .to_string()
            .contains("128 levels")
    );
}

#[test]
fn objects_and_arrays_are_walked() {
    let object: JsonObject =
        from_str(r#" {"a":1, "b\u0063" : [1, 2], "a":{"x":null}, "\ud800":0} "#).unwrap();
    let entries: Vec<(String, &str)> = object
        .iter()
        .map(|(name, text)| (name.into_owned(), text))
        .collect();
    let expected = [
        ("a", "1"),
        ("bc", "[1, 2]"),
        ("a", r#"{"x":null}"#),
        ("\u{fffd}", "0"),
    ];
    assert_eq!(
        entries,
        expected.map(|(name, text)| (name.to_owned(), text))
    );
    assert_eq!(
        object.get("a").unwrap().text(),
        r#"{"x":null}"#,
        "the last one counts"
    );
    assert_eq!(object.get("b"), None);
    assert!(JsonObject::new().is_empty() && !object.is_empty());
    let array = JsonArray::from_text("[1 , [2],{}]").unwrap();
    assert_eq!(array.iter().collect::<Vec<_>>(), ["1", "[2]", "{}"]);
    assert!(JsonArray::new().is_empty());
    let error = JsonObject::try_from(parse("[1]")).unwrap_err();
    assert_eq!(
        (error.kind(), error.expected()),
        (ErrorKind::Kind, "an object")
    );
    assert_eq!(
        from_str::<Vec<JsonObject>>("[{},[]]")
            .unwrap_err()
            .pointer(),
        "/1"
    );
}

#[test]
fn a_line_has_no_line_breaks() {
    let json = parse("{\n  \"a\\n\": [\r\n1]\n}");
    let line = one_line(json.text());
    assert_eq!(line, r#"{   "a\n": [  1] }"#);
    assert_eq!(parse(&line), json);
    assert_eq!(to_string(&json), json.text());
}

#[test]
fn debug_is_short() {
    let debug = format!("{:?}", Json::from_value(&vec![0; 1000]).unwrap());
    assert!(
        debug.starts_with("Json([0,0,") && debug.len() < 60,
        "{debug}"
    );
}
