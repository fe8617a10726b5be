//! What a handler logs by `tracing` reaches its client. Feature `tracing`.
//!
//! Each call is handled in a span; [`ToClient`] is a layer that sends the events in it, and in the spans below it, as
//! `notifications/message`. What the client did not ask for is not sent, and what a slow reader leaves no room for is
//! left out. A span has the fields `method`, `revision` of the client, `losses` on the way to the handler, and over HTTP
//! `session`, the first eight characters of its id: the rest is a secret.
//!
//! ```
//! use mcp_revisions::service::trace::ToClient;
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! let subscriber = tracing_subscriber::registry().with(ToClient);
//! # let _ = subscriber;
//! ```

use std::cell::RefCell;
use std::fmt::Debug;

use mcp_wire::{Json, Map, Number};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Span};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::methods;
use crate::serve::Peer;
use mcp_revisions_sansio::server::{IncomingRequest, LogLevel};

/// The target of the spans of calls.
const TARGET: &str = "mcp_revisions::call";

thread_local! {
    /// Whose span is being made.
    static OPENING: RefCell<Option<Peer>> = const { RefCell::new(None) };
}

/// The span of a call.
pub(super) fn span(call: &IncomingRequest, peer: &Peer) -> Span {
    OPENING.with_borrow_mut(|opening| *opening = Some(peer.clone()));
    #[cfg(feature = "server-http")]
    let session = peer.session_id().and_then(|id| id.get(..8));
    #[cfg(not(feature = "server-http"))]
    let session: Option<&str> = None;
    let (revision, losses) = (call.peer.id(), call.losses.len());
    let span = tracing::error_span!(
        target: TARGET, "call", method = call.method, revision, losses, session
    );
    OPENING.with_borrow_mut(|opening| *opening = None);
    span
}

/// A layer that sends the events of a call to its client.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToClient;

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for ToClient {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if attributes.metadata().target() != TARGET {
            return;
        }
        let peer = OPENING.with_borrow_mut(Option::take);
        if let (Some(peer), Some(span)) = (peer, context.span(id)) {
            span.extensions_mut().insert(peer);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let spans = context.event_scope(event).into_iter().flatten();
        let mut peers = spans.filter_map(|span| span.extensions().get::<Peer>().cloned());
        let Some(peer) = peers.next() else { return };
        let mut said = Said::default();
        event.record(&mut said);
        let metadata = event.metadata();
        let mut params = Map::new();
        params.insert("level", Json::of(&level(*metadata.level())));
        params.insert("logger", Json::of(metadata.target()));
        params.insert("data", said.into_data());
        // What is not wanted, or finds no room, is left out.
        let _ = peer.try_notify(methods::NOTIFICATIONS_MESSAGE, Some(&Json::of(&params)));
    }
}

fn level(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warning,
        Level::INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    }
}

/// What an event says, by field.
#[derive(Default)]
struct Said(Map<Json>);

impl Said {
    fn record_number(&mut self, field: &Field, number: impl TryInto<Number>) {
        // What JSON has no number for is left out.
        if let Ok(number) = number.try_into() {
            self.0.insert(field.name(), Json::of(&number));
        }
    }

    /// The text, where there is nothing else.
    fn into_data(self) -> Json {
        match self.0.get("message") {
            Some(message) if self.0.len() == 1 => message.clone(),
            _ => Json::of(&self.0),
        }
    }
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), Json::of(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_number(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_number(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.record_number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name(), Json::of(&value));
    }
}
