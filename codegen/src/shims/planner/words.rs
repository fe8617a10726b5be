//! Types in words, and what can be said of their texts.

use serde_json::Value;

use crate::model::{Member, Model, Presence, Shape, Ty};

/// A type as people say it.
pub(super) fn ty(ty: &Ty) -> String {
    match ty {
        Ty::String => "a string".to_owned(),
        Ty::Boolean => "a boolean".to_owned(),
        Ty::Integer => "an integer".to_owned(),
        Ty::Number => "a number".to_owned(),
        Ty::Json => "any JSON".to_owned(),
        Ty::JsonObject => "any object".to_owned(),
        Ty::JsonArray => "any list".to_owned(),
        Ty::Nullable(inner) => format!("{} or null", self::ty(inner)),
        Ty::Array(inner) => format!("a list of {}", self::ty(inner)),
        Ty::Map(inner) => format!("a map to {}", self::ty(inner)),
        Ty::Named(name) => format!("`{name}`"),
        Ty::Runtime(path, _) => format!("`{path}`"),
    }
}

/// A presence as people say it.
pub(super) fn presence(presence: &Presence) -> String {
    match presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "optional".to_owned(),
        Presence::Constant(value) => format!("always {value}"),
    }
}

/// Whether a text of the type holds nothing that a rule could speak of: no object and no union with names.
pub(super) fn is_plain(model: &Model, ty: &Ty) -> bool {
    match model.resolve(ty) {
        Ty::Named(name) => match model.get(name).map(|def| &def.shape) {
            Some(Shape::StringEnum(_) | Shape::Newtype(_)) => true,
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

/// Whether two types are newtypes around one scalar.
pub(super) fn same_text(from: &Model, a: &str, to: &Model, b: &str) -> bool {
    match (
        from.get(a).map(|def| &def.shape),
        to.get(b).map(|def| &def.shape),
    ) {
        (Some(Shape::Newtype(a)), Some(Shape::Newtype(b))) => a == b,
        _ => false,
    }
}

/// What the schema says that an absent member is, where that is a scalar of its type.
pub(super) fn default<'m>(model: &Model, member: &'m Member) -> Option<&'m Value> {
    let value = member.constraints.values.get("default")?;
    let scalar = value.is_string() || value.is_number() || value.is_boolean();
    (scalar && fits(model, &member.ty, value)).then_some(value)
}

/// Whether a value is one of the type; only said of types that hold no objects with names.
pub(super) fn fits(model: &Model, ty: &Ty, value: &Value) -> bool {
    match model.resolve(ty) {
        Ty::String => value.is_string(),
        Ty::Boolean => value.is_boolean(),
        Ty::Integer => value.is_i64() || value.is_u64(),
        Ty::Number => value.is_number(),
        Ty::Json => true,
        Ty::JsonObject => value.is_object(),
        Ty::JsonArray => value.is_array(),
        Ty::Nullable(inner) => value.is_null() || fits(model, inner, value),
        Ty::Array(inner) => (value.as_array())
            .is_some_and(|items| items.iter().all(|item| fits(model, inner, item))),
        Ty::Map(inner) => {
            (value.as_object()).is_some_and(|all| all.values().all(|one| fits(model, inner, one)))
        }
        Ty::Named(name) => match (model.get(name).map(|def| &def.shape), value.as_str()) {
            (Some(Shape::StringEnum(values)), Some(value)) => values.iter().any(|one| one == value),
            (Some(Shape::Newtype(inner)), _) => fits(model, inner, value),
            _ => false,
        },
        Ty::Runtime(..) => false,
    }
}
