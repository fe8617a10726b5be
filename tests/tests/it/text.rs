//! The reader that compares JSON texts in the other tests: what is the same to it, and what it refuses.

use mcp_tests::text::{parse, same};

#[test]
fn the_order_of_members_and_the_spelling_of_strings_are_free() {
    assert!(same(
        r#"{"a":1,"b":["x/y"]}"#,
        " { \"b\" : [\"\\u0078\\/y\"], \"a\":1}"
    ));
}

#[test]
fn the_spelling_of_numbers_the_order_of_elements_and_every_member_count() {
    for (a, b) in [
        ("50", "50.0"),
        ("1e2", "1E2"),
        ("-0.0", "0.0"),
        ("[1,2]", "[2,1]"),
        (r#"{"a":1}"#, "{}"),
        (r#"{"a":null}"#, "{}"),
        (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
        ("{}", "[]"),
        (r#""1""#, "1"),
    ] {
        assert!(!same(a, b), "{a} and {b}");
    }
}

#[test]
fn what_is_no_json_is_not_read() {
    for text in [
        "", "{", "[1", "[1,]", "{\"a\"}", "nul", "01", "\"", "1 2", "{,}",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}
