//! The schema of a tool, in any dialect of JSON Schema, as one of 2020-12 that is a part of a larger file.
//!
//! A keyword that 2020-12 has in another form is translated; one that leaves a reader to guess is refused, with the reason.

use mcp_revisions_schema::pointer::{escaped, of_fragment, to_fragment, unescaped};
use mcp_revisions_schema::spec::canonical::{KeywordContent, holds};
use serde_json::{Map, Value, json};

/// A dialect of JSON Schema; the order is that of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SchemaDialect {
    Draft04,
    Draft06,
    Draft07,
    Draft2019,
    Draft2020,
}

use SchemaDialect::{Draft04, Draft06, Draft07, Draft2019, Draft2020};

/// The dialects by what stands between `json-schema.org/` and `/schema` in their URIs.
const DIALECTS: [(&str, SchemaDialect); 5] = [
    ("draft-04", Draft04),
    ("draft-06", Draft06),
    ("draft-07", Draft07),
    ("draft/2019-09", Draft2019),
    ("draft/2020-12", Draft2020),
];

/// Keywords, and the first dialect that has them: earlier ones ignore them.
const SINCE: [(&str, SchemaDialect); 16] = [
    ("const", Draft06),
    ("contains", Draft06),
    ("propertyNames", Draft06),
    ("if", Draft07),
    ("then", Draft07),
    ("else", Draft07),
    ("dependentRequired", Draft2019),
    ("dependentSchemas", Draft2019),
    ("maxContains", Draft2019),
    ("minContains", Draft2019),
    ("unevaluatedItems", Draft2019),
    ("unevaluatedProperties", Draft2019),
    ("$recursiveRef", Draft2019),
    ("$defs", Draft2019),
    ("$dynamicRef", Draft2020),
    ("prefixItems", Draft2020),
];

/// The places of a schema and its definitions in the larger file.
pub(super) struct SchemaHome<'h> {
    /// The JSON pointer of the schema.
    pub(super) pointer: &'h str,
    /// Returns the name there of a definition.
    pub(super) definition: &'h dyn Fn(&str) -> String,
}

/// A schema of 2020-12, and its definitions by their names in the larger file.
pub(super) type ModernSchema = (Value, Map<String, Value>);

/// Translates a schema to 2020-12. Fails with the part that cannot be judged, in words.
pub(super) fn modern(schema: &Value, home: &SchemaHome<'_>) -> Result<ModernSchema, String> {
    let root = schema.as_object();
    let own = root.and_then(|root| root.get("$schema"));
    let stated = own.map(dialect).transpose()?;
    let translation = Translation {
        root: schema,
        home,
        stated,
        id: root.and_then(|root| root.get("$id")?.as_str()),
    };
    let mut definitions = Map::new();
    for keyword in ["$defs", "definitions"] {
        let all = root.and_then(|root| root.get(keyword)?.as_object());
        for (name, definition) in all.into_iter().flatten() {
            let translated = translation.schema(definition, false)?;
            if definitions
                .insert((home.definition)(name), translated)
                .is_some()
            {
                return Err(format!("{name:?} stands in `$defs` and in `definitions`"));
            }
        }
    }
    Ok((translation.schema(schema, true)?, definitions))
}

fn dialect(uri: &Value) -> Result<SchemaDialect, String> {
    let text = uri.as_str().unwrap_or_default();
    let place = text.split_once("://").map_or(text, |(_, rest)| rest);
    let id = place
        .trim_end_matches('#')
        .strip_prefix("json-schema.org/")
        .and_then(|rest| rest.strip_suffix("/schema"));
    let known = DIALECTS.iter().find(|(name, _)| Some(*name) == id);
    known
        .map(|(_, dialect)| *dialect)
        .ok_or_else(|| format!("its dialect {uri} is not known"))
}

struct Translation<'s> {
    root: &'s Value,
    home: &'s SchemaHome<'s>,
    /// The dialect that the schema states; without one it is 2020-12, as MCP has it.
    stated: Option<SchemaDialect>,
    id: Option<&'s str>,
}

