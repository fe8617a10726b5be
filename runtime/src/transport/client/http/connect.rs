//! The way of a client to a server: the addresses it may connect to, the proxy, and the trusted certificates.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use ::http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::options::Http;
use crate::transport::BoxError;

type ConnectFuture<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

#[cfg(feature = "client-tls")]
pub(super) type Connector = hyper_rustls::HttpsConnector<Dialer>;
#[cfg(not(feature = "client-tls"))]
pub(super) use self::Dialer as Connector;

/// Says whether a connection to an address is allowed.
pub(super) type AddressRule = fn(IpAddr) -> bool;

/// Returns the connector of a client. `rule` is checked on addresses as they were resolved; the server of an HTTP proxy
/// resolves names itself.
pub(super) fn connector(http: &Http, rule: AddressRule) -> Connector {
    let dialer = Dialer::new(rule);
    #[cfg(feature = "client-tls")]
    let dialer = {
        let builder = hyper_rustls::HttpsConnectorBuilder::new();
        let builder = match &http.tls {
            Some(config) => builder.with_tls_config(config.clone()),
            None if http.certificates.is_empty() => builder.with_webpki_roots(),
            None => builder.with_tls_config(with_roots(&http.certificates)),
        }
        .https_or_http()
        .enable_http1();
        builder.wrap_connector(dialer)
    };
    #[cfg(not(feature = "client-tls"))]
    let _ = http;
    dialer
}

/// Returns the configuration that trusts the root certificates of web browsers, and these.
#[cfg(feature = "client-tls")]
fn with_roots(certificates: &[rustls::pki_types::CertificateDer<'static>]) -> rustls::ClientConfig {
    let mut roots =
        rustls::RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(certificates.iter().cloned());
    rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Opens connections, to the server itself or through the proxy that the environment names.
#[derive(Clone)]
pub(super) struct Dialer {
    direct: HttpConnector<Resolver>,
    rule: AddressRule,
    #[cfg(feature = "client-tls")]
    proxies: std::sync::Arc<hyper_util::client::proxy::matcher::Matcher>,
}

impl Dialer {
    fn new(rule: AddressRule) -> Self {
        let mut direct = HttpConnector::new_with_resolver(Resolver(rule));
        direct.enforce_http(false);
        Self {
            direct,
            rule,
            #[cfg(feature = "client-tls")]
            proxies: std::sync::Arc::new(hyper_util::client::proxy::matcher::Matcher::from_env()),
        }
    }

    /// Returns the proxy for a URL: of `https` ones that are not on this machine.
    #[cfg(feature = "client-tls")]
    fn proxy(&self, url: &Uri) -> Option<hyper_util::client::proxy::matcher::Intercept> {
        let host = url
            .host()
            .unwrap_or_default()
            .trim_start_matches('[')
            .trim_end_matches(']');
        let is_here = host == "localhost"
            || host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        match url.scheme_str() {
            Some("https") if !is_here => self.proxies.intercept(url),
            _ => None,
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
        #[cfg(feature = "client-tls")]
        if let Some(proxy) = self.proxy(&url) {
            let to_proxy = HttpConnector::new_with_resolver(Resolver(|_| true));
            return through(proxy, to_proxy, url);
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

/// Opens a tunnel through a proxy.
#[cfg(feature = "client-tls")]
fn through(
    proxy: hyper_util::client::proxy::matcher::Intercept,
    to_proxy: HttpConnector<Resolver>,
    url: Uri,
) -> ConnectFuture<TokioIo<TcpStream>> {
    use hyper_util::client::legacy::connect::proxy::Tunnel;
    Box::pin(async move {
        let at = proxy.uri();
        let shown = format!("the proxy at {}", at.host().unwrap_or_default());
        if at.scheme_str() != Some("http") {
            return Err(format!("{shown}: expected http:// in HTTPS_PROXY").into());
        }
        let mut tunnel = Tunnel::new(at.clone(), to_proxy);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        let opened = tunnel.call(url).await;
        opened.map_err(|error| format!("{shown} opens no tunnel: {error}").into())
    })
}

/// Resolves names to the addresses that are allowed.
#[derive(Clone)]
pub(super) struct Resolver(AddressRule);

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = ConnectFuture<std::vec::IntoIter<SocketAddr>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let rule = self.0;
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.iter().filter(|it| rule(it.ip())).copied().collect();
            if allowed.is_empty() && !found.is_empty() {
                Err(format!("the address of {name} is not allowed here").into())
            } else {
                Ok(allowed.into_iter())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_name_is_judged_by_its_addresses_each_time_that_it_is_connected_to() {
        static IS_PUBLIC: AtomicBool = AtomicBool::new(true);
        let mut resolver =
            Resolver(|address| IS_PUBLIC.load(Ordering::SeqCst) || !address.is_loopback());
        let name = || "localhost".parse::<Name>().unwrap();
        assert!(resolver.call(name()).await.unwrap().next().is_some());
        // The same name is another place now: what was found before opens no way to it.
        IS_PUBLIC.store(false, Ordering::SeqCst);
        let why = resolver.call(name()).await.unwrap_err().to_string();
        assert!(
            why.contains("the address of localhost is not allowed here"),
            "{why}"
        );
    }
}
