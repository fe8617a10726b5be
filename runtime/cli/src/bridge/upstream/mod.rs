//! The bridge's end towards a server, for one client: a handle, and the task behind it that drives the connection.

mod notices;
mod questions;
mod settle;
mod task;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcp_registry::{Era, Policy, Revision, Spoken, WithSpoken};
use mcp_revisions::client::{Answered, Ask, Client, Connection, ServerFacts, Token, Verdict};
use mcp_revisions::serve::{Peer, Session};
use mcp_revisions::server::Caller;
use mcp_revisions::{RevisionSet, errors};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tracing::info;

use super::identity;
use super::losses::Losses;
use super::wire::Wire;
use task::Task;

/// How long a server may take to end.
const SLOW: Duration = Duration::from_secs(10);

/// How long a call waits for another that its server may ask in.
const TURN: Duration = Duration::from_secs(5);

/// How many commands wait for the task.
const QUEUE: usize = 1_024;

/// What the task is told.
enum Command {
    /// Ask the server something, on behalf of a client.
    Ask {
        asked: Box<Asked>,
        answer: oneshot::Sender<Result<Answered, ErrorObject>>,
    },
    /// The client does not want the answer any more.
    GiveUp(u64),
    /// Tell the server something.
    Notify(String, Option<Json>),
    /// A client answered what the server had asked.
    Answer(Token, Result<Json, ErrorObject>),
    /// The client can be told things from now on.
    Opened(Session),
    /// Nothing more is wanted of the server, whatever is at work.
    End,
}

/// What a client asks.
pub(super) struct Asked {
    /// Names it, in the order in which calls came.
    number: u64,
    pub(super) ask: Ask,
    pub(super) method: String,
    pub(super) caller: Arc<Caller>,
    pub(super) peer: Peer,
    /// The token by which the client wants to be told of progress.
    pub(super) progress_token: Option<Json>,
    /// Whether it wants to be told what the server logs meanwhile.
    pub(super) wants_logs: bool,
}

impl Asked {
    pub(super) fn new(ask: Ask, method: &str, caller: Arc<Caller>, peer: Peer) -> Self {
        Self {
            number: 0,
            ask,
            method: method.to_owned(),
            caller,
            peer,
            progress_token: None,
            wants_logs: false,
        }
    }
}

/// The end towards a server; clones are the same one.
#[derive(Clone)]
pub(super) struct Upstream {
    commands: mpsc::Sender<Command>,
    ended: watch::Receiver<bool>,
    numbers: Arc<AtomicU64>,
    /// Whether the server can ask by requests, which need not say in whose work.
    asks_by_requests: bool,
    /// Held by the one call that such a server may ask in.
    asked_in: Arc<Semaphore>,
}

/// What a server is, in the words of the newest revision, if it is asked on behalf of this client.
///
/// # Errors
/// A server that cannot be started, or speaks none of these revisions.
pub(super) async fn probe(
    wire: &Wire,
    caller: &Caller,
    revisions: RevisionSet,
) -> anyhow::Result<ServerFacts> {
    struct Newest<'p>(&'p Wire, &'p Caller, RevisionSet);
    impl<'p> WithSpoken for Newest<'p> {
        type Output =
            std::pin::Pin<Box<dyn Future<Output = anyhow::Result<ServerFacts>> + Send + 'p>>;

        fn with<App: Spoken>(self) -> Self::Output {
            Box::pin(settle::probe::<App>(self.0, self.1, self.2))
        }
    }
    match Revision::NEWEST.spoken(Newest(wire, caller, revisions)) {
        Some(probed) => probed.await,
        None => anyhow::bail!("{} is spoken by nobody", Revision::NEWEST),
    }
}

/// What a server said of itself when it was probed, in the words of its own revision.
pub(super) fn own_words(facts: ServerFacts) -> ServerFacts {
    let own = facts.revision;
    settle::in_words_of(facts, Revision::NEWEST, own)
}

impl Upstream {
    /// Connects to a server of the revision `App`, on behalf of a client.
    ///
    /// # Errors
    /// A server that cannot be started, or does not speak it.
    pub(super) async fn start<App: Spoken>(
        wire: &Wire,
        caller: &Caller,
        policy: Policy,
        losses: Arc<Losses>,
    ) -> anyhow::Result<Self> {
        let options = settle::options::<App>(wire, caller, policy)
            .with_revisions(RevisionSet::none().with(App::REVISION))
            .with_verdict(Verdict(App::REVISION));
        let mut connection = Connection::new(Client::<App>::new(options));
        let mut line = wire.start()?;
        let start = Instant::now();
        settle::settled(&mut connection, &mut line, start).await?;
        let named = caller
            .info
            .as_ref()
            .map_or("one that is not named", Json::text);
        info!(client = named, "a server of {} is at work", App::REVISION);
        let (commands, queue) = mpsc::channel(QUEUE);
        let (ending, ended) = watch::channel(false);
        let is_modern = caller.revision.era() == Era::PerRequest;
        let task = Task::new(connection, line, start, is_modern, &commands, losses);
        tokio::spawn(task.run(queue, ending));
        Ok(Self {
            commands,
            ended,
            numbers: Arc::default(),
            asks_by_requests: App::REVISION.era() == Era::Handshake,
            asked_in: Arc::new(Semaphore::new(1)),
        })
    }

    /// Asks the server something; given up if it is not waited for.
    ///
    /// # Errors
    /// A server that has ended, or takes nothing of what it is sent.
    pub(super) async fn ask(&self, asked: Asked) -> Result<Answered, ErrorObject> {
        let ended = || errors::internal("the server has ended").error;
        // Such a server does not say in whose work it asks, and such a client can be asked in the result of that call
        // alone: as long as the one is out, no other is sent that might be meant. One that takes long holds up nobody
        // for ever; what cannot be told apart then is refused.
        let is_alone = self.asks_by_requests
            && identity::is_asked_in_results(&asked.caller)
            && identity::may_ask(&asked.method);
        let _turn = match is_alone {
            true => (tokio::time::timeout(TURN, self.asked_in.acquire()).await).ok(),
            false => None,
        };
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (answer, waits) = oneshot::channel();
        let asked = Command::Ask {
            asked: Box::new(Asked { number, ..asked }),
            answer,
        };
        if self.commands.send(asked).await.is_err() {
            return Err(ended());
        }
        let mut given_up = GiveUp {
            commands: &self.commands,
            number: Some(number),
        };
        let answered = waits.await.unwrap_or_else(|_| Err(ended()));
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

    /// The client can be told things.
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

    /// Whether the server has ended.
    pub(super) fn has_ended(&self) -> bool {
        *self.ended.borrow()
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
