//! Which source file holds a type: the same one in every revision.
//!
//! The oldest revision whose methods reach a type decides: by one area alone, and the type is at home there whoever
//! uses it later; by several at once, and it is shared. So no revision that comes later moves a type.

use std::collections::{BTreeMap, BTreeSet};

use crate::draft::{Draft, Ty};

/// The file of types that several areas use.
const SHARED: &str = "shared";
/// The file of types that no method reaches: the messages as a whole, and base definitions.
const MESSAGES: &str = "messages";

/// The area of each type, by Rust name.
pub(crate) struct Areas(BTreeMap<String, String>);

impl Areas {
    /// The areas of the types of several drafts, the oldest first; `area_of` names the area of a method.
    pub(crate) fn of<'d>(
        drafts: impl IntoIterator<Item = &'d Draft>,
        area_of: impl Fn(&str) -> String,
    ) -> Self {
        let mut areas = BTreeMap::new();
        for draft in drafts {
            for (name, users) in users(draft, &area_of) {
                areas.entry(name).or_insert_with(|| {
                    let mut users = users.into_iter();
                    match (users.next(), users.next()) {
                        (Some(only), None) => only,
                        _ => SHARED.to_owned(),
                    }
                });
            }
        }
        Self(areas)
    }

    /// The area of a type.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or(MESSAGES, String::as_str)
    }
}

/// The areas whose methods reach each type.
fn users(draft: &Draft, area_of: impl Fn(&str) -> String) -> BTreeMap<String, BTreeSet<String>> {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for method in &draft.methods {
        let area = area_of(&method.name);
        let message = Ty::Named(method.message.clone());
        let roots = [
            Some(&message),
            method.params.as_ref(),
            method.result.as_ref(),
        ];
        for root in roots.into_iter().flatten() {
            for name in reached(draft, root) {
                users.entry(name).or_default().insert(area.clone());
            }
        }
    }
    users
}

/// The types that a value of this type may hold, itself included.
fn reached(draft: &Draft, root: &Ty) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![root];
    while let Some(ty) = open.pop() {
        match ty {
            Ty::Nullable(inner) | Ty::Array(inner) | Ty::Map(inner) => open.push(inner),
            Ty::Named(name) => {
                if reached.insert(name.clone())
                    && let Some(def) = draft.get(name)
                {
                    open.extend(def.shape.holds());
                }
            }
            _ => {}
        }
    }
    reached
}
