//! Which source file holds a type: that of the one area whose methods reach it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Model, Rest, Shape, Ty};
use crate::Error;
use crate::schema::schema_error;
use crate::spec::methods::{AREA, is_area};

/// The file of types that several areas use.
const SHARED: &str = "shared";
/// The file of types that no method reaches: the messages as a whole, and base definitions.
const MESSAGES: &str = "messages";

/// Refuses areas that cannot be files of a crate.
pub(super) fn check_areas(
    model: &Model,
    file: &str,
    area_of: impl Fn(&str) -> String,
) -> Result<(), Error> {
    let mut errors = Vec::new();
    for method in &model.methods {
        let area = area_of(&method.name);
        if !is_area(&area) {
            errors.push(schema_error(
                file,
                &format!("/$defs/{}", method.message),
                &format!("a method whose area is {AREA}"),
                &format!("`{area}`, the first step of the method `{}`", method.name),
                &format!(
                    "add {:?} = \"...\" to [areas] in spec/methods.toml",
                    method.name
                ),
            ));
        }
    }
    Error::check(errors)
}

/// Sets the area of every type; `area_of` names the area of a method.
pub(super) fn assign_areas(model: &mut Model, area_of: impl Fn(&str) -> String) {
    let mut areas: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for method in &model.methods {
        let area = area_of(&method.name);
        let message = Ty::Named(method.message.clone());
        let roots = [
            Some(&message),
            method.params.as_ref(),
            method.result.as_ref(),
        ];
        for root in roots.into_iter().flatten() {
            for name in reached(model, root) {
                areas.entry(name).or_default().insert(area.clone());
            }
        }
    }
    for def in model.types.values_mut() {
        let found = areas.get(&def.name);
        def.area = match found
            .map(|areas| areas.iter().collect::<Vec<_>>())
            .as_deref()
        {
            None | Some([]) => MESSAGES.to_owned(),
            Some([only]) => (*only).clone(),
            Some(_) => SHARED.to_owned(),
        };
    }
}

/// The types that a value of this type may hold, itself included.
fn reached(model: &Model, root: &Ty) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![root];
    while let Some(ty) = open.pop() {
        match ty {
            Ty::Nullable(inner) | Ty::Array(inner) | Ty::Map(inner) => open.push(inner),
            Ty::Named(name) => {
                if reached.insert(name.clone())
                    && let Some(def) = model.get(name)
                {
                    match &def.shape {
                        Shape::Object(object) => {
                            open.extend(object.members.iter().map(|member| &member.ty));
                            if let Rest::Typed(ty) = &object.rest {
                                open.push(ty);
                            }
                        }
                        Shape::Union(union) => {
                            open.extend(union.variants.iter().map(|variant| &variant.ty));
                        }
                        Shape::Newtype(ty) | Shape::Alias(ty) => open.push(ty),
                        Shape::StringEnum(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
    reached
}
