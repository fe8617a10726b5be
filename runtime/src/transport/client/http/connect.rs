//! The way of a client to a server: the addresses that it may connect to.

use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::options::Http;
use super::resolve::{AddressRule, ConnectFuture, Resolver};
use super::tls::{Proxies, TlsConnector, Trust};
use crate::transport::BoxError;

/// The connector of a client over HTTP.
pub(super) type Connector = TlsConnector<Dialer>;

/// Returns the connector of a client. `rule` is checked on addresses as they were resolved; the server of an HTTP proxy
/// resolves names itself.
pub(super) fn connector(http: &Http, rule: AddressRule) -> Connector {
    http.trust.connector(Dialer {
        socket: http.socket.clone(),
        ..Dialer::new(rule)
    })
}

/// Returns the connector to the addresses that a rule allows, without a proxy: each address is checked here.
pub(super) fn direct_connector(trust: &Trust, rule: AddressRule) -> Connector {
    trust.connector(Dialer {
        proxies: Proxies::default(),
        ..Dialer::new(rule)
    })
}

/// Opens connections, to the server itself or through the proxy that the environment names.
#[derive(Clone)]
pub(super) struct Dialer {
    direct: HttpConnector<Resolver>,
    rule: AddressRule,
    proxies: Proxies,
    /// The socket by which `http://localhost` is reached.
    socket: Option<Arc<Path>>,
}

impl Dialer {
    fn new(rule: AddressRule) -> Self {
        let mut direct = HttpConnector::new_with_resolver(Resolver(rule));
        direct.enforce_http(false);
        Self {
            direct,
            rule,
            proxies: Proxies::from_env(),
            socket: None,
        }
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = ConnectFuture<TokioIo<TcpStream>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let is_local = url.authority().is_some_and(|it| it == "localhost");
        if let Some(socket) = self.socket.clone().filter(|_| is_local) {
            return Box::pin(async move {
                let connected = unix_stream(&socket).await;
                connected.map(TokioIo::new).map_err(|why| {
                    BoxError::from(format!("cannot connect to {}: {why}", socket.display()))
                })
            });
        }
        if let Some(tunnel) = self.proxies.tunnel(&url) {
            return tunnel;
        }
        let host = url.host().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
        if literal.is_ok_and(|address: IpAddr| !(self.rule)(address)) {
            let why = format!("the address of {host} is not allowed here");
            return Box::pin(std::future::ready(Err(why.into())));
        }
        let connecting = self.direct.call(url);
        Box::pin(async move { Ok(connecting.await?) })
    }
}

/// Connects to a socket in the file system. The connection is read and written by the calls of TCP, too.
#[cfg(unix)]
async fn unix_stream(path: &Path) -> io::Result<TcpStream> {
    let stream = tokio::net::UnixStream::connect(path).await?;
    let descriptor = std::os::fd::OwnedFd::from(stream.into_std()?);
    TcpStream::from_std(std::net::TcpStream::from(descriptor))
}

#[cfg(not(unix))]
async fn unix_stream(_: &Path) -> io::Result<TcpStream> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no Unix sockets",
    ))
}
