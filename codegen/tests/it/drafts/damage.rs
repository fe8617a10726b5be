//! Random damage to a part of a real schema: whatever comes of it, nothing panics and every refusal helps.

use fastrand::Rng;
use mcp_revisions_schema::Error;
use serde_json::{Value, json};

use crate::changes::reference;
use crate::drafts::{generate, helpful, latest, part};

/// Definitions of each kind that there is, and what they refer to.
const ROOTS: &[&str] = &[
    "ContentBlock",
    "ElicitRequestParams",
    "ListToolsRequest",
    "ListToolsResult",
    "LoggingLevel",
    "ProgressToken",
    "Tool",
];

/// What a careless hand may put anywhere.
fn debris() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(5),
        json!("object"),
        json!("#/$defs/Tool"),
        json!([]),
        json!({}),
        json!({"type": "null"}),
        json!({"type": ["string", "null"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"allOf": [reference("Tool")]}),
        reference("ContentBlock"),
    ]
}

const KEYWORDS: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "deprecated",
    "enum",
    "items",
    "oneOf",
    "properties",
    "required",
    "type",
    "x",
];

fn pointers(value: &Value, pointer: &str, all: &mut Vec<String>) {
    all.push(pointer.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let step = mcp_revisions_schema::pointer::escaped(name);
                pointers(member, &format!("{pointer}/{step}"), all);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{pointer}/{index}"), all);
            }
        }
        _ => {}
    }
}

/// One blow: something is replaced, taken out, added or put into another order.
fn damage(schema: &mut Value, dice: &mut Rng) {
    let mut all = Vec::new();
    pointers(&schema["$defs"], "/$defs", &mut all);
    let pointer = &all[dice.usize(..all.len())];
    let from = &all[dice.usize(..all.len())];
    let (Some(other), Some(at)) = (schema.pointer(from).cloned(), schema.pointer_mut(pointer))
    else {
        return;
    };
    let debris = debris();
    let litter = debris[dice.usize(..debris.len())].clone();
    match (dice.usize(..5), at) {
        (0, at) => *at = other,
        (1, at) => *at = litter,
        (2, Value::Object(members)) => {
            let keyword = KEYWORDS[dice.usize(..KEYWORDS.len())];
            members.insert(keyword.to_owned(), litter);
        }
        (3, Value::Object(members)) => {
            let names: Vec<String> = members.keys().cloned().collect();
            if !names.is_empty() {
                members.remove(&names[dice.usize(..names.len())]);
            }
        }
        (_, Value::Object(members)) => {
            if let Value::Object(others) = other {
                members.extend(others);
            }
        }
        (3, Value::Array(items)) => drop(items.pop()),
        (4, Value::Array(items)) => items.reverse(),
        (_, Value::Array(items)) => items.push(other),
        (_, at) => *at = litter,
    }
}

#[test]
fn random_damage_is_survived_or_refused() {
    let whole = part(&latest(), ROOTS.iter().map(|name| (*name).to_owned()));
    generate(&whole.to_string(), "mcp-draft").unwrap();
    let mut dice = Rng::with_seed(0x5DEE_CE66);
    let (mut made, mut refused) = (0, 0);
    for _ in 0..100 {
        let mut schema = whole.clone();
        for _ in 0..=dice.usize(..2) {
            damage(&mut schema, &mut dice);
        }
        match generate(&schema.to_string(), "mcp-draft") {
            Ok(_) => made += 1,
            Err(Error::Io { .. }) => panic!("it looked at the disk"),
            Err(error) => {
                helpful(&error);
                refused += 1;
            }
        }
    }
    // Damage that always shows, or never does, would be no test.
    assert!(
        made >= 10 && refused >= 10,
        "{made} made, {refused} refused"
    );
}
