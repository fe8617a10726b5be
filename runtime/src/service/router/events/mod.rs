//! Event types of a router, each with a function that returns the events since a position. Lists, polls, streams and deliveries to
//! webhooks use it. Feature `ext-events`.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::errors::{NOT_FOUND, UNSUPPORTED, shortened};
use mcp_revisions_core::extensions::events as ext;
use mcp_revisions_core::{Latest, latest as mcp};
use mcp_wire::service::{ServerSide, Serves};
use mcp_wire::{Encode, ErrorObject, Json, JsonObject, Map};
use tokio::sync::watch;

use super::dynamic::page_of;
use super::handler::BoxedHandler;
use super::result::service_error;
use super::state::StateType;
use super::{Handler, Router};
use crate::service::{Error, RequestContext};

mod follow;
#[cfg(feature = "client-auth")]
mod over_http;
mod stream;
mod webhook;

pub use webhook::{WebhookAddresses, WebhookFailure, WebhookPost, WebhookReply, Webhooks};

pub use mcp_revisions_sansio::driver::{now_ms, timestamp};

/// Default of the time between two calls of the function for a stream.
const INTERVAL: Duration = Duration::from_secs(5);

/// A signal that events may have happened: streams call their functions at once. Clones wake the same streams.
///
/// It queues nothing: the function of the event type returns the events.
#[derive(Debug, Clone)]
pub struct EventSignal(watch::Sender<()>);

impl Default for EventSignal {
    fn default() -> Self {
        Self::new()
    }
}

impl EventSignal {
    /// Creates a signal.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(()))
    }

    /// Wakes the streams of the event types with this signal. It takes no time, and may be called for each event.
    pub fn wake(&self) {
        self.0.send_replace(());
    }
}

/// The event types of a [`Router`].
#[derive(Default)]
pub struct Events {
    sources: Vec<EventSource>,
    interval: Option<Duration>,
    /// Set if no streams are kept open.
    is_polled_only: bool,
    webhooks: Option<Webhooks>,
    wanted_states: Vec<(String, Vec<StateType>)>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.sources.iter().map(|source| &source.event.name);
        f.debug_list().entries(names).finish()
    }
}

/// An event type with its function.
struct EventSource {
    event: ext::EventType,
    signal: EventSignal,
    interval: Duration,
    check: BoxedHandler<ext::PollEventsRequestParams, ext::PollEventsResult>,
}

impl Events {
    /// Creates a list without event types.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event type. Its modes are those of the router: `poll`, `push`, and `webhook` if there are any.
    ///
    /// `check` returns the events since `params.cursor`, oldest first: those of the subscription's arguments, at most
    /// `params.max_events`, and the cursor behind them. Without a cursor it returns no events, and the current cursor. It sets
    /// `has_more` if it leaves out later events, and `truncated` if it leaves out earlier ones, because the cursor is too old
    /// or because of `params.max_age_ms`. The cursor has to mean the same after a restart, and on each replica. A stream can
    /// continue behind an event with a `cursor`. An error of the codes
    /// [`FORBIDDEN`](mcp_revisions_core::errors::FORBIDDEN), `NOT_FOUND` and `UNSUPPORTED` ends a stream; after others it
    /// retries.
    ///
    /// Streams call it when `signal` wakes them, and at [intervals](Self::with_interval).
    #[must_use]
    pub fn event<Shape, C, E>(
        mut self,
        event: ext::EventType,
        signal: &EventSignal,
        check: C,
    ) -> Self
    where
        C: Handler<
                Shape,
                Arguments = ext::PollEventsRequestParams,
                Future: Future<Output = Result<ext::PollEventsResult, E>> + Send + 'static,
            >,
        E: Display + 'static,
    {
        let what = format!("the event type `{}`", event.name);
        self.wanted_states.push((what, C::states()));
        self.sources.push(EventSource {
            event,
            signal: signal.clone(),
            interval: INTERVAL,
            check: Box::new(move |params, cx| {
                let answer = check.call(params, cx);
                Box::pin(async move { answer?.await.map_err(service_error) })
            }),
        });
        self
    }

