//! A service on a listener; on loopback unless the caller has bound it elsewhere.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::socket::{Socket, hung_up};
use super::{Options, PeerAddress, PeerConnection, Service};
use crate::protocol::server::Owner;
use crate::serve::Budget;
use crate::transport::spawn::{Boxed, boxed, until};

/// Binds a listener to an address: `("127.0.0.1", 8080)` is reached from this machine only, `("0.0.0.0", 8080)` from every
/// machine that can reach this one. Port 0 takes any that is free.
///
/// Allow the names by which clients reach the server: [`Options::allow_host`](super::Options::allow_host).
///
/// # Errors
/// Returns an error if the name does not resolve, or if no address that it resolves to can be bound: the port is taken,
/// or the address is not one of this machine.
pub async fn bind(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut failed = None;
    for address in tokio::net::lookup_host(address).await? {
        match listen(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                let why = format!("cannot listen on {address}: {error}");
                failed = Some(io::Error::new(error.kind(), why));
            }
        }
    }
    let none = || io::Error::new(io::ErrorKind::InvalidInput, "the name has no address");
    Err(failed.unwrap_or_else(none))
}

/// How many connections wait to be accepted: fewer would make a burst of clients try again after a second.
const BACKLOG: u32 = 4_096;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A server that starts again takes its port back at once; elsewhere this would take the port of another.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves HTTP/1.1 on a listener, on every path, for ever.
///
/// A connection that cannot be taken, as when there are too many open files, does not end the others.
pub async fn serve(listener: TcpListener, service: Service) {
    serve_until(listener, service, std::future::pending(), Duration::ZERO).await;
}

/// Serves HTTP/1.1 on a listener until `stop` is over.
///
/// From then on calls get status 503, and so do requests for the [health](super::Options::with_health) of the service, over
/// connections that are open and new ones. Streams without an open call end at once. Open calls may finish within `grace`;
/// then the listener is closed, and sessions and calls that are still at work end.
pub async fn serve_until(
    listener: TcpListener,
    service: Service,
    stop: impl Future<Output = ()>,
    grace: Duration,
) {
    until(stop, |stopped| {
        serve_ours(listener, service, stopped, grace)
    })
    .await;
}

/// Serves our own service: compiled here, for all servers.
#[inline(never)]
fn serve_ours(
    listener: TcpListener,
    service: Service,
    stopped: Boxed<'static, ()>,
    grace: Duration,
) -> Boxed<'static, ()> {
    boxed(async move {
        let options = service.options().clone();
        let stop = async {
            stopped.await;
            service.close();
        };
        let leave = || service.leave();
        serve_each(listener, &options, service.clone(), stop, grace, leave).await;
    })
}

/// Serves any service on a listener as [`serve_until`] does, with the limits of `options` for connections; requests have
/// the [`PeerAddress`] and the [`PeerConnection`] of their connection. The service refuses calls itself once `stop` is over;
/// requests that come before that are waited for. Connections that are open after `grace` are closed.
pub async fn serve_service<S, B>(
    listener: TcpListener,
    options: &Options,
    service: S,
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
    serve_each(listener, options, service, stop, grace, || ()).await;
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn serve_each<S, B>(
    listener: TcpListener,
    options: &Options,
    service: S,
    stop: impl Future<Output = ()>,
    grace: Duration,
    end: impl FnOnce(),
) where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let all = options.connections;
    let per_address = options.connections_per_address.unwrap_or(all.div_ceil(4));
    let room = Arc::new(Semaphore::new(all));
    let addresses = Budget::with_share(all, per_address);
    let mut stop = std::pin::pin!(stop);
    let (stopping, stopped) = watch::channel(());
    // Each request that is at work has a sender: what comes after the stop has none, and is not waited for.
    let (working, mut all_done) = mpsc::channel::<()>(1);
    let mut working = Some(working);
    let mut over = Instant::now();
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            () = &mut stop, if working.is_some() => {
                working = None;
                over = Instant::now() + grace;
                continue;
            }
            _ = all_done.recv(), if working.is_none() => break,
            () = tokio::time::sleep_until(over), if working.is_none() => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let Some((stream, address, room)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Ok(share) = addresses.of(Owner::at(address)).take(1) else {
            // It fits into the buffers of a new connection.
            let _ = stream.try_write(TOO_MANY);
            continue;
        };
        // Small answers are not held back for more.
        let _ = stream.set_nodelay(true);
        let stream = Arc::new(stream);
        let at_work = watch::Sender::new(());
        let socket = Socket::new(Arc::clone(&stream), options.write_time, at_work.clone());
        // Requests say over which connection they come, which is open as long as this is kept, and from which address.
        let (service, open) = (TowerToHyperService::new(service.clone()), Arc::default());
        let (working, requests) = (
            working.as_ref().map(mpsc::Sender::downgrade),
            at_work.clone(),
        );
        let service = service_fn(move |mut request: Request<Incoming>| {
            let extensions = request.extensions_mut();
            extensions.insert(PeerAddress(address));
            extensions.insert(PeerConnection::new(&open));
            let working = working.as_ref().and_then(mpsc::WeakSender::upgrade);
            let (answered, at_work) = (service.call(request), requests.subscribe());
            async move {
                let response: Response<B> = answered.await?;
                // It is at work as long as there is more of its body.
                let body = move |error| {
                    let _at_work = (&working, &at_work);
                    error
                };
                Ok::<_, S::Error>(response.map(|it| it.map_err(body)))
            }
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(options.head_time);
        let mut stopped = stopped.clone();
        connections.spawn(async move {
            let _room = (room, share);
            let connection = builder.serve_connection(TokioIo::new(socket), service);
            let mut connection = std::pin::pin!(connection);
            // A connection that breaks is its client's business.
            tokio::select! {
                _ = connection.as_mut() => {}
                () = hung_up(&stream) => {}
                _ = stopped.changed() => {
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        biased;
                        _ = connection => {}
                        // A request whose head has not arrived is not waited for.
                        () = at_work.closed() => {}
                    }
                }
            }
        });
    }
    drop(listener);
    drop(stopping);
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout_at(over, finished).await;
    end();
    connections.shutdown().await;
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

/// The answer to a connection from an address that has as many as it may.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 62\r\n\
    Connection: close\r\n\r\ntoo many connections from this address: close one, or reuse it";

/// How long a listener rests that could not take a connection.
const PAUSE: Duration = Duration::from_millis(50);
