//! Which members of an object are fields of its struct.

use mcp_revisions_schema::model::{Member, ObjectShape, Presence};

/// Returns the members that are fields, in order of the fields.
pub(super) fn fields_of(object: &ObjectShape) -> impl Iterator<Item = &Member> {
    let constant = |member: &&Member| matches!(member.presence, Presence::Constant(_));
    let mut fields: Vec<&Member> = object
        .members
        .iter()
        .filter(|member| !constant(member))
        .collect();
    fields.sort_by(|left, right| left.field.cmp(&right.field));
    fields.into_iter()
}

/// Returns whether a struct can be made without any value.
pub(super) fn is_default(object: &ObjectShape) -> bool {
    object
        .members
        .iter()
        .all(|member| member.presence != Presence::Required)
}
