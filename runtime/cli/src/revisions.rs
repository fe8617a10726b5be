//! Names that users give, looked up in a revision.

use mcp_revisions_core::translate::has_method;
use mcp_revisions_core::{Extension, Protocol, Revision};
use mcp_revisions_schema::naming::nearest;
use mcp_wire::{Extra, MethodInfo, TypeInfo};

/// Returns the rows of a method; `ping` of the handshake revisions has two.
pub(crate) fn methods(revision: Revision, name: &str) -> impl Iterator<Item = &'static MethodInfo> {
    let rows = revision.methods().iter();
    rows.filter(move |method| method.name == name)
}

/// Returns the rows of a method, of the revision or of its extensions.
pub(crate) fn known_methods(
    revision: Revision,
    name: &str,
) -> impl Iterator<Item = &'static MethodInfo> {
    let added = Extension::of(revision).flat_map(|extension| extension.methods);
    methods(revision, name).chain(added.filter(move |method| method.name == name))
}

/// Finds a type of the revision or of its extensions.
pub(crate) fn known_type(revision: Revision, name: &str) -> Option<&'static TypeInfo> {
    let mut extensions = Extension::of(revision);
    let added = || extensions.find_map(|extension| extension.type_named(name));
    revision.type_named(name).or_else(added)
}

/// Returns the types that a request may be answered by: its own result first, then those of extensions.
pub(crate) fn results(revision: Revision, method: &str) -> impl Iterator<Item = &'static TypeInfo> {
    let own = known_methods(revision, method).find_map(|row| row.result);
    let added = Extension::of(revision)
        .flat_map(|extension| extension.results)
        .filter(move |(of, _)| own.is_some() && *of == method)
        .map(|(_, result)| *result);
    let names = own.into_iter().chain(added);
    names.filter_map(move |name| known_type(revision, name))
}

/// Returns the type of a result that answers a request: one of an extension where its `resultType` says so, else the
/// revision's own; `None` for a method that nothing answers.
pub(crate) fn result_type(
    revision: Revision,
    method: &str,
    result: &str,
) -> Option<&'static TypeInfo> {
    let mut all = results(revision, method);
    let own = all.next()?;
    let members = mcp_wire::from_str::<Extra>(result).unwrap_or_default();
    let is_meant = |ty: &&TypeInfo| match ty.read(result) {
        Ok(_) => true,
        Err(error) => members.get(TAG).is_some() && error.pointer() != format!("/{TAG}"),
    };
    if own.read(result).is_ok() {
        return Some(own);
    }
    Some(all.find(is_meant).unwrap_or(own))
}

/// The member that tells results apart.
const TAG: &str = "resultType";

/// Returns the protocol that has a method: the revision, or an extension of it.
pub(crate) fn protocol_with(revision: Revision, method: &str) -> Protocol {
    let has_it = |extension: &&Extension| extension.methods.iter().any(|row| row.name == method);
    let mut extensions = Extension::of(revision).filter(|_| !has_method(revision, method));
    let extension = extensions.find(has_it).map(Protocol::Extension);
    extension.unwrap_or(Protocol::Revision(revision))
}

/// Returns the known name that is nearest to an unknown one, for an error: ` (did you mean ...?)`, or nothing.
pub(crate) fn similar<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, all) {
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    }
}

/// Returns the revisions on the way from one to another, with both.
pub(crate) fn way(from: Revision, to: Revision) -> Vec<Revision> {
    let place = |of: Revision| {
        let mut all = Revision::CONVERTED.iter();
        all.position(|one| one.same_types(of))
    };
    let between = |start: usize, end: usize| {
        let all = Revision::CONVERTED.iter().skip(start);
        all.take(end + 1 - start).copied()
    };
    match place(from).zip(place(to)) {
        Some((start, end)) if start <= end => between(start, end).collect(),
        Some((start, end)) => between(end, start).rev().collect(),
        None => Vec::new(),
    }
}
