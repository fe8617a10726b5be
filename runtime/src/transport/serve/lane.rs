//! One channel at work: its state behind a lock that is never held while anybody waits.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

#[cfg(feature = "http")]
use mcp_registry::{ProtocolHeader, ProtocolRule};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::replay::EventId;
#[cfg(feature = "http")]
use super::replay::{EventStore, KeptEvent};
use super::route::{Item, Route, Turn};
use super::{Facts, Handler, Line, Peer, Session};
use crate::Spoken;
use crate::headers::Headers;
use crate::protocol::{
    Answered, Ask, Caller, Connection, Event, Exchange, Fate, Output, Said, To, Token,
};
use crate::server::{Looked, Outgoing, Server};

/// How many texts a session keeps that belong to no exchange, while nobody reads its stream.
const BACKLOG: usize = 64;
/// How many bytes of them.
const BACKLOG_BYTES: usize = 256 << 10;

/// Lanes in which calls are parked, by the ticket of their client.
pub(crate) type Parked<App, H> = Mutex<HashMap<u64, Weak<Lane<App, H>>>>;

/// A channel, who serves it, and who waits for what on it.
pub(crate) struct Lane<App: Spoken, H> {
    handler: Arc<H>,
    start: Instant,
    /// Where calls are to be found by other lanes' requests; over stdio there are no others.
    parked: Option<Arc<Parked<App, H>>>,
    me: Weak<Self>,
    state: Mutex<State<App>>,
}

struct State<App: Spoken> {
    connection: Connection<Server<App>>,
    /// Where the texts of an exchange go, and what is known of who began it.
    open: HashMap<Exchange, Open>,
    /// Where texts go that belong to no exchange.
    at_large: Option<Route>,
    /// Those that came while nobody read them.
    backlog: VecDeque<Item>,
    /// How many events of no exchange there were.
    at_large_events: u64,
    /// Where events are kept, once a session is open that can have them again.
    #[cfg(feature = "http")]
    replay: Option<Replay>,
    tasks: HashMap<Token, AbortHandle>,
    asked: HashMap<Token, oneshot::Sender<Answered>>,
    /// When the channel is woken next, and what does it.
    alarm: Option<(Duration, AbortHandle)>,
    tickets: Vec<u64>,
    /// Whether the peer will not say anything any more.
    is_silent: bool,
}

struct Open {
    route: Route,
    facts: Facts,
    /// How many events of it were sent.
    events: u64,
    /// Whether its client has been told to come again, so that its answer is an event too.
    is_paused: bool,
}

/// Where the events of a session are kept.
#[cfg(feature = "http")]
struct Replay {
    session: String,
    store: Arc<dyn EventStore>,
    /// Whether its revision has streams that are closed in the middle, and begin with an event that holds nothing.
    polls: bool,
}

/// What became of a text that came in.
pub(crate) struct Taken {
    /// Whether it opened a session: over HTTP the moment to mint its id.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "standard streams are one session")
    )]
    pub(crate) opens_session: bool,
    /// The exchange.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "standard streams have no responses")
    )]
    pub(crate) exchange: Exchange,
    /// The exchange, if its peer gives it up by hanging up.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "standard streams end for all calls at once")
    )]
    pub(crate) hangs_up: Option<Exchange>,
}

impl<App: Spoken, H: Handler> Lane<App, H> {
    /// A lane on which nothing has been said.
    pub(crate) fn new(
        server: Arc<Server<App>>,
        handler: Arc<H>,
        start: Instant,
        parked: Option<Arc<Parked<App, H>>>,
    ) -> Arc<Self> {
        let state = State {
            connection: Connection::new(server),
            open: HashMap::new(),
            at_large: None,
            backlog: VecDeque::new(),
            at_large_events: 0,
            #[cfg(feature = "http")]
            replay: None,
            tasks: HashMap::new(),
            asked: HashMap::new(),
            alarm: None,
            tickets: Vec::new(),
            is_silent: false,
        };
        Arc::new_cyclic(|me| Self {
            handler,
            start,
            parked,
            me: Weak::clone(me),
            state: Mutex::new(state),
        })
    }

    /// Sends what belongs to no exchange there; the route that it took before, if that is still open.
    pub(crate) fn at_large(&self, route: Route) -> Result<(), Route> {
        let mut state = self.state();
        match &state.at_large {
            Some(before) if !before.is_closed() => Err(route),
            _ => {
                for text in state.backlog.drain(..) {
                    route.push(text);
                }
                state.at_large = Some(route);
                Ok(())
            }
        }
    }

