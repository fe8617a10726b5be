//! One connection of a listener: what its requests say of it, and how long it is served.

use std::io;
use std::net::IpAddr;
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
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::{mpsc, watch};

use super::connections::OpenConnection;
use super::socket::{Socket, hung_up};
use super::{Options, PeerAddress, PeerConnection};
use crate::transport::BoxError;
use mcp_revisions_core::{headers, methods};

/// Number of bytes of a head that is read, be it in pieces. One that is not complete by then gets status 431: a suspended
/// request keeps its head.
const HEAD_BYTES: usize = 64 << 10;

/// A connection that a listener has accepted.
pub(super) struct AcceptedConnection {
    pub(super) stream: TcpStream,
    pub(super) address: IpAddr,
    /// The room that it takes, which may be given to another.
    pub(super) place: Arc<OpenConnection>,
    pub(super) options: Options,
    /// Set once no connection is kept open for more requests.
    pub(super) is_stopping: Arc<AtomicBool>,
    /// The sender that each request at work holds, so that the listener waits for it; `None` once that waits for no more.
    pub(super) working: Option<mpsc::WeakSender<()>>,
}

impl AcceptedConnection {
    /// Serves its requests until it ends, its client hangs up, or another connection takes its place. The first change of
    /// `stop` ends it after the request that is at work; each later one lets that request have its last word.
    pub(super) async fn serve<S, B>(self, service: S, mut stop: watch::Receiver<()>)
    where
        S: tower_service::Service<Request<Incoming>, Response = Response<B>>
            + Clone
            + Send
            + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let Self {
            stream,
            address,
            place,
            options,
            is_stopping,
            working,
        } = self;
        // Small answers are not held back for more.
        let _ = stream.set_nodelay(true);
        let at_work = watch::Sender::new(());
        let (reads, writes) = stream.into_split();
        let socket = Socket::new(reads, options.write_time, at_work.clone());
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(options.head_time)
            .max_buf_size(HEAD_BYTES);
        // Requests say over which connection they come, which is open as long as this is kept, and from which address.
        let (service, open) = (TowerToHyperService::new(service), Arc::default());
        let (requests, of_calls) = (at_work.clone(), Arc::clone(&place));
        let service = service_fn(move |mut request: Request<Incoming>| {
            let call = of_calls.begin_call();
            // A stream of changes makes room for others.
            let call = (!is_change_stream(&request)).then_some(call);
            // A balancer asks again over the connection that it has.
            let is_last = is_stopping.load(Ordering::Acquire) && !options.is_look(request.uri());
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
        let connection = builder.serve_connection(TokioIo::new(socket), service);
        let mut connection = Box::pin(connection);
        // A connection that breaks is its client's business.
        tokio::select! {
            _ = connection.as_mut() => {
                drop(connection);
                tokio::select! {
                    () = take_rest(writes) => {}
                    _ = stop.changed() => {}
                }
            }
            () = hung_up(writes.as_ref()) => {}
            () = place.evicted() => {}
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
    }
}

/// Time in which the rest of a request is taken that was answered before it was read, and number of bytes of it.
const REST_TIME: Duration = Duration::from_secs(1);
const REST_BYTES: usize = 1 << 20;

/// Takes what a client still sends on a connection whose last response is written. A socket that is closed before that resets
/// the connection, and the client's system may throw the response away: a request that is refused by its head, such as one
/// without a token, would have no answer.
async fn take_rest(mut writes: OwnedWriteHalf) {
    let rest = async {
        writes.shutdown().await?;
        let stream: &TcpStream = writes.as_ref();
        let mut taken = 0;
        let mut bytes = [0; 1 << 12];
        while taken < REST_BYTES {
            stream.readable().await?;
            match stream.try_read(&mut bytes) {
                Ok(0) => break,
                Ok(more) => taken += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    let _ = tokio::time::timeout(REST_TIME, rest).await;
}

/// Returns whether a request opens a stream of what changes: that of a session, or `subscriptions/listen`.
fn is_change_stream<B>(request: &Request<B>) -> bool {
    let method = request.headers().get(headers::METHOD);
    let listens = method.is_some_and(|method| method == methods::SUBSCRIPTIONS_LISTEN);
    request.method() == Method::GET || listens
}
