//! Extensions in a diff: methods that left the core for one, and the messages of a schema that lists none.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use serde::Serialize;
use serde_json::{Value, json};

use mcp_revisions_schema::model::Direction;
use mcp_revisions_schema::pointer::escaped;
use mcp_revisions_schema::spec::extensions::MetaEntry;
use mcp_revisions_schema::spec::methods::messages;
use mcp_revisions_schema::spec::roles::{MessageRole, ROLES, lists};
use mcp_revisions_schema::spec::{ExtensionSpec, Spec};

/// Methods that moved between the core and an extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MovedMethods {
    /// The identifier of the extension.
    pub extension: String,
    /// The revision that the extension rests on.
    pub revision: String,
    /// The methods that moved, in order of their names.
    pub methods: Vec<String>,
}

/// All that extensions say they were in the core.
pub(super) fn cores(spec: &Spec) -> Vec<MovedMethods> {
    let of = |extension: &ExtensionSpec| {
        Some(MovedMethods {
            extension: extension.identifier.clone(),
            revision: extension.revision.clone(),
            methods: extension.core.as_ref()?.methods.clone(),
        })
    };
    spec.extensions.iter().filter_map(of).collect()
}

/// Returns the methods that extensions add to a revision: those that rest on it, or on one before it. A later core may have them.
pub(super) fn features(spec: &Spec, revision: &str) -> Vec<MovedMethods> {
    let at = |id: &str| spec.revisions.iter().position(|one| one.id == id);
    let mut features: Vec<MovedMethods> = Vec::new();
    for extension in &spec.extensions {
        if at(&extension.revision) > at(revision) {
            continue;
        }
        let methods = extension.methods.iter().map(|method| method.name.clone());
        let mut known = features.iter_mut();
        match known.find(|known| known.extension == extension.identifier) {
            Some(known) => known.methods.extend(methods),
            None => features.push(MovedMethods {
                extension: extension.identifier.clone(),
                revision: extension.revision.clone(),
                methods: methods.collect(),
            }),
        }
    }
    features
}

/// Returns those of the features that are among the methods of one side only.
pub(super) fn moved_methods(
    features: &[MovedMethods],
    lone: &SortedSet<&String>,
) -> Vec<MovedMethods> {
    let of = |feature: &MovedMethods| {
        let own = lone.iter().filter(|it| feature.methods.contains(it));
        let methods: Vec<String> = own.copied().cloned().collect();
        (!methods.is_empty()).then(|| MovedMethods {
            methods,
            ..feature.clone()
        })
    };
    features.iter().filter_map(of).collect()
}

/// The methods of a side that is an extension.
#[derive(Debug, Clone)]
pub(crate) struct ExtractedFeature {
    /// Those that the extension adds to the revision that it rests on.
    pub(super) own: Vec<String>,
    /// Those that an earlier core had in their place.
    pub(super) core: Vec<String>,
    /// Definitions by which requests of the revision may be answered instead, with the method and who sends it.
    pub(super) results: Vec<(Direction, String, String)>,
    /// The entries of `_meta` in types of the revision.
    pub(super) meta: Vec<MetaEntry>,
}

impl ExtractedFeature {
    /// Returns whether a schema lists its messages itself, as that of a core does.
    pub(super) fn is_of_core(schema: &Value) -> bool {
        lists(schema)
    }

    pub(super) fn of(extension: &ExtensionSpec, spec: &Spec) -> Self {
        let own = extension.methods.iter().map(|method| method.name.clone());
        let core = extension.core.iter().flat_map(|core| &core.methods);
        let base = spec.revision(&extension.revision).ok();
        let results = extension.results.iter().filter_map(|(method, result)| {
            let direction = sender(&base?.schema, method)?;
            Some((direction, method.clone(), result.clone()))
        });
        Self {
            own: own.collect(),
            core: core.cloned().collect(),
            results: results.collect(),
            meta: extension.meta.clone(),
        }
    }

    /// Returns whether the extension or the core has a method of this name for it.
    pub(super) fn has(&self, method: &str) -> bool {
        self.own.iter().chain(&self.core).any(|name| name == method)
    }
}

/// Returns the direction of a method's requests, by the unions that list them.
fn sender(schema: &Value, method: &str) -> Option<Direction> {
    let (_, definition) = messages(schema).find(|(name, _)| *name == method)?;
    let reference = json!(format!("#/$defs/{}", escaped(definition)));
    let is_it = |case: &Value| case.get("$ref") == Some(&reference);
    let lists = |role: &&MessageRole| {
        let union = schema.get("$defs").and_then(|all| all.get(role.union));
        union.is_some_and(|union| {
            let cases = union.get("anyOf").and_then(Value::as_array);
            is_it(union) || cases.into_iter().flatten().any(is_it)
        })
    };
    ROLES.iter().find(lists).map(|role| role.direction)
}

/// Lists the messages of an extension where its schema does not, by what the facts of extensions say of their senders;
/// returns the methods, too, whose sender is not known.
pub(super) fn with_lists(mut schema: Value, spec: &Spec) -> (Value, Vec<String>) {
    if lists(&schema) {
        return (schema, Vec::new());
    }
    let methods = spec.extensions.iter().flat_map(|one| &one.methods);
    let senders: SortedMap<&str, _> = methods
        .filter_map(|method| Some((method.name.as_str(), (method.sender?, method.kind()))))
        .collect();
    let of_core = |method: &str| {
        let schemas = spec.revisions.iter().map(|revision| &revision.schema);
        (schemas.flat_map(messages)).any(|(name, _)| name == method)
    };
    let mut strangers = Vec::new();
    let mut listed: SortedMap<&'static str, Vec<Value>> = SortedMap::new();
    for (method, definition) in messages(&schema) {
        if !senders.contains_key(method) && !of_core(method) {
            strangers.push(method.to_owned());
        }
        let is_of = |role: &&MessageRole| senders.get(method) == Some(&(role.direction, role.kind));
        if let Some(role) = ROLES.iter().find(is_of) {
            let reference = json!({ "$ref": format!("#/$defs/{}", escaped(definition)) });
            listed.entry(role.union).or_default().push(reference);
        }
    }
    let unions = listed
        .into_iter()
        .map(|(union, all)| (union.to_owned(), json!({ "anyOf": all })));
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        definitions.extend(unions);
    }
    (schema, strangers)
}
