//! The client of a call over HTTP: its headers, its session, and what layers have found out of it.

use super::{ExchangeFacts, Peer};
pub(crate) use ::http::request::Parts as RequestParts;

impl Peer {
    /// Returns the value of a header of the request, if it is visible ASCII.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers()?.get(name)?.to_str().ok()
    }

    /// Returns the HTTP headers of the request, or `None` over stdio.
    #[must_use]
    pub fn headers(&self) -> Option<&::http::HeaderMap> {
        self.facts.parts.as_ref().map(|parts| &parts.headers)
    }

    /// Returns a value that a layer has inserted into the extensions of the request, such as its principal.
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.facts.inserted()
    }

    /// Returns the id of the session, over HTTP and in handshake revisions.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.header(mcp_revisions_core::headers::SESSION_ID)
    }
}

impl ExchangeFacts {
    /// Returns a value of the extensions of the request; without feature `server-http`, there is none.
    pub(crate) fn inserted<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.parts.as_ref()?.extensions.get()
    }
}
