//! The bridge's end towards clients: standard streams for one, HTTP for many.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use mcp_registry::Spoken;
use mcp_revisions::serve::Handler;
use mcp_revisions::server::Server;
use mcp_revisions::{http, stdio};
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::greeting::Greeting;

/// How long what is open may take to finish once the bridge is told to end.
const GRACE: Duration = Duration::from_secs(5);

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
pub(super) async fn over_http<App: Spoken>(
    address: SocketAddr,
    server: Server<App>,
    handler: impl Handler,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
    let options = http::Options::new().with_health(HEALTH);
    let service = http::Service::with_options(server, handler, options);
    info!("listening on http://{}/mcp", listener.local_addr()?);
    let stop = async {
        told_to_end().await;
        info!("told to end: what is open has {} s", GRACE.as_secs());
    };
    http::serve_until(listener, service, stop, GRACE).await;
    Ok(())
}

/// Serves the one client over standard streams, until it, its server or the bridge ends.
pub(super) async fn over_stdio<App: Spoken>(
    greeting: Greeting,
    server: Server<App>,
    handler: impl Handler,
    server_ended: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let (input, copied) = greeting.input();
    let ended = async {
        tokio::select! {
            () = copied => {}
            () = server_ended => warn!("the server has ended"),
            () = told_to_end() => info!("told to end: what is open has {} s", GRACE.as_secs()),
        }
        // The pipe ends here, and what was read is answered, if that does not take too long.
        tokio::time::sleep(GRACE).await;
    };
    let served = stdio::serve_on(server, handler, input, tokio::io::stdout());
    tokio::select! {
        served = served => served.context("cannot speak with the client"),
        () = ended => Ok(()),
    }
}

/// Waits until somebody ends the bridge.
async fn told_to_end() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminated = async {
            match signal(SignalKind::terminate()) {
                Ok(mut signal) => {
                    signal.recv().await;
                }
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupted => {}
            () = terminated => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
}
