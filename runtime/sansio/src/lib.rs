//! Connections of the Model Context Protocol (MCP) in every revision, without sockets and without a clock.
//!
//! A [`Connection`] is driven by a loop of three steps: hand in the next text, or the time; do what
//! [`poll`](Connection::poll) returns until that is `None`; wait for the next text, at most until
//! [`wake_at`](Connection::wake_at).
//!
//! ```
//! use std::sync::mpsc::{Receiver, RecvTimeoutError};
//! use std::time::{Duration, Instant};
//!
//! use mcp_revisions_sansio::{Connection, Event, IncomingRequest, Output, Server};
//! use mcp_wire::{ErrorObject, Json};
//!
//! /// Serves one client, whose messages come through a channel.
//! fn run(
//!     server: Server,
//!     texts: &Receiver<String>,
//!     mut send: impl FnMut(String),
//!     handle: impl Fn(&IncomingRequest) -> Result<Json, ErrorObject>,
//! ) {
//!     let (mut connection, start) = (Connection::new(server), Instant::now());
//!     loop {
//!         while let Some(output) = connection.poll() {
//!             match output {
//!                 Output::Send(text) => send(text.body),
//!                 Output::Event(Event::Request(call)) => {
//!                     let _ = connection.answer(call.token, handle(&call), start.elapsed());
//!                 }
//!                 _ => {}
//!             }
//!         }
//!         let wake_at = connection.wake_at().unwrap_or(Duration::MAX);
//!         match texts.recv_timeout(wake_at.saturating_sub(start.elapsed())) {
//!             Ok(text) => drop(connection.receive(None, text.as_bytes(), start.elapsed())),
//!             Err(RecvTimeoutError::Timeout) => connection.wake(start.elapsed()),
//!             Err(RecvTimeoutError::Disconnected) => return connection.closed(start.elapsed()),
//!         }
//!     }
//! }
//! ```
//!
//! Both roles use the same words: an [`IncomingRequest`] is a request for the application, which answers it by its
//! [`Token`]; an [`OutgoingRequest`] is a request of the application, [`Answered`] once; an [`Exchange`] is one text with
//! what belongs to it, over HTTP a POST and its response. [`server`] and [`client`] have an example each.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "client", feature = "server", feature = "ext-tasks")),
    allow(
        dead_code,
        unused_imports,
        reason = "each role, and tasks, use a part of what they share"
    )
)]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ask;
#[cfg(feature = "client")]
pub mod client;
mod connection;
pub mod driver;
pub mod errors;
mod events;
pub(crate) mod input_required;
pub(crate) mod json;
mod limits;
pub(crate) mod mistakes;
pub(crate) mod negotiate;
pub(crate) mod numbered;
pub mod params;
mod quote;
#[cfg(feature = "server")]
pub mod server;
mod sign_in;
mod sorted;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
pub(crate) mod time;
pub(crate) mod translate;
pub(crate) mod unread;
#[cfg(feature = "ext-events")]
pub mod webhooks;
mod withdrawn;

pub use ask::{Answer, Answered, Failure, InputRequired, OutgoingRequest, Question, Retry, Token};
pub use connection::{Connection, Role};
pub use events::{
    Caller, Cancelled, CustomNotification, CustomRequest, Event, Exchange, Fate, Ignored,
    IncomingRequest, LogLevel, MendedMessage, Notification, Output, Reopened, SendOutcome,
    ServerFacts, TaskState, To,
};
pub use limits::Limits;
pub use mcp_revisions_core::{LossHook, MessageLosses, PeerRole, Profile};
pub use mistakes::{MistakeHook, MistakeOutcome, PeerMistake};
#[cfg(feature = "server")]
pub use server::{Owner, Server};
pub use sign_in::{INSUFFICIENT_SCOPE, NeededSignIn};
pub use tasks::TaskStatus;
