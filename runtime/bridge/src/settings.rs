//! The settings of a bridge.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::layer::Layers;
use mcp_revisions::sansio::PeerMistake;
use mcp_revisions::sansio::client::{Client, Options, ServerFacts};
use mcp_revisions::sansio::server::{AppProfile, Server, TaskOptions};
use mcp_revisions::service::client::cache::Cache;
use mcp_revisions::{Limits, RevisionSet, http};
use mcp_revisions_core::{Revision, methods};
use mcp_wire::Json;
use tracing::warn;

use crate::lock::OfferLock;
use crate::servers::ServerPool;
use crate::{ClientSettings, Error, Upstream, identity};

#[derive(Debug)]
pub(crate) struct BridgeSettings {
    pub(crate) upstream: Upstream,
    /// Results that clients share; `None` if each request goes to the server.
    pub(crate) cache: Option<Cache>,
    /// The time that lists of a server are kept whose revision says none.
    pub(crate) list_ttl: Option<Duration>,
    /// The name of the server in metrics and errors.
    pub(crate) name: Option<Arc<str>>,
    /// The sentence about how to sign in, for errors of requests that need it.
    pub(crate) sign_in_advice: Option<Arc<str>>,
    pub(crate) clients: ClientSettings,
    pub(crate) upstream_revisions: RevisionSet,
    /// Maximum time until it is known which revision a server speaks.
    pub(crate) start_timeout: Duration,
    /// The layers around messages: the limit of requests, those of the application, the rules of tools.
    pub(crate) layers: Layers,
    /// The reviewed offer of the server; `None` if clients get all that it offers.
    pub(crate) lock: Option<Arc<OfferLock>>,
    /// The `clientInfo` that the server is sent in place of those of clients.
    pub(crate) client_info: Option<Json>,
    /// The time that an unused server is kept.
    pub(crate) idle: Duration,
    /// The places of servers, which other bridges of one listener share.
    pub(crate) pool: Arc<ServerPool>,
    /// Set if no two connections share a server.
    pub(crate) is_isolated: bool,
    /// Set if its clients are those of a gateway, which has other servers, too.
    pub(crate) is_among_others: bool,
    pub(crate) tasks: TaskOptions,
    pub(crate) http: http::Options,
    /// The keys that sign `requestState`; empty for a random one.
    pub(crate) state_keys: StateKeys,
}

/// Keys that sign `requestState`; debug output shows none of them.
#[derive(Default)]
pub(crate) struct StateKeys(pub(crate) Vec<[u8; 32]>);

impl std::fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StateKeys").field(&self.0.len()).finish()
    }
}

impl BridgeSettings {
    /// Returns the end towards clients, which learns with each of them which server serves it.
    pub(crate) fn server(&self) -> Server {
        let server = Server::late().with_own_tasks(self.tasks.clone());
        let server = (self.state_keys.0.iter())
            .fold(server, |server, key| server.with_request_state_key(*key));
        let (server, name) = (self.clients.serve(server), self.name.clone());
        let limits = *server.limits();
        let limits = Limits {
            // A start has a time of its own.
            introduction_timeout: limits
                .introduction_timeout
                .saturating_add(self.start_timeout),
            ..limits
        };
        server
            .with_limits(limits)
            // The server behind this bridge gave it out, and the one behind another bridge may not know it.
            .with_state_of_this_process()
            .on_mistake(move |mistake| tell(name.as_deref(), "a client", mistake))
    }

    /// Returns the upstream server as its clients see it.
    pub(crate) fn profile(&self, facts: &ServerFacts) -> Result<AppProfile, Error> {
        let profile = AppProfile::new(facts.revision, identity::introduction(facts.clone()))
            .map_err(|why| self.unusable(&why))?;
        Ok(if identity::has_tasks(facts) {
            profile.with_tasks(&self.tasks)
        } else {
            profile
        })
    }

    /// Returns the end towards the upstream server, until it is known what that is.
    pub(crate) fn first_client(&self, app: Revision, options: Options) -> Client {
        let name = self.name.clone();
        Client::new(app, options)
            .on_mistake(move |mistake| tell(name.as_deref(), "the server", mistake))
    }

    /// Returns the end towards the upstream server.
    pub(crate) fn client(&self, app: Revision, options: Options) -> Client {
        self.clients
            .losses
            .of_client(self.first_client(app, options))
    }

    /// Returns the name of the server in lines of the log, if it has one.
    pub(crate) fn label(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the name of the server in errors for its clients.
    pub(crate) fn server_name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.upstream.name())
    }

    /// Returns the error of a server that does not say what it is.
    pub(crate) fn silent(&self, spoken: Revision) -> Error {
        self.unusable(&format!(
            "it speaks {spoken}, and refuses `{}`: its capabilities are not known",
            methods::SERVER_DISCOVER
        ))
    }

    pub(crate) fn unusable(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Upstream {
            name: self.server_name().to_owned(),
            why: why.to_string(),
        }
    }
}

/// Logs the mistake of a peer.
fn tell(server: Option<&str>, peer: &str, mistake: &PeerMistake<'_>) {
    warn!(server, "a mistake of {peer}: {mistake}");
}

#[cfg(test)]
mod tests {
    use crate::{Bridge, Upstream};

    #[test]
    fn no_key_is_in_the_debug_output_of_a_bridge() {
        let bridge = Bridge::new(Upstream::unusable("a", "it is not there"));
        let shown = format!("{:?}", bridge.with_request_state_key([217; 32]));
        assert!(
            shown.contains("StateKeys(1)") && !shown.contains("217"),
            "{shown}"
        );
    }
}
