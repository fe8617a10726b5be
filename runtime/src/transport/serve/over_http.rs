//! The client of a call over HTTP: its headers, its session, and what layers have found out of it.

use super::Peer;

impl Peer {
    /// Returns the HTTP headers of the request, or `None` over stdio.
    #[must_use]
    pub fn headers(&self) -> Option<&::http::HeaderMap> {
        self.facts.parts.as_ref().map(|parts| &parts.headers)
    }

    /// Returns a value that a layer has inserted into the extensions of the request, such as its principal.
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.facts.parts.as_ref()?.extensions.get()
    }

    /// Returns the id of the session, over HTTP and in handshake revisions.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        let id = self.headers()?.get(crate::headers::SESSION_ID)?;
        id.to_str().ok()
    }
}
