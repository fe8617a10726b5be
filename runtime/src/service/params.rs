//! Params for typed handlers that a peer of their own revision got wrong, read as they were meant.

use mcp_revisions_core::{Loss, Outcome, Part, Spoken, Subject};
use mcp_wire::{Direction, Json};

/// Returns the params of a method of `sender` as they were meant, and the losses of that; `None` if they are of their type, or
/// a part that must stay cannot be read.
#[cold]
pub(super) fn params_meant<App: Spoken>(
    sender: Direction,
    method: &str,
    params: &Json,
) -> Option<(Json, Vec<Loss>)> {
    let subject = Subject::Method(method, Part::Params, Some(sender));
    let (app, text) = (App::REVISION, params.text());
    match mcp_revisions_core::values::convert(subject, app, app, text, Default::default()) {
        Ok(Outcome::Lossy(params, losses)) => Some((params, losses)),
        _ => None,
    }
}
