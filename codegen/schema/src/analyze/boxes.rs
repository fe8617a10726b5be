//! The places that need a `Box`: members and variants through which a type holds itself by value.

use crate::sorted::{SortedMap, SortedSet};

use crate::draft::cycles;
use crate::model::{Model, Shape, Ty};

/// The members and variants that need a `Box`: by type, their positions.
pub(crate) type Boxes = SortedMap<String, SortedSet<usize>>;

/// Each member and variant through which a type holds itself by value; `opaque` unions hold nothing.
pub(crate) fn boxes(model: &Model, opaque: &SortedSet<String>) -> Boxes {
    let edges: SortedMap<String, SortedSet<String>> = (model.types.values())
        .map(|def| {
            let held = if opaque.contains(&def.name) {
                SortedSet::new()
            } else {
                model.types_by_value(&def.shape)
            };
            (def.name.clone(), held)
        })
        .collect();
    // A type of a cycle holds itself through every other type of that cycle.
    let mut cycle_of: SortedMap<String, usize> = SortedMap::new();
    for (number, group) in cycles(&edges).into_iter().enumerate() {
        cycle_of.extend(group.into_iter().map(|name| (name, number)));
    }
    let mut boxes = Boxes::new();
    for def in model.types.values() {
        let Some(cycle) = cycle_of.get(&def.name) else {
            continue;
        };
        let types: Vec<&Ty> = match &def.shape {
            Shape::Object(object) => object.members.iter().map(|member| &member.ty).collect(),
            Shape::Union(union) => union.types().collect(),
            _ => continue,
        };
        let in_cycle = |ty: &Ty| {
            let held = model.resolve(ty).by_value();
            held.and_then(|name| cycle_of.get(name)) == Some(cycle)
        };
        let boxed: SortedSet<usize> = types
            .into_iter()
            .enumerate()
            .filter(|(_, ty)| in_cycle(ty))
            .map(|(index, _)| index)
            .collect();
        if !boxed.is_empty() {
            boxes.insert(def.name.clone(), boxed);
        }
    }
    boxes
}
