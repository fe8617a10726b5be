//! Connections without input and output: bytes, headers and the time go in, messages and events come out.
//!
//! [`service`](crate::service) has servers and clients that run. A program that brings its own sockets or its own clock
//! drives a [`Connection`] instead, in the role of a [`Server`] or of a [`client`].

#[cfg(feature = "sansio-client")]
pub use crate::protocol::client;
#[cfg(feature = "sansio-server")]
pub use crate::protocol::server::{self, Server};
pub use crate::protocol::{
    Answer, Answered, Caller, Cancelled, Connection, CustomNotification, CustomRequest, Event,
    Exchange, Failure, Fate, Ignored, IncomingRequest, InputRequired, LogLevel, Mended,
    MistakeOutcome, NeedsAdapter, Notification, OutgoingRequest, Output, PeerMistake, Profile,
    Question, Refused, Reopened, Retry, Role, Said, ServerFacts, TaskState, TaskStatus, To, Token,
};
