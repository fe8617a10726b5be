//! The stand-in for metrics, without feature `metrics`.

use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json};

/// A request to a server, of which nothing is recorded.
#[doc(hidden)]
pub struct ClientOperation;

impl ClientOperation {
    /// Measures nothing.
    #[must_use]
    pub fn begin(_: &str, _: Option<&str>) -> Self {
        Self
    }

    /// Records nothing.
    pub fn end(self, _: Result<&Json, Option<&ErrorObject>>, _: Option<Revision>) {}
}

pub(super) fn refused(_: u16) {}

pub(super) fn message_dropped(_: &str) {}

pub(super) fn session_taken_over() {}

pub(super) fn backplane(_: bool) {}

pub(crate) fn set_levels(_: &[(&'static str, usize)]) {}

/// The metrics of a server: none.
pub(crate) mod server {
    use mcp_revisions_sansio::MessageLosses;

    pub(crate) fn observed<H>(handler: H, _: &'static str) -> H {
        handler
    }

    pub(crate) fn lost(_: &MessageLosses<'_>) {}
}
