//! The source of each member's value in a constructor: an argument, in the order of the rules, or a known value.

use serde_json::Value;

use crate::model::{
    ConstructorArgument, Given, InitialValue, Member, Model, ObjectShape, Presence, Shape, Ty,
};
use crate::rules::HeldRules;

/// Maximum depth at which objects made of nothing are looked into.
const DEEPEST: usize = 8;

/// For each member of the object of this name, how a constructor comes by its value.
pub(super) fn given(
    model: &Model,
    rules: &HeldRules<'_>,
    key: &str,
    object: &ObjectShape,
) -> Vec<Given> {
    let mut given: Vec<Given> = (object.members.iter())
        .map(|member| match member.presence {
            Presence::Required => {
                let start = start(model, rules, key, &member.wire, &member.ty, 0);
                start.map_or_else(
                    || Given::Taken(ConstructorArgument::default()),
                    Given::Start,
                )
            }
            _ => Given::Later,
        })
        .collect();
    let is_taken = |given: &&Given| matches!(given, Given::Taken(_));
    let decides = given.iter().filter(is_taken).count() > 1;
    for (given, member) in given.iter_mut().zip(&object.members) {
        if let Given::Taken(taken) = given {
            taken.rank = rules.rank(&member.wire, decides);
        }
    }
    tell_apart(model, rules, object, &mut given);
    given
}

/// Gives a word to one of any two texts that stand side by side.
fn tell_apart(model: &Model, rules: &HeldRules<'_>, object: &ObjectShape, given: &mut [Given]) {
    let mut taken: Vec<(&Member, &mut ConstructorArgument)> = (object.members.iter().zip(given))
        .filter_map(|(member, given)| match given {
            Given::Taken(taken) => Some((member, taken)),
            _ => None,
        })
        .collect();
    taken.sort_by(|(a, at), (b, bt)| (at.rank, &a.field).cmp(&(bt.rank, &b.field)));
    let is_bare = |member: &Member, taken: &ConstructorArgument| {
        model.resolve(&member.ty) == &Ty::String && taken.word.is_none()
    };
    for place in 1..taken.len() {
        let Some([(before, first), (after, second)]) = taken.get_mut(place - 1..=place) else {
            continue;
        };
        if is_bare(before, first) && is_bare(after, second) {
            match rules.word(&after.wire) {
                Some(word) => second.word = Some(word.to_owned()),
                None => first.word = rules.word(&before.wire).map(str::to_owned),
            }
        }
    }
}

fn start(
    model: &Model,
    rules: &HeldRules<'_>,
    key: &str,
    wire: &str,
    ty: &Ty,
    depth: usize,
) -> Option<InitialValue> {
    rules.start(&format!("{key}.{wire}"), |start| match start {
        InitialValue::ProtocolVersion => model.resolve(ty) == &Ty::String,
        InitialValue::Value(value) => fits(model, rules, ty, value, depth),
    })
}

/// Returns whether a value is one of the type.
fn fits(model: &Model, rules: &HeldRules<'_>, ty: &Ty, value: &Value, depth: usize) -> bool {
    match (model.resolve(ty), value) {
        (Ty::String, Value::String(_)) | (Ty::Boolean, Value::Bool(_)) => true,
        (Ty::Integer, Value::Number(number)) => number.is_i64(),
        (Ty::Named(name), value) => match (model.get(name).map(|def| (def, &def.shape)), value) {
            (Some((_, Shape::StringEnum(choices))), Value::String(choice)) => {
                choices.contains(choice)
            }
            (Some((_, Shape::OpenEnum(_))), Value::String(_)) => true,
            (Some((def, Shape::Object(object))), Value::Object(members)) => {
                members.is_empty() && depth < DEEPEST && {
                    let mut required = (object.members.iter())
                        .filter(|member| member.presence == Presence::Required);
                    required.all(|member| {
                        let (key, ty) = (&def.doc_key, &member.ty);
                        start(model, rules, key, &member.wire, ty, depth + 1).is_some()
                    })
                }
            }
            _ => false,
        },
        _ => false,
    }
}
