//! Values to choose from have one spelling: `enum` for several strings, `const` for one value, however a schema says it.

use serde_json::{Map, Value, json};

/// Write strings that stand as choices of their own into one `enum`: `anyOf: [{const: a}, {const: b}]` says no more.
///
/// Beside any string (`anyOf` alone) they say nothing at all; what is left alone stands without its `anyOf`.
pub(super) fn joined(schema: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(choices)) = schema.get(keyword) else {
            continue;
        };
        let Some(mut choices) = one_of_strings(choices, keyword == "anyOf") else {
            continue;
        };
        if choices.len() > 1 {
            schema.insert(keyword.to_owned(), choices.into());
        } else if let Some(Value::Object(only)) = choices.pop()
            && agree(schema, &only)
        {
            schema.remove(keyword);
            schema.extend(only);
        }
    }
}

/// Spells an `enum` of one value as `const`, beside which it says nothing.
pub(super) fn only(schema: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = schema.get("enum") else {
        return;
    };
    if let [value] = values.as_slice()
        && schema.get("const").is_none_or(|other| other == value)
    {
        let constant = value.clone();
        schema.remove("enum");
        schema.insert("const".to_owned(), constant);
    }
}

/// Returns the choices with all fixed strings in the place of the first; `None` if there is nothing to join.
fn one_of_strings(choices: &[Value], any_of: bool) -> Option<Vec<Value>> {
    let any_string = json!({"type": "string"});
    let free = any_of && choices.contains(&any_string);
    let mut strings: Vec<&str> = Vec::new();
    let (mut joined, mut first, mut count) = (Vec::new(), None, 0);
    for choice in choices {
        match fixed(choice) {
            Some(more) => {
                first.get_or_insert(joined.len());
                strings.extend(more);
                count += 1;
            }
            None => joined.push(choice.clone()),
        }
    }
    if free {
        return first.map(|_| joined);
    }
    strings.sort_unstable();
    let once = strings.windows(2).all(|pair| pair[0] != pair[1]);
    if count < 2 || !once {
        return None;
    }
    joined.insert(first?, json!({"enum": strings, "type": "string"}));
    Some(joined)
}

/// Returns the strings that a choice fixes, if that is all it says.
fn fixed(choice: &Value) -> Option<Vec<&str>> {
    let members = choice.as_object()?;
    let alone = |key: &String| matches!(key.as_str(), "const" | "enum" | "type");
    let of_text = members.get("type").is_none_or(|ty| ty == "string");
    if !of_text || !members.keys().all(alone) {
        return None;
    }
    match (members.get("const"), members.get("enum")) {
        (Some(only), None) => Some(vec![only.as_str()?]),
        (None, Some(Value::Array(several))) => several.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// Returns whether nothing beside the choices says otherwise than the one that is left.
fn agree(schema: &Map<String, Value>, only: &Map<String, Value>) -> bool {
    (only.iter()).all(|(key, value)| schema.get(key).is_none_or(|beside| beside == value))
}
