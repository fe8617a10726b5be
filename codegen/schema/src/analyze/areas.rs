//! The source file of each type: the same one in every revision.
//!
//! The oldest revision whose methods reach a type decides: if only one area reaches it, the type stays there, also when
//! others use it later; else it is shared. So no later revision moves a type.

use crate::sorted::{SortedMap, SortedSet};

use crate::model::{Model, Shape, Ty};

/// The file of types that several areas use.
const SHARED: &str = "shared";
/// The file of types that no method reaches: the messages as a whole, and base definitions.
const MESSAGES: &str = "messages";

/// The area of each type, by Rust name.
#[derive(Default)]
pub(crate) struct Areas(SortedMap<String, String>);

impl Areas {
    /// Returns the areas of the types of several models, the oldest first; `area_of` names the area of a method.
    pub(crate) fn of<'d>(
        models: impl IntoIterator<Item = &'d Model>,
        area_of: impl Fn(&str) -> String,
    ) -> Self {
        let all: Vec<&Model> = models.into_iter().collect();
        let mut areas = SortedMap::new();
        for model in &all {
            for (name, users) in users(model, &area_of) {
                areas.entry(name).or_insert_with(|| {
                    let mut each = users.into_iter();
                    match (each.next(), each.next()) {
                        (Some(only), None) => only,
                        _ => SHARED.to_owned(),
                    }
                });
            }
        }
        for name in all.iter().flat_map(|model| model.types.keys()) {
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

    /// Returns the area of a type.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or(MESSAGES, String::as_str)
    }
}

/// Returns the areas whose methods reach each type.
fn users(model: &Model, area_of: impl Fn(&str) -> String) -> SortedMap<String, SortedSet<String>> {
    let mut users: SortedMap<String, SortedSet<String>> = SortedMap::new();
    for method in &model.methods {
        let area = area_of(&method.name);
        let message = Ty::Named(method.message.clone());
        let roots = [
            Some(&message),
            method.params.as_ref(),
            method.result.as_ref(),
        ];
        let mut ahead: Vec<&str> = roots.into_iter().flatten().filter_map(Ty::named).collect();
        let mut reached = SortedSet::new();
        while let Some(name) = ahead.pop() {
            if reached.insert(name) {
                let areas = users.entry(name.to_owned()).or_default();
                areas.insert(area.clone());
                let held = model.shape(name).map(Shape::holds);
                ahead.extend(held.into_iter().flatten().filter_map(Ty::named));
            }
        }
    }
    users
}
