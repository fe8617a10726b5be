//! The stand-in for the spans of calls, without feature `tracing`.

use mcp_revisions_sansio::server::IncomingRequest;
use mcp_wire::ErrorObject;

use crate::serve::Peer;

/// The span of a call: none.
pub(super) struct CallSpan {}

impl CallSpan {
    pub(super) fn open(_: &IncomingRequest, _: &Peer) -> Self {
        Self {}
    }

    /// Returns the future of a handler as it is.
    pub(super) fn around<F: Future>(&self, handler: F) -> F {
        handler
    }

    /// Records nothing.
    pub(super) fn record_error(&self, _: &ErrorObject) {}
}
