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

use super::options::Http;
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

    /// Returns the trust in the certificates of the file that `SSL_CERT_FILE` names, besides those of web browsers. Returns an
    /// error if the file cannot be read, or has no certificate.
    pub(super) fn from_env() -> Result<Self, Error> {
        let mut trust = Self::default();
        let path = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty());
        if let Some(path) = path {
            (trust.add_file(Path::new(&path)))
                .map_err(|why| Error::transport(format!("SSL_CERT_FILE: {why}")))?;
        }
        Ok(trust)
    }

    /// Trusts the certificates of a file in PEM, too. Returns an error if there are none.
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
    ClientConfig::builder()
        .with_root_certificates(roots(certificates))
        .with_no_client_auth()
}

/// Returns the root certificates of web browsers, and these.
fn roots(certificates: &[CertificateDer<'static>]) -> RootCertStore {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(certificates.iter().cloned());
    roots
}

/// Reads certificates in PEM. Returns an error if there are none.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err("it has no certificate: expected PEM (`BEGIN CERTIFICATE`)".to_owned()),
        Err(error) => Err(format!("it is not valid PEM: {error}")),
    }
}

/// The proxies that the environment names.
#[derive(Clone, Default)]
pub(super) struct Proxies(Arc<ProxyVariables>);

/// The variables of the environment that name the proxy of `https`, and the hosts that have none.
#[derive(Default)]
struct ProxyVariables {
    https: String,
    all: String,
    none: String,
}

impl Proxies {
    pub(super) fn from_env() -> Self {
        let of = |names: [&str; 2]| {
            let mut values = names
                .into_iter()
                .filter_map(|name| std::env::var(name).ok());
            values.find(|value| !value.is_empty()).unwrap_or_default()
        };
        Self(Arc::new(ProxyVariables {
            https: of(["HTTPS_PROXY", "https_proxy"]),
            all: of(["ALL_PROXY", "all_proxy"]),
            none: of(["NO_PROXY", "no_proxy"]),
        }))
    }

    /// Returns a connection to a URL through its proxy; `None` if it has none, as `http` and this machine.
    pub(super) fn tunnel(&self, url: &Uri) -> Option<ConnectFuture<TokioIo<TcpStream>>> {
        if !Self::is_for(url) {
            return None;
        }
        self.0.intercept(url).transpose().map(|proxy| match proxy {
            Ok(proxy) => through(proxy, url.clone()),
            Err(why) => Box::pin(std::future::ready(Err(why.into()))),
        })
    }

    /// Returns whether a URL may have a proxy: `http` and this machine have none.
    fn is_for(url: &Uri) -> bool {
        let host = url
            .host()
            .unwrap_or_default()
            .trim_start_matches('[')
            .trim_end_matches(']');
        let is_here = host == "localhost"
            || host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        url.scheme_str() == Some("https") && !is_here
    }
}

impl ProxyVariables {
    /// Returns the proxy of a URL, if it has one. Returns an error if the value that names the proxy is not a URL with a host.
    /// The error does not show the value, which may have a password.
    fn intercept(&self, url: &Uri) -> Result<Option<Intercept>, String> {
        let matcher = |none: String| {
            let builder = Matcher::builder().all(self.all.clone());
            builder.https(self.https.clone()).no(none).build()
        };
        if self.https.is_empty() && self.all.is_empty() {
            return Ok(None);
        }
        if matcher(String::new()).intercept(url).is_none() {
            return Err("HTTPS_PROXY or ALL_PROXY: expected http://HOST:PORT".to_owned());
        }
        let port = url.port_u16().unwrap_or(443);
        Ok(matcher(self.without_proxy(port)).intercept(url))
    }

