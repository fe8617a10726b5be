//! The task behind a client's handles: it sends the messages of the connection, passes on those received, and the time.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcp_protocol::Spoken;
use mcp_wire::service::{ClientSide, Serves};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::notices::{Around, note};
use super::{ClientContext, Log, Progress, Tell, closed};
use crate::client::{
    Answer, Ask, Call, Client as Side, Connection, Event, Failure, Fate, Notice, OtherCall,
    OtherNotice, Output, Profile, ServerFacts, To, Token,
};
use crate::methods;
use crate::service::Error;
use crate::service::custom::{Answer as Answering, Custom};
use crate::service::room::Room;
use crate::transport::client::{Incoming, Transport};
use crate::transport::panics::caught;

/// What a handle wants done.
pub(super) enum Command {
    Call {
        key: u64,
        call: Box<Wanted>,
    },
    Cancel {
        key: u64,
    },
    Notify {
        method: &'static str,
        params: Option<Json>,
        done: oneshot::Sender<Result<(), Error>>,
    },
    Answer {
        token: Token,
        result: Result<Json, ErrorObject>,
    },
    Close {
        done: oneshot::Sender<std::io::Result<()>>,
    },
}

/// A call, and who waits for its answer.
pub(super) struct Wanted {
    pub(super) method: &'static str,
    pub(super) params: Option<Json>,
    pub(super) progress: Option<Tell<Progress>>,
    pub(super) log: Option<Tell<Log>>,
    pub(super) log_level: Option<&'static str>,
    pub(super) behalf: Option<Arc<Profile>>,
    pub(super) answer: oneshot::Sender<Result<Json, Error>>,
}

/// Cancels its call when it is dropped before the answer.
pub(super) struct Ticket {
    key: u64,
    commands: Option<mpsc::UnboundedSender<Command>>,
}

/// The name of a call that is about to be made.
pub(super) fn ticket(commands: &mpsc::UnboundedSender<Command>) -> (u64, Ticket) {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let key = LAST.fetch_add(1, Ordering::Relaxed);
    let commands = Some(commands.clone());
    (key, Ticket { key, commands })
}

impl Ticket {
    /// The call is answered: nothing is left to cancel.
    pub(super) fn settled(mut self) {
        self.commands = None;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(commands) = self.commands.take() {
            let _ = commands.send(Command::Cancel { key: self.key });
        }
    }
}

struct Driver<App: Spoken, H> {
    connection: Connection<Side>,
    carrier: Transport,
    handlers: Arc<H>,
    custom: Custom<ClientContext<App>>,
    around: Around,
    facts: watch::Sender<Option<ServerFacts>>,
    waiting: HashMap<Token, Waiting>,
    tokens: HashMap<u64, Token>,
    /// Questions of the server that are being answered.
    answering: HashMap<Token, AbortHandle>,
    /// What the handlers take note of, one after the other.
    noted: mpsc::UnboundedSender<(Notice, OwnedSemaphorePermit)>,
    room: Room,
    start: Instant,
    /// Whether the other end is gone.
    over: bool,
}

struct Waiting {
    key: u64,
    progress: Option<Tell<Progress>>,
    log: Option<Tell<Log>>,
    answer: oneshot::Sender<Result<Json, Error>>,
}

/// What a handle has of its connection.
pub(super) type Ends = (
    mpsc::UnboundedSender<Command>,
    watch::Receiver<Option<ServerFacts>>,
);

/// Sets a connection going.
pub(super) fn start<App: Spoken, H>(
    endpoint: Side,
    carrier: Transport,
    handlers: Arc<H>,
    custom: Custom<ClientContext<App>>,
) -> Ends
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    let (commands, wanted) = mpsc::unbounded_channel();
    let (facts, known) = watch::channel(None);
    let (noted, notices) = mpsc::unbounded_channel();
    let around = Around {
        commands: commands.downgrade(),
        facts: known.clone(),
    };
    let room = Room::of(endpoint.limits());
    tokio::spawn(note::<App, H>(
        Arc::clone(&handlers),
        around.clone(),
        notices,
    ));
    let driver = Driver::<App, H> {
        connection: Connection::new(endpoint),
        carrier,
        handlers,
        custom,
        around,
        facts,
        noted,
        room,
        waiting: HashMap::new(),
        tokens: HashMap::new(),
        answering: HashMap::new(),
        start: Instant::now(),
        over: false,
    };
    tokio::spawn(driver.run(wanted));
    (commands, known)
}

/// What woke the driver.
enum Woken {
    Command(Option<Command>),
    Incoming(Incoming),
    Time,
}

