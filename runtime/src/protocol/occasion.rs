//! What a state machine is handed and what it wants done: occasions and steps, and what it may know of its connection.

use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::Revision;
use mcp_wire::{ErrorObject, Json};

use super::input_required::allowed;
use super::input_required::seal::{Bound, Seal};
use super::json::declares;
use crate::protocol::limits::Limits;
use crate::protocol::translate::{Translator, Way};
use crate::protocol::{Caller, Token};

/// What a machine may know beside the occasion.
#[derive(Debug, Clone, Copy)]
pub(super) struct World<'a> {
    /// The time, on the caller's clock.
    pub(super) now: Duration,
    /// How much is kept.
    pub(super) limits: &'a Limits,
    /// `ServerCapabilities` of the application, in its revision.
    pub(super) capabilities: &'a Json,
    pub(super) translator: &'a Translator,
    pub(super) seal: &'a Seal,
}

impl World<'_> {
    /// Returns the params of a question in the revision of the client that is asked.
    ///
    /// # Errors
    /// A client that did not say that it can be asked, and a question that its revision does not have.
    pub(super) fn question(
        &self,
        about: &About,
        method: &str,
        params: &Json,
    ) -> Result<Json, ErrorObject> {
        allowed(&about.caller, method, params)?;
        let carried = (self.translator).params_told(Way::Out, method, params, about.peer);
        carried
            .map(|(params, _)| params)
            .map_err(|stopped| stopped.into_error(ErrorObject::INTERNAL_ERROR))
    }

    /// Whether a capability such as `["tools", "listChanged"]` is declared.
    pub(super) fn declares(&self, path: &[&str]) -> bool {
        declares(self.capabilities, path)
    }
}

/// The request of a peer in whose course something came up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct About {
    /// What to answer it by.
    pub(super) token: Token,
    /// Its method.
    pub(super) method: &'static str,
    /// The params that the application was called with, in its revision.
    pub(super) params: Json,
    /// The revision of the peer.
    pub(super) peer: Revision,
    /// Who asks, and what it can do.
    pub(super) caller: Arc<Caller>,
    /// Who is behind it, if the transport knows.
    pub(super) principal: Option<String>,
    /// What it asks for, as a text that is equal for requests which ask for the same; of requests that may be suspended.
    pub(super) subject: Option<String>,
    /// How often it was asked back already.
    pub(super) rounds: u32,
}

impl About {
    /// What its `requestState` is good for.
    pub(super) fn bound(&self) -> Bound<'_> {
        Bound {
            method: self.method,
            subject: self.subject.as_deref().unwrap_or_default(),
            principal: self.principal.as_deref(),
        }
    }
}

/// What came up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Occasion<'a> {
    /// A request of the peer that the application's revision does not have, or cannot hold.
    ///
    /// Here the params are those of the peer, in its revision.
    Request(&'a About),
    /// The application's answer, which the peer's revision does not have; the request still waits.
    Result {
        /// The request.
        about: &'a About,
        /// The answer, in the application's revision.
        result: Result<&'a Json, &'a ErrorObject>,
    },
    /// The client has read the answer to `initialize`.
    Initialized {
        /// The revision of the session.
        peer: Revision,
    },
    /// Notifications of changes may have been missed.
    MissedChanges,
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
        /// The request of the peer for whose sake it is asked.
        about: Option<&'a About>,
        /// The method, of the application's revision.
        method: &'a str,
        /// The params, in the application's revision.
        params: &'a Json,
    },
    /// The application does not wait any more for the answer to its request of this key.
    Forgotten {
        /// The key.
        key: u64,
    },
    /// The answer to an [`OutgoingRequest`](Step::Ask), in the peer's revision.
    Answered {
        /// The key of the `Ask`.
        key: u64,
        /// What the peer answered.
        result: Result<&'a Json, &'a ErrorObject>,
    },
    /// The application says something in the course of an [`Own`](Step::Own) call.
    OwnNotification {
        /// The key of the call.
        key: u64,
        /// The method, of the application's revision.
        method: &'a str,
        /// The params, in the application's revision.
        params: &'a Json,
    },
    /// The answer of the application to an [`Own`](Step::Own) call.
    OwnResult {
        /// The key of the call.
        key: u64,
        /// The answer.
        result: Result<&'a Json, &'a ErrorObject>,
    },
    /// A request that the machine has taken was cancelled by the peer.
    Cancelled {
        /// The request; it waits no more.
        token: Token,
    },
    /// The time that it asked for has come.
    Time,
}

/// What a machine wants done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Answer a request of the peer, in the peer's revision.
    Answer(Token, Result<Json, ErrorObject>),
    /// Answer a request of the peer, in the peer's revision, while the application goes on with its call.
    Park {
        /// The request.
        token: Token,
        /// The ticket that the retry of the peer has to show.
        ticket: u64,
        /// What it is answered for now.
        result: Json,
    },
    /// The peer has retried: this request takes the place of the suspended one.
    Resume {
        /// The request that was suspended.
        parked: Token,
        /// The request that asks for the same.
        by: Token,
    },
    /// A suspended call is given up.
    GiveUp(Token),
    /// IncomingRequest the application, in its revision, on behalf of a request of the peer that still waits.
    Call {
        /// The request.
        token: Token,
        /// The method, of the application's revision.
        method: &'static str,
        /// The params.
        params: Json,
    },
    /// IncomingRequest the application, in its revision, on behalf of no request but of the session.
    Own {
        /// Comes back with what the application says.
        key: u64,
        /// The method, of the application's revision.
        method: &'static str,
        /// The params.
        params: Json,
        /// The revision of the peer that it is for.
        peer: Revision,
    },
    /// An own call need not be answered any more.
    CancelOwn {
        /// Its key.
        key: u64,
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
    /// Tell the peer that its answer to an [`OutgoingRequest`](Step::Ask) is not waited for any more.
    Unask {
        /// The key of the `Ask`.
        key: u64,
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
    /// Tell the application that a client listens to notifications.
    Listens,
    /// Give the application the answer to its request of this key, in its revision.
    Deliver {
        /// The key.
        key: u64,
        /// The answer.
        result: Result<Json, ErrorObject>,
    },
}
