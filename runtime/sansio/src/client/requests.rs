//! Requests of a client and of its server, until they are answered.

use mcp_revisions_core::{Loss, Revision, methods};
use mcp_wire::{Json, RequestId};

use crate::json::with_members;
use crate::translate::no_params;
use crate::{Exchange, OutgoingRequest, Token};

/// A call of the server.
#[derive(Debug, Clone)]
pub(crate) enum ServerCall {
    /// By a request of its own.
    Request { id: RequestId, method: &'static str },
    /// A request of a method that no revision has.
    Other { id: RequestId },
    /// In the result of a request.
    Question { round: u64, key: String },
    /// In the course of a task.
    TaskQuestion {
        task: Token,
        key: String,
        method: &'static str,
    },
}

/// A request of the application that is not on its way.
#[derive(Debug, Clone)]
pub(crate) struct AppRequest {
    pub(crate) token: Token,
    pub(crate) ask: OutgoingRequest,
    pub(crate) retry: Option<RetryMembers>,
    /// Number of times it was sent already, to servers that turned out to be others than thought.
    pub(crate) sent: u8,
    /// Number of rounds in which its server asked back.
    pub(crate) rounds: u32,
    /// Set if the tools were listed again for it.
    pub(crate) has_relisted: bool,
    pub(crate) task: TaskStage,
    /// Its losses on the way, once it is sent.
    pub(crate) losses: Vec<Loss>,
    /// The token by which progress notifications name it, once it is sent.
    pub(crate) progress_token: Option<Json>,
}

impl AppRequest {
    /// Creates a request that was not sent.
    pub(crate) fn new(token: Token, ask: OutgoingRequest) -> Self {
        Self {
            token,
            ask,
            retry: None,
            sent: 0,
            rounds: 0,
            has_relisted: false,
            task: TaskStage::None,
            losses: Vec::new(),
            progress_token: None,
        }
    }
}

/// A request on its way.
#[derive(Debug, Clone)]
pub(crate) struct PendingRequest {
    pub(crate) purpose: RequestPurpose,
    /// The revision that it was written in.
    pub(crate) revision: Revision,
    pub(crate) exchange: Exchange,
    /// Number of the session that it was sent in; 0 without one.
    pub(crate) session: u64,
    /// The HTTP status of the stream that answers it, once that has begun.
    pub(crate) status: Option<u16>,
    /// A response with a foreign id in the stream of its POST: it is taken if the stream ends without the right one.
    pub(crate) foreign: Option<Box<str>>,
}

#[derive(Debug, Clone)]
pub(crate) enum RequestPurpose {
    Probe,
    Initialize,
    LogLevel,
    /// A request whose answer is not waited for: the end of a task, or a first message after the revision is known.
    Adapter,
    /// The request by which an adapter listens.
    Listen,
    /// A subscription of an adapter to a resource, or the end of one.
    Subscription(ResourceSubscription),
    /// A list of tools, for calls that were refused.
    Relist,
    /// A look at the task of a call.
    Task {
        token: Token,
        look: Look,
    },
    Application(Box<AppRequest>),
}

impl RequestPurpose {
    /// Returns the method of the request, as far as that needs no look at a subscription.
    pub(crate) fn method(&self) -> &str {
        match self {
            Self::Probe => methods::SERVER_DISCOVER,
            Self::Initialize => methods::INITIALIZE,
            Self::LogLevel => methods::LOGGING_SET_LEVEL,
            Self::Listen => methods::SUBSCRIPTIONS_LISTEN,
            Self::Subscription(subscription) => subscription.method,
            Self::Relist => methods::TOOLS_LIST,
            Self::Adapter | Self::Task { .. } => "",
            Self::Application(request) => &request.ask.method,
        }
    }
}

/// A request of an adapter about a resource.
#[derive(Debug, Clone)]
pub(crate) struct ResourceSubscription {
    /// `resources/subscribe` or `resources/unsubscribe`.
    pub(crate) method: &'static str,
    pub(crate) uri: String,
    /// Set in a session that took the place of a lost one: changes may have been missed.
    pub(crate) is_restored: bool,
}

/// The stage of a call of the application as a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TaskStage {
    /// It has none.
    #[default]
    None,
    /// It asks for one, since the server runs the tool no other way.
    Asked,
    /// Its server gave it one, and gives no second one.
    Given,
}

/// The kind of a request about a task.
#[derive(Debug, Clone)]
pub(crate) enum Look {
    /// Its status.
    Status,
    /// Its result, in [`Form::Core`](crate::driver::server::tasks::Form::Core).
    Result,
    /// The answer to the question of this key, in the server's words.
    Update { key: String, answer: Json },
}

/// The members that a retry of a multi round-trip adds, in the server's revision.
#[derive(Debug, Clone)]
pub(crate) struct RetryMembers {
    pub(crate) responses: Option<Json>,
    pub(crate) state: Option<Json>,
    pub(crate) revision: Revision,
}

impl RetryMembers {
    /// Returns the params of the request that is sent again.
    pub(crate) fn put_into(&self, params: Option<Json>) -> Json {
        let members = [
            ("inputResponses", self.responses.clone()),
            ("requestState", self.state.clone()),
        ];
        with_members(&params.unwrap_or_else(no_params), &members)
    }
}
