//! Schemas changed at random, one change at a time, as revisions change.

use serde_json::{Value, json};

use crate::mutants::random::Random;

/// A change: made if the schema has a place for it, and then said in words.
pub(crate) type Change = fn(&mut Value, &mut Random) -> Option<String>;

/// Every kind of change, by name.
pub(crate) const KINDS: &[(&str, Change)] = &[
    ("optional member added", add_optional),
    ("required member added", add_required),
    ("required member with a default added", add_default),
    ("optional member removed", remove_optional),
    ("required member removed", remove_required),
    ("member renamed", rename_member),
    ("member retyped", retype),
    ("presence flipped", flip),
    ("choice added", add_choice),
    ("choice removed", remove_choice),
    ("value added", add_value),
    ("value removed", remove_value),
    ("method added", add_method),
    ("method removed", remove_method),
    ("method moved to the other side", move_method),
    ("limit tightened", tighten),
    ("constant changed", change_constant),
    ("constant freed", free_constant),
    ("value made constant", make_constant),
    ("object closed", close),
    ("unknown members typed", type_rest),
    ("definition renamed", rename_definition),
];

/// What messages are made of; a change there is another protocol.
const FRAME: &[&str] = &[
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "_meta",
    "resultType",
];

fn definitions(schema: &Value, wanted: impl Fn(&str, &Value) -> bool) -> Vec<String> {
    let all = schema["$defs"].as_object().unwrap();
    let envelope = |name: &str| {
        name.starts_with("JSONRPC") || name.ends_with("Request") || name.ends_with("Notification")
    };
    (all.iter())
        .filter(|(name, def)| !envelope(name) && wanted(name, def))
        .map(|(name, _)| name.clone())
        .collect()
}

fn is_required(def: &Value, member: &str) -> bool {
    let required = def["required"].as_array().into_iter().flatten();
    required.into_iter().any(|name| name == member)
}

/// A member of some object of the schema.
fn member(
    schema: &Value,
    random: &mut Random,
    wanted: impl Fn(&Value, &str, &Value) -> bool,
) -> Option<[String; 2]> {
    let mut all = Vec::new();
    for name in definitions(schema, |_, def| def["properties"].is_object()) {
        let def = &schema["$defs"][&name];
        for (member, value) in def["properties"].as_object().unwrap() {
            if !FRAME.contains(&member.as_str()) && wanted(def, member, value) {
                all.push([name.clone(), member.clone()]);
            }
        }
    }
    random.pick(&all).cloned()
}

fn at<'s>(schema: &'s mut Value, [name, member]: &[String; 2]) -> &'s mut Value {
    &mut schema["$defs"][name]["properties"][member]
}

fn require(def: &mut Value, member: &str) {
    match def["required"].as_array_mut() {
        Some(list) => list.push(json!(member)),
        None => def["required"] = json!([member]),
    }
}

fn release(def: &mut Value, member: &str) {
    if let Some(list) = def["required"].as_array_mut() {
        list.retain(|name| name != member);
    }
}

/// A name that the schema does not have.
fn fresh(schema: &Value, stem: &str) -> String {
    let text = schema.to_string();
    let mut at = 1;
    while text.contains(&format!("\"{stem}{at}\"")) {
        at += 1;
    }
    format!("{stem}{at}")
}

fn some_type(random: &mut Random) -> Value {
    let types = [
        json!({ "type": "string" }),
        json!({ "type": "integer" }),
        json!({ "type": "boolean" }),
        json!({ "type": "array", "items": { "type": "string" } }),
        json!({ "type": "object" }),
        json!({ "$ref": "#/$defs/Annotations" }),
        json!({ "type": "array", "items": { "$ref": "#/$defs/Icon" } }),
    ];
    random.pick(&types).unwrap().clone()
}

fn object(schema: &Value, random: &mut Random) -> Option<String> {
    random
        .pick(&definitions(schema, |_, def| def["properties"].is_object()))
        .cloned()
}

fn add(schema: &mut Value, random: &mut Random, required: bool, ty: Value) -> Option<String> {
    let name = object(schema, random)?;
    let member = fresh(schema, "extraMember");
    let def = &mut schema["$defs"][&name];
    def["properties"][&member] = ty;
    if required {
        require(def, &member);
    }
    Some(format!("{name}.{member}"))
}

fn add_optional(schema: &mut Value, random: &mut Random) -> Option<String> {
    let ty = some_type(random);
    add(schema, random, false, ty)
}

