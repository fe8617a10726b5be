//! Handles to a driven connection: they send requests and notifications, return responses, and end it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_wire::{ErrorObject, Json};
use tokio::sync::{oneshot, watch};

use crate::transport::queue::{QueueReceiver, QueueSender, Queued, WeakSender, queue};
use mcp_revisions_sansio::client::{
    Answered, Client, Failure, Fate, Ignored, OutgoingRequest, SendOutcome, ServerFacts, TaskState,
    Token,
};

/// Maximum number of bytes of notifications that wait for the reader of a request.
const REPLY_BYTES: usize = 1 << 20;

pub(super) enum HandleCommand<C> {
    Ask(OutgoingRequest, Box<OpenCall<C>>),
    Cancel(u64),
    Notify {
        method: String,
        params: Option<Json>,
        done: oneshot::Sender<Result<SendOutcome, Box<Failure>>>,
    },
    Answer {
        token: Token,
        result: Result<Json, ErrorObject>,
    },
    Connect(oneshot::Sender<Result<ServerFacts, Box<Failure>>>),
    ContinueAs(Box<Client>),
    LeaveOut(Ignored),
    SetLogLevel(String),
    Close(oneshot::Sender<io::Result<()>>),
}

impl<C> Queued for HandleCommand<C> {
    fn bytes(&self) -> usize {
        let params = match self {
            Self::Ask(ask, _) => &ask.params,
            Self::Notify { params, .. } => params,
            _ => &None,
        };
        params.as_ref().map_or(0, |params| params.text().len())
    }
}

/// A request of a handle, until its answer.
#[derive(Debug)]
pub struct OpenCall<C> {
    /// The application's data about it.
    pub call: C,
    /// Number of requests of the server that are being answered in it.
    pub questions: usize,
    pub(super) key: u64,
    pub(super) replies: QueueSender<RequestReply>,
}

impl<C> OpenCall<C> {
    /// Returns whether its handle does not wait for the answer any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.replies.is_closed()
    }

    /// Tells its handle that the request is not sent.
    pub fn refuse(self, why: Box<Failure>) {
        self.replies.push(RequestReply::Refused(why));
    }
}

/// The response to a request.
#[derive(Debug)]
pub enum RequestReply {
    /// A notification about the request: its method and params.
    Notification(String, Json),
    /// The task that the server makes of the request.
    Task(TaskState),
    /// The answer, which is the last.
    Answered(Answered),
    /// The request was not sent.
    Refused(Box<Failure>),
}

impl Queued for RequestReply {
    fn bytes(&self) -> usize {
        match self {
            Self::Notification(method, params) => method.len() + params.text().len(),
            Self::Task(task) => task.id.len() + task.message.as_ref().map_or(0, String::len),
            Self::Answered(_) | Self::Refused(_) => 0,
        }
    }
}

/// The replies to a request, in the order in which they came. Dropping them before the answer cancels the request.
#[derive(Debug)]
pub struct Replies<C> {
    replies: QueueReceiver<RequestReply>,
    key: u64,
    /// The queue for the cancellation of the request; `None` once it is answered.
    commands: Option<QueueSender<HandleCommand<C>>>,
}

impl<C> Replies<C> {
    /// Waits for the next reply; `None` if the connection has ended.
    /// Cancel safe.
    pub async fn next(&mut self) -> Option<RequestReply> {
        let reply = self.replies.recv().await;
        if !matches!(
            reply,
            Some(RequestReply::Notification(..) | RequestReply::Task(_))
        ) {
            self.commands = None;
        }
        reply
    }
}

impl<C> Drop for Replies<C> {
    fn drop(&mut self) {
        if let Some(commands) = self.commands.take() {
            // A request that still waits to be sent shows by this that it is cancelled.
            self.replies.close();
            commands.push(HandleCommand::Cancel(self.key));
        }
    }
}

/// A handle to a driven connection; clones share it. The connection ends when the last handle is dropped.
#[derive(Debug)]
pub struct Handle<C> {
    /// The queue of commands that are done at once.
    pub(super) commands: QueueSender<HandleCommand<C>>,
    /// The queue of messages to the server, in this order, once that has room for them; and of commands that the order matters to.
    pub(super) requests: QueueSender<HandleCommand<C>>,
    pub(super) facts: watch::Receiver<Option<ServerFacts>>,
    pub(super) ended: watch::Receiver<bool>,
}

