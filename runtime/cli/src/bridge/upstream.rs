//! The bridge's end towards the server: one connection, driven by one task.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use mcp_registry::{Policy, Revision, Spoken};
use mcp_revisions::carrier::Incoming;
use mcp_revisions::client::{
    Answer, Answered, Ask, Call, Client, Connection, Event, Failure, Notice, Options, Output,
    Profile, ServerFacts, To, Token, Verdict,
};
use mcp_revisions::serve::{Peer, Session};
use mcp_revisions::{RevisionSet, errors};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::front::Greeting;
use super::losses::Losses;
use super::wire::{Line, Wire};

/// How long a server may take until it has said what it speaks.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a client may take to make room for a notification.
const SLOW: Duration = Duration::from_secs(10);

/// How many commands wait for the task.
const QUEUE: usize = 1_024;

/// What the task is told.
enum Command {
    /// Ask the server something, for this peer.
    Ask {
        number: u64,
        ask: Box<Asked>,
        peer: Peer,
        answer: oneshot::Sender<Answered>,
    },
    /// The peer does not want the answer any more.
    GiveUp(u64),
    /// Tell the server something.
    Notify(String, Option<Json>),
    /// A client answered what the server had asked.
    Answer(Token, Result<Json, ErrorObject>),
    /// A client can be told things from now on.
    Opened(Session),
    /// Nothing more is wanted of the server, whatever is at work.
    End,
}

/// What a client asks.
struct Asked {
    ask: Ask,
    /// Whether its method may be answered by a question.
    may_ask: bool,
}

/// The end towards the server; clones are the same one.
#[derive(Clone)]
pub(super) struct Upstream {
    commands: mpsc::Sender<Command>,
    ended: watch::Receiver<bool>,
    numbers: Arc<std::sync::atomic::AtomicU64>,
}

/// The revision of a server that is asked for nothing else.
///
/// # Errors
/// A server that cannot be started, or speaks nothing that is known.
pub(super) async fn probe(wire: &Wire, greeting: &Greeting) -> anyhow::Result<Revision> {
    let options = options::<mcp_registry::V2026_07_28>(wire, greeting, Policy::Strict);
    let mut connection = Connection::new(Client::<mcp_registry::V2026_07_28>::new(options));
    let mut line = wire.start()?;
    let start = Instant::now();
    connection.connect(start.elapsed())?;
    let facts = tokio::time::timeout(PATIENCE, settled(&mut connection, &mut line, start));
    let facts = facts
        .await
        .context("the server does not say which revision it speaks")??;
    line.end().await;
    Ok(facts.revision)
}

fn options<App: Spoken>(wire: &Wire, greeting: &Greeting, policy: Policy) -> Options {
    let (info, capabilities) = greeting.profile(App::REVISION);
    Options::new(wire.channel(), Profile::new(&info, &capabilities)).with_policy(policy)
}

/// Drives a connection until its revision is settled.
async fn settled<App: Spoken>(
    connection: &mut Connection<Client<App>>,
    line: &mut Line,
    start: Instant,
) -> anyhow::Result<ServerFacts> {
    loop {
        while let Some(output) = connection.poll() {
            match output {
                Output::Send(post) => line.send(post),
                Output::Restart if !line.restart() => connection.closed(start.elapsed()),
                Output::Restart => {}
                Output::Event(Event::Settled(facts)) => return Ok(facts),
                Output::Close(exchange) => line.close(exchange),
                Output::Event(_) => {}
            }
        }
        if connection.pending() == 0 && connection.wake_at().is_none() {
            bail!("the server did not answer");
        }
        let goes_on = came(connection, line, start).await;
        if !goes_on && connection.wake_at().is_none() {
            bail!("the server ended before it said which revision it speaks");
        }
    }
}

/// Waits for a line or for the time; false if the server has ended.
async fn came<App: Spoken>(
    connection: &mut Connection<Client<App>>,
    line: &mut Line,
    start: Instant,
) -> bool {
    let wake = sleep_until(connection.wake_at(), start);
    tokio::select! {
        came = line.next() => {
            let goes_on = !matches!(came, Incoming::Closed);
            hand_in(connection, came, start.elapsed());
            return goes_on;
        }
        () = wake => connection.wake(start.elapsed()),
    }
    true
}

