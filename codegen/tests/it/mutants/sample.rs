//! Values of a model's types, as text that its readers take.

use mcp_revisions_schema::model::{Model, Presence, Rest, Shape, Ty};
use serde_json::{Map, Value, json};

use crate::changes::random::Random;

/// How deep values go before they hold what they must and no more.
const DEPTH: usize = 5;

/// A value of a named type.
pub(crate) fn named(model: &Model, name: &str, random: &mut Random, depth: usize) -> Value {
    match &model.get(name).unwrap().shape {
        Shape::Object(object) => {
            let mut members = Map::new();
            for member in &object.members {
                let value = match &member.presence {
                    Presence::Constant(value) => value.clone(),
                    Presence::Optional if depth > DEPTH || random.once_in(2) => continue,
                    _ => value(model, &member.ty, random, depth + 1),
                };
                members.insert(member.wire.clone(), value);
            }
            if random.once_in(2) {
                let extra = match &object.rest {
                    Rest::Open => Some(json!({ "a": [1, "b"] })),
                    Rest::Typed(ty) => Some(value(model, ty, random, depth + 1)),
                    Rest::Closed => None,
                };
                members.extend(extra.map(|value| ("x-vendor".to_owned(), value)));
            }
            Value::Object(members)
        }
        Shape::Union(union) => {
            let variant = match depth > DEPTH {
                true => &union.variants[0],
                false => random.pick(&union.variants).unwrap(),
            };
            value(model, &variant.ty, random, depth + 1)
        }
        Shape::StringEnum(values) => json!(random.pick(values).unwrap()),
        Shape::OpenEnum(_) => value(model, &Ty::String, random, depth),
        Shape::Newtype(ty) | Shape::Alias(ty) => value(model, ty, random, depth),
    }
}

fn value(model: &Model, ty: &Ty, random: &mut Random, depth: usize) -> Value {
    let one = |random: &mut Random, ty: &Ty| value(model, ty, random, depth + 1);
    match ty {
        Ty::String => json!(["", "a", "ä\n"][random.below(3)]),
        Ty::Boolean => json!(random.once_in(2)),
        Ty::Integer => json!(random.below(9)),
        Ty::Number => json!([0.5, 2.0][random.below(2)]),
        Ty::Json => json!({ "any": [null, 1.0] }),
        Ty::JsonObject => json!({ "type": "object" }),
        Ty::JsonArray => json!([1, "two"]),
        Ty::Nullable(_) if random.once_in(3) => Value::Null,
        Ty::Nullable(inner) => one(random, inner),
        Ty::Array(_) | Ty::Map(_) if depth > DEPTH => match ty {
            Ty::Array(_) => json!([]),
            _ => json!({}),
        },
        Ty::Array(inner) => json!([one(random, inner)]),
        Ty::Map(inner) => json!({ "key": one(random, inner) }),
        Ty::Named(name) => named(model, name, random, depth),
        // What stands for a hand-written type in the model is what its texts are.
        Ty::Runtime(_, stand_ins) => match random.pick(stand_ins) {
            Some(ty) => one(random, ty),
            None => json!({}),
        },
    }
}
