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

use mcp_protocol::{Lifecycle, Revision};
use mcp_revisions::client::{Answered, Ask, Client, Token, Verdict};
use mcp_revisions::serve::{Peer, Session};
use mcp_revisions::server::Caller;
use mcp_revisions::{RevisionSet, errors};
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::bridge::Settings;
use crate::{Error, identity};
use listeners::Listeners;
pub(crate) use settle::Negotiated;
use task::Task;

/// How long a server may take to end.
const SLOW: Duration = Duration::from_secs(10);

/// How long a client may take to make room for a notification in its call.
const MAKES_ROOM: Duration = Duration::from_secs(10);

/// How many bytes of notifications wait in a call for its client to make room.
const NEWS_BYTES: usize = 1 << 20;

/// How many commands wait for the task.
const QUEUE: usize = 1_024;

/// A command for the task.
enum Command {
    /// Ask the server something, on behalf of a client.
    Ask { asked: Box<Asked>, news: News },
    /// The client does not want the answer any more.
    GiveUp(u64),
    /// Tell the server something.
    Notify(String, Option<Json>),
    /// A client answered what the server had asked.
    Answer(Token, Result<Json, ErrorObject>),
    /// The client takes notifications from now on.
    Opened(Session),
    /// Nothing more is wanted of the server, not even what is at work.
    End,
}

/// A notification in a call, or its answer, in order.
enum Item {
    Told(String, Json),
    Answered(Result<Answered, ErrorObject>),
}

/// The way to the future of a call, which is the only one that waits for its reader.
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
pub(crate) struct Asked {
    /// Names it, in the order in which calls came.
    number: u64,
    pub(crate) ask: Ask,
    pub(crate) method: String,
    /// Method and name: what is known to ask back, or not.
    pub(crate) kind: String,
    /// Whether its client can be asked in its result, and in nothing else.
    may_be_asked: bool,
    pub(crate) caller: Arc<Caller>,
    pub(crate) peer: Peer,
    /// The token by which the client wants progress.
    pub(crate) progress_token: Option<Json>,
    /// Whether it wants what the server logs meanwhile.
    pub(crate) wants_logs: bool,
}

impl Asked {
    pub(crate) fn new(ask: Ask, method: &str, caller: Arc<Caller>, peer: Peer) -> Self {
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
pub(crate) struct Link {
    commands: mpsc::Sender<Command>,
    ended: watch::Receiver<bool>,
    numbers: Arc<AtomicU64>,
    listeners: Listeners,
    spoken: Revision,
}

impl Link {
    /// Connects to the server, on behalf of a client, and asks it which revision it speaks.
    pub(crate) async fn negotiate(
        settings: &Settings,
        caller: &Caller,
    ) -> Result<Negotiated, Error> {
        let options = settle::options(settings, caller, settings.upstream_revisions);
        settle::negotiate_as(Revision::LATEST, settings, options).await
    }

    /// Connects to a server of the revision `app`, on behalf of a client.
    pub(crate) async fn start(
        settings: &Arc<Settings>,
        app: Revision,
        caller: &Caller,
    ) -> Result<Self, Error> {
        let options = settle::options(settings, caller, RevisionSet::none().with(app));
        let options = options.with_verdict(Verdict(app));
        let negotiated = settle::negotiate_as(app, settings, options).await?;
        Ok(Self::on(settings, app, negotiated, caller))
    }

    /// Connects to a server of any revision, on behalf of a client that is served in `app`.
    pub(crate) async fn negotiated(
        settings: &Arc<Settings>,
        app: Revision,
        caller: &Caller,
    ) -> Result<Self, Error> {
        let negotiated = Self::negotiate(settings, caller).await?;
        Ok(Self::on(settings, app, negotiated, caller))
    }

    /// Goes on with a connection that has been negotiated, in the revision `app`, on behalf of a client.
    pub(crate) fn on(
        settings: &Arc<Settings>,
        app: Revision,
        negotiated: Negotiated,
        caller: &Caller,
    ) -> Self {
        let spoken = negotiated.facts.revision;
        let options = settle::options(settings, caller, RevisionSet::none().with(spoken));
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
        info!(client = named, "a server of {spoken} is at work");
        let (commands, queue) = mpsc::channel(QUEUE);
        let (ending, ended) = watch::channel(false);
        let is_modern = caller.revision.lifecycle() == Lifecycle::PerRequest;
        let listeners = Listeners::default();
        let driven = (connection, line, start, spoken);
        let task = Task::new(
            driven,
            is_modern,
            &commands,
            listeners.clone(),
            Arc::clone(settings),
        );
        tokio::spawn(task.run(queue, ending));
        Self {
            commands,
            ended,
            numbers: Arc::default(),
            listeners,
            spoken,
        }
    }

    /// Asks the server something, and hands its client what the server tells meanwhile; given up if it is not waited for.
    ///
    /// # Errors
    /// A server that has ended, or takes nothing of what it is sent.
    pub(crate) async fn ask(&self, asked: Asked) -> Result<Answered, ErrorObject> {
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
    pub(crate) fn notify(&self, method: &str, params: Option<Json>) {
        // A queue that is full belongs to a server that reads nothing.
        let _ = self
            .commands
            .try_send(Command::Notify(method.to_owned(), params));
    }

    /// Adds a session that takes notifications.
    pub(crate) fn opened(&self, session: Session) {
        let _ = self.commands.try_send(Command::Opened(session));
    }

    /// Lets the server end, and waits until it has.
    pub(crate) async fn close(self) {
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

    /// Whether a client takes notifications outside of calls.
    pub(crate) fn is_listened_to(&self) -> bool {
        !self.listeners.is_empty()
    }

    /// The revision that the server speaks.
    pub(crate) fn spoken(&self) -> Revision {
        self.spoken
    }

    /// Whether the server has ended.
    pub(crate) fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(&self) {
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