impl<C> Handle<C> {
    /// Sends a request; `call` is what the application knows of it.
    /// Dropping the future, or the replies, cancels the request.
    pub async fn ask(&self, ask: OutgoingRequest, call: C) -> Replies<C> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let key = LAST.fetch_add(1, Ordering::Relaxed);
        let (sender, replies) = queue(REPLY_BYTES);
        let open = OpenCall {
            call,
            questions: 0,
            key,
            replies: sender,
        };
        let ask = HandleCommand::Ask(ask, Box::new(open));
        let is_sent = self.requests.send(ask).await;
        Replies {
            replies,
            key,
            commands: is_sent.then(|| self.commands.clone()),
        }
    }

    /// Sends a notification; the fate of one for a connection that has ended is unknown.
    /// If the future is dropped, it may be sent or not.
    ///
    /// # Errors
    /// A server that has read nothing for a minute.
    pub async fn notify(
        &self,
        method: impl Into<String>,
        params: Option<Json>,
    ) -> Result<SendOutcome, Box<Failure>> {
        let (done, said) = oneshot::channel();
        let notify = HandleCommand::Notify {
            method: method.into(),
            params,
            done,
        };
        self.requests.send(notify).await;
        said.await
            .unwrap_or_else(|_| Ok(SendOutcome::of(Fate::Unknown)))
    }

    /// Finds out which revision the server speaks, if that is not known, before anything is asked.
    /// Cancel safe: the server goes on starting.
    ///
    /// # Errors
    /// A server that ends, does not answer within the start timeout of the client, or speaks no revision that the client does.
    pub async fn connect(&self) -> Result<ServerFacts, Box<Failure>> {
        let (done, connected) = oneshot::channel();
        self.commands.push(HandleCommand::Connect(done));
        (connected.await).unwrap_or_else(|_| Err(Box::new(Failure::Closed)))
    }

    /// Continues the connection as this client; see [`Connection::continue_as`](crate::sansio::Connection::continue_as).
    pub fn continue_as(&self, client: Client) {
        self.requests
            .push(HandleCommand::ContinueAs(Box::new(client)));
    }

    /// Reports a message of the server that the application cannot use.
    pub fn leave_out(&self, ignored: Ignored) {
        self.commands.push(HandleCommand::LeaveOut(ignored));
    }

    /// Asks for log messages from this level on, of every request that follows; see
    /// [`Connection::set_log_level`](crate::sansio::Connection::set_log_level).
    /// If the future is dropped, the level may not be set.
    pub async fn set_log_level(&self, level: impl Into<String>) {
        self.requests
            .send(HandleCommand::SetLogLevel(level.into()))
            .await;
    }

    /// Returns the facts of the server; `None` before its revision is known.
    #[must_use]
    pub fn server(&self) -> Option<ServerFacts> {
        self.facts.borrow().clone()
    }

    /// Returns whether it is not known yet which revision the server speaks.
    #[must_use]
    pub fn is_starting(&self) -> bool {
        self.facts.borrow().is_none()
    }

    /// Waits until it is known which revision the server speaks, or the connection has ended.
    /// Cancel safe.
    pub async fn started(&self) {
        let mut facts = self.facts.clone();
        let _ = facts.wait_for(Option::is_some).await;
    }

    /// Returns whether the server, or the connection, has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        *self.ended.borrow() || self.commands.is_closed()
    }

    /// Waits until the server, or the connection, has ended.
    /// Cancel safe.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Ends the connection, without what is at work, and waits until it has ended.
    /// If the future is dropped, the connection ends all the same.
    ///
    /// # Errors
    /// A process that did not end by itself, and was killed.
    pub async fn close(&self) -> io::Result<()> {
        let (done, closed) = oneshot::channel();
        self.commands.push(HandleCommand::Close(done));
        if let Ok(closed) = closed.await {
            return closed;
        }
        // Another handle closes it, or has.
        let mut ended = self.ended.clone();
        while ended.changed().await.is_ok() {}
        Ok(())
    }

    /// Returns a handle that does not keep the connection.
    #[must_use]
    pub fn downgrade(&self) -> WeakHandle<C> {
        WeakHandle {
            commands: self.commands.downgrade(),
            requests: self.requests.downgrade(),
            facts: self.facts.clone(),
            ended: self.ended.clone(),
        }
    }
}

impl<C> Clone for Handle<C> {
    fn clone(&self) -> Self {
        Self {
            commands: self.commands.clone(),
            requests: self.requests.clone(),
            facts: self.facts.clone(),
            ended: self.ended.clone(),
        }
    }
}

/// A handle that does not keep its connection.
#[derive(Debug)]
pub struct WeakHandle<C> {
    commands: WeakSender<HandleCommand<C>>,
    requests: WeakSender<HandleCommand<C>>,
    facts: watch::Receiver<Option<ServerFacts>>,
    ended: watch::Receiver<bool>,
}

impl<C> WeakHandle<C> {
    /// Returns the handle; `None` if there is no other any more.
    #[must_use]
    pub fn upgrade(&self) -> Option<Handle<C>> {
        Some(Handle {
            commands: self.commands.upgrade()?,
            requests: self.requests.upgrade()?,
            facts: self.facts.clone(),
            ended: self.ended.clone(),
        })
    }
}

mcp_wire::debug_struct!([C] HandleCommand<C>, "Command", self);
