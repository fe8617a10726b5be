//! A service on a listener; on loopback unless the caller has bound it elsewhere.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::accepted::AcceptedConnection;
use super::bound::Listener;
use super::connections::{ConnectionRoom, Connections};
use super::{Options, Service};
use crate::serve::Budget;
use crate::transport::BoxError;
use crate::transport::spawn::{Boxed, boxed, later, until};
use mcp_revisions_sansio::server::Owner;

/// Serves HTTP/1.1 on a listener, on every path, for ever.
/// Dropping the future closes all connections at once.
///
/// A connection that cannot be taken, as when there are too many open files, does not end the others.
pub async fn serve(listener: impl Into<Listener>, service: Service) {
    serve_until(listener, service, std::future::pending(), Duration::ZERO).await;
}

/// Serves HTTP/1.1 on a listener until `stop` is over, and what is at work then is done.
/// Dropping the future closes all connections at once.
///
/// From then on the [readiness](Options::with_readiness) is 503, while calls are served for the time of
/// [`Options::with_lame_duck`]. Then new calls get status 503, and so do requests for the [health](Options::with_health) of the
/// service, over connections that are open and new ones; what belongs to open calls is served, as [`Service::close`] says.
/// Streams without an open call end at once. Open calls may finish within `grace`; then the listener is closed, and calls
/// that are still at work end with an error.
pub async fn serve_until(
    listener: impl Into<Listener>,
    service: Service,
    stop: impl Future<Output = ()>,
    grace: Duration,
) {
    let bound = listener.into();
    until(stop, |stopped| serve_ours(bound, service, stopped, grace)).await;
}

/// Serves our own service: compiled here, for all servers.
#[inline(never)]
fn serve_ours(
    listener: Listener,
    service: Service,
    stopped: Boxed<'static, ()>,
    grace: Duration,
) -> Boxed<'static, ()> {
    boxed(async move {
        serve_layered(listener, service.clone(), &service, stopped, grace).await;
    })
}

/// Serves layers around a service on a listener as [`serve_until`] serves the service, which is drained as it is there: an
/// `axum::Router` with the service in it, whose middleware adds a [`Principal`](super::Principal). Requests have the
/// [`PeerAddress`](super::PeerAddress) and the [`PeerConnection`](super::PeerConnection) of their connection. With [`Options`] to
/// drain, it serves any service, which refuses calls itself once `stop` is over.
/// Dropping the future closes all connections at once.
pub async fn serve_layered<S, B>(
    listener: impl Into<Listener>,
    service: S,
    drain: &impl Drain,
    stop: impl Future<Output = ()>,
    grace: Duration,
) where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let bound = listener.into();
    let options = drain.options();
    let all = options.connections;
    let per_address = options.connections_per_address.unwrap_or(all.div_ceil(4));
    let room = Arc::new(Semaphore::new(all));
    let addresses = Budget::with_share(all, per_address);
    let open_connections = Arc::new(Connections::default());
    // A connection that was accepted, and has no room yet.
    let mut waiting = None;
    let is_stopping = Arc::new(AtomicBool::new(false));
    let stop = async {
        stop.await;
        drain.lame_duck();
        is_stopping.store(true, Ordering::Release);
        if !options.lame_duck.is_zero() {
            tokio::time::sleep(options.lame_duck).await;
        }
        drain.close();
    };
    let mut stop = std::pin::pin!(stop);
    let (stopping, stopped) = watch::channel(());
    // Each request that is at work has a sender: what comes after the stop has none, and is not waited for.
    let (working, mut all_done) = mpsc::channel::<()>(1);
    let mut working = Some(working);
    let all_done = async {
        tokio::join!(all_done.recv(), drain.drained());
    };
    let mut all_done = std::pin::pin!(all_done);
    let mut over = Instant::now();
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            biased;
            () = &mut stop, if working.is_some() => {
                working = None;
                over = later(Instant::now(), grace);
                continue;
            }
            () = tokio::time::sleep_until(over), if working.is_none() => break,
            // A connection that waits to be accepted would be reset.
            accepted = accept(&bound, &mut waiting, &room, &open_connections) => accepted,
            () = &mut all_done, if working.is_none() => break,
        };
        let Some((stream, address, room)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let owner = Owner::at(address);
        let share = addresses.of(owner.clone()).take(1).ok();
        let of_idle = || (open_connections.evict_of(&owner)).map(|room| room.share);
        let Some(share) = share.or_else(of_idle) else {
            // It fits into the buffers of a new connection.
            let _ = stream.try_write(TOO_MANY);
            continue;
        };
        let room = ConnectionRoom { all: room, share };
        let connection = AcceptedConnection {
            stream,
            address,
            place: Arc::new(open_connections.open(owner, room)),
            options: options.clone(),
            is_stopping: Arc::clone(&is_stopping),
            working: working.as_ref().map(mpsc::Sender::downgrade),
        };
        connections.spawn(connection.serve(service.clone(), stopped.clone()));
    }
    drop(bound);
    // The request of a connection that was accepted last is on its way.
    tokio::time::sleep_until(over.min(Instant::now() + LINGER)).await;
    stopping.send_replace(());
    let _ = tokio::time::timeout_at(over, finish(&mut connections)).await;
    let last_word = async {
        let left = drain.leave();
        stopping.send_replace(());
        tokio::join!(left, finish(&mut connections));
    };
    let _ = tokio::time::timeout(LAST_WORD, last_word).await;
    connections.shutdown().await;
}

