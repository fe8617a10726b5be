//! A client's end of a conversation: what goes in, and how far it has come.

use std::sync::Arc;
use std::time::Duration;

use mcp_wire::{ErrorObject, Json};

use super::settle::Stage;
use super::state::State;
use super::{Client, Post, Refused, Resumed, Retry, Verdict, Waiting};
use crate::protocol::connection::sealed::Sealed;
use crate::protocol::{Answer, Answered, Ask, Connection, Event, Exchange, Said, Side, To, Token};

impl Sealed for Client {}

impl Side for Client {
    type Text = Post;
    type Origin<'a> = Option<Exchange>;
    type Refused = Refused;
    type State = State;

    fn begin(side: &Self) -> State {
        State {
            stage: Stage::Unknown(side.options.verdict),
            ..State::default()
        }
    }

    fn receive(
        at: &mut Connection<Self>,
        from: Option<Exchange>,
        bytes: &[u8],
        now: Duration,
    ) -> Exchange {
        at.take(from, bytes, now);
        from.unwrap_or(Exchange::NONE)
    }

    fn ended(at: &mut Connection<Self>, exchange: Exchange, now: Duration) {
        at.end_of_post(exchange, now);
    }

    fn closed(at: &mut Connection<Self>, now: Duration) {
        at.end_of_server(now);
    }

    fn ask(at: &mut Connection<Self>, ask: Ask, now: Duration) -> Result<Token, Refused> {
        at.enqueue(ask, None, now)
    }

    fn answer(
        at: &mut Connection<Self>,
        call: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Said {
        at.answer_server(call, result, now)
    }

    fn notify(
        at: &mut Connection<Self>,
        _: To,
        method: &str,
        params: Option<&Json>,
        _: Duration,
    ) -> Said {
        at.send_notification(method, params.cloned())
    }

    fn cancel(at: &mut Connection<Self>, ask: Token, reason: Option<&str>, _: Duration) {
        at.give_up(ask, reason);
    }

    fn wake_at(at: &Connection<Self>) -> Option<Duration> {
        let adapters = [at.state.rounds.deadline(), at.state.changes.deadline()];
        let settling = at.state.stage.deadline().into_iter();
        settling.chain(adapters.into_iter().flatten()).min()
    }

    fn wake(at: &mut Connection<Self>, now: Duration) {
        at.probe_timeout(now);
        at.late_rounds(now);
        at.listen_again(now);
    }

    fn pending(at: &Connection<Self>) -> usize {
        let State {
            waiting,
            pending,
            rounds,
            changes,
            tools,
            ..
        } = &at.state;
        waiting.len() + pending.len() + rounds.len() + changes.len() + tools.len()
    }
}

impl Connection<Client> {
    /// Settles the revision before the application asks anything; [`Event::Settled`] says what came of it.
    ///
    /// # Errors
    /// A client that speaks no revision.
    pub fn connect(&mut self, now: Duration) -> Result<(), Refused> {
        if self.side.options.revisions.is_empty() {
            return Err(Refused::NoRevisions);
        }
        self.start(now);
        Ok(())
    }

    /// Continues the connection as `client`, whose application may speak another revision: what was negotiated with the
    /// server stays, and nothing is sent again.
    ///
    /// A gateway negotiates before it knows which revision it wants to speak itself. Call this before the first
    /// [`ask`](Self::ask): requests that are pending keep the revision in which they were made.
    #[must_use]
    pub fn continue_as(mut self, client: Client) -> Self {
        self.side = Arc::new(client);
        self
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
    ) -> Result<Token, Refused> {
        let Retry {
            ask,
            state,
            methods,
            revision,
        } = retry;
        let responses = self.responses(&methods, answers, revision);
        let resumed = Resumed {
            responses,
            state,
            revision,
        };
        self.enqueue(ask, Some(resumed), now)
    }

    fn enqueue(
        &mut self,
        ask: Ask,
        retry: Option<Resumed>,
        now: Duration,
    ) -> Result<Token, Refused> {
        if self.pending() >= self.side.options.limits.pending {
            return Err(Refused::TooManyPending);
        }
        if self.side.options.revisions.is_empty() {
            return Err(Refused::NoRevisions);
        }
        let token = self.new_token();
        self.state.waiting.push_back(Waiting {
            token,
            ask,
            retry,
            sent: 0,
            rounds: 0,
            has_relisted: false,
        });
        self.start(now);
        Ok(token)
    }

    /// Asks for log messages from this level on, of every request; `None` asks for none.
    ///
    /// Towards a handshake server this sends `logging/setLevel`, which cannot be taken back.
    pub fn set_log_level(&mut self, level: Option<&str>) {
        self.state.log_level = level.map(str::to_owned);
        self.apply_log_level(level);
    }

    /// The HTTP answer to a POST: its status, its `Mcp-Session-Id`, and its whole body; none if it is a stream of events,
    /// whose messages then go to [`receive`](Self::receive) until it has [`ended`](Self::ended).
    pub fn answered(
        &mut self,
        exchange: Exchange,
        status: u16,
        session: Option<&str>,
        body: Option<&[u8]>,
        now: Duration,
    ) {
        self.take_http(exchange, status, session, body, now);
    }

    /// The server cannot be reached, or its answer broke off: nothing comes in this exchange, and why.
    pub fn failed(&mut self, exchange: Exchange, why: impl Into<String>, now: Duration) {
        self.post_failed(exchange, why.into(), now);
    }

    /// What was found out about the server, for the next client of the same process or origin.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let settled = self.state.stage.settled();
        settled.map(|settled| Verdict(settled.revision))
    }

    /// The one answer to a request.
    pub(super) fn tell_answer(
        &mut self,
        request: Waiting,
        answer: Answer,
        losses: Vec<mcp_registry::Loss>,
    ) {
        self.tell(Event::Answered(Answered {
            token: request.token,
            answer,
            losses,
        }));
    }
}
