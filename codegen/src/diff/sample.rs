//! Small values of a shape, and whether a value is one of a shape.
//!
//! What witnesses are made of. The tests let an independent validator judge them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::graph::{Graph, NodeId, Rest, Shape};
use crate::schema::JsonType;

/// How deep samples go before a shape is given up.
const MAX_DEPTH: usize = 24;

/// The smallest values of a shape, one per choice that it leaves; empty for a shape that no small value has.
pub(crate) fn samples(graph: &Graph, id: NodeId) -> Vec<Value> {
    at_depth(graph, id, 0)
}

/// The first of them.
pub(crate) fn minimal(graph: &Graph, id: NodeId) -> Option<Value> {
    minimal_at(graph, id, 0)
}

fn minimal_at(graph: &Graph, id: NodeId, depth: usize) -> Option<Value> {
    match &graph.node(id).shape {
        // The shapes that come first are the ones to try; no need for the rest.
        Shape::Union(variants) if depth <= MAX_DEPTH => variants
            .iter()
            .find_map(|variant| minimal_at(graph, *variant, depth + 1)),
        _ => at_depth(graph, id, depth).into_iter().next(),
    }
}

fn at_depth(graph: &Graph, id: NodeId, depth: usize) -> Vec<Value> {
    if depth > MAX_DEPTH {
        return Vec::new();
    }
    let node = graph.node(id);
    match &node.shape {
        Shape::Any => [
            json!("x"),
            json!({}),
            json!([]),
            json!(1),
            json!(1.5),
            json!(true),
            json!(null),
        ]
        .into(),
        Shape::Alias(_) => Vec::new(),
        Shape::Scalar(kinds) => kinds
            .iter()
            .flat_map(|kind| scalar(*kind, &node.limits))
            .collect(),
        Shape::Choice(values) => values.clone(),
        Shape::Array(items) => {
            let least = limit(&node.limits, "minItems").unwrap_or(0.0);
            let item = || match items {
                Some(items) => minimal_at(graph, *items, depth + 1),
                None => Some(json!("x")),
            };
            if least < 1.0 {
                return vec![json!([])];
            }
            if least > 64.0 {
                return Vec::new();
            }
            let count = (0..64)
                .take_while(|count| f64::from(*count) < least)
                .count();
            item()
                .map(|item| vec![Value::Array(vec![item; count])])
                .unwrap_or_default()
        }
        Shape::Object { members, .. } => {
            let mut object = Map::new();
            for (name, member) in members.iter().filter(|(_, member)| member.required) {
                let Some(value) = minimal_at(graph, member.node, depth + 1) else {
                    return Vec::new();
                };
                object.insert(name.clone(), value);
            }
            vec![Value::Object(object)]
        }
        Shape::Union(variants) => variants
            .iter()
            .flat_map(|variant| at_depth(graph, *variant, depth + 1).into_iter().take(4))
            .take(64)
            .collect(),
    }
}

fn scalar(kind: JsonType, limits: &BTreeMap<String, Value>) -> Vec<Value> {
    match kind {
        JsonType::String => strings(limits),
        JsonType::Boolean => vec![json!(true)],
        JsonType::Null => vec![json!(null)],
        JsonType::Integer => numbers(limits).into_iter().filter(Value::is_i64).collect(),
        JsonType::Number => {
            let mut all = numbers(limits);
            all.push(json!(1.5));
            all.push(json!(0.5));
            all.retain(|value| within(limits, value));
            all
        }
        JsonType::Array => vec![json!([])],
        JsonType::Object => vec![json!({})],
    }
}

fn strings(limits: &BTreeMap<String, Value>) -> Vec<Value> {
    let text = match limits.get("format").and_then(Value::as_str) {
        Some("uri") => "file:///a",
        Some("date-time") => "2025-01-01T00:00:00Z",
        Some("date") => "2025-01-01",
        Some("email") => "a@example.org",
        Some("byte") => "AA==",
        _ => "x",
    };
    let mut all = vec![text.to_owned()];
    for name in ["minLength", "maxLength"] {
        if let Some(length) = limit(limits, name).filter(|length| (0.0..=4096.0).contains(length)) {
            let count = (0..4097)
                .take_while(|count| f64::from(*count) < length)
                .count();
            all.push("x".repeat(count));
        }
    }
    let all = all.into_iter().map(Value::from);
    all.filter(|value| within(limits, value)).collect()
}

fn numbers(limits: &BTreeMap<String, Value>) -> Vec<Value> {
    let mut all = vec![json!(1), json!(0), json!(-1)];
    for name in [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ] {
        if let Some(at) = limits.get(name) {
            all.push(at.clone());
            if let Some(at) = at.as_i64() {
                all.extend([json!(at.saturating_sub(1)), json!(at.saturating_add(1))]);
            }
        }
    }
    all.retain(|value| within(limits, value));
    all
}

