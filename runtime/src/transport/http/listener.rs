//! A service on a listener; on loopback unless the caller has bound it elsewhere.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

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
    serve_until(listener, service, std::future::pending(), Duration::ZERO).await;
}

/// Serves HTTP/1.1 on a listener until `stop` is over.
///
/// From then on no connection and no call is taken. What is open may finish within `grace`; then sessions, streams and
/// calls that are still at work end.
pub async fn serve_until<App: Spoken, H: Handler>(
    listener: TcpListener,
    service: Service<App, H>,
    stop: impl Future<Output = ()>,
    grace: Duration,
) {
    let room = Arc::new(Semaphore::new(service.connections()));
    let mut stop = std::pin::pin!(stop);
    let (stopping, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let Some((stream, address, room)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Small answers are not held back for more.
        let _ = stream.set_nodelay(true);
        let inner = TowerToHyperService::new(service.for_address(address));
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(service.head_time());
        let mut stopped = stopped.clone();
        connections.spawn(async move {
            let _room = room;
            let connection = builder.serve_connection(TokioIo::new(stream), inner);
            let mut connection = std::pin::pin!(connection);
            // A connection that breaks is its client's business.
            tokio::select! {
                _ = connection.as_mut() => {}
                _ = stopped.changed() => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
        });
    }
    drop(listener);
    service.close();
    drop(stopping);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, finished).await.is_err() {
        service.end_sessions();
        connections.shutdown().await;
    }
}

/// The next connection, once there is room for it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let room = Arc::clone(room).acquire_owned().await.ok()?;
    let (stream, address) = listener.accept().await.ok()?;
    Some((stream, address.ip(), room))
}

/// How long a listener rests that could not take a connection.
const PAUSE: Duration = Duration::from_millis(50);
