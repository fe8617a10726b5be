//! The stream that a session of the handshake era may have, for what the server says unasked.

use std::sync::Arc;

use ::http::Method;
use ::http::header::{ACCEPT, CONTENT_TYPE};
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::events::Events;
use super::exchange::{LAST_EVENT_ID, is_stream};
use super::gate::Gate;
use super::request::Requests;
use crate::transport::client::Incoming;

/// How long the end of a session is waited for.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// A session that is listened to; it is left when this is dropped.
pub(super) struct Session {
    id: String,
    requests: Arc<Requests>,
    headers: Vec<(String, String)>,
    stream: AbortHandle,
}

impl Session {
    /// Listens to the session of this id; the headers are those of a message in it.
    pub(super) fn open(
        requests: Arc<Requests>,
        id: &str,
        headers: &[(String, String)],
        tell: mpsc::Sender<Incoming>,
        gate: Gate,
    ) -> Self {
        let mut headers = headers.to_vec();
        let is = |name: &str, other: ::http::HeaderName| name.eq_ignore_ascii_case(other.as_str());
        headers.retain(|(name, _)| !is(name, CONTENT_TYPE) && !is(name, ACCEPT));
        let listening = listen(Arc::clone(&requests), headers.clone(), tell);
        let work = async move {
            gate.opened().await;
            listening.await;
        };
        Self {
            id: id.to_owned(),
            requests,
            headers,
            stream: tokio::spawn(work).abort_handle(),
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

impl Drop for Session {
    fn drop(&mut self) {
        self.stream.abort();
    }
}

async fn listen(
    requests: Arc<Requests>,
    headers: Vec<(String, String)>,
    tell: mpsc::Sender<Incoming>,
) {
    let mut last_id: Option<String> = None;
    let mut broken = 0;
    loop {
        let mut headers = headers.clone();
        headers.push((ACCEPT.to_string(), "text/event-stream".to_owned()));
        if let Some(id) = &last_id {
            headers.push((LAST_EVENT_ID.to_owned(), id.clone()));
        }
        let mut retry = None;
        if let Some(response) = requests.send(&Method::GET, &headers, &Bytes::new()).await {
            // Not every server has such a stream, and a session that is over has none any more.
            if !response.status().is_success() || !is_stream(&response) {
                return;
            }
            let mut events = Events::new(response.into_body());
            while let Some(text) = events.next().await {
                broken = 0;
                let message = Incoming::Message {
                    exchange: None,
                    text,
                };
                if tell.send(message).await.is_err() {
                    return;
                }
            }
            last_id = events.last_id.or(last_id);
            retry = events.retry;
        }
        broken += 1;
        tokio::time::sleep(requests.pause(broken, retry)).await;
    }
}
