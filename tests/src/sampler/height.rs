//! How deep the smallest value of each type is: the way out of recursive types.

use std::collections::BTreeMap;

use mcp_revisions_schema::model::{Model, Presence, Shape, Ty};

/// What has no finite value, as long as none is known.
const ENDLESS: u32 = u32::MAX;

/// The heights of all types, worked out again until nothing changes.
pub(super) fn heights(model: &Model) -> BTreeMap<&str, u32> {
    let mut heights: BTreeMap<&str, u32> = model
        .types
        .keys()
        .map(|name| (name.as_str(), ENDLESS))
        .collect();
    loop {
        let mut changed = false;
        for (name, def) in &model.types {
            let height = of_shape(&heights, &def.shape);
            changed |= heights.insert(name, height) != Some(height);
        }
        if !changed {
            return heights;
        }
    }
}

fn of_shape(heights: &BTreeMap<&str, u32>, shape: &Shape) -> u32 {
    match shape {
        Shape::Object(object) => object
            .members
            .iter()
            .filter(|member| member.presence == Presence::Required)
            .map(|member| of(heights, &member.ty))
            .max()
            .unwrap_or(0)
            .saturating_add(1),
        Shape::Union(union) => union
            .variants
            .iter()
            .map(|variant| of(heights, &variant.ty))
            .min()
            .unwrap_or(0),
        Shape::StringEnum(_) | Shape::OpenEnum(_) => 0,
        Shape::Newtype(ty) | Shape::Alias(ty) => of(heights, ty),
    }
}

/// The height of a type: lists and maps may be empty.
pub(super) fn of(heights: &BTreeMap<&str, u32>, ty: &Ty) -> u32 {
    match ty {
        Ty::Named(name) => heights.get(name.as_str()).copied().unwrap_or(ENDLESS),
        _ => 0,
    }
}
