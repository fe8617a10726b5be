//! Drives one connection of a server: its state is behind a lock that is never held while anybody waits.

mod handlers;
mod http;
mod streams;
#[cfg(feature = "ext-tasks")]
mod tasks;
mod work;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use mcp_wire::{ErrorObject, Json};
use tokio::sync::{OnceCell, watch};

pub(crate) use streams::StoredSession;
use streams::{Manner, Sent, Streams};
use work::{ConnectionWork, RunningCall};

use super::connection::PeerConnection;
use super::outbox::Outbox;
use super::{AnyHandler, Cancellation, ExchangeFacts, Peer, Replicas, Session};
use crate::backplane::ReplicaTarget;
use crate::layer::Layers;
use crate::transport::observe;
use crate::transport::panics::{caught, lock};
use crate::transport::spawn::{boxed, later, spawn};
use mcp_revisions_core::Headers;
use mcp_revisions_sansio::driver::server as driver;
use mcp_revisions_sansio::errors::Refusal;
use mcp_revisions_sansio::server::{AppProfile, Looked, Owner, Server};
use mcp_revisions_sansio::{
    Caller, Connection, CustomRequest, Event, Exchange, IncomingRequest, Output, Token,
};

/// The drivers whose calls are suspended, by the ticket that the client of each was given.
pub(crate) struct ByTicket {
    drivers: Mutex<HashMap<u64, Weak<ServerDriver>>>,
    replicas: Replicas,
    /// Set once the other replicas find this one.
    found: OnceCell<()>,
}

impl ByTicket {
    /// No driver yet, of the replica at this address.
    pub(crate) fn new(replicas: Replicas) -> Self {
        Self {
            drivers: Mutex::default(),
            replicas,
            found: OnceCell::new(),
        }
    }

    /// Returns the driver whose call was suspended with this ticket.
    pub(crate) fn driver(&self, ticket: u64) -> Option<Arc<ServerDriver>> {
        lock(&self.drivers).get(&ticket).and_then(Weak::upgrade)
    }

    /// Waits until the other replicas find this one, which may have joined them a moment ago. If the backplane cannot be
    /// reached, there is nothing to wait for.
    async fn wait_until_found(&self) {
        let Replicas { backplane, address } = &self.replicas;
        if !backplane.is_shared() {
            return;
        }
        // A message that says nothing, to itself: it goes the way that theirs go.
        let find = || async {
            let arrives = backplane
                .send(ReplicaTarget::One(address), Vec::new())
                .await;
            arrives.is_ok_and(|arrives| arrives).then_some(()).ok_or(())
        };
        let _ = self.found.get_or_try_init(find).await;
    }
}

/// Drives one connection of a server: takes the messages of its client, starts the handlers, and sends what they say.
pub(crate) struct ServerDriver {
    handler: Arc<dyn AnyHandler>,
    start: Instant,
    /// The register in which the retry of a suspended call finds this driver; `None` over stdio, where all requests come to one.
    by_ticket: Option<Arc<ByTicket>>,
    me: Weak<Self>,
    state: Mutex<DriverState>,
    /// Set once it was closed: nothing more is sent on it.
    is_over: AtomicBool,
    /// The client, as far as the transport can tell.
    owner: OnceLock<Owner>,
    /// The connection over which it was opened, if that is known.
    connection: OnceLock<PeerConnection>,
}

struct DriverState {
    connection: Connection<Server>,
    streams: Streams,
    /// The tasks at work; most of the time there are none.
    work: Option<Box<ConnectionWork>>,
    /// Set if the peer will not send anything any more.
    is_silent: bool,
    /// Set if the session ends once its calls are answered.
    is_ending: bool,
    /// Set if a task waits to send the texts that wait for their reader.
    is_flushing: bool,
}

/// The outcome of a text that came in.
#[derive(Clone, Copy)]
pub(crate) struct TextOutcome {
    /// Set if it opened a session: over HTTP the moment to mint its id.
    pub(crate) opens_session: bool,
    pub(crate) exchange: Exchange,
    /// Set if it opened a stream that does not end by itself.
    pub(crate) listens: bool,
    /// Set if it waits for the application of its client: the rest is known once it is [settled](ServerDriver::settled).
    pub(crate) waits: bool,
}

impl ServerDriver {
    /// Creates the driver of a connection on which nothing has been said.
    pub(crate) fn new(
        server: Arc<Server>,
        handler: Arc<dyn AnyHandler>,
        start: Instant,
        by_ticket: Option<Arc<ByTicket>>,
    ) -> Arc<Self> {
        let state = DriverState {
            connection: Connection::new(server),
            streams: Streams::default(),
            work: None,
            is_silent: false,
            is_ending: false,
            is_flushing: false,
        };
        Arc::new_cyclic(|me| Self {
            handler,
            start,
            by_ticket,
            me: Weak::clone(me),
            state: Mutex::new(state),
            is_over: AtomicBool::new(false),
            owner: OnceLock::new(),
            connection: OnceLock::new(),
        })
    }

