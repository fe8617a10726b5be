//! The canonical form of a schema: the wire facts and nothing else, so that a diff of two files shows wire changes alone.
//!
//! Prose goes (`description`, `title`, `examples`, `$comment` where they are annotations, not where they name members),
//! keys are sorted, and so are the lists whose order says nothing (`required`, `enum`, a list-valued `type`);
//! `definitions` becomes `$defs`, choices that are fixed strings become `enum`; the dialect is 2020-12.
//! Two spellings become one: an `enum` of one value is `const`, and a `oneOf` whose choices exclude each other `anyOf`.
//! A keyword that would change its meaning on the way from one dialect to the other is an error: it is never translated by guess.
//! Keywords without effect that other generators of schemas write are left out: see `restated`.
//! Keywords unknown here are kept as they are: which keywords a schema may use is decided where the schema is loaded.

use serde_json::{Map, Value};

use super::json::shown;
use crate::{Error, pointer};

mod choices;
mod exclusive;
mod reference;
mod restated;
mod root;
mod text;

pub use text::to_text;

/// The dialect that a canonical schema states.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Nesting beyond this is refused; real schemas stay below 20. The same limit as serde_json's parser.
const MAX_DEPTH: usize = 128;

/// The cure where nothing more can be said.
const MEND: &str = "mend the file itself: an erratum changes a schema, and this is none yet";

/// Keywords that mean nothing in draft-07 and something in 2020-12.
const NEW_IN_2020: [&str; 11] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$vocabulary",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Returns the definitions of a canonical schema, by name.
pub fn definitions(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = schema.get("$defs").and_then(Value::as_object);
    (all.into_iter().flatten()).map(|(name, definition)| (name.as_str(), definition))
}

/// Returns one of them.
pub fn definition<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("$defs")?.get(name)
}

/// Reads the text of a schema into canonical form.
pub fn of_text(file: &str, text: &str) -> Result<Value, Error> {
    canonicalize(&super::json::parse(file, text)?, file)
}

/// Reads the text of a schema of an extension, whose references may lead nowhere: errata can mend them. Returns an error for a
/// text that is not JSON, and for parts that cannot be carried over.
pub fn of_text_with_dangling(file: &str, text: &str) -> Result<Value, Error> {
    let (canonical, _) = with_dangling(&super::json::parse(file, text)?, file)?;
    Ok(canonical)
}

/// Returns the references of a canonical schema that lead nowhere.
pub(super) fn dangling_references(canonical: &Value) -> Vec<DanglingReference> {
    let again = with_dangling(canonical, "");
    again.map_or_else(|_| Vec::new(), |(_, dangling)| dangling)
}

/// Brings a schema into canonical form that may have the dangling references of another one, and no others.
pub(super) fn canonicalize_as(schema: &Value, like: &Value, file: &str) -> Result<Value, Error> {
    let (canonical, mut dangling) = with_dangling(schema, file)?;
    if !dangling.is_empty() {
        let known = dangling_references(like);
        dangling.retain(|(_, target)| known.iter().all(|(_, other)| other != target));
    }
    refuse_dangling(&dangling, file)?;
    Ok(canonical)
}

/// Brings an upstream schema into canonical form; `file` is the name that errors print.
///
/// Canonical in, the same out. The error is the first thing that cannot be carried over, with its JSON pointer in the upstream
/// document.
pub fn canonicalize(upstream: &Value, file: &str) -> Result<Value, Error> {
    let (canonical, dangling) = with_dangling(upstream, file)?;
    refuse_dangling(&dangling, file)?;
    Ok(canonical)
}

/// A reference that leads nowhere: the place of its `$ref`, and its fragment.
pub type DanglingReference = (String, String);

/// Refuses the first of some references that lead nowhere.
pub fn refuse_dangling(dangling: &[DanglingReference], file: &str) -> Result<(), Error> {
    let Some((pointer, target)) = dangling.first() else {
        return Ok(());
    };
    let expected = "a reference to something in this file";
    let found = format!("`#{target}`, which is not there");
    let help = "add what it refers to, or mend the name: was a definition renamed or dropped?";
    Err(Error::schema(file, pointer, expected, found, help))
}

