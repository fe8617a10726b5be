//! The stand-in for calls over HTTP, without feature `server-http`: no call has a head, and every scope is there.

use mcp_wire::ErrorObject;

use super::{ExchangeFacts, Peer};

/// The head of a request: no request has one.
pub(crate) enum RequestParts {}

impl Peer {
    /// Returns `None`: no request has headers.
    pub(crate) fn header(&self, _: &str) -> Option<&str> {
        None
    }

    /// Returns that the scopes are there.
    ///
    /// # Errors
    /// Returns no error: the signature is that with feature `server-http`.
    pub fn require_scopes<S: AsRef<str>>(
        &self,
        _: impl IntoIterator<Item = S>,
    ) -> Result<(), ErrorObject> {
        Ok(())
    }
}

impl ExchangeFacts {
    /// Returns `None`: no request has extensions.
    pub(crate) fn inserted<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        None
    }
}
