//! Requests of a server's peer and of the server, until they are answered, and the session that they belong to.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{Revision, methods};
use mcp_wire::{ErrorObject, Json, RequestId};

use crate::input_required::server::seal::Bound;
use crate::tasks::server::served::TaskWanted;
use crate::{Caller, Exchange, LogLevel, Token};

/// The session that `initialize` opened.
#[derive(Debug)]
pub(crate) struct OpenSession {
    pub(crate) revision: Revision,
    pub(crate) caller: Arc<Caller>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) is_initialized: bool,
    /// For an application of the per-request lifecycle: what every request says there.
    pub(crate) upgraded: Arc<mcp_revisions_core::Session>,
}

/// A request of the peer that waits for its answer; boxed, since half a kilobyte would be copied at each step of its way.
#[derive(Debug)]
pub(crate) struct PendingCall {
    pub(crate) id: RequestId,
    pub(crate) method: &'static str,
    pub(crate) revision: Revision,
    pub(crate) exchange: Exchange,
    pub(crate) in_batch: bool,
    pub(crate) caller: Arc<Caller>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) progress_token: Option<Json>,
    /// The params that the application was called with; kept where an adapter might have to call again.
    pub(crate) params: Option<Json>,
    /// Set if an adapter has taken it, and is to know when it is cancelled.
    pub(crate) is_adapted: bool,
    /// The principal behind the request, if the transport knows one.
    pub(crate) principal: Option<String>,
    /// The params of what it asks for, where it may be made again.
    pub(crate) subject: Option<Json>,
    /// Number of rounds in which the client was asked back.
    pub(crate) rounds: u32,
    /// Set if the client was answered for now, and has to retry.
    pub(crate) is_suspended: bool,
    /// The application's answer, if it came while the request was suspended.
    pub(crate) early: Option<Result<Json, ErrorObject>>,
    /// Set if the stream that this opened was acknowledged.
    pub(crate) is_acknowledged: bool,
    /// Set if no revision has its method, so that nothing of it is converted.
    pub(crate) is_other: bool,
    /// The task that its client takes in the place of its result.
    pub(crate) task: Option<TaskWanted>,
    /// The tasks that the stream which this opens is to tell of: those that were asked for, then those that were agreed to.
    pub(crate) task_ids: Vec<String>,
    /// Number of bytes of the request.
    pub(crate) bytes: usize,
}

impl PendingCall {
    /// Returns whether it has opened a stream, or may yet: that of changes, or one of an extension, whose notifications name it.
    pub(crate) fn is_stream(&self) -> bool {
        self.method == methods::SUBSCRIPTIONS_LISTEN || (self.is_other && self.is_acknowledged)
    }
}

/// A batch of which some requests are not answered yet.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) waiting: usize,
    pub(crate) answers: Vec<String>,
}

/// A request of the server that waits for the peer's answer.
#[derive(Debug)]
pub(crate) struct ServerRequest {
    /// `None` if no revision has it, so that nothing of the answer is converted.
    pub(crate) method: Option<&'static str>,
    pub(crate) by: AskedBy,
    pub(crate) revision: Revision,
    /// The text whose response it went out in.
    pub(crate) exchange: Option<Exchange>,
    /// Until when its answer is waited for.
    pub(crate) until: Duration,
}

/// The origin of a request of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AskedBy {
    /// The application's, by the token that it knows it by.
    Application(Token),
    /// A result that asks for input: the call that the result answers, and the name of the question.
    Result { call: Token, name: String },
}

/// The request of a peer in whose course something came up, as an adapter needs to know it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct About {
    /// The token to answer it by.
    pub(crate) token: Token,
    pub(crate) method: &'static str,
    /// The params that the application was called with, in its revision.
    pub(crate) params: Json,
    pub(crate) revision: Revision,
    pub(crate) caller: Arc<Caller>,
    pub(crate) principal: Option<String>,
    /// Its subject, as a text that is equal for requests which ask for the same; of requests that may be suspended.
    pub(crate) subject: Option<String>,
    /// Number of rounds in which it was asked back already.
    pub(crate) rounds: u32,
}

impl About {
    /// Returns the request that its `requestState` is good for.
    pub(crate) fn bound(&self) -> Bound<'_> {
        Bound {
            method: self.method,
            subject: self.subject.as_deref().unwrap_or_default(),
            principal: self.principal.as_deref(),
        }
    }
}
