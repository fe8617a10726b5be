//! A layer of `tracing` that sends the events of a handler to its client. Feature `tracing`.
//!
//! Each call is handled in a span; [`ToClient`] is a layer that sends the events in it, and in the spans below it, as
//! `notifications/message`. What the client did not ask for is not sent, and what a slow reader leaves no room for is
//! left out. Events of an [`on_loss`](super::McpServer::on_loss) hook are not sent, nor those of [layers](crate::layer) which
//! such a message passes: they would make further messages of themselves.
//!
//! A span `call` has the fields of OpenTelemetry for MCP: `otel.name`, `otel.kind`, `mcp.method.name`, `mcp.protocol.version` of
//! the client, `jsonrpc.request.id`, `gen_ai.tool.name` or `gen_ai.prompt.name`, `error.type`, and over HTTP `mcp.session.id`,
//! the first eight characters of the id: the rest is a secret. `losses` is how many there were on the way to the handler.
//! [`on_span`] makes the span of the client, which `_meta` or the HTTP headers name, its parent.
//!
//! ```
//! use mcp_revisions::service::trace::ToClient;
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! let subscriber = tracing_subscriber::registry().with(ToClient);
//! # let _ = subscriber;
//! ```

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::sync::OnceLock;

use mcp_wire::{ErrorObject, Json, Map, Number};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Span};
use tracing::{Event, Instrument as _, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::serve::Peer;
use mcp_revisions_core::methods;
use mcp_revisions_sansio::server::{IncomingRequest, LogLevel, MessageLosses};

/// The target of the spans of calls.
const TARGET: &str = "mcp_revisions::call";

thread_local! {
    /// The peer whose span is being made.
    static OPENING: RefCell<Option<Peer>> = const { RefCell::new(None) };
    /// Set while a hook runs, which may have the connection of a client locked, and while an event is on its way to one.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The time in which this thread sends no event to a client: until it is dropped.
struct QuietTime {
    was_quiet: bool,
}

impl QuietTime {
    fn begin() -> Self {
        let was_quiet = IS_QUIET.replace(true);
        Self { was_quiet }
    }
}

impl Drop for QuietTime {
    fn drop(&mut self) {
        IS_QUIET.set(self.was_quiet);
    }
}

/// Returns a hook whose events are sent to no client.
pub(super) fn quiet(hook: impl Fn(&MessageLosses<'_>)) -> impl Fn(&MessageLosses<'_>) {
    move |lost| {
        let _quiet = QuietTime::begin();
        hook(lost);
    }
}

/// The trace that a request belongs to, by the names of W3C Trace Context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The span of the client, as `00-TRACE-SPAN-FLAGS`.
    pub traceparent: Option<String>,
    /// The value that systems of tracing attach to it.
    pub tracestate: Option<String>,
    /// Pairs of the application.
    pub baggage: Option<String>,
}

/// Most bytes of a member of a trace context; a longer one is left out.
const CONTEXT_BYTES: usize = 8 << 10;

impl TraceContext {
    /// Reads `_meta` of a request, and its HTTP headers where that has none.
    fn read<M>(call: &IncomingRequest<M>, peer: &Peer) -> Self {
        let meta = if call.params.text().contains("\"_meta\"") {
            call.params.get("_meta")
        } else {
            None
        };
        let header = |name: &str| peer.header(name).map(str::to_owned);
        let of_meta = |name: &str| meta.as_ref()?.read_member::<String>(name);
        let is_in_meta = of_meta("traceparent").is_some();
        let read = |name: &str| {
            let value = if is_in_meta {
                of_meta(name)
            } else {
                header(name)
            };
            value.filter(|value| value.len() <= CONTEXT_BYTES)
        };
        Self {
            traceparent: read("traceparent"),
            tracestate: read("tracestate"),
            baggage: read("baggage"),
        }
    }

    /// Returns a member by its name, as propagators of OpenTelemetry ask for it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        match name {
            "traceparent" => self.traceparent.as_deref(),
            "tracestate" => self.tracestate.as_deref(),
            "baggage" => self.baggage.as_deref(),
            _ => None,
        }
    }
}

type SpanHook = dyn Fn(&Span, &TraceContext) + Send + Sync;

static ON_SPAN: OnceLock<Box<SpanHook>> = OnceLock::new();

