//! The protocol without a socket: input and time go in, outputs come out, in one idiom on either end.
//!
//! A [`Connection`] is one end of one connection; its [`Role`] says which. Both look once at an incoming text
//! ([`peek`](mcp_wire::peek())), find out its revision ([`negotiate()`](crate::negotiate())), carry it over by one translation, and speak of it in
//! the same words: an [`IncomingRequest`] is a request for the application, to be answered by its [`Token`]; an
//! [`OutgoingRequest`] is a request of the application, [`Answered`] once; an [`Exchange`] is one text with what belongs to it, over HTTP a POST.

mod ask;
#[cfg(feature = "sansio-client")]
pub mod client;
mod connection;
mod events;
pub(crate) mod input_required;
pub(crate) mod json;
pub(crate) mod lost;
#[cfg(feature = "sansio-client")]
mod mend;
pub(crate) mod mistakes;
mod needs;
pub(crate) mod negotiate;
#[allow(
    dead_code,
    reason = "a map has what maps have, whichever role calls it"
)]
pub(crate) mod numbered;
#[cfg(any(feature = "sansio-client", feature = "server-http"))]
pub(crate) mod params;
#[cfg(feature = "sansio-server")]
pub mod server;
#[cfg(feature = "sansio-server")]
mod sessions;
pub(crate) mod subscriptions;
#[cfg_attr(
    not(any(feature = "server-http", feature = "server-stdio")),
    allow(
        dead_code,
        unused_imports,
        reason = "tasks of a server run behind a transport"
    )
)]
pub(crate) mod tasks;
pub(crate) mod translate;
pub(crate) mod unread;
mod withdrawn;

#[cfg(feature = "client-http")]
pub(crate) use ask::own_id;
pub use ask::{
    Answer, Answered, Failure, InputRequired, OutgoingRequest, Question, Refused, Retry, Token,
};
pub use connection::{Connection, Role};
pub use events::{
    Caller, Cancelled, CustomNotification, CustomRequest, Event, Exchange, Fate, Ignored,
    IncomingRequest, LogLevel, Mended, Notification, Output, Reopened, Said, ServerFacts,
    TaskState, To,
};
pub use mcp_revisions_core::Profile;
pub use mistakes::{MistakeOutcome, PeerMistake};
pub use needs::NeedsAdapter;
pub use tasks::TaskStatus;
