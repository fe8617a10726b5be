//! One POST and what answers it: a body, or a stream that is taken up again where it broke.

use std::sync::Arc;

use ::http::{Method, StatusCode};
use bytes::Bytes;
use mcp_revisions_core::{ProtocolHeader, Revision};
use tokio::time::Instant;

use super::body::{Body, header, is_stream};
use super::events::Events;
use super::gate::{Gate, Key};
use super::only_stream::OnlyStream;
use super::request::{Pace, Requests};
use crate::headers::{PROTOCOL_VERSION, SESSION_ID};
use crate::methods::INITIALIZE;
use crate::transport::client::Incoming;
use crate::transport::queue::Sender;
use crate::{MessageKind, peek};
use mcp_revisions_sansio::client::{Exchange, Post};
use mcp_revisions_sansio::transport::is_per_request_error;
use mcp_revisions_sansio::transport::may_be_http_sse;

/// Maximum number of times in a row that a stream without any event is asked for again.
const RESUMED: u32 = 5;

/// Sends a message once the gate is open, and hands on what answers it; the key is dropped as soon as anything does.
pub(super) async fn run(
    requests: Arc<Requests>,
    only: Arc<OnlyStream>,
    post: Post,
    tell: Sender<Incoming>,
    (gate, key): (Gate, Option<Key>),
) {
    gate.opened().await;
    let begins = peek(post.text.as_bytes())
        .is_ok_and(|message| message.method.as_deref() == Some(INITIALIZE));
    if begins {
        only.leave(&tell).await;
    } else if only.is_known() {
        return only.post(&requests, post, &tell).await;
    }
    let (exchange, body) = (post.exchange, Bytes::from(post.text.clone()));
    let answer = requests.send(&Method::POST, &post.headers, &body).await;
    drop(key);
    let response = match answer {
        Ok(response) => response,
        Err(why) => {
            tell.send(Incoming::Failed { exchange, why }).await;
            return;
        }
    };
    let (status, session) = (response.status(), header(&response, SESSION_ID));
    let body = if is_stream(&response) {
        ResponseBody::Events(response.into_body())
    } else {
        ResponseBody::Whole(requests.whole(response.into_body()).await)
    };
    if begins && may_be_http_sse(status.as_u16()) && !body.is_per_request_error() {
        match only.open(&requests, &tell).await {
            Ok(Some(session)) => {
                let opened = Incoming::Answered {
                    exchange,
                    status: StatusCode::OK.as_u16(),
                    session: Some(session),
                    body: None,
                };
                if tell.send(opened).await {
                    only.post(&requests, post, &tell).await;
                }
                return;
            }
            Ok(None) => {}
            Err(why) => {
                tell.send(Incoming::Failed { exchange, why }).await;
                return;
            }
        }
    }
    let status = status.as_u16();
    let body = match body {
        ResponseBody::Events(body) => body,
        ResponseBody::Whole(whole) => {
            let came = match whole {
                Ok(body) => Incoming::Answered {
                    exchange,
                    status,
                    session,
                    body: Some(body.to_vec()),
                },
                Err(why) => Incoming::Failed { exchange, why },
            };
            tell.send(came).await;
            return;
        }
    };
    let answered = Incoming::Answered {
        exchange,
        status,
        session,
        body: None,
    };
    if tell.send(answered).await {
        let headers = &post.headers;
        stream(&requests, exchange, headers, body, &tell).await;
        tell.send(Incoming::Ended(exchange)).await;
    }
}

/// The body of the response to a POST.
enum ResponseBody {
    /// All of it, or why it did not arrive.
    Whole(Result<Bytes, String>),
    /// A stream of events.
    Events(Body),
}

impl ResponseBody {
    /// Returns whether it is an error that only servers of the per-request lifecycle send.
    fn is_per_request_error(&self) -> bool {
        let Self::Whole(Ok(bytes)) = self else {
            return false;
        };
        peek(bytes).is_ok_and(|message| is_per_request_error(&message))
    }
}

/// Returns whether the revision of a request with these headers has streams that can be resumed. Where it is not named, it is
/// one without the header, and has.
fn resumes(headers: &[(String, String)]) -> bool {
    let named = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(PROTOCOL_VERSION));
    let revision = named.and_then(|(_, version)| Revision::from_protocol_version(version));
    revision.is_none_or(|revision| revision.has_header(ProtocolHeader::LastEventId))
}

/// Hands on the messages of a stream until one of them is the answer; a stream that breaks before is asked for again, if its
/// revision has that.
async fn stream(
    requests: &Requests,
    exchange: Exchange,
    headers: &[(String, String)],
    body: Body,
    tell: &Sender<Incoming>,
) {
    let mut events = Events::new(body, requests.limit);
    let (mut resumed, mut pace) = (0, Pace::default());
    loop {
        let opened = Instant::now();
        while let Some(text) = events.next().await {
            let is_answer = answers(&text);
            let message = Incoming::Message {
                exchange: Some(exchange),
                text,
            };
            if !tell.send(message).await || is_answer {
                return;
            }
        }
        // A server may close the connection of a call as often as it likes, and wants to be asked again: an event, as the
        // one without data that the specification has it begin with, says that the call goes on. What bounds this is the
        // pace, and the time that the call may take.
        resumed = if events.has_begun() { 1 } else { resumed + 1 };
        let (Some(id), true) = (events.last_id(), resumed <= RESUMED && resumes(headers)) else {
            return;
        };
        // It would be as long another time.
        if events.is_too_long() {
            return;
        }
        let pause = pace.pause(requests, opened.elapsed(), events.retry());
        tokio::time::sleep(pause).await;
        match requests.stream(headers, Some(id)).await {
            Ok(Some(body)) => events = events.continued(body),
            _ => return,
        }
    }
}

/// Returns whether a message answers a request, and so is the last of its stream.
fn answers(text: &[u8]) -> bool {
    peek(text)
        .is_ok_and(|message| matches!(message.kind, MessageKind::Response | MessageKind::Error))
}
