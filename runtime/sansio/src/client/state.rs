//! The state of a client's end of a conversation: the stage with the server, and the waiting requests.

use std::collections::{HashMap, VecDeque};

use super::requests::{Called, PendingRequest, Waiting};
use super::session::SessionRequests;
use super::tools::KnownTools;
use crate::input_required::client::Rounds;
use crate::negotiate::client::stage::NegotiationStage;
use crate::numbered::Numbered;
use crate::subscriptions::client::ChangeStreams;
use crate::tasks::client::Polls;
use crate::withdrawn::Withdrawn;
use crate::{Exchange, Token};

/// The state of a client's end of a conversation while it runs.
#[derive(Debug, Default)]
pub struct ClientState {
    pub(crate) stage: NegotiationStage,
    pub(crate) last_token: u64,
    pub(crate) next_id: i64,
    pub(crate) last_exchange: u64,
    /// Requests of the application that wait until the revision is settled.
    pub(crate) waiting: VecDeque<Waiting>,
    /// Requests on their way, by JSON-RPC id.
    pub(crate) pending: Numbered<i64, PendingRequest>,
    /// Requests that were withdrawn and may yet be answered, the latest of them.
    pub(crate) withdrawn: Withdrawn,
    /// Set if anything was sent but requests: some servers answer that, too.
    pub(crate) has_notified: bool,
    /// Over HTTP, what each open POST carries.
    pub(crate) exchanges: HashMap<Exchange, Option<i64>>,
    /// Calls of the server that the application has not answered.
    pub(crate) calls: Numbered<Token, Called>,
    /// Number of sessions that were opened.
    pub(crate) sessions: u64,
    /// The application's requests in its session.
    pub(crate) session: SessionRequests,
    /// The `Mcp-Session-Id` that came with the answer to `initialize`, until that is read.
    pub(crate) session_to_be: Option<String>,
    /// Requests whose server asks back.
    pub(crate) rounds: Rounds,
    /// The changes for which the application wants notifications.
    pub(crate) changes: ChangeStreams,
    /// Parameters of tools that headers repeat.
    pub(crate) tools: KnownTools,
    /// Calls whose server has answered with a task.
    pub(crate) polls: Polls,
}
