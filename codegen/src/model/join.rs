//! The draft and what was worked out of it, joined once; the model is read-only from here on.

use std::collections::{BTreeMap, BTreeSet};

use super::given::given;
use super::{Built, Given, Member, Model, Object, Shape, TypeDef, Union, Variant, variants};
use crate::Error;
use crate::analyze::areas::Areas;
use crate::analyze::boxes;
use crate::analyze::plan::Plan;
use crate::analyze::union::{self, Plans};
use crate::decision::Scope;
use crate::draft::{self, Draft, Ty};
use crate::rules::Rules;

/// The model of a draft.
///
/// # Errors
/// Rules of unions that do not hold, and messages that cannot be told apart.
pub(crate) fn joined(
    draft: Draft,
    scope: &Scope,
    rules: &Rules,
    areas: &Areas,
) -> Result<Built, Error> {
    let Plans {
        mut plans,
        opaque,
        decisions: undecided,
    } = union::plans(&draft, scope, rules)?;
    let mut boxes = boxes::boxes(&draft, &opaque);
    let mut givens: BTreeMap<String, Vec<Given>> = BTreeMap::new();
    for (name, def) in &draft.types {
        if let draft::Shape::Object(object) = &def.shape {
            let given = given(&draft, rules, &def.doc_key, object);
            givens.insert(name.clone(), given);
        }
    }
    let Draft {
        types,
        methods,
        prose,
        mut decisions,
    } = draft;
    decisions.extend(undecided);
    decisions.sort();
    let types = types.into_iter().map(|(name, def)| {
        let boxed = boxes.remove(&name).unwrap_or_default();
        let given = givens.remove(&name).unwrap_or_default();
        let def = joined_type(def, areas, plans.remove(&name), &boxed, given);
        (name, def)
    });
    Ok(Built {
        model: Model {
            types: types.collect(),
            methods,
        },
        prose,
        decisions,
    })
}

fn joined_type(
    def: draft::Def,
    areas: &Areas,
    plan: Option<Plan>,
    boxed: &BTreeSet<usize>,
    given: Vec<Given>,
) -> TypeDef {
    let draft::Def {
        name,
        definition,
        places,
        doc_key,
        deprecated,
        shape,
    } = def;
    let shape = match shape {
        draft::Shape::Object(object) => Shape::Object(joined_object(object, boxed, given)),
        draft::Shape::Union(union) => match plan {
            Some(plan) => Shape::Union(joined_union(&doc_key, union, plan, boxed)),
            // What cannot be decided is kept as it stands.
            None => Shape::Alias(Ty::Json),
        },
        draft::Shape::StringEnum(choices) => Shape::StringEnum(choices),
        draft::Shape::Newtype(ty) => Shape::Newtype(ty),
        draft::Shape::Alias(ty) => Shape::Alias(ty),
    };
    TypeDef {
        area: areas.get(&name).to_owned(),
        name,
        definition,
        places,
        doc_key,
        deprecated,
        shape,
    }
}

fn joined_object(object: draft::Object, boxed: &BTreeSet<usize>, given: Vec<Given>) -> Object {
    let draft::Object { members, rest } = object;
    let members = members.into_iter().zip(given).enumerate();
    let members = members.map(|(at, (member, given))| {
        let draft::Member {
            wire,
            field,
            presence,
            ty,
            constraints,
            deprecated,
        } = member;
        Member {
            wire,
            field,
            presence,
            ty,
            boxed: boxed.contains(&at),
            given,
            constraints,
            deprecated,
        }
    });
    Object {
        members: members.collect(),
        rest,
    }
}

/// `key` is the name of what the variants belong to.
fn joined_union(key: &str, union: draft::Union, plan: Plan, boxed: &BTreeSet<usize>) -> Union {
    let draft::Union { types, open } = union;
    let names = variants::names(key, &types, &plan);
    let variants = names.into_iter().zip(types).enumerate();
    let variants = variants.map(|(at, (name, ty))| Variant {
        name,
        ty,
        boxed: boxed.contains(&at),
    });
    Union {
        variants: variants.collect(),
        plan,
        open,
    }
}
