//! Names that users give, looked up in a revision.

use mcp_protocol::Revision;
use mcp_schema::naming::nearest;
use mcp_wire::MethodInfo;

/// Returns the rows of a method; `ping` of the handshake revisions has two.
pub(crate) fn methods(revision: Revision, name: &str) -> impl Iterator<Item = &'static MethodInfo> {
    let rows = revision.methods().iter();
    rows.filter(move |method| method.name == name)
}

/// Returns the known name that is nearest to an unknown one, for an error: `; did you mean ...?`, or nothing.
pub(crate) fn similar<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, all) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    }
}

/// Returns the revision that is converted in place of a candidate: the one with the same protocol version.
pub(crate) fn stand_in(revision: Revision) -> Revision {
    match revision.is_converted() {
        true => revision,
        false => Revision::from_protocol_version(revision.protocol_version()).unwrap_or(revision),
    }
}