    /// Returns the hosts that have no proxy at a port, separated by commas: `NO_PROXY` may have spaces between them, brackets
    /// around an address, `*.` or `.` before a domain, `.` behind it, and a port that an entry is for.
    fn without_proxy(&self, port: u16) -> String {
        let entries = self.none.split([',', ' ', '\t', '\n']);
        let read = |entry: &str| {
            let (host, own_port) = match entry.rsplit_once(':') {
                Some((host, own)) if !host.contains(':') || host.ends_with(']') => {
                    (host, Some(own))
                }
                _ => (entry, None),
            };
            let is_for = own_port.is_none_or(|own| own.parse() == Ok(port));
            let name = host.trim_start_matches("*.").trim_matches(['[', ']']);
            is_for.then(|| name.strip_suffix('.').unwrap_or(name).to_owned())
        };
        let hosts = entries.filter_map(read).filter(|it| !it.is_empty());
        // A URL may name its host with the dot at the end.
        let spelled: Vec<String> = hosts.map(|host| format!("{host},{host}.")).collect();
        spelled.join(",")
    }
}

impl Http {
    /// Trusts the certificates of a file in PEM, besides the root certificates of web browsers. It does nothing where
    /// [`with_tls`](Self::with_tls) is used.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or has no certificate.
    pub fn with_ca_file(mut self, path: &Path) -> Result<Self, Error> {
        self.trust.add_file(path)?;
        Ok(self)
    }

    /// Returns the root certificates that are trusted, for a program that examines servers.
    #[doc(hidden)]
    #[must_use]
    pub fn trusted_roots(&self) -> RootCertStore {
        roots(&self.trust.certificates)
    }

    /// Returns the host and port of the proxy that the environment names for this server, for a program that examines servers.
    /// Returns an error if the value that names the proxy is not a URL.
    #[doc(hidden)]
    pub fn proxy(&self) -> Result<Option<String>, String> {
        let proxies = Proxies::from_env();
        let proxy = if Proxies::is_for(&self.url) {
            proxies.0.intercept(&self.url)?
        } else {
            None
        };
        Ok(proxy.map(|proxy| {
            let at = proxy.uri();
            let port = at
                .port_u16()
                .map_or(String::new(), |port| format!(":{port}"));
            format!("{}{port}", at.host().unwrap_or_default())
        }))
    }

    /// Sets the TLS configuration for `https`, such as other root certificates; by default those of web browsers.
    pub fn with_tls(mut self, config: ClientConfig) -> Self {
        self.trust.config = Some(config);
        self
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn exceptions_of_a_proxy_have_the_forms_that_other_programs_take() {
        for (none, url, is_direct) in [
            ("", "https://a.example/mcp", false),
            ("*", "https://a.example/mcp", true),
            ("other.example a.example", "https://a.example/mcp", true),
            ("b.example,.example", "https://a.example/mcp", true),
            ("*.example", "https://a.example/mcp", true),
            ("a.example.", "https://a.example/mcp", true),
            ("a.example", "https://a.example./mcp", true),
            (".example", "https://A.Example.:443/mcp", true),
            ("a.example", "https://b.a.example./mcp", true),
            ("a.example", "https://ba.example./mcp", false),
            ("ample", "https://a.example/mcp", false),
            ("a.example:443", "https://a.example/mcp", true),
            ("a.example:8443", "https://a.example/mcp", false),
            ("a.example:8443", "https://a.example:8443/mcp", true),
            ("[2001:db8::1]", "https://[2001:db8::1]/mcp", true),
            ("[2001:db8::1]:443", "https://[2001:db8::1]/mcp", true),
            ("2001:db8::/32", "https://[2001:db8::1]/mcp", true),
            ("10.0.0.0/8", "https://10.1.2.3/mcp", true),
            ("10.0.0.0/8", "https://11.1.2.3/mcp", false),
        ] {
            let variables = ProxyVariables {
                https: "http://proxy.example:3128".to_owned(),
                none: none.to_owned(),
                ..ProxyVariables::default()
            };
            let proxy = variables.intercept(&url.parse().unwrap()).unwrap();
            assert_eq!(proxy.is_none(), is_direct, "{none} {url}");
        }
        for proxy in ["http://me:secret@", "http://", "me:secret@"] {
            let variables = ProxyVariables {
                all: proxy.to_owned(),
                ..ProxyVariables::default()
            };
            let why = variables
                .intercept(&"https://a.example".parse().unwrap())
                .unwrap_err();
            assert!(why.contains("expected http://HOST:PORT") && !why.contains("secret"));
        }
    }
}
