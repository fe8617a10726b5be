//! Keywords whose values are made of schemas: which schemas these are, and where each stands.

use crate::sorted::SortedMap;

use regex_syntax::hir::Look;
use serde_json::{Map, Value};

use super::{Constraints, JsonType, decimal};
use crate::pointer;

/// Keywords that hold one schema.
const ONE: &[&str] = &[
    "contains",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords that hold a list of schemas.
const LIST: &[&str] = &["allOf", "prefixItems"];
/// Keywords that hold schemas by name.
const NAMED: &[&str] = &["dependentSchemas", "patternProperties"];

/// Keywords that hold schemas and that a comparison reads to the end.
pub fn is_applied(keyword: &str) -> bool {
    ["$ref", "anyOf"].contains(&keyword)
        || [ONE, LIST, NAMED].iter().any(|all| all.contains(&keyword))
}

/// Keywords that say what a value is for, and never refuse one.
const HINTS: &[&str] = &[
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "format",
    "readOnly",
    "writeOnly",
];

/// Limits that compare one number, list or text with a value.
const LIMITS: &[&str] = &[
    "dependentRequired",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "oneOf",
    "pattern",
    "uniqueItems",
];

/// Returns whether a keyword is known, and refuses nothing.
pub fn is_hint(keyword: &str) -> bool {
    HINTS.contains(&keyword)
}

/// Returns whether it is known what a keyword refuses.
pub fn is_understood(keyword: &str) -> bool {
    is_hint(keyword) || is_applied(keyword) || LIMITS.contains(&keyword)
}

/// Leaves out limits that change nothing for values of these kinds, and writes bounds in one way.
pub fn settle(limits: &mut SortedMap<String, Value>, kinds: &[JsonType]) {
    let of_integers = kinds.contains(&JsonType::Integer) && !kinds.contains(&JsonType::Number);
    for (exclusive, inclusive, step) in [
        ("exclusiveMinimum", "minimum", 1),
        ("exclusiveMaximum", "maximum", -1),
    ] {
        let whole = limits.get(exclusive).and_then(Value::as_i64);
        if let Some(next) = whole
            .and_then(|bound| bound.checked_add(step))
            .filter(|_| of_integers)
        {
            limits.remove(exclusive);
            let next = Value::from(next);
            let tighter = |known: &Value| Constraints::is_tighter(inclusive, known, &next);
            if limits
                .get(inclusive)
                .is_none_or(|known| tighter(known) == Some(true))
            {
                limits.insert(inclusive.to_owned(), next);
            }
        }
        let bounds = [exclusive, inclusive].map(|name| limits.get(name).and_then(Value::as_f64));
        if let [Some(exclusive_bound), Some(inclusive_bound)] = bounds {
            let is_tighter = (exclusive_bound - inclusive_bound) * f64::from(step as i8) >= 0.0;
            limits.remove(if is_tighter { inclusive } else { exclusive });
        }
    }
    let without = |name: &str| !limits.contains_key(name);
    let idle: Vec<String> = (limits.iter())
        .filter(|(name, bound)| {
            let is_alone = match name.as_str() {
                "minContains" | "maxContains" => without("contains"),
                "then" | "else" => without("if"),
                "if" => without("then") && without("else"),
                _ => false,
            };
            is_alone || !is_about(name, kinds) || is_idle(name, bound, of_integers)
        })
        .map(|(name, _)| name.clone())
        .collect();
    limits.retain(|name, _| !idle.contains(name));
}

/// References that are found at run time: no [`SchemaNode`](super::SchemaNode) has a member for them.
pub(super) const DYNAMIC: &[&str] = &["$dynamicRef", "$recursiveRef"];

/// Returns whether a keyword says something of values of one of these kinds; no kinds are all. A keyword that JSON Schema does
/// not have, such as `nullable` and `x-vendor`, says nothing.
fn is_about(keyword: &str, kinds: &[JsonType]) -> bool {
    let of: &[JsonType] = match keyword {
        "contains" | "maxContains" | "maxItems" | "minContains" | "minItems" | "prefixItems"
        | "unevaluatedItems" | "uniqueItems" => &[JsonType::Array],
        "dependentRequired"
        | "dependentSchemas"
        | "maxProperties"
        | "minProperties"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties" => &[JsonType::Object],
        "format" => &[],
        keyword => scalars(keyword),
    };
    let is_known = is_understood(keyword) || DYNAMIC.contains(&keyword);
    is_known && (kinds.is_empty() || of.is_empty() || of.iter().any(|kind| kinds.contains(kind)))
}

/// Returns whether a limit refuses nothing: it means the same as none.
fn is_idle(keyword: &str, bound: &Value, of_integers: bool) -> bool {
    match keyword {
        "minItems" | "minLength" | "minProperties" => bound.as_f64() == Some(0.0),
        "uniqueItems" => *bound == Value::Bool(false),
        "multipleOf" => of_integers && decimal::is_multiple(&Value::from(1), bound) == Some(true),
        "pattern" => bound.as_str().is_some_and(matches_everything),
        "allOf" => bound
            .as_array()
            .is_some_and(|all| all.iter().all(admits_everything)),
        "not" => refuses_everything(bound),
        "dependentRequired" | "dependentSchemas" | "patternProperties" => {
            bound.as_object().is_some_and(Map::is_empty)
        }
        "propertyNames" | "unevaluatedItems" | "unevaluatedProperties" => admits_everything(bound),
        _ => false,
    }
}

fn admits_everything(schema: &Value) -> bool {
    *schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

fn refuses_everything(schema: &Value) -> bool {
    let negated = schema
        .as_object()
        .filter(|members| members.len() == 1)
        .and_then(|members| members.get("not"));
    *schema == Value::Bool(false) || negated.is_some_and(admits_everything)
}

/// Returns whether a pattern is found in every text: it can be empty, and nothing has to stand behind it.
fn matches_everything(pattern: &str) -> bool {
    regex_syntax::parse(pattern).is_ok_and(|hir| {
        let properties = hir.properties();
        let looks = properties.look_set().iter();
        properties.minimum_len() == Some(0) && looks.into_iter().all(|look| look == Look::Start)
    })
}

/// Returns the kinds of value that a keyword speaks of, where it speaks of scalars of some kinds alone.
pub fn scalars(keyword: &str) -> &'static [JsonType] {
    match keyword {
        "format" => &[JsonType::Integer, JsonType::Number, JsonType::String],
        "maxLength" | "minLength" | "pattern" => &[JsonType::String],
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => {
            &[JsonType::Integer, JsonType::Number]
        }
        _ => &[],
    }
}

/// Returns whether a keyword takes values away from another one, so that what it adds can allow more.
pub fn loosens(keyword: &str) -> bool {
    matches!(
        keyword,
        "maxContains" | "minContains" | "patternProperties" | "prefixItems"
    )
}

/// Returns the schemas within these limits: by keyword and place in it, with the JSON pointer of each.
pub fn parts(limits: &SortedMap<String, Value>, at: &str) -> Vec<(String, Value, String)> {
    let mut parts = Vec::new();
    for (keyword, value) in limits {
        let inside = |name: &str| {
            let name = pointer::escaped(name);
            (
                format!("{keyword}/{name}"),
                format!("{at}/{keyword}/{name}"),
            )
        };
        match (keyword.as_str(), value) {
            ("$ref", Value::String(_)) => {
                parts.push((keyword.clone(), value.clone(), format!("{at}/$ref")));
            }
            (one, value) if ONE.contains(&one) && (value.is_object() || value.is_boolean()) => {
                parts.push((keyword.clone(), value.clone(), format!("{at}/{keyword}")));
            }
            (list, Value::Array(items)) if LIST.contains(&list) => {
                for (index, item) in items.iter().enumerate() {
                    let (place, pointer) = inside(&index.to_string());
                    parts.push((place, item.clone(), pointer));
                }
            }
            (named, Value::Object(members)) if NAMED.contains(&named) => {
                for (name, member) in members {
                    let (place, pointer) = inside(name);
                    parts.push((place, member.clone(), pointer));
                }
            }
            _ => {}
        }
    }
    parts
}

/// Returns the place that a reference leads to, as a JSON pointer.
pub fn target(place: &str, value: &Value) -> Option<String> {
    let text = value.as_str().filter(|_| place == "$ref")?;
    let text = pointer::of_fragment(text)?;
    Some(text.strip_prefix('#')?.to_owned())
}

/// Returns the patterns that stand in these limits.
pub fn patterns(limits: &SortedMap<String, Value>) -> Vec<String> {
    let own = limits.get("pattern").and_then(Value::as_str);
    let names = limits
        .get("patternProperties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|names| names.keys().cloned());
    own.map(str::to_owned).into_iter().chain(names).collect()
}

/// Returns the name of a part within its keyword: `^x-` of `patternProperties/^x-`.
pub fn named<'p>(place: &'p str, keyword: &str) -> Option<std::borrow::Cow<'p, str>> {
    let rest = place.strip_prefix(keyword)?.strip_prefix('/')?;
    Some(pointer::unescaped(rest))
}
