//! Changes of what a server has, as a stream that outlives the connection by which they are heard.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use mcp_revisions_core::latest as mcp;
use mcp_wire::{ErrorObject, Json};
use tokio::time::Instant;

use super::{Client, Wants, closed, outcome};
use crate::service::Error;
use crate::transport::client::{Replies, RequestReply};
use crate::transport::queue::{QueueReceiver, QueueSender, Queued, queue};
use crate::transport::spawn::spawn;
use mcp_revisions_core::methods;
use mcp_revisions_sansio::OutgoingRequest;

/// Maximum number of bytes of changes that wait to be taken before they are folded into one of each kind.
const ROOM: usize = 1 << 16;
/// Maximum time until a server has acknowledged a subscription.
const TAKES_UP: Duration = Duration::from_secs(10);

/// The pauses before a stream that has ended is opened again: each is twice as long as the one before.
#[derive(Debug)]
pub(super) struct ReopenPauses(Duration);

impl Default for ReopenPauses {
    fn default() -> Self {
        Self(Self::FIRST)
    }
}

impl ReopenPauses {
    const FIRST: Duration = Duration::from_millis(250);
    const LONGEST: Duration = Duration::from_secs(30);

    /// Returns the next pause.
    pub(super) fn pause(&mut self) -> Duration {
        let longer = (self.0 * 2).min(Self::LONGEST);
        std::mem::replace(&mut self.0, longer)
    }

    /// Begins with the first pause again if a stream was of use: it stayed open for longer than the next pause. A server that ends
    /// each stream at once is asked less and less often.
    pub(super) fn end(&mut self, open: Duration) {
        if open > self.0 {
            *self = Self::default();
        }
    }
}

/// Waits until a server has confirmed a stream, from its start on.
///
/// # Errors
/// Returns the error of the confirmation, and one if it takes longer than 10 seconds.
pub(super) async fn confirmation(
    client: &Client,
    confirmed: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    let is_late = async {
        // The start of the server has a time of its own, and an end of the server is a reply.
        client.handle.started().await;
        tokio::time::sleep(TAKES_UP).await;
    };
    tokio::select! {
        confirmed = confirmed => confirmed,
        () = is_late => Err(Error::Timeout(TAKES_UP)),
    }
}

/// A change of what a server has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools is another.
    Tools,
    /// The list of prompts is another.
    Prompts,
    /// The list of resources is another.
    Resources,
    /// The resource at this URI is another.
    Resource(String),
}

impl Change {
    /// Reads the notification of one.
    fn read(method: &str, params: &Json) -> Option<Self> {
        Some(match method {
            methods::NOTIFICATIONS_TOOLS_LIST_CHANGED => Self::Tools,
            methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED => Self::Prompts,
            methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED => Self::Resources,
            methods::NOTIFICATIONS_RESOURCES_UPDATED => {
                Self::Resource(params.get("uri")?.read().ok()?)
            }
            _ => return None,
        })
    }

    /// Returns all changes that there may have been of what a filter names.
    fn all(filter: &mcp::SubscriptionFilter) -> Vec<Self> {
        let lists = [
            (filter.tools_list_changed, Self::Tools),
            (filter.prompts_list_changed, Self::Prompts),
            (filter.resources_list_changed, Self::Resources),
        ];
        let lists = lists
            .into_iter()
            .filter(|(is_wanted, _)| *is_wanted == Some(true));
        let uris = filter.resource_subscriptions.iter().flatten().cloned();
        lists
            .map(|(_, change)| change)
            .chain(uris.map(Self::Resource))
            .collect()
    }
}

impl Queued for Change {
    fn bytes(&self) -> usize {
        match self {
            Self::Resource(uri) => uri.len(),
            _ => 0,
        }
    }
}

/// Returns whether a notification is one that a listener takes.
pub(super) fn is_of_listener(method: &str) -> bool {
    matches!(
        method,
        methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED
            | methods::NOTIFICATIONS_TOOLS_LIST_CHANGED
            | methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED
            | methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED
            | methods::NOTIFICATIONS_RESOURCES_UPDATED
    )
}

/// The changes of [`Client::listen`], as a stream. Dropping it ends the subscription.
#[derive(Debug)]
pub struct ChangeStream {
    changes: QueueReceiver<Change>,
    error: Arc<OnceLock<Error>>,
}

impl ChangeStream {
    /// Waits for the next change; `None` once the connection is closed, or the server refuses to be listened to again. Cancel
    /// safe: in `tokio::select!`, no change is lost.
    pub async fn next(&mut self) -> Option<Change> {
        self.changes.recv().await
    }

    /// Returns the error that ended the stream; `None` as long as it has not ended.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.get()
    }
}

impl Stream for ChangeStream {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.changes.poll_recv(cx)
    }
}