    /// Sets the time between two calls of the function for a stream that no signal wakes, at least a millisecond, and the
    /// `nextPollMs` of polls; 5 seconds by default.
    #[must_use]
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = Some(interval.max(Duration::from_millis(1)));
        self
    }

    /// Delivers events to webhooks of clients, too. Without this `events/subscribe` is refused.
    ///
    /// The functions of the event types then run after the answer to `events/subscribe`, too: with the principal and the extensions
    /// of the request that renewed the subscription last, and without a client to ask.
    #[must_use]
    pub fn with_webhooks(mut self, webhooks: Webhooks) -> Self {
        self.webhooks = Some(webhooks);
        self
    }

    /// Offers polls only, of a server whose host keeps no response open.
    #[must_use]
    pub fn without_push(mut self) -> Self {
        self.is_polled_only = true;
        self
    }
}

impl EventSource {
    /// Calls the function for the events behind a position, and checks its result.
    ///
    /// # Errors
    /// Returns the error of the function, and an error for an answer without a cursor.
    async fn check(
        &self,
        params: ext::PollEventsRequestParams,
        cx: &RequestContext<Latest>,
    ) -> Result<(ext::PollEventsResult, String), Error> {
        let begins = params.cursor.as_ref().and_then(Option::as_ref).is_none();
        let mut batch = (self.check)(params, cx.clone()).await?;
        let Some(cursor) = batch.cursor.clone().flatten() else {
            let name = shortened(&self.event.name);
            let why = format!("the server has no position in the events of `{name}`");
            return Err(Error::Internal(why));
        };
        if begins {
            // A subscription without a position begins now.
            batch.events.clear();
            (batch.has_more, batch.truncated) = (None, None);
        }
        Ok((batch, cursor))
    }
}

/// The event types of a server, and its webhooks.
struct EventSet {
    sources: Vec<Arc<EventSource>>,
    webhooks: Option<Webhooks>,
}

/// The handlers of the extension.
struct EventHandlers {
    events: Arc<EventSet>,
    page_size: Option<usize>,
}

impl EventSet {
    /// Returns the webhooks.
    ///
    /// # Errors
    /// Returns an error if there are none.
    fn webhooks(&self) -> Result<&Webhooks, Error> {
        self.webhooks.as_ref().ok_or_else(|| no_mode("webhook"))
    }

    /// Finds an event type.
    ///
    /// # Errors
    /// Returns an error for an unknown name.
    fn find(&self, name: &str) -> Result<&Arc<EventSource>, Error> {
        let mut sources = self.sources.iter();
        sources.find(|one| one.event.name == name).ok_or_else(|| {
            let why = format!("no event type `{}`: `events/list` has all", shortened(name));
            with_data(NOT_FOUND, why, [("kind", "event")])
        })
    }
}

/// Returns the error of a delivery mode that the event types do not have.
fn no_mode(mode: &str) -> Error {
    let why =
        format!("no event type has the delivery mode `{mode}`: `events/list` has their modes");
    let data = [("feature", "deliveryMode"), ("value", mode)];
    with_data(UNSUPPORTED, why, data)
}

/// Returns an error of the extension, whose data say what it is about.
fn with_data<const N: usize, D: Encode>(
    code: i64,
    why: impl Into<String>,
    data: [(&str, D); N],
) -> Error {
    let members = Map::from_iter(data.map(|(name, value)| (name, Json::of(&value))));
    Error::Rpc(ErrorObject::new(code, why).with_data(Json::of(&members)))
}

