//! Servers over `https`, whose certificate one has to trust.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use mcp_revisions::http;
use mcp_revisions::service::client::Http;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, pki_types::PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::transports::{call, client, router};

/// A listener behind TLS; who does not get through that is not heard.
struct Secured {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let Ok((stream, from)) = self.tcp.accept().await else {
                continue;
            };
            if let Ok(stream) = self.tls.accept(stream).await {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

#[tokio::test]
async fn a_server_over_tls_is_called_by_whoever_trusts_it() {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let tcp = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://localhost:{}/mcp", tcp.local_addr().unwrap().port());
    let listener = Secured {
        tcp,
        tls: TlsAcceptor::from(Arc::new(config)),
    };
    let service = router()
        .build("example", "1.0.0")
        .unwrap()
        .into_http_service(http::Options::default());
    let app = axum::Router::new().route_service("/mcp", service);
    crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });

    let mut trusted = rustls::RootCertStore::empty();
    trusted.add(certificate).unwrap();
    let trusting = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let quick = || {
        Http::new(&url)
            .unwrap()
            .with_pause(Duration::from_millis(5))
            .with_max_attempts(2)
    };
    let trusting = client().http(quick().with_tls(trusting));
    assert_eq!(call(&trusting, "hello").await, Ok("hello".to_owned()));
    // Nobody vouches for it to those who trust whom browsers trust.
    let stranger = client().http(quick());
    assert!(call(&stranger, "hello").await.is_err());
}
