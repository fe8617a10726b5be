//! HTTP+SSE, the transport of 2024-11-05: one stream for all that the server says, which begins with the URI to POST to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::http::{Method, Uri};
use bytes::Bytes;
use mcp_wire::RawId;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::events::SseStream;
use super::request::HttpRequests;
use super::url::place;
use crate::transport::client::Incoming;
use crate::transport::panics::lock;
use crate::transport::queue::QueueSender;
use crate::transport::spawn::spawn;
use mcp_revisions_core::headers::SESSION_ID;
use mcp_revisions_core::methods::NOTIFICATIONS_CANCELLED;
use mcp_revisions_core::{MessageKind, peek};
use mcp_revisions_sansio::client::{Exchange, Post};
use mcp_revisions_sansio::driver::own_id;

/// Time that a server has to open the stream and to name the URL for POSTs: a server of another protocol never does.
const OPENED: Duration = Duration::from_secs(10);

/// Time for which a server that has no such stream is not asked for one again: a client may send it `initialize` several times.
const ABSENT: Duration = Duration::from_secs(60);

/// The stream of a server that speaks HTTP+SSE.
#[derive(Default)]
pub(super) struct OnlyStream(Mutex<StreamState>);

#[derive(Default)]
struct StreamState {
    /// Number of streams opened: a reader that comes late must not end the next one.
    opened: u64,
    /// When the server was last found to have no stream.
    absent: Option<Instant>,
    stage: StreamStage,
}

#[derive(Default)]
enum StreamStage {
    /// The server was not found to speak HTTP+SSE.
    #[default]
    Unknown,
    Open(OpenStream),
    /// The stream has ended, and with it the session.
    Over,
}

struct OpenStream {
    /// The address that messages are sent to.
    endpoint: Uri,
    /// The requests that the stream has yet to answer.
    waiting: HashMap<i64, Exchange>,
    reader: AbortHandle,
}

impl OnlyStream {
    /// Returns whether the server speaks HTTP+SSE, as far as is known.
    pub(super) fn is_known(&self) -> bool {
        !matches!(lock(&self.0).stage, StreamStage::Unknown)
    }

    /// Leaves the stream, if there is one, and what is known of the server: nothing more comes in answer to what was sent.
    pub(super) async fn leave(&self, tell: &QueueSender<Incoming>) {
        let before = std::mem::take(&mut lock(&self.0).stage);
        if let StreamStage::Open(open) = before {
            open.reader.abort();
            ended(open.waiting, tell).await;
        }
    }

    /// Opens the stream, if the server has one; what the session is called then. Fails for a server that sends its clients to
    /// another origin.
    pub(super) async fn open(
        self: &Arc<Self>,
        requests: &Arc<HttpRequests>,
        tell: &QueueSender<Incoming>,
    ) -> Result<Option<String>, String> {
        let absent = lock(&self.0).absent;
        if absent.is_some_and(|since| since.elapsed() < ABSENT) {
            return Ok(None);
        }
        let opened = async {
            let body = requests.stream(&[], None).await.ok()??;
            let mut events = SseStream::new(body, requests.limit);
            let first = events.next().await?;
            events.was_endpoint().then_some((events, first))
        };
        let Some((events, first)) = tokio::time::timeout(OPENED, opened).await.ok().flatten()
        else {
            lock(&self.0).absent = Some(Instant::now());
            return Ok(None);
        };
        let named = std::str::from_utf8(&first).ok().map(str::trim);
        let Some(endpoint) = named.and_then(|named| place(requests.url(), named)) else {
            let named = mcp_revisions_core::errors::shortened(&first.escape_ascii().to_string());
            return Err(format!(
                "the server wants messages sent to `{named}`, which is not of its own origin"
            ));
        };
        let session = session_of(&endpoint);
        let mut state = lock(&self.0);
        state.opened += 1;
        let reading = read(Arc::clone(self), state.opened, events, tell.clone());
        state.stage = StreamStage::Open(OpenStream {
            endpoint,
            waiting: HashMap::new(),
            reader: spawn(reading).abort_handle(),
        });
        Ok(session)
    }

