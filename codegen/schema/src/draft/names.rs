//! The Rust names of definitions, each its own.

use crate::sorted::SortedMap;

use super::opaque;
use super::open::{renamed, type_rule};
use crate::decision::{Decision, Scope};
use crate::naming::{self, taken};
use crate::rules::HeldRules;
use crate::schema::Schema;

/// Names of definitions, given before any of them is looked into.
pub(super) struct DraftNames {
    by_definition: SortedMap<String, String>,
    /// The owner of each name: a definition, or an inline schema.
    pub(super) given: SortedMap<String, Option<String>>,
}

impl DraftNames {
    /// Names all definitions of a schema; what Rust or another definition has taken is named apart.
    pub(super) fn of(
        schema: &Schema,
        scope: &Scope,
        rules: &HeldRules<'_>,
    ) -> (Self, Vec<Decision>) {
        let mut names = Self {
            by_definition: SortedMap::new(),
            given: SortedMap::new(),
        };
        let mut decisions = Vec::new();
        for (definition, node) in &schema.definitions {
            let wanted = rust_name(rules, definition);
            // A rule may say that it is the very type that has the name; opaque JSON that is not is settled later.
            let is_it = rules.runtime(definition).is_some()
                || (rules.type_name(definition).is_some() && opaque::has(&wanted));
            let why = if names.given.contains_key(&wanted) {
                Some("is the Rust name of another definition")
            } else {
                unsupported(&wanted).filter(|_| !is_it)
            };
            let name = match why {
                None => wanted,
                Some(why) => {
                    let name = names.free(&plain(&wanted));
                    let settle = type_rule(scope, definition, &name);
                    let pointer = &node.pointer;
                    decisions.push(renamed(scope, pointer, &wanted, why, &name, settle));
                    name
                }
            };
            let of = Some(definition.clone());
            names.given.insert(name.clone(), of);
            names.by_definition.insert(definition.clone(), name);
        }
        (names, decisions)
    }

    /// Returns the name of a definition.
    pub(super) fn definition(&self, definition: &str) -> Option<&str> {
        self.by_definition.get(definition).map(String::as_str)
    }

    /// Returns the definition that goes by a Rust name.
    pub(super) fn namesake(&self, name: &str) -> Option<&str> {
        self.given.get(name)?.as_deref()
    }

    /// Returns the name itself, or with a number, so that nothing else has it; a plain one where Rust does not take it.
    pub(super) fn free(&self, name: &str) -> String {
        let name = if naming::is_identifier(name) {
            name.to_owned()
        } else {
            plain(name)
        };
        if !self.given.contains_key(&name) && !taken::is_taken(&name) {
            return name;
        }
        naming::numbered(&name, |name| self.given.contains_key(name))
    }
}

/// Returns a name that Rust takes, made of what it takes of another one.
fn plain(name: &str) -> String {
    format!("{}Type", naming::type_name(&naming::plain(name)))
}

/// Returns the reason why no type in any schema can have this name in Rust; `None` if one can.
pub(super) fn unsupported(name: &str) -> Option<&'static str> {
    if !naming::is_identifier(name) {
        return Some("is not a name that Rust takes");
    }
    taken::is_taken(name).then_some("is a name that generated code has for something else")
}

/// Returns the Rust name that a definition, or the definition-like name of an inline schema, asks for.
pub(super) fn rust_name(rules: &HeldRules<'_>, definition: &str) -> String {
    match rules.type_name(definition) {
        Some(name) => name.to_owned(),
        None => naming::type_name(definition),
    }
}
