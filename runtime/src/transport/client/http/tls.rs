//! TLS of a client over HTTP: the certificates that it trusts, and the proxy of `https`. Feature `client-tls`.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use ::http::Uri;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tower_service::Service as _;

use super::resolve::{ConnectFuture, Resolver};
use crate::service::Error;
pub(super) use hyper_rustls::HttpsConnector as TlsConnector;

/// The certificates that a client trusts.
#[derive(Clone, Default)]
pub(super) struct Trust {
    pub(super) config: Option<ClientConfig>,
    /// Certificates that are trusted besides those of web browsers.
    certificates: Vec<CertificateDer<'static>>,
}

impl Trust {
    /// Says that `https` can be spoken.
    pub(super) const HAS_TLS: bool = true;

    /// Returns the trust in the certificates of the file that `SSL_CERT_FILE` names, besides those of web browsers.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or has no certificate.
    pub(super) fn from_env() -> Result<Self, Error> {
        let mut trust = Self::default();
        let path = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty());
        if let Some(path) = path {
            (trust.add_file(Path::new(&path)))
                .map_err(|why| Error::transport(format!("SSL_CERT_FILE: {why}")))?;
        }
        Ok(trust)
    }

    /// Trusts the certificates of a file in PEM, too.
    ///
    /// # Errors
    /// Returns why there are none.
    pub(super) fn add_file(&mut self, path: &Path) -> Result<(), Error> {
        let read = std::fs::read(path).map_err(|error| error.to_string());
        let found = read
            .and_then(|pem| certificates(&pem))
            .map_err(|why| Error::transport(format!("{}: {why}", path.display())))?;
        self.certificates.extend(found);
        Ok(())
    }

    /// Returns a connector that speaks TLS over the connections of this one.
    pub(super) fn connector<C>(&self, dialer: C) -> TlsConnector<C> {
        let builder = HttpsConnectorBuilder::new();
        let builder = match &self.config {
            Some(config) => builder.with_tls_config(config.clone()),
            None if self.certificates.is_empty() => builder.with_webpki_roots(),
            None => builder.with_tls_config(with_roots(&self.certificates)),
        }
        .https_or_http()
        .enable_http1();
        builder.wrap_connector(dialer)
    }
}

/// Returns the configuration that trusts the root certificates of web browsers, and these.
fn with_roots(certificates: &[CertificateDer<'static>]) -> ClientConfig {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(certificates.iter().cloned());
    ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Reads certificates in PEM.
///
/// # Errors
/// Returns why there are none.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err("it has no certificate: expected PEM (`BEGIN CERTIFICATE`)".to_owned()),
        Err(error) => Err(format!("it is not valid PEM: {error}")),
    }
}

/// The proxies that the environment names.
#[derive(Clone)]
pub(super) struct Proxies(Arc<Matcher>);

impl Proxies {
    pub(super) fn from_env() -> Self {
        Self(Arc::new(Matcher::from_env()))
    }

    /// Returns a connection to a URL through its proxy; `None` if it has none, as `http` and this machine.
    pub(super) fn tunnel(&self, url: &Uri) -> Option<ConnectFuture<TokioIo<TcpStream>>> {
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
            Some("https") if !is_here => Some(through(self.0.intercept(url)?, url.clone())),
            _ => None,
        }
    }
}

/// Opens a tunnel through a proxy.
fn through(proxy: Intercept, url: Uri) -> ConnectFuture<TokioIo<TcpStream>> {
    let to_proxy = HttpConnector::new_with_resolver(Resolver(|_| true));
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
