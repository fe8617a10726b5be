//! Keys of `_meta`, put into a text and taken out of it.

use mcp_wire::Json;
use mcp_wire::meta::{with, with_default, without};

#[test]
fn a_key_is_put_in_and_taken_out_and_the_rest_stays() {
    let value = Json::from_text("\"v\"").unwrap();
    let cases = [
        ("{}", r#"{"_meta":{"k":"v"}}"#),
        (r#"{ "a" : 1.0 }"#, r#"{"_meta":{"k":"v"}, "a" : 1.0 }"#),
        (
            r#"{"a":1,"_meta":{ "x" : 2 }}"#,
            r#"{"a":1,"_meta":{"x":2,"k":"v"}}"#,
        ),
        (r#"{"_meta":null,"a":1}"#, r#"{"_meta":{"k":"v"},"a":1}"#),
        (r#"{"_meta":{"k":"old"}}"#, r#"{"_meta":{"k":"v"}}"#),
        // A name with an escape is the same name.
        (
            r#"{"a":1,"\u005fmeta":{"x":2}}"#,
            r#"{"a":1,"\u005fmeta":{"x":2,"k":"v"}}"#,
        ),
        // Of a name that stands there twice the last value counts.
        (
            r#"{"_meta":{"x":1,"k":2,"x":3}}"#,
            r#"{"_meta":{"x":3,"k":"v"}}"#,
        ),
        (r#"{"_meta":5}"#, r#"{"_meta":5}"#),
        ("[1]", "[1]"),
    ];
    let json = |text: &str| Json::from_text(text).unwrap();
    for (before, after) in cases {
        assert_eq!(with(&json(before), "k", &value).text(), after);
    }
    for (before, after) in [
        (
            r#"{"_meta":{"k":1,"x":2},"b":3}"#,
            r#"{"_meta":{"x":2},"b":3}"#,
        ),
        (r#"{"_meta":{"x":1,"k":1,"x":2}}"#, r#"{"_meta":{"x":2}}"#),
        (r#"{"b":3}"#, r#"{"b":3}"#),
    ] {
        assert_eq!(without(&json(before), "k").text(), after);
    }
    let kept = r#"{"_meta":{"k":1}}"#;
    assert_eq!(with_default(&json(kept), "k", &value).text(), kept);
}
