//! The schemas of a lock as one file of definitions: the message that uses each entry, and its result.

use serde_json::{Map, Value, json};

use super::dialect::{ModernSchema, SchemaHome, modern};
use super::{LockFacts, LockedEntry};
use crate::graph::Graph;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::pointer::{escaped, to_fragment};
use mcp_revisions_schema::schema::Schema;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use mcp_revisions_schema::spec::canonical::{self, DIALECT};

/// The definition that lists all messages.
pub(super) const UNION: &str = "ClientRequest";

/// Returns the definition of the result of a message.
pub(super) fn result_name(call: &str) -> String {
    format!("{call} result")
}

/// A part of an entry that has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaPart {
    Input,
    Output,
}

impl SchemaPart {
    const ALL: [Self; 2] = [Self::Input, Self::Output];

    /// Returns the member of an entry that has the schema.
    fn member(self) -> &'static str {
        match self {
            Self::Input => "inputSchema",
            Self::Output => "outputSchema",
        }
    }

    /// Returns the JSON pointer of the schema in the file of definitions.
    fn pointer(self, entry: &LockedEntry) -> String {
        match self {
            Self::Input => format!(
                "/$defs/{}/properties/params/properties/arguments",
                escaped(&entry.call)
            ),
            Self::Output => format!(
                "/$defs/{}/properties/structuredContent",
                escaped(&result_name(&entry.call))
            ),
        }
    }

    /// Returns the beginning of the names of its definitions. No name of a message begins so: what stands before its first point
    /// has a space.
    fn prefix(self, entry: &LockedEntry) -> String {
        let of = match self {
            Self::Input => "input",
            Self::Output => "output",
        };
        let tool = entry
            .area
            .replace('~', "~0")
            .replace('.', "~1")
            .replace(' ', "~2")
            .replacen("tool~2", "", 1);
        format!("{tool}.{of}.")
    }

    /// Returns the schema of an entry, in the dialect that it has.
    fn schema(self, entry: &LockedEntry) -> Option<Value> {
        match (self, entry.list.member) {
            (_, "tools") => entry.value.get(self.member()).cloned(),
            (Self::Input, "prompts") => Some(arguments(&entry.value)),
            _ => None,
        }
    }

    /// Translates the schema of an entry, and reads it once by itself, so that one that cannot be read costs no other.
    fn read(self, entry: &LockedEntry) -> Result<Option<ModernSchema>, String> {
        let Some(schema) = self.schema(entry) else {
            return Ok(None);
        };
        let (pointer, prefix) = (self.pointer(entry), self.prefix(entry));
        let home = SchemaHome {
            pointer: &pointer,
            definition: &|name| format!("{prefix}{name}"),
        };
        let translated = modern(&schema, &home)?;
        let mut definitions = Map::new();
        match self {
            Self::Input => add(entry, Some(translated.clone()), None, &mut definitions),
            Self::Output => add(entry, None, Some(translated.clone()), &mut definitions),
        }
        match read(definitions) {
            Ok(_) => Ok(Some(translated)),
            Err(why) => Err(why
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned()),
        }
    }
}

