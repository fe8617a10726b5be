//! The evidence for a decision: the kind of a type, and the members of its objects.

use crate::sorted::{SortedMap, SortedSet};

use crate::model::{Model, Presence, Rest, Shape, Ty};
use crate::schema::JsonType;

/// The unions that are read as opaque JSON, by Rust name.
pub(super) type Opaque = SortedSet<String>;

/// A variant, seen from outside.
#[derive(Debug, Clone)]
pub(super) struct VariantProfile {
    /// The kinds that its text may have.
    pub(super) kinds: Vec<JsonType>,
    /// The members of its object; empty for anything else.
    pub(super) members: SortedMap<String, MemberProfile>,
    /// The type of the other members of its object, where the schema states one.
    rest: Option<Ty>,
}

/// A member of a variant's object.
#[derive(Debug, Clone)]
pub(super) struct MemberProfile {
    ty: Ty,
    presence: Presence,
    pub(super) required: bool,
    /// The strings it may hold, where they are fixed.
    pub(super) values: Option<Vec<String>>,
    /// The members of the object it holds.
    pub(super) inner: SortedMap<String, MemberProfile>,
}

impl VariantProfile {
    pub(super) fn of(model: &Model, opaque: &Opaque, ty: &Ty) -> Self {
        let ty = model.resolve(ty);
        Self {
            kinds: kinds(model, opaque, ty),
            members: members(model, ty, 2),
            rest: match (ty, model.object(ty).map(|object| &object.rest)) {
                (Ty::Map(each), _) => Some((**each).clone()),
                (_, Some(Rest::Typed(each))) => Some(each.clone()),
                _ => None,
            },
        }
    }

    /// Returns whether its object takes each member of another one, as far as their types say.
    pub(crate) fn takes(&self, other: &Self) -> bool {
        let is_within = |own: &Ty, ty: &Ty| match own {
            Ty::Json => true,
            Ty::Number => matches!(ty, Ty::Integer | Ty::Number),
            own => own == ty,
        };
        other.members.iter().all(
            |(name, member)| match (self.members.get(name), &self.rest) {
                (Some(own), _) => {
                    let is_free = !matches!(own.presence, Presence::Constant(_));
                    is_within(&own.ty, &member.ty) && (is_free || own.presence == member.presence)
                }
                (None, Some(each)) => is_within(each, &member.ty),
                (None, None) => true,
            },
        )
    }

    /// Returns whether there is a member at a path joined with `.`, or what lies there is not looked into.
    pub(super) fn has(&self, path: &str) -> bool {
        let mut members = &self.members;
        for step in path.split('.') {
            match members.get(step) {
                Some(member) if member.inner.is_empty() => return true,
                Some(member) => members = &member.inner,
                None => return false,
            }
        }
        true
    }

    /// Returns the required members.
    pub(super) fn required(&self) -> impl Iterator<Item = &str> {
        let members = self.members.iter();
        members
            .filter(|(_, profile)| profile.required)
            .map(|(name, _)| name.as_str())
    }
}

/// Returns the kinds of a type; each type is looked at once, however often unions name it.
fn kinds(model: &Model, opaque: &Opaque, ty: &Ty) -> Vec<JsonType> {
    let mut found = SortedSet::new();
    let mut seen = SortedSet::new();
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match model.resolve(ty) {
            Ty::String => found.extend([JsonType::String]),
            Ty::Boolean => found.extend([JsonType::Boolean]),
            Ty::Integer => found.extend([JsonType::Integer]),
            Ty::Number => found.extend([JsonType::Integer, JsonType::Number]),
            Ty::Json => found.extend(JsonType::KINDS),
            Ty::JsonObject | Ty::Map(_) => found.extend([JsonType::Object]),
            Ty::JsonArray | Ty::Array(_) => found.extend([JsonType::Array]),
            Ty::Nullable(inner) => {
                found.extend([JsonType::Null]);
                open.push(inner);
            }
            Ty::Runtime(_, scalars) => open.extend(scalars),
            Ty::Named(name) if !seen.insert(name) => {}
            Ty::Named(name) if opaque.contains(name) => found.extend(JsonType::KINDS),
            Ty::Named(name) => match model.shape(name) {
                Some(Shape::Object(_)) => found.extend([JsonType::Object]),
                Some(Shape::StringEnum(_) | Shape::OpenEnum(_)) => found.extend([JsonType::String]),
                Some(Shape::Newtype(ty) | Shape::Alias(ty)) => open.push(ty),
                Some(Shape::Union(union)) => {
                    open.extend(union.types());
                }
                None => found.extend(JsonType::KINDS),
            },
        }
    }
    found.into_iter().collect()
}

/// Returns the members of an object type.
fn members(model: &Model, ty: &Ty, depth: usize) -> SortedMap<String, MemberProfile> {
    let Some(object) = model.object(ty) else {
        return SortedMap::new();
    };
    let members_of = |ty: &Ty| match depth {
        0 => SortedMap::new(),
        depth => members(model, ty, depth - 1),
    };
    (object.members.iter())
        .map(|member| {
            let values = match &member.presence {
                Presence::Constant(value) => value.as_str().map(|text| vec![text.to_owned()]),
                _ => match model.shape_of(&member.ty) {
                    Some(Shape::StringEnum(choices)) => Some(choices.clone()),
                    _ => None,
                },
            };
            let profile = MemberProfile {
                ty: member.ty.clone(),
                presence: member.presence.clone(),
                required: member.presence != Presence::Optional,
                values,
                inner: members_of(&member.ty),
            };
            (member.wire.clone(), profile)
        })
        .collect()
}
