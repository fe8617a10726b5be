//! A message on its way through layers, and the rest of its way.

use std::any::Any;
use std::borrow::{Borrow, Cow};
use std::sync::{Arc, Mutex};

use mcp_revisions_core::Revision;
use mcp_revisions_sansio::Caller;
use mcp_wire::{Decode, Direction, ErrorObject, Json};

use crate::service::Error;
use crate::transport::panics::lock;
use crate::transport::spawn::Boxed;

/// A layer, or the end of the way of a message: its handler, or its peer.
pub(super) type LayerFn =
    dyn Fn(LayerMessage) -> Boxed<'static, Result<Json, ErrorObject>> + Send + Sync + 'static;

/// Returns params as they are sent. Returns `None` if the application gave none and no layer has added any.
pub(crate) fn params_to_send<P: Borrow<Json>>(params: P, has_params: bool) -> Option<P> {
    (has_params || params.borrow().text() != "{}").then_some(params)
}

/// A message on its way through a layer: a request or a notification, to the handlers or to the peer.
///
/// A clone is the same message at the same layer, and can be forwarded as well.
#[derive(Clone)]
pub struct LayerMessage {
    direction: Direction,
    is_request: bool,
    method: Cow<'static, str>,
    params: Json,
    revision: Option<Revision>,
    caller: Option<Arc<Caller>>,
    /// The client that it comes from or goes to, as the server knows it.
    client: Option<Arc<dyn Any + Send + Sync>>,
    outcome: MessageOutcome,
    rest: Option<RemainingLayers>,
}

/// The outcome of a request besides its result, at a client and at a bridge: it is known once the request has been forwarded, and is
/// that of the last time if it was forwarded again. Clones are the outcome of the same message.
#[derive(Debug, Clone, Default)]
pub struct MessageOutcome(Arc<Mutex<OutcomeFacts>>);

#[derive(Debug, Default)]
struct OutcomeFacts {
    revision: Option<Revision>,
    failure: Option<Error>,
}

impl MessageOutcome {
    /// Returns the revision of the server that got the request. Returns `None` if no server did, for notifications, and at
    /// a server.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        lock(&self.0).revision
    }

    /// Returns the error because of which no answer of the server has arrived. Returns `None` if one has, even an error, for
    /// notifications, and at a server.
    #[must_use]
    pub fn failure(&self) -> Option<Error> {
        lock(&self.0).failure.clone()
    }

    /// Sets the revision of the server that gets the request.
    #[doc(hidden)]
    pub fn set_revision(&self, revision: Revision) {
        lock(&self.0).revision = Some(revision);
    }

    /// Sets the reason why no answer of the server has arrived, and returns the error that stands for it.
    #[doc(hidden)]
    #[must_use]
    pub fn fail(&self, why: Error) -> ErrorObject {
        let error = mcp_revisions_sansio::errors::internal(&why.to_string()).error;
        lock(&self.0).failure = Some(why);
        error
    }
}

impl LayerMessage {
    /// Creates a message that is in no layer yet; `{}` for no params.
    pub(crate) fn new(
        direction: Direction,
        is_request: bool,
        method: impl Into<Cow<'static, str>>,
        params: Json,
    ) -> Self {
        Self {
            direction,
            is_request,
            method: method.into(),
            params,
            revision: None,
            caller: None,
            client: None,
            outcome: MessageOutcome::default(),
            rest: None,
        }
    }

    /// Sets the revision of the peer, and the identity of the sender.
    pub(crate) fn with_sender(
        mut self,
        revision: Option<Revision>,
        caller: Option<Arc<Caller>>,
    ) -> Self {
        self.revision = revision;
        self.caller = caller;
        self
    }

    /// Sets the client that the message comes from or goes to, in the server's own type.
    pub(crate) fn with_client(mut self, client: impl Any + Send + Sync) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Returns the client of the message, if it is of this type.
    pub(crate) fn client<T: 'static>(&self) -> Option<&T> {
        self.client.as_ref()?.downcast_ref()
    }

    /// Returns the direction of the message: from the client to the server, or back.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns whether the message is a request, which has a result; false for a notification.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.is_request
    }

    /// Returns the method, such as `tools/call`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the params, in the application's revision; `{}` if there are none.
    #[must_use]
    pub fn params(&self) -> &Json {
        &self.params
    }

    /// Returns the params as a type of the application's revision: `message.read::<mcp::CallToolRequestParams>()`.
    ///
    /// # Errors
    /// Returns an error if the params are not of this type.
    pub fn read<T: Decode>(&self) -> Result<T, mcp_wire::Error> {
        self.params.read()
    }

    pub(crate) fn into_params(self) -> Json {
        self.params
    }

    /// Returns the outcome of the message, to be read once it has been forwarded.
    #[must_use]
    pub fn outcome(&self) -> MessageOutcome {
        self.outcome.clone()
    }

    /// Replaces the params.
    #[must_use]
    pub fn with_params(mut self, params: Json) -> Self {
        self.params = params;
        self
    }

    /// Returns the revision that the peer speaks; `None` if it is not known: for messages of a server, and for
    /// those of a client before its first response.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Returns the name and the capabilities of the peer that sent the request; `None` for other messages.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.caller.as_deref()
    }

    /// Passes the message on: to the next layer, then to the handler or to the peer. Returns the result of a request, and `{}`
    /// of a notification, which is handled or sent once all layers have returned.
    /// Dropping the future cancels the request: its handler is dropped, or the peer is notified.
    ///
    /// A layer that sends a request again keeps a clone, and forwards that. The request then runs a second time: do so only if it
    /// had no effect, as the [`outcome`](Self::outcome) may say, or if a second time does no harm.
    ///
    /// # Errors
    /// Returns the error that answers the request, or why it has no answer.
    pub async fn forward(self) -> Result<Json, ErrorObject> {
        self.forwarded().await
    }

    #[inline(never)]
    fn forwarded(mut self) -> Boxed<'static, Result<Json, ErrorObject>> {
        match self.rest.take() {
            Some(rest) => rest.run(self),
            None => Box::pin(std::future::ready(Ok(Json::default()))),
        }
    }
}

mcp_wire::debug_struct!([] LayerMessage, "LayerMessage", self,
    "direction": self.direction,
    "method": self.method,
    "revision": self.revision
);

/// The rest of the way of a message.
#[derive(Clone)]
pub(super) struct RemainingLayers {
    layers: Arc<Vec<Arc<LayerFn>>>,
    /// The index of the next layer.
    next: usize,
    last: Arc<LayerFn>,
}

impl RemainingLayers {
    /// Returns the way through all of these layers to the handler, or to the peer.
    pub(super) fn all(layers: &Arc<Vec<Arc<LayerFn>>>, last: Arc<LayerFn>) -> Self {
        Self {
            layers: Arc::clone(layers),
            next: 0,
            last,
        }
    }

    /// Passes a message on.
    pub(super) fn run(self, message: LayerMessage) -> Boxed<'static, Result<Json, ErrorObject>> {
        let layer = self.layers.get(self.next).map(Arc::clone);
        match layer {
            Some(layer) => layer(LayerMessage {
                rest: Some(Self {
                    next: self.next + 1,
                    ..self
                }),
                ..message
            }),
            None => {
                *lock(&message.outcome.0) = OutcomeFacts::default();
                (self.last)(message)
            }
        }
    }
}
