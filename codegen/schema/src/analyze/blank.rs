//! The value that reading starts from: it allocates nothing, and has a variant in each union.

use crate::sorted::SortedMap;

use super::boxes::Boxes;
use crate::draft::ranks;
use crate::model::{Model, Shape, Ty, Union};

/// Returns the variant of each union's blank, by Rust name and index.
///
/// It is the one that is the least to make: no box, then few steps.
pub(crate) fn starts(model: &Model, boxes: &Boxes) -> SortedMap<String, usize> {
    let ranks = ranks(model);
    let unions = model.types.values().filter_map(|def| match &def.shape {
        Shape::Union(union) => Some((&def.name, union)),
        _ => None,
    });
    let cost = |ty: &Ty| (ty.name()).map_or(Some(0), |name| ranks.get(name).copied());
    let start = |name: &String, union: &Union| {
        let boxed = boxes.get(name);
        let variants = union.types().enumerate();
        let made = variants.filter_map(|(at, ty)| {
            let is_boxed = boxed.is_some_and(|boxed| boxed.contains(&at));
            Some((is_boxed, cost(ty)?, at))
        });
        made.min().map(|(_, _, at)| at)
    };
    unions
        .filter_map(|(name, union)| Some((name.clone(), start(name, union)?)))
        .collect()
}
