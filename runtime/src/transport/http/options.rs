//! The options of a service over HTTP, with their defaults.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_revisions_sansio::driver::params::Learned;
use mcp_wire::Json;

use super::card::PublicUrl;
use super::guard::ResourceGuard;
use super::inner::Budgets;
use super::metrics::Metrics;
use crate::backplane::Backplane;

/// Maximum number of bytes of names of a router's tools and parameters that are known.
const KNOWN_BYTES: usize = 1 << 20;

/// The options of a service over HTTP.
#[derive(Clone)]
#[must_use]
pub struct Options {
    pub(super) origins: Vec<String>,
    /// Those that are served beside the loopback ones; `None` if every one is.
    pub(super) hosts: Option<Vec<String>>,
    pub(super) cors: bool,
    pub(super) sessions: bool,
    pub(super) idle: Duration,
    pub(super) head_time: Duration,
    pub(super) body_time: Duration,
    pub(super) write_time: Duration,
    pub(super) body_bytes: usize,
    pub(super) unread_bytes: usize,
    /// The budgets of all services with clones of these options; `None` if each has its own.
    pub(super) budgets: Option<Arc<OnceLock<Budgets>>>,
    pub(super) connections: usize,
    pub(super) connections_per_address: Option<usize>,
    pub(super) keep_alive: Duration,
    /// The backplane shared with other replicas, if there is one.
    pub(super) backplane: Option<Arc<dyn Backplane>>,
    pub(super) resumes: bool,
    pub(super) can_move: bool,
    pub(super) retry: Duration,
    /// The path at which the service says whether it takes calls.
    pub(super) health: Option<String>,
    pub(super) health_report: Option<Arc<HealthReport>>,
    /// The path at which the service says whether a balancer is to send requests here.
    pub(super) readiness: Option<String>,
    /// Time that calls are taken after readiness says no.
    pub(super) lame_duck: Duration,
    /// The metrics, and their path.
    pub(super) metrics: Option<Metrics>,
    /// The path of HTTP+SSE, as its clients see it.
    pub(super) http_sse: Option<String>,
    /// The only path that is served, beside those of health and of HTTP+SSE.
    pub(super) path: Option<String>,
    pub(super) params: ParamCheck,
    /// Returns the group of a tool; `None` if all tools are one.
    pub(super) tool_groups: Option<Arc<ToolGroups>>,
    pub(super) guard: Option<Arc<ResourceGuard>>,
    /// The URL of the endpoint whose card is published.
    pub(super) card: Option<PublicUrl>,
}

/// Returns the text for operators about a service that takes calls.
type HealthReport = dyn Fn() -> String + Send + Sync;

/// Returns the group that a tool is of, by its name.
type ToolGroups = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The source of the parameters of tools that headers of a call repeat.
#[derive(Debug, Clone, Default)]
pub(super) enum ParamCheck {
    /// By a `tools/list` of the server's own, for each caller.
    #[default]
    ByList,
    /// By tools that are the same for every caller.
    Known(Arc<Learned>),
    /// They are not checked.
    Off,
}

mcp_wire::debug_struct!([] Options, "Options", self, "origins": self.origins, "hosts": self.hosts, "sessions": self.sessions);

impl Default for Options {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            hosts: Some(Vec::new()),
            cors: false,
            sessions: true,
            idle: Duration::from_secs(3600),
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(60),
            write_time: Duration::from_secs(30),
            body_bytes: 256 << 20,
            unread_bytes: 256 << 20,
            budgets: None,
            connections: 10_000,
            connections_per_address: None,
            keep_alive: Duration::from_secs(15),
            backplane: None,
            resumes: true,
            can_move: true,
            retry: Duration::from_secs(1),
            health: None,
            health_report: None,
            readiness: None,
            lame_duck: Duration::ZERO,
            metrics: None,
            http_sse: None,
            path: None,
            params: ParamCheck::ByList,
            tool_groups: None,
            guard: None,
            card: None,
        }
    }
}

