//! The events of a response, and where they left off.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming as Body;
use sse_stream::SseStream;

/// A stream of events that is read.
pub(super) struct Events {
    stream: SseStream<Body>,
    /// The event to go on after, if the stream breaks.
    pub(super) last_id: Option<String>,
    /// How long the server wants to be left alone before that.
    pub(super) retry: Option<Duration>,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        Self {
            stream: SseStream::new(body),
            last_id: None,
            retry: None,
        }
    }

    /// The next message; none if the stream has ended, or broke.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let event = self.stream.next().await?.ok()?;
            if let Some(id) = event.id {
                self.last_id = Some(id);
            }
            if let Some(retry) = event.retry {
                self.retry = Some(Duration::from_millis(retry));
            }
            // Events without data are there for their id alone.
            match event.data {
                Some(data) if !data.is_empty() => return Some(data.into_bytes()),
                _ => {}
            }
        }
    }
}

/// A whole body, if it is not longer than it may be.
pub(super) async fn whole(body: Body, limit: usize) -> Option<Bytes> {
    let body = Limited::new(body, limit.saturating_add(1))
        .collect()
        .await
        .ok()?;
    Some(body.to_bytes())
}