    /// Keeps the events of the session that was opened, so that its client can have them again.
    #[cfg(feature = "http")]
    pub(crate) fn keep_events(&self, session: &str, store: Arc<dyn EventStore>) {
        let mut state = self.state();
        let Some(revision) = state.connection.session_revision() else {
            return;
        };
        if revision.has_header(ProtocolHeader::LastEventId) {
            state.replay = Some(Replay {
                session: session.to_owned(),
                store,
                polls: revision.has_rule(ProtocolRule::PollingStreams),
            });
        }
    }

    /// The event that a stream of this exchange begins with, if its client can have the rest again.
    #[cfg(feature = "http")]
    pub(crate) fn prime(&self, exchange: Exchange) -> Option<EventId> {
        let state = self.state();
        let polls = state.replay.as_ref().is_some_and(|replay| replay.polls);
        polls.then_some(EventId {
            stream: exchange.0,
            place: 0,
        })
    }

    /// Sends what followed an event on its stream there, and what follows from now on; the route is given back if that
    /// is not kept. Whether the stream ends with a last text, rather than with the session.
    #[cfg(feature = "http")]
    pub(crate) fn resume(&self, behind: EventId, route: Route) -> Option<bool> {
        let mut state = self.state();
        let replay = state.replay.as_ref()?;
        let events = replay.store.after(&replay.session, behind)?;
        for KeptEvent { id, text, last } in events {
            route.push(Item {
                text: Outgoing {
                    exchange: None,
                    last,
                    status: 200,
                    body: text,
                },
                id: Some(id),
            });
        }
        if behind.stream == 0 {
            // They are kept, too.
            state.backlog.clear();
            state.at_large = Some(route);
            return Some(false);
        }
        if let Some(open) = state.open.get_mut(&Exchange(behind.stream)) {
            open.route = route;
        }
        Some(true)
    }