/// Brings a schema into canonical form as [`canonicalize`] does, and returns the references that lead nowhere beside it.
pub fn with_dangling(
    upstream: &Value,
    file: &str,
) -> Result<(Value, Vec<DanglingReference>), Error> {
    let wrong = |at: &str, expected: &str, found: &str, help: &str| {
        Error::schema(file, at, expected, found, help_or_mend(help))
    };
    if deeper_than(upstream, MAX_DEPTH) {
        let expected = format!("at most {MAX_DEPTH} levels of nesting");
        return Err(wrong("", &expected, "more", ""));
    }
    let Value::Object(root) = upstream else {
        let expected = "a JSON Schema: an object at the top";
        return Err(wrong("", expected, &shown(upstream), ""));
    };
    let defined = ["$defs", "definitions"]
        .iter()
        .filter_map(|key| root.get(*key)?.as_object());
    if defined.map(Map::len).sum::<usize>() == 0 && !root::is_type(root) {
        let expected = "definitions under `$defs` or `definitions`";
        let help = "is this the schema.json of a revision?";
        return Err(wrong("", expected, "none", help));
    }
    let stated = root.get("$schema");
    let dialect = match stated.map(|stated| stated.as_str().unwrap_or_default()) {
        Some(
            "http://json-schema.org/draft-07/schema#" | "http://json-schema.org/draft-07/schema",
        ) => Dialect::Draft07,
        Some(DIALECT) => Dialect::Draft2020,
        _ => {
            let expected = format!("\"{DIALECT}\" or \"http://json-schema.org/draft-07/schema#\"");
            let help = "a new dialect needs a look at which keywords change their meaning: codegen/schema/src/spec/canonical/mod.rs";
            let found = stated.map_or_else(|| "nothing".to_owned(), shown);
            return Err(wrong("/$schema", &expected, &found, help));
        }
    };
    let mut walk = CanonicalWalk {
        file,
        dialect,
        pointer: String::new(),
        refs: Vec::new(),
        states_again: false,
        has_one_of: false,
    };
    let mut canonical = walk.schema(upstream)?;
    if walk.states_again {
        restated::by_name(&mut canonical);
    }
    if walk.has_one_of {
        exclusive::respelled(&mut canonical);
    }
    let mut refs = walk.refs;
    let title = root.get("title").and_then(Value::as_str);
    root::named(&mut canonical, &mut refs, title);
    if let Value::Object(root) = &mut canonical {
        root.insert("$schema".into(), DIALECT.into());
    }
    refs.retain(|(_, target)| !reference::resolves(&canonical, target));
    Ok((canonical, refs))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Draft07,
    Draft2020,
}

/// The kind of value below a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordContent {
    /// A schema.
    Schema,
    /// An object whose keys are names and whose values are schemas.
    Named,
    /// A list of schemas.
    List,
    /// Plain JSON.
    Data,
}

/// Returns the kind of value below a keyword of 2020-12, and below `definitions`.
pub fn holds(keyword: &str) -> KeywordContent {
    match keyword {
        "$defs" | "definitions" | "properties" | "patternProperties" | "dependentSchemas" => {
            KeywordContent::Named
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => KeywordContent::List,
        "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => KeywordContent::Schema,
        _ => KeywordContent::Data,
    }
}

/// One pass over a schema, with the place it is at.
struct CanonicalWalk<'a> {
    file: &'a str,
    dialect: Dialect,
    pointer: String,
    /// The place of each `$ref`, and its rewritten pointer, still percent-encoded.
    refs: Vec<(String, String)>,
    /// Set if a definition states the dialect by itself, as generators of schemas do that write each one alone.
    states_again: bool,
    /// Set if `oneOf` names a member anywhere: most schemas have none, and to look for it again costs a tenth of the reading.
    has_one_of: bool,
}

