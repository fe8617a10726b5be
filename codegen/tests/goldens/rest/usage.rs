//! A struct is made from all its members, and keeps the spelling of numbers; what stands beside them is kept, typed, or
//! refused.

use mcp_rest::{Closed, Point, Typed};
use mcp_wire::Json;

use crate::{again, refusal};

#[test]
fn each_object_says_what_may_stand_beside_its_members() {
    let text = r#"{"label":"a","pinned":true,"x":1,"y":2,"more":[1, 2],"less":null}"#;
    assert_eq!(again::<Point>(text), text);
    let typed: Typed = mcp_wire::from_str(r#"{"a":1,"name":"n","b":2}"#).unwrap();
    assert_eq!(
        typed.extra.get("b").and_then(|value| value.as_i64()),
        Some(2)
    );
    assert_eq!(mcp_wire::to_string(&typed), r#"{"name":"n","a":1,"b":2}"#);
    assert!(refusal::<Typed>(r#"{"name":"n","a":"x"}"#).starts_with("at /a: expected an integer"));
    assert_eq!(again::<Closed>(r#"{"name":"n"}"#), r#"{"name":"n"}"#);
    let said = refusal::<Closed>(r#"{"name":"n","more":1}"#);
    assert!(said.contains("more"), "{said}");
}

#[test]
fn it_is_made_read_and_written() {
    let text = r#"{"label":"a","pinned":true,"x":50.0,"y":-1e3,"vendor":{"b":1, "a":[]}}"#;
    let point: Point = mcp_wire::from_str(text).unwrap();
    assert_eq!((point.label.as_str(), point.x.as_f64()), ("a", 50.0));
    assert_eq!(
        point.extra.get("vendor").map(Json::text),
        Some(r#"{"b":1, "a":[]}"#)
    );
    assert_eq!(mcp_wire::to_string(&point), text);
    let made = Point::new("a", true, 50, -1000);
    assert_eq!((made.x, made.extra.len()), (point.x, 0));
}

#[test]
fn a_member_that_is_not_there_or_of_another_kind_is_named() {
    assert_eq!(
        again::<Point>(r#"{"y":1,"x":2,"pinned":false,"label":""}"#),
        r#"{"label":"","pinned":false,"x":2,"y":1}"#
    );
    let missing = refusal::<Point>(r#"{"label":"a","pinned":true,"x":1}"#);
    assert!(missing.contains("`y`"), "{missing}");
    let wrong = refusal::<Point>(r#"{"label":"a","pinned":true,"x":"1","y":2}"#);
    assert!(
        wrong.starts_with("at /x: expected a number, found"),
        "{wrong}"
    );
}