/// Hands in what came.
fn hand_in<App: Spoken>(connection: &mut Connection<Client<App>>, came: Incoming, now: Duration) {
    match came {
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
        Incoming::Closed => connection.closed(now),
    }
}

async fn sleep_until(at: Option<Duration>, start: Instant) {
    match at {
        Some(at) => tokio::time::sleep(at.saturating_sub(start.elapsed())).await,
        None => std::future::pending().await,
    }
}

impl Upstream {
    /// Connects to a server of the revision `App`.
    ///
    /// # Errors
    /// A server that cannot be started, or does not speak it.
    pub(super) async fn start<App: Spoken>(
        wire: &Wire,
        greeting: &Greeting,
        policy: Policy,
        losses: Arc<Losses>,
    ) -> anyhow::Result<(Self, ServerFacts)> {
        let options = options::<App>(wire, greeting, policy)
            .with_revisions(RevisionSet::none().with(App::REVISION))
            .with_verdict(Verdict(App::REVISION));
        let mut connection = Connection::new(Client::<App>::new(options));
        let mut line = wire.start()?;
        let start = Instant::now();
        connection.connect(start.elapsed())?;
        let facts = tokio::time::timeout(PATIENCE, settled(&mut connection, &mut line, start));
        let mut facts = facts.await.context("the server does not answer")??;
        if facts.capabilities.is_none() {
            // What the verdict left out is asked for.
            let asked = discovered(&mut connection, &mut line, start);
            if let Ok(Some(told)) = tokio::time::timeout(PATIENCE, asked).await? {
                facts = ServerFacts {
                    revision: facts.revision,
                    ..told
                };
            }
        }
        let (commands, queue) = mpsc::channel(QUEUE);
        let (ending, ended) = watch::channel(false);
        let task = Task {
            connection,
            line: Some(line),
            start,
            calls: HashMap::new(),
            numbers: HashMap::new(),
            questions: HashMap::new(),
            sessions: Vec::new(),
            one_client: greeting.is_of_one(),
            commands: commands.downgrade(),
            losses,
        };
        tokio::spawn(task.run(queue, ending));
        let upstream = Self {
            commands,
            ended,
            numbers: Arc::default(),
        };
        Ok((upstream, facts))
    }

    /// Asks the server, on behalf of a peer; given up if it is not waited for.
    pub(super) async fn ask(&self, method: &str, ask: Ask, peer: Peer) -> Option<Answered> {
        let mut methods = Revision::NEWEST.methods().iter();
        let may_ask = methods.any(|row| row.name == method && row.input_required);
        let number = self
            .numbers
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (answer, waits) = oneshot::channel();
        let asked = Command::Ask {
            number,
            ask: Box::new(Asked { ask, may_ask }),
            peer,
            answer,
        };
        self.commands.send(asked).await.ok()?;
        let mut given_up = GiveUp {
            commands: &self.commands,
            number: Some(number),
        };
        let answered = waits.await.ok();
        given_up.number = None;
        answered
    }

    /// Tells the server something.
    pub(super) fn notify(&self, method: &str, params: Option<Json>) {
        // A queue that is full belongs to a server that reads nothing.
        let _ = self
            .commands
            .try_send(Command::Notify(method.to_owned(), params));
    }

    /// A client can be told things.
    pub(super) fn opened(&self, session: Session) {
        let _ = self.commands.try_send(Command::Opened(session));
    }

    /// Lets the server end, and waits until it has.
    pub(super) async fn close(self) {
        let Self {
            commands,
            mut ended,
            ..
        } = self;
        let gone = async {
            let _ = commands.send(Command::End).await;
            while ended.changed().await.is_ok() {}
        };
        let _ = tokio::time::timeout(SLOW, gone).await;
    }

    /// Waits until the server has ended.
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// Says that an answer is not waited for any more.
struct GiveUp<'u> {
    commands: &'u mpsc::Sender<Command>,
    number: Option<u64>,
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let _ = self.commands.try_send(Command::GiveUp(number));
        }
    }
}