impl<App: Spoken, H> Driver<App, H>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    async fn run(mut self, mut wanted: mpsc::UnboundedReceiver<Command>) {
        let mut told = None;
        loop {
            self.settle();
            let wake = self.connection.wake_at().map(|at| self.start + at);
            let woken = tokio::select! {
                incoming = self.carrier.next(), if !self.over => Woken::Incoming(incoming),
                command = wanted.recv() => Woken::Command(command),
                () = sleep_until(wake) => Woken::Time,
            };
            let now = self.now();
            match woken {
                Woken::Command(None) => break,
                Woken::Command(Some(Command::Close { done })) => {
                    told = Some(done);
                    break;
                }
                Woken::Command(Some(command)) => self.command(command, now),
                Woken::Incoming(incoming) => self.incoming(incoming, now),
                Woken::Time => self.connection.wake(now),
            }
        }
        for (_, task) in self.answering.drain() {
            task.abort();
        }
        for (_, waiting) in self.waiting.drain() {
            let _ = waiting.answer.send(Err(closed()));
        }
        let ended = self.carrier.end().await;
        if let Some(done) = told {
            let _ = done.send(ended);
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn command(&mut self, command: Command, now: Duration) {
        match command {
            Command::Call { call, .. } if !self.has_room() => {
                let _ = call.answer.send(Err(takes_nothing()));
            }
            Command::Call { key, call } => self.call(key, *call, now),
            Command::Cancel { key } => {
                if let Some(token) = self.tokens.remove(&key) {
                    self.waiting.remove(&token);
                    let reason = "the answer is not waited for any more";
                    self.connection.cancel(token, Some(reason), now);
                }
            }
            Command::Notify { done, .. } if !self.has_room() => {
                let _ = done.send(Err(takes_nothing()));
            }
            Command::Notify {
                method,
                params,
                done,
            } => {
                let said = (self.connection).notify(To::Session, method, params.as_ref(), now);
                let _ = done.send(match said.fate {
                    Fate::Refused(error) => Err(Error::Rpc(*error)),
                    Fate::NeedsAdapter(needs) => Err(Error::Internal(needs.to_string())),
                    Fate::Unknown => Err(closed()),
                    Fate::Sent | Fate::Adapted | Fate::Dropped(_) => Ok(()),
                });
            }
            Command::Answer { token, result } => {
                if self.answering.remove(&token).is_some() {
                    // A server that does not wait for it any more cannot be told.
                    let _ = self.connection.answer(token, result, now);
                }
            }
            Command::Close { .. } => {}
        }
    }

    /// Whether the server may be sent more; one that is gone is not sent anything.
    fn has_room(&self) -> bool {
        self.over || self.carrier.has_room()
    }

    fn call(&mut self, key: u64, call: Wanted, now: Duration) {
        let Wanted {
            method,
            params,
            progress,
            log,
            log_level,
            behalf,
            answer,
        } = call;
        let mut ask = Ask::new(method, params);
        if progress.is_some() {
            ask = ask.with_progress();
        }
        if let Some(level) = log_level {
            ask = ask.with_log_level(level);
        }
        if let Some(who) = behalf {
            ask = ask.on_behalf_of(who);
        }
        match self.connection.ask(ask, now) {
            Ok(token) => {
                self.tokens.insert(key, token);
                let waiting = Waiting {
                    key,
                    progress,
                    log,
                    answer,
                };
                self.waiting.insert(token, waiting);
            }
            Err(refused) => {
                let _ = answer.send(Err(refused.into()));
            }
        }
    }

    fn incoming(&mut self, incoming: Incoming, now: Duration) {
        let connection = &mut self.connection;
        match incoming {
            Incoming::Message { exchange, text } => {
                connection.receive(exchange, &text, now);
            }
            #[cfg(feature = "client-http")]
            Incoming::Answered {
                exchange,
                status,
                session,
                body,
            } => connection.answered(exchange, status, session.as_deref(), body.as_deref(), now),
            #[cfg(feature = "client-http")]
            Incoming::Ended(exchange) => connection.ended(exchange, now),
            #[cfg(feature = "client-http")]
            Incoming::Failed { exchange, why } => connection.failed(exchange, why, now),
            Incoming::Closed => {
                self.over = true;
                connection.closed(now);
            }
        }
    }

    /// Does what is to be done, until there is nothing more.
    fn settle(&mut self) {
        while let Some(output) = self.connection.poll() {
            match output {
                // Nobody is there to be sent anything.
                Output::Send(_) if self.over => self.connection.closed(self.start.elapsed()),
                Output::Send(post) => self.carrier.send(post),
                Output::Close(exchange) => self.carrier.close(exchange),
                Output::Restart => {
                    self.over = !self.carrier.restart();
                }
                Output::Event(event) => self.event(event),
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Settled(facts) => {
                self.facts.send_replace(Some(facts));
            }
            Event::Answered(answered) => {
                if let Some(waiting) = self.waiting.remove(&answered.token) {
                    self.tokens.remove(&waiting.key);
                    // Whoever waited may be gone since.
                    let _ = waiting.answer.send(outcome(answered.answer));
                }
            }
            Event::Call(call) => self.question(call),
            Event::Cancelled(cancelled) => {
                if let Some(task) = self.answering.remove(&cancelled.token) {
                    task.abort();
                }
            }
            Event::Notice(notice) => self.notice(notice),
            Event::OtherCall(call) => self.custom_question(call),
            Event::OtherNotice(notice) => self.custom_notice(notice),
            _ => {}
        }
    }

    fn question(&mut self, call: Call) {
        let (Some(cx), Some(commands)) = (self.around.cx(), self.around.commands.upgrade()) else {
            return;
        };
        let handlers = Arc::clone(&self.handlers);
        let work = Box::pin(async move {
            let (method, params) = (call.method, &call.params);
            <App::Protocol as Serves<ClientSide, H, _>>::request(&handlers, method, params, cx)
                .await
        });
        self.answer_by(call.token, work, commands);
    }

    /// A question of a method that no revision has.
    fn custom_question(&mut self, call: OtherCall) {
        let (Some(cx), Some(commands)) = (self.around.cx(), self.around.commands.upgrade()) else {
            return;
        };
        let unknown = || -> Answering {
            let error = Error::MethodNotFound(call.method.clone());
            Box::pin(std::future::ready(Err(error)))
        };
        let answer = self.custom.request(&call.method, call.params, cx);
        self.answer_by(call.token, answer.unwrap_or_else(unknown), commands);
    }

    /// Lets a handler work on a question, whose answer is sent once there is one.
    fn answer_by<W>(
        &mut self,
        token: Token,
        work: Pin<Box<W>>,
        commands: mpsc::UnboundedSender<Command>,
    ) where
        W: Future<Output = Result<Json, Error>> + Send + ?Sized + 'static,
    {
        let work = tokio::spawn(async move {
            let answer = async { work.await.map_err(|it| it.into_object(App::REVISION)) };
            let result = caught(Box::pin(answer)).await;
            let _ = commands.send(Command::Answer { token, result });
        });
        self.answering.insert(token, work.abort_handle());
    }

    fn custom_notice(&mut self, notice: OtherNotice) {
        let (Some(cx), Some(room)) = (self.around.cx(), self.room.take(&notice.params)) else {
            return;
        };
        if let Some(noted) = (self.custom).notification(&notice.method, notice.params, cx) {
            tokio::spawn(async move {
                let _room = room;
                let _ = noted.await;
            });
        }
    }

    fn notice(&mut self, notice: Notice) {
        let progress = (notice.about)
            .and_then(|token| self.waiting.get(&token)?.progress.as_ref())
            .filter(|_| notice.method == methods::NOTIFICATIONS_PROGRESS);
        if let (Some(tell), Some(progress)) = (progress, Progress::read(&notice.params)) {
            return tell(progress);
        }
        if notice.method == methods::NOTIFICATIONS_MESSAGE && self.logged(&notice) {
            return;
        }
        if let Some(room) = self.room.take(&notice.params) {
            let _ = self.noted.send((notice, room));
        }
    }
}

impl<App: Spoken, H> Driver<App, H> {
    /// Tells a log message to the call that it is about, or to all where it does not say; whether anybody wants it.
    fn logged(&self, notice: &Notice) -> bool {
        let Some(log) = Log::read(&notice.params) else {
            return false;
        };
        let about: Vec<&Waiting> = match notice.about {
            Some(token) => self.waiting.get(&token).into_iter().collect(),
            None => self.waiting.values().collect(),
        };
        let mut wanted = false;
        for tell in about.iter().filter_map(|waiting| waiting.log.as_ref()) {
            tell(log.clone());
            wanted = true;
        }
        wanted
    }
}

fn takes_nothing() -> Error {
    Error::Transport("the server takes nothing of what it is sent".to_owned())
}

fn outcome(answer: Answer) -> Result<Json, Error> {
    match answer {
        Answer::Result(result) => Ok(result),
        Answer::Error(error) => Err(Error::Rpc(error)),
        Answer::Failed(failure) => Err(Error::RequestFailed(failure)),
        Answer::InputRequired(_) => Err(Error::RequestFailed(Failure::Unanswered)),
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
