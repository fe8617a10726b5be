//! What changes while a client's end of a conversation runs: how far it has come with the server, and what waits.

use std::collections::{BTreeMap, HashMap, VecDeque};

use mcp_protocol::{Loss, Revision};
use mcp_wire::{Json, RequestId};

use super::tools::Tools;
use crate::protocol::input_required::client::{Resumed, Rounds};
use crate::protocol::negotiate::client::Stage;
use crate::protocol::subscriptions::client::Changes;
use crate::protocol::tasks::client::{Look, Polls, TaskStage};
use crate::protocol::{Ask, Exchange, Token};

/// What changes while a client's end of a conversation runs.
#[derive(Debug, Default)]
pub struct State {
    pub(in crate::protocol) stage: Stage,
    pub(in crate::protocol) last_token: u64,
    pub(in crate::protocol) next_id: i64,
    pub(in crate::protocol) last_exchange: u64,
    /// Requests of the application that wait until the revision is settled.
    pub(in crate::protocol) waiting: VecDeque<Waiting>,
    /// Requests on their way, by JSON-RPC id.
    pub(in crate::protocol) pending: BTreeMap<i64, Pending>,
    /// Over HTTP, what each open POST carries.
    pub(in crate::protocol) exchanges: HashMap<Exchange, Option<i64>>,
    /// Calls of the server that the application has not answered.
    pub(in crate::protocol) calls: BTreeMap<Token, Called>,
    pub(in crate::protocol) log_level: Option<String>,
    /// The `Mcp-Session-Id` that came with the answer to `initialize`, until that is read.
    pub(in crate::protocol) session_to_be: Option<String>,
    /// Requests whose server asks back.
    pub(in crate::protocol) rounds: Rounds,
    /// What the application wants to be told of.
    pub(in crate::protocol) changes: Changes,
    /// Parameters of tools that headers repeat.
    pub(in crate::protocol) tools: Tools,
    /// Calls whose server has answered with a task.
    pub(in crate::protocol) polls: Polls,
}

/// How the server has called.
#[derive(Debug, Clone)]
pub(in crate::protocol) enum Called {
    /// By a request of its own.
    Request { id: RequestId, method: &'static str },
    /// Likewise, by a method that no revision has.
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
pub(in crate::protocol) struct Waiting {
    pub(in crate::protocol) token: Token,
    pub(in crate::protocol) ask: Ask,
    pub(in crate::protocol) retry: Option<Resumed>,
    /// How often it was sent already, to servers that turned out to be others than thought.
    pub(in crate::protocol) sent: u8,
    /// How often its server asked back.
    pub(in crate::protocol) rounds: u32,
    /// Whether the tools were listed anew for it.
    pub(in crate::protocol) has_relisted: bool,
    /// How far it is with a task.
    pub(in crate::protocol) task: TaskStage,
}

/// A request on its way.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Pending {
    pub(in crate::protocol) purpose: Purpose,
    /// The revision that it was written in.
    pub(in crate::protocol) revision: Revision,
    pub(in crate::protocol) exchange: Exchange,
}

#[derive(Debug, Clone)]
pub(in crate::protocol) enum Purpose {
    Probe,
    Initialize,
    LogLevel,
    /// A subscription of an adapter: nobody waits for the answer.
    Adapter,
    /// The request by which an adapter listens.
    Listen,
    /// A list of tools, for calls that were refused.
    Relist,
    /// A look at the task of a call.
    Task {
        token: Token,
        look: Look,
    },
    Application {
        request: Box<Waiting>,
        progress_token: Option<Json>,
        losses: Vec<Loss>,
    },
}