impl Client {
    /// Listens for changes of what the server has, and returns them as a stream, once the server listens.
    /// Dropping the future ends the subscription.
    ///
    /// It works alike with servers of every revision: by `subscriptions/listen`, or by `resources/subscribe` and the
    /// notifications of a session. The stream is renewed when it breaks, or when the server is started again behind its URL:
    /// after pauses of 0.25 to 30 seconds. After each renewal it has every change that the filter names, since any may have
    /// been missed; so it does if the reader is slow, and 64 KiB of changes wait. What the server does not declare is not
    /// heard of.
    ///
    /// ```no_run
    /// # use mcp_revisions::latest as mcp;
    /// # use mcp_revisions::service::{Client, Error, client::Change};
    /// # async fn run(client: Client) -> Result<(), Error> {
    /// let filter = mcp::SubscriptionFilter::new()
    ///     .with_tools_list_changed(true)
    ///     .with_resource_subscriptions(vec!["file:///news".to_owned()]);
    /// let mut changes = client.listen(filter).await?;
    /// while let Some(change) = changes.next().await {
    ///     match change {
    ///         Change::Resource(uri) => println!("{uri} has changed"),
    ///         other => println!("{other:?} have changed"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, refuses, or does not acknowledge within 10 seconds after its start.
    pub async fn listen(&self, filter: mcp::SubscriptionFilter) -> Result<ChangeStream, Error> {
        let subscription = Subscription {
            client: self.clone(),
            filter,
            missed: Arc::new(AtomicBool::new(false)),
        };
        let (sender, changes) = queue(ROOM);
        let replies = subscription.open(&sender).await?;
        let error = Arc::new(OnceLock::new());
        let ended = Arc::clone(&error);
        spawn(async move {
            let gone = sender.clone();
            tokio::select! {
                why = subscription.run(replies, sender) => drop(ended.set(why)),
                () = gone.closed() => {}
            }
        });
        Ok(ChangeStream { changes, error })
    }
}

/// The filter of a subscription, and its client.
struct Subscription {
    client: Client,
    filter: mcp::SubscriptionFilter,
    /// Set if a change may have been missed: the replies were not read in time, the changes were not, or the stream broke.
    missed: Arc<AtomicBool>,
}

impl Subscription {
    /// Opens the stream, and waits until the server has acknowledged it; changes may come before.
    async fn open(&self, sender: &QueueSender<Change>) -> Result<Replies<Wants>, Error> {
        let params = mcp::SubscriptionsListenRequestParams::new(self.filter.clone());
        let ask = OutgoingRequest::new(methods::SUBSCRIPTIONS_LISTEN, Some(Json::of(&params)));
        let wants = Wants::of_listener(Arc::clone(&self.missed));
        let mut replies = self.client.handle.ask(ask, wants).await;
        let acknowledged = async {
            loop {
                match replies.next().await {
                    Some(RequestReply::Notification(method, _))
                        if method == methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED =>
                    {
                        return Ok(());
                    }
                    Some(RequestReply::Notification(method, params)) => {
                        self.hand_on(&method, params, sender).await;
                    }
                    Some(RequestReply::Task(_)) => {}
                    reply => return Err(refused(reply)),
                }
            }
        };
        confirmation(&self.client, acknowledged).await?;
        Ok(replies)
    }

    /// Hands changes on, and opens the stream again when it ends; returns why it cannot be.
    async fn run(self, mut replies: Replies<Wants>, sender: QueueSender<Change>) -> Error {
        let mut pauses = ReopenPauses::default();
        loop {
            let began = Instant::now();
            loop {
                if self.missed.swap(false, Ordering::AcqRel) {
                    self.tell_all(&sender).await;
                }
                match replies.next().await {
                    Some(RequestReply::Notification(method, params)) => {
                        self.hand_on(&method, params, &sender).await;
                    }
                    Some(RequestReply::Task(_)) => {}
                    None => return closed(),
                    Some(_) => break,
                }
            }
            pauses.end(began.elapsed());
            loop {
                tokio::select! {
                    () = tokio::time::sleep(pauses.pause()) => {}
                    () = self.client.handle.ended() => return closed(),
                }
                match self.open(&sender).await {
                    Ok(again) => {
                        replies = again;
                        break;
                    }
                    Err(why) if is_final(&why, &[]) || self.client.handle.has_ended() => {
                        return why;
                    }
                    Err(_) => {}
                }
            }
            self.missed.store(true, Ordering::Release);
        }
    }

    /// Hands on the change that a notification tells of, if the layers forward it.
    async fn hand_on(&self, method: &str, params: Json, sender: &QueueSender<Change>) {
        let Some(params) = self.client.how.admit(method, params).await else {
            return;
        };
        if let Some(change) = Change::read(method, &params)
            && !sender.try_push(change)
        {
            self.missed.store(true, Ordering::Release);
        }
    }

    /// Hands on each change that there may have been, once there is room for them.
    async fn tell_all(&self, sender: &QueueSender<Change>) {
        for change in Change::all(&self.filter) {
            sender.send(change).await;
        }
    }
}

/// Returns the error of a request that has no stream.
pub(super) fn refused(reply: Option<RequestReply>) -> Error {
    match reply {
        Some(RequestReply::Answered(answered)) => match outcome(answered.answer) {
            Ok(_) => Error::transport("the server has ended the stream".to_owned()),
            Err(error) => error,
        },
        Some(RequestReply::Refused(why)) => why.into(),
        _ => closed(),
    }
}

/// Returns whether a server refuses a stream, however often it is asked; `more` are the codes by which streams of this kind are
/// refused besides those of JSON-RPC.
pub(super) fn is_final(why: &Error, more: &[i64]) -> bool {
    let codes = [
        ErrorObject::METHOD_NOT_FOUND,
        ErrorObject::INVALID_PARAMS,
        ErrorObject::INVALID_REQUEST,
    ];
    match why {
        Error::Rpc(error) => {
            (codes.iter().chain(more)).any(|code| error.code.as_i64() == Some(*code))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_stream_stays_open_for_longer_than_the_next_one() {
        let mut pauses = ReopenPauses::default();
        let mut all = Vec::new();
        for _ in 0..9 {
            all.push(pauses.pause().as_millis());
            pauses.end(Duration::ZERO);
        }
        assert_eq!(
            all,
            [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
        );
        pauses.end(Duration::from_secs(31));
        assert_eq!(pauses.pause(), ReopenPauses::FIRST);
    }
}
