//! The connection over which requests come.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// The connection of a request. [`serve`](crate::http::serve), [`serve_until`](crate::http::serve_until) and
/// [`serve_layered`](crate::http::serve_layered) insert it into the extensions of requests; in another server, do so for the
/// layers and handlers that tell connections apart.
#[derive(Debug, Clone)]
pub struct PeerConnection(Weak<()>);

impl PeerConnection {
    /// Returns the connection that is open for as long as `open` is kept, and no longer.
    #[must_use]
    pub fn new(open: &Arc<()>) -> Self {
        Self(Arc::downgrade(open))
    }

    /// Returns whether the connection is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.strong_count() == 0
    }
}

/// Two are equal if they are one connection.
impl PartialEq for PeerConnection {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for PeerConnection {}

impl Hash for PeerConnection {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The place is not taken by another as long as there is a handle.
        self.0.as_ptr().hash(state);
    }
}
