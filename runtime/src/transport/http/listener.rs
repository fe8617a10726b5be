//! A service on a listener; on loopback unless the caller has bound it elsewhere.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::CONNECTION;
use http::{HeaderValue, Method, Request, Response};
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

use super::connections::{ConnectionRoom, Connections};
use super::socket::{Socket, hung_up};
use super::{Options, PeerAddress, PeerConnection, Service};
use crate::serve::Budget;
use crate::transport::BoxError;
use crate::transport::spawn::{Boxed, boxed, until};
use crate::{headers, methods};
use mcp_revisions_sansio::server::Owner;

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

/// Maximum number of connections that wait to be accepted: fewer would make a burst of clients try again after a second.
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

/// Serves HTTP/1.1 on a listener until `stop` is over, and what is at work then is done.
///
/// From then on the [readiness](Options::with_readiness) is 503, while calls are served for the time of
/// [`Options::with_lame_duck`]. Then new calls get status 503, and so do requests for the [health](Options::with_health) of the
/// service, over connections that are open and new ones; what belongs to open calls is served, as [`Service::close`] says.
/// Streams without an open call end at once. Open calls may finish within `grace`; then the listener is closed, and calls
/// that are still at work end with an error.
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
        serve_each(
            listener,
            &options,
            service.clone(),
            &service,
            stopped,
            grace,
        )
        .await;
    })
}

/// Serves layers around a service on a listener as [`serve_until`] serves the service, which is drained as it is there: an
/// `axum::Router` with the service in it, whose middleware adds a [`Principal`](super::Principal).
pub async fn serve_layered<S, B>(
    listener: TcpListener,
    layers: S,
    service: &impl Drain,
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
    let options = service.options().clone();
    serve_each(listener, &options, layers, service, stop, grace).await;
}

/// Serves any service on a listener, with the limits of `options` for connections; requests have the [`PeerAddress`] and the
/// [`PeerConnection`] of their connection. The service refuses calls itself once `stop` is over; requests that come before
/// that are waited for. Connections that are open after `grace` are closed.
///
/// A [`Service`] in it is not drained: use [`serve_layered`] for that.
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
    let undrained = Undrained(options);
    serve_each(listener, options, service, &undrained, stop, grace).await;
}

/// A service that ends in steps, so that no call is cut: [`Service`] is one.
pub trait Drain: Sync {
    /// Returns the options of the service.
    fn options(&self) -> &Options;

    /// Tells balancers to send calls elsewhere, and serves them as before.
    fn lame_duck(&self);

    /// Refuses new calls.
    fn close(&self);

    /// Waits until no call is open.
    fn drained(&self) -> Boxed<'_, ()>;

    /// Ends the calls that are open with an error, and waits until the errors are on their way.
    fn leave(&self) -> Boxed<'_, ()>;
}

/// A service of which nothing is known but its options.
struct Undrained<'o>(&'o Options);

impl Drain for Undrained<'_> {
    fn options(&self) -> &Options {
        self.0
    }

    fn lame_duck(&self) {}

    fn close(&self) {}

    fn drained(&self) -> Boxed<'_, ()> {
        boxed(std::future::ready(()))
    }

    fn leave(&self) -> Boxed<'_, ()> {
        boxed(std::future::ready(()))
    }
}

/// Time that connections stay open after the last one was accepted.
const LINGER: Duration = Duration::from_millis(250);

/// Maximum time to send the errors of calls that are not done.
const LAST_WORD: Duration = Duration::from_secs(2);

async fn serve_each<S, B>(
    listener: TcpListener,
    options: &Options,
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
                over = Instant::now() + grace;
                continue;
            }
            () = tokio::time::sleep_until(over), if working.is_none() => break,
            // A connection that waits to be accepted would be reset.
            accepted = accept(&listener, &mut waiting, &room, &open_connections) => accepted,
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
        let open_connection = Arc::new(open_connections.open(owner, room));
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
        let (is_stopping, stays) = (Arc::clone(&is_stopping), options.clone());
        let of_calls = Arc::clone(&open_connection);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let call = of_calls.begin_call();
            // A stream of changes makes room for others.
            let call = (!is_change_stream(&request)).then_some(call);
            // A balancer asks again over the connection that it has.
            let is_last = is_stopping.load(Ordering::Acquire) && !stays.is_look(request.uri());
            let extensions = request.extensions_mut();
            extensions.insert(PeerAddress(address));
            extensions.insert(PeerConnection::new(&open));
            let worker = working.as_ref().and_then(mpsc::WeakSender::upgrade);
            let (answered, at_work) = (service.call(request), requests.subscribe());
            async move {
                let mut response: Response<B> = answered.await?;
                if is_last {
                    (response.headers_mut()).insert(CONNECTION, HeaderValue::from_static("close"));
                }
                // It is at work as long as there is more of its body.
                let body = move |error| {
                    let _at_work = (&worker, &at_work, &call);
                    error
                };
                Ok::<_, S::Error>(response.map(|it| it.map_err(body)))
            }
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(options.head_time);
        let mut stop = stopped.clone();
        connections.spawn(async move {
            let connection = builder.serve_connection(TokioIo::new(socket), service);
            let mut connection = std::pin::pin!(connection);
            // A connection that breaks is its client's business.
            tokio::select! {
                _ = connection.as_mut() => {}
                () = hung_up(&stream) => {}
                () = open_connection.evicted() => {}
                _ = stop.changed() => {
                    connection.as_mut().graceful_shutdown();
                    loop {
                        tokio::select! {
                            biased;
                            _ = connection.as_mut() => break,
                            // A request whose head has not arrived is not waited for.
                            () = at_work.closed() => break,
                            // A call at work sends its last word when it is looked at.
                            Ok(()) = stop.changed() => {}
                        }
                    }
                }
            }
        });
    }
    drop(listener);
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

/// Waits for connections to end.
async fn finish(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}

/// Returns whether a request opens a stream of what changes: that of a session, or `subscriptions/listen`.
fn is_change_stream<B>(request: &Request<B>) -> bool {
    let method = request.headers().get(headers::METHOD);
    let listens = method.is_some_and(|method| method == methods::SUBSCRIPTIONS_LISTEN);
    request.method() == Method::GET || listens
}

/// Returns the next connection, once there is room for it. One that is idle makes room.
async fn accept(
    listener: &TcpListener,
    waiting: &mut Option<(TcpStream, IpAddr)>,
    room: &Arc<Semaphore>,
    open_connections: &Connections,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    if waiting.is_none() {
        let (stream, address) = listener.accept().await.ok()?;
        *waiting = Some((stream, address.ip()));
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