fn add_required(schema: &mut Value, random: &mut Random) -> Option<String> {
    let ty = some_type(random);
    add(schema, random, true, ty)
}

fn add_default(schema: &mut Value, random: &mut Random) -> Option<String> {
    let ty = json!({ "type": "string", "default": "usual" });
    add(schema, random, true, ty)
}

fn remove(schema: &mut Value, random: &mut Random, required: bool) -> Option<String> {
    let place = member(schema, random, |def, member, value| {
        is_required(def, member) == required && value.get("const").is_none()
    })?;
    let [name, member] = &place;
    let def = &mut schema["$defs"][name];
    def["properties"].as_object_mut().unwrap().remove(member);
    release(def, member);
    Some(place.join("."))
}

fn remove_optional(schema: &mut Value, random: &mut Random) -> Option<String> {
    remove(schema, random, false)
}

fn remove_required(schema: &mut Value, random: &mut Random) -> Option<String> {
    remove(schema, random, true)
}

fn rename_member(schema: &mut Value, random: &mut Random) -> Option<String> {
    let place = member(schema, random, |_, _, value| value.get("const").is_none())?;
    let [name, member] = &place;
    let fresh = fresh(schema, "renamedMember");
    let def = &mut schema["$defs"][name];
    let required = is_required(def, member);
    let value = def["properties"].as_object_mut().unwrap().remove(member)?;
    def["properties"][&fresh] = value;
    release(def, member);
    if required {
        require(def, &fresh);
    }
    Some(format!("{} to {fresh}", place.join(".")))
}

fn retype(schema: &mut Value, random: &mut Random) -> Option<String> {
    let place = member(schema, random, |_, _, value| value.get("const").is_none())?;
    let ty = some_type(random);
    let told = format!("{} to {ty}", place.join("."));
    *at(schema, &place) = ty;
    Some(told)
}

fn flip(schema: &mut Value, random: &mut Random) -> Option<String> {
    let place = member(schema, random, |_, _, value| value.get("const").is_none())?;
    let [name, member] = &place;
    let def = &mut schema["$defs"][name];
    match is_required(def, member) {
        true => release(def, member),
        false => require(def, member),
    }
    Some(place.join("."))
}

/// A union whose choices are definitions with a constant `type`.
fn tagged_union(schema: &Value, random: &mut Random) -> Option<String> {
    let tagged = |choice: &Value| {
        let name = choice["$ref"]
            .as_str()
            .and_then(|at| at.strip_prefix("#/$defs/"));
        name.is_some_and(|name| schema["$defs"][name]["properties"]["type"]["const"].is_string())
    };
    let unions = definitions(schema, |_, def| {
        let choices = def["anyOf"].as_array();
        choices.is_some_and(|choices| choices.len() > 1 && choices.iter().all(tagged))
    });
    random.pick(&unions).cloned()
}

fn add_choice(schema: &mut Value, random: &mut Random) -> Option<String> {
    let union = tagged_union(schema, random)?;
    let name = fresh(schema, "NewContent");
    schema["$defs"][&name] = json!({
        "type": "object",
        "properties": { "type": { "type": "string", "const": name }, "data": { "type": "string" } },
        "required": ["type", "data"],
    });
    let reference = json!({ "$ref": format!("#/$defs/{name}") });
    schema["$defs"][&union]["anyOf"]
        .as_array_mut()?
        .push(reference);
    Some(format!("{name} in {union}"))
}

fn remove_choice(schema: &mut Value, random: &mut Random) -> Option<String> {
    let union = tagged_union(schema, random)?;
    let choices = schema["$defs"][&union]["anyOf"].as_array_mut()?;
    let gone = choices.remove(random.below(choices.len()));
    Some(format!("{gone} of {union}"))
}

fn enumeration(schema: &Value, random: &mut Random) -> Option<String> {
    let enums = definitions(schema, |_, def| {
        def["enum"]
            .as_array()
            .is_some_and(|values| values.len() > 1)
    });
    random.pick(&enums).cloned()
}

fn add_value(schema: &mut Value, random: &mut Random) -> Option<String> {
    let name = enumeration(schema, random)?;
    let value = fresh(schema, "value");
    schema["$defs"][&name]["enum"]
        .as_array_mut()?
        .push(json!(value));
    Some(format!("{value} in {name}"))
}

