//! The shared part of an extension and its revision: definitions that it repeats, and those that errata name.

use serde_json::Value;

use super::super::canonical::{definition, definitions};
use super::super::{Erratum, Revision};
use crate::pointer::{of_fragment, unescaped};
use crate::sorted::{SortedMap, SortedSet};

/// Returns the schema of an extension on its revision: a definition that repeats one of the revision is that one, with its
/// errata.
fn on(raw: &Value, base: &Revision) -> Value {
    let mut schema = raw.clone();
    let repeated: SortedMap<String, Value> = (copied(raw, base))
        .filter(|(_, copy, original)| copy == original)
        .filter_map(|(name, ..)| Some((name.to_owned(), base.definition(name)?.clone())))
        .collect();
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        definitions.extend(repeated);
    }
    schema
}

/// Returns the same with what errata name of the revision.
pub fn on_for<'e>(
    raw: &Value,
    base: &Revision,
    errata: impl IntoIterator<Item = &'e Erratum>,
) -> Value {
    let mut schema = on(raw, base);
    let replaced = errata
        .into_iter()
        .filter_map(|erratum| erratum.replace.as_ref());
    let named: SortedSet<String> = replaced.flat_map(referred).collect();
    with_definitions(&mut schema, base, named);
    schema
}

/// Adds definitions of the revision that a schema does not repeat, with all that they refer to: an erratum names them.
fn with_definitions(schema: &mut Value, base: &Revision, named: SortedSet<String>) {
    let Some(Value::Object(definitions)) = schema.get_mut("$defs") else {
        return;
    };
    let mut open: Vec<String> = named.into_iter().collect();
    while let Some(name) = open.pop() {
        if !definitions.contains_key(&name)
            && let Some(own) = base.definition(&name)
        {
            open.extend(referred(own));
            definitions.insert(name, own.clone());
        }
    }
}

/// Returns the names of the definitions that a schema refers to.
fn referred(schema: &Value) -> SortedSet<String> {
    let mut names = SortedSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let target = members
                    .get("$ref")
                    .and_then(Value::as_str)
                    .and_then(|target| of_fragment(target.strip_prefix('#')?));
                let name = target.as_deref().and_then(|at| at.strip_prefix("/$defs/"));
                names.extend(
                    name.filter(|name| !name.contains('/'))
                        .map(|name| unescaped(name).into_owned()),
                );
                open.extend(members.values());
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    names
}

/// Returns the definitions of a schema that have the name of one of a revision: the name, the schema's and the revision's.
pub fn copied<'s>(
    raw: &'s Value,
    base: &'s Revision,
) -> impl Iterator<Item = (&'s str, &'s Value, &'s Value)> {
    definitions(raw).filter_map(|(name, copy)| Some((name, copy, definition(&base.raw, name)?)))
}
