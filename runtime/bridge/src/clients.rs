//! The settings of the end towards clients, which a bridge and a gateway share.

use std::sync::Arc;

use mcp_revisions::layer::Layers;
use mcp_revisions::sansio::LossHook;
use mcp_revisions::sansio::server::Server;
use mcp_revisions::{Limits, RevisionSet, service::boxed};
use mcp_revisions_core::{Severity, UnknownFields};

use crate::ending::BridgeEnding;
use crate::losses::Losses;
use crate::{MessageLosses, RateLimit};

/// The settings by which a [`Bridge`](crate::Bridge) or a [`Gateway`](crate::Gateway) serves its clients.
///
/// ```
/// use mcp_bridge::{Bridge, ClientSettings, Upstream};
/// # fn bridge(upstream: Upstream) -> Bridge {
/// let clients = ClientSettings::new()
///     .with_max_servers(100)
///     .on_loss(|message| eprintln!("{}: {} losses", message.method, message.losses.len()));
/// Bridge::new(upstream).with_clients(clients)
/// # }
/// ```
#[derive(Debug)]
#[must_use]
pub struct ClientSettings {
    pub(crate) revisions: RevisionSet,
    pub(crate) policy: UnknownFields,
    pub(crate) losses: Losses,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) servers: usize,
    servers_of_owner: Option<usize>,
    pub(crate) ending: Arc<BridgeEnding>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            revisions: RevisionSet::all(),
            policy: UnknownFields::Drop,
            losses: Losses::default(),
            rate_limit: None,
            servers: 1_000,
            servers_of_owner: None,
            ending: Arc::default(),
        }
    }
}

impl ClientSettings {
    /// Creates settings by which clients of every revision are served, no loss is rejected, and none reported.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which revisions clients may speak; all by default.
    pub fn with_revisions(mut self, revisions: RevisionSet) -> Self {
        self.revisions = revisions;
        self
    }

    /// Sets whether fields that the older revision does not define are dropped, which is the default, or preserved.
    pub fn with_unknown_fields(mut self, policy: UnknownFields) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the hook that is called with what each message lost, and with each message that was not delivered. The hook of a gateway
    /// gets what messages of clients and those to them lost; those of servers are reported by their bridge.
    ///
    /// The message waits until the hook returns: one that writes hands the text to a queue that drops what it has no room for.
    pub fn on_loss(mut self, hook: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        self.losses.hook = LossHook::new(hook);
        self
    }

    /// Sends an error in place of each message that has a loss of this severity or worse; none by default.
    pub fn with_rejected_loss(mut self, severity: Severity) -> Self {
        self.losses.rejected = Some(severity);
        self
    }

    /// Limits the requests of each client; others get an error with the time to wait. No limit by default. Bridges with clones of
    /// one limit count together. That of a bridge behind a gateway counts what the gateway sends to its server: each page of each
    /// list.
    pub fn with_rate_limit(mut self, limit: RateLimit) -> Self {
        self.rate_limit = Some(limit);
        self
    }

    /// Sets how many connections to the upstream server, or processes of it, are open at a time, and how many sessions of a gateway,
    /// each of which may have a connection to every server; 1000 by default.
    pub fn with_max_servers(mut self, number: usize) -> Self {
        self.servers = number.max(1);
        self
    }

    /// Sets how many of them one owner may have, which is a principal or an address; a tenth of all by default, and at
    /// least 10.
    pub fn with_max_servers_per_client(mut self, number: usize) -> Self {
        self.servers_of_owner = Some(number.max(1));
        self
    }

    /// Sets what ends the grace of open calls early, such as a second signal: they get an error at once. It is awaited once the
    /// bridge is to end.
    pub fn with_early_end(mut self, early: impl Future<Output = ()> + Send + 'static) -> Self {
        self.ending = Arc::new(BridgeEnding::early(boxed(early)));
        self
    }

    /// Returns the layers around messages of clients: the limit of requests.
    pub(crate) fn layers(&self) -> Layers {
        let mut layers = Layers::default();
        if let Some(limit) = self.rate_limit.clone() {
            layers.add(move |message| limit.clone().layer(message));
        }
        layers
    }

    /// Returns the number of servers that one owner may have.
    pub(crate) fn share(&self) -> usize {
        let tenth = (self.servers / 10).max(10);
        self.servers_of_owner.unwrap_or(tenth).min(self.servers)
    }

    /// Returns the end towards clients as they are to be served.
    pub(crate) fn serve(&self, server: Server) -> Server {
        let limits = Limits {
            max_sessions: self.servers,
            max_sessions_per_owner: self.share(),
            ..*server.limits()
        };
        self.losses
            .of_server(server)
            .with_limits(limits)
            .with_revisions(self.revisions)
            .with_unknown_fields(self.policy)
            .with_other_methods()
    }
}
