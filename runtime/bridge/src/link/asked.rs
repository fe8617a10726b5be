//! Requests over a connection to a server: of clients, and of the server itself.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mcp_revisions::client_transport::Driver;
use mcp_revisions::sansio::client::Token;
use mcp_revisions::sansio::server::Caller;
use mcp_revisions::serve::Peer;
use mcp_wire::Json;

use crate::identity;

/// A request of a client.
#[derive(Debug, Clone)]
pub(crate) struct BridgedRequest {
    pub(crate) method: String,
    /// Method and name: what is known to ask back, or not.
    pub(crate) kind: String,
    /// Set if its client can be asked in its result, and in nothing else.
    pub(super) may_be_asked: bool,
    pub(crate) caller: Arc<Caller>,
    pub(crate) peer: Peer,
    /// The token by which the client wants progress.
    pub(crate) progress_token: Option<Json>,
    /// Set if it wants the server's logs meanwhile.
    pub(crate) wants_logs: bool,
    /// The change of notifications about it.
    pub(crate) rewrite: Option<Rewrite>,
    /// Set if the server asked anything in it.
    pub(super) was_asked: bool,
    /// Set if a line has reported already that notifications are lost.
    pub(super) loses: Arc<AtomicBool>,
}

/// Changes the params of a notification of the server, or drops the notification.
type ParamsChange = dyn Fn(&str, Json) -> Option<Json> + Send + Sync;

/// The change of the notifications about a request on their way to the client; clones are the same.
#[derive(Clone)]
pub(crate) struct Rewrite(Arc<ParamsChange>);

impl Rewrite {
    pub(crate) fn new(change: impl Fn(&str, Json) -> Option<Json> + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    /// Returns the params that the client gets with a notification of this method; `None` if it gets nothing.
    pub(super) fn apply(&self, method: &str, params: Json) -> Option<Json> {
        (self.0)(method, params)
    }
}

impl std::fmt::Debug for Rewrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rewrite")
    }
}

impl BridgedRequest {
    pub(crate) fn new(method: &str, caller: Arc<Caller>, peer: Peer) -> Self {
        Self {
            kind: method.to_owned(),
            may_be_asked: identity::is_asked_in_results(&caller) && identity::may_ask(method),
            method: method.to_owned(),
            caller,
            peer,
            progress_token: None,
            wants_logs: false,
            rewrite: None,
            was_asked: false,
            loses: Arc::default(),
        }
    }
}

/// A request of the server.
pub(super) struct ServerQuestion {
    pub(super) token: Token,
    pub(super) method: String,
    pub(super) params: Json,
    /// Set if a revision has its method.
    pub(super) is_known: bool,
}

/// The connection to a server.
pub(super) type UpstreamDriver = Driver<BridgedRequest>;
