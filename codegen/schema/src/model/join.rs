//! The draft and what was worked out of it, joined once; the model is read-only from here on.

use std::collections::{BTreeMap, BTreeSet};

use super::given::given;
use super::{Built, Given, Member, Model, Object, Shape, TypeDef, Union, Variant, variants};
use crate::Error;
use crate::analyze::areas::Areas;
use crate::analyze::plan::Plan;
use crate::analyze::union::{self, Plans};
use crate::analyze::{blank, boxes};
use crate::decision::{Decision, Question, Scope, Settle};
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
    let mut starts = blank::starts(&draft, &boxes);
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
    let types = types.into_iter().map(|(name, def)| {
        let boxed = boxes.remove(&name).unwrap_or_default();
        let given = givens.remove(&name).unwrap_or_default();
        let plan = plans.remove(&name);
        let start = starts.remove(&name);
        let (def, renamed) = joined_type(def, areas, plan, start, &boxed, given);
        decisions
            .extend((renamed.iter()).filter_map(|renamed| renamed_variant(scope, &def, renamed)));
        (name, def)
    });
    let types = types.collect();
    decisions.sort();
    Ok(Built {
        model: Model { types, methods },
        prose,
        decisions,
    })
}

/// The type, and the positions of variants that were given another name than they would have.
fn joined_type(
    def: draft::Def,
    areas: &Areas,
    plan: Option<Plan>,
    start: Option<usize>,
    boxed: &BTreeSet<usize>,
    given: Vec<Given>,
) -> (TypeDef, Vec<(usize, String)>) {
    let draft::Def {
        name,
        definition,
        places,
        pointer,
        doc_key,
        deprecated,
        shape,
    } = def;
    let mut renamed = Vec::new();
    let shape = match shape {
        draft::Shape::Object(object) => Shape::Object(joined_object(object, boxed, given)),
        draft::Shape::Union(union) => match plan {
            Some(plan) => {
                let (union, apart) = joined_union(&doc_key, union, plan, start, boxed);
                renamed = apart;
                Shape::Union(union)
            }
            // What cannot be decided is kept as it stands.
            None => Shape::Alias(Ty::Json),
        },
        draft::Shape::StringEnum(choices) => Shape::StringEnum(choices),
        draft::Shape::Newtype(ty) => Shape::Newtype(ty),
        draft::Shape::Alias(ty) => Shape::Alias(ty),
    };
    let def = TypeDef {
        area: areas.get(&name).to_owned(),
        name,
        definition,
        places,
        pointer,
        doc_key,
        deprecated,
        shape,
    };
    (def, renamed)
}

/// A variant whose name another one has, or Rust.
fn renamed_variant(
    scope: &Scope,
    def: &TypeDef,
    (at, wanted): &(usize, String),
) -> Option<Decision> {
    let Shape::Union(union) = &def.shape else {
        return None;
    };
    let variant = union.variants.get(*at)?;
    let of = match &variant.ty {
        Ty::Named(name) => name.as_str(),
        _ => &def.name,
    };
    Some(Decision {
        scope: scope.clone(),
        place: def.at(),
        question: Question::Name,
        open: format!(
            "expected variants whose names differ and are free, found `{wanted}` for one that another has"
        ),
        answer: format!("the variant of `{of}` is called `{}`", variant.name),
        settle: Settle {
            file: "names.toml".to_owned(),
            stub: format!("[types]\n{of:?} = \"\"\n"),
        },
    })
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

/// `key` is the name of what the variants belong to, `start` the variant that reading starts from.
fn joined_union(
    key: &str,
    union: draft::Union,
    plan: Plan,
    start: Option<usize>,
    boxed: &BTreeSet<usize>,
) -> (Union, Vec<(usize, String)>) {
    let draft::Union { types, open } = union;
    let (names, renamed) = variants::names(key, &types, &plan, open);
    let variants = names.into_iter().zip(types).enumerate();
    let variants = variants.map(|(at, (name, ty))| Variant {
        name,
        ty,
        boxed: boxed.contains(&at),
    });
    let union = Union {
        variants: variants.collect(),
        plan,
        start: match open {
            true => None,
            false => start,
        },
        open,
    };
    (union, renamed)
}