/// Returns the arguments of a prompt as a schema: each is a text.
fn arguments(prompt: &Value) -> Value {
    let all = prompt.get("arguments").and_then(Value::as_array);
    let named = (all.into_iter().flatten())
        .filter_map(|argument| Some((argument.get("name")?.as_str()?, argument)));
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, argument) in named {
        properties.insert(name.to_owned(), json!({ "type": "string" }));
        if argument.get("required") == Some(&Value::Bool(true)) {
            required.push(name);
        }
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Adds the definitions of a message, its result, and what their schemas refer to.
fn add(
    entry: &LockedEntry,
    input: Option<ModernSchema>,
    output: Option<ModernSchema>,
    definitions: &mut Map<String, Value>,
) {
    let (method, key) = match entry.list.member {
        "tools" => ("tools/call", "name"),
        "prompts" => ("prompts/get", "name"),
        _ => ("resources/read", "uri"),
    };
    let own = match entry.list.member {
        "resourceTemplates" => json!({ "type": "string" }),
        _ => json!({ "const": entry.name }),
    };
    let mut params = json!({ "type": "object", "properties": { key: own }, "required": [key] });
    if let Some((schema, own)) = input {
        params["properties"]["arguments"] = schema;
        params["required"] = json!([key, "arguments"]);
        definitions.extend(own);
    }
    let message = json!({
        "type": "object",
        "properties": { "method": { "const": method }, "params": params },
        "required": ["method", "params"],
    });
    let mut result = json!({ "type": "object" });
    if let Some((schema, own)) = output {
        result["properties"] = json!({ "structuredContent": schema });
        result["required"] = json!(["structuredContent"]);
        definitions.extend(own);
    }
    definitions.insert(entry.call.clone(), message);
    definitions.insert(result_name(&entry.call), result);
}

/// Reads definitions as a schema and its graph.
fn read(definitions: Map<String, Value>) -> Result<(Value, Graph), Error> {
    let document = json!({ "$schema": DIALECT, "$defs": definitions });
    let schema = canonical::canonicalize(&document, "")?;
    let graph = Graph::of(&Schema::parse(&schema, "")?)?;
    Ok((schema, graph))
}

type SideSchema = Result<(Value, Graph), Error>;

/// Makes a schema and its graph of each side, and a sentence for each schema that changed and cannot be judged: such a schema
/// admits anything on both sides.
pub(super) fn documents(
    sides: &[LockFacts; 2],
    labels: [&str; 2],
) -> ([SideSchema; 2], Vec<String>) {
    let mut unjudged = Vec::new();
    let mut documents = [Map::new(), Map::new()];
    let mut listed: [Vec<Value>; 2] = Default::default();
    let by_call = sides.each_ref().map(|side| {
        let all = side.entries.iter().map(|entry| (&entry.call, entry));
        all.collect::<SortedMap<&String, &LockedEntry>>()
    });
    let calls = by_call[0].keys().chain(by_call[1].keys());
    for call in calls.copied().collect::<SortedSet<&String>>() {
        let entries = by_call.each_ref().map(|of| of.get(call).copied());
        let [input, output] = SchemaPart::ALL.map(|part| {
            let read = entries.map(|entry| entry.map_or(Ok(None), |entry| part.read(entry)));
            let raw = entries.map(|entry| entry.and_then(|entry| part.schema(entry)));
            let is_in_both = entries.iter().all(Option::is_some);
            for (read, label) in read.iter().zip(labels) {
                if let Err(why) = read
                    && is_in_both
                    && raw[0] != raw[1]
                {
                    let member = part.member();
                    unjudged.push(format!(
                        "the `{member}` of `{call}`, which changed: in {label}, {why}"
                    ));
                }
            }
            if read.iter().all(Result::is_ok) {
                return read.map(|read| read.ok().flatten());
            }
            raw.map(|raw| raw.map(|_| (Value::Bool(true), Map::new())))
        });
        let parts = entries.into_iter().zip(input).zip(output);
        for (side, ((entry, input), output)) in parts.enumerate() {
            if let Some(entry) = entry {
                add(entry, input, output, &mut documents[side]);
                let pointer = format!("/$defs/{}", escaped(call));
                listed[side].push(json!({ "$ref": format!("#{}", to_fragment(&pointer)) }));
            }
        }
    }
    let mut by_side = listed.into_iter();
    let schemas = documents.map(|mut definitions| {
        let all = by_side.next().unwrap_or_default();
        let union = if all.is_empty() {
            json!({ "not": {} })
        } else {
            json!({ "anyOf": all })
        };
        definitions.insert(UNION.to_owned(), union);
        read(definitions)
    });
    (schemas, unjudged)
}

/// Returns the pointers and words by which what is compared names an entry, each with the place in the entry.
pub(super) fn places(entry: &LockedEntry) -> Vec<(String, String)> {
    let call = escaped(&entry.call).into_owned();
    let mut places = vec![
        (format!("/$defs/{call}"), String::new()),
        (entry.call.clone(), String::new()),
        (entry.listed.clone(), String::new()),
        (
            format!("/$defs/{}", escaped(&result_name(&entry.call))),
            "/outputSchema".to_owned(),
        ),
    ];
    for part in SchemaPart::ALL {
        let member = part.member();
        places.push((part.pointer(entry), format!("/{member}")));
        let schema = entry.value.get(member);
        for keyword in ["$defs", "definitions"] {
            let own = schema.and_then(|schema| schema.get(keyword)?.as_object());
            for name in own.into_iter().flat_map(Map::keys) {
                let called = format!("{}{name}", part.prefix(entry));
                let within = format!("/{member}/{keyword}/{}", escaped(name));
                places.push((format!("/$defs/{}", escaped(&called)), within));
            }
        }
    }
    places
}
