//! A service on a listener; on loopback unless the caller has bound it elsewhere.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

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

/// Serves HTTP/1.1 on a listener, on every path, for ever.
///
/// A connection that cannot be taken, as when there are too many open files, does not end the others.
pub async fn serve<App: Spoken, H: Handler>(listener: TcpListener, service: Service<App, H>) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new());
            // A connection that breaks is its client's business.
            let _ = connection
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// How long a listener rests that could not take a connection.
const PAUSE: Duration = Duration::from_millis(50);
