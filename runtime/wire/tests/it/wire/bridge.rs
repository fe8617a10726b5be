//! Types of this crate inside types of serde, and the tables for generated crates.

use std::collections::BTreeMap;

use mcp_wire::{
    Direction, Integer, Json, JsonObject, Map, MethodKind, NoParams, Number, RequestId, TypeInfo,
    UnknownMessage, from_str, to_string, write_to,
};
use serde_json::{Value, json};

#[test]
fn goes_through_serde_json() {
    let text = r#"{"a":{"x": 1.0},"b":[50.0]}"#;
    let map: BTreeMap<String, Json> = serde_json::from_str(text).unwrap();
    assert_eq!(map["a"].text(), r#"{"x": 1.0}"#);
    assert_eq!(serde_json::to_string(&map).unwrap(), text);
    let map: Map<Json> = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&map).unwrap(), text);
    let error = serde_json::from_str::<Vec<JsonObject>>("[[]]").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("expected an object, found an array"),
        "{error}"
    );
    assert_eq!(
        serde_json::to_string(&(Integer::from(5), "5.0".parse::<Number>().unwrap())).unwrap(),
        "[5,5.0]"
    );
    assert_eq!(
        serde_json::from_value::<RequestId>(json!("a")).unwrap(),
        "a".into()
    );
    assert_eq!(serde_json::to_value(RequestId::from(7)).unwrap(), json!(7));
    let object: serde_json::Map<String, Value> = serde_json::from_str(r#"{"k":[1]}"#).unwrap();
    assert_eq!(JsonObject::from(object.clone()).text(), r#"{"k":[1]}"#);
    let back: serde_json::Map<String, Value> = JsonObject::from(object.clone()).try_into().unwrap();
    assert_eq!(back, object);
}

#[test]
fn tables_name_and_read() {
    const INFO: TypeInfo = TypeInfo::of::<UnknownMessage>("Unknown", "UnknownMessage");
    let text = r#"{"method":"m","params":[ ],"x":1}"#;
    assert_eq!(INFO.round_trip(text).unwrap(), text);
    assert_eq!(
        INFO.round_trip("{}").unwrap_err().expected(),
        "member `method` of UnknownMessage"
    );
    assert_eq!(Direction::ClientToServer.to_string(), "client-to-server");
    assert_eq!(MethodKind::Input.to_string(), "input");
    let none: NoParams = from_str(r#"{"_meta":{}}"#).unwrap();
    assert_eq!(to_string(&none), r#"{"_meta":{}}"#);
}

#[test]
fn a_buffer_can_be_used_again() {
    let mut buffer = String::from("data: ");
    write_to(&vec![true, false], &mut buffer);
    write_to("x", &mut buffer);
    assert_eq!(buffer, r#"data: [true,false]"x""#);
    let nested: Vec<Option<Box<Vec<Option<bool>>>>> = from_str("[null,[true,null]]").unwrap();
    assert_eq!(to_string(&nested), "[null,[true,null]]");
}
