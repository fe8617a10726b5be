//! The bridge's end towards a server, for one client: a handle, and the task behind it that drives the connection.

mod listeners;
mod notices;
mod questions;
mod settle;
mod task;
mod turns;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use mcp_registry::{Era, Policy, Revision};
use mcp_revisions::client::{Answered, Ask, Client, Token, Verdict};
use mcp_revisions::serve::{Peer, Session};
use mcp_revisions::server::Caller;
use mcp_revisions::{RevisionSet, errors};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use super::identity;
use super::losses::Losses;
use super::wire::Wire;
use listeners::Listeners;
pub(super) use settle::{Negotiated, negotiate};
use task::Task;

/// How long a server may take to end.
const SLOW: Duration = Duration::from_secs(10);

/// How long a client may take to make room for a notification in its call.
const MAKES_ROOM: Duration = Duration::from_secs(10);

/// How many bytes of notifications wait in a call for its client to make room.
const NEWS_BYTES: usize = 1 << 20;

/// How many commands wait for the task.
const QUEUE: usize = 1_024;

/// What the task is told.
enum Command {
    /// Ask the server something, on behalf of a client.
    Ask { asked: Box<Asked>, news: News },
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

/// What comes of a call, in order.
enum Item {
    Told(String, Json),
    Answered(Result<Answered, ErrorObject>),
}

/// Where what comes of a call goes: to the future of that call, which alone waits for its reader.
struct News {
    items: mpsc::UnboundedSender<Item>,
    waiting: Arc<AtomicUsize>,
}

impl News {
    /// Puts a notification in line; false if its client reads too slowly, and it is lost.
    fn tell(&self, method: &str, params: &Json) -> bool {
        let bytes = cost(method, params);
        if self.waiting.load(Ordering::Relaxed) + bytes > NEWS_BYTES {
            return false;
        }
        self.waiting.fetch_add(bytes, Ordering::Relaxed);
        // Whoever asked may be gone.
        let _ = (self.items).send(Item::Told(method.to_owned(), params.clone()));
        true
    }

    fn answer(self, answered: Result<Answered, ErrorObject>) {
        let _ = self.items.send(Item::Answered(answered));
    }
}

fn cost(method: &str, params: &Json) -> usize {
    method.len() + params.text().len() + size_of::<Item>()
}

/// What a client asks.
pub(super) struct Asked {
    /// Names it, in the order in which calls came.
    number: u64,
    pub(super) ask: Ask,
    pub(super) method: String,
    /// Method and name: what is known to ask back, or not.
    pub(super) kind: String,
    /// Whether its client can be asked in its result, and in nothing else.
    may_be_asked: bool,
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
            kind: method.to_owned(),
            may_be_asked: identity::is_asked_in_results(&caller) && identity::may_ask(method),
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
    listeners: Listeners,
}

impl Upstream {
    /// Connects to a server of the revision `app`, on behalf of a client.
    ///
    /// # Errors
    /// A server that cannot be started, or does not speak it.
    pub(super) async fn start(
        app: Revision,
        wire: &Wire,
        caller: &Caller,
        policy: Policy,
        losses: Arc<Losses>,
    ) -> anyhow::Result<Self> {
        let options = settle::options(wire, caller, policy)
            .with_revisions(RevisionSet::none().with(app))
            .with_verdict(Verdict(app));
        let negotiated = settle::negotiate_as(app, wire, options).await?;
        Ok(Self::on(app, negotiated, wire, caller, policy, losses))
    }

    /// Goes on with a server of the revision `app` that has been negotiated with, on behalf of a client.
    pub(super) fn on(
        app: Revision,
        negotiated: Negotiated,
        wire: &Wire,
        caller: &Caller,
        policy: Policy,
        losses: Arc<Losses>,
    ) -> Self {
        let options =
            settle::options(wire, caller, policy).with_revisions(RevisionSet::none().with(app));
        let Negotiated {
            connection,
            line,
            start,
            ..
        } = negotiated;
        let connection = connection.continue_as(Client::new(app, options));
        let named = caller
            .info
            .as_ref()
            .map_or("one that is not named", Json::text);
        info!(client = named, "a server of {app} is at work");
        let (commands, queue) = mpsc::channel(QUEUE);
        let (ending, ended) = watch::channel(false);
        let is_modern = caller.revision.era() == Era::PerRequest;
        let listeners = Listeners::default();
        let driven = (connection, line, start);
        let task = Task::new(driven, is_modern, &commands, listeners.clone(), losses);
        tokio::spawn(task.run(queue, ending));
        Self {
            commands,
            ended,
            numbers: Arc::default(),
            listeners,
        }
    }

    /// Asks the server something, and hands its client what the server tells meanwhile; given up if it is not waited for.
    ///
    /// # Errors
    /// A server that has ended, or takes nothing of what it is sent.
    pub(super) async fn ask(&self, asked: Asked) -> Result<Answered, ErrorObject> {
        let ended = || errors::internal("the server has ended").error;
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (peer, method) = (asked.peer.clone(), asked.method.clone());
        let (items, mut came) = mpsc::unbounded_channel();
        let waiting = Arc::<AtomicUsize>::default();
        let news = News {
            items,
            waiting: Arc::clone(&waiting),
        };
        let asked = Command::Ask {
            asked: Box::new(Asked { number, ..asked }),
            news,
        };
        if self.commands.send(asked).await.is_err() {
            return Err(ended());
        }
        let mut given_up = GiveUp {
            commands: &self.commands,
            number: Some(number),
        };
        let mut patience = MAKES_ROOM;
        let answered = loop {
            match came.recv().await {
                None => break Err(ended()),
                Some(Item::Answered(answered)) => break answered,
                Some(Item::Told(told, params)) => {
                    let room = tokio::time::timeout(patience, peer.notify(&told, Some(&params)));
                    if room.await.is_err() {
                        warn!(method, told, "lost: the client does not read its call");
                        // One that was waited for in vain gets what it has room for.
                        patience = Duration::ZERO;
                    }
                    waiting.fetch_sub(cost(&told, &params), Ordering::Relaxed);
                }
            }
        };
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

    /// Whether somebody wants to be told things outside of calls.
    pub(super) fn is_listened_to(&self) -> bool {
        !self.listeners.is_empty()
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
