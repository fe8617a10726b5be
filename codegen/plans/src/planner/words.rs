//! Types in words, and what can be said of their texts.

use serde_json::Value;

use mcp_revisions_schema::model::{Member, Model, Presence, Shape, Ty};
use mcp_revisions_schema::spec::toml_text::quoted;

/// Returns a presence as people say it.
pub(super) fn presence(presence: &Presence) -> String {
    match presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "optional".to_owned(),
        Presence::Constant(value) => format!("always {value}"),
    }
}

/// Describes the values of a shape, without the name of the type.
pub(super) fn shape(shape: &Shape) -> String {
    match shape {
        Shape::StringEnum(values) => {
            let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            format!("one of {}", quoted.join(", "))
        }
        Shape::OpenEnum(_) => "a string".to_owned(),
        Shape::Newtype(ty) => ty.to_string(),
        Shape::Union(_) => "a choice of several".to_owned(),
        _ => "an object".to_owned(),
    }
}

/// Returns whether a text of the type holds nothing that a rule could speak of: no object and no union with names.
pub(super) fn is_plain(model: &Model, ty: &Ty) -> bool {
    match model.resolve(ty) {
        Ty::Named(name) => match model.shape(name) {
            Some(Shape::StringEnum(_) | Shape::OpenEnum(_) | Shape::Newtype(_)) => true,
            Some(Shape::Union(union)) => {
                let scalar = |ty: &Ty| !matches!(ty, Ty::Named(_)) && is_plain(model, ty);
                !union.open && union.variants.iter().all(|variant| scalar(&variant.ty))
            }
            _ => false,
        },
        Ty::Array(inner) | Ty::Map(inner) | Ty::Nullable(inner) => is_plain(model, inner),
        _ => true,
    }
}

/// Maximum number of types of a schema that are looked through for the sake of one.
pub(super) const MAX_WITHIN: usize = 16;

/// Returns whether a text of the type is made of scalars and lists of them, no more than `depth` deep: nothing in it needs a
/// rule.
pub(super) fn is_scalar(model: &Model, ty: &Ty, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    match model.resolve(ty) {
        Ty::String | Ty::Boolean | Ty::Integer | Ty::Number => true,
        Ty::Array(inner) | Ty::Nullable(inner) => is_scalar(model, inner, depth),
        Ty::Runtime(_, types) => types.iter().all(|ty| is_scalar(model, ty, depth)),
        Ty::Named(name) => match model.shape(name) {
            Some(Shape::StringEnum(_) | Shape::OpenEnum(_) | Shape::Newtype(_)) => true,
            Some(Shape::Union(union)) => {
                let mut variants = union.variants.iter();
                !union.open && variants.all(|variant| is_scalar(model, &variant.ty, depth))
            }
            _ => false,
        },
        Ty::Json | Ty::JsonObject | Ty::JsonArray | Ty::Map(_) => false,
    }
}

/// Returns whether every scalar of one type is a value of the other: it widened, and nothing is lost. What is more than `depth`
/// deep may not be.
pub(super) fn widens(
    (source, ty): (&Model, &Ty),
    (target, to): (&Model, &Ty),
    depth: usize,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let within = |ty: &Ty, to: &Ty| widens((source, ty), (target, to), depth);
    let held = |ty: &Ty, shape: Option<&Shape>| match shape {
        Some(Shape::Union(union)) if !union.open => {
            (union.variants.iter()).any(|variant| within(ty, &variant.ty))
        }
        _ => false,
    };
    match (bare(source, ty), bare(target, to)) {
        (Ty::Nullable(from), Ty::Nullable(to)) | (Ty::Array(from), Ty::Array(to)) => {
            within(from, to)
        }
        (from, Ty::Nullable(to)) => within(from, to),
        (from @ Ty::Named(name), Ty::Named(other)) => {
            match (source.shape(name), target.shape(other)) {
                (Some(Shape::StringEnum(values)), Some(Shape::StringEnum(more))) => {
                    values.iter().all(|value| more.contains(value))
                }
                (Some(Shape::StringEnum(_)), shape) => held(from, shape),
                _ => false,
            }
        }
        (Ty::Named(name), Ty::String) => {
            matches!(source.shape(name), Some(Shape::StringEnum(_)))
        }
        (from, Ty::Named(other)) => held(from, target.shape(other)),
        (Ty::Integer, Ty::Number) => true,
        (from, to) => {
            from == to && matches!(from, Ty::String | Ty::Boolean | Ty::Integer | Ty::Number)
        }
    }
}

/// Returns a type without the aliases and newtypes around it.
fn bare<'m>(model: &'m Model, ty: &'m Ty) -> &'m Ty {
    match model.resolve(ty) {
        named @ Ty::Named(name) => model.shape(name).and_then(Shape::scalar).unwrap_or(named),
        ty => ty,
    }
}

/// Returns the schema's default of a member, if it is a scalar of its type.
pub(super) fn default<'m>(model: &Model, member: &'m Member) -> Option<&'m Value> {
    let value = member.constraints.values.get("default")?;
    let scalar = value.is_string() || value.is_number() || value.is_boolean();
    (scalar && admits(model, &member.ty, value) == Some(true)).then_some(value)
}

/// Returns a scalar in TOML.
pub(super) fn toml(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), quoted)
}

/// Returns whether a value is one of the type; `None` where the names of objects or the variants of a union would say it.
pub(super) fn admits(model: &Model, ty: &Ty, value: &Value) -> Option<bool> {
    let all = |values: &mut dyn Iterator<Item = &Value>, inner: &Ty| {
        let answers: Vec<Option<bool>> = values.map(|one| admits(model, inner, one)).collect();
        if answers.contains(&Some(false)) {
            Some(false)
        } else {
            (!answers.contains(&None)).then_some(true)
        }
    };
    match (model.resolve(ty), value) {
        (Ty::String, value) => Some(value.is_string()),
        (Ty::Boolean, value) => Some(value.is_boolean()),
        (Ty::Integer, value) => Some(value.is_i64() || value.is_u64()),
        (Ty::Number, value) => Some(value.is_number()),
        (Ty::Json, _) => Some(true),
        (Ty::JsonObject, value) => Some(value.is_object()),
        (Ty::JsonArray, value) => Some(value.is_array()),
        (Ty::Nullable(_), Value::Null) => Some(true),
        (Ty::Nullable(inner), value) => admits(model, inner, value),
        (Ty::Array(inner), Value::Array(items)) => all(&mut items.iter(), inner),
        (Ty::Map(inner), Value::Object(members)) => all(&mut members.values(), inner),
        (Ty::Array(_) | Ty::Map(_), _) => Some(false),
        (Ty::Named(name), value) => match model.shape(name) {
            Some(Shape::StringEnum(values)) => {
                Some(values.iter().any(|one| value.as_str() == Some(one)))
            }
            Some(Shape::OpenEnum(_)) => Some(value.is_string()),
            Some(Shape::Newtype(inner)) => admits(model, inner, value),
            Some(Shape::Union(_)) => None,
            _ if value.is_object() => None,
            _ => Some(false),
        },
        (Ty::Runtime(..), _) => None,
    }
}
