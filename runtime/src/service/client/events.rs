//! Events of a server, as a stream that outlives its connections. Feature `ext-events`.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use mcp_revisions_core::errors::{FORBIDDEN, NOT_FOUND, UNSUPPORTED, shortened};
use mcp_revisions_core::extensions::events::{self as ext, CallServer as _};
use mcp_revisions_core::latest as mcp;
use mcp_wire::{Decode, ErrorObject, Json, Notification as _, Request as _, meta};
use tokio::time::Instant;

use super::listen::{ReopenPauses, confirmation, is_final, refused};
use super::lists::Cursors;
use super::{Client, Wants, closed, outcome};
use crate::service::Error;
use crate::transport::client::{Replies, RequestReply};
use crate::transport::queue::{QueueReceiver, QueueSender, Queued, queue};
use crate::transport::spawn::spawn;
use mcp_revisions_sansio::client::{Ignored, OutgoingRequest};

pub use mcp_revisions_sansio::webhooks::{Delivery, InvalidDelivery, WebhookSecret};

/// Maximum number of bytes of events that wait to be taken, before the server has to wait.
const ROOM: usize = 1 << 18;
/// The codes of errors that end a subscription: a retry would get them again.
const FINAL: [i64; 3] = [FORBIDDEN, NOT_FOUND, UNSUPPORTED];
/// Time after which a stream without a notification counts as dead: servers send one every 30 seconds.
const SILENCE: Duration = Duration::from_secs(65);
/// The shortest and the longest time between two polls.
const POLLS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3600));
/// The time between two polls if the server names none.
const POLL: Duration = Duration::from_secs(10);

/// An update of an [`EventStream`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EventUpdate {
    /// An event. Trust its data no more than the result of a tool.
    Event(ext::EventOccurrence),
    /// Events may have been skipped. Read the state that they are about again.
    Skipped,
    /// The server could not look for events, and retries.
    Failing(ErrorObject),
}

/// An update, and the position of the stream behind it. Without an update, only the position has changed.
#[derive(Debug)]
struct QueuedUpdate {
    update: Option<EventUpdate>,
    cursor: Option<String>,
}

impl Queued for QueuedUpdate {
    fn bytes(&self) -> usize {
        let update = match &self.update {
            Some(EventUpdate::Event(event)) => Json::of(event).text().len(),
            Some(EventUpdate::Failing(error)) => error.message.len(),
            _ => 0,
        };
        update + self.cursor.as_ref().map_or(0, String::len)
    }
}

/// The events of [`Client::events`], as a stream. Dropping it ends the subscription.
#[derive(Debug)]
pub struct EventStream {
    updates: QueueReceiver<QueuedUpdate>,
    cursor: Option<String>,
    error: Arc<OnceLock<Error>>,
}

impl EventStream {
    /// Waits for the next update; `None` once the connection is closed, or the server has ended the subscription. Cancel safe: in
    /// `tokio::select!`, no update is lost.
    pub async fn next(&mut self) -> Option<EventUpdate> {
        std::future::poll_fn(|context| self.poll_update(context)).await
    }

