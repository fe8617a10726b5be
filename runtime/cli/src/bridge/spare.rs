//! The connection by which a listener learns what its server speaks: it serves the first client that it fits.

use std::sync::{Mutex, PoisonError};

use mcp_registry::{Era, Revision};
use mcp_revisions::client::Channel;
use mcp_revisions::server::Caller;

use super::identity;
use super::upstream::Negotiated;
use super::wire::Wire;

/// A server that was started on behalf of nobody, until a client takes it.
pub(super) struct Spare(Mutex<Option<Negotiated>>);

impl Spare {
    pub(super) fn new(negotiated: Option<Negotiated>) -> Self {
        Self(Mutex::new(negotiated))
    }

    /// The server of the revision `app` for a client, if it is told of that client what it was told of nobody.
    ///
    /// A server of the modern era is told of each client with each request. An older one was told once what its client
    /// can do: one that can do less would be asked what it cannot answer. It needs a server of its own, and this one is
    /// ended before that is started if it is a program, which may hold a port. At a URL it stays until the bridge ends:
    /// some servers end for all with their first session.
    pub(super) async fn take_for(
        &self,
        app: Revision,
        caller: &Caller,
        wire: &Wire,
    ) -> Option<Negotiated> {
        let fits = app.era() == Era::PerRequest
            || identity::can_the_same(caller, &identity::anyone(), app);
        if !fits && matches!(wire.channel(), Channel::Http) {
            return None;
        }
        let mut spare = self.take()?;
        if fits && !spare.has_ended().await {
            return Some(spare);
        }
        spare.end().await;
        None
    }

    /// Ends the server that no client has taken.
    pub(super) async fn end(&self) {
        if let Some(spare) = self.take() {
            spare.end().await;
        }
    }

    fn take(&self) -> Option<Negotiated> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
