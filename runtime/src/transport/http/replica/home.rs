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
use super::frame::{self, BodyPiece, ReadBytes, ResponsePart};
use crate::backplane::{ReplicaTarget, detach};
use crate::transport::http::inner::ServiceShared;
use crate::transport::http::{Body, Received, received, text};
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;
use mcp_revisions_core::headers;

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
    let read = watch::Sender::new(0);
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
        let (inner, read, key) = (Arc::clone(inner), read.subscribe(), key.clone());
        async move {
            let mut is_over = inner.replica.is_over.subscribe();
            let response = respond(&inner, &from, number, (head, body), read);
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
        read,
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

/// Takes note of bytes of a response that have been read. Returns whether that is worked on.
pub(super) fn read(replica: &Replica, from: &str, number: u64, bytes: ReadBytes) -> bool {
    let working = lock(&replica.working);
    let Some(working) = working.get(&(from.to_owned(), number)) else {
        return false;
    };
    working.read.send_modify(|read| match bytes {
        ReadBytes::More(bytes) => *read = read.saturating_add(bytes),
        ReadBytes::All(all) => *read = all.max(*read),
    });
    true
}

/// Answers a replica that waits for responses: those that are not worked on here are lost.
pub(super) fn answer(replica: &Replica, from: &str, requests: Vec<(u64, u64)>) {
    for (number, all) in requests {
        if !read(replica, from, number, ReadBytes::All(all)) {
            let lost = frame::response(&replica.address, number, &ResponsePart::Broken);
            detach(replica.backplane.send(ReplicaTarget::One(from), lost));
        }
    }
    let works = frame::works(&replica.address);
    detach(replica.backplane.send(ReplicaTarget::One(from), works));
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
        let lost = frame::response(&replica.address, number, &ResponsePart::Broken);
        detach(replica.backplane.send(ReplicaTarget::One(&from), lost));
    }
}

async fn respond(
    inner: &Arc<ServiceShared>,
    from: &str,
    number: u64,
    (mut head, body): (Parts, Received),
    mut read: watch::Receiver<u64>,
) {
    // Returns whether the reader has it. One that has not ends the response: the reader hears that when it asks about it.
    let send = async |part: ResponsePart| {
        let frame = frame::response(&inner.replica.address, number, &part);
        matches!(inner.replica.send_piece(from, frame).await, Ok(true))
    };
    let session = text(&head.headers, headers::SESSION_ID).map(ToOwned::to_owned);
    head.extensions.insert(FromReplica);
    let admitted = Box::pin(inner.admitted(Box::new(head), body));
    let response: Response<Body> = match &session {
        // A replica that knows this one as the home of a session does not look whether another has taken it over.
        Some(session) => match inner.replica.settled().await {
            Err(why) => *Box::from(why),
            Ok(()) if inner.serves(session) => admitted.await,
            Ok(()) => {
                // A frame that cannot be sent has lost its reader.
                let _ = send(ResponsePart::NotHere).await;
                return;
            }
        },
        None => admitted.await,
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
    let mut sent = 0_u64;
    let mut send_data = async |mut bytes: Bytes| {
        while !bytes.is_empty() {
            let piece = bytes.split_to(bytes.len().min(PIECE));
            // It fails without a sender, which is there for as long as this.
            let _ = (read.wait_for(|read| sent.saturating_sub(*read) < WINDOW as u64)).await;
            sent += piece.len() as u64;
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