impl Translation<'_> {
    /// Returns whether the schema is of this dialect or of one before it.
    fn is_until(&self, dialect: SchemaDialect) -> bool {
        self.stated.is_some_and(|stated| stated <= dialect)
    }

    /// Recurses as deep as the schema is nested, which the reader of JSON limits.
    fn schema(&self, schema: &Value, is_root: bool) -> Result<Value, String> {
        let Value::Object(members) = schema else {
            return Ok(schema.clone());
        };
        if let Some(target) = members.get("$ref")
            && self.is_until(Draft07)
        {
            // These dialects ignore the keywords beside a reference.
            return Ok(json!({ "$ref": self.reference(target)? }));
        }
        let mut modern = Map::new();
        for (keyword, value) in members {
            let since = SINCE.iter().find(|(known, _)| known == keyword);
            let is_ignored =
                since.is_some_and(|(_, since)| self.stated.is_some_and(|it| it < *since));
            if is_ignored {
                continue;
            }
            match (keyword.as_str(), value) {
                ("$schema", _) if is_root => {}
                ("$schema", stated) if self.root.get("$schema") == Some(stated) => {}
                ("$schema", _) => return Err("a part of it states another dialect".to_owned()),
                ("$id", _) if is_root => {}
                ("id", Value::String(_)) if is_root => {}
                ("$id", _) => return Err("an `$id` within it changes what `$ref` leads to".to_owned()),
                ("id", Value::String(_)) if self.is_until(Draft04) => {
                    return Err("an `id` within it changes what `$ref` leads to".to_owned());
                }
                // No reference to them is followed.
                ("$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary", _) => {}
                ("$dynamicRef" | "$recursiveRef", _) => {
                    return Err(format!("what `{keyword}` leads to is known only when a value is read"));
                }
                ("$defs" | "definitions", _) if is_root => {}
                ("$ref", target) => _ = modern.insert(keyword.clone(), self.reference(target)?.into()),
                ("items", Value::Array(items)) => {
                    if self.stated == Some(Draft2020) {
                        return Err("`items` is a list, which 2020-12 does not have".to_owned());
                    }
                    let first: Result<Vec<Value>, String> =
                        items.iter().map(|item| self.schema(item, false)).collect();
                    if !items.is_empty() {
                        modern.insert("prefixItems".to_owned(), first?.into());
                    }
                    if let Some(rest) = members.get("additionalItems") {
                        modern.insert("items".to_owned(), self.schema(rest, false)?);
                    }
                }
                // It is about lists whose first items have schemas each.
                ("additionalItems", _) => {}
                ("dependencies", Value::Object(dependencies)) => match self.stated {
                    None => return Err("`dependencies` is obeyed by draft-07 and ignored by 2020-12: state `$schema`".to_owned()),
                    Some(Draft2019 | Draft2020) => {}
                    Some(_) => self.dependencies(dependencies, &mut modern)?,
                },
                ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => {
                    if self.stated.is_some_and(|stated| stated > Draft04) {
                        return Err(format!("`{keyword}` is a boolean, as in draft-04"));
                    }
                }
                ("minimum" | "maximum", bound) => {
                    let exclusive = match keyword.as_str() {
                        "minimum" => "exclusiveMinimum",
                        _ => "exclusiveMaximum",
                    };
                    let is_exclusive = members.get(exclusive) == Some(&Value::Bool(true));
                    let name = if is_exclusive { exclusive } else { keyword };
                    modern.insert(name.to_owned(), bound.clone());
                }
                ("required" | "enum" | "type", Value::Array(values)) => {
                    let mut once: Vec<Value> = Vec::new();
                    for value in values {
                        if !once.contains(value) {
                            once.push(value.clone());
                        }
                    }
                    // A list of nothing is required or not: it says nothing. An `enum` of nothing admits nothing.
                    if !once.is_empty() || keyword == "enum" {
                        modern.insert(keyword.clone(), once.into());
                    }
                }
                (name, value) => _ = modern.insert(keyword.clone(), self.content(name, value)?),
            }
        }
        Ok(modern.into())
    }

    /// Returns the value of a keyword, with the schemas in it translated.
    fn content(&self, keyword: &str, value: &Value) -> Result<Value, String> {
        match (holds(keyword), value) {
            (KeywordContent::Schema, schema) => self.schema(schema, false),
            (KeywordContent::Named, Value::Object(named)) => {
                let each = |(name, schema): (&String, &Value)| {
                    Ok((name.clone(), self.schema(schema, false)?))
                };
                let all: Result<Map<_, _>, String> = named.iter().map(each).collect();
                all.map(Value::Object)
            }
            (KeywordContent::List, Value::Array(list)) => {
                let all = list.iter().map(|schema| self.schema(schema, false));
                Ok(all.collect::<Result<Vec<_>, _>>()?.into())
            }
            _ => Ok(value.clone()),
        }
    }

    /// Writes `dependencies` as the two keywords that took its place.
    fn dependencies(
        &self,
        dependencies: &Map<String, Value>,
        modern: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let (mut required, mut schemas) = (Map::new(), Map::new());
        for (name, value) in dependencies {
            match value {
                Value::Array(_) => required.insert(name.clone(), value.clone()),
                Value::String(other) => required.insert(name.clone(), json!([other])),
                schema => schemas.insert(name.clone(), self.schema(schema, false)?),
            };
        }
        for (keyword, named) in [
            ("dependentRequired", required),
            ("dependentSchemas", schemas),
        ] {
            if !named.is_empty() {
                modern.insert(keyword.to_owned(), named.into());
            }
        }
        Ok(())
    }

    /// Returns a reference as it is in the larger file.
    fn reference(&self, target: &Value) -> Result<String, String> {
        let text = target.as_str().unwrap_or_default();
        let shown = || format!("`$ref` {target}");
        let within = match (text.strip_prefix('#'), self.id) {
            (Some(within), _) => within,
            (None, Some(id)) => {
                let own = text.strip_prefix(id.trim_end_matches('#'));
                let within =
                    own.and_then(|rest| rest.strip_prefix('#').or(rest.is_empty().then_some("")));
                within.ok_or_else(|| format!("{} leads to another file", shown()))?
            }
            _ => return Err(format!("{} leads to another file", shown())),
        };
        let pointer = of_fragment(within).unwrap_or_default();
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(format!("{} leads to an anchor", shown()));
        }
        if self.root.pointer(&pointer).is_none() {
            return Err(format!("{} leads to nothing", shown()));
        }
        let mut parts = pointer.splitn(4, '/').skip(1);
        let own = match (parts.next(), parts.next()) {
            (Some("$defs" | "definitions"), Some(name)) => {
                let name = (self.home.definition)(&unescaped(name));
                let rest = parts.next().map(|rest| format!("/{rest}"));
                format!("/$defs/{}{}", escaped(&name), rest.unwrap_or_default())
            }
            _ => format!("{}{pointer}", self.home.pointer),
        };
        Ok(format!("#{}", to_fragment(&own)))
    }
}
