//! Where in a schema the type of a model stands: a definition, or an inline schema at a place such as `Tool.annotations`.

use mcp_revisions_schema::model::Model;
use mcp_wire::pointer::escaped;
use serde_json::Value;

/// How far `$ref` and `allOf` are followed.
const DEEPEST: usize = 32;

/// The JSON pointers of the schemas that hold at a type's first place, all at once.
///
/// A type that a method's two results share has no schema of its own: [`Located::AnyOf`] them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// All of these schemas hold.
    AllOf(Vec<String>),
    /// One of these schemas holds.
    AnyOf(Vec<String>),
}

/// Finds the type of this Rust name in the schema that its model was made from.
///
/// # Errors
/// A place that leads nowhere, with the place.
pub fn locate(model: &Model, schema: &Value, type_name: &str) -> Result<Located, String> {
    let def = (model.get(type_name)).ok_or_else(|| format!("no type {type_name} in the model"))?;
    if let Some(definition) = &def.definition {
        return Ok(Located::AllOf(vec![definition_at(definition)]));
    }
    let is_definition = |place: &String| model.definition(place).is_some();
    if def.places.len() > 1 && def.places.iter().all(is_definition) {
        let places = def.places.iter().map(|place| definition_at(place));
        return Ok(Located::AnyOf(places.collect()));
    }
    let place = def.places.first().map_or("", String::as_str);
    let found = of_place(model, schema, place, 0);
    match found.is_empty() {
        true => Err(format!("{type_name}: nothing in the schema at {place}")),
        false => Ok(Located::AllOf(found)),
    }
}

fn definition_at(definition: &str) -> String {
    format!("/$defs/{}", escaped(definition))
}

/// A place is the name of a definition or of another inline schema, and one step from there.
fn of_place(model: &Model, schema: &Value, place: &str, depth: usize) -> Vec<String> {
    if depth > DEEPEST {
        return Vec::new();
    }
    let owner_end = place.find(['.', '[', '{']).unwrap_or(place.len());
    let (owner, mut step) = place.split_at(owner_end);
    let mut at = if model.definition(owner).is_some() {
        vec![definition_at(owner)]
    } else {
        let inline = model.types.values().find(|def| def.doc_key == owner);
        let first = inline.and_then(|def| def.places.first());
        match first {
            Some(outer) if outer != owner => of_place(model, schema, outer, depth + 1),
            _ => return Vec::new(),
        }
    };
    if let Some(member) = step.strip_prefix('.') {
        let end = member.find(['[', '{']).unwrap_or(member.len());
        let (member, rest) = member.split_at(end);
        let choices = by_constant(schema, &at, member);
        at = steps(
            schema,
            &at,
            &format!("/properties/{}", escaped(member)),
            &format!("/anyOf/{member}"),
        );
        if at.is_empty() {
            at = choices;
        }
        step = rest;
    }
    while !step.is_empty() {
        let (one, rest) = step.split_at_checked(2).unwrap_or((step, ""));
        let keyword = if one == "[]" {
            "/items"
        } else {
            "/additionalProperties"
        };
        at = steps(schema, &at, keyword, keyword);
        step = rest;
    }
    at
}

/// The choices of these schemas that have a member which is always this text.
fn by_constant(schema: &Value, from: &[String], text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for at in from {
        let node = schema.pointer(at).and_then(|node| node.get("anyOf"));
        let count = node.and_then(Value::as_array).map_or(0, Vec::len);
        let choices = (0..count).map(|choice| format!("{at}/anyOf/{choice}"));
        found.extend(choices.filter(|choice| says(schema, choice, text, 0)));
    }
    found
}

/// Whether a schema has a member that is always this text, through `$ref` and `allOf`.
fn says(schema: &Value, at: &str, text: &str, depth: usize) -> bool {
    let Some(node) = schema.pointer(at).filter(|_| depth <= DEEPEST) else {
        return false;
    };
    let members = node.get("properties").and_then(Value::as_object);
    let is_text = |member: &Value| member.get("const").and_then(Value::as_str) == Some(text);
    let arms = node
        .get("allOf")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    members.is_some_and(|members| members.values().any(is_text))
        || reference(node).is_some_and(|target| says(schema, target, text, depth + 1))
        || (0..arms).any(|arm| says(schema, &format!("{at}/allOf/{arm}"), text, depth + 1))
}

/// The one step or the other from each of these schemas, through `$ref` and `allOf`.
fn steps(schema: &Value, from: &[String], step: &str, other: &str) -> Vec<String> {
    let mut found = Vec::new();
    for at in from {
        collect(schema, at, &[step, other], &mut found, 0);
    }
    found.dedup();
    found
}

fn collect(schema: &Value, at: &str, steps: &[&str], found: &mut Vec<String>, depth: usize) {
    let Some(node) = schema.pointer(at).filter(|_| depth <= DEEPEST) else {
        return;
    };
    if let Some(step) = steps.iter().find(|step| node.pointer(step).is_some()) {
        found.push(format!("{at}{step}"));
    }
    if let Some(target) = reference(node) {
        collect(schema, target, steps, found, depth + 1);
    }
    let arms = node
        .get("allOf")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    for arm in 0..arms {
        collect(
            schema,
            &format!("{at}/allOf/{arm}"),
            steps,
            found,
            depth + 1,
        );
    }
}

/// The pointer that a `$ref` names.
#[must_use]
pub fn reference(node: &Value) -> Option<&str> {
    node.get("$ref")?.as_str()?.strip_prefix('#')
}
