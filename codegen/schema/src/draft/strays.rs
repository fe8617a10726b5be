//! Messages that no role's union lists, and entries of those unions that are not messages: their open questions, with errata.

use serde_json::{Value, json};

use super::open::{errata_file, erratum, since};
use crate::decision::{Decision, QuestionKind, Scope, Settle};
use crate::model::TypeDef;
use crate::pointer::escaped;
use crate::schema::Schema;
use crate::spec::extensions::{FACTS, FOLDER, stated_kind};
use crate::spec::roles::{ROLES, likely_kind};
use crate::spec::toml_text::{self, quoted};

/// Returns decisions about definitions that are listed among messages and have no method. One erratum removes all of them.
pub(super) fn no_messages(
    schema: &Schema,
    scope: &Scope,
    odd: Vec<(String, String)>,
    union: &str,
) -> Vec<Decision> {
    let list = format!("/$defs/{union}/anyOf");
    let stands = listed(schema, union);
    let is_odd = |name: &&str| {
        let place = format!("/$defs/{}", escaped(name));
        odd.iter().any(|(other, _)| *other == place)
    };
    let without: Vec<&str> = stands
        .iter()
        .copied()
        .filter(|name| !is_odd(name))
        .collect();
    let settle = if without.len() == stands.len() {
        // An inline entry has no name, so that the erratum cannot list the others without it.
        Settle::of(
            errata_file(scope),
            format!("# an erratum of what {list} lists\n"),
        )
    } else {
        let replace = format!("replace-json = {}", toml_text::json(&references(&without)));
        erratum(scope, &[&list], Some(&references(&stands)), &replace)
    };
    let decision = |(place, open): (String, String)| {
        let open = format!("{open}, and `{union}` lists it");
        let answer = "it is a type, and no method of either side".to_owned();
        scope.asks(QuestionKind::Direction, place, open, answer, settle.clone())
    };
    odd.into_iter().map(decision).collect()
}

/// Returns the definitions that a union lists.
fn listed<'s>(schema: &'s Schema, union: &str) -> Vec<&'s str> {
    let node = schema.definitions.get(union);
    let choices = node.into_iter().flat_map(|node| &node.any_of);
    choices
        .filter_map(|node| node.reference.as_deref())
        .collect()
}

/// References to definitions, as the list of a union.
fn references(definitions: &[&str]) -> String {
    let reference = |name: &&str| json!({ "$ref": format!("#/$defs/{}", escaped(name)) });
    Value::Array(definitions.iter().map(reference).collect()).to_string()
}

/// Asks about messages that no union lists: each becomes a type, and no side's method. One erratum proposes all messages of
/// one union.
pub(super) fn unlisted(
    schema: &Schema,
    scope: &Scope,
    strays: &[(&TypeDef, String)],
) -> Vec<Decision> {
    let roles: Vec<&str> = ROLES.iter().map(|role| role.union).collect();
    // A notification is proposed for the first side that sends any, all else among its requests.
    let union = |(def, method): &(&TypeDef, String)| {
        let kind = likely_kind(method, name(def));
        let role = ROLES.iter().find(|role| role.kind == kind);
        role.map_or("", |role| role.union)
    };
    let settle = |union_of: &str| {
        let stands = listed(schema, union_of);
        let of_it = strays.iter().filter(|stray| union(stray) == union_of);
        let all: Vec<&str> = (stands.iter().copied())
            .chain(of_it.map(|(def, _)| name(def)))
            .collect();
        let (at, all) = (format!("/$defs/{union_of}"), references(&all));
        let (at, expect, replace) = if schema.definitions.contains_key(union_of) {
            (format!("{at}/anyOf"), Some(references(&stands)), all)
        } else {
            (at, None, format!("{{\"anyOf\": {all}}}"))
        };
        let replace = format!("replace-json = {}", toml_text::json(&replace));
        erratum(scope, &[&at], expect.as_deref(), &replace)
    };
    let decision = |stray: &(&TypeDef, String)| {
        let (def, method) = stray;
        let (open, settle) = match scope {
            Scope::Extension { name: folder, .. } => (
                format!(
                    "expected client, server or a word of [roles] as `sender` of `{method}`, found no row with one"
                ),
                Settle::of(
                    format!("{FOLDER}/{folder}/{FACTS}"),
                    format!(
                        "[[method]]\nname = {}\nsender = \"\"\n{}{}",
                        quoted(method),
                        kind(method, name(def)),
                        since(scope)
                    ),
                ),
            ),
            _ => (
                format!(
                    "expected one of {} to list the message, found none that lists `{method}`: nothing says who sends it",
                    roles.join(", ")
                ),
                settle(union(stray)),
            ),
        };
        let answer = format!("`{}` is a type, and no method of either side", name(def));
        scope.asks(QuestionKind::Direction, def.at(), open, answer, settle)
    };
    strays.iter().map(decision).collect()
}

/// Returns the line of a row that says the kind of a message, where its method does not.
fn kind(method: &str, definition: &str) -> String {
    let kind = stated_kind(method, definition);
    kind.map_or_else(String::new, |kind| format!("kind = \"{kind}\"\n"))
}

/// Returns the name of a definition in the schema.
fn name(def: &TypeDef) -> &str {
    def.definition.as_deref().unwrap_or(&def.name)
}
