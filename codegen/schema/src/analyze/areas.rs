//! Which source file holds a type: the same one in every revision.
//!
//! The oldest revision whose methods reach a type decides: if only one area reaches it, the type stays there, also when
//! others use it later; else it is shared. So no later revision moves a type, until there are
//! more shared types than one file has room for: then those that hold one another get a file of their own.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Model, Shape, Ty, TypeDef};
use crate::naming::snake_case;

/// The file of types that several areas use.
const SHARED: &str = "shared";
/// The file of types that no method reaches: the messages as a whole, and base definitions.
const MESSAGES: &str = "messages";

/// How many types, members and variants the file of shared types has room for: at ten lines each less than 2,500.
const ROOM: usize = 240;

/// The area of each type, by Rust name.
pub(crate) struct Areas(BTreeMap<String, String>);

impl Areas {
    /// The areas of the types of several models, the oldest first; `area_of` names the area of a method.
    pub(crate) fn of<'d>(
        models: impl IntoIterator<Item = &'d Model>,
        area_of: impl Fn(&str) -> String,
    ) -> Self {
        let models: Vec<&Model> = models.into_iter().collect();
        let mut areas = BTreeMap::new();
        for model in &models {
            for (name, users) in users(model, &area_of) {
                areas.entry(name).or_insert_with(|| {
                    let mut users = users.into_iter();
                    match (users.next(), users.next()) {
                        (Some(only), None) => only,
                        _ => SHARED.to_owned(),
                    }
                });
            }
        }
        let shared = areas.iter().filter(|(_, area)| *area == SHARED);
        let shared = shared.map(|(name, _)| name.as_str()).collect();
        let moved = moved(&models, &shared);
        areas.extend(moved);
        for name in models.iter().flat_map(|model| model.types.keys()) {
            let area = areas.entry(name.clone());
            area.or_insert_with(|| MESSAGES.to_owned());
        }
        Self(areas)
    }

    /// These areas, and others for the types that have none here.
    pub(crate) fn or(&self, others: Self) -> Self {
        let mut areas = others.0;
        areas.extend(self.0.clone());
        Self(areas)
    }

    /// The area of a type.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or(MESSAGES, String::as_str)
    }
}

/// The shared types that get another file, largest family first, until the rest has room.
fn moved(models: &[&Model], shared: &BTreeSet<&str>) -> Vec<(String, String)> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut held: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for model in models {
        for name in shared {
            let Some(def) = model.get(name) else {
                continue;
            };
            let largest = sizes.entry(name).or_default();
            *largest = size(def).max(*largest);
            let named = def.shape.holds().into_iter().filter_map(Ty::named);
            let among = named.filter_map(|name| shared.get(name).copied());
            held.entry(name).or_default().extend(among);
        }
    }
    let mut left: usize = sizes.values().sum();
    let mut families: Vec<(usize, String, BTreeSet<&str>)> = Vec::new();
    let mut open = shared.clone();
    while let Some(first) = open.first().copied() {
        let family = family(first, &held);
        open.retain(|name| !family.contains(name));
        let size = family.iter().filter_map(|name| sizes.get(name)).sum();
        families.push((size, head(&family, &held), family));
    }
    families.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut moved = Vec::new();
    for (size, head, family) in families {
        if left <= ROOM || family.len() < 2 {
            break;
        }
        left -= size;
        let area = format!("{SHARED}_{}", snake_case(&head));
        moved.extend(
            family
                .into_iter()
                .map(|name| (name.to_owned(), area.clone())),
        );
    }
    moved
}

/// What a type takes of a file.
fn size(def: &TypeDef) -> usize {
    1 + match &def.shape {
        Shape::Object(object) => object.members.len(),
        Shape::Union(union) => union.variants.len(),
        Shape::StringEnum(choices) => choices.len(),
        Shape::Newtype(_) | Shape::Alias(_) => 0,
    }
}

/// Returns all types that hold one another, directly or not, this one among them.
fn family<'d>(first: &'d str, held: &BTreeMap<&'d str, BTreeSet<&'d str>>) -> BTreeSet<&'d str> {
    closure(first, |name| {
        let holders = held.iter().filter(|(_, inner)| inner.contains(name));
        let inner = held.get(name).into_iter().flatten().copied();
        inner.chain(holders.map(|(holder, _)| *holder)).collect()
    })
}

/// The type that a family is named after: the one that leads to most of the others, the first by name of several.
fn head<'d>(family: &BTreeSet<&'d str>, held: &BTreeMap<&'d str, BTreeSet<&'d str>>) -> String {
    let inner = |name| held.get(name).into_iter().flatten().copied().collect();
    let head = family
        .iter()
        .rev()
        .max_by_key(|name| closure(name, inner).len());
    head.copied().unwrap_or_default().to_owned()
}

/// All that is reached from a name, itself included.
fn closure<'d>(first: &'d str, next: impl Fn(&'d str) -> Vec<&'d str>) -> BTreeSet<&'d str> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![first];
    while let Some(name) = ahead.pop() {
        if reached.insert(name) {
            ahead.extend(next(name));
        }
    }
    reached
}

/// The areas whose methods reach each type.
fn users(model: &Model, area_of: impl Fn(&str) -> String) -> BTreeMap<String, BTreeSet<String>> {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for method in &model.methods {
        let area = area_of(&method.name);
        let message = Ty::Named(method.message.clone());
        let roots = [
            Some(&message),
            method.params.as_ref(),
            method.result.as_ref(),
        ];
        for root in roots.into_iter().flatten().filter_map(Ty::named) {
            let reached = closure(root, |name| {
                let held = model.get(name).map(|def| def.shape.holds());
                held.into_iter().flatten().filter_map(Ty::named).collect()
            });
            for name in reached {
                users
                    .entry(name.to_owned())
                    .or_default()
                    .insert(area.clone());
            }
        }
    }
    users
}
