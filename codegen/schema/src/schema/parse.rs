//! Reads schema nodes from JSON, and keeps apart what is not understood.

use crate::pointer;
use crate::sorted::{SortedMap, SortedSet};

use serde_json::{Map, Value, json};

use super::{Additional, JsonType, Schema, SchemaNode, Unsupported, applied};
use crate::Error;

/// The expectation for a keyword that is none of these.
pub const KNOWN: &str = "a keyword that the generator understands";

/// Returns whether a keyword is of a vendor, and says nothing to anybody else.
pub(crate) fn is_of_vendor(keyword: &str) -> bool {
    keyword.starts_with("x-")
}

impl Schema {
    /// Reads a schema in canonical form; `file` is named in errors. Fails for a keyword that is malformed, or refers to what is
    /// not there, with its JSON pointer.
    pub fn parse(schema: &Value, file: &str) -> Result<Self, Error> {
        let mut parser = SchemaParser {
            file,
            root: schema,
            unknown: SortedMap::new(),
        };
        let root = parser.object(schema, "")?;
        for (key, value) in root {
            if !matches!(key.as_str(), "$schema" | "$defs" | "$id") {
                let at = format!("/{}", pointer::escaped(key));
                parser.unknown.insert(at, value.clone());
            }
        }
        let definitions = match root.get("$defs") {
            Some(definitions) => parser.object(definitions, "/$defs")?,
            None => return Err(parser.error("", "`$defs` with the definitions", "none")),
        };
        let definitions = definitions
            .iter()
            .map(|(name, node)| {
                let pointer = format!("/$defs/{}", pointer::escaped(name));
                Ok((name.clone(), parser.node(node, pointer)?))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            file: file.into(),
            root: schema.clone(),
            definitions,
            unknown: parser.unknown,
        })
    }
}

/// Reads a schema that stands within a keyword whose value a [`SchemaNode`] keeps as it is; `root` is the whole file.
pub fn subschema(
    root: &Value,
    file: &str,
    value: &Value,
    pointer: String,
) -> Result<SchemaNode, Error> {
    let unknown = SortedMap::new();
    let mut parser = SchemaParser {
        file,
        root,
        unknown,
    };
    parser.node(value, pointer)
}

impl SchemaNode {
    /// Keeps a keyword that a type cannot say as it stands; the first one says what keeps the node from being a type.
    fn unsaid(&mut self, keyword: &str, value: &Value, at: String, expected: &str, found: &str) {
        self.unsaid.insert(keyword.to_owned(), value.clone());
        self.unsupported.get_or_insert_with(|| {
            Box::new(Unsupported {
                pointer: at,
                ..Unsupported::new(&Self::default(), expected, found)
            })
        });
    }
}

struct SchemaParser<'a> {
    file: &'a str,
    root: &'a Value,
    /// Unknown keywords.
    unknown: SortedMap<String, Value>,
}

