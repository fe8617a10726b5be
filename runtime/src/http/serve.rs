//! A service on a listener; on loopback unless the caller has bound it elsewhere.

use std::io;
use std::net::Ipv4Addr;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

use super::Service;
use crate::Spoken;
use crate::serve::Handler;

/// A listener on 127.0.0.1, which nobody reaches from another machine.
///
/// # Errors
/// A port that is taken; 0 takes any that is free.
pub async fn bind(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
}

/// Serves HTTP/1.1 on a listener, on every path, until it fails.
///
/// # Errors
/// A listener that takes no connections any more.
pub async fn serve<App: Spoken, H: Handler>(listener: TcpListener, service: Service<App, H>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new());
            // A connection that breaks is its client's business.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
