//! The bridge's end towards clients: standard streams for one, HTTP for many.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use mcp_bridge::Bridge;
use mcp_revisions::http;
use mcp_revisions::service::client::unix_socket;
use tracing::{info, warn};

use super::Arguments;

/// Time that open connections have to finish once the bridge is closing.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// Path at which operators ask whether the bridge accepts requests.
const HEALTH: &str = "/healthz";

/// The path at which a balancer asks if it may send requests.
const READINESS: &str = "/readyz";

/// The path that is served unless another one is given.
pub(super) const PATH: &str = "/mcp";

/// The place where clients connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listen {
    /// One, over standard streams.
    Stdio,
    /// Any number, over HTTP, at this path.
    Http(ListenAddress, String),
}

/// The address of an HTTP listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Binds a listener.
    pub(super) async fn bind(&self) -> std::io::Result<http::Listener> {
        match self {
            Self::Tcp(address) => http::bind(address).await.map(Into::into),
            #[cfg(unix)]
            Self::Unix(path) => http::bind_unix(path).await,
            #[cfg(not(unix))]
            Self::Unix(_) => Err(std::io::Error::other("this system has no Unix sockets")),
        }
    }

    /// Returns whether only this machine reaches it.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "stdio" {
            return Ok(Self::Stdio);
        }
        if let Some((socket, path)) = unix_socket(text) {
            return Ok(Self::Http(
                ListenAddress::Unix(socket.into()),
                path.to_owned(),
            ));
        }
        let wrong = || {
            let tls = if text.starts_with("https://") {
                "; for TLS, put a reverse proxy before the bridge"
            } else {
                ""
            };
            format!(
                "expected `stdio`, `unix:FILE`, or `http://ADDRESS:PORT/mcp` with an IP address or localhost{tls}"
            )
        };
        let rest = text.strip_prefix("http://").ok_or_else(wrong)?;
        let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_path = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#');
        if !path.bytes().all(is_path) {
            return Err(wrong());
        }
        let path = match path {
            "" => PATH.to_owned(),
            path => format!("/{path}"),
        };
        let socket = address
            .replace("localhost", "127.0.0.1")
            .parse()
            .map_err(|_| wrong())?;
        Ok(Self::Http(ListenAddress::Tcp(socket), path))
    }
}

/// Returns the options over HTTP that the arguments set.
pub(super) fn options(
    address: &ListenAddress,
    path: &str,
    arguments: &Arguments,
) -> anyhow::Result<http::Options> {
    let hosts = &arguments.allow_host;
    let ip = match address {
        ListenAddress::Tcp(address) => address.ip(),
        ListenAddress::Unix(_) => Ipv4Addr::LOCALHOST.into(),
    };
    if ip.is_unspecified() && hosts.is_empty() {
        warn!("only requests to localhost are served: name the host of others by --allow-host");
    }
    let lame_duck = Duration::from_secs(arguments.lame_duck.unwrap_or(0) as u64);
    let idle = Duration::from_secs(arguments.idle_timeout.unwrap_or(1_800) as u64);
    let options = http::Options::new()
        .with_lame_duck(lame_duck)
        .with_idle_timeout(idle)
        .with_health(HEALTH)
        .with_readiness(READINESS)
        .with_path(path)
        .allow_host(match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
    let options = if hosts.iter().any(|host| host == "*") {
        options.with_any_host()
    } else {
        hosts.iter().fold(options, http::Options::allow_host)
    };
    let options = match arguments.guard.guard(&arguments.reach.sign_in)? {
        Some((guard, host)) => options.with_guard(guard).allow_host(host),
        None => options,
    };
    let options = match &arguments.server_card {
        Some(url) => {
            let host = url.split('/').nth(2).unwrap_or_default();
            let published = options.with_server_card(url).context("--server-card")?;
            published.allow_host(host)
        }
        None => options,
    };
    let options = match &arguments.http_sse {
        Some(path) => options.with_http_sse(path),
        None => options,
    };
    let origins = &arguments.allow_origin;
    let options = if origins.is_empty() {
        options
    } else {
        options.with_cors()
    };
    let options = match &arguments.metrics {
        Some(path) => options.with_metrics(path, super::metrics::begin()?),
        None => options,
    };
    Ok(origins.iter().fold(options, http::Options::allow_origin))
}

/// Serves many clients, until the bridge receives a signal to end.
pub(super) async fn over_http(
    address: &ListenAddress,
    path: &str,
    bridge: Bridge,
) -> anyhow::Result<()> {
    let listener = address.bind().await?;
    // Signals are caught before anybody reads that the bridge listens.
    let mut stop = Box::pin(signalled_to_end());
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = std::future::ready(()) => {}
    }
    info!("listening on {listener}{path}");
    let service = bridge.into_service();
    service.serve(listener, stop, GRACE).await;
    Ok(())
}

/// Waits until a signal ends the bridge.
pub(super) async fn signalled_to_end() {
    signalled().await;
    info!(
        "closing: open requests have {} s to finish",
        GRACE.as_secs()
    );
}

/// Waits until a signal ends the bridge that SIGHUP does not end.
pub(super) async fn terminated_to_end() {
    terminated().await;
    info!(
        "closing: open requests have {} s to finish",
        GRACE.as_secs()
    );
}

/// Waits for SIGINT or SIGTERM.
pub(super) async fn terminated() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    tokio::select! {
        _ = interrupted => {}
        () = received(tokio::signal::unix::SignalKind::terminate()) => {}
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
}

/// Acts on each SIGHUP; other systems have none.
pub(super) async fn each_hangup(mut act: impl FnMut()) {
    #[cfg(unix)]
    if let Ok(mut signal) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()) {
        while signal.recv().await.is_some() {
            act();
        }
    }
    #[cfg(not(unix))]
    let _ = &mut act;
    std::future::pending().await
}

/// Waits for a signal that ends a program: SIGINT, SIGTERM or SIGHUP.
pub(super) async fn signalled() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::SignalKind;
        tokio::select! {
            _ = interrupted => {}
            () = received(SignalKind::terminate()) => {}
            // The terminal is gone.
            () = received(SignalKind::hangup()) => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
}

/// Waits for a signal.
#[cfg(unix)]
async fn received(kind: tokio::signal::unix::SignalKind) {
    match tokio::signal::unix::signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