    /// Whether nothing is being worked on, and nobody listens.
    #[cfg(feature = "http")]
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state();
        let mut at_large = state.at_large.iter();
        // Calls of adapters go on as long as the session does.
        state.connection.pending() == 0 && !at_large.any(|route| !route.is_closed())
    }

    /// Takes a text; calls in it start to work, and what they say goes to `route`.
    pub(crate) fn take(
        &self,
        headers: Option<&Headers<'_>>,
        looked: Looked<'_>,
        route: &Route,
        facts: Facts,
    ) -> Taken {
        let mut state = self.state();
        let exchange = state.connection.take(headers, looked, self.now());
        let route = route.clone();
        let open = Open {
            route,
            facts,
            events: 0,
            is_paused: false,
        };
        state.open.insert(exchange, open);
        let opens_session = self.carry(&mut state);
        let is_modern = state.connection.is_given_up_by_hanging_up(exchange);
        Taken {
            opens_session,
            exchange,
            hangs_up: is_modern.then_some(exchange),
        }
    }

    /// Does what the connection wants done; whether a session was opened.
    fn carry(&self, state: &mut State<App>) -> bool {
        let mut opens_session = false;
        while let Some(output) = state.connection.poll() {
            match output {
                Output::Send(text) => state.send(text),
                Output::Close(exchange) => {
                    state.open.remove(&exchange);
                }
                Output::Event(event) => {
                    opens_session |= matches!(event, Event::Opened(_));
                    self.heed(state, event);
                }
                // A client's alone.
                Output::Restart => {}
            }
        }
        self.arm(state);
        opens_session
    }

    fn heed(&self, state: &mut State<App>, event: Event) {
        match event {
            Event::Call(call) => {
                let names = (call.token, call.exchange);
                self.start(state, names, |handler, peer| async move {
                    handler.call(call, peer).await
                });
            }
            Event::OtherCall(call) => {
                let names = (call.token, call.exchange);
                self.start(state, names, |handler, peer| async move {
                    handler.other_call(call, peer).await
                });
            }
            Event::OtherNotice(notice) => {
                let session = self.session();
                let tell = || self.handler.other_notice(notice, session);
                let _ = catch_unwind(AssertUnwindSafe(tell));
            }
            Event::Notice(notice) => {
                let session = self.session();
                // What fails in there is the handler's business, and nobody waits for it.
                let _ = catch_unwind(AssertUnwindSafe(|| self.handler.notice(notice, session)));
            }
            Event::Initialized | Event::Listens => {
                let session = self.session();
                let _ = catch_unwind(AssertUnwindSafe(|| self.handler.opened(session)));
            }
            Event::Cancelled(cancelled) => {
                if let Some(task) = state.tasks.remove(&cancelled.token) {
                    task.abort();
                }
            }
            Event::Answered(answer) => {
                if let Some(waits) = state.asked.remove(&answer.token) {
                    // Whoever asked may have been cancelled since.
                    let _ = waits.send(answer);
                }
            }
            Event::Parked { ticket, .. } => {
                if let Some(parked) = &self.parked {
                    state.tickets.push(ticket);
                    let mut parked = parked.lock().unwrap_or_else(PoisonError::into_inner);
                    parked.insert(ticket, Weak::clone(&self.me));
                }
            }
            _ => {}
        }
    }

    /// Lets the handler work on a call.
    fn start<F>(
        &self,
        state: &mut State<App>,
        (token, exchange): (Token, Exchange),
        work: impl FnOnce(Arc<H>, Peer) -> F,
    ) where
        F: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        let Some(lane) = self.me.upgrade() else {
            return;
        };
        let open = state.open.get(&exchange);
        let facts = open.map(|open| open.facts.clone()).unwrap_or_default();
        let line: Arc<dyn Line> = Arc::<Self>::clone(&lane);
        let peer = Peer { token, line, facts };
        let work = work(Arc::clone(&self.handler), peer);
        // A task of its own for the handler: one that panics is answered for.
        let work = tokio::spawn(async move {
            let work = tokio::spawn(work);
            let _abort = AbortOnDrop(work.abort_handle());
            let result = work
                .await
                .unwrap_or_else(|_| Err(crate::errors::internal("the handler failed").error));
            lane.answer(token, result).await;
        });
        // A call that is made again for the same request takes the place of the one that is over.
        state.tasks.insert(token, work.abort_handle());
    }

    async fn answer(&self, token: Token, result: Result<Json, ErrorObject>) {
        // Room first, as for notifications; if nobody reads any more, the answer is for nobody.
        let _turn = self.turn(token).await;
        let mut state = self.state();
        state.tasks.remove(&token);
        let _ = state.connection.answer(token, result, self.now());
        self.carry(&mut state);
    }

    /// Waits until what is said about a request has room on its way; nobody holds the lane meanwhile.
    async fn turn(&self, token: Token) -> Option<Turn> {
        let route = self.route(token)?;
        route.turn().await
    }

    /// The peer hung up: calls whose answers nobody would read are given up.
    #[cfg(feature = "http")]
    pub(crate) fn hung_up(&self, exchange: Exchange) {
        let mut state = self.state();
        state.connection.ended(exchange, self.now());
        self.carry(&mut state);
        state.open.remove(&exchange);
    }

    /// The peer will not say anything any more: whoever waits for an answer of it waits in vain.
    #[cfg(feature = "stdio")]
    pub(crate) fn input_ended(&self) {
        let mut state = self.state();
        state.is_silent = true;
        state.asked.clear();
        // Calls that only end when the peer says so end now.
        state.connection.closed(self.now());
        self.carry(&mut state);
    }

    /// The session ended: every call on it is given up.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        #[cfg(feature = "http")]
        if let Some(Replay { session, store, .. }) = state.replay.take() {
            store.forget(&session);
        }
        let server = Arc::clone(state.connection.side());
        state.connection = Connection::new(server);
        state.open.clear();
        state.at_large = None;
        state.backlog.clear();
        state.asked.clear();
        if let Some((_, alarm)) = state.alarm.take() {
            alarm.abort();
        }
        for (_, task) in state.tasks.drain() {
            task.abort();
        }
    }

    /// Why no call more is parked: too many are, each with a connection of its own.
    fn refuses_to_park(&self, state: &State<App>) -> Option<ErrorObject> {
        let parked = self.parked.as_ref()?;
        let limit = state.connection.side().limits().all_parked;
        let is_one_more = state.tickets.is_empty() && state.connection.session_revision().is_none();
        let parked = parked.lock().unwrap_or_else(PoisonError::into_inner);
        (is_one_more && parked.len() >= limit).then(|| crate::errors::too_many_pending(limit).error)
    }

    /// Sees to it that the connection is woken when it wants to be.
    fn arm(&self, state: &mut State<App>) {
        let wake = state.connection.wake_at();
        if wake == state.alarm.as_ref().map(|(at, _)| *at) {
            return;
        }
        if let Some((_, alarm)) = state.alarm.take() {
            alarm.abort();
        }
        let Some(at) = wake else { return };
        let me = Weak::clone(&self.me);
        let when = tokio::time::Instant::from_std(self.start + at);
        let alarm = tokio::spawn(async move {
            tokio::time::sleep_until(when).await;
            if let Some(lane) = me.upgrade() {
                lane.wake();
            }
        });
        state.alarm = Some((at, alarm.abort_handle()));
    }

    fn wake(&self) {
        let mut state = self.state();
        state.alarm = None;
        state.connection.wake(self.now());
        self.carry(&mut state);
    }

    fn session(&self) -> Session {
        let line: Weak<Self> = Weak::clone(&self.me);
        Session { line }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State<App>> {
        // Nothing that is done under the lock leaves it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<App: Spoken> State<App> {
    fn send(&mut self, text: Outgoing) {
        let open = text
            .exchange
            .and_then(|exchange| self.open.get_mut(&exchange));
        let (route, place) = match open {
            Some(open) => {
                // A whole answer is no event.
                let is_event = !text.last || open.events > 0 || open.is_paused;
                open.events += u64::from(is_event);
                (Some(open.route.clone()), is_event.then_some(open.events))
            }
            None => {
                self.at_large_events += 1;
                let at_large = self.at_large.clone().filter(|route| !route.is_closed());
                (at_large, Some(self.at_large_events))
            }
        };
        let stream = match (&route, text.exchange) {
            (_, Some(exchange)) if self.open.contains_key(&exchange) => exchange,
            _ => Exchange::NONE,
        };
        if text.last {
            self.open.remove(&stream);
        }
        let id = place.and_then(|place| self.keep(stream, place, &text));
        let item = Item { text, id };
        match route {
            Some(route) => route.push(item),
            // The answer to a POST that is gone is for nobody; the rest waits for the session's stream.
            None if item.text.last => {}
            None => {
                self.backlog.push_back(item);
                let bytes = |backlog: &VecDeque<Item>| -> usize {
                    backlog.iter().map(|item| item.text.body.len()).sum()
                };
                while self.backlog.len() > BACKLOG || bytes(&self.backlog) > BACKLOG_BYTES {
                    self.backlog.pop_front();
                }
            }
        }
    }

    /// Keeps an event for a client that comes again for it.
    #[cfg(feature = "http")]
    fn keep(&self, stream: Exchange, place: u64, text: &Outgoing) -> Option<EventId> {
        let Replay { session, store, .. } = self.replay.as_ref()?;
        let id = EventId {
            stream: stream.0,
            place,
        };
        let event = KeptEvent {
            id,
            text: text.body.clone(),
            last: text.last,
        };
        store.keep(session, event);
        Some(id)
    }

    #[cfg(not(feature = "http"))]
    #[allow(
        clippy::unused_self,
        reason = "what is said over standard streams is said once"
    )]
    fn keep(&self, _: Exchange, _: u64, _: &Outgoing) -> Option<EventId> {
        None
    }
}

