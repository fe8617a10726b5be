//! In how many steps a value of each type is made, and the types that no finite value has.

use crate::sorted::{SortedMap, SortedSet};

use super::opaque::opaque;
use crate::decision::Scope;
use crate::model::{BuiltModel, Model, Presence, Shape, Ty};

/// In how many steps the least value of each type is made; a type that no finite value has is not there.
pub(crate) fn ranks(model: &Model) -> SortedMap<&str, usize> {
    // The number of types that are still missing for each type, and the types that wait for it.
    let mut missing: SortedMap<&str, usize> = SortedMap::new();
    let mut waiting: SortedMap<&str, Vec<&str>> = SortedMap::new();
    let mut made: Vec<&str> = Vec::new();
    for def in model.types.values() {
        let (needs, how_many) = needs(&def.shape);
        if how_many == 0 {
            made.push(&def.name);
            continue;
        }
        missing.insert(&def.name, how_many);
        for name in needs {
            waiting.entry(name).or_default().push(&def.name);
        }
    }
    let mut ranks = SortedMap::new();
    for rank in 0.. {
        let mut next = Vec::new();
        for name in &made {
            ranks.insert(*name, rank);
        }
        for name in made {
            for by in waiting.remove(name).unwrap_or_default() {
                let Some(count) = missing.get_mut(by) else {
                    continue;
                };
                *count -= 1;
                if *count == 0 {
                    missing.remove(by);
                    next.push(by);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        made = next;
    }
    ranks
}

/// Returns the types of which a shape needs values, and of how many of them.
fn needs(shape: &Shape) -> (SortedSet<&str>, usize) {
    let needed: SortedSet<&str> = match shape {
        Shape::Object(object) => (object.members.iter())
            .filter(|member| member.presence == Presence::Required)
            .filter_map(|member| member.ty.name())
            .collect(),
        Shape::Union(union) => {
            let at_once = union.open || !union.types().all(|ty| ty.name().is_some());
            let needed = union.types().filter_map(Ty::name).collect();
            return (needed, usize::from(!at_once));
        }
        Shape::Newtype(ty) | Shape::Alias(ty) => ty.name().into_iter().collect(),
        Shape::StringEnum(_) | Shape::OpenEnum(_) => SortedSet::new(),
    };
    let count = needed.len();
    (needed, count)
}

/// Makes opaque what no finite value has, since each would hold another one.
pub(super) fn open_endless(built: &mut BuiltModel, scope: &Scope) {
    let ranks = ranks(&built.model);
    let names = built.model.types.keys();
    let endless: Vec<String> = names
        .filter(|name| !ranks.contains_key(name.as_str()))
        .cloned()
        .collect();
    for name in endless {
        let expected = "expected a type that some finite JSON can have, found one whose every value holds another of it";
        opaque(built, scope, &name, Ty::Json, expected.to_owned());
    }
}