/// Asks a server of the per-request era what it is.
async fn discovered<App: Spoken>(
    connection: &mut Connection<Client<App>>,
    line: &mut Line,
    start: Instant,
) -> anyhow::Result<Option<ServerFacts>> {
    let asked = connection.ask(Ask::new("server/discover", None), start.elapsed())?;
    loop {
        while let Some(output) = connection.poll() {
            match output {
                Output::Send(post) => line.send(post),
                Output::Restart if !line.restart() => connection.closed(start.elapsed()),
                Output::Restart => {}
                Output::Event(Event::Answered(answered)) if answered.token == asked => {
                    let Answer::Result(result) = answered.answer else {
                        return Ok(None);
                    };
                    return Ok(Some(facts(App::REVISION, &result)));
                }
                Output::Close(exchange) => line.close(exchange),
                Output::Event(_) => {}
            }
        }
        if !came(connection, line, start).await {
            bail!("the server ended before it said what it is");
        }
    }
}

/// What a result of `server/discover` says.
fn facts(revision: Revision, result: &Json) -> ServerFacts {
    let member = |object: &Json, name: &str| {
        let object = mcp_wire::JsonObject::from_text(object.text()).ok()?;
        object.get(name)
    };
    let meta = member(result, "_meta");
    ServerFacts {
        revision,
        info: meta.and_then(|meta| member(&meta, mcp_wire::meta::SERVER_INFO)),
        capabilities: member(result, "capabilities"),
        instructions: member(result, "instructions")
            .and_then(|text| text.as_str().map(std::borrow::Cow::into_owned)),
    }
}

/// A call of a client that waits for the server.
struct Waiting {
    number: u64,
    /// Whether its method may be answered by a question.
    may_ask: bool,
    peer: Peer,
    answer: oneshot::Sender<Answered>,
}

struct Task<App: Spoken> {
    connection: Connection<Client<App>>,
    /// None once the server has ended.
    line: Option<Line>,
    start: Instant,
    calls: HashMap<Token, Waiting>,
    numbers: HashMap<u64, Token>,
    /// What the server has asked, until a client has answered.
    questions: HashMap<Token, AbortHandle>,
    sessions: Vec<Session>,
    /// Whether all calls are of one client.
    one_client: bool,
    commands: mpsc::WeakSender<Command>,
    losses: Arc<Losses>,
}

