//! Streamable HTTP, at the client's end: each message a POST, and beside them the stream that a session may have. A server
//! that does not speak it is spoken to over HTTP+SSE.

mod authorize;
mod body;
mod card;
mod connect;
mod cookies;
mod events;
mod exchange;
mod gate;
mod header;
mod only_stream;
mod options;
mod raw;
mod request;
mod resolve;
mod session;
#[cfg_attr(not(feature = "client-auth"), path = "without_sign_in.rs")]
pub(in crate::transport) mod sign_in;
#[cfg_attr(not(feature = "client-tls"), path = "without_tls.rs")]
mod tls;
mod url;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::task::AbortHandle;

use super::incoming::{HEARD_BYTES, Incoming};
use super::{RunningTransport, Transport};
use crate::transport::queue::{QueueReceiver, QueueSender, queue};
use crate::transport::spawn::{Boxed, boxed, spawn};
use mcp_revisions_sansio::client::{Exchange, Post};

pub use authorize::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, HttpRequest, RefusalFate, TokenId,
};
pub use card::FoundEndpoint;
use gate::Gate;
use only_stream::OnlyStream;
pub use options::Http;
#[doc(hidden)]
pub use raw::{RawHttp, RawResponse};
use request::HttpRequests;
use session::SessionStream;
#[doc(hidden)]
pub use url::{unix_socket, without_secrets};

/// A server that is talked to.
pub(crate) struct HttpServer {
    requests: Arc<HttpRequests>,
    tell: QueueSender<Incoming>,
    heard: QueueReceiver<Incoming>,
    open: HashMap<Exchange, AbortHandle>,
    session: Option<SessionStream>,
    /// Of a server that speaks HTTP+SSE.
    only: Arc<OnlyStream>,
    gate: Gate,
}

impl Transport {
    /// Creates a transport to a server over HTTP.
    pub fn http(http: Http, limit: usize) -> Self {
        Self::of(HttpServer::new(http, limit))
    }
}

impl HttpServer {
    fn new(http: Http, limit: usize) -> Self {
        let (tell, heard) = queue(HEARD_BYTES);
        Self {
            requests: Arc::new(HttpRequests::new(http, limit)),
            tell,
            heard,
            open: HashMap::new(),
            session: None,
            only: Arc::default(),
            gate: Gate::default(),
        }
    }

    pub(super) fn send(&mut self, post: Post) {
        self.open.retain(|_, task| !task.is_finished());
        let gate = self.gate.clone();
        let mut key = None;
        if post.ends_handshake {
            let (shut, held) = Gate::shut();
            (self.gate, key) = (shut, Some(held));
        }
        if !self.only.is_known() {
            self.listen(&post);
        }
        let exchange = post.exchange;
        let (requests, tell) = (Arc::clone(&self.requests), self.tell.clone());
        let only = Arc::clone(&self.only);
        let work = exchange::run(requests, only, post, tell, (gate, key));
        self.open.insert(exchange, spawn(work).abort_handle());
    }

    pub(super) fn close(&mut self, exchange: Exchange) {
        if let Some(task) = self.open.remove(&exchange) {
            task.abort();
        }
    }

    pub(super) async fn next(&mut self) -> Incoming {
        // The queue is never closed: one of its ends is kept here.
        self.heard.recv().await.unwrap_or(Incoming::Closed)
    }

    /// Opens the stream of a session once the session is spoken in, and leaves that of the one before.
    fn listen(&mut self, post: &Post) {
        let id = post
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(mcp_revisions_core::headers::SESSION_ID));
        let Some((_, id)) = id else { return };
        if self
            .session
            .as_ref()
            .is_none_or(|session| session.id() != id)
        {
            let requests = Arc::clone(&self.requests);
            // The stream is asked for before anything else is sent in the session.
            let (shut, key) = Gate::shut();
            let gate = std::mem::replace(&mut self.gate, shut);
            self.session = Some(SessionStream::open(
                requests,
                id,
                &post.headers,
                self.tell.clone(),
                (gate, key),
            ));
        }
    }

    pub(super) async fn end(self) {
        for task in self.open.into_values() {
            task.abort();
        }
        if let Some(session) = self.session {
            session.end().await;
        }
    }
}

impl RunningTransport for HttpServer {
    fn send(&mut self, post: Post) {
        self.send(post);
    }

    fn close(&mut self, exchange: Exchange) {
        self.close(exchange);
    }

    fn next(&mut self) -> Boxed<'_, Incoming> {
        boxed(self.next())
    }

    fn end(self: Box<Self>) -> Boxed<'static, std::io::Result<()>> {
        boxed(async move {
            Self::end(*self).await;
            Ok(())
        })
    }
}