/// Sets the hook that is called with the span of each call that names a trace, before its handler runs: it sets the parent of
/// the span, by `OpenTelemetrySpanExt::set_parent` of `tracing-opentelemetry`. Returns false if there is one already.
pub fn on_span(hook: impl Fn(&Span, &TraceContext) + Send + Sync + 'static) -> bool {
    ON_SPAN.set(Box::new(hook)).is_ok()
}

/// Returns the future of a handler, which runs in the span of its call.
pub(super) fn within<F: Future>(span: &Span, handler: F) -> impl Future<Output = F::Output> {
    handler.instrument(span.clone())
}

/// Records in the span of a call which error it came to.
pub(super) fn record_error(span: &Span, error: &ErrorObject) {
    span.record(
        "error.type",
        error.code.as_i64().map(|code| code.to_string()),
    );
}

pub(super) fn span<M: AsRef<str>>(call: &IncomingRequest<M>, peer: &Peer) -> Span {
    OPENING.with_borrow_mut(|opening| *opening = Some(peer.clone()));
    let called = call.method.as_ref();
    let session = peer
        .header(mcp_revisions_core::headers::SESSION_ID)
        .and_then(|id| id.get(..8));
    let named = |method: &str| {
        if called == method {
            call.params.read_member::<String>("name")
        } else {
            None
        }
    };
    let (tool, prompt) = (named(methods::TOOLS_CALL), named(methods::PROMPTS_GET));
    let target = tool.as_deref().or(prompt.as_deref());
    let name = match target {
        Some(target) => format!("{called} {target}"),
        None => called.to_owned(),
    };
    let id = call.id.as_ref().map(|id| Json::of(id).into_text());
    let span = tracing::error_span!(
        target: TARGET,
        "call",
        "otel.name" = name,
        "otel.kind" = "server",
        "mcp.method.name" = called,
        "mcp.protocol.version" = call.revision.protocol_version(),
        "mcp.session.id" = session,
        "jsonrpc.request.id" = id,
        "gen_ai.tool.name" = tool,
        "gen_ai.prompt.name" = prompt,
        "error.type" = tracing::field::Empty,
        losses = call.losses.len(),
    );
    OPENING.with_borrow_mut(|opening| *opening = None);
    if let Some(hook) = ON_SPAN.get() {
        let context = TraceContext::read(call, peer);
        if context.traceparent.is_some() {
            hook(&span, &context);
        }
    }
    span
}

/// A layer that sends the events of a call to its client.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToClient;

/// The receiver of the events in a span; `None` for a span that was made in a [`QuietTime`].
#[derive(Clone)]
struct EventReceiver(Option<Peer>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for ToClient {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let peer = match attributes.metadata().target() {
            TARGET => OPENING.with_borrow_mut(Option::take),
            _ => None,
        };
        if (peer.is_some() || IS_QUIET.get())
            && let Some(span) = context.span(id)
        {
            span.extensions_mut().replace(EventReceiver(peer));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if IS_QUIET.get() {
            return;
        }
        let spans = context.event_scope(event).into_iter().flatten();
        let mut receivers =
            spans.filter_map(|span| span.extensions().get::<EventReceiver>().cloned());
        let Some(EventReceiver(Some(peer))) = receivers.next() else {
            return;
        };
        let _quiet = QuietTime::begin();
        let mut said = TraceFields::default();
        event.record(&mut said);
        let metadata = event.metadata();
        let mut params = Map::new();
        params.insert("level", Json::of(&level(*metadata.level())));
        params.insert("logger", Json::of(metadata.target()));
        params.insert("data", said.into_data());
        // A message that is not wanted, or finds no room, is left out.
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

/// The fields of an event.
#[derive(Default)]
struct TraceFields(Map<Json>);

impl TraceFields {
    fn record_number(&mut self, field: &Field, number: impl TryInto<Number>) {
        // A number that JSON cannot hold is left out.
        if let Ok(number) = number.try_into() {
            self.0.insert(field.name(), Json::of(&number));
        }
    }

    /// Returns the text, where there is nothing else.
    fn into_data(self) -> Json {
        match self.0.get("message") {
            Some(message) if self.0.len() == 1 => message.clone(),
            _ => Json::of(&self.0),
        }
    }
}

impl Visit for TraceFields {
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
