//! Requests that other replicas have passed here, and their responses on the way back.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Response};
use http_body_util::{BodyExt, Full};
use tokio::sync::watch;

use super::exchange::{Replica, WINDOW, Working};
use super::frame::{self, Part};
use super::unreachable;
use crate::backplane::{To, detach};
use crate::headers;
use crate::transport::http::inner::Inner;
use crate::transport::http::received;
use crate::transport::http::{Body, text};
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;

/// Marks a request that another replica has passed here: it goes no further.
#[derive(Clone)]
pub(super) struct FromReplica;

/// Works on a request, and sends its response back.
pub(super) fn take(inner: &Arc<Inner>, from: String, number: u64, head: Parts, body: Vec<u8>) {
    let unread = watch::Sender::new(0);
    let key = (from.clone(), number);
    let mut working = lock(&inner.replica.working);
    let task = spawn({
        let (inner, unread, key) = (Arc::clone(inner), unread.clone(), key.clone());
        async move {
            respond(&inner, &from, number, (head, body), &unread).await;
            lock(&inner.replica.working).remove(&key);
        }
    });
    let task = task.abort_handle();
    working.insert(key, Working { task, unread });
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
        let lost = frame::response(&replica.address, number, &Part::Lost);
        detach(replica.backplane.send(To::One(&from), lost));
    }
}

async fn respond(
    inner: &Arc<Inner>,
    from: &str,
    number: u64,
    (mut head, body): (Parts, Vec<u8>),
    unread: &watch::Sender<usize>,
) {
    let backplane = &inner.replica.backplane;
    // Returns whether the reader is there.
    let send = async |part: Part| {
        let frame = frame::response(&inner.replica.address, number, &part);
        match backplane.send(To::One(from), frame).await {
            Ok(is_there) => is_there,
            // The reader waits for as long, and hears that the request is given up once the backplane is back.
            Err(_) => std::future::pending().await,
        }
    };
    let session = text(&head.headers, headers::SESSION_ID);
    let response: Response<Body> = match session {
        // A replica that knows this one as the home of a session does not look whether another has taken it over.
        Some(_) if !inner.replica.is_reachable() => *Box::from(unreachable()),
        Some(session) if inner.is_closing() || !inner.runs(session) => {
            // A frame that cannot be sent has lost its reader.
            let _ = send(Part::NotHere).await;
            return;
        }
        _ => {
            head.extensions.insert(FromReplica);
            let body = Full::new(Bytes::from(body));
            Box::pin(inner.admitted(head, received(body))).await
        }
    };
    let (mut head, mut body) = response.into_parts();
    let whole = body.take_text();
    let is_whole = whole.is_some();
    let is_there = send(Part::Head {
        status: head.status,
        headers: std::mem::take::<HeaderMap>(&mut head.headers),
        body: whole,
    });
    if !is_there.await || is_whole {
        return;
    }
    // If the reader is gone, so is the body: as if the client had hung up.
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else {
            continue;
        };
        // It fails without a sender, which is here.
        let _ = unread.subscribe().wait_for(|unread| *unread < WINDOW).await;
        unread.send_modify(|unread| *unread += bytes.len());
        if !send(Part::Data(bytes)).await {
            return;
        }
    }
    let _ = send(Part::End).await;
}
