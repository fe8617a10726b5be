//! Drives the connection to a server: requests of its handles go out, each answer to its request, and the rest to the
//! application.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use super::handle::{Handle, HandleCommand, OpenCall, RequestReply, WeakHandle};
use super::{Incoming, Transport};
use crate::transport::panics::caught;
use crate::transport::queue::{QueueReceiver, queue};
use crate::transport::spawn::{later, spawn};
use mcp_revisions_sansio::client::{
    Answered, Client, Connection, Event, Failure, Ignored, OutgoingRequest, Output, ServerFacts,
    To, Token,
};
use mcp_revisions_sansio::driver::{client, quotable};

/// Maximum number of bytes of requests and notifications that wait for the driver before its handles do.
const REQUEST_BYTES: usize = 1 << 20;
/// Maximum time that they wait for a server that takes nothing, before they are refused.
const ROOM_TIME: Duration = Duration::from_secs(60);

/// The application behind a connection: the handler of events that answer no request. Its functions run in the task of the
/// driver, and must not block.
pub trait Application: Send + Sized + 'static {
    /// The application's data about a request.
    type Call: Send + 'static;

    /// Handles an event of the connection. Answers go to their requests instead.
    fn event(&mut self, driver: &mut Driver<Self::Call>, event: Event);

    /// Receives a request of a handle, to [send](Driver::begin) it now or later.
    fn take(
        &mut self,
        driver: &mut Driver<Self::Call>,
        ask: OutgoingRequest,
        open: OpenCall<Self::Call>,
    ) {
        driver.begin(ask, open);
    }

    /// Returns whether requests of handles wait while as many are pending as may be
    /// ([`Limits::max_pending_requests`](crate::Limits::max_pending_requests)); else those are refused.
    fn waits_for_room(&self) -> bool {
        false
    }

    /// Sees the answer to a request before its handle does.
    fn answered(&mut self, open: &OpenCall<Self::Call>, answered: &Answered) {
        let _ = (open, answered);
    }

    /// Returns the reason that the server is given when a handle does not wait for an answer any more.
    fn cancel_reason(&self, open: &OpenCall<Self::Call>) -> Option<String> {
        let _ = open;
        Some(NOT_WAITED_FOR.to_owned())
    }

    /// Runs whenever something has happened; returns whether it did anything.
    fn settle(&mut self, driver: &mut Driver<Self::Call>) -> bool {
        let _ = driver;
        false
    }

    /// Returns the time at which [`settle`](Self::settle) has to be called.
    fn wake_at(&self) -> Option<Duration> {
        None
    }

    /// Runs when the server has ended by itself.
    fn closed(&mut self, driver: &mut Driver<Self::Call>) -> impl Future<Output = ()> + Send {
        let _ = driver;
        std::future::ready(())
    }
}

/// The reason that a server is given where the application has none.
pub const NOT_WAITED_FOR: &str = "the answer is not waited for any more";

/// A connection, and what is at work on it.
#[derive(Debug)]
pub struct Driver<C> {
    connection: Connection<Client>,
    transport: Transport,
    handle: WeakHandle<C>,
    calls: BTreeMap<Token, OpenCall<C>>,
    tokens: HashMap<u64, Token>,
    /// Requests of the server that are being answered, and in which request each was made.
    questions: HashMap<Token, (AbortHandle, Option<Token>)>,
    facts: watch::Sender<Option<ServerFacts>>,
    ended: watch::Sender<bool>,
    connecting: Option<Connecting>,
    start: Instant,
    /// Set if the server has ended.
    is_over: bool,
    /// The exit status of its process, once that was waited for.
    exit: Option<String>,
}

/// The handles that wait for the revision of the server.
#[derive(Debug, Default)]
struct Connecting {
    done: Vec<oneshot::Sender<Result<ServerFacts, Box<Failure>>>>,
    /// The last line of the server.
    last: Option<Vec<u8>>,
    /// Why it will not be known.
    failure: Option<Failure>,
}

/// Drives a connection to the server behind a transport, in a task of its own, until the last handle is dropped.
pub fn drive<A: Application>(client: Client, transport: Transport, app: A) -> Handle<A::Call> {
    // Commands do not wait.
    let (commands, wanted) = queue(usize::MAX);
    let (requests, asked) = queue(REQUEST_BYTES);
    let (facts, known) = watch::channel(None);
    let (ended, has_ended) = watch::channel(false);
    let handle = Handle {
        commands,
        requests,
        facts: known,
        ended: has_ended,
    };
    let driver = Driver {
        connection: Connection::new(client),
        transport,
        handle: handle.downgrade(),
        calls: BTreeMap::new(),
        tokens: HashMap::new(),
        questions: HashMap::new(),
        facts,
        ended,
        connecting: None,
        start: Instant::now(),
        is_over: false,
        exit: None,
    };
    spawn(driver.run(app, wanted, asked));
    handle
}

