//! A client's end of a connection: its inputs, and its state.

use std::sync::Arc;
use std::time::Duration;

use mcp_wire::Json;

use super::requests::Resumed;
use super::state::ClientState;
use super::{Client, Post, RequestRefusal, Retry, Verdict, Waiting};
use crate::connection::sealed::Sealed;
use crate::negotiate::client::stage::NegotiationStage;
use crate::{Answer, Answered, Connection, Event, OutgoingRequest, Role, Token};

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
}

impl Connection<Client> {
    /// Sends the server a request; exactly one [`Event::Answered`] follows.
    ///
    /// # Errors
    /// Returns an error if too many wait for their answer, or the client speaks no revision.
    pub fn ask(&mut self, ask: OutgoingRequest, now: Duration) -> Result<Token, RequestRefusal> {
        self.enqueue(ask, None, now)
    }

    /// Returns when [`wake`](Self::wake) has something to do.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        let ClientState {
            rounds,
            changes,
            polls,
            session,
            ..
        } = &self.state;
        let adapters = [
            rounds.deadline(),
            changes.deadline(),
            polls.deadline(),
            session.deadline(),
        ];
        let negotiating = self.state.stage.deadline().into_iter();
        negotiating.chain(adapters.into_iter().flatten()).min()
    }

    /// Sets the time, and ends what has waited too long.
    pub fn wake(&mut self, now: Duration) {
        self.late_start(now);
        self.late_rounds(now);
        self.wake_changes(now);
        self.wake_session(now);
        self.look_at_tasks(now);
    }

    /// Returns how many requests of the application wait for their answer.
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
    pub fn connect(&mut self, now: Duration) -> Result<(), RequestRefusal> {
        if self.role.options.revisions.is_empty() {
            return Err(RequestRefusal::NoRevisions);
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
    ) -> Result<Token, RequestRefusal> {
        let (ask, resumed) = self.resumed(retry, answers);
        self.enqueue(ask, Some(resumed), now)
    }

    fn enqueue(
        &mut self,
        ask: OutgoingRequest,
        retry: Option<Resumed>,
        now: Duration,
    ) -> Result<Token, RequestRefusal> {
        if self.pending() >= self.role.options.limits.max_pending_requests {
            return Err(RequestRefusal::TooManyPending);
        }
        if self.role.options.revisions.is_empty() {
            return Err(RequestRefusal::NoRevisions);
        }
        let token = self.new_token();
        self.state.waiting.push_back(Waiting {
            retry,
            ..Waiting::new(token, ask)
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

    /// Returns what was found out about the server, for the next client of the same process or origin.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let settled = self.state.stage.settled();
        settled.map(|settled| Verdict(settled.revision))
    }

    /// Tells the one answer to a request.
    pub(crate) fn tell_answer(&mut self, request: Waiting, answer: Answer) {
        self.tell(Event::Answered(Answered {
            token: request.token,
            answer,
            losses: request.losses,
        }));
    }

    /// Sends a request again, as soon as it is known how.
    pub(crate) fn send_later(&mut self, request: Waiting) {
        self.state.waiting.push_back(Waiting {
            losses: Vec::new(),
            progress_token: None,
            ..request
        });
    }
}
