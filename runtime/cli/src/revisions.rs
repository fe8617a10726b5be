//! What is asked of a revision by name.

use mcp_registry::Revision;
use mcp_wire::MethodInfo;

/// The rows of a method; `ping` of the handshake revisions has two.
pub(crate) fn methods(revision: Revision, name: &str) -> impl Iterator<Item = &'static MethodInfo> {
    let rows = revision.methods().iter();
    rows.filter(move |method| method.name == name)
}

/// The names that are nearest to a name that is not there, for an error.
pub(crate) fn similar<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> String {
    let wanted = name.to_lowercase();
    let mut near: Vec<&str> = all
        .filter(|other| {
            let other = other.to_lowercase();
            other.contains(&wanted) || wanted.contains(&other)
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    if let Some(same) = near.iter().find(|other| other.eq_ignore_ascii_case(name)) {
        return format!("; did you mean {same}");
    }
    match near.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}", near.join(", ")),
    }
}

/// The revision that stands in for one that takes no part in conversions: the one of the same version on the wire.
pub(crate) fn stand_in(revision: Revision) -> Revision {
    match revision.is_converted() {
        true => revision,
        false => Revision::from_wire(revision.wire()).unwrap_or(revision),
    }
}
