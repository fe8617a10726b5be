//! The stand-in for the spans of calls, without feature `tracing`.

use mcp_revisions_sansio::server::{IncomingRequest, MessageLosses};
use mcp_wire::ErrorObject;

use crate::serve::Peer;

/// The span of a call: none.
pub(super) struct NoSpan {}

pub(super) fn quiet(hook: impl Fn(&MessageLosses<'_>)) -> impl Fn(&MessageLosses<'_>) {
    hook
}

pub(super) fn span<M>(_: &IncomingRequest<M>, _: &Peer) -> NoSpan {
    NoSpan {}
}

pub(super) fn within<F: Future>(_: &NoSpan, handler: F) -> F {
    handler
}

/// Records nothing.
pub(super) fn record_error(_: &NoSpan, _: &ErrorObject) {}
