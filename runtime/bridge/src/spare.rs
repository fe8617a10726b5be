//! The connection by which a service learned what its upstream server speaks: it serves the client that it was made for.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_revisions::sansio::client::Channel;
use mcp_revisions::sansio::server::Caller;
use mcp_revisions_core::{Lifecycle, Revision};

use crate::identity;
use crate::link::ServerLink;
use crate::servers::ServerStart;
use crate::settings::BridgeSettings;

/// A connection that was made on behalf of the first client, until a client takes it.
pub(crate) struct Spare(Mutex<Option<(ServerLink, Arc<Caller>)>>);

impl Spare {
    pub(crate) fn new(link: ServerLink, caller: Arc<Caller>) -> Self {
        Self(Mutex::new(Some((link, caller))))
    }

    /// Returns the connection for a client, if the server was sent the name and the capabilities of this client.
    ///
    /// A server with the per-request lifecycle is sent them with each request, and suits every client. One with the
    /// handshake lifecycle was sent them once: it would know another client by this name, and a client that can do less would
    /// be asked what it cannot answer. That client needs another connection, and this one is ended before if it is a program,
    /// which may hold a port. At a URL it stays until the bridge ends: some servers end for all with their first session.
    pub(crate) async fn take_for(
        &self,
        settings: &BridgeSettings,
        app: Revision,
        caller: &Caller,
    ) -> Option<ServerLink> {
        let (spare, for_whom) = self.take()?;
        let has_name = settings.client_info.is_some() || caller.info == for_whom.info;
        let fits = app.lifecycle() == Lifecycle::PerRequest
            || (has_name && identity::can_the_same(caller, &for_whom, app));
        if !fits && matches!(settings.upstream.channel(), Channel::Http) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((spare, for_whom));
            return None;
        }
        if fits && !spare.has_ended() {
            return Some(spare);
        }
        spare.close().await;
        None
    }

    /// Ends the connection that no client has taken.
    pub(crate) async fn end(&self) {
        if let Some((spare, _)) = self.take() {
            spare.close().await;
        }
    }

    fn take(&self) -> Option<(ServerLink, Arc<Caller>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Starts servers of a revision that is known; the first is the spare one, if it suits its client.
    pub(crate) fn start(
        settings: &Arc<BridgeSettings>,
        app: Revision,
        spare: Arc<Self>,
    ) -> ServerStart {
        let settings = Arc::clone(settings);
        Arc::new(move |caller: Arc<Caller>| {
            let (settings, spare) = (Arc::clone(&settings), Arc::clone(&spare));
            Box::pin(async move {
                match spare.take_for(&settings, app, &caller).await {
                    Some(spare) => Ok(spare.serving(app, &caller)),
                    None => ServerLink::start(&settings, app, &caller).await,
                }
            })
        })
    }
}
