//! The parameters of a tool that are headers of HTTP, by `x-mcp-header` in its schema.

use std::collections::BTreeSet;

use serde_json::Value;

const ANNOTATION: &str = "x-mcp-header";
/// The types of parameters that may have it.
const TYPES: [&str; 3] = ["string", "integer", "boolean"];

pub(super) struct ParameterHeader {
    name: String,
    /// The names of the properties that lead to it.
    path: Vec<String>,
}

impl ParameterHeader {
    /// Returns the name of the header.
    pub(super) fn name(&self) -> String {
        format!("Mcp-Param-{}", self.name)
    }

    /// Returns its value among arguments; `None` if it is absent or null.
    pub(super) fn value(&self, arguments: &Value) -> Option<String> {
        let mut steps = self.path.iter();
        match steps.try_fold(arguments, |value, step| value.get(step))? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(is_set) => Some(is_set.to_string()),
            _ => None,
        }
    }
}

/// Returns the headers of a tool, and what is wrong with its annotations.
pub(super) fn read(schema: &Value) -> (Vec<ParameterHeader>, Vec<String>) {
    let (mut headers, mut faults) = (Vec::new(), Vec::new());
    walk(schema, &mut Vec::new(), true, &mut headers, &mut faults);
    let mut names = BTreeSet::new();
    for header in &headers {
        if !names.insert(header.name.to_ascii_lowercase()) {
            faults.push(format!("two parameters have `{}`", header.name));
        }
    }
    (headers, faults)
}

/// Walks a schema; `is_reachable` says whether properties only lead here. As deep as the text is nested, which its reader limits.
fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    is_reachable: bool,
    headers: &mut Vec<ParameterHeader>,
    faults: &mut Vec<String>,
) {
    let Value::Object(members) = schema else {
        if let Value::Array(schemas) = schema {
            for schema in schemas {
                walk(schema, path, false, headers, faults);
            }
        }
        return;
    };
    if let Some(name) = members.get(ANNOTATION) {
        let place = path.join(".");
        let ty = members.get("type").and_then(Value::as_str);
        match name.as_str() {
            Some(name) if name.is_empty() || !name.bytes().all(is_token) => {
                faults.push(format!("`{place}`: {name:?} is no token of HTTP"));
            }
            Some(_) if !is_reachable || path.is_empty() => {
                faults.push(format!("`{place}`: not reached through `properties` only"));
            }
            Some(name) if ty.is_some_and(|ty| TYPES.contains(&ty)) => {
                let (name, path) = (name.to_owned(), path.clone());
                headers.push(ParameterHeader { name, path });
            }
            Some(_) => faults.push(format!(
                "`{place}`: its type is {}",
                ty.unwrap_or("not named")
            )),
            None => faults.push(format!("`{place}`: the annotation is no text")),
        }
    }
    for (name, value) in members {
        match (name.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    path.push(name.clone());
                    walk(property, path, is_reachable, headers, faults);
                    path.pop();
                }
            }
            // Values, in which the word means nothing.
            ("default" | "examples" | "enum" | "const" | ANNOTATION, _) => {}
            (_, value) => walk(value, path, false, headers, faults),
        }
    }
}

/// Returns whether a byte may stand in the name of a header.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
