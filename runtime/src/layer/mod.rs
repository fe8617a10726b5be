//! Layers around the messages of a server, a client or a bridge, in both directions: authorize, log, rewrite, answer, limit.
//!
//! A layer is an async function of a [`LayerMessage`]. It gets each request and each notification for the handlers, and
//! each that the application sends to its peer, those of methods that no revision has included. It reads and replaces the
//! params, answers or refuses the message itself, or passes it on with [`LayerMessage::forward`] and sees the result.
//!
//! Messages are of the application's revision, whichever revision the peer speaks. The first layer that is added is the
//! outermost: it sees a message first, and its result last. A layer that sends a request again forwards a clone of it.
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

mod layers;
mod message;

/// For the crates that serve with this one.
#[doc(hidden)]
pub use layers::Layers;
pub(crate) use message::params_to_send;
pub use message::{LayerMessage, MessageOutcome};
