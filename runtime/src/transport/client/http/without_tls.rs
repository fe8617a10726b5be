//! The stand-in for TLS of a client over HTTP, without feature `client-tls`: it speaks `http`, and uses no proxy.

use ::http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::resolve::ConnectFuture;
use crate::service::Error;
pub(super) use {NoProxies as Proxies, NoTls as Trust};

/// The connector itself.
pub(super) type TlsConnector<C> = C;

/// The certificates that a client trusts: none.
#[derive(Clone, Default)]
pub(super) struct NoTls {}

impl NoTls {
    /// Unset, since `https` cannot be spoken.
    pub(super) const HAS_TLS: bool = false;

    /// Returns the trust in no certificate. Returns no error.
    pub(super) fn from_env() -> Result<Self, Error> {
        Ok(Self {})
    }

    pub(super) fn connector<C>(&self, dialer: C) -> TlsConnector<C> {
        dialer
    }
}

/// The proxies that the environment names: none is used.
#[derive(Clone, Default)]
pub(super) struct NoProxies {}

impl NoProxies {
    pub(super) fn from_env() -> Self {
        Self {}
    }

    /// Returns `None`: each URL is connected to directly.
    pub(super) fn tunnel(&self, _: &Uri) -> Option<ConnectFuture<TokioIo<TcpStream>>> {
        None
    }
}