    /// Sends a message; what answers it comes in the stream.
    pub(super) async fn post(
        &self,
        requests: &HttpRequests,
        post: Post,
        tell: &QueueSender<Incoming>,
    ) {
        let Post {
            exchange,
            mut headers,
            text,
            ..
        } = post;
        let id = match peek(text.as_bytes()) {
            Ok(message) if message.kind == MessageKind::Request => {
                message.id.and_then(RawId::to_id).as_ref().and_then(own_id)
            }
            Ok(message) if message.method.as_deref() == Some(NOTIFICATIONS_CANCELLED) => {
                let id = message.param("requestId");
                let cancelled = id.and_then(|id| own_id(&id.read().ok()?));
                // The server need not answer it.
                if let Some(exchange) = cancelled.and_then(|id| self.forget(id)) {
                    tell.send(Incoming::Ended(exchange)).await;
                }
                None
            }
            _ => None,
        };
        let answered = |status: u16, body: Vec<u8>| Incoming::Answered {
            exchange,
            status,
            session: None,
            body: Some(body),
        };
        let Some(endpoint) = self.begin(id, exchange) else {
            // As any session that the server does not know any more: its client opens another one.
            tell.send(answered(404, Vec::new())).await;
            return;
        };
        // The URI names the session.
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case(SESSION_ID));
        let body = Bytes::from(text);
        let answer = requests.send_to(endpoint, &Method::POST, &headers, &body);
        let came = match answer.await {
            Err(failure) => failure.of(exchange),
            Ok(response) => {
                let status = response.status();
                let body = requests.whole(response.into_body()).await;
                if !status.is_success() {
                    answered(status.as_u16(), body.unwrap_or_default().to_vec())
                } else if id.is_some() {
                    return;
                } else {
                    // The body of such a response is for people.
                    answered(202, Vec::new())
                }
            }
        };
        // It may have been answered in the stream all the same.
        if id.is_none_or(|id| self.forget(id).is_some()) {
            tell.send(came).await;
        }
    }

    /// Returns the URI for a message, and waits for its answer from now on; `None` after the end of the stream.
    fn begin(&self, id: Option<i64>, exchange: Exchange) -> Option<Uri> {
        match &mut lock(&self.0).stage {
            StreamStage::Open(open) => {
                open.waiting.extend(id.map(|id| (id, exchange)));
                Some(open.endpoint.clone())
            }
            StreamStage::Unknown | StreamStage::Over => None,
        }
    }

    /// Waits no longer for the answer to a request. Returns the exchange that it was sent in, if it was waited for.
    fn forget(&self, id: i64) -> Option<Exchange> {
        match &mut lock(&self.0).stage {
            StreamStage::Open(open) => open.waiting.remove(&id),
            StreamStage::Unknown | StreamStage::Over => None,
        }
    }

    /// Takes the stream of this number, which has ended; `None` if another one is open, or none.
    fn end(&self, number: u64) -> Option<OpenStream> {
        let mut state = lock(&self.0);
        if state.opened != number || !matches!(state.stage, StreamStage::Open(_)) {
            return None;
        }
        match std::mem::replace(&mut state.stage, StreamStage::Over) {
            StreamStage::Open(open) => Some(open),
            StreamStage::Unknown | StreamStage::Over => None,
        }
    }
}

/// Passes on the messages of the stream, until it ends or the receiver is gone.
async fn read(
    stream: Arc<OnlyStream>,
    number: u64,
    mut events: SseStream,
    tell: QueueSender<Incoming>,
) {
    loop {
        let next = tokio::select! {
            next = events.next() => next,
            () = tell.closed() => return,
        };
        let Some(text) = next else { break };
        if events.was_endpoint() {
            continue;
        }
        let exchange = answers(&text).and_then(|id| stream.forget(id));
        if !tell.send(Incoming::Message { exchange, text }).await {
            return;
        }
        if let Some(exchange) = exchange {
            tell.send(Incoming::Ended(exchange)).await;
        }
    }
    let Some(open) = stream.end(number) else {
        return;
    };
    let session = session_of(&open.endpoint);
    ended(open.waiting, &tell).await;
    if let Some(session) = session {
        tell.send(Incoming::SessionLost(session)).await;
    }
}

/// Returns the id of the session whose messages go to this URI.
fn session_of(endpoint: &Uri) -> Option<String> {
    endpoint.path_and_query().map(ToString::to_string)
}

/// Returns the request that a message answers, be its id spelled as a string.
fn answers(text: &[u8]) -> Option<i64> {
    let message = peek(text).ok()?;
    let is_answer = matches!(message.kind, MessageKind::Response | MessageKind::Error);
    own_id(&message.id.filter(|_| is_answer)?.to_id()?)
}

async fn ended(waiting: HashMap<i64, Exchange>, tell: &QueueSender<Incoming>) {
    for exchange in waiting.into_values() {
        tell.send(Incoming::Ended(exchange)).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use std::convert::Infallible;

    use ::http::Response;
    use http_body_util::Full;

    use super::*;
    use crate::transport::client::http::options::Http;
    use crate::transport::queue::queue;

    #[tokio::test]
    async fn a_request_that_is_cancelled_is_waited_for_no_longer() {
        let accepts = |_| async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::new()))) };
        let http = Http::in_process(tower::service_fn(accepts));
        let requests = HttpRequests::new(http, 1 << 10);
        let open = OpenStream {
            endpoint: "http://localhost/messages".parse().unwrap(),
            waiting: HashMap::from([(6, Exchange(1)), (7, Exchange(2))]),
            reader: spawn(std::future::pending::<()>()).abort_handle(),
        };
        let stream = OnlyStream(Mutex::new(StreamState {
            opened: 1,
            absent: None,
            stage: StreamStage::Open(open),
        }));
        let cancelled =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        let post = Post {
            exchange: Exchange(3),
            kind: MessageKind::Notification,
            headers: Vec::new(),
            text: cancelled.to_owned(),
            ends_handshake: false,
        };
        let (tell, mut heard) = queue(1 << 10);
        stream.post(&requests, post, &tell).await;
        let ended = heard.recv().await;
        assert!(matches!(ended, Some(Incoming::Ended(Exchange(2)))));
        assert!(stream.forget(6).is_some() && stream.forget(7).is_none());
    }
}