impl<App: Spoken, H: Handler> Line for Lane<App, H> {
    fn route(&self, token: Token) -> Option<Route> {
        let state = self.state();
        let exchange = state.connection.exchange_of(token)?;
        let open = state.open.get(&exchange).map(|open| open.route.clone());
        open.or_else(|| state.at_large.clone())
    }

    fn notify(&self, to: To, method: &str, params: Option<&Json>) -> Fate {
        let mut state = self.state();
        let Said { fate, .. } = state.connection.notify(to, method, params, self.now());
        self.carry(&mut state);
        fate
    }

    fn ask(
        &self,
        about: Option<Token>,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(Token, oneshot::Receiver<Answered>), Fate> {
        let mut state = self.state();
        if state.is_silent {
            return Err(Fate::Unknown);
        }
        let mut ask = Ask::new(method, params.cloned());
        if let Some(call) = about {
            ask = ask.about(call);
        }
        if let Some(error) = self.refuses_to_park(&state) {
            return Err(Fate::Refused(Box::new(error)));
        }
        let asked = state.connection.ask(ask, self.now());
        let (answer, waits) = oneshot::channel();
        if let Ok(token) = asked {
            state.asked.insert(token, answer);
        }
        // An adapter may have the answer at once.
        self.carry(&mut state);
        asked.map(|token| (token, waits))
    }

    fn handle(self: Arc<Self>) -> Session {
        self.session()
    }

    fn caller(&self) -> Option<Arc<Caller>> {
        self.state().connection.opened_by()
    }

    #[cfg(feature = "http")]
    fn pause(&self, token: Token) -> bool {
        let mut state = self.state();
        if !state.replay.as_ref().is_some_and(|replay| replay.polls) {
            return false;
        }
        let Some(exchange) = state.connection.exchange_of(token) else {
            return false;
        };
        let Some(open) = state.open.get_mut(&exchange) else {
            return false;
        };
        open.is_paused = true;
        open.route.pause(EventId {
            stream: exchange.0,
            place: open.events,
        });
        true
    }

    fn forget(&self, ask: Token) {
        let mut state = self.state();
        if state.asked.remove(&ask).is_some() {
            state.connection.cancel(ask, None, self.now());
            self.carry(&mut state);
        }
    }
}

impl<App: Spoken, H> Drop for Lane<App, H> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, alarm)) = state.alarm.take() {
            alarm.abort();
        }
        if let Some(parked) = &self.parked
            && !state.tickets.is_empty()
        {
            let mut parked = parked.lock().unwrap_or_else(PoisonError::into_inner);
            for ticket in &state.tickets {
                parked.remove(ticket);
            }
        }
    }
}

/// Ends a task with the one that waits for it.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
