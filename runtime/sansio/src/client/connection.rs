//! A client's end of a connection: its inputs, and its state.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcp_wire::Json;

use super::requests::RetryMembers;
use super::requests::{PendingRequest, ServerCall};
use super::session::SessionRequests;
use super::tools::KnownTools;
use super::{AppRequest, Client, Failure, Post, Retry, Verdict};
use crate::connection::sealed::Sealed;
use crate::input_required::client::Rounds;
use crate::negotiate::client::stage::NegotiationStage;
use crate::numbered::Numbered;
use crate::subscriptions::client::ChangeStreams;
use crate::tasks::client::Polls;
use crate::withdrawn::Withdrawn;
use crate::{Answer, Answered, Connection, Event, Exchange, OutgoingRequest, Role, Token};

/// The state of a client's end of a conversation while it runs.
#[derive(Debug, Default)]
pub struct ClientState {
    pub(crate) stage: NegotiationStage,
    pub(crate) last_token: u64,
    pub(crate) next_id: i64,
    pub(crate) last_exchange: u64,
    /// Requests of the application that wait until the revision is settled.
    pub(crate) waiting: VecDeque<AppRequest>,
    /// Requests on their way, by JSON-RPC id.
    pub(crate) pending: Numbered<i64, PendingRequest>,
    /// Requests that were withdrawn and may yet be answered, the latest of them.
    pub(crate) withdrawn: Withdrawn,
    /// Set if anything was sent but requests: some servers answer that, too.
    pub(crate) has_notified: bool,
    /// Over HTTP, what each open POST carries.
    pub(crate) exchanges: HashMap<Exchange, Option<i64>>,
    /// Calls of the server that the application has not answered.
    pub(crate) calls: Numbered<Token, ServerCall>,
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

impl Sealed for Client {}

impl Role for Client {
    type Text = Post;
    type State = ClientState;

    fn begin(&self) -> ClientState {
        ClientState {
            stage: NegotiationStage::Unknown(self.options.verdict),
            ..ClientState::default()
        }
    }

    fn report(&self, event: &Event) {
        self.on_mistake.report(event);
    }

    fn wake_at(state: &ClientState) -> Option<Duration> {
        let ClientState {
            rounds,
            changes,
            polls,
            session,
            ..
        } = state;
        let adapters = [
            rounds.deadline(),
            changes.deadline(),
            polls.deadline(),
            session.deadline(),
        ];
        let negotiating = state.stage.deadline().into_iter();
        negotiating.chain(adapters.into_iter().flatten()).min()
    }
}

impl Connection<Client> {
    /// Sends the server a request; exactly one [`Event::Answered`] follows.
    ///
    /// # Errors
    /// Returns an error if too many wait for their answer, or the client speaks no revision.
    pub fn ask(&mut self, ask: OutgoingRequest, now: Duration) -> Result<Token, Box<Failure>> {
        self.enqueue(ask, None, now)
    }

    /// Sets the time, and ends what has waited too long.
    pub fn wake(&mut self, now: Duration) {
        self.late_start(now);
        self.late_rounds(now);
        self.wake_changes(now);
        self.wake_session(now);
        self.look_at_tasks(now);
    }

    /// Returns the number of unanswered requests of the application.
    #[must_use]
    pub fn pending(&self) -> usize {
        let ClientState {
            waiting,
            pending,
            rounds,
            changes,
            tools,
            polls,
            ..
        } = &self.state;
        let adapters = rounds.len() + changes.len() + tools.len() + polls.len();
        waiting.len() + pending.len() + adapters
    }

    /// Settles the revision before the application asks anything; [`Event::Settled`] says what came of it.
    ///
    /// # Errors
    /// A client that speaks no revision.
    pub fn connect(&mut self, now: Duration) -> Result<(), Box<Failure>> {
        if self.role.options.revisions.is_empty() {
            return Err(Box::new(Failure::NoRevisions));
        }
        self.start(now);
        Ok(())
    }

    /// Continues the connection as `client`, whose application may speak another revision: what was negotiated with the
    /// server stays, and nothing is sent again.
    ///
    /// A gateway negotiates before it knows which revision it wants to speak itself. Call this before the first
    /// [`ask`](Self::ask): requests that are pending keep the revision in which they were made.
    pub fn continue_as(&mut self, client: Client) {
        self.role = Arc::new(client);
    }

    /// Sends a request again with the answers to the server's questions, which are results of the questions' methods.
    ///
    /// An answer under a key that was not asked for is left out; so is one that cannot be carried over,
    /// and the server then asks again.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn retry(
        &mut self,
        retry: Retry,
        answers: impl IntoIterator<Item = (String, Json)>,
        now: Duration,
    ) -> Result<Token, Box<Failure>> {
        let (ask, resumed) = self.resumed(retry, answers);
        self.enqueue(ask, Some(resumed), now)
    }

    fn enqueue(
        &mut self,
        ask: OutgoingRequest,
        retry: Option<RetryMembers>,
        now: Duration,
    ) -> Result<Token, Box<Failure>> {
        if self.pending() >= self.role.options.limits.max_pending_requests {
            return Err(Box::new(Failure::TooManyPending));
        }
        if self.role.options.revisions.is_empty() {
            return Err(Box::new(Failure::NoRevisions));
        }
        let token = self.new_token();
        self.state.waiting.push_back(AppRequest {
            retry,
            ..AppRequest::new(token, ask)
        });
        self.start(now);
        Ok(token)
    }

    /// Asks for log messages from this level on, of every request; `None` asks for none.
    ///
    /// Towards a handshake server this sends `logging/setLevel`, which cannot be taken back.
    pub fn set_log_level(&mut self, level: Option<&str>) {
        self.state.session.log_level = level.map(str::to_owned);
        self.apply_log_level(level);
    }

    /// Returns the verdict about the server, for the next client of the same process or origin.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let settled = self.state.stage.settled();
        settled.map(|settled| Verdict(settled.revision))
    }

    pub(crate) fn tell_answer(&mut self, request: AppRequest, answer: Answer) {
        self.tell(Event::Answered(Answered {
            token: request.token,
            answer,
            losses: request.losses,
        }));
    }

    /// Sends a request again, as soon as it is known how.
    pub(crate) fn send_later(&mut self, request: AppRequest) {
        self.state.waiting.push_back(AppRequest {
            losses: Vec::new(),
            progress_token: None,
            ..request
        });
    }
}