    fn poll_update(&mut self, context: &mut Context<'_>) -> Poll<Option<EventUpdate>> {
        loop {
            match self.updates.poll_recv(context) {
                Poll::Ready(Some(queued)) => {
                    self.cursor = queued.cursor;
                    if queued.update.is_some() {
                        return Poll::Ready(queued.update);
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Returns the position behind the last update that was taken: a program that is started again goes on from there, by
    /// `with_cursor` of the params. `None` if the server has none.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Returns the error that ended the stream; `None` as long as it has not ended.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.get()
    }
}

impl Stream for EventStream {
    type Item = EventUpdate;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<EventUpdate>> {
        self.poll_update(cx)
    }
}

impl Client {
    /// Returns the event types of the server, of every page of `events/list`.
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    /// Returns an error for a server that does not declare the extension, for one whose pages do not end, and those of a call.
    pub async fn list_all_events(&self) -> Result<Vec<ext::EventType>, Error> {
        self.connect().await?;
        let extensions = self.capabilities().and_then(|it| it.extensions);
        if !extensions.is_some_and(|all| all.contains_key(ext::IDENTIFIER)) {
            let why = format!(
                "the server does not declare the extension `{}`, which only servers of the per-request lifecycle have",
                ext::IDENTIFIER
            );
            return Err(Error::application(ErrorObject::METHOD_NOT_FOUND, why));
        }
        let (mut all, mut cursors) = (Vec::new(), Cursors::default());
        let mut params = mcp::PaginatedRequestParams::new();
        loop {
            let page = self.list_events(params).await?;
            all.extend(page.events);
            match cursors.next(page.next_cursor, ext::ListEventsRequest::METHOD)? {
                Some(next) => params = next,
                None => return Ok(all),
            }
        }
    }

    /// Subscribes to events, and returns them as a stream, once the server has confirmed it. The client needs
    /// [`with_custom_methods`](super::ClientBuilder::with_custom_methods).
    /// Dropping the future ends the subscription.
    ///
    /// Events come by `events/stream`, or by `events/poll` if the event type has no `push`. The stream is opened again when it
    /// breaks, or is silent for 65 seconds, after pauses of 0.25 to 30 seconds, and goes on from its position: no event is lost,
    /// and none comes twice, as far as the server keeps them. A gap is an [`EventUpdate::Skipped`]. If 256 KiB of events wait to
    /// be taken, the server has to wait.
    ///
    /// ```no_run
    /// # use mcp_revisions::core::extensions::events as ext;
    /// # use mcp_revisions::service::{Client, Error, client::events::EventUpdate};
    /// # async fn run(client: Client, kept: Option<String>) -> Result<(), Error> {
    /// let orders = ext::StreamEventsRequestParams::new("order.placed").with_cursor(kept);
    /// let mut events = client.events(orders).await?;
    /// while let Some(update) = events.next().await {
    ///     match update {
    ///         EventUpdate::Event(event) => println!("{}", event.event_id),
    ///         other => println!("{other:?}"),
    ///     }
    ///     println!("after a restart, go on from {:?}", events.cursor());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error for an event type that the server does not list, or lists without `push` and `poll`, and if the server
    /// cannot be reached, refuses, or does not confirm within 10 seconds after its start.
    pub async fn events(
        &self,
        params: ext::StreamEventsRequestParams,
    ) -> Result<EventStream, Error> {
        let listed = self.list_all_events().await?;
        let Some(event) = listed.iter().find(|event| event.name == params.name) else {
            let why = format!(
                "the server lists no event type `{}`",
                shortened(&params.name)
            );
            return Err(Error::application(NOT_FOUND, why));
        };
        let is_pushed = event.delivery.contains(&ext::DeliveryMode::Push);
        if !is_pushed && !event.delivery.contains(&ext::DeliveryMode::Poll) {
            let why = format!(
                "the event type `{}` has neither `push` nor `poll`",
                shortened(&params.name)
            );
            return Err(Error::application(UNSUPPORTED, why));
        }
        let (sender, updates) = queue(ROOM);
        let cursor = params.cursor.clone().flatten();
        let mut subscription = EventSubscription {
            client: self.clone(),
            params,
            missed: Arc::default(),
            sender,
            updates: 0,
            has_begun: false,
            has_ended: false,
        };
        let first = if is_pushed {
            FirstReply::Stream(subscription.open().await?)
        } else {
            FirstReply::Batch(Box::new(subscription.poll().await?))
        };
        let error = Arc::new(OnceLock::new());
        let ended = Arc::clone(&error);
        spawn(async move {
            let gone = subscription.sender.clone();
            tokio::select! {
                why = subscription.run(first) => drop(ended.set(why)),
                () = gone.closed() => {}
            }
        });
        Ok(EventStream {
            updates,
            cursor,
            error,
        })
    }
}

/// A subscription, with the position behind all that was queued.
struct EventSubscription {
    client: Client,
    params: ext::StreamEventsRequestParams,
    /// Set if a notification was lost, since the replies were not read in time.
    missed: Arc<AtomicBool>,
    sender: QueueSender<QueuedUpdate>,
    /// Number of updates that were queued.
    updates: u64,
    /// Set once the server has confirmed it.
    has_begun: bool,
    /// Set once the server has ended it.
    has_ended: bool,
}

/// The reply by which a server takes a subscription.
enum FirstReply {
    Stream(Replies<Wants>),
    Batch(Box<ext::PollEventsResult>),
}

impl EventSubscription {
    /// Queues an update, once there is room, and moves on to the position behind it.
    async fn queue(&mut self, update: Option<EventUpdate>, cursor: Option<String>) {
        self.params.cursor = Some(cursor.clone());
        self.updates += u64::from(update.is_some());
        self.sender.send(QueuedUpdate { update, cursor }).await;
    }

    /// Opens the stream behind the position, and waits until the server has confirmed it.
    async fn open(&mut self) -> Result<Replies<Wants>, Error> {
        let method = ext::StreamEventsRequest::METHOD;
        let ask = OutgoingRequest::new(method, Some(Json::of(&self.params)));
        self.missed.store(false, Ordering::Release);
        let wants = Wants {
            events: Some(Arc::clone(&self.missed)),
            ..Wants::default()
        };
        let client = self.client.clone();
        let mut replies = client.handle.ask(ask, wants).await;
        let confirmed = async {
            loop {
                match replies.next().await {
                    Some(RequestReply::Notification(method, params)) => {
                        self.hand_on(&method, params).await?;
                        if method == ext::EventsActiveNotification::METHOD {
                            return Ok(());
                        }
                    }
                    Some(RequestReply::Task(_)) => {}
                    reply => return Err(refused(reply)),
                }
            }
        };
        confirmation(&client, confirmed).await?;
        Ok(replies)
    }

    /// Delivers events, and opens a broken stream again. Returns the error that ends the subscription.
    async fn run(mut self, first: FirstReply) -> Error {
        let mut pauses = ReopenPauses::default();
        let is_pushed = matches!(first, FirstReply::Stream(_));
        let mut reply = Ok(first);
        loop {
            // The time until the next poll; `None` for a stream that has broken.
            let followed = match reply {
                Ok(FirstReply::Stream(replies)) => {
                    let (began, before) = (Instant::now(), self.updates);
                    let followed = self.follow(replies).await;
                    pauses.end(began.elapsed());
                    if self.updates > before {
                        pauses = ReopenPauses::default();
                    }
                    followed.map(|()| None)
                }
                Ok(FirstReply::Batch(batch)) => {
                    pauses = ReopenPauses::default();
                    Ok(Some(self.deliver(*batch).await))
                }
                Err(why) => Err(why),
            };
            let wait = match followed {
                Ok(Some(wait)) => wait,
                Err(why) if self.has_ended || is_final(&why, &FINAL) => return why,
                Ok(None) | Err(_) => pauses.pause(),
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.client.handle.ended() => return closed(),
            }
            reply = if is_pushed {
                self.open().await.map(FirstReply::Stream)
            } else {
                self.poll()
                    .await
                    .map(|batch| FirstReply::Batch(Box::new(batch)))
            };
        }
    }

    /// Hands on the events of a stream until it breaks.
    async fn follow(&mut self, mut replies: Replies<Wants>) -> Result<(), Error> {
        while let Ok(reply) = tokio::time::timeout(SILENCE, replies.next()).await {
            // The stream is opened again behind what came before the lost one.
            if self.missed.load(Ordering::Acquire) {
                break;
            }
            match reply {
                Some(RequestReply::Notification(method, params)) => {
                    self.hand_on(&method, params).await?;
                }
                Some(RequestReply::Task(_)) => {}
                Some(RequestReply::Answered(answered)) => {
                    return outcome(answered.answer).map(drop);
                }
                reply => return Err(refused(reply)),
            }
        }
        Ok(())
    }

    /// Hands on what a notification of the stream tells, if the layers forward it.
    ///
    /// # Errors
    /// Returns the error that ends the subscription.
    async fn hand_on(&mut self, method: &str, params: Json) -> Result<(), Error> {
        let Some(params) = self.client.how.admit(method, params).await else {
            return Ok(());
        };
        match method {
            ext::EventNotification::METHOD => {
                let sent = meta::without(&params, meta::SUBSCRIPTION_ID);
                match self.read::<ext::EventOccurrence>(method, &sent) {
                    Some(event) => {
                        let cursor = event.cursor.clone().flatten();
                        self.queue(Some(EventUpdate::Event(event)), cursor).await;
                    }
                    None => self.skip(None).await,
                }
            }
            ext::EventsActiveNotification::METHOD => {
                let read = self.read::<ext::EventsActiveNotificationParams>(method, &params);
                let active = read.unwrap_or_default();
                let cursor = active.cursor.flatten();
                // Without a position, what happened since the stream before is not known.
                let has_position = self.params.cursor.as_ref().is_some_and(Option::is_some);
                let is_gap = active.truncated == Some(true) || (self.has_begun && !has_position);
                self.has_begun = true;
                if is_gap {
                    self.skip(cursor).await;
                } else {
                    self.queue(None, cursor).await;
                }
            }
            ext::EventsHeartbeatNotification::METHOD => {
                let alive = self.read::<ext::EventsHeartbeatNotificationParams>(method, &params);
                if let Some(cursor) = alive.and_then(|alive| alive.cursor).flatten() {
                    self.queue(None, Some(cursor)).await;
                }
            }
            ext::EventsErrorNotification::METHOD => {
                if let Some(error) = params.read_member("error") {
                    let at = self.params.cursor.clone().flatten();
                    self.queue(Some(EventUpdate::Failing(error)), at).await;
                }
            }
            ext::EventsTerminatedNotification::METHOD => {
                let unnamed =
                    || ErrorObject::new(FORBIDDEN, "the server has ended the subscription");
                self.has_ended = true;
                let error = params.read_member("error");
                return Err(Error::Rpc(error.unwrap_or_else(unnamed)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Queues [`EventUpdate::Skipped`].
    async fn skip(&mut self, cursor: Option<String>) {
        let position = cursor.or_else(|| self.params.cursor.clone().flatten());
        self.queue(Some(EventUpdate::Skipped), position).await;
    }

    /// Reads params; those that cannot be read are reported.
    fn read<T: Decode>(&self, method: &str, params: &Json) -> Option<T> {
        let read = params.read();
        if let Err(why) = &read {
            let ignored = Ignored::Invalid(method.to_owned(), why.to_string());
            self.client.handle.leave_out(ignored);
        }
        read.ok()
    }

    /// Sends one `events/poll` for the events behind the position.
    async fn poll(&self) -> Result<ext::PollEventsResult, Error> {
        let mut poll = ext::PollEventsRequestParams::new(&*self.params.name);
        poll.arguments.clone_from(&self.params.arguments);
        poll.cursor.clone_from(&self.params.cursor);
        poll.max_age_ms.clone_from(&self.params.max_age_ms);
        self.client.poll_events(poll).await
    }

    /// Hands on the events of a poll, and returns when to ask again.
    async fn deliver(&mut self, batch: ext::PollEventsResult) -> Duration {
        let (before, cursor) = (self.params.cursor.clone().flatten(), batch.cursor.flatten());
        let mut updates: Vec<Option<EventUpdate>> = Vec::new();
        if batch.truncated == Some(true) {
            updates.push(Some(EventUpdate::Skipped));
        }
        let events = batch.events.into_iter();
        updates.extend(events.map(|event| Some(EventUpdate::Event(event))));
        // The position is behind all of them.
        let last = updates.pop().unwrap_or_default();
        for update in updates {
            self.queue(update, before.clone()).await;
        }
        let has_moved = before != cursor;
        self.queue(last, cursor).await;
        if batch.has_more == Some(true) && has_moved {
            return Duration::ZERO;
        }
        let wanted = batch
            .next_poll_ms
            .and_then(|ms| u64::try_from(ms.as_i64()?).ok());
        let (least, most) = POLLS;
        wanted
            .map_or(POLL, Duration::from_millis)
            .clamp(least, most)
    }
}