impl<C: Send + 'static> Driver<C> {
    async fn run<A>(
        mut self,
        mut app: A,
        mut wanted: QueueReceiver<HandleCommand<C>>,
        mut asked: QueueReceiver<HandleCommand<C>>,
    ) where
        A: Application<Call = C>,
    {
        let mut told = None;
        // Until when requests wait for the server, while there is no room for more.
        let mut full: Option<tokio::time::Instant> = None;
        loop {
            self.settle(&mut app);
            self.give_up_connecting().await;
            let wake = self.wake_at(&app);
            let now = tokio::time::Instant::now();
            full = (!self.has_room()).then(|| full.unwrap_or(now + ROOM_TIME));
            let room = full
                .filter(|until| *until > now)
                .map(|until| tokio::time::timeout_at(until, self.transport.room()));
            let waits = room.is_some();
            let takes = !waits && (!app.waits_for_room() || self.may_ask());
            tokio::select! {
                Some(command) = asked.recv(), if takes => self.command(&mut app, command),
                () = over(room) => {}
                command = wanted.recv() => match command {
                    None => break,
                    Some(HandleCommand::Close(done)) => {
                        told = Some(done);
                        break;
                    }
                    Some(command) => self.command(&mut app, command),
                },
                () = sleep_until(wake, self.start) => self.connection.wake(self.now()),
                incoming = self.transport.receive(), if !self.is_over => {
                    let is_over = matches!(incoming, Incoming::Closed);
                    if !is_over {
                        self.receive(incoming);
                    } else if self.connection.is_starting() {
                        self.died_early().await;
                    } else {
                        self.died().await;
                    }
                    if is_over {
                        self.is_over = true;
                        // The server may be started again.
                        self.settle(&mut app);
                    }
                    if self.is_over {
                        self.ended.send_replace(true);
                        self.give_up_connecting().await;
                        app.closed(&mut self).await;
                    }
                }
            }
        }
        drop((wanted, asked));
        for (question, _) in self.questions.values() {
            question.abort();
        }
        self.calls.clear();
        let ended = self.transport.end().await;
        self.ended.send_replace(true);
        if let Some(done) = told {
            let _ = done.send(ended);
        }
    }

    /// Returns the time since the driver started, by which the connection counts.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the revision that the application speaks.
    #[must_use]
    pub fn app(&self) -> Revision {
        self.connection.role().app()
    }

    /// Returns a handle to the connection; `None` if the last one is gone.
    #[must_use]
    pub fn handle(&self) -> Option<Handle<C>> {
        self.handle.upgrade()
    }

    /// Returns the requests that wait for their answer, in the order in which they were sent.
    #[must_use]
    pub fn calls(&self) -> &BTreeMap<Token, OpenCall<C>> {
        &self.calls
    }

    /// Returns a request that waits for its answer, to be changed.
    pub fn call_mut(&mut self, token: Token) -> Option<&mut OpenCall<C>> {
        self.calls.get_mut(&token)
    }

    /// Sends a request.
    pub fn begin(&mut self, ask: OutgoingRequest, open: OpenCall<C>) {
        match self.connection.ask(ask, self.now()) {
            Ok(token) => {
                self.tokens.insert(open.key, token);
                self.calls.insert(token, open);
            }
            Err(why) => open.refuse(why),
        }
    }

    /// Sends a notification to the handle of a request; false if it reads too slowly, or is gone, and the notification is lost.
    pub fn tell(&self, token: Token, method: &str, params: Json) -> bool {
        let open = self.calls.get(&token);
        // A notification that is larger than the room has its turn once nothing else waits.
        let replies = open.map(|open| &open.replies);
        let Some(replies) = replies.filter(|replies| replies.has_room()) else {
            return false;
        };
        replies.push(RequestReply::Notification(method.to_owned(), params));
        true
    }

    /// Reports a message of the server that the application cannot use.
    pub fn leave_out(&mut self, ignored: Ignored) {
        client::leave_out(&mut self.connection, ignored);
    }

    /// Reports a notification of progress that names no request.
    pub fn leave_out_progress(&mut self, params: &Json) {
        client::leave_out_progress(&mut self.connection, params);
    }

    /// Answers a request of the server once `answer` is ready; `of` is the request in whose work the server made it.
    pub fn answer_with(
        &mut self,
        token: Token,
        of: Option<Token>,
        answer: impl Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    ) {
        let Some(handle) = self.handle() else { return };
        if let Some(open) = of.and_then(|of| self.calls.get_mut(&of)) {
            open.questions += 1;
        }
        let work = spawn(async move {
            let result = caught(Box::pin(answer)).await;
            handle
                .commands
                .push(HandleCommand::Answer { token, result });
        });
        self.questions.insert(token, (work.abort_handle(), of));
    }

    /// Waits until the process of the server has ended, for a second at most, and returns how, in brackets, for people.
    /// Cancel safe.
    pub async fn exit(&mut self) -> String {
        if self.exit.is_none() {
            self.exit = Some(self.transport.exit().await);
        }
        self.exit.clone().unwrap_or_default()
    }

    /// Returns the failure of requests to a server that has ended.
    fn end(&self) -> Failure {
        match &self.exit {
            Some(how) if !how.is_empty() => Failure::Ended(how.clone()),
            _ => Failure::Closed,
        }
    }

    /// Does what is to be done, until there is nothing more.
    fn settle<A: Application<Call = C>>(&mut self, app: &mut A) {
        loop {
            while let Some(output) = self.connection.poll() {
                match output {
                    Output::Send(post) if self.is_over && self.start_again() => {
                        self.transport.send(post);
                    }
                    // A server that is gone is sent nothing.
                    Output::Send(_) if self.is_over => {
                        self.connection.closed_for(&self.end(), self.now());
                    }
                    Output::Send(post) => self.transport.send(post),
                    Output::Close(exchange) => self.transport.close(exchange),
                    // Only a server has this output.
                    Output::Empty(..) => {}
                    Output::Restart => {
                        self.is_over = !self.restart();
                        if self.is_over {
                            self.connection.closed_for(&self.end(), self.now())
                        }
                    }
                    Output::Event(event) => self.event(app, event),
                }
            }
            if !app.settle(self) {
                return;
            }
        }
    }

    /// Starts the process of the server again, if it has one, and that is wanted. Returns whether it runs.
    fn restart(&mut self) -> bool {
        match self.transport.restart() {
            Ok(false) => false,
            Ok(true) => {
                self.exit = None;
                true
            }
            // This says more than how the process before has ended.
            Err(why) => {
                self.exit = Some(format!(", and does not start again: {why}"));
                false
            }
        }
    }

    /// Starts a server again that has ended by itself, if that is wanted. Returns whether it runs.
    fn start_again(&mut self) -> bool {
        if !self.transport.outlives_its_end() || !self.restart() {
            return false;
        }
        self.is_over = false;
        self.ended.send_replace(false);
        client::server_restarted(&mut self.connection);
        true
    }

    fn event<A: Application<Call = C>>(&mut self, app: &mut A, event: Event) {
        match &event {
            Event::Settled(facts) => {
                self.facts.send_replace(Some(facts.clone()));
                let connecting = self.connecting.take().unwrap_or_default();
                for done in connecting.done {
                    let _ = done.send(Ok(facts.clone()));
                }
            }
            Event::NotSettled(failure) => {
                if let Some(connecting) = &mut self.connecting {
                    connecting.failure = Some(failure.clone());
                }
            }
            Event::Cancelled(cancelled) => {
                self.end_question(cancelled.token);
            }
            Event::Task { token, task } => {
                // The next look has what a slow reader misses.
                if let Some(open) = self.calls.get(token) {
                    open.replies.try_push(RequestReply::Task(task.clone()));
                }
                return;
            }
            Event::Answered(answered) => {
                if let Some(open) = self.calls.remove(&answered.token) {
                    self.tokens.remove(&open.key);
                    app.answered(&open, answered);
                    let Event::Answered(answered) = event else {
                        return;
                    };
                    // A handle that is told of the end by this does not send its next request here.
                    if self.is_over {
                        self.ended.send_replace(true);
                    }
                    open.replies.push(RequestReply::Answered(answered));
                }
                return;
            }
            _ => {}
        }
        app.event(self, event);
    }

    fn command<A: Application<Call = C>>(&mut self, app: &mut A, command: HandleCommand<C>) {
        let now = self.now();
        match command {
            HandleCommand::Ask(_, open) if open.is_cancelled() => {}
            HandleCommand::Ask(_, open) if !self.has_room() => {
                open.refuse(Box::new(Failure::NotRead));
            }
            HandleCommand::Ask(ask, open) => app.take(self, ask, *open),
            HandleCommand::Cancel(key) => {
                if let Some(token) = self.tokens.remove(&key) {
                    let open = self.calls.remove(&token);
                    let reason = open.and_then(|open| app.cancel_reason(&open));
                    self.connection.cancel(token, reason.as_deref(), now);
                }
            }
            HandleCommand::Notify {
                method,
                params,
                done,
            } => {
                let said = if self.has_room() {
                    Ok((self.connection).notify(To::Session, &method, params.as_ref(), now))
                } else {
                    Err(Box::new(Failure::NotRead))
                };
                let _ = done.send(said);
            }
            HandleCommand::Answer { token, result } => {
                if self.end_question(token) {
                    // A server that does not wait for it any more cannot be told.
                    let _ = self.connection.answer(token, result, now);
                }
            }
            HandleCommand::Connect(done) => match self.connection.connect(now) {
                Ok(()) => {
                    let facts = self.facts.borrow().clone();
                    match facts {
                        Some(facts) => drop(done.send(Ok(facts))),
                        None => {
                            let connecting = self.connecting.get_or_insert_default();
                            connecting.done.push(done);
                        }
                    }
                }
                Err(refused) => drop(done.send(Err(refused))),
            },
            HandleCommand::LeaveOut(ignored) => self.leave_out(ignored),
            HandleCommand::SetLogLevel(level) => self.connection.set_log_level(Some(&level)),
            HandleCommand::ContinueAs(client) => self.connection.continue_as(*client),
            HandleCommand::Close(_) => {}
        }
    }

    /// Returns whether the server may be sent more; one that is gone is not sent anything.
    fn has_room(&self) -> bool {
        self.is_over || self.transport.has_room()
    }

    /// Returns whether one more request may be pending. Requests that wait do so in the queue, which is bounded by bytes, and
    /// beyond it in their handles.
    fn may_ask(&self) -> bool {
        let limits = self.connection.role().limits();
        self.is_over || self.connection.pending() < limits.max_pending_requests
    }

    /// Forgets a request of the server; returns whether it was being answered.
    fn end_question(&mut self, question: Token) -> bool {
        let Some((work, of)) = self.questions.remove(&question) else {
            return false;
        };
        work.abort();
        if let Some(open) = of.and_then(|of| self.calls.get_mut(&of)) {
            open.questions = open.questions.saturating_sub(1);
        }
        true
    }

    /// The server has ended that was known; its calls fail with how it did.
    async fn died(&mut self) {
        self.exit().await;
        self.connection.closed_for(&self.end(), self.now());
    }

    /// The server has ended before it was known which revision it speaks.
    async fn died_early(&mut self) {
        let failure = self.early_end().await;
        self.connection.closed_for(&failure, self.now());
    }

    /// Returns the failure of a server that ended before its revision was known, with the last line that it wrote.
    async fn early_end(&mut self) -> Failure {
        let status = self.exit().await;
        let connecting = self.connecting.as_ref();
        let line = connecting.and_then(|connecting| connecting.last.as_deref());
        let last = line.map_or(String::new(), |line| {
            let line = String::from_utf8_lossy(line);
            format!("; the last line that it wrote: {}", quotable(line.trim()))
        });
        Failure::NotStarted(format!(
            "ended before it said which revision it speaks{status}{last}"
        ))
    }

    fn receive(&mut self, incoming: Incoming) {
        let now = self.now();
        if let (Some(connecting), Incoming::Message { text, .. }) =
            (&mut self.connecting, &incoming)
        {
            connecting.last = Some(text.clone());
        }
        let connection = &mut self.connection;
        match incoming {
            Incoming::Message { exchange, text } => {
                connection.receive(exchange, &text, now);
            }
            Incoming::Answered {
                exchange,
                status,
                session,
                body,
            } => connection.answered(exchange, status, session.as_deref(), body.as_deref(), now),
            Incoming::Ended(exchange) => connection.ended(exchange, now),
            Incoming::Failed { exchange, why } => connection.failed(exchange, why, now),
            Incoming::Unauthorized { exchange, needed } => {
                connection.unauthorized(exchange, needed, now);
            }
            Incoming::Misframed(why) => client::misframed(connection, why),
            Incoming::SessionLost(id) => connection.session_lost(&id, now),
            Incoming::Closed => {}
        }
    }

    fn wake_at<A: Application>(&self, app: &A) -> Option<Duration> {
        let all = [self.connection.wake_at(), app.wake_at()];
        all.into_iter().flatten().min()
    }

    /// Tells the handle that waits for the revision of the server that it will not be known, if that is so.
    async fn give_up_connecting(&mut self) {
        let Some(Connecting { failure, .. }) = &self.connecting else {
            return;
        };
        let failure = match failure {
            Some(failure) if !self.is_over => failure.clone(),
            Some(failure) if matches!(failure.reason(), Failure::NotStarted(_)) => failure.clone(),
            _ if self.is_over => self.early_end().await,
            _ => return,
        };
        let connecting = self.connecting.take().unwrap_or_default();
        for done in connecting.done {
            let _ = done.send(Err(Box::new(failure.clone())));
        }
    }
}

/// Waits until some work is over; for ever if there is none.
async fn over<T>(work: Option<impl Future<Output = T>>) {
    match work {
        Some(work) => drop(work.await),
        None => std::future::pending().await,
    }
}

async fn sleep_until(at: Option<Duration>, start: Instant) {
    match at {
        Some(at) => tokio::time::sleep_until(later(start.into(), at)).await,
        None => std::future::pending().await,
    }
}
