//! `oneOf` whose choices exclude each other anyway says no more than `anyOf`, and is spelled so.

use serde_json::{Map, Value};

use crate::pointer;

/// Maximum number of references and parts to follow from a choice.
const MAX_STEPS: usize = 16;

/// Spells each `oneOf` of a canonical schema as `anyOf` where no value fits two of its choices.
pub(super) fn respelled(canonical: &mut Value) {
    let whole = canonical.clone();
    respell(canonical, &whole);
}

/// Returns whether `oneOf` names a member anywhere in a value.
pub(super) fn has_one_of(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.contains_key("oneOf") || members.values().any(has_one_of),
        Value::Array(values) => values.iter().any(has_one_of),
        _ => false,
    }
}

fn respell(schema: &mut Value, whole: &Value) {
    match schema {
        Value::Object(members) => {
            let choices = members.get("oneOf").and_then(Value::as_array);
            let is_free = !members.contains_key("anyOf");
            if is_free && choices.is_some_and(|choices| exclude_each_other(choices, whole)) {
                let choices = members.remove("oneOf").unwrap_or_default();
                members.insert("anyOf".to_owned(), choices);
            }
            members.values_mut().for_each(|value| respell(value, whole));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| respell(value, whole)),
        _ => {}
    }
}

/// Returns whether no value fits two of the choices.
fn exclude_each_other(choices: &[Value], whole: &Value) -> bool {
    let parts: Vec<Vec<&Map<String, Value>>> = (choices.iter())
        .map(|choice| parts(choice, whole))
        .collect();
    let all = parts.iter().enumerate();
    let mut pairs = all.flat_map(|(at, one)| parts[at + 1..].iter().map(move |other| (one, other)));
    choices.iter().all(Value::is_object) && pairs.all(|(one, other)| are_apart(one, other, whole))
}

/// Returns the schemas that a value of a schema has to fit: itself, those that it refers to, and the parts of its `allOf`.
fn parts<'s>(schema: &'s Value, whole: &'s Value) -> Vec<&'s Map<String, Value>> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(Value::Object(members)) = open.pop() {
        if found.len() == MAX_STEPS {
            break;
        }
        found.push(members);
        let target = members
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|target| pointer::of_fragment(target.strip_prefix('#')?));
        open.extend(target.and_then(|target| whole.pointer(&target)));
        let of_all = members.get("allOf").and_then(Value::as_array);
        open.extend(of_all.into_iter().flatten());
    }
    found
}

/// Returns whether two schemas, each by its parts, have no value in common.
fn are_apart(one: &[&Map<String, Value>], other: &[&Map<String, Value>], whole: &Value) -> bool {
    if values_differ(one, other) || types_differ(one, other) {
        return true;
    }
    let is_object = |parts: &[&Map<String, Value>]| {
        let ty = |part: &&Map<String, Value>| part.get("type").is_some_and(|ty| ty == "object");
        parts.iter().any(ty)
    };
    if !is_object(one) || !is_object(other) {
        return false;
    }
    required(one).any(|name| {
        let [of_one, of_other] = [one, other].map(|parts| member(parts, name, whole));
        required(other).any(|also| also == name)
            && (values_differ(&of_one, &of_other) || types_differ(&of_one, &of_other))
    })
}

/// Returns the names of members that have to be there.
fn required<'s>(parts: &[&'s Map<String, Value>]) -> impl Iterator<Item = &'s str> {
    let lists: Vec<&'s Vec<Value>> = (parts.iter())
        .filter_map(|part| part.get("required")?.as_array())
        .collect();
    lists.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the schemas that a member has to fit.
fn member<'s>(
    owner: &[&'s Map<String, Value>],
    name: &str,
    whole: &'s Value,
) -> Vec<&'s Map<String, Value>> {
    let own = owner
        .iter()
        .filter_map(|part| part.get("properties")?.get(name));
    own.flat_map(|schema| parts(schema, whole)).collect()
}

/// Returns whether the values that two schemas list are others.
fn values_differ(one: &[&Map<String, Value>], other: &[&Map<String, Value>]) -> bool {
    match (listed(one), listed(other)) {
        (Some(one), Some(other)) => {
            // Numbers are one value in several spellings, and are left to the types.
            let is_text = |value: &&Value| value.is_string() || value.is_boolean();
            one.iter().chain(&other).all(is_text) && one.iter().all(|value| !other.contains(value))
        }
        _ => false,
    }
}

/// Returns the values that a schema lists, if it does.
fn listed<'s>(parts: &[&'s Map<String, Value>]) -> Option<Vec<&'s Value>> {
    parts.iter().find_map(|part| {
        let only = part.get("const").map(|only| vec![only]);
        only.or_else(|| Some(part.get("enum")?.as_array()?.iter().collect()))
    })
}

/// Returns whether two schemas take values of other types.
fn types_differ(one: &[&Map<String, Value>], other: &[&Map<String, Value>]) -> bool {
    match (types(one), types(other)) {
        (Some(one), Some(other)) => one.iter().all(|ty| !other.contains(ty)),
        _ => false,
    }
}

/// Returns the types of the values that a schema takes, if it says them; an integer is a number.
fn types<'s>(parts: &[&'s Map<String, Value>]) -> Option<Vec<&'s str>> {
    let plain = |ty: &'s Value| {
        ty.as_str()
            .map(|ty| if ty == "integer" { "number" } else { ty })
    };
    parts.iter().find_map(|part| match part.get("type")? {
        Value::Array(several) => several.iter().map(plain).collect(),
        one => plain(one).map(|one| vec![one]),
    })
}