/// A service that ends in steps, so that no call is cut: [`Service`] is one.
pub trait Drain: Sync {
    /// Returns the options of the service.
    fn options(&self) -> &Options;

    /// Tells balancers to send calls elsewhere, and serves them as before.
    fn lame_duck(&self) {}

    /// Refuses new calls.
    fn close(&self) {}

    /// Waits until no call is open.
    fn drained(&self) -> Boxed<'_, ()> {
        boxed(std::future::ready(()))
    }

    /// Ends the calls that are open with an error, and waits until the errors are on their way.
    fn leave(&self) -> Boxed<'_, ()> {
        boxed(std::future::ready(()))
    }
}

/// Options stand for a service that does not end in steps: calls that come before the stop are waited for.
impl Drain for Options {
    fn options(&self) -> &Options {
        self
    }
}

/// Time that connections stay open after the last one was accepted.
const LINGER: Duration = Duration::from_millis(250);

/// Maximum time to send the errors of calls that are not done.
const LAST_WORD: Duration = Duration::from_secs(2);

/// Waits for connections to end.
async fn finish(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}

/// Returns the next connection, once there is room for it. One that is idle makes room.
async fn accept(
    listener: &Listener,
    waiting: &mut Option<(TcpStream, IpAddr)>,
    room: &Arc<Semaphore>,
    open_connections: &Connections,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    if waiting.is_none() {
        let accepted = listener.accept().await;
        let has_hung_up = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionAborted;
        // Else too many files are open: an idle connection makes room.
        if accepted.as_ref().is_err_and(|error| !has_hung_up(error)) {
            drop(open_connections.evict());
        }
        *waiting = Some(accepted.ok()?);
    }
    let room = loop {
        if let Ok(room) = Arc::clone(room).try_acquire_owned() {
            break room;
        }
        if let Some(room) = open_connections.evict() {
            break room.all;
        }
        // Meanwhile one may become idle.
        let free = Arc::clone(room).acquire_owned();
        if let Ok(Ok(room)) = tokio::time::timeout(PAUSE, free).await {
            break room;
        }
    };
    let (stream, address) = waiting.take()?;
    Some((stream, address, room))
}

/// The answer to a connection from an address that has as many as it may.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 62\r\n\
    Connection: close\r\n\r\ntoo many connections from this address: close one, or reuse it";

/// Time that a listener rests that could not take a connection.
const PAUSE: Duration = Duration::from_millis(50);
