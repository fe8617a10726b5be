//! The protocol without a socket: input and time go in, outputs come out, in one idiom on either end.
//!
//! A [`Connection`] is one end of one connection; its [`Role`] says which. Both look once at an incoming text
//! ([`peek`](mcp_wire::peek())), find out its revision ([`negotiate()`](mcp_revisions_core::negotiate())), carry it over by one translation, and speak of it in
//! the same words: an [`IncomingRequest`] is a request for the application, to be answered by its [`Token`]; an
//! [`OutgoingRequest`] is a request of the application, [`Answered`] once; an [`Exchange`] is one text with what belongs to it, over HTTP a POST.

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
pub mod errors;
mod events;
pub(crate) mod input_required;
pub(crate) mod json;
mod limits;
pub(crate) mod mistakes;
mod needs;
pub(crate) mod negotiate;
pub(crate) mod numbered;
pub mod params;
mod quote;
#[cfg(feature = "server")]
pub mod server;
mod sign_in;
mod sorted;
pub mod subscriptions;
pub mod tasks;
pub(crate) mod translate;
pub mod transport;
pub(crate) mod unread;
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
pub use needs::NeedsAdapter;
#[cfg(feature = "server")]
pub use server::{Owner, Server};
pub use sign_in::{INSUFFICIENT_SCOPE, NeededSignIn};
pub use tasks::TaskStatus;