impl SchemaParser<'_> {
    fn node(&mut self, value: &Value, pointer: String) -> Result<SchemaNode, Error> {
        let mut node = SchemaNode {
            pointer,
            ..SchemaNode::default()
        };
        if let Value::Bool(allowed) = value {
            if *allowed {
                return Ok(node);
            }
            // No value meets what is not anything.
            let at = node.pointer.clone();
            node.unsaid("not", &json!({}), at, "a schema object", "`false`");
            return Ok(node);
        }
        let members = self.object(value, &node.pointer)?;
        for (key, value) in members {
            let at = format!("{}/{}", node.pointer, pointer::escaped(key));
            match key.as_str() {
                "$ref" => {
                    node.reference = self.reference(value, &at)?;
                    if node.reference.is_none() {
                        let expected = "the name of a definition under `$defs`";
                        let found = format!("{value}, which is something else");
                        node.unsaid(key, value, at, expected, &found);
                    }
                }
                "type" => node.types = self.types(value, &at)?,
                "const" => node.constant = Some(value.clone()),
                "enum" => node.choices = Some(self.array(value, &at)?.clone()),
                "properties" => {
                    for (name, property) in self.object(value, &at)? {
                        let property =
                            self.node(property, format!("{at}/{}", pointer::escaped(name)))?;
                        node.properties.insert(name.clone(), property);
                    }
                }
                "required" => node.required = self.names(value, &at)?,
                "additionalProperties" => node.additional = self.additional(value, at)?,
                "items" => node.items = Some(Box::new(self.node(value, at)?)),
                "anyOf" | "oneOf" if node.any_of.is_empty() => {
                    if key == "oneOf" {
                        node.unsaid.insert(key.clone(), Value::Bool(true));
                    }
                    node.any_of = self.nodes(value, &at)?;
                }
                // Both keywords at once: the other one holds besides.
                "anyOf" | "oneOf" => {
                    node.unsaid.remove("oneOf");
                    let (both, found) = (json!([{ key: value }]), "`oneOf` beside `anyOf`");
                    node.unsaid("allOf", &both, at, "one of the two", found);
                }
                // Definitions have no effect where they stand: references lead to them.
                "$defs" => {}
                "allOf" => node.all_of = self.nodes(value, &at)?,
                "deprecated" => node.deprecated = *value == Value::Bool(true),
                "prefixItems" if members.contains_key("items") => {
                    let found = "`items` for those that it does not list";
                    node.unsaid(key, value, at, "one schema for all items", found);
                }
                "patternProperties" if members.contains_key("additionalProperties") => {
                    let expected = "one schema for all further members";
                    let found = "`additionalProperties` for those that it does not match";
                    node.unsaid(key, value, at, expected, found);
                }
                // Keywords that limit a value, or say what it is for, without changing its Rust type.
                name if applied::is_understood(name) => {
                    node.constraints.values.insert(key.clone(), value.clone());
                }
                name if applied::DYNAMIC.contains(&name) => {
                    node.unsaid(key, value, at, KNOWN, &format!("the keyword `{key}`"));
                }
                _ => {
                    if !is_of_vendor(key) {
                        node.unsaid.insert(key.clone(), value.clone());
                    }
                    self.unknown.insert(at, value.clone());
                }
            }
        }
        if node.unsupported.is_none() {
            node.unsupported = company(&node).map(Box::new);
        }
        Ok(node)
    }

    fn nodes(&mut self, value: &Value, at: &str) -> Result<Vec<SchemaNode>, Error> {
        let nodes = self.array(value, at)?;
        if nodes.is_empty() {
            return Err(self.error(at, "at least one schema", "an empty array"));
        }
        nodes
            .iter()
            .enumerate()
            .map(|(index, node)| self.node(node, format!("{at}/{index}")))
            .collect()
    }

    /// Returns the name of the definition that is referred to; `None` for another place of the schema.
    fn reference(&self, value: &Value, at: &str) -> Result<Option<String>, Error> {
        // A reference is a URI: `Record<string>` is spelled `Record%3Cstring%3E` in it.
        let target = value.as_str().and_then(pointer::of_fragment);
        let Some(target) = target.as_deref().and_then(|text| text.strip_prefix('#')) else {
            return Err(self.error(at, "a reference `#/$defs/NAME`", &value.to_string()));
        };
        let name = target.strip_prefix("/$defs/").map(pointer::unescaped);
        match name.filter(|name| self.root["$defs"].get(&**name).is_some()) {
            Some(name) => Ok(Some(name.into_owned())),
            None if self.root.pointer(target).is_some() => Ok(None),
            None => {
                let expected = "the name of a definition under `$defs`";
                let found = format!("`{target}`, which is not defined");
                let help = "add the definition, or mend the reference with an erratum";
                Err(Error::schema(self.file, at, expected, found, help))
            }
        }
    }

    fn types(&self, value: &Value, at: &str) -> Result<Vec<JsonType>, Error> {
        let one = |value: &Value| {
            let name = value.as_str().and_then(JsonType::from_name);
            name.ok_or_else(|| self.error(at, "a JSON type name", &value.to_string()))
        };
        match value {
            Value::Array(names) if names.is_empty() => {
                Err(self.error(at, "at least one JSON type name", "an empty array"))
            }
            Value::Array(names) => names.iter().map(one).collect(),
            name => Ok(vec![one(name)?]),
        }
    }

    fn additional(&mut self, value: &Value, at: String) -> Result<Additional, Error> {
        Ok(match value {
            Value::Bool(false) => Additional::Forbidden,
            value => match self.node(value, at)? {
                // Any JSON within limits is not any JSON.
                node if node.is_any() && node.constraints.is_empty() && node.unsaid.is_empty() => {
                    Additional::Any
                }
                node => Additional::Schema(Box::new(node)),
            },
        })
    }

    fn names(&self, value: &Value, at: &str) -> Result<SortedSet<String>, Error> {
        self.array(value, at)?
            .iter()
            .map(|name| match name {
                Value::String(name) => Ok(name.clone()),
                other => Err(self.error(at, "member names", &other.to_string())),
            })
            .collect()
    }

    fn object<'v>(&self, value: &'v Value, at: &str) -> Result<&'v Map<String, Value>, Error> {
        (value.as_object()).ok_or_else(|| self.error(at, "a JSON object", kind_of(value)))
    }

    fn array<'v>(&self, value: &'v Value, at: &str) -> Result<&'v Vec<Value>, Error> {
        (value.as_array()).ok_or_else(|| self.error(at, "a JSON array", kind_of(value)))
    }

    fn error(&self, at: &str, expected: &str, found: &str) -> Error {
        let help = "mend the schema, or replace the value with an erratum";
        Error::schema(self.file, at, expected, found, help)
    }
}

/// Keywords beside each other of which one would be passed over in silence.
fn company(node: &SchemaNode) -> Option<Unsupported> {
    let refuse = |expected: &str, found: &str| Some(Unsupported::new(node, expected, found));
    if node.reference.is_some() && node.says_more_than(|rest| rest.reference = None) {
        return refuse(
            "`$ref` alone, or joined with other keywords through `allOf`",
            "`$ref` beside keywords that say more",
        );
    }
    if !node.any_of.is_empty() && node.says_more_than(|rest| rest.any_of.clear()) {
        return refuse(
            "`anyOf` or `oneOf` alone: what all its schemas share written into each of them",
            "`anyOf` or `oneOf` beside keywords that say more",
        );
    }
    let kinds: Vec<JsonType> = (node.types.iter().copied())
        .filter(|ty| *ty != JsonType::Null)
        .collect();
    if node.has_members() && !node.types.is_empty() && kinds != [JsonType::Object] {
        return refuse(
            "`properties`, `required` and `additionalProperties` beside `type: object` alone",
            &format!("them beside {:?}", node.types),
        );
    }
    if node.items.is_some() && kinds != [JsonType::Array] {
        return refuse(
            "`items` beside `type: array` alone",
            &format!("it beside {:?}", node.types),
        );
    }
    if let Some(value) = &node.constant
        && !node.types.is_empty()
        && !node.types.iter().any(|ty| ty.admits(value))
    {
        return refuse(
            &format!("a `const` of {:?}", node.types),
            &value.to_string(),
        );
    }
    None
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
