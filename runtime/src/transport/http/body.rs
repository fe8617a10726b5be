//! The body of a response: one text, or a stream of events that ends with the answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use mcp_wire::one_line;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use super::Options;
use super::replica::exchange::{Exchange, Part};
use crate::backplane::EventId;
use crate::serve::{Item, Next, Permit, Queue};

/// The body of a response.
pub struct Body(Kind);

enum Kind {
    Text(Option<Bytes>),
    Events {
        /// What was taken off the queue to see whether it is the whole answer.
        first: Option<Next>,
        queue: Queue,
        /// The event that it begins with, if there is one to say.
        opening: Option<String>,
        /// Delay before a client reconnects, as the stream announces it.
        retry: Duration,
        /// Whether the stream ends with the last text of its exchange, rather than with the session.
        ends: bool,
        is_over: bool,
        /// Notified when the reader is gone before the end.
        guard: Option<HangUp>,
        silence: Option<Silence>,
    },
    /// What another replica sends.
    Passed {
        parts: mpsc::UnboundedReceiver<Part>,
        exchange: Exchange,
        /// Text of the error to send if that replica is gone before the end; `None` if the client cannot get one.
        gone: Option<String>,
        is_over: bool,
    },
}

/// How long nothing may be said on a stream before it says that it is still there.
struct Silence {
    longest: Duration,
    left: Pin<Box<Sleep>>,
}

impl Silence {
    /// No time at all is no end to it.
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
        Self(Kind::Text(None))
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::unread(text.into(), None)
    }

    /// A text, and what it takes up until it is written out.
    pub(super) fn unread(text: String, unread: Option<Permit>) -> Self {
        Self(Kind::Text(Some(counted(text, unread))))
    }

    /// What another replica sends; `gone` is the last message if that is gone before the end.
    pub(super) fn passed(
        parts: mpsc::UnboundedReceiver<Part>,
        exchange: Exchange,
        gone: Option<String>,
    ) -> Self {
        Self(Kind::Passed {
            parts,
            exchange,
            gone,
            is_over: false,
        })
    }

    /// Takes the text out, if it is one.
    pub(super) fn take_text(&mut self) -> Option<Bytes> {
        match &mut self.0 {
            Kind::Text(text) => Some(text.take().unwrap_or_default()),
            _ => None,
        }
    }

    /// The events of an exchange, up to its answer.
    pub(super) fn exchange(
        first: Option<Next>,
        queue: Queue,
        guard: Option<HangUp>,
        prime: Option<EventId>,
        options: &Options,
    ) -> Self {
        Self(Kind::Events {
            first,
            queue,
            opening: prime.map(|id| nothing_yet(id, options.retry)),
            retry: options.retry,
            ends: true,
            is_over: false,
            guard,
            silence: Silence::new(options.keep_alive),
        })
    }

    /// The events of a session that belong to no exchange.
    pub(super) fn session(queue: Queue, options: &Options) -> Self {
        Self(Kind::Events {
            first: None,
            queue,
            opening: None,
            retry: options.retry,
            ends: false,
            is_over: false,
            guard: None,
            silence: Silence::new(options.keep_alive),
        })
    }

    /// All events of a session that has one stream; the first says where its messages go, and the session ends with it.
    pub(super) fn only_stream(
        queue: Queue,
        endpoint: &str,
        guard: HangUp,
        options: &Options,
    ) -> Self {
        Self(Kind::Events {
            first: None,
            queue,
            opening: Some(format!("event: endpoint\ndata: {endpoint}\n\n")),
            retry: options.retry,
            ends: false,
            is_over: false,
            guard: Some(guard),
            silence: Silence::new(options.keep_alive),
        })
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let (first, queue, opening, retry, ends, is_over, guard, silence) = match &mut self.0 {
            Kind::Passed {
                parts,
                exchange,
                gone,
                is_over,
            } => {
                if *is_over {
                    return Poll::Ready(None);
                }
                let part = std::task::ready!(parts.poll_recv(context));
                if let Some(Part::Data(bytes)) = part {
                    exchange.read(bytes.len());
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                exchange.finish();
                *is_over = true;
                let gone = gone.take().filter(|_| !matches!(part, Some(Part::End)));
                return Poll::Ready(gone.map(|text| Ok(Frame::data(event(None, &text).into()))));
            }
            Kind::Text(text) => return Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Kind::Events {
                first,
                queue,
                opening,
                retry,
                ends,
                is_over,
                guard,
                silence,
            } => (
                first, queue, opening, *retry, *ends, is_over, guard, silence,
            ),
        };
        if *is_over {
            return Poll::Ready(None);
        }
        if let Some(event) = opening.take() {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from(event)))));
        }
        let next = match first.take() {
            Some(next) => Some(next),
            None => match queue.poll_recv(context) {
                Poll::Ready(next) => next,
                Poll::Pending => {
                    let Some(silence) = silence else {
                        return Poll::Pending;
                    };
                    std::task::ready!(silence.poll_too_long(context));
                    silence.broken();
                    return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(STILL_HERE)))));
                }
            },
        };
        if let Some(silence) = silence {
            silence.broken();
        }
        let item = match next {
            Some(Next::Item(item)) => Some(item),
            Some(Next::Pause(behind)) => {
                *is_over = true;
                let event = nothing_yet(behind, retry);
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from(event)))));
            }
            None => None,
        };
        let Some(Item { text, id, unread }) = item else {
            *is_over = true;
            // The guard of an only stream is not disarmed: its session is over, whoever ended it.
            if let Some(guard) = guard.take_if(|_| ends) {
                guard.disarm();
            }
            return Poll::Ready(None);
        };
        if ends && text.last {
            *is_over = true;
            if let Some(guard) = guard.take() {
                guard.disarm();
            }
        }
        let event = counted(event(id, &text.body), unread);
        Poll::Ready(Some(Ok(Frame::data(event))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Text(text) => text.is_none(),
            Kind::Events { is_over, .. } | Kind::Passed { is_over, .. } => *is_over,
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match &self.0 {
            Kind::Text(text) => {
                http_body::SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
            Kind::Events { .. } | Kind::Passed { .. } => http_body::SizeHint::default(),
        }
    }
}

/// A text that counts as unread as long as the connection holds any of it.
struct Counted {
    text: String,
    _unread: Permit,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

fn counted(text: String, unread: Option<Permit>) -> Bytes {
    match unread {
        Some(unread) => Bytes::from_owner(Counted {
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

/// A text as a server-sent event.
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
            Kind::Text(_) => "Body(text)",
            Kind::Events { .. } => "Body(events)",
            Kind::Passed { .. } => "Body(passed)",
        })
    }
}
