//! The members of an object that are fields of its struct, and their order.

use mcp_revisions_schema::docs::TypeDocs;
use mcp_revisions_schema::model::{Member, ObjectShape, Presence, Ty, TypeDef};

/// The member for metadata, which is beside the payload.
const META: &str = "_meta";

/// Returns the members that are fields, in their order: required ones, optional ones, metadata.
pub(super) fn fields_of(object: &ObjectShape) -> impl Iterator<Item = &Member> {
    let constant = |member: &&Member| matches!(member.presence, Presence::Constant(_));
    let mut fields: Vec<&Member> = object
        .members
        .iter()
        .filter(|member| !constant(member))
        .collect();
    let group = |member: &Member| match &member.presence {
        _ if member.wire == META => 2,
        Presence::Optional => 1,
        Presence::Required | Presence::Constant(_) => 0,
    };
    fields.sort_by(|left, right| (group(left), &left.field).cmp(&(group(right), &right.field)));
    fields.into_iter()
}

/// Returns whether no field of a struct is required, so that it has a default.
pub(super) fn is_default(object: &ObjectShape) -> bool {
    object
        .members
        .iter()
        .all(|member| member.presence != Presence::Required)
}

/// Returns the optional booleans whose doc line states the meaning of their absence, with that value.
pub(super) fn flags_of<'d>(
    def: &'d TypeDef,
    object: &'d ObjectShape,
    docs: &'d TypeDocs,
) -> impl Iterator<Item = (&'d Member, bool)> {
    let flags = fields_of(object).filter(|member| {
        member.presence == Presence::Optional && member.ty == Ty::Boolean && !member.boxed
    });
    flags.filter_map(move |member| {
        let line = docs.member(def, &member.wire);
        let (_, rest) = line.as_str().split_once("absent means `")?;
        let (value, _) = rest.split_once('`')?;
        Some((member, value.parse().ok()?))
    })
}