impl<App: Spoken> Task<App> {
    async fn run(mut self, mut queue: mpsc::Receiver<Command>, ending: watch::Sender<bool>) {
        loop {
            self.outputs().await;
            let wake = sleep_until(self.connection.wake_at(), self.start);
            let line = async {
                match &mut self.line {
                    Some(line) => line.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                command = queue.recv() => match command {
                    Some(Command::End) | None => break,
                    Some(command) => self.told(command),
                },
                came = line => {
                    let is_over = matches!(came, Incoming::Closed);
                    hand_in(&mut self.connection, came, self.start.elapsed());
                    if is_over {
                        self.line = None;
                        self.outputs().await;
                        let _ = ending.send(true);
                    }
                }
                () = wake => self.connection.wake(self.start.elapsed()),
            }
        }
        for question in self.questions.values() {
            question.abort();
        }
        if let Some(line) = self.line {
            line.end().await;
        }
        let _ = ending.send(true);
    }

    fn told(&mut self, command: Command) {
        let now = self.start.elapsed();
        match command {
            Command::Ask {
                number,
                ask,
                peer,
                answer,
            } => {
                if self.line.is_none() {
                    // The one who waits is told by the end of the channel.
                    return;
                }
                let may_ask = ask.may_ask;
                if let Ok(token) = self.connection.ask(ask.ask, now) {
                    self.numbers.insert(number, token);
                    let waiting = Waiting {
                        number,
                        may_ask,
                        peer,
                        answer,
                    };
                    self.calls.insert(token, waiting);
                }
            }
            Command::GiveUp(number) => {
                if let Some(token) = self.numbers.remove(&number) {
                    self.calls.remove(&token);
                    self.connection.cancel(token, None, now);
                }
            }
            Command::Notify(method, params) => {
                let said = self
                    .connection
                    .notify(To::Session, &method, params.as_ref(), now);
                self.losses
                    .tell("server", &method, App::REVISION, &said.losses);
            }
            Command::Answer(token, result) => {
                if self.questions.remove(&token).is_some() {
                    let _ = self.connection.answer(token, result, now);
                }
            }
            Command::Opened(session) => {
                self.sessions.retain(|session| !session.is_over());
                self.sessions.push(session);
            }
            Command::End => {}
        }
    }

    async fn outputs(&mut self) {
        while let Some(output) = self.connection.poll() {
            match output {
                Output::Send(post) => {
                    if let Some(line) = &mut self.line {
                        line.send(post);
                    }
                }
                Output::Restart => {
                    if !self.line.as_mut().is_some_and(Line::restart) {
                        self.line = None;
                        self.connection.closed(self.start.elapsed());
                    }
                }
                Output::Close(exchange) => {
                    if let Some(line) = &mut self.line {
                        line.close(exchange);
                    }
                }
                Output::Event(event) => self.event(event).await,
            }
        }
    }

    async fn event(&mut self, event: Event) {
        match event {
            Event::Answered(answered) => {
                if let Some(waiting) = self.calls.remove(&answered.token) {
                    self.numbers.remove(&waiting.number);
                    // Whoever asked may be gone.
                    let _ = waiting.answer.send(answered);
                }
            }
            Event::Call(call) => self.question(call),
            Event::Notice(notice) => self.notice(notice).await,
            Event::Cancelled(cancelled) => {
                if let Some(question) = self.questions.remove(&cancelled.token) {
                    question.abort();
                }
            }
            _ => {}
        }
    }

    /// A question of the server goes to the client whose call it works on.
    fn question(&mut self, call: Call) {
        let (token, method, params) = (call.token, call.method, call.params);
        self.losses
            .tell("server", method, App::REVISION, &call.losses);
        let Some(commands) = self.commands.upgrade() else {
            return;
        };
        self.sessions.retain(|session| !session.is_over());
        let calls = || self.calls.values().filter(|waiting| waiting.may_ask);
        let of = call.about.and_then(|token| self.calls.get(&token));
        let last = of.or_else(|| calls().max_by_key(|waiting| waiting.number));
        let peer = last.map(|waiting| waiting.peer.clone());
        // Over standard streams every call is of the one client.
        let is_told_apart = of.is_some() || self.one_client || calls().count() == 1;
        let session = match self.sessions.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        let asked = tokio::spawn(async move {
            let result = match (peer, session) {
                (Some(peer), _) if is_told_apart => peer.ask(method, Some(&params)).await,
                (_, Some(session)) => session.ask(method, Some(&params)).await,
                // Whose call it is cannot be told; nobody is asked in another one's place.
                _ => Err(errors::internal("it cannot be told which client is to answer").error),
            };
            let _ = commands.send(Command::Answer(token, result)).await;
        });
        self.questions.insert(token, asked.abort_handle());
    }

    async fn notice(&mut self, notice: Notice) {
        let Notice {
            method,
            params,
            about,
            losses,
            ..
        } = notice;
        self.losses.tell("server", method, App::REVISION, &losses);
        match about.and_then(|token| self.calls.get(&token)) {
            Some(waiting) => {
                let told = waiting.peer.notify(method, Some(&params));
                // A client that makes no room misses what is said meanwhile, and nobody else does.
                let _ = tokio::time::timeout(SLOW, told).await;
            }
            None => {
                self.sessions.retain(|session| !session.is_over());
                for session in &self.sessions {
                    let _ = session.notify(method, Some(&params));
                }
            }
        }
    }
}

/// The answer for a client.
pub(super) fn result(answered: Option<Answered>) -> Result<Json, ErrorObject> {
    match answered.map(|answered| answered.answer) {
        Some(Answer::Result(result)) => Ok(result),
        Some(Answer::Error(error)) => Err(error),
        Some(Answer::Failed(Failure::Rejected(error))) => Err(error),
        Some(Answer::Failed(failure)) => Err(errors::internal(&failure.to_string()).error),
        Some(Answer::InputRequired(_)) => {
            Err(errors::internal("the server asks what nobody can answer").error)
        }
        None => Err(errors::internal("the server has ended").error),
    }
}
