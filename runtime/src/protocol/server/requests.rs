//! Requests of a server's peer and of the server, until they are answered, and the session that they belong to.

use std::sync::Arc;

use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json, RequestId};

use crate::protocol::input_required::server::seal::Bound;
use crate::protocol::tasks::server::TaskWanted;
use crate::protocol::{Caller, Exchange, LogLevel, Token};

/// The session that `initialize` opened.
#[derive(Debug)]
pub(in crate::protocol) struct Opened {
    pub(in crate::protocol) revision: Revision,
    pub(in crate::protocol) caller: Arc<Caller>,
    pub(in crate::protocol) log_level: Option<LogLevel>,
    pub(in crate::protocol) is_initialized: bool,
    /// For an application of the per-request lifecycle: what every request says there.
    pub(in crate::protocol) upgraded: Arc<mcp_revisions_core::Session>,
}

/// A request of the peer that waits for its answer.
#[derive(Debug)]
pub(in crate::protocol) struct Pending {
    pub(in crate::protocol) id: RequestId,
    pub(in crate::protocol) method: &'static str,
    pub(in crate::protocol) peer: Revision,
    pub(in crate::protocol) exchange: Exchange,
    pub(in crate::protocol) in_batch: bool,
    pub(in crate::protocol) caller: Arc<Caller>,
    pub(in crate::protocol) log_level: Option<LogLevel>,
    pub(in crate::protocol) progress_token: Option<Json>,
    /// What the application was called with; kept where an adapter might have to call again.
    pub(in crate::protocol) params: Option<Json>,
    /// Whether an adapter has taken it, and is to know when it is cancelled.
    pub(in crate::protocol) is_adapted: bool,
    /// Who is behind the request, if the transport knows.
    pub(in crate::protocol) principal: Option<String>,
    /// The params of what it asks for, where it may be made again.
    pub(in crate::protocol) subject: Option<Json>,
    /// How often the client was asked back.
    pub(in crate::protocol) rounds: u32,
    /// Whether the client was answered for now, and has to retry.
    pub(in crate::protocol) is_suspended: bool,
    /// The application's answer, if it came while the request was suspended.
    pub(in crate::protocol) early: Option<Result<Json, ErrorObject>>,
    /// Whether the stream that this opened was acknowledged.
    pub(in crate::protocol) is_acknowledged: bool,
    /// Whether no revision has its method, so that nothing of it is converted.
    pub(in crate::protocol) is_other: bool,
    /// The task that its client takes in the place of its result.
    pub(in crate::protocol) task: Option<TaskWanted>,
    /// The tasks that the stream which this opens is to tell of: those that were asked for, then those that were agreed to.
    pub(in crate::protocol) task_ids: Vec<String>,
    /// How many bytes the request is.
    pub(in crate::protocol) bytes: usize,
}

/// A batch of which some requests are not answered yet.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Batch {
    pub(in crate::protocol) waiting: usize,
    pub(in crate::protocol) answers: Vec<String>,
}

/// A request of the server that waits for the peer's answer.
#[derive(Debug)]
pub(in crate::protocol) struct Asked {
    /// `None` if no revision has it, so that nothing of the answer is converted.
    pub(in crate::protocol) method: Option<&'static str>,
    pub(in crate::protocol) by: AskedBy,
    pub(in crate::protocol) peer: Revision,
    /// The text whose response it went out in.
    pub(in crate::protocol) exchange: Option<Exchange>,
}

/// Whose request of the server it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::protocol) enum AskedBy {
    /// The application's, by the token that it knows it by.
    Application(Token),
    /// That of a result which asks for input: the call that the result answers, and the name of the question.
    Result { call: Token, name: String },
}

/// The request of a peer in whose course something came up, as an adapter needs to know it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::protocol) struct About {
    /// What to answer it by.
    pub(in crate::protocol) token: Token,
    pub(in crate::protocol) method: &'static str,
    /// The params that the application was called with, in its revision.
    pub(in crate::protocol) params: Json,
    pub(in crate::protocol) peer: Revision,
    pub(in crate::protocol) caller: Arc<Caller>,
    pub(in crate::protocol) principal: Option<String>,
    /// What it asks for, as a text that is equal for requests which ask for the same; of requests that may be suspended.
    pub(in crate::protocol) subject: Option<String>,
    /// How often it was asked back already.
    pub(in crate::protocol) rounds: u32,
}

impl About {
    /// What its `requestState` is good for.
    pub(in crate::protocol) fn bound(&self) -> Bound<'_> {
        Bound {
            method: self.method,
            subject: self.subject.as_deref().unwrap_or_default(),
            principal: self.principal.as_deref(),
        }
    }
}
