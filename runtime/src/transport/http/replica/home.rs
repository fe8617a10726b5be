//! Requests that other replicas have passed here, and their responses on the way back.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full};
use tokio::sync::{mpsc, watch};

use super::exchange::{PIECE, Replica, WINDOW, Working};
use super::frame::{self, BodyPiece, ResponsePart};
use super::unreachable;
use crate::backplane::{ReplicaTarget, detach};
use crate::headers;
use crate::transport::http::inner::ServiceShared;
use crate::transport::http::{Body, Received, received, text};
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;

/// Marks a request that another replica has passed here: it goes no further.
#[derive(Clone)]
pub(super) struct FromReplica;

/// The body of a request whose pieces come one by one.
struct BodyPieces(mpsc::UnboundedReceiver<BodyPiece>, bool);

impl http_body::Body for BodyPieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let Self(pieces, is_over) = &mut *self;
        if *is_over {
            return Poll::Ready(None);
        }
        let piece = std::task::ready!(pieces.poll_recv(context));
        let broken = || std::io::Error::other("the replica that sends the body is gone");
        *is_over = piece.as_ref().is_none_or(|piece| piece.is_last);
        let frame = piece.map(|piece| Frame::data(piece.bytes));
        Poll::Ready(Some(frame.ok_or_else(broken)))
    }
}

/// Works on a request, and sends its response back.
pub(super) fn take(
    inner: &Arc<ServiceShared>,
    from: String,
    number: u64,
    head: Parts,
    first: BodyPiece,
) {
    let unread = watch::Sender::new(0);
    let key = (from.clone(), number);
    let is_call = head.method == Method::POST;
    let (body, rest) = if first.is_last {
        (received(Full::new(first.bytes)), None)
    } else {
        let (pieces, rest) = mpsc::unbounded_channel();
        // Its reader is here.
        let _ = pieces.send(first);
        (received(BodyPieces(rest, false)), Some(pieces))
    };
    let mut working = lock(&inner.replica.working);
    let task = spawn({
        let (inner, unread, key) = (Arc::clone(inner), unread.clone(), key.clone());
        async move {
            let mut is_over = inner.replica.is_over.subscribe();
            let response = respond(&inner, &from, number, (head, body), &unread);
            let mut response = std::pin::pin!(response);
            let ends = async { drop(is_over.wait_for(|is_over| *is_over).await) };
            // A service that is over says its last word when it is looked at.
            tokio::select! {
                () = &mut response => {}
                () = ends => response.await,
            }
            lock(&inner.replica.working).remove(&key);
        }
    });
    let one = Working {
        task: task.abort_handle(),
        unread,
        body: rest,
        is_call,
    };
    working.insert(key, one);
}

/// Takes the next piece of the body of a request.
pub(super) fn take_piece(replica: &Replica, from: String, number: u64, piece: BodyPiece) {
    if let Some(working) = lock(&replica.working).get_mut(&(from, number)) {
        let is_last = piece.is_last;
        if let Some(body) = &working.body {
            // A request that was answered already takes no more of it.
            let _ = body.send(piece);
        }
        working.body.take_if(|_| is_last);
    }
}

/// So many bytes of a response have been read.
pub(super) fn read(replica: &Replica, from: String, number: u64, bytes: usize) {
    if let Some(working) = lock(&replica.working).get(&(from, number)) {
        (working.unread).send_modify(|unread| *unread = unread.saturating_sub(bytes));
    }
}

/// The client of a request has hung up.
pub(super) fn hung_up(replica: &Replica, from: String, number: u64) {
    if let Some(working) = lock(&replica.working).remove(&(from, number)) {
        working.task.abort();
    }
}

/// Gives up all requests: what was sent to other replicas may not have arrived.
pub(super) fn end_all(replica: &Replica) {
    for ((from, number), working) in std::mem::take(&mut *lock(&replica.working)) {
        working.task.abort();
        let lost = ResponsePart::Lost(crate::errors::replica_unreachable());
        let lost = frame::response(&replica.address, number, &lost);
        detach(replica.backplane.send(ReplicaTarget::One(&from), lost));
    }
}

async fn respond(
    inner: &Arc<ServiceShared>,
    from: &str,
    number: u64,
    (mut head, body): (Parts, Received),
    unread: &watch::Sender<usize>,
) {
    // Returns whether the reader is there.
    let send = async |part: ResponsePart| {
        let frame = frame::response(&inner.replica.address, number, &part);
        match inner.replica.send_piece(from, frame).await {
            Ok(is_there) => is_there,
            // The reader waits for as long, and hears that the request is given up once the backplane is back.
            Err(_) => std::future::pending().await,
        }
    };
    let session = text(&head.headers, headers::SESSION_ID);
    let response: Response<Body> = match session {
        // A replica that knows this one as the home of a session does not look whether another has taken it over.
        Some(_) if !inner.replica.is_settled().await => *Box::from(unreachable()),
        Some(session) if !inner.serves(session) => {
            // A frame that cannot be sent has lost its reader.
            let _ = send(ResponsePart::NotHere).await;
            return;
        }
        _ => {
            head.extensions.insert(FromReplica);
            Box::pin(inner.admitted(head, body)).await
        }
    };
    let (mut head, mut body) = response.into_parts();
    let mut text = body.take_text();
    let whole = text.take_if(|text| text.len() <= PIECE);
    let is_whole = whole.is_some();
    let is_there = send(ResponsePart::Head {
        status: head.status,
        headers: std::mem::take::<HeaderMap>(&mut head.headers),
        body: whole,
        length: text.as_ref().map(|text| text.len() as u64),
    });
    if !is_there.await || is_whole {
        return;
    }
    // If the reader is gone, so is the body: as if the client had hung up.
    let send_data = async |mut bytes: Bytes| {
        while !bytes.is_empty() {
            let piece = bytes.split_to(bytes.len().min(PIECE));
            // It fails without a sender, which is here.
            let _ = unread.subscribe().wait_for(|unread| *unread < WINDOW).await;
            unread.send_modify(|unread| *unread += piece.len());
            if !send(ResponsePart::Data(piece)).await {
                return false;
            }
        }
        true
    };
    if let Some(text) = text
        && !send_data(text).await
    {
        return;
    }
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(bytes) = frame.into_data()
            && !send_data(bytes).await
        {
            return;
        }
    }
    let _ = send(ResponsePart::End).await;
}
