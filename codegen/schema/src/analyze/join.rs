//! The facts derived from a model's types, filled in once; the model is read-only from here on.

use crate::sorted::SortedMap;

use super::areas::Areas;
use super::given::given;
use super::union::{self, UnionPlans};
use super::{blank, boxes, variants};
use crate::Error;
use crate::decision::{Decision, QuestionKind, Scope};
use crate::draft::{since, type_rule};
use crate::model::{BuiltModel, Shape, Ty, UnionPlan};
use crate::rules::HeldRules;

/// Fills in how unions are read, where a `Box` is needed, how constructors come by values, and the file of each type. Fails for
/// rules of unions that do not hold, and messages that cannot be distinguished.
pub(crate) fn decide(
    mut built: BuiltModel,
    scope: &Scope,
    rules: &HeldRules<'_>,
    areas: &Areas,
) -> Result<BuiltModel, Error> {
    let model = &built.model;
    let UnionPlans {
        mut plans,
        opaque,
        decisions,
    } = union::plans(model, scope, rules)?;
    built.decisions.extend(decisions);
    let mut boxes = boxes::boxes(model, &opaque);
    let starts = blank::starts(model, &boxes);
    let objects = model
        .types
        .iter()
        .filter_map(|(name, def)| match &def.shape {
            Shape::Object(object) => {
                Some((name.clone(), given(model, rules, &def.doc_key, object)))
            }
            _ => None,
        });
    let mut givens: SortedMap<_, _> = objects.collect();
    for (name, def) in built.model.types.iter_mut() {
        areas.get(name).clone_into(&mut def.area);
        let boxed = boxes.remove(name).unwrap_or_default();
        let place = def.at();
        match &mut def.shape {
            Shape::Object(object) => {
                let given = givens.remove(name).unwrap_or_default();
                for ((at, member), given) in object.members.iter_mut().enumerate().zip(given) {
                    member.boxed = boxed.contains(&at);
                    member.given = given;
                }
            }
            Shape::Union(union) => match plans.remove(name) {
                Some(plan) => {
                    let types: Vec<Ty> = union.types().cloned().collect();
                    let (names, renamed) = variants::names(&def.doc_key, &types, &plan, union.open);
                    for ((at, variant), name) in union.variants.iter_mut().enumerate().zip(names) {
                        variant.boxed = boxed.contains(&at);
                        variant.name = name;
                    }
                    // Where all values are of one variant, a blank of it leaves nothing to decide.
                    let only = match plan {
                        UnionPlan::Take(only) if !boxed.contains(&only) => Some(only),
                        _ => None,
                    };
                    let start = only.or_else(|| starts.get(name).copied());
                    union.start = start.filter(|_| !union.open);
                    union.plan = plan;
                    let decisions = renamed.into_iter().map(|(at, wanted)| {
                        let variant = &union.variants[at];
                        let of = variant.ty.name().unwrap_or(name);
                        renamed_variant(scope, &place, of, &variant.name, &wanted)
                    });
                    built.decisions.extend(decisions);
                }
                // An undecided type is kept as it stands.
                None => def.shape = Shape::Alias(Ty::Json),
            },
            Shape::StringEnum(_) | Shape::OpenEnum(_) | Shape::Newtype(_) | Shape::Alias(_) => {}
        }
    }
    if let Scope::Revision(id) = scope {
        // An answer says where it begins; where releases follow, it also says where it ends.
        let lines = rules.order().lines(id);
        for decision in &mut built.decisions {
            let stub = &mut decision.settle.stub;
            *stub = stub.replace(&since(scope), &lines);
        }
    }
    built.decisions.sort();
    Ok(built)
}

/// Returns a variant whose name another one has, or Rust, by the type that the rule would be about.
fn renamed_variant(scope: &Scope, place: &str, of: &str, name: &str, wanted: &str) -> Decision {
    Decision {
        scope: scope.clone(),
        place: place.to_owned(),
        question: QuestionKind::Name,
        open: format!(
            "expected variants whose names differ and are free, found `{wanted}` for one that another has"
        ),
        answer: format!("the variant of `{of}` is called `{name}`"),
        settle: type_rule(scope, of, name),
    }
}
