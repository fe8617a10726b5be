//! The stand-in for metrics, without feature `metrics`.

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
use std::sync::Arc;

#[cfg(feature = "client")]
use mcp_revisions_core::Revision;

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
use crate::serve::AnyHandler;
#[cfg(feature = "client")]
use mcp_revisions_sansio::Answer;
#[cfg(any(feature = "server-http", feature = "server-stdio"))]
use mcp_revisions_sansio::server::Lost;

/// A request to a server, of which nothing is recorded.
#[cfg(feature = "client")]
pub struct ClientOperation;

#[cfg(feature = "client")]
impl ClientOperation {
    /// Measures nothing.
    #[must_use]
    pub fn begin(_: &str, _: Option<&str>) -> Self {
        Self
    }

    /// Records nothing.
    pub fn end(self, _: &Answer, _: Option<Revision>) {}
}

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub(crate) fn observed(handler: Arc<dyn AnyHandler>, _: &'static str) -> Arc<dyn AnyHandler> {
    handler
}

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub(crate) fn lost(_: &Lost<'_>) {}

#[cfg(feature = "server-http")]
pub(super) fn refused(_: u16) {}

#[cfg(feature = "server-http")]
pub(super) fn session_taken_over() {}

#[cfg(feature = "redis")]
pub(super) fn backplane(_: bool) {}

#[cfg(feature = "server-http")]
pub(super) fn set_levels(_: &crate::transport::http::Counters) {}