impl CanonicalWalk<'_> {
    fn wrong(&self, expected: &str, found: &Value, help: &str) -> Error {
        let (at, found) = (&self.pointer, shown(found));
        Error::schema(self.file, at, expected, found, help_or_mend(help))
    }

    /// Run `inner` one step further down.
    fn below<T>(
        &mut self,
        segment: &str,
        inner: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&pointer::escaped(segment));
        let done = inner(self)?;
        self.pointer.truncate(length);
        Ok(done)
    }

    fn schema(&mut self, schema: &Value) -> Result<Value, Error> {
        let members = match schema {
            Value::Bool(_) => return Ok(schema.clone()),
            Value::Object(members) => members,
            other => return Err(self.wrong("a schema: an object, true or false", other, "")),
        };
        let mut canonical = Map::new();
        for (keyword, value) in sorted(members) {
            let Some(value) = self.below(keyword, |walk| walk.keyword(keyword, value, members))?
            else {
                continue;
            };
            let keyword = match keyword.as_str() {
                "definitions" => "$defs",
                other => other,
            };
            match (canonical.get_mut(keyword), value) {
                // `$defs` comes before `definitions`, so the second of the two finds the first.
                (Some(Value::Object(defs)), Value::Object(more)) => {
                    for (name, definition) in more {
                        if defs.insert(name.clone(), definition).is_some() {
                            let help = "it stands in `$defs` and in `definitions`";
                            return Err(self.wrong("each definition once", &name.into(), help));
                        }
                    }
                }
                (_, value) => {
                    canonical.insert(keyword.to_owned(), value);
                }
            }
        }
        choices::joined(&mut canonical);
        choices::only(&mut canonical);
        Ok(canonical.into())
    }

    /// Returns the canonical value of a keyword; `None` for prose.
    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        siblings: &Map<String, Value>,
    ) -> Result<Option<Value>, Error> {
        self.refuse_ambiguous(keyword, value, siblings)?;
        match keyword {
            _ if is_prose(keyword) => {
                let (fits, expected) = match keyword {
                    "examples" => (value.is_array(), "a list"),
                    _ => (value.is_string(), "text"),
                };
                let help = "a member of that name belongs under `properties`";
                return if fits {
                    Ok(None)
                } else {
                    Err(self.wrong(expected, value, help))
                };
            }
            "$schema" if self.pointer.matches('/').count() > 1 => {
                self.states_again = true;
                return Ok(None);
            }
            "propertyNames" if restated::is_any_name(value) => return Ok(None),
            "additionalProperties" if restated::is_nothing(value) => return Ok(Some(false.into())),
            "$ref" => return self.reference(value).map(Some),
            "required" => return self.set(value, true).map(Some),
            "enum" => return self.set(value, false).map(Some),
            "type" if !value.is_string() => return self.set(value, true).map(Some),
            _ => {}
        }
        self.has_one_of |= keyword == "oneOf";
        match (holds(keyword), value) {
            (KeywordContent::Data, _) => {
                self.has_one_of |= exclusive::has_one_of(value);
                Ok(Some(sorted_deep(value)))
            }
            (KeywordContent::Schema, _) => self.schema(value).map(Some),
            (KeywordContent::Named, Value::Object(named)) => {
                let mut canonical = Map::new();
                for (name, schema) in sorted(named) {
                    canonical.insert(name.clone(), self.below(name, |walk| walk.schema(schema))?);
                }
                Ok(Some(canonical.into()))
            }
            (KeywordContent::Named, _) => Err(self.wrong("an object of schemas", value, "")),
            (KeywordContent::List, Value::Array(list)) if !list.is_empty() => {
                let mut canonical = Vec::with_capacity(list.len());
                for (index, schema) in list.iter().enumerate() {
                    canonical.push(self.below(&index.to_string(), |walk| walk.schema(schema))?);
                }
                Ok(Some(canonical.into()))
            }
            (KeywordContent::List, _) => Err(self.wrong("a list of schemas, not empty", value, "")),
        }
    }

    /// Fail on what means one thing in draft-07 and another in 2020-12.
    fn refuse_ambiguous(
        &self,
        keyword: &str,
        value: &Value,
        siblings: &Map<String, Value>,
    ) -> Result<(), Error> {
        let old = self.dialect == Dialect::Draft07;
        let nested = || self.pointer.matches('/').count() > 1;
        let no;
        let (expected, help) = match keyword {
            "items" if value.is_array() => (
                "one schema for all items",
                "state a tuple by `prefixItems`, in dialect 2020-12",
            ),
            "additionalItems" | "dependencies" => {
                no = format!("no `{keyword}`");
                (no.as_str(), "draft-07 obeys it and 2020-12 ignores it")
            }
            _ if old && NEW_IN_2020.contains(&keyword) => {
                no = format!("no `{keyword}`");
                (no.as_str(), "draft-07 ignores it and 2020-12 obeys it")
            }
            "exclusiveMinimum" | "exclusiveMaximum" if !value.is_number() => {
                ("a number", "true and false are draft-04")
            }
            "$schema" if nested() && value.as_str() != Some(DIALECT) => {
                ("the dialect of the whole file", "")
            }
            "$id" if nested() || value.as_str().is_none_or(|id| id.contains('#')) => (
                "no `$id` but one without fragment at the top",
                "it changes what `$ref` refers to",
            ),
            "$ref" if old => {
                let mut members = sorted(siblings).into_iter();
                // Keywords about the file, such as `$schema`, do not belong to the type of its root.
                let of_the_file = ["$id", "$schema", "definitions"];
                let is_beside = |key: &str| {
                    !is_prose(key) && key != "$ref" && (nested() || !of_the_file.contains(&key))
                };
                let Some((sibling, _)) = members.find(|(key, _)| is_beside(key)) else {
                    return Ok(());
                };
                let found = Value::from(format!("`$ref` beside `{sibling}`"));
                let help = "draft-07 ignores what stands beside `$ref` and 2020-12 obeys it";
                return Err(self.wrong("`$ref` alone", &found, help));
            }
            _ => return Ok(()),
        };
        Err(self.wrong(expected, value, help))
    }

    /// `#/definitions/X` becomes `#/$defs/X`; only whole positions are renamed, never a member called `definitions`.
    fn reference(&mut self, value: &Value) -> Result<Value, Error> {
        let Some(target) = value.as_str().and_then(|text| text.strip_prefix('#')) else {
            return Err(self.wrong("a reference within this file: `#/$defs/Name`", value, ""));
        };
        if !target.is_empty() && !target.starts_with('/') {
            return Err(self.wrong("a reference by JSON pointer: `#/$defs/Name`", value, ""));
        }
        let rewritten = reference::rewritten(target);
        self.refs.push((self.pointer.clone(), rewritten.clone()));
        Ok(format!("#{rewritten}").into())
    }

    /// Returns a list whose order says nothing: sorted by the JSON text of its items.
    fn set(&self, value: &Value, of_text: bool) -> Result<Value, Error> {
        let Value::Array(list) = value else {
            return Err(self.wrong("a list", value, ""));
        };
        if of_text && let Some(item) = list.iter().find(|item| !item.is_string()) {
            return Err(self.wrong("a list of text", item, ""));
        }
        let mut items: Vec<Value> = list.iter().map(sorted_deep).collect();
        items.sort_by_cached_key(Value::to_string);
        if let Some(pair) = items.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(self.wrong("each item once", &pair[0], "it is there twice"));
        }
        Ok(items.into())
    }
}

fn help_or_mend(help: &str) -> &str {
    if help.is_empty() { MEND } else { help }
}

/// Returns whether a keyword has words for people, which admit and refuse nothing.
pub fn is_prose(keyword: &str) -> bool {
    matches!(keyword, "$comment" | "description" | "examples" | "title")
}

fn sorted(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by_key(|member| member.0);
    members
}

fn sorted_deep(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(sorted_deep).collect(),
        Value::Object(map) => sorted(map)
            .into_iter()
            .map(|(key, member)| (key.clone(), sorted_deep(member)))
            .collect(),
        scalar => scalar.clone(),
    }
}

/// Without recursion, since it is asked before recursion is known to be safe.
fn deeper_than(value: &Value, limit: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(list) => open.extend(list.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|member| (member, depth + 1))),
            _ => {}
        }
    }
    false
}
