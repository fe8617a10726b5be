//! A server over streamable HTTP: a tower service for axum, hyper and whatever else takes one. Feature `http`.
//!
//! One path takes every revision. Per-request revisions need no session, and each POST is handled by itself;
//! handshake revisions get an `Mcp-Session-Id`, a stream for GET, and DELETE.
//! A call is answered with one JSON object, or with a stream of events if its handler says something before it answers.
//!
//! ```no_run
//! use mcp_revisions::server::{Call, Profile, Server};
//! use mcp_revisions::{V2025_11_25, http, serve::Peer, v2025_11_25 as mcp};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let profile = Profile::new(&mcp::Implementation::new("empty", "1.0"), &mcp::ServerCapabilities::new());
//! let server = Server::<V2025_11_25>::new(profile)?;
//! let service = http::Service::new(server, |call: Call, _: Peer| async move {
//!     Err(mcp_revisions::errors::invalid_params(call.method).error)
//! });
//! // On 127.0.0.1 alone: to be reached from elsewhere, bind a listener of your own, and allow its origins.
//! http::serve(http::bind(8080).await?, service).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Whom it talks to
//! A request whose `Origin` is not allowed is refused with status 403, for it comes from some page in a browser.
//! Allowed are the loopback ones, and those of [`Options::with_origin`]. Who may use the server at all is not decided
//! here: put an authorisation layer before it.

mod body;
mod post;
mod serve;
mod service;

use std::time::Duration;

pub use body::Body;
pub use serve::{bind, serve};
pub use service::Service;

/// How a service behaves over HTTP.
#[derive(Debug, Clone)]
pub struct Options {
    origins: Vec<String>,
    sessions: bool,
    idle: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            sessions: true,
            idle: Duration::from_secs(3600),
        }
    }
}

impl Options {
    /// Loopback origins alone; sessions for handshake revisions, kept for an hour after the last message.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows one more origin, such as `https://app.example.com`.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Opens no sessions: each request of a handshake revision stands alone, and nothing is remembered of `initialize`.
    #[must_use]
    pub fn without_sessions(mut self) -> Self {
        self.sessions = false;
        self
    }

    /// How long a session is kept on which nothing is said.
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Whether a request of this `Origin` is taken.
    fn allows(&self, origin: &str) -> bool {
        self.origins
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(origin))
            || is_loopback(origin)
    }
}

/// Whether an origin is one of this machine.
fn is_loopback(origin: &str) -> bool {
    let lower = origin.to_ascii_lowercase();
    let Some(host) = lower
        .strip_prefix("http://")
        .or_else(|| lower.strip_prefix("https://"))
    else {
        return false;
    };
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address, port),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let number = port.strip_prefix(':').unwrap_or(port);
    let is_port = port.is_empty() || (port.starts_with(':') && number.parse::<u16>().is_ok());
    is_port && ["localhost", "127.0.0.1", "::1"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_origins_are_told_from_those_that_look_like_it() {
        for origin in [
            "http://localhost",
            "http://localhost:3000",
            "https://127.0.0.1:1",
            "http://[::1]:80",
            "HTTP://LOCALHOST",
        ] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "localhost",
            "http://localhost.evil.com",
            "http://127.0.0.1.evil.com",
            "http://evil.com#localhost",
            "http://localhost:x",
            "http://localhost@evil.com",
            "http://[::1]evil.com",
            "http://0.0.0.0",
            "file://localhost",
        ] {
            assert!(!is_loopback(origin), "{origin}");
        }
    }
}
