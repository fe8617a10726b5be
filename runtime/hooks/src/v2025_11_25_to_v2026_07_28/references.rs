//! References of a schema that moves to another place.

use percent_encoding::percent_decode_str;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::common::schema::below;

/// Where a schema moves to.
pub(super) struct SchemaText {
    place: String,
    /// The keyword that gives a schema a base of its own.
    id: &'static str,
}

impl SchemaText {
    /// To this place of the document that it becomes a part of.
    pub(super) fn at(place: &str) -> Self {
        Self {
            place: place.to_owned(),
            id: "$id",
        }
    }

    /// As the dialect has it that the schema states.
    pub(super) fn of_dialect(self, dialect: Option<&Value>) -> Self {
        if is_one_of(dialect, &["draft-03", "draft-04"]) {
            Self { id: "id", ..self }
        } else {
            self
        }
    }
}

/// Returns the keyword under which schemas of a dialect keep definitions: others find none there, nor the `$id`s in them.
pub(super) fn definitions(dialect: Option<&Value>) -> &'static str {
    let old = ["draft-03", "draft-04", "draft-05", "draft-06", "draft-07"];
    if is_one_of(dialect, &old) {
        "definitions"
    } else {
        "$defs"
    }
}

/// Returns whether a schema states one of these dialects.
fn is_one_of(dialect: Option<&Value>, names: &[&str]) -> bool {
    let stated = dialect.and_then(Value::as_str).unwrap_or_default();
    names.iter().any(|name| stated.contains(name))
}

/// Returns the schema with its references to places in itself pointing there; `None` if it has too many places.
///
/// One with an `$id` of its own stays as it is, wherever it stands: its references are relative to that.
pub(super) fn moved(mut schema: Value, to: &SchemaText) -> Option<Value> {
    if has_own_base(&schema, to.id) {
        return Some(schema);
    }
    for place in places(&schema, to.id)? {
        if let Some(Value::Object(members)) = schema.pointer_mut(&place) {
            redirect(members, &to.place);
        }
    }
    Some(schema)
}

/// The most bytes of the places of one schema: each repeats the names around it, so that they can be far longer than the schema.
const MOST_BYTES: usize = 16 << 20;

/// Returns the places of all schemas in a schema that share its base: those that keywords hold, and those that are referred to.
///
/// `None` if they are longer than [`MOST_BYTES`].
fn places(schema: &Value, id: &str) -> Option<HashSet<String>> {
    let mut bytes = 0;
    let mut places = HashSet::new();
    let mut ahead = vec![String::new()];
    while let Some(place) = ahead.pop() {
        let Some(found) = schema.pointer(&place) else {
            continue;
        };
        if (has_own_base(found, id) && !place.is_empty()) || !places.insert(place.clone()) {
            continue;
        }
        let Value::Object(members) = found else {
            continue;
        };
        let targets = REFERENCES
            .iter()
            .filter_map(|keyword| members.get(*keyword)?.as_str());
        let inner = below(members).map(|step| format!("{place}{step}"));
        for next in inner.chain(targets.filter_map(pointer)) {
            bytes += next.len();
            if bytes > MOST_BYTES {
                return None;
            }
            ahead.push(next);
        }
    }
    Some(places)
}

/// Keywords whose value is a reference.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

fn redirect(members: &mut Map<String, Value>, place: &str) {
    for keyword in REFERENCES {
        if let Some(Value::String(target)) = members.get_mut(keyword)
            && let Some(rest) = below_root(target)
        {
            *target = format!("{place}{rest}");
        }
    }
    // It means the root, and nothing else.
    if members.remove("$recursiveRef").is_some() {
        let reference = json!({ "$ref": place });
        match members.get_mut("allOf") {
            Some(Value::Array(all)) => all.push(reference),
            _ => {
                members.insert("allOf".to_owned(), json!([reference]));
            }
        }
    }
}

/// Returns the part behind the root of a reference to a place of the same document; an empty reference is the root.
fn below_root(target: &str) -> Option<&str> {
    match target {
        "" => Some(""),
        _ => target
            .strip_prefix('#')
            .filter(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Returns the pointer in a reference to a place of the same document.
fn pointer(target: &str) -> Option<String> {
    let pointer = below_root(target).or_else(|| target.strip_prefix('#'))?;
    let decoded = percent_decode_str(pointer).decode_utf8_lossy();
    (decoded.is_empty() || decoded.starts_with('/')).then(|| decoded.into_owned())
}

/// Returns whether references in a schema are relative to an id of its own; one that is a mere fragment is a name.
fn has_own_base(schema: &Value, id: &str) -> bool {
    schema
        .get(id)
        .and_then(Value::as_str)
        .is_some_and(|id| !id.starts_with('#'))
}
