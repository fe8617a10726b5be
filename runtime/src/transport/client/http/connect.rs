//! The way of a client to a server: the addresses that it may connect to.

use std::net::IpAddr;
use std::task::{Context, Poll};

use ::http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::options::Http;
use super::resolve::{AddressRule, ConnectFuture, Resolver};
use super::tls::{Proxies, TlsConnector};
use crate::transport::BoxError;

/// The connector of a client over HTTP.
pub(super) type Connector = TlsConnector<Dialer>;

/// Returns the connector of a client. `rule` is checked on addresses as they were resolved; the server of an HTTP proxy
/// resolves names itself.
pub(super) fn connector(http: &Http, rule: AddressRule) -> Connector {
    http.trust.connector(Dialer::new(rule))
}

/// Opens connections, to the server itself or through the proxy that the environment names.
#[derive(Clone)]
pub(super) struct Dialer {
    direct: HttpConnector<Resolver>,
    rule: AddressRule,
    proxies: Proxies,
}

impl Dialer {
    fn new(rule: AddressRule) -> Self {
        let mut direct = HttpConnector::new_with_resolver(Resolver(rule));
        direct.enforce_http(false);
        Self {
            direct,
            rule,
            proxies: Proxies::from_env(),
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
