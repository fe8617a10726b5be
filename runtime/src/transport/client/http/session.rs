//! The stream that a session of the handshake lifecycle may have, for what the server says unasked.

use std::sync::Arc;

use ::http::{Method, StatusCode};
use bytes::Bytes;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::events::SseStream;
use super::gate::{Gate, GateKey};
use super::request::{HttpRequests, LONGEST_PAUSE, Pace, RequestFailure, may_pass, without_body};
use crate::transport::client::Incoming;
use crate::transport::observe;
use crate::transport::queue::QueueSender;
use crate::transport::spawn::spawn;

/// Time that the calls of a session wait for its stream: messages that the server sends meanwhile have to go somewhere.
const FIRST: std::time::Duration = std::time::Duration::from_millis(500);
/// Maximum time to wait for the end of a session.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// A session that is listened to; it is left when this is dropped.
pub(super) struct SessionStream {
    id: String,
    requests: Arc<HttpRequests>,
    headers: Vec<(String, String)>,
    stream: AbortHandle,
}

impl SessionStream {
    /// Listens to the session of this id once the gate is open; the headers are those of a message in it. The key is
    /// dropped once the server has answered, or could have.
    pub(super) fn open(
        requests: Arc<HttpRequests>,
        id: &str,
        headers: &[(String, String)],
        tell: QueueSender<Incoming>,
        (gate, key): (Gate, GateKey),
    ) -> Self {
        let headers = without_body(headers);
        let listening = listen(
            Arc::clone(&requests),
            id.to_owned(),
            headers.clone(),
            tell,
            Some(key),
        );
        let work = async move {
            gate.opened().await;
            listening.await;
        };
        Self {
            id: id.to_owned(),
            requests,
            headers,
            stream: spawn(work).abort_handle(),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Tells the server that the session is over.
    pub(super) async fn end(self) {
        let nothing = Bytes::new();
        let told = (self.requests).send(&Method::DELETE, &self.headers, &nothing);
        // A server that keeps no sessions, or is gone, need not know.
        let _ = tokio::time::timeout(PATIENCE, told).await;
    }
}

impl Drop for SessionStream {
    fn drop(&mut self) {
        self.stream.abort();
    }
}

async fn listen(
    requests: Arc<HttpRequests>,
    id: String,
    headers: Vec<(String, String)>,
    tell: QueueSender<Incoming>,
    mut key: Option<GateKey>,
) {
    let mut last_id: Option<String> = None;
    let mut was_open = false;
    let (mut retry, mut pace) = (None, Pace::default());
    loop {
        let opened = Instant::now();
        let behind = last_id.clone();
        // A call waits for the first try only.
        let is_attended = key.is_some();
        let answer = requests.stream_or_status(&headers, behind.as_deref(), is_attended);
        let mut answer = std::pin::pin!(answer);
        let early = match key.take() {
            // Whatever becomes of it: a server may say nothing before it has something to say.
            Some(_held) => tokio::time::timeout(FIRST, answer.as_mut()).await.ok(),
            None => None,
        };
        let answer = match early {
            Some(answer) => answer,
            None => answer.await,
        };
        let pause = match answer {
            Ok(Ok(body)) => {
                was_open = true;
                let mut events = SseStream::new(body, requests.limit);
                while let Some(text) = events.next().await {
                    let message = Incoming::Message {
                        exchange: None,
                        text,
                    };
                    if !tell.send(message).await {
                        return;
                    }
                }
                // It would be as long another time.
                if events.is_too_long() {
                    return observe::session_stream_given_up("an event is too long");
                }
                last_id = events.last_id().map(str::to_owned).or(last_id);
                retry = events.retry().or(retry);
                pace.pause(&requests, opened.elapsed(), retry)
            }
            // A server that had the stream, and does not know its session now, has lost that.
            Ok(Err(StatusCode::NOT_FOUND)) if was_open => {
                tell.send(Incoming::SessionLost(id)).await;
                return;
            }
            Ok(Err(status)) if was_open && may_pass(status) => {
                pace.pause(&requests, opened.elapsed(), retry)
            }
            // The next call signs in.
            Ok(Err(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) if was_open => LONGEST_PAUSE,
            Err(RequestFailure::SignIn(_)) => LONGEST_PAUSE,
            Ok(Err(status)) => {
                // Not every server has such a stream.
                if was_open {
                    observe::session_stream_given_up(&format!("HTTP status {status}"));
                }
                return;
            }
            Err(RequestFailure::Unreached(_)) => pace.pause(&requests, opened.elapsed(), retry),
        };
        tokio::time::sleep(pause).await;
    }
}
