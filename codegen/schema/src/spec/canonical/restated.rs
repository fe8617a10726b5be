//! The additions of generators that make each definition alone, such as those of zod: the dialect again, keywords without
//! effect, and definitions copied into the places that could refer to them.

use crate::sorted::SortedMap;

use serde_json::{Value, json};

/// Returns whether a schema of names admits every name.
pub(super) fn is_any_name(schema: &Value) -> bool {
    *schema == json!({"type": "string"}) || *schema == json!({}) || *schema == json!(true)
}

/// Returns whether a schema admits no value.
pub(super) fn is_nothing(schema: &Value) -> bool {
    *schema == json!({"not": {}})
}

/// Refers to definitions where a schema repeats them, and states a choice below `allOf` as a choice of `allOf`s.
///
/// A repeated schema that several definitions have is left as it is: its name is not known.
pub(super) fn by_name(canonical: &mut Value) {
    let Some(Value::Object(definitions)) = canonical.get_mut("$defs") else {
        return;
    };
    let mut names: SortedMap<String, Vec<String>> = SortedMap::new();
    for (name, definition) in definitions.iter() {
        if is_worth_a_name(definition) {
            let same = names.entry(definition.to_string()).or_default();
            same.push(name.clone());
        }
    }
    names.retain(|_, same| same.len() == 1);
    for definition in definitions.values_mut() {
        each_below(definition, &mut |schema| named(schema, &names));
    }
    let choices: SortedMap<String, Vec<Value>> = definitions
        .iter()
        .filter_map(|(name, definition)| Some((reference(name), choices(definition)?.clone())))
        .collect();
    for definition in definitions.values_mut() {
        each_below(definition, &mut |schema| choice_first(schema, &choices));
        choice_first(definition, &choices);
    }
}

fn reference(name: &str) -> String {
    format!("#/$defs/{}", crate::pointer::escaped(name))
}

/// Returns the choices of a schema that is a choice and nothing else.
fn choices(schema: &Value) -> Option<&Vec<Value>> {
    let members = schema.as_object().filter(|members| members.len() == 1)?;
    members.get("anyOf")?.as_array()
}

/// Returns whether a definition says enough to be recognised: an object with members, or a choice.
fn is_worth_a_name(definition: &Value) -> bool {
    ["properties", "anyOf", "oneOf", "allOf", "enum"]
        .iter()
        .any(|keyword| definition.get(keyword).is_some())
}

fn named(schema: &mut Value, names: &SortedMap<String, Vec<String>>) {
    if let Some([name]) = names.get(&schema.to_string()).map(Vec::as_slice) {
        *schema = json!({ "$ref": reference(name) });
    }
}

/// Visits the schemas within a schema, outer ones first.
fn each_below(schema: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, value) in members.iter_mut() {
        let inner: Vec<&mut Value> = match (super::holds(keyword), value) {
            (super::KeywordContent::Schema, value) => vec![value],
            (super::KeywordContent::Named, Value::Object(named)) => {
                named.iter_mut().map(|(_, schema)| schema).collect()
            }
            (super::KeywordContent::List, Value::Array(list)) => list.iter_mut().collect(),
            _ => Vec::new(),
        };
        for schema in inner {
            visit(schema);
            each_below(schema, visit);
        }
    }
}

/// States `allOf: [A, {anyOf: [B, C]}]` as `anyOf: [{allOf: [A, B]}, {allOf: [A, C]}]`, which admits the same values.
fn choice_first(schema: &mut Value, named: &SortedMap<String, Vec<Value>>) {
    let Some(Value::Array(parts)) = schema.get("allOf") else {
        return;
    };
    let choices = |part: &Value| {
        let of_name = part.get("$ref").and_then(|name| named.get(name.as_str()?));
        choices(part).or(of_name).cloned()
    };
    let choice = (parts.iter().enumerate()).find_map(|(at, part)| Some((at, choices(part)?)));
    let Some((at, choices)) = choice else { return };
    let with = |choice: Value| {
        let mut all_of = parts.clone();
        if let Some(part) = all_of.get_mut(at) {
            *part = choice;
        }
        json!({ "allOf": all_of })
    };
    let any_of: Vec<Value> = choices.into_iter().map(with).collect();
    if let Value::Object(members) = schema {
        members.remove("allOf");
        members.insert("anyOf".to_owned(), any_of.into());
    }
}
