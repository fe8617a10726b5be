//! The body of a response: one text, or a stream of events that ends with the answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use mcp_wire::envelope::write;
use mcp_wire::{RequestId, one_line};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use super::Options;
use super::replica::exchange::ReplicaExchange;
use super::replica::frame::ResponsePart;
use super::stage::{Stage, Stages};
use crate::backplane::EventId;
use crate::serve::{OutboxItem, OutboxQueue, Permit, QueueItem, ServerDriver};
use mcp_revisions_sansio::errors;

/// The body of a response.
pub struct Body(BodyKind);

enum BodyKind {
    Text(Option<Bytes>),
    Events(SseEvents),
    Passed(Passing),
}

/// The body that another replica sends.
pub(super) struct Passing {
    parts: mpsc::UnboundedReceiver<ResponsePart>,
    exchange: ReplicaExchange,
    /// The bytes that are still to come, where that is known.
    rest: Option<u64>,
    /// The request that a stream is to answer, if its replica is gone before that; `None` if its client cannot get an error.
    answers: Option<RequestId>,
    /// Set if the client resumes a stream that breaks off: it gets no error then.
    is_resumable: bool,
    /// Set if the last bytes end an event.
    ends_event: bool,
    is_over: bool,
}

/// A stream of events.
pub(super) struct SseEvents {
    queue: OutboxQueue,
    /// The item taken off the queue to see if it is the whole answer.
    pub(super) first: Option<QueueItem>,
    /// The event that it begins with, if there is one to say.
    opening: Option<String>,
    /// Delay before a client reconnects, as the stream announces it.
    retry: Duration,
    /// Set if the stream ends with the last text of its exchange, rather than with the session.
    ends: bool,
    is_over: bool,
    /// Notified when the reader is gone before the end.
    pub(super) guard: Option<HangUp>,
    /// The error that ends its calls once the service is over.
    pub(super) last_word: Option<LastWord>,
    silence: Option<Silence>,
}

/// The error that ends the calls of a connection, once the service is over and their response is looked at.
pub(super) struct LastWord {
    stages: Arc<Stages>,
    driver: Arc<ServerDriver>,
}

impl LastWord {
    pub(super) fn new(stages: Arc<Stages>, driver: Arc<ServerDriver>) -> Self {
        Self { stages, driver }
    }

    /// Polls the queue of a response.
    pub(super) fn poll_recv(
        &mut self,
        queue: &mut OutboxQueue,
        context: &mut Context<'_>,
    ) -> Poll<Option<QueueItem>> {
        let next = queue.poll_recv(context);
        if next.is_pending() && self.stages.has_reached(Stage::Over) {
            self.driver.end_calls(&errors::server_ended().error);
            return queue.poll_recv(context);
        }
        next
    }
}

/// Maximum time of silence on a stream before it sends a sign of life.
struct Silence {
    longest: Duration,
    left: Pin<Box<Sleep>>,
}

impl Silence {
    /// No time at all is not an end to it.
    fn new(longest: Duration) -> Option<Self> {
        let left = (!longest.is_zero()).then(|| Box::pin(tokio::time::sleep(longest)))?;
        Some(Self { longest, left })
    }

    /// Something was said.
    fn broken(&mut self) {
        if let Some(until) = Instant::now().checked_add(self.longest) {
            self.left.as_mut().reset(until);
        }
    }

    fn poll_too_long(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.left.as_mut().poll(context)
    }
}

/// Does something when a reader hangs up before the answer.
pub(super) struct HangUp(Option<Box<dyn FnOnce() + Send>>);

impl HangUp {
    pub(super) fn new(then: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(then)))
    }

    /// The answer has been given.
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for HangUp {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            then();
        }
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl Body {
    pub(super) fn empty() -> Self {
        Self(BodyKind::Text(None))
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::unread(text.into(), None)
    }

    /// Returns a text, and what it takes up until it is written out.
    pub(super) fn unread(text: String, unread: Option<Permit>) -> Self {
        Self(BodyKind::Text(Some(counted(text, unread))))
    }

    /// Returns the body that another replica sends.
    pub(super) fn passed(passing: Passing) -> Self {
        Self(BodyKind::Passed(passing))
    }

    /// Takes the text out, if it is one.
    pub(super) fn take_text(&mut self) -> Option<Bytes> {
        match &mut self.0 {
            BodyKind::Text(text) => Some(text.take().unwrap_or_default()),
            _ => None,
        }
    }

    pub(super) fn events(events: SseEvents) -> Self {
        Self(BodyKind::Events(events))
    }
}

impl Passing {
    pub(super) fn new(
        parts: mpsc::UnboundedReceiver<ResponsePart>,
        exchange: ReplicaExchange,
        length: Option<u64>,
        answers: Option<RequestId>,
    ) -> Self {
        Self {
            parts,
            exchange,
            rest: length,
            answers,
            is_resumable: false,
            ends_event: true,
            is_over: false,
        }
    }