fn remove_value(schema: &mut Value, random: &mut Random) -> Option<String> {
    let name = enumeration(schema, random)?;
    let values = schema["$defs"][&name]["enum"].as_array_mut()?;
    let gone = values.remove(random.below(values.len()));
    Some(format!("{gone} of {name}"))
}

/// The union of what one side sends.
fn sent(random: &mut Random) -> [&'static str; 2] {
    match random.once_in(2) {
        true => ["ClientNotification", "ServerNotification"],
        false => ["ServerNotification", "ClientNotification"],
    }
}

fn choices<'s>(schema: &'s mut Value, union: &str) -> Option<&'s mut Vec<Value>> {
    schema["$defs"]
        .get_mut(union)?
        .get_mut("anyOf")?
        .as_array_mut()
}

fn add_method(schema: &mut Value, random: &mut Random) -> Option<String> {
    let [union, _] = sent(random);
    let name = fresh(schema, "WeatherNotification");
    let method = fresh(schema, "notifications/weather");
    let reference = json!({ "$ref": format!("#/$defs/{name}") });
    choices(schema, union)?.push(reference);
    schema["$defs"][&name] = json!({
        "type": "object",
        "properties": { "method": { "type": "string", "const": method } },
        "required": ["method"],
    });
    Some(method)
}

fn remove_method(schema: &mut Value, random: &mut Random) -> Option<String> {
    let [union, _] = sent(random);
    let choices = choices(schema, union)?;
    if choices.len() < 2 {
        return None;
    }
    let gone = choices.remove(random.below(choices.len()));
    Some(format!("{gone} of {union}"))
}

fn move_method(schema: &mut Value, random: &mut Random) -> Option<String> {
    let [union, other] = sent(random);
    let choices = choices(schema, union)?;
    if choices.len() < 2 {
        return None;
    }
    let moved = choices.remove(random.below(choices.len()));
    let choices = self::choices(schema, other)?;
    if choices.contains(&moved) {
        return None;
    }
    choices.push(moved.clone());
    Some(format!("{moved} to {other}"))
}

fn tighten(schema: &mut Value, random: &mut Random) -> Option<String> {
    let place = member(schema, random, |_, _, value| {
        value["type"] == "array" || value["type"] == "integer"
    })?;
    let value = at(schema, &place);
    let limit = if value["type"] == "array" {
        "maxItems"
    } else {
        "maximum"
    };
    value[limit] = json!(3);
    Some(format!("{} has {limit}", place.join(".")))
}

fn change_constant(schema: &mut Value, random: &mut Random) -> Option<String> {
    let place = member(schema, random, |_, _, value| value["const"].is_string())?;
    let value = fresh(schema, "constant");
    at(schema, &place)["const"] = json!(value);
    Some(place.join("."))
}

fn free_constant(schema: &mut Value, random: &mut Random) -> Option<String> {
    let place = member(schema, random, |_, _, value| value["const"].is_string())?;
    *at(schema, &place) = json!({ "type": "string" });
    Some(place.join("."))
}

fn make_constant(schema: &mut Value, random: &mut Random) -> Option<String> {
    let place = member(schema, random, |_, _, value| {
        *value == json!({ "type": "string" })
    })?;
    *at(schema, &place) = json!({ "type": "string", "const": "only" });
    Some(place.join("."))
}

fn close(schema: &mut Value, random: &mut Random) -> Option<String> {
    let name = object(schema, random)?;
    schema["$defs"][&name]["additionalProperties"] = json!(false);
    Some(name)
}

fn type_rest(schema: &mut Value, random: &mut Random) -> Option<String> {
    let name = object(schema, random)?;
    schema["$defs"][&name]["additionalProperties"] = json!({ "type": "string" });
    Some(name)
}

fn rename_definition(schema: &mut Value, random: &mut Random) -> Option<String> {
    let name = object(schema, random)?;
    let fresh = fresh(schema, "RenamedType");
    let text = schema.to_string();
    let text = text.replace(
        &format!("\"#/$defs/{name}\""),
        &format!("\"#/$defs/{fresh}\""),
    );
    let mut renamed: Value = serde_json::from_str(&text).unwrap();
    let definitions = renamed["$defs"].as_object_mut()?;
    let definition = definitions.remove(&name)?;
    definitions.insert(fresh.clone(), definition);
    *schema = renamed;
    Some(format!("{name} to {fresh}"))
}