impl ext::ServerHandlers<RequestContext<Latest>> for EventHandlers {
    async fn list_events(
        &self,
        params: mcp::PaginatedRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<ext::ListEventsResult, Error> {
        let all = self
            .events
            .sources
            .iter()
            .map(|source| source.event.clone());
        let (page, next) = page_of(all, params.cursor.as_deref(), self.page_size)?;
        let mut result = ext::ListEventsResult::new(page);
        result.next_cursor = next;
        Ok(result)
    }

    async fn poll_events(
        &self,
        params: ext::PollEventsRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<ext::PollEventsResult, Error> {
        let source = self.events.find(&params.name)?;
        let (mut batch, _) = source.check(params, &cx).await?;
        for event in &mut batch.events {
            // The position of a poll stands beside its events.
            event.cursor = None;
        }
        batch.next_poll_ms.get_or_insert_with(|| {
            let interval = source.interval.as_millis();
            i64::try_from(interval).unwrap_or(i64::MAX).into()
        });
        batch.truncated.get_or_insert(false);
        batch.has_more.get_or_insert(false);
        Ok(batch)
    }

    async fn stream_events(
        &self,
        params: ext::StreamEventsRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<ext::StreamEventsResult, Error> {
        let source = self.events.find(&params.name)?;
        if !source.event.delivery.contains(&ext::DeliveryMode::Push) {
            return Err(no_mode("push"));
        }
        stream::run(source, params, cx).await
    }

    async fn subscribe_events(
        &self,
        params: ext::SubscribeEventsRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<ext::SubscribeEventsResult, Error> {
        let source = self.events.find(&params.name)?;
        self.events.webhooks()?.subscribe(source, params, &cx).await
    }

    async fn unsubscribe_events(
        &self,
        params: ext::UnsubscribeEventsRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<ext::UnsubscribeEventsResult, Error> {
        self.events.find(&params.name)?;
        self.events.webhooks()?.unsubscribe(&params, &cx)
    }
}

/// Returns the handler of a method of the extension.
fn method_handler(name: &'static str, events: Arc<EventSet>) -> super::MethodHandler {
    Box::new(move |(params, page_size), cx| {
        let events = Arc::clone(&events);
        Box::pin(async move {
            type Context = RequestContext<Latest>;
            let handlers = EventHandlers { events, page_size };
            <ext::Protocol as Serves<ServerSide, EventHandlers, Context>>::request(
                &handlers, name, &params, cx,
            )
            .await
        })
    })
}

impl Router {
    /// Serves these event types. Declares the extension `io.modelcontextprotocol/events`, and answers `events/list`,
    /// `events/poll`, `events/stream` and, [with webhooks](Events::with_webhooks), `events/subscribe`. Clients of the handshake
    /// lifecycle are not offered it. Feature `ext-events`.
    ///
    /// [`build`](Self::build) reports an event type without a name, two of one name, and a second list.
    ///
    /// [Specification](https://modelcontextprotocol.io/seps/3415-events-extension)
    pub fn events(mut self, events: Events) -> Self {
        if self.extensions.contains_key(ext::IDENTIFIER) {
            let problem = "`events` is called twice: put all event types into one list";
            self.problems.push(problem.to_owned());
            return self;
        }
        for (what, states) in events.wanted_states {
            self.takes(&what, states);
        }
        let mut sources = events.sources;
        for at in 0..sources.len() {
            let (before, from) = sources.split_at_mut(at);
            let Some(source) = from.first_mut() else {
                continue;
            };
            source.event.delivery = vec![ext::DeliveryMode::Poll];
            if !events.is_polled_only {
                source.event.delivery.push(ext::DeliveryMode::Push);
            }
            if events.webhooks.is_some() {
                source.event.delivery.push(ext::DeliveryMode::Webhook);
            }
            source.interval = events.interval.unwrap_or(INTERVAL);
            let name = &source.event.name;
            let is_free = before.iter().all(|other| other.event.name != *name);
            self.report_taken(is_free, "event types", name);
        }
        let shared = Arc::new(EventSet {
            sources: sources.into_iter().map(Arc::new).collect(),
            webhooks: events.webhooks,
        });
        for method in ext::METHODS {
            let handler = method_handler(method.name, Arc::clone(&shared));
            self.methods.push((method.name, handler));
        }
        self.with_extension(ext::IDENTIFIER, JsonObject::new())
    }
}
