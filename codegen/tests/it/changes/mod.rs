//! Changes of a schema in a few words each, and the catalogue of them in `tests/changes`.
//!
//! A row has the steps, and columns for what becomes of them: what the generator makes, and which rows a diff has.

use mcp_revisions_schema::pointer::{escaped, unescaped};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::workspace::repository;

pub(crate) mod random;

/// A row of the catalogue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    pub(crate) what: String,
    /// The revision whose schema is changed, which the file names.
    #[serde(skip)]
    pub(crate) of: String,
    /// The steps, as [`apply`] takes them.
    #[serde(rename = "do")]
    pub(crate) steps: String,
    /// A crate whose text has all of these, and which rests on no decision: what is made where no other column says so.
    #[serde(rename = "crate", default)]
    pub(crate) makes: Vec<String>,
    /// A crate that rests on decisions whose text has all of these.
    pub(crate) open: Option<Vec<String>>,
    /// A refusal whose text has all of these.
    pub(crate) refused: Option<Vec<String>>,
    /// `KIND LEVEL PATH` or `KIND LEVEL` for rows of the diff, together all of them, with `&` between paths of
    /// one row; `refused` for what it cannot read.
    #[serde(default)]
    pub(crate) diff: Vec<String>,
}

/// The files of the catalogue.
pub(crate) const FILES: &[&str] = &["names", "messages", "shapes", "choices", "open", "kinds"];

/// Tests of a check, one for each file of the catalogue.
macro_rules! each_file {
    ($check:ident) => {
        #[test]
        fn names_that_change() {
            $check("names");
        }

        #[test]
        fn messages_that_change() {
            $check("messages");
        }

        #[test]
        fn shapes_that_change() {
            $check("shapes");
        }

        #[test]
        fn choices_that_change() {
            $check("choices");
        }

        #[test]
        fn what_drafts_leave_open() {
            $check("open");
        }

        #[test]
        fn a_change_of_each_kind() {
            $check("kinds");
        }
    };
}

pub(crate) use each_file;

/// A file of the catalogue.
pub(crate) fn catalogue(file: &str) -> Vec<Change> {
    #[derive(Deserialize)]
    struct File {
        of: String,
        change: Vec<Change>,
    }
    let File { of, mut change } = read(file);
    change.iter_mut().for_each(|row| row.of.clone_from(&of));
    change
}

/// A file of `tests/changes`.
pub(crate) fn read<T: for<'t> Deserialize<'t>>(file: &str) -> T {
    let path = repository().join(format!("codegen/tests/changes/{file}.toml"));
    let text = std::fs::read_to_string(&path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Changes a schema by steps, one a line.
///
/// Places are JSON pointers below `$defs`, or below the root where they begin with `/`, and put into lists as JSON
/// Patch has it: at an index, or behind the last item with `-`. In values, `"@Tool"` is a reference to `Tool`.
pub(crate) fn apply(schema: &mut Value, steps: &str) {
    for step in steps.lines().filter(|line| !line.is_empty()) {
        let (verb, rest) = step.split_once(' ').expect(step);
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "put" => put(schema, first, json(second)),
            "take" => rest.split(' ').for_each(|at| drop(take(schema, at))),
            "move" => {
                let value = take(schema, first);
                put(schema, second, value);
            }
            "copy" => {
                let value = at(schema, first).clone();
                put(schema, second, value);
            }
            "omit" => {
                let (items, gone) = (list(schema, first), json(second));
                let before = items.len();
                items.retain(|item| *item != gone);
                assert_ne!(items.len(), before, "{step}: there is none");
            }
            "reverse" => list(schema, first).reverse(),
            // A name of `required` comes and goes, whether there is such a list or not.
            "require" if at(schema, first).get("required").is_none() => {
                at(schema, first)["required"] = json!([second]);
            }
            "require" => list(schema, &format!("{first}/required")).push(json!(second)),
            "release" => {
                list(schema, &format!("{first}/required")).retain(|item| *item != *second);
            }
            "rename" => {
                let definition = take(schema, first);
                put(schema, second, definition);
                replace(schema, &reference(first), &reference(second));
            }
            "inline" => {
                let definition = take(schema, first);
                replace(schema, &reference(first), &definition);
            }
            "extract" => {
                let inline = std::mem::replace(at(schema, first), reference(second));
                put(schema, second, inline);
            }
            "respell" => {
                *schema = serde_json::from_str(&schema.to_string().replace(first, second)).unwrap();
            }
            "request" | "notification" => {
                let mut message = json!({
                    "type": "object",
                    "properties": {
                        "jsonrpc": {"const": "2.0", "type": "string"},
                        "method": {"const": second, "type": "string"},
                        "params": reference("RequestParams"),
                    },
                    "required": ["jsonrpc", "method"],
                });
                if verb == "request" {
                    message["properties"]["id"] = reference("RequestId");
                    message["required"] = json!(["id", "jsonrpc", "method", "params"]);
                }
                put(schema, first, message);
            }
            _ => panic!("no step is called {verb}"),
        }
    }
}

/// A schema changed by steps.
pub(crate) fn changed(schema: &Value, steps: &str) -> Value {
    let mut schema = schema.clone();
    apply(&mut schema, steps);
    schema
}

pub(crate) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{}", escaped(name))})
}

/// JSON with `"@Tool"` for a reference to `Tool`.
pub(crate) fn json(text: &str) -> Value {
    let mut value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    every(&mut value, &mut |node| {
        if let Some(name) = node.as_str().and_then(|text| text.strip_prefix('@')) {
            *node = reference(name);
        }
    });
    value
}

/// Visits every value of a document, outer ones first.
pub(crate) fn every(value: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    visit(value);
    match value {
        Value::Object(members) => members.values_mut().for_each(|inner| every(inner, visit)),
        Value::Array(items) => items.iter_mut().for_each(|inner| every(inner, visit)),
        _ => {}
    }
}

fn replace(schema: &mut Value, old: &Value, new: &Value) {
    every(schema, &mut |node| {
        if node == old {
            *node = new.clone();
        }
    });
}

fn from_root(place: &str) -> String {
    match place.starts_with('/') {
        true => place.to_owned(),
        false => format!("/$defs/{place}"),
    }
}

fn at<'s>(schema: &'s mut Value, place: &str) -> &'s mut Value {
    let found = schema.pointer_mut(&from_root(place));
    found.unwrap_or_else(|| panic!("the schema has no {place}: the change needs another place"))
}

fn list<'s>(schema: &'s mut Value, place: &str) -> &'s mut Vec<Value> {
    at(schema, place).as_array_mut().expect(place)
}

/// What holds a place, and what the place is called there.
fn holder<'s>(schema: &'s mut Value, place: &str) -> (&'s mut Value, String) {
    let place = from_root(place);
    let (holder, name) = place.rsplit_once('/').unwrap();
    let holder = schema.pointer_mut(holder);
    let name = unescaped(name).into_owned();
    (
        holder.unwrap_or_else(|| panic!("nothing holds {place}")),
        name,
    )
}

fn put(schema: &mut Value, place: &str, value: Value) {
    match holder(schema, place) {
        (Value::Array(items), name) => {
            let index = name.parse().unwrap_or(items.len());
            items.insert(index, value);
        }
        (object, name) => object[name] = value,
    }
}

fn take(schema: &mut Value, place: &str) -> Value {
    match holder(schema, place) {
        (Value::Array(items), name) => items.remove(name.parse().expect(place)),
        (object, name) => object.as_object_mut().unwrap().remove(&name).expect(place),
    }
}