/// Values that a limit of the other side may refuse.
pub(crate) fn beside_limits(limits: &BTreeMap<String, Value>) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, limit) in limits {
        match (name.as_str(), limit) {
            (
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf",
                at,
            ) => {
                all.push(at.clone());
                if let Some(at) = at.as_i64() {
                    all.extend([json!(at.saturating_sub(1)), json!(at.saturating_add(1))]);
                }
                if let Some(at) = at.as_f64() {
                    all.extend([json!(at - 0.5), json!(at + 0.5)]);
                }
            }
            ("minLength" | "maxLength", at) => {
                if let Some(at) = at.as_u64().filter(|at| *at < 4096) {
                    let length = usize::try_from(at).unwrap_or(0);
                    all.extend([
                        json!("x".repeat(length.saturating_sub(1))),
                        json!("x".repeat(length + 1)),
                    ]);
                }
            }
            _ => {}
        }
    }
    all
}

fn limit(limits: &BTreeMap<String, Value>, name: &str) -> Option<f64> {
    limits.get(name).and_then(Value::as_f64)
}

/// Whether the value keeps the limits that are checked; `format` and `default` are hints, a `pattern` is not read.
fn within(limits: &BTreeMap<String, Value>, value: &Value) -> bool {
    limits.iter().all(|(name, bound)| {
        let Some(bound) = bound.as_f64() else {
            return name != "uniqueItems" || bound != &json!(true) || unique(value);
        };
        let size = |size: usize| f64::from(u32::try_from(size).unwrap_or(u32::MAX));
        match (name.as_str(), value) {
            ("minimum", Value::Number(number)) => number.as_f64().is_none_or(|is| is >= bound),
            ("maximum", Value::Number(number)) => number.as_f64().is_none_or(|is| is <= bound),
            ("exclusiveMinimum", Value::Number(number)) => {
                number.as_f64().is_none_or(|is| is > bound)
            }
            ("exclusiveMaximum", Value::Number(number)) => {
                number.as_f64().is_none_or(|is| is < bound)
            }
            ("multipleOf", Value::Number(number)) => number
                .as_f64()
                .is_none_or(|is| bound == 0.0 || (is / bound).fract() == 0.0),
            ("minLength", Value::String(text)) => size(text.chars().count()) >= bound,
            ("maxLength", Value::String(text)) => size(text.chars().count()) <= bound,
            ("minItems", Value::Array(items)) => size(items.len()) >= bound,
            ("maxItems", Value::Array(items)) => size(items.len()) <= bound,
            ("minProperties", Value::Object(members)) => size(members.len()) >= bound,
            ("maxProperties", Value::Object(members)) => size(members.len()) <= bound,
            _ => true,
        }
    })
}

fn unique(value: &Value) -> bool {
    value.as_array().is_none_or(|items| {
        items
            .iter()
            .enumerate()
            .all(|(at, item)| !items[..at].contains(item))
    })
}

/// Whether a value is valid for a shape.
pub(crate) fn valid(graph: &Graph, id: NodeId, value: &Value) -> bool {
    let node = graph.node(id);
    let fits = match (&node.shape, value) {
        (Shape::Any, _) => true,
        (Shape::Alias(_), _) => false,
        (Shape::Choice(values), value) => values.contains(value),
        (Shape::Scalar(kinds), value) => kinds.iter().any(|kind| is_of_kind(*kind, value)),
        (Shape::Array(None), Value::Array(_)) => true,
        (Shape::Array(Some(each)), Value::Array(items)) => {
            items.iter().all(|item| valid(graph, *each, item))
        }
        (Shape::Object { members, rest }, Value::Object(object)) => {
            let present = members.iter().all(|(name, member)| match object.get(name) {
                Some(value) => valid(graph, member.node, value),
                None => !member.required,
            });
            let mut others = object
                .iter()
                .filter(|(name, _)| !members.contains_key(*name));
            present
                && match rest {
                    Rest::Open => true,
                    Rest::Closed => others.next().is_none(),
                    Rest::Each(each) => others.all(|(_, value)| valid(graph, *each, value)),
                }
        }
        (Shape::Union(variants), value) => {
            variants.iter().any(|variant| valid(graph, *variant, value))
        }
        _ => false,
    };
    fits && within(&node.limits, value)
}

fn is_of_kind(kind: JsonType, value: &Value) -> bool {
    match (kind, value) {
        (JsonType::Null, Value::Null)
        | (JsonType::Boolean, Value::Bool(_))
        | (JsonType::String, Value::String(_))
        | (JsonType::Number, Value::Number(_))
        | (JsonType::Array, Value::Array(_))
        | (JsonType::Object, Value::Object(_)) => true,
        (JsonType::Integer, Value::Number(number)) => {
            !number.is_f64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    }
}
