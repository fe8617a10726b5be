//! A handler of a server within layers.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_revisions_sansio::server::{
    AppProfile, Caller, CustomNotification, CustomRequest, IncomingRequest, LogLevel, Notification,
};
use mcp_wire::{Direction, ErrorObject, Json};

use super::{Handler, Peer, Session};
use crate::layer::{LayerMessage, Layers, MessageOutcome};
use crate::transport::spawn::Boxed;
use mcp_revisions_sansio::errors::Refusal;

impl Layers {
    /// Passes a request of a client through the layers, to `last`, which is called each time that the innermost layer forwards it.
    pub fn request<M, A>(
        &self,
        mut call: IncomingRequest<M>,
        peer: Peer,
        last: impl Fn(IncomingRequest<M>, MessageOutcome) -> A + Send + Sync + 'static,
    ) -> Boxed<'static, Result<Json, ErrorObject>>
    where
        M: Clone + Into<Cow<'static, str>> + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        let params = std::mem::take(&mut call.params);
        let session = peer.session();
        let message =
            LayerMessage::new(Direction::ClientToServer, true, call.method.clone(), params)
                .with_sender(Some(call.revision), Some(Arc::clone(&call.caller)))
                .of_client(Some(peer), session);
        self.run(message, move |message| {
            let outcome = message.outcome();
            let mut forwarded = call.clone();
            forwarded.params = message.into_params();
            last(forwarded, outcome)
        })
    }

    /// Returns a client whose notifications and requests pass the layers.
    #[must_use]
    pub fn around_peer(&self, peer: Peer) -> Peer {
        peer.with_layers(self)
    }

    /// Returns a session whose notifications and requests pass the layers.
    #[must_use]
    pub fn around(&self, session: Session) -> Session {
        session.with_layers(self)
    }

    /// Passes a notification of a client through the layers, to `last`. Messages of its session pass them, too.
    pub fn notice<M>(
        &self,
        mut notice: Notification<M>,
        session: Session,
        last: impl FnOnce(Notification<M>, Session) + Send + 'static,
    ) where
        M: Clone + Into<Cow<'static, str>> + Send + 'static,
    {
        if self.is_empty() {
            return last(notice, session);
        }
        let params = std::mem::take(&mut notice.params);
        let method = notice.method.clone();
        let message = LayerMessage::new(Direction::ClientToServer, false, method, params)
            .with_sender(Some(notice.revision), None)
            .of_client(None, session.clone());
        let layered = session.with_layers(self);
        self.pass_soon(message, move |params| {
            notice.params = params;
            last(notice, layered);
        });
    }
}

/// A handler within layers: messages to it pass them, and messages that it sends to its clients.
///
/// [`McpServer::with_layer`](crate::service::McpServer::with_layer) and `mcp_bridge::Bridge::with_layer` need none; this is for a
/// [`Handler`] of your own.
#[derive(Debug)]
pub struct LayeredHandler<H> {
    handler: Arc<H>,
    layers: Layers,
}

impl<H: Handler> LayeredHandler<H> {
    /// Creates a handler without a layer.
    pub fn new(handler: H) -> Self {
        Self::within(handler, Layers::default())
    }

    pub(crate) fn within(handler: H, layers: Layers) -> Self {
        Self {
            handler: Arc::new(handler),
            layers,
        }
    }

    /// Adds a layer within the others.
    #[must_use]
    pub fn with_layer<F, A>(mut self, layer: F) -> Self
    where
        F: Fn(LayerMessage) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        self.layers.add(layer);
        self
    }
}

impl<H: Handler> Handler for LayeredHandler<H> {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        if self.layers.is_empty() {
            return self.handler.call(call, peer).await;
        }
        let (handler, layered) = (
            Arc::clone(&self.handler),
            self.layers.around_peer(peer.clone()),
        );
        let answer = self.layers.request(call, peer, move |call, _| {
            let (handler, peer) = (Arc::clone(&handler), layered.clone());
            async move { handler.call(call, peer).await }
        });
        answer.await
    }

    async fn custom_request(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        if self.layers.is_empty() {
            return self.handler.custom_request(call, peer).await;
        }
        let (handler, layered) = (
            Arc::clone(&self.handler),
            self.layers.around_peer(peer.clone()),
        );
        let answer = self.layers.request(call, peer, move |call, _| {
            let (handler, peer) = (Arc::clone(&handler), layered.clone());
            async move { handler.custom_request(call, peer).await }
        });
        answer.await
    }

    async fn application(
        &self,
        caller: Arc<Caller>,
        session: Session,
    ) -> Result<AppProfile, Box<Refusal>> {
        self.handler.application(caller, session).await
    }

    fn notice(&self, notice: Notification, session: Session) {
        let handler = Arc::clone(&self.handler);
        self.layers.notice(notice, session, move |notice, session| {
            handler.notice(notice, session)
        });
    }

    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        let handler = Arc::clone(&self.handler);
        self.layers.notice(notice, session, move |notice, session| {
            handler.custom_notification(notice, session);
        });
    }

    fn on_log_level(&self, level: LogLevel, session: Session) {
        self.handler
            .on_log_level(level, session.with_layers(&self.layers));
    }

    fn on_initialized(&self, session: Session) {
        self.handler
            .on_initialized(session.with_layers(&self.layers));
    }
}
