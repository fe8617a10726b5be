//! What changes while a client's end of a conversation runs: how far it has come with the server, and what waits.

use std::collections::{BTreeMap, HashMap, VecDeque};

use mcp_registry::{Loss, Revision};
use mcp_wire::{Json, RequestId};

use super::changes::Changes;
use super::rounds::Rounds;
use super::settle::Stage;
use super::tools::Tools;
use crate::protocol::{Ask, Exchange, Token};

/// What changes while a client's end of a conversation runs.
#[derive(Debug, Default)]
pub struct State {
    pub(super) stage: Stage,
    pub(super) last_token: u64,
    pub(super) next_id: i64,
    pub(super) last_exchange: u64,
    /// Requests of the application that wait until the revision is settled.
    pub(super) waiting: VecDeque<Waiting>,
    /// Requests on their way, by JSON-RPC id.
    pub(super) pending: BTreeMap<i64, Pending>,
    /// Over HTTP, what each open POST carries.
    pub(super) exchanges: HashMap<Exchange, Option<i64>>,
    /// Calls of the server that the application has not answered.
    pub(super) calls: BTreeMap<Token, Called>,
    pub(super) log_level: Option<String>,
    /// The `Mcp-Session-Id` that came with the answer to `initialize`, until that is read.
    pub(super) session_to_be: Option<String>,
    /// Requests whose server asks back.
    pub(super) rounds: Rounds,
    /// What the application wants to be told of.
    pub(super) changes: Changes,
    /// Parameters of tools that headers repeat.
    pub(super) tools: Tools,
}

/// How the server has called.
#[derive(Debug, Clone)]
pub(super) enum Called {
    /// By a request of its own.
    Request { id: RequestId, method: &'static str },
    /// Likewise, by a method that no revision has.
    Other { id: RequestId },
    /// In the result of a request.
    Question { round: u64, key: String },
}

/// A request of the application that is not on its way.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) token: Token,
    pub(super) ask: Ask,
    pub(super) retry: Option<Resumed>,
    /// How often it was sent already, to servers that turned out to be others than thought.
    pub(super) sent: u8,
    /// How often its server asked back.
    pub(super) rounds: u32,
    /// Whether the tools were listed anew for it.
    pub(super) has_relisted: bool,
}

/// What a retry of a multi round-trip adds, in the server's revision.
#[derive(Debug, Clone)]
pub(super) struct Resumed {
    pub(super) responses: Option<Json>,
    pub(super) state: Option<Json>,
    pub(super) revision: Revision,
}

/// A request on its way.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) purpose: Purpose,
    /// The revision that it was written in.
    pub(super) revision: Revision,
    pub(super) exchange: Exchange,
}

#[derive(Debug, Clone)]
pub(super) enum Purpose {
    Probe,
    Initialize,
    LogLevel,
    /// A subscription of an adapter: nobody waits for the answer.
    Adapter,
    /// The request by which an adapter listens.
    Listen,
    /// A list of tools, for calls that were refused.
    Relist,
    Application {
        request: Box<Waiting>,
        progress_token: Option<Json>,
        losses: Vec<Loss>,
    },
}