    /// Says whether its client resumes a stream that breaks off.
    pub(super) fn resumable(self, is_resumable: bool) -> Self {
        Self {
            is_resumable,
            ..self
        }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let part = std::task::ready!(self.parts.poll_recv(context));
        if let Some(ResponsePart::Data(bytes)) = part {
            self.exchange.read(bytes.len());
            self.rest = self
                .rest
                .map(|rest| rest.saturating_sub(bytes.len() as u64));
            self.ends_event = bytes.ends_with(b"\n\n");
            return Poll::Ready(Some(bytes));
        }
        self.is_over = true;
        // This replica ends it, which the other one has to know.
        let Some(part) = part else {
            return Poll::Ready(None);
        };
        self.exchange.finish();
        let why = match part {
            ResponsePart::End => return Poll::Ready(None),
            // The call goes on where it runs, and the rest of the stream is kept.
            ResponsePart::Broken if self.is_resumable => return Poll::Ready(None),
            lost => lost.failure(),
        };
        let Some(id) = self.answers.take() else {
            return Poll::Ready(None);
        };
        // A part of an event is none that a client knows.
        let before = if self.ends_event { "" } else { BROKEN_OFF };
        let error = event(None, &write::error(Some(&id), &why.error));
        Poll::Ready(Some(format!("{before}{error}").into()))
    }
}

/// The lines that end an event in the middle, so that clients ignore it: of several names, the last counts.
const BROKEN_OFF: &str = "\nevent: broken-off\n\n";

impl SseEvents {
    /// Returns the events of a session that belong to no exchange.
    pub(super) fn of_session(queue: OutboxQueue, options: &Options) -> Self {
        Self {
            queue,
            first: None,
            opening: None,
            retry: options.retry,
            ends: false,
            is_over: false,
            guard: None,
            last_word: None,
            silence: Silence::new(options.keep_alive),
        }
    }

    /// Returns the events of an exchange, up to its answer.
    pub(super) fn of_exchange(
        queue: OutboxQueue,
        prime: Option<EventId>,
        options: &Options,
    ) -> Self {
        Self {
            opening: prime.map(|id| nothing_yet(id, options.retry)),
            ends: true,
            ..Self::of_session(queue, options)
        }
    }

    /// All events of a session that has one stream; the first says where its messages go, and the session ends with it.
    pub(super) fn of_only_stream(queue: OutboxQueue, endpoint: &str, options: &Options) -> Self {
        Self {
            opening: Some(format!("event: endpoint\ndata: {endpoint}\n\n")),
            ..Self::of_session(queue, options)
        }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Some(event) = self.opening.take() {
            return Poll::Ready(Some(event.into()));
        }
        let next = match self.first.take() {
            Some(next) => Poll::Ready(Some(next)),
            None => match &mut self.last_word {
                Some(last_word) => last_word.poll_recv(&mut self.queue, context),
                None => self.queue.poll_recv(context),
            },
        };
        if let Some(silence) = &mut self.silence {
            if next.is_pending() {
                std::task::ready!(silence.poll_too_long(context));
            }
            silence.broken();
        }
        let event = match next {
            Poll::Pending if self.silence.is_none() => return Poll::Pending,
            Poll::Pending => Some(Bytes::from_static(STILL_HERE)),
            Poll::Ready(Some(QueueItem::Pause(behind))) => {
                self.is_over = true;
                Some(nothing_yet(behind, self.retry).into())
            }
            Poll::Ready(Some(QueueItem::Item(item))) => {
                let OutboxItem { text, id, unread } = *item;
                self.is_over = self.ends && text.last;
                Some(counted(event(id, &text.body), unread))
            }
            Poll::Ready(None) => {
                self.is_over = true;
                None
            }
        };
        // The stream of a session keeps its guard, which ends the session with the stream.
        if self.is_over
            && let Some(guard) = self.guard.take_if(|_| self.ends)
        {
            guard.disarm();
        }
        Poll::Ready(event)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.0 {
            BodyKind::Text(text) => text.take(),
            BodyKind::Events(events) => std::task::ready!(events.poll_next(context)),
            BodyKind::Passed(passing) => std::task::ready!(passing.poll_next(context)),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyKind::Text(text) => text.is_none(),
            BodyKind::Events(SseEvents { is_over, .. })
            | BodyKind::Passed(Passing { is_over, .. }) => *is_over,
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match &self.0 {
            BodyKind::Text(text) => {
                http_body::SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
            BodyKind::Passed(Passing {
                rest: Some(rest), ..
            }) => http_body::SizeHint::with_exact(*rest),
            BodyKind::Events(_) | BodyKind::Passed(_) => http_body::SizeHint::default(),
        }
    }
}

/// A text that counts as unread as long as the connection holds any of it.
struct CountedBody {
    text: String,
    _unread: Permit,
}

impl AsRef<[u8]> for CountedBody {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

fn counted(text: String, unread: Option<Permit>) -> Bytes {
    match unread {
        Some(unread) => Bytes::from_owner(CountedBody {
            text,
            _unread: unread,
        }),
        None => Bytes::from(text),
    }
}

/// A comment among server-sent events, which clients ignore.
const STILL_HERE: &[u8] = b":\n\n";

/// Returns an event without data: its id, from which the client resumes, and the delay before that.
fn nothing_yet(id: EventId, retry: Duration) -> String {
    format!("id: {id}\nretry: {}\ndata: \n\n", retry.as_millis())
}

/// Returns a text as a server-sent event.
fn event(id: Option<EventId>, text: &str) -> String {
    let text = one_line(text);
    match id {
        Some(id) => format!("event: message\nid: {id}\ndata: {text}\n\n"),
        None => format!("event: message\ndata: {text}\n\n"),
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            BodyKind::Text(_) => "Body(text)",
            BodyKind::Events(_) => "Body(events)",
            BodyKind::Passed(_) => "Body(passed)",
        })
    }
}
