//! What changes while a client's end of a conversation runs: how far it has come with the server, and what waits.

use std::collections::{HashMap, VecDeque};

use super::requests::{Called, Pending, Waiting};
use super::session::SessionRequests;
use super::tools::Tools;
use crate::protocol::input_required::client::Rounds;
use crate::protocol::negotiate::client::Stage;
use crate::protocol::numbered::Numbered;
use crate::protocol::subscriptions::client::Changes;
use crate::protocol::tasks::client::Polls;
use crate::protocol::withdrawn::Withdrawn;
use crate::protocol::{Exchange, Token};

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
    pub(in crate::protocol) pending: Numbered<i64, Pending>,
    /// Requests that were withdrawn and may yet be answered, the latest of them.
    pub(in crate::protocol) withdrawn: Withdrawn,
    /// Whether anything was sent but requests: some servers answer that, too.
    pub(in crate::protocol) has_notified: bool,
    /// Over HTTP, what each open POST carries.
    pub(in crate::protocol) exchanges: HashMap<Exchange, Option<i64>>,
    /// Calls of the server that the application has not answered.
    pub(in crate::protocol) calls: Numbered<Token, Called>,
    /// Number of sessions that were opened.
    pub(in crate::protocol) sessions: u64,
    /// What the application has asked for in its session.
    pub(in crate::protocol) session: SessionRequests,
    /// The `Mcp-Session-Id` that came with the answer to `initialize`, until that is read.
    pub(in crate::protocol) session_to_be: Option<String>,
    /// Requests whose server asks back.
    pub(in crate::protocol) rounds: Rounds,
    /// The changes for which the application wants notifications.
    pub(in crate::protocol) changes: Changes,
    /// Parameters of tools that headers repeat.
    pub(in crate::protocol) tools: Tools,
    /// Calls whose server has answered with a task.
    pub(in crate::protocol) polls: Polls,
}
