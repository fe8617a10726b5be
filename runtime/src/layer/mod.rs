//! Layers around the messages of a server, a client or a bridge, in both directions: authorize, log, rewrite, answer, limit.
//!
//! A layer is an async function of a [`LayerMessage`]. It gets each request and each notification for the handlers, and
//! each that the application sends to its peer, those of methods that no revision has included. It reads and replaces the
//! params, answers or refuses the message itself, or passes it on with [`LayerMessage::forward`] and sees the result.
//!
//! Messages are of the application's revision, whichever revision the peer speaks. The first layer that is added is the
//! outermost: it sees a message first, and its result last.
//!
//! ```
//! use mcp_revisions::mcp_wire::{Direction, ErrorObject};
//! use mcp_revisions::service::{Router, ServeError};
//!
//! # fn main() -> Result<(), ServeError> {
//! let server = Router::new().build("example", "1.0")?.with_layer(|message| async move {
//!     if message.direction() == Direction::ClientToServer && message.method() == "prompts/get" {
//!         return Err(ErrorObject::new(-32000, "prompts are closed today"));
//!     }
//!     let (method, began) = (message.method().to_owned(), std::time::Instant::now());
//!     let result = message.forward().await;
//!     eprintln!("{method}: {:?}", began.elapsed());
//!     result
//! });
//! # drop(server);
//! # Ok(())
//! # }
//! ```

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
mod handler;
mod layers;

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use mcp_revisions_core::Revision;
use mcp_revisions_sansio::Caller;
use mcp_wire::{Decode, Direction, ErrorObject, Json};

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
use crate::transport::serve::{Peer, Session};
use crate::transport::spawn::Boxed;
use layers::RemainingLayers;

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub use handler::LayeredHandler;
/// For the crates that serve with this one.
#[doc(hidden)]
pub use layers::Layers;

/// Returns params as they are sent. Returns `None` if the application gave none and no layer has added any.
pub(crate) fn params_to_send<P: Borrow<Json>>(params: P, has_params: bool) -> Option<P> {
    (has_params || params.borrow().text() != "{}").then_some(params)
}

/// A message on its way through a layer: a request or a notification, to the handlers or to the peer.
pub struct LayerMessage {
    direction: Direction,
    is_request: bool,
    method: Cow<'static, str>,
    params: Json,
    revision: Option<Revision>,
    caller: Option<Arc<Caller>>,
    #[cfg(any(feature = "server-http", feature = "server-stdio"))]
    peer: Option<Peer>,
    #[cfg(any(feature = "server-http", feature = "server-stdio"))]
    session: Option<Session>,
    rest: Option<RemainingLayers>,
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
            #[cfg(any(feature = "server-http", feature = "server-stdio"))]
            peer: None,
            #[cfg(any(feature = "server-http", feature = "server-stdio"))]
            session: None,
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

impl fmt::Debug for LayerMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayerMessage")
            .field("direction", &self.direction)
            .field("method", &self.method)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}
