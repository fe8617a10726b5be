//! The seam for what no conversion can do: small state machines, plugged into a channel.
//!
//! A conversion that needs to know more than the value at hand says whose business it is ([`Adapter`]).
//! If a [`StateMachine`] for it is plugged into the channel, it is handed the [`Occasion`] and says what to do, in
//! [`Step`]s; it never sees bytes, ids or sockets, and keeps what it has to remember for this channel by itself.
//! If none is, the occasion becomes a typed [`NeedsAdapter`], and the peer is told that this cannot be done.
//!
//! | adapter | occasion | what a machine does |
//! |---|---|---|
//! | multi round-trip, legacy client | [`Result`](Occasion::Result) with `input_required` | [`Ask`](Step::Ask) the client each of `inputRequests`, then [`Call`](Step::Call) the application again with `inputResponses` |
//! | multi round-trip, modern client | [`ServerRequest`](Occasion::ServerRequest) while a call waits | [`Answer`](Step::Answer) the call with `input_required`; on the retry ([`Request`](Occasion::Request)) [`Deliver`](Step::Deliver) the answer |
//! | subscription, legacy client | `Request` of `resources/subscribe` | note the URI, `Call` the application with `subscriptions/listen`, `Answer` with `{}` |
//! | subscription, modern client | `Request` of `subscriptions/listen`, later [`Notification`](Occasion::Notification) | `Call` the application with `resources/subscribe` for each URI; pass notifications on with [`Notify`](Step::Notify) |
//! | tasks | `Result` or `Request` of a task | wait for the task by calls of its own, then `Answer` |
//! | URL elicitation id | `ServerRequest` of an elicitation | `Ask` with an id of its own |

use std::fmt;
use std::time::Duration;

use mcp_registry::{Adapter, NeedsState, Revision};
use mcp_wire::{ErrorObject, Json};

use super::call::Token;

/// Something that no conversion can carry over, and no plugged-in machine took.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedsAdapter {
    /// Whose business it is.
    pub adapter: Adapter,
    /// The rule in `spec/shims/` that says so.
    pub rule: &'static str,
    /// The hop at which it came up.
    pub hop: &'static str,
    /// The method concerned.
    pub method: String,
    /// The revision of the peer.
    pub peer: Revision,
}

impl NeedsAdapter {
    pub(crate) fn new(needs: &NeedsState, method: &str, peer: Revision) -> Self {
        let NeedsState { adapter, rule, hop } = *needs;
        Self {
            adapter,
            rule,
            hop,
            method: method.to_owned(),
            peer,
        }
    }
}

impl fmt::Display for NeedsAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            adapter,
            rule,
            hop,
            method,
            peer,
        } = self;
        write!(
            f,
            "`{method}` with a peer of {peer} needs the {adapter} adapter ({hop}, {rule})"
        )
    }
}

impl std::error::Error for NeedsAdapter {}

/// A state machine that does what a conversion cannot, for one channel.
pub trait StateMachine: Send {
    /// What it stands in for.
    fn adapter(&self) -> Adapter;

    /// Says what to do; `None` where the occasion is not its business after all.
    fn on(&mut self, occasion: Occasion<'_>, now: Duration) -> Option<Vec<Step>>;

    /// When it wants to be woken by [`Server::tick`](super::Server::tick), on the caller's clock.
    fn wake_at(&self) -> Option<Duration> {
        None
    }
}

/// What came up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Occasion<'a> {
    /// A request of the peer that the application's revision does not have, or cannot hold.
    Request {
        /// What to answer it by.
        token: Token,
        /// The method, of the peer's revision.
        method: &'static str,
        /// The params, in the peer's revision.
        params: &'a Json,
        /// The revision of the peer.
        peer: Revision,
    },
    /// The application's answer, which the peer's revision does not have.
    Result {
        /// The request; it still waits.
        token: Token,
        /// Its method.
        method: &'static str,
        /// The params that the application was called with, in its revision.
        params: &'a Json,
        /// The answer, in the application's revision.
        result: Result<&'a Json, &'a ErrorObject>,
        /// The revision of the peer.
        peer: Revision,
    },
    /// A notification of the application that the peer's revision has in another form.
    Notification {
        /// The method, of the application's revision.
        method: &'a str,
        /// The params, in the application's revision.
        params: &'a Json,
    },
    /// A request of the application to a peer that takes none.
    ServerRequest {
        /// The key that the answer has to bear.
        key: u64,
        /// The method, of the application's revision.
        method: &'a str,
        /// The params, in the application's revision.
        params: &'a Json,
    },
    /// The answer to an [`Ask`](Step::Ask), in the peer's revision.
    Answered {
        /// The key of the `Ask`.
        key: u64,
        /// What the peer answered.
        result: Result<&'a Json, &'a ErrorObject>,
    },
    /// A request that the machine answers for was cancelled by the peer.
    Cancelled {
        /// The request; it waits no more.
        token: Token,
    },
    /// The time that it asked for has come.
    Time,
}

/// What a machine wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Answer a request of the peer, in the peer's revision.
    Answer(Token, Result<Json, ErrorObject>),
    /// Call the application, in its revision, on behalf of a request of the peer that still waits.
    Call {
        /// The request.
        token: Token,
        /// The method, of the application's revision.
        method: &'static str,
        /// The params.
        params: Json,
    },
    /// Send the peer a request, in its revision.
    Ask {
        /// Comes back with [`Occasion::Answered`].
        key: u64,
        /// The request of the peer that it is asked for, so that it takes the same way.
        about: Option<Token>,
        /// The method.
        method: &'static str,
        /// The params.
        params: Json,
    },
    /// Send the peer a notification, in its revision.
    Notify {
        /// The request of the peer that it belongs to.
        about: Option<Token>,
        /// The method.
        method: &'static str,
        /// The params.
        params: Json,
    },
    /// Give the application the answer to its request of this key, in its revision.
    Deliver {
        /// The key.
        key: u64,
        /// The answer.
        result: Result<Json, ErrorObject>,
    },
}
