//! What a diff says of extensions: methods that left the core for one, and the messages of a schema that lists none.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::kind::Kind;
use super::methods::Pairs;
use super::row::Row;
use super::side::Side;
use crate::model::MethodKind;
use crate::pointer::escaped;
use crate::spec::methods::messages;
use crate::spec::roles::{ROLES, Role, kind_of};
use crate::spec::{Extension, Spec};

/// Methods of the core that the newer side has no more, and an extension has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extracted {
    /// The identifier of the extension.
    pub extension: String,
    /// The revision that the extension rests on.
    pub revision: String,
    /// The methods that are gone, in order of their names.
    pub methods: Vec<String>,
}

/// All that extensions say they were in the core.
pub(super) fn cores(spec: &Spec) -> Vec<Extracted> {
    let of = |extension: &Extension| {
        Some(Extracted {
            extension: extension.identifier.clone(),
            revision: extension.revision.clone(),
            methods: extension.core.as_ref()?.methods.clone(),
        })
    };
    spec.extensions.iter().filter_map(of).collect()
}

/// What of that is gone by these rows.
pub(super) fn extracted(cores: &[Extracted], rows: &[Row]) -> Vec<Extracted> {
    let of = |core: &Extracted| {
        let gone = rows.iter().filter(|row| row.kind == Kind::MethodRemoved);
        let gone = gone.flat_map(|row| row.paths.iter().map(|path| &path.method));
        let gone = gone.filter(|method| core.methods.contains(method));
        let methods: BTreeSet<String> = gone.cloned().collect();
        (!methods.is_empty()).then(|| Extracted {
            methods: methods.into_iter().collect(),
            ..core.clone()
        })
    };
    cores.iter().filter_map(of).collect()
}

/// The methods of a side that is an extension.
#[derive(Debug, Clone)]
pub(crate) struct Feature {
    /// Those that the extension adds to the revision that it rests on.
    own: Vec<String>,
    /// Those that an earlier core had in their place.
    core: Vec<String>,
}

impl Feature {
    pub(super) fn of(extension: &Extension) -> Self {
        let own = extension.methods.iter().map(|method| method.name.clone());
        let core = extension.core.iter().flat_map(|core| &core.methods);
        Self {
            own: own.collect(),
            core: core.cloned().collect(),
        }
    }

    /// Returns the feature that sides are about, where some of them are an extension and others are not.
    pub(super) fn among<'s>(sides: &[&'s Side]) -> Option<&'s Self> {
        let mut all = sides.iter().map(|side| side.feature.as_ref());
        let is_mixed = all.clone().any(|feature| feature.is_none());
        all.find_map(|feature| feature).filter(|_| is_mixed)
    }

    /// Returns whether the extension or the core has a method of this name for it.
    pub(super) fn has(&self, method: &str) -> bool {
        [&self.own, &self.core]
            .into_iter()
            .flatten()
            .any(|name| name == method)
    }

    /// Leaves only messages of the feature, where one side is an extension and the other is not: what else a core has
    /// is not gone with an extension, which stands beside it.
    pub(super) fn retain(pairs: &mut Pairs, old: &Side, new: &Side) {
        let Some(feature) = Self::among(&[old, new]) else {
            return;
        };
        let has = |side: &Side, at: usize| {
            let names = match side.feature {
                Some(_) => &feature.own,
                None => &feature.core,
            };
            names.contains(&side.messages[at].name)
        };
        let both = |(o, n): &(usize, usize)| has(old, *o) && has(new, *n);
        pairs.both.retain(both);
        pairs.rechanneled.retain(both);
        pairs.removed.retain(|at| has(old, *at));
        pairs.added.retain(|at| has(new, *at));
    }
}

/// Whether a schema lists messages itself, apart from those within results.
pub(crate) fn lists(schema: &Value) -> bool {
    let has = |union: &str| {
        let definitions = schema.get("$defs");
        definitions.is_some_and(|all| all.get(union).is_some())
    };
    let mut of_core = (ROLES.iter()).filter(|role| role.kind != MethodKind::Input);
    of_core.any(|role| has(role.union))
}

/// The extension that a schema is a state of: the first one that has one of its messages.
pub(crate) fn extension_of<'s>(schema: &Value, spec: &'s Spec) -> Option<&'s Extension> {
    if lists(schema) {
        return None;
    }
    let has = |extension: &&Extension| {
        messages(schema).any(|(name, _)| extension.methods.iter().any(|own| own.name == name))
    };
    spec.extensions.iter().find(has)
}

/// Lists the messages of an extension where its schema does not, by what the facts of extensions say of their senders.
pub(super) fn with_lists(mut schema: Value, spec: &Spec) -> Value {
    if lists(&schema) {
        return schema;
    }
    let methods = spec
        .extensions
        .iter()
        .flat_map(|extension| &extension.methods);
    let senders: BTreeMap<&str, _> = methods
        .filter_map(|method| Some((method.name.as_str(), method.sender?)))
        .collect();
    let mut listed: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (method, definition) in messages(&schema) {
        let is_of = |role: &&Role| {
            role.kind == kind_of(method) && senders.get(method) == Some(&role.direction)
        };
        if let Some(role) = ROLES.iter().find(is_of) {
            let reference = json!({ "$ref": format!("#/$defs/{}", escaped(definition)) });
            listed.entry(role.union).or_default().push(reference);
        }
    }
    let unions = listed
        .into_iter()
        .map(|(union, all)| (union.to_owned(), json!({ "anyOf": all })));
    let unions: Vec<(String, Value)> = unions.collect();
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        definitions.extend(unions);
    }
    schema
}
