//! Members of the newer revision in a value of the older one, found by the models alone.

use std::collections::BTreeMap;

use mcp_revisions_schema::model::{Model, Shape, Ty};
use serde_json::Value;

use super::world::{Said, Side};
use crate::tree::pointer;

/// Texts of an author, in which any name may stand.
const AUTHORED: &[&str] = &[
    "inputSchema",
    "outputSchema",
    "structuredContent",
    "arguments",
    "input",
];

/// Looks through values of the older revision.
#[derive(Debug)]
pub struct Search<'w, 'm> {
    old: &'w Side<'m>,
    new: &'w Side<'m>,
    said: &'w Said,
    /// How often each member was met that a rule lets travel on.
    pub passed: BTreeMap<String, usize>,
}

impl<'w, 'm> Search<'w, 'm> {
    /// A search for names of `new` in values of `old`, but for those that a rule lets travel on.
    #[must_use]
    pub fn new(old: &'w Side<'m>, new: &'w Side<'m>, said: &'w Said) -> Self {
        Self {
            old,
            new,
            said,
            passed: BTreeMap::new(),
        }
    }

    /// The pointers of all members that only the newer revision can have named.
    pub fn of(&mut self, type_name: &str, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.named(type_name, value, &mut Vec::new(), &mut found);
        found
    }

    fn model(&self) -> &'m Model {
        self.old.model
    }

    fn named(
        &mut self,
        name: &str,
        value: &Value,
        path: &mut Vec<String>,
        found: &mut Vec<String>,
    ) {
        let Some(def) = self.model().get(name) else {
            return;
        };
        match &def.shape {
            Shape::Object(object) => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    path.push(key.clone());
                    match object.members.iter().find(|member| member.wire == *key) {
                        Some(member) if AUTHORED.contains(&member.wire.as_str()) => {}
                        Some(member) => self.value(&member.ty, value, path, found),
                        None => self.unknown(key, path, found),
                    }
                    path.pop();
                }
            }
            Shape::Union(union) => {
                // A text may be a value of several variants: it is clean if it is a clean one of any.
                let mut best: Option<Vec<String>> = None;
                for variant in &union.variants {
                    if let Ty::Named(name) = self.model().resolve(&variant.ty)
                        && !self.old.judge.accepts(name, &value.to_string())
                    {
                        continue;
                    }
                    let mut own = Vec::new();
                    self.value(&variant.ty, value, path, &mut own);
                    if best.as_ref().is_none_or(|best| own.len() < best.len()) {
                        best = Some(own);
                    }
                }
                found.extend(best.unwrap_or_default());
            }
            Shape::StringEnum(_) | Shape::OpenEnum(_) => {}
            Shape::Newtype(ty) | Shape::Alias(ty) => self.value(ty, value, path, found),
        }
    }

    fn value(&mut self, ty: &Ty, value: &Value, path: &mut Vec<String>, found: &mut Vec<String>) {
        match self.model().resolve(ty) {
            Ty::Named(name) => self.named(name, value, path, found),
            Ty::Nullable(inner) => self.value(inner, value, path, found),
            Ty::Array(item) => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    path.push(index.to_string());
                    self.value(item, value, path, found);
                    path.pop();
                }
            }
            // The names in an opaque map are nobody's, and so none of the newer revision's may stand there.
            Ty::Map(item) => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    path.push(key.clone());
                    match **item {
                        Ty::Json | Ty::JsonObject => self.unknown(key, path, found),
                        _ => self.value(item, value, path, found),
                    }
                    path.pop();
                }
            }
            Ty::JsonObject => {
                for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
                    path.push(key.clone());
                    self.unknown(key, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn unknown(&mut self, key: &str, path: &[String], found: &mut Vec<String>) {
        if !self.new.names.contains(key) {
            return;
        }
        match self.said.passed.contains(key) {
            true => *self.passed.entry(key.to_owned()).or_default() += 1,
            false => found.push(pointer(path)),
        }
    }
}
