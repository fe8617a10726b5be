//! Layers around messages to a client.

use mcp_revisions_sansio::Fate;
use mcp_wire::{Direction, ErrorObject, Json};

use super::{Peer, Session};
use crate::layer::{LayerMessage, Layers, params_to_send};
use crate::transport::spawn::Boxed;

/// The rule of a notification that a layer has not forwarded, or holds.
const NOT_FORWARDED: Fate = Fate::Dropped("layer");

/// The client of a message in layers; messages that it sends pass none.
struct MessageClient {
    peer: Option<Peer>,
    session: Session,
}

impl LayerMessage {
    /// Sets the client of the call, and its session.
    pub(crate) fn of_client(self, peer: Option<Peer>, session: Session) -> Self {
        self.with_client(MessageClient { peer, session })
    }

    /// Returns the client of the call that the message is, or belongs to, with its HTTP headers and extensions; `None` for
    /// messages of no call, and at a client. Messages that it sends pass no layer.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        self.client::<MessageClient>()?.peer.as_ref()
    }

    /// Returns the session of the client, with its owner; `None` at a client. Messages that it sends pass no layer.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        Some(&self.client::<MessageClient>()?.session)
    }
}

/// Returns a message to a client that is in no layer yet.
fn outgoing(is_request: bool, method: &str, params: Option<&Json>) -> LayerMessage {
    LayerMessage::new(
        Direction::ServerToClient,
        is_request,
        method.to_owned(),
        params.cloned().unwrap_or_default(),
    )
}

impl Peer {
    /// Returns the peer within layers, which its messages pass.
    pub(crate) fn with_layers(mut self, layers: &Layers) -> Self {
        self.layers = layers.clone();
        self
    }

    fn without_layers(&self) -> Self {
        self.clone().with_layers(&Layers::default())
    }

    fn message(&self, is_request: bool, method: &str, params: Option<&Json>) -> LayerMessage {
        let peer = self.without_layers();
        let session = peer.session();
        outgoing(is_request, method, params).of_client(Some(peer), session)
    }

    pub(super) async fn notify_through_layers(&self, method: &str, params: Option<&Json>) -> Fate {
        let message = self.message(false, method, params);
        let Some(passed) = self.layers.pass(message).await else {
            return NOT_FORWARDED;
        };
        let peer = self.without_layers();
        peer.notified(method, params_to_send(&passed, params.is_some()))
            .await
    }

    pub(super) fn try_notify_through_layers(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Option<Fate> {
        let message = self.message(false, method, params);
        let (peer, has_params) = (self.without_layers(), params.is_some());
        let name = method.to_owned();
        let passed = self.layers.pass_soon(message, move |params| {
            peer.try_notify(&name, params_to_send(&params, has_params))
        });
        passed.unwrap_or(Some(NOT_FORWARDED))
    }

    pub(super) fn ask_through_layers(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Boxed<'static, Result<Json, ErrorObject>> {
        let message = self.message(true, method, params);
        let (peer, has_params) = (self.without_layers(), params.is_some());
        let name = method.to_owned();
        self.layers.run(message, move |message| {
            let (peer, name, params) = (peer.clone(), name.clone(), message.into_params());
            async move {
                peer.ask_boxed(&name, params_to_send(&params, has_params))
                    .await
            }
        })
    }
}

impl Session {
    /// Returns the session within layers, which its messages pass.
    pub(crate) fn with_layers(mut self, layers: &Layers) -> Self {
        self.layers = layers.clone();
        self
    }

    fn without_layers(&self) -> Self {
        self.clone().with_layers(&Layers::default())
    }

    fn message(&self, is_request: bool, method: &str, params: Option<&Json>) -> LayerMessage {
        outgoing(is_request, method, params).of_client(None, self.without_layers())
    }

    pub(super) fn notify_through_layers(&self, method: &str, params: Option<&Json>) -> Fate {
        let message = self.message(false, method, params);
        let (session, has_params) = (self.without_layers(), params.is_some());
        let name = method.to_owned();
        let passed = self.layers.pass_soon(message, move |params| {
            session.notify(&name, params_to_send(&params, has_params))
        });
        passed.unwrap_or(NOT_FORWARDED)
    }

    pub(super) fn ask_through_layers(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Boxed<'static, Result<Json, ErrorObject>> {
        let message = self.message(true, method, params);
        let (session, has_params) = (self.without_layers(), params.is_some());
        let name = method.to_owned();
        self.layers.run(message, move |message| {
            let (session, name, params) = (session.clone(), name.clone(), message.into_params());
            async move {
                session
                    .ask_boxed(&name, params_to_send(&params, has_params))
                    .await
            }
        })
    }
}
