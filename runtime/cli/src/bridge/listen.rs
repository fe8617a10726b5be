//! The bridge's end towards clients: standard streams for one, HTTP for many.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, anyhow};

use mcp_revisions::serve::Handler;
use mcp_revisions::server::Server;
use mcp_revisions::{http, stdio};
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::Http;
use super::greeting::Greeting;
use super::patient::Patient;

/// How long what is open may take to finish once the bridge is told to end.
const GRACE: Duration = Duration::from_secs(5);

/// How often it is looked for sessions on which nothing was said for long.
const LOOK: Duration = Duration::from_secs(1);

/// Where whoever looks after the bridge asks whether it takes calls.
const HEALTH: &str = "/healthz";

/// Where clients come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listen {
    /// One, over standard streams.
    Stdio,
    /// Any number, over HTTP.
    Http(SocketAddr),
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "stdio" {
            return Ok(Self::Stdio);
        }
        let wrong = || format!("`{text}` is neither `stdio` nor `http://ADDRESS:PORT/mcp`");
        let rest = text.strip_prefix("http://").ok_or_else(wrong)?;
        let address = rest.split('/').next().unwrap_or(rest);
        let address = address.replace("localhost", "127.0.0.1");
        address.parse().map(Self::Http).map_err(|_| wrong())
    }
}

/// Serves many clients, until the bridge is told to end.
pub(super) async fn over_http(
    listen: Http,
    server: Server,
    handler: impl Handler,
) -> anyhow::Result<()> {
    let Http {
        address,
        room,
        hosts,
        origins,
        http_sse,
    } = listen;
    let listener = TcpListener::bind(address).await;
    let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
    if address.ip().is_unspecified() && hosts.is_empty() {
        warn!("only requests to localhost are served: name the host of others by --allow-host");
    }
    let mut options = http::Options::new()
        .with_health(HEALTH)
        .with_idle(room.idle)
        .allow_host(match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
    options = match hosts.iter().any(|host| host == "*") {
        true => options.with_any_host(),
        false => hosts.into_iter().fold(options, http::Options::allow_host),
    };
    if let Some(path) = http_sse {
        options = options.with_http_sse(path);
    }
    if !origins.is_empty() {
        options = options.with_cors();
    }
    let options = origins
        .into_iter()
        .fold(options, http::Options::allow_origin);
    let service = http::Service::with_options(server, handler, options);
    info!("listening on http://{}/mcp", listener.local_addr()?);
    let idle = service.clone();
    let looked_after = tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK).await;
            idle.end_idle_sessions();
        }
    });
    let stop = async {
        told_to_end().await;
        info!("told to end: what is open has {} s", GRACE.as_secs());
    };
    http::serve_until(listener, service, stop, GRACE).await;
    looked_after.abort();
    Ok(())
}

/// Serves the one client over standard streams, until it, its server or the bridge ends.
///
/// # Errors
/// A client that does not read, and a server that ends while its client is there.
pub(super) async fn over_stdio(
    greeting: Greeting,
    server: Server,
    handler: impl Handler,
    server_ended: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let (input, copied) = greeting.input();
    let ended = async {
        let ended = tokio::select! {
            () = copied => Ok(()),
            () = server_ended => Err(anyhow!("the server has ended")),
            () = told_to_end() => {
                info!("told to end: what is open has {} s", GRACE.as_secs());
                Ok(())
            }
        };
        // The pipe ends here, and what was read is answered, if that does not take too long.
        (ended, tokio::time::sleep(GRACE))
    };
    let served = stdio::serve_on(server, handler, input, Patient::new(tokio::io::stdout()));
    let mut served = std::pin::pin!(served);
    tokio::select! {
        served = &mut served => served.context("cannot speak with the client"),
        (ended, grace) = ended => {
            tokio::select! {
                served = served => served.context("cannot speak with the client"),
                () = grace => {
                    info!("{} s are over: what is still open is given up", GRACE.as_secs());
                    Ok(())
                }
            }
            .and(ended)
        }
    }
}

/// Waits until somebody ends the bridge.
async fn told_to_end() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::SignalKind;
        tokio::select! {
            _ = interrupted => {}
            () = signalled(SignalKind::terminate()) => {}
            // The terminal is gone.
            () = signalled(SignalKind::hangup()) => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
}

/// Waits for a signal.
#[cfg(unix)]
async fn signalled(kind: tokio::signal::unix::SignalKind) {
    match tokio::signal::unix::signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
