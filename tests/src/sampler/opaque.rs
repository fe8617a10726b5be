//! Any JSON, and the JSON Schemas that tools carry as text.

use crate::random::Random;
use crate::text;
use crate::tree::{Kind, Member, Node, Standing, Value};

use super::scalar;

/// How deep opaque values are nested.
const DEEPEST: usize = 4;

/// Names of members that no type knows.
const NAMES: &[&str] = &[
    "x-vendor",
    "com.example/key",
    "a/b~c",
    "~1",
    "",
    "ünïcode 名",
    "constructor",
    "\0",
    "\"quoted\"",
];

/// JSON Schemas for a tool's input or output.
const SCHEMAS: &[&str] = &[
    r#"{"type":"object"}"#,
    r#"{"type":"object","properties":{},"required":[]}"#,
    r#"{"type":"object","properties":{"a":{"type":"number","minimum":1.50}},"required":["a"],"additionalProperties":false}"#,
    r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"x":{}},"x-vendor":[1e2,-0.0]}"#,
    r#"{"type":"object","properties":{"nested":{"type":"object","properties":{"deep":{"enum":[null,1.0]}}}}}"#,
];

/// A name for an unknown member that is not among `known`.
pub(super) fn name(random: &mut Random, is_known: impl Fn(&str) -> bool) -> String {
    let free: Vec<&&str> = NAMES.iter().filter(|name| !is_known(name)).collect();
    random
        .pick(&free)
        .map(|name| (**name).to_owned())
        .unwrap_or_default()
}

/// Any JSON value.
pub(super) fn any(random: &mut Random) -> Node {
    value(random, 0)
}

/// Any JSON object.
pub(super) fn object(random: &mut Random, empty: bool) -> Node {
    let count = if empty { 0 } else { random.below(4) };
    Node::new(Value::Object(members(random, 0, count)), Kind::OpaqueObject)
}

/// Any JSON array.
pub(super) fn array(random: &mut Random, empty: bool) -> Node {
    let count = if empty { 0 } else { random.below(4) };
    Node::new(Value::List(items(random, 0, count)), Kind::OpaqueArray)
}

/// A JSON Schema.
pub(super) fn schema(random: &mut Random) -> Node {
    let text = random.pick(SCHEMAS).copied().unwrap_or("{}");
    let parsed = text::parse(text).unwrap_or(text::Value::Object(Vec::new()));
    Node::new(Node::opaque(&parsed).value, Kind::SchemaText)
}

fn value(random: &mut Random, depth: usize) -> Node {
    let kinds = if depth < DEEPEST { 8 } else { 5 };
    let value = match random.below(kinds) {
        0 => Value::Word("null".to_owned()),
        1 => Value::Word(["true", "false"][random.below(2)].to_owned()),
        2 => Value::Word(scalar::any_number(random).to_owned()),
        3 | 4 => Value::String(scalar::any_string(random)),
        5 => {
            let count = random.below(3);
            Value::List(items(random, depth, count))
        }
        _ => {
            let count = random.below(4);
            Value::Object(members(random, depth, count))
        }
    };
    Node::new(value, Kind::Opaque)
}

fn items(random: &mut Random, depth: usize, count: usize) -> Vec<Node> {
    (0..count).map(|_| value(random, depth + 1)).collect()
}

/// Members whose names may well come twice: inside opaque JSON that is nobody's business.
fn members(random: &mut Random, depth: usize, count: usize) -> Vec<Member> {
    (0..count)
        .map(|_| Member {
            name: name(random, |_| false),
            standing: Standing::Unknown,
            node: value(random, depth + 1),
        })
        .collect()
}
