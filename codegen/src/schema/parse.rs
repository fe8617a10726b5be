//! Reads schema nodes from JSON, refusing what is not understood.

use crate::pointer;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Additional, Constraints, JsonType, Node, Schema, schema_error};
use crate::Error;

/// Keywords that limit a value without changing its Rust type.
const CONSTRAINTS: &[&str] = &[
    "default",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "propertyNames",
    "uniqueItems",
];

impl Schema {
    /// Reads a schema in canonical form; `file` is named in errors.
    ///
    /// # Errors
    /// [`Error::Schema`] with the JSON pointer of a keyword that is unknown or malformed.
    pub fn parse(schema: &Value, file: &str) -> Result<Self, Error> {
        let parser = Parser { file };
        let root = parser.object(schema, "")?;
        for key in root.keys() {
            if !matches!(key.as_str(), "$schema" | "$defs" | "$id") {
                return Err(parser.unknown_keyword(key, "", "`$schema` and `$defs`"));
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
        let schema = Self {
            file: file.into(),
            definitions,
        };
        schema.check_references()?;
        Ok(schema)
    }

    /// Every `$ref` must name a definition.
    fn check_references(&self) -> Result<(), Error> {
        let mut open: Vec<&Node> = self.definitions.values().collect();
        while let Some(node) = open.pop() {
            if let Some(target) = &node.reference
                && !self.definitions.contains_key(target)
            {
                return Err(schema_error(
                    &self.file,
                    &format!("{}/$ref", node.pointer),
                    "the name of a definition under `$defs`",
                    &format!("`{target}`, which is not defined"),
                    "add the definition, or mend the reference with an erratum",
                ));
            }
            open.extend(node.properties.values());
            open.extend(node.items.as_deref());
            open.extend(&node.any_of);
            open.extend(&node.all_of);
            if let Additional::Schema(inner) = &node.additional {
                open.push(inner);
            }
        }
        Ok(())
    }
}

struct Parser<'a> {
    file: &'a str,
}

impl Parser<'_> {
    fn node(&self, value: &Value, pointer: String) -> Result<Node, Error> {
        let mut node = Node {
            pointer,
            ..Node::default()
        };
        if let Value::Bool(allowed) = value {
            if *allowed {
                return Ok(node);
            }
            return Err(self.error(&node.pointer, "a schema object", "`false`"));
        }
        for (key, value) in self.object(value, &node.pointer)? {
            let at = format!("{}/{}", node.pointer, pointer::escaped(key));
            match key.as_str() {
                "$ref" => node.reference = Some(self.reference(value, &at)?),
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
                "anyOf" | "oneOf" => node.any_of = self.nodes(value, &at)?,
                "allOf" => node.all_of = self.nodes(value, &at)?,
                "deprecated" => node.deprecated = *value == Value::Bool(true),
                name if CONSTRAINTS.contains(&name) => {
                    node.constraints.values.insert(key.clone(), value.clone());
                }
                _ => {
                    let known = "a keyword that the generator understands";
                    return Err(self.unknown_keyword(key, &node.pointer, known));
                }
            }
        }
        self.check_company(&node)?;
        Ok(node)
    }

    /// Refuses keywords beside each other of which one would be passed over in silence.
    fn check_company(&self, node: &Node) -> Result<(), Error> {
        let refuse = |expected: &str, found: &str| Err(self.error(&node.pointer, expected, found));
        let alone = |node: &Node| Node {
            pointer: String::new(),
            constraints: Constraints::default(),
            deprecated: false,
            ..node.clone()
        };
        if node.reference.is_some() {
            let rest = Node {
                reference: None,
                ..alone(node)
            };
            if !rest.is_any() {
                return refuse(
                    "`$ref` alone, or joined with other keywords through `allOf`",
                    "`$ref` beside keywords that say more",
                );
            }
        }
        if !node.any_of.is_empty() {
            let rest = Node {
                any_of: Vec::new(),
                ..alone(node)
            };
            if !rest.is_any() {
                return refuse(
                    "`anyOf` or `oneOf` alone: what all its schemas share written into each of them",
                    "`anyOf` or `oneOf` beside keywords that say more",
                );
            }
        }
        let kinds: Vec<JsonType> = (node.types.iter().copied())
            .filter(|ty| *ty != JsonType::Null)
            .collect();
        let of_objects = !node.properties.is_empty()
            || !node.required.is_empty()
            || node.additional != Additional::Any;
        if of_objects && !node.types.is_empty() && kinds != [JsonType::Object] {
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
        Ok(())
    }

    fn nodes(&self, value: &Value, at: &str) -> Result<Vec<Node>, Error> {
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

    fn reference(&self, value: &Value, at: &str) -> Result<String, Error> {
        value
            .as_str()
            // A reference is a URI: `Record<string>` is spelled `Record%3Cstring%3E` in it.
            .and_then(pointer::of_fragment)
            .and_then(|text| {
                let name = text.strip_prefix("#/$defs/")?;
                Some(pointer::unescaped(name))
            })
            .ok_or_else(|| self.error(at, "a reference `#/$defs/NAME`", &value.to_string()))
    }

    fn types(&self, value: &Value, at: &str) -> Result<Vec<JsonType>, Error> {
        let one = |value: &Value| {
            value
                .as_str()
                .and_then(JsonType::from_name)
                .ok_or_else(|| self.error(at, "a JSON type name", &value.to_string()))
        };
        match value {
            Value::Array(names) if names.is_empty() => {
                Err(self.error(at, "at least one JSON type name", "an empty array"))
            }
            Value::Array(names) => names.iter().map(one).collect(),
            name => Ok(vec![one(name)?]),
        }
    }

    fn additional(&self, value: &Value, at: String) -> Result<Additional, Error> {
        Ok(match value {
            Value::Bool(false) => Additional::Forbidden,
            value => match self.node(value, at)? {
                node if node.is_any() => Additional::Any,
                node => Additional::Schema(Box::new(node)),
            },
        })
    }

    fn names(&self, value: &Value, at: &str) -> Result<BTreeSet<String>, Error> {
        self.array(value, at)?
            .iter()
            .map(|name| match name {
                Value::String(name) => Ok(name.clone()),
                other => Err(self.error(at, "member names", &other.to_string())),
            })
            .collect()
    }

    fn object<'v>(&self, value: &'v Value, at: &str) -> Result<&'v Map<String, Value>, Error> {
        value
            .as_object()
            .ok_or_else(|| self.error(at, "a JSON object", kind_of(value)))
    }

    fn array<'v>(&self, value: &'v Value, at: &str) -> Result<&'v Vec<Value>, Error> {
        value
            .as_array()
            .ok_or_else(|| self.error(at, "a JSON array", kind_of(value)))
    }

    fn unknown_keyword(&self, key: &str, at: &str, expected: &str) -> Error {
        schema_error(
            self.file,
            &format!("{at}/{}", pointer::escaped(key)),
            expected,
            &format!("the keyword `{key}`"),
            "teach codegen/src/schema/parse.rs what it means, or remove it with an erratum",
        )
    }

    fn error(&self, at: &str, expected: &str, found: &str) -> Error {
        schema_error(
            self.file,
            at,
            expected,
            found,
            "mend the schema, or replace the value with an erratum",
        )
    }
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
