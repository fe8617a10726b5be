//! How constructors come by the values of members: taken in the order of the rules, or known.

use serde_json::Value;

use super::{Given, Start};
use crate::draft::{Draft, Object, Presence, Shape, Ty};
use crate::rules::Rules;

/// How deep objects are looked into that are to be made of nothing.
const DEEPEST: usize = 8;

/// For each member of the object of this name, how a constructor comes by its value.
pub(super) fn given(draft: &Draft, rules: &Rules, key: &str, object: &Object) -> Vec<Given> {
    let mut given: Vec<Given> = (object.members.iter())
        .map(|member| match member.presence {
            Presence::Required => {
                let start = start(draft, rules, key, &member.wire, &member.ty, 0);
                start.map_or(Given::Taken(0), Given::Start)
            }
            _ => Given::Later,
        })
        .collect();
    let is_taken = |given: &&Given| matches!(given, Given::Taken(_));
    let decides = given.iter().filter(is_taken).count() > 1;
    for (given, member) in given.iter_mut().zip(&object.members) {
        if let Given::Taken(rank) = given {
            *rank = rules.rank(&member.wire, decides);
        }
    }
    given
}

fn start(
    draft: &Draft,
    rules: &Rules,
    key: &str,
    wire: &str,
    ty: &Ty,
    depth: usize,
) -> Option<Start> {
    rules.start(&format!("{key}.{wire}"), |start| match start {
        Start::ProtocolVersion => draft.resolve(ty) == &Ty::String,
        Start::Value(value) => fits(draft, rules, ty, value, depth),
    })
}

/// Whether a value is one of the type.
fn fits(draft: &Draft, rules: &Rules, ty: &Ty, value: &Value, depth: usize) -> bool {
    match (draft.resolve(ty), value) {
        (Ty::String, Value::String(_)) | (Ty::Boolean, Value::Bool(_)) => true,
        (Ty::Integer, Value::Number(number)) => number.is_i64(),
        (Ty::Named(name), value) => match (draft.get(name).map(|def| (def, &def.shape)), value) {
            (Some((_, Shape::StringEnum(choices))), Value::String(choice)) => {
                choices.contains(choice)
            }
            (Some((def, Shape::Object(object))), Value::Object(members)) => {
                members.is_empty() && depth < DEEPEST && {
                    let mut required = (object.members.iter())
                        .filter(|member| member.presence == Presence::Required);
                    required.all(|member| {
                        let (key, ty) = (&def.doc_key, &member.ty);
                        start(draft, rules, key, &member.wire, ty, depth + 1).is_some()
                    })
                }
            }
            _ => false,
        },
        _ => false,
    }
}