impl Options {
    /// Creates options that allow only loopback names, with sessions for handshake revisions, kept for an hour after the last message.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows one more origin, such as `https://app.example.com`.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Serves one more name of this server, such as `mcp.example.com` or `mcp.example.com:8443`; without a port it is
    /// served on every port.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.get_or_insert_default().push(host.into());
        self
    }

    /// Allows every `Host`: for a server behind a proxy that checks it.
    pub fn with_any_host(mut self) -> Self {
        self.hosts = None;
        self
    }

    /// Answers pages of the origins of [`allow_origin`](Self::allow_origin) that ask whether they may send (CORS), and lets
    /// them read the answers. A loopback origin has to be named there, too.
    pub fn with_cors(mut self) -> Self {
        self.cors = true;
        self
    }

    /// Sets how long the head and the body of a request may take; 30 and 60 seconds by default.
    pub fn with_read_timeouts(mut self, head: Duration, body: Duration) -> Self {
        (self.head_time, self.body_time) = (head, body);
        self
    }

    /// Sets how long [`serve`](super::serve) waits for a client that reads nothing of its answer before it closes the connection;
    /// 30 seconds by default.
    pub fn with_write_timeout(mut self, time: Duration) -> Self {
        self.write_time = time;
        self
    }

    /// Sets how many bytes all requests together may take up while they are read and worked on; 256 MiB by default. Each
    /// client may take up a quarter of it, and one message of
    /// [`Limits::max_message_bytes`](crate::Limits::max_message_bytes) in any case.
    ///
    /// A client is a [`Principal`](super::Principal), else a [`PeerAddress`](super::PeerAddress). Requests that wait for their client's input do not count: they
    /// may take up a quarter as much, all together, with the same shares.
    pub fn with_body_bytes(mut self, bytes: usize) -> Self {
        self.body_bytes = bytes;
        self
    }

    /// Sets how many bytes of answers all clients together may leave unread; 256 MiB by default, of which each client may
    /// leave a quarter. A longer answer becomes an error.
    pub fn with_unread_bytes(mut self, bytes: usize) -> Self {
        self.unread_bytes = bytes;
        self
    }

    /// Lets all services with clones of these options share one set of budgets: those of the bytes of requests and of answers,
    /// and of suspended requests. By default each service has its own. Call it last: the first of the services sets the sizes.
    pub fn with_shared_budgets(mut self) -> Self {
        self.budgets = Some(Arc::default());
        self
    }

    /// Sets how many connections [`serve`](super::serve) keeps open from one address; a quarter of all by default. Raise it where a
    /// proxy has one address for all its clients. Where an address has as many, its longest idle connection makes room, one
    /// without a call; a stream that waits for changes is not a call. Without one, the new connection gets status 503.
    pub fn with_connections_per_address(mut self, connections: usize) -> Self {
        self.connections_per_address = Some(connections);
        self
    }

    /// Sets how many connections [`serve`](super::serve) keeps open at a time; 10,000 by default. Where all are taken, the address that has
    /// most idle ones loses the longest idle one; without one, the new connection waits.
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Sets the interval of keep-alive comments on event streams without messages; 15 seconds by default, zero disables
    /// them.
    pub fn with_keep_alive(mut self, every: Duration) -> Self {
        self.keep_alive = every;
        self
    }

    /// Sets the backplane by which replicas share sessions, tasks, and the events from which a client resumes a broken stream
    /// [default: events are in the memory of the service ([`Memory`](crate::backplane::Memory))].
    ///
    /// All replicas need the same handlers and options, and the same
    /// [key](crate::sansio::Server::with_request_state_key). Requests of a session are handled by the replica that runs it; of the
    /// extensions that a layer has inserted, only [`Principal`](super::Principal), [`PeerAddress`](super::PeerAddress) and
    /// [`TokenClaims`](super::TokenClaims) go there with them.
    pub fn with_backplane(mut self, backplane: impl Backplane) -> Self {
        self.backplane = Some(Arc::new(backplane));
        self
    }

    /// Keeps no events: a client cannot resume a stream.
    pub fn without_events(mut self) -> Self {
        self.resumes = false;
        self
    }

    /// Ends a session with the replica that runs it, instead of moving it to another one: for handlers that keep state of a
    /// session in their process.
    pub fn without_takeover(mut self) -> Self {
        self.can_move = false;
        self
    }

    /// Sets how long a client waits before it resumes a stream; 1 second by default.
    pub fn with_retry(mut self, after: Duration) -> Self {
        self.retry = after;
        self
    }

    /// Serves the health of the service at this path, such as `/healthz`: status 200, or 503 once it is closing.
    pub fn with_health(mut self, path: impl Into<String>) -> Self {
        self.health = Some(path.into());
        self
    }

    /// Adds a text to the [health](Self::with_health) of a service that takes calls, such as a part of it that cannot be used. It
    /// is left out for hosts and origins that are not allowed, and behind a guard.
    pub fn with_health_report(
        mut self,
        report: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        self.health_report = Some(Arc::new(report));
        self
    }

    /// Serves the readiness for a balancer at this path, such as `/readyz`: status 200, or 503 once the service is a
    /// [lame duck](Self::with_lame_duck). While the [backplane](Self::with_backplane) cannot be used, it is 503 if
    /// only revisions with sessions are served, and 200 if other clients can be served.
    pub fn with_readiness(mut self, path: impl Into<String>) -> Self {
        self.readiness = Some(path.into());
        self
    }

    /// Serves metrics at this path, such as `/metrics`: the text that `render` returns, as that of an exporter for Prometheus.
    /// Hosts and origins are checked as for messages; there is no authentication. With feature `metrics`, the service
    /// records its calls by the crate `metrics`.
    pub fn with_metrics(
        mut self,
        path: impl Into<String>,
        render: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        self.metrics = Some(Metrics::new(path.into(), Arc::new(render)));
        self
    }

    /// Sets how long [`serve_until`](super::serve_until) and [`serve_layered`](super::serve_layered) take calls after their stop signal, while the
    /// [readiness](Self::with_readiness) is 503; no time by default. Set it to the time that the balancer needs to notice: the
    /// interval of its checks times the number of failures that it waits for, and a second.
    pub fn with_lame_duck(mut self, time: Duration) -> Self {
        self.lame_duck = time;
        self
    }

    /// Returns the time that a service takes calls after its stop signal.
    #[must_use]
    pub fn lame_duck(&self) -> Duration {
        self.lame_duck
    }

    /// Serves HTTP+SSE at this path, such as `/sse`, beside streamable HTTP: the
    /// [transport of 2024-11-05](https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse),
    /// for clients that speak no other. It is off by default.
    ///
    /// `GET` opens a session, whose one stream begins with the URI to POST to; the session ends with the stream. Access
    /// control, limits, budgets and owners are those of streamable HTTP, which is served at this path, too. The id of the
    /// session is part of the URI: keep it out of logs. There are no such sessions where there are
    /// [none](Self::without_sessions), or where no handshake revision is served.
    ///
    /// Give the path as clients see it. If a proxy or a router in front removes a prefix, the rest is matched from its end:
    /// `/tools/sse` also serves requests for `/sse`.
    pub fn with_http_sse(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.http_sse = Some(if path.starts_with('/') {
            path
        } else {
            format!("/{path}")
        });
        self
    }

    /// Serves this path, such as `/mcp`, those of [`with_health`](Self::with_health),
    /// [`with_readiness`](Self::with_readiness), [`with_metrics`](Self::with_metrics) and
    /// [`with_http_sse`](Self::with_http_sse), and the metadata of a resource guard; requests for another path get
    /// status 404. Without it every path is served.
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Disables sessions: requests of handshake revisions are handled statelessly, and `initialize` is not remembered.
    pub fn without_sessions(mut self) -> Self {
        self.sessions = false;
        self
    }

    /// Sets how long a session without messages is kept; 1 hour by default.
    pub fn with_idle_timeout(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Does not compare the headers `Mcp-Param-*` of a 2026-07-28 call with its arguments [default: they are compared, as the
    /// specification asks of servers; a call in which they differ gets error -32020].
    ///
    /// Tools name these headers by `x-mcp-header`. The tools of a `Router` are known; other handlers,
    /// and a router with `dynamic_tools`, are sent a `tools/list` of the server's own before the first such call of each
    /// caller, with its headers, all pages, and again after 60 seconds. The call waits for it, for 10 seconds at most.
    /// [`Counters`](super::Counters) leave it out. Switch the check off if that costs too much and no proxy on the way decides by these
    /// headers.
    pub fn without_param_check(mut self) -> Self {
        self.params = ParamCheck::Off;
        self
    }

    /// Sets the groups of tools: the check of a call lists the tools of its group, which a [`ListedTool`](super::ListedTool) names.
    #[doc(hidden)]
    pub fn with_tool_groups(
        mut self,
        group: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.tool_groups = Some(Arc::new(group));
        self
    }

    /// Requires an access token of requests, as the guard says, and serves the metadata by which clients find out where to
    /// sign in. Those of [`with_health`](Self::with_health), [`with_readiness`](Self::with_readiness) and
    /// [`with_metrics`](Self::with_metrics) need none. There is no guard without this.
    pub fn with_guard(mut self, guard: ResourceGuard) -> Self {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// Uses the tools of a `tools/list` result for every caller, unless the parameters are not checked.
    pub(crate) fn with_known_tools(mut self, page: &Json) -> Self {
        if matches!(self.params, ParamCheck::ByList) {
            let mut learned = Learned::within(KNOWN_BYTES);
            learned.learn(page);
            self.params = ParamCheck::Known(Arc::new(learned));
        }
        self
    }

    /// Allows these hosts and origins as well.
    pub(crate) fn allowing(mut self, hosts: Vec<String>, origins: Vec<String>) -> Self {
        self.origins.extend(origins);
        if let Some(own) = &mut self.hosts {
            own.extend(hosts);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_by_default_what_their_docs_say() {
        let (source, _) = include_str!("options.rs")
            .split_once("mod tests")
            .unwrap_or_default();
        let docs = source.replace("\n    /// ", " ");
        let is = Options::default();
        let seconds = Duration::from_secs;
        for (says, is_so) in [
            (
                "take; 30 and 60 seconds by default",
                (is.head_time, is.body_time) == (seconds(30), seconds(60)),
            ),
            (
                "closes the connection; 30 seconds by default",
                is.write_time == seconds(30),
            ),
            (
                "read and worked on; 256 MiB by default",
                is.body_bytes == 256 << 20,
            ),
            (
                "leave unread; 256 MiB by default",
                is.unread_bytes == 256 << 20,
            ),
            (
                "one address; a quarter of all by default",
                is.connections_per_address.is_none(),
            ),
            ("at a time; 10,000 by default", is.connections == 10_000),
            (
                "without messages; 15 seconds by default",
                is.keep_alive == seconds(15),
            ),
            (
                "resumes a stream; 1 second by default",
                is.retry == seconds(1),
            ),
            ("is kept; 1 hour by default", is.idle == seconds(3600)),
            ("is 503; no time by default", is.lame_duck.is_zero()),
        ] {
            assert!(docs.contains(says), "no option says: {says}");
            assert!(is_so, "{says}");
        }
        assert_eq!(
            docs.matches(" by default").count(),
            11,
            "an option is not compared"
        );
    }
}