    /// Sends everything there, for the one stream is all that the peer reads.
    pub(crate) fn send_all_to(&self, outbox: Outbox) {
        self.state().streams.attach_only(outbox);
    }

    /// Returns whether the connection was closed.
    pub(crate) fn was_closed(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Takes a text; calls in it start to work, and what they say goes to `outbox`.
    pub(crate) fn take(
        &self,
        headers: Option<&Headers<'_>>,
        looked: Looked<'_>,
        outbox: &Outbox,
        facts: ExchangeFacts,
    ) -> TextOutcome {
        let mut state = self.state();
        let exchange = state.connection.take(headers, looked, self.now());
        state.streams.begin(exchange, outbox.clone(), facts);
        let opens_session = self.perform(state, Manner::InTurn);
        let state = self.state();
        TextOutcome {
            opens_session,
            exchange,
            listens: state.connection.has_streams(),
            waits: state.connection.is_introducing(),
        }
    }

    /// Waits until it is known which application serves the client of a text, or that none does, and returns what the text came to.
    pub(crate) async fn settled(&self, outcome: TextOutcome) -> TextOutcome {
        if !outcome.waits {
            return outcome;
        }
        let known = (self.state().work.as_ref())
            .and_then(|work| Some(work.introduction.as_ref()?.1.subscribe()));
        if let Some(mut known) = known {
            // Nothing is sent: the sender goes.
            let _ = known.changed().await;
        }
        let state = self.state();
        TextOutcome {
            opens_session: state.connection.session_revision().is_some(),
            listens: state.connection.has_streams(),
            waits: false,
            ..outcome
        }
    }

    /// Finds the application of a client that introduces itself: at once where it is known, else in a task. Returns whether a
    /// session was opened.
    fn find_application(&self, caller: Arc<Caller>) -> bool {
        let found = Arc::clone(&self.handler).application(caller, self.session());
        let found = caught(boxed(async move { Ok(found.await) }));
        let mut found =
            boxed(async move { found.await.unwrap_or_else(|failed| Err(failed.into())) });
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(app) = found.as_mut().poll(&mut context) {
            return self.introduce(app);
        }
        let Some(driver) = self.me.upgrade() else {
            return false;
        };
        let mut state = self.state();
        let task = spawn(async move {
            let app = found.await;
            driver.introduce(app);
        });
        let finding = (task.abort_handle(), watch::Sender::new(()));
        if let Some((before, _)) = state.work().introduction.replace(finding) {
            before.abort();
        }
        false
    }

    /// Tells the connection which application serves its client; whether a session was opened.
    fn introduce(&self, app: Result<AppProfile, Box<Refusal>>) -> bool {
        let mut state = self.state();
        let answer = app.as_ref().map_err(Box::as_ref);
        state.connection.introduce(answer, self.now());
        let opens_session = self.perform(state, Manner::InTurn);
        if let Some(work) = &mut self.state().work {
            work.introduction = None;
        }
        opens_session
    }

    /// Does what the connection wants done; whether a session was opened.
    fn perform(&self, mut guard: MutexGuard<'_, DriverState>, manner: Manner) -> bool {
        let (mut opens_session, mut introduced) = (false, None);
        let state = &mut *guard;
        while let Some(output) = state.connection.poll() {
            match output {
                Output::Send(text) => {
                    if let Some(exchange) = text.exchange.filter(|_| !text.last) {
                        state.leave_will(exchange);
                    }
                    if let Sent::Overflows(exchange) = state.streams.send(text, manner) {
                        state.connection.ended(exchange, self.now());
                    }
                }
                Output::Empty(exchange, status) => {
                    state.streams.send_empty(exchange, status, manner)
                }
                Output::Close(exchange) => state.streams.end(exchange),
                Output::Event(Event::Introduced(caller)) => introduced = Some(caller),
                Output::Event(event) => {
                    opens_session |= matches!(event, Event::Opened(_));
                    self.handle_event(state, event);
                }
                // A client's alone.
                Output::Restart => {}
            }
        }
        self.arm(state);
        self.flush(state);
        let has_news = state.work.as_ref().is_some_and(|work| work.has_news());
        let is_idle = state.connection.unanswered() == 0;
        if is_idle {
            state.rest();
        }
        let ends = is_idle && state.is_ending;
        let dropped = state.streams.take_dropped();
        drop(guard);
        report(&dropped);
        if has_news {
            self.tell();
        }
        if let Some(caller) = introduced {
            opens_session |= self.find_application(caller);
        }
        if ends {
            self.close();
        }
        opens_session
    }

    /// Tells the handlers what they only take note of, in order, and without the lock: they may say something themselves.
    fn tell(&self) {
        loop {
            let event = {
                let mut state = self.state();
                let next = state.work.as_mut().and_then(|work| work.begin_telling());
                let Some(event) = next else {
                    state.work.take_if(|work| work.is_done());
                    return;
                };
                event
            };
            let tell = || self.handler.note(event, self.session());
            // Nothing waits for a notification: a panic of its handler changes nothing.
            let _ = catch_unwind(AssertUnwindSafe(tell));
            self.state().work().is_telling = false;
        }
    }

    /// Sees to it that what waits for its reader is sent on once that has made room.
    fn flush(&self, state: &mut DriverState) {
        let Some(outbox) = state
            .streams
            .blocked()
            .filter(|_| !state.is_flushing)
            .cloned()
        else {
            return;
        };
        state.is_flushing = true;
        let me = Weak::clone(&self.me);
        spawn(async move {
            let _turn = outbox.turn().await;
            if let Some(driver) = me.upgrade() {
                let mut state = driver.state();
                state.is_flushing = false;
                if state.streams.blocked().is_some() {
                    state.streams.flush();
                }
                let dropped = state.streams.take_dropped();
                drop(state);
                report(&dropped);
            }
        });
    }

    fn handle_event(&self, state: &mut DriverState, event: Event) {
        match event {
            Event::Request(IncomingRequest {
                token, exchange, ..
            })
            | Event::CustomRequest(CustomRequest {
                token, exchange, ..
            }) => self.start(state, token, exchange, event),
            Event::Initialized | Event::Listens | Event::LogLevel(_) => {
                state.work().news.push_back(event)
            }
            Event::Notification(ref missed) if state.is_behind() => {
                observe::notification_dropped(missed.method)
            }
            Event::CustomNotification(ref missed) if state.is_behind() => {
                observe::notification_dropped(&missed.method)
            }
            Event::Notification(_) | Event::CustomNotification(_) => {
                state.work().news.push_back(event)
            }
            Event::Cancelled(cancelled) => {
                if let Some(call) = state.work().tasks.remove(&cancelled.token) {
                    let reason = cancelled.reason;
                    // Before its future is dropped, which may pass the reason on.
                    let _ = call.cancellation.set(Cancellation { reason });
                    call.work.abort();
                }
            }
            Event::Answered(answer) => {
                if let Some(waits) = state.work().asked.remove(&answer.token) {
                    // Whoever asked may have been cancelled since.
                    let _ = waits.send(answer);
                }
            }
            Event::Suspended { ticket, .. } => {
                if let Some(by_ticket) = &self.by_ticket {
                    state.work().tickets.push(ticket);
                    lock(&by_ticket.drivers).insert(ticket, Weak::clone(&self.me));
                }
            }
            _ => {}
        }
    }

    /// Lets the handler work on a call.
    fn start(&self, state: &mut DriverState, token: Token, exchange: Exchange, request: Event) {
        let Some(driver) = self.me.upgrade() else {
            return;
        };
        let facts = state.streams.facts(exchange);
        let cancellation = Arc::new(OnceLock::new());
        let peer = Peer {
            token,
            driver: Arc::clone(&driver),
            server: Arc::clone(state.connection.role()),
            facts,
            task: None,
            cancellation: Arc::clone(&cancellation),
            layers: Layers::default(),
        };
        let work = Arc::clone(&self.handler).call(request, peer);
        let work = spawn(async move { driver.answer(token, caught(work).await).await });
        // A call that is made again for the same request takes the place of the one that is over.
        (state.work().tasks).insert(
            token,
            RunningCall {
                work: work.abort_handle(),
                cancellation,
            },
        );
    }

    async fn answer(&self, token: Token, result: Result<Json, ErrorObject>) {
        let outbox = self.outbox(token);
        // It counts as unread while it waits for room: calls may answer faster than their client reads.
        let (result, unread) = match &outbox {
            Some(outbox) => outbox.waits_with(result),
            None => (result, None),
        };
        // Room first, as for notifications; if nobody reads any more, the answer is for nobody.
        let _turn = match &outbox {
            Some(outbox) => outbox.turn().await,
            None => None,
        };
        drop(unread);
        let mut state = self.state();
        state.work().tasks.remove(&token);
        let _ = state.connection.answer(token, result, self.now());
        self.perform(state, Manner::InTurn);
    }

    /// Ends everything that waits for an answer of the peer, which sends nothing any more.
    pub(crate) fn input_ended(&self) {
        Arc::clone(&self.handler).session_ended(&self.session());
        let mut state = self.state();
        state.is_silent = true;
        // The driver may be gone before there is a turn for what waits.
        state.streams.flush();
        state.work().asked = Default::default();
        // Calls that only end when the peer says so end now.
        state.connection.closed(self.now());
        self.perform(state, Manner::InTurn);
    }

    /// The session ended: every call on it is given up.
    pub(crate) fn close(&self) {
        Arc::clone(&self.handler).session_ended(&self.session());
        self.shut();
    }

    fn shut(&self) {
        let mut state = self.state();
        self.is_over.store(true, Ordering::Release);
        state.streams.close();
        state.is_ending = false;
        let server = Arc::clone(state.connection.role());
        state.connection = Connection::new(server);
        if let Some(work) = &mut state.work {
            work.abandon();
        }
    }

    /// Waits until the client can retry a call that is suspended here at any replica; a session is found by its record.
    pub(in crate::transport) async fn wait_until_found(&self) {
        if let Some(by_ticket) = &self.by_ticket
            && self.state().connection.session_revision().is_none()
        {
            by_ticket.wait_until_found().await;
        }
    }

    /// Returns the reason why no further call is suspended: too many are, each with a connection of its own, of all clients or of its
    /// owner, or they take up too much. Else the call and what it takes up count against that from now on.
    fn refuses_to_suspend(
        &self,
        state: &DriverState,
        facts: Option<&ExchangeFacts>,
    ) -> Option<ErrorObject> {
        if self.by_ticket.is_none() || state.connection.session_revision().is_some() {
            return None;
        }
        if let Some(room) = facts.and_then(|facts| facts.room.as_ref())
            && let Err(refusal) = room.suspend()
        {
            return Some(refusal.error);
        }
        None
    }

    /// Sees to it that the connection is woken when it wants to be.
    fn arm(&self, state: &mut DriverState) {
        let wake = state.connection.wake_at();
        let alarm = state.work.as_ref().and_then(|work| work.alarm.as_ref());
        if wake == alarm.map(|(at, _)| *at) {
            return;
        }
        if let Some((_, alarm)) = state.work().alarm.take() {
            alarm.abort();
        }
        let Some(at) = wake else { return };
        let me = Weak::clone(&self.me);
        let when = later(self.start.into(), at);
        let alarm = spawn(async move {
            tokio::time::sleep_until(when).await;
            if let Some(driver) = me.upgrade() {
                driver.wake();
            }
        });
        state.work().alarm = Some((at, alarm.abort_handle()));
    }

    fn wake(&self) {
        let mut state = self.state();
        state.work().alarm = None;
        state.connection.wake(self.now());
        self.perform(state, Manner::InTurn);
    }

    pub(super) fn session(&self) -> Session {
        let driver = Weak::clone(&self.me);
        Session {
            driver,
            layers: Layers::default(),
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, DriverState> {
        lock(&self.state)
    }
}

/// Reports messages that their client does not get.
fn report(dropped: &[String]) {
    for text in dropped {
        let message = mcp_wire::peek(text.as_bytes()).ok();
        let method = message.and_then(|message| message.method);
        observe::message_dropped(method.as_deref().unwrap_or_default());
    }
}

impl DriverState {
    /// Sees to it that another replica can end the stream of this exchange, if this one is gone before it does.
    fn leave_will(&mut self, exchange: Exchange) {
        if self.streams.lacks_will(exchange) {
            let requests = self.connection.waiting_in(exchange);
            self.streams.leave_will(exchange, &requests);
        }
    }

    /// Returns whether the handlers take note of events more slowly than they come.
    fn is_behind(&self) -> bool {
        let most = self.connection.role().limits().max_pending_requests;
        (self.work.as_ref()).is_some_and(|work| work.news.len() >= most)
    }

    fn work(&mut self) -> &mut ConnectionWork {
        self.work.get_or_insert_default()
    }

    /// Nothing is being worked on: of many sessions most are in this state, and take up little.
    fn rest(&mut self) {
        driver::rest(&mut self.connection);
        self.streams.rest();
        self.work.take_if(|work| work.is_done());
    }
}

impl Drop for ServerDriver {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(work) = &mut state.work else { return };
        work.end_tasks_of_connection();
        if let Some(by_ticket) = &self.by_ticket
            && !work.tickets.is_empty()
        {
            let mut drivers = lock(&by_ticket.drivers);
            for ticket in &work.tickets {
                drivers.remove(ticket);
            }
        }
    }
}
