//! One POST and what answers it: a body, or a stream that is taken up again where it broke.

use std::sync::Arc;
use std::time::Duration;

use ::http::{Method, StatusCode};
use bytes::Bytes;
use mcp_revisions_core::{ProtocolHeader, Revision};
use tokio::time::Instant;

use super::body::{HttpResponseBody, charset, header, is_stream};
use super::events::SseStream;
use super::gate::{Gate, GateKey};
use super::only_stream::OnlyStream;
use super::request::{HttpRequests, Pace, RequestFailure, may_pass};
use crate::transport::client::Incoming;
use crate::transport::queue::QueueSender;
use mcp_revisions_core::headers::{PROTOCOL_VERSION, SESSION_ID};
use mcp_revisions_core::methods::INITIALIZE;
use mcp_revisions_core::{MessageKind, peek};
use mcp_revisions_sansio::client::Post;
use mcp_revisions_sansio::driver::client::{is_per_request_error, may_be_http_sse};
use mcp_revisions_sansio::driver::{own_id, quotable};
use mcp_wire::RawId;

/// Maximum number of times in a row that a stream without any event is asked for again.
const RESUMED: u32 = 5;

/// Sends a message once the gate is open, and hands on what answers it; the key is dropped as soon as anything does.
pub(super) async fn run(
    requests: Arc<HttpRequests>,
    only: Arc<OnlyStream>,
    post: Post,
    tell: QueueSender<Incoming>,
    (gate, key): (Gate, Option<GateKey>),
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
        Err(failure) => {
            tell.send(failure.of(exchange)).await;
            return;
        }
    };
    let (status, session) = (response.status(), header(&response, SESSION_ID));
    let charset = charset(&response);
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
    let code = status.as_u16();
    let body = match body {
        ResponseBody::Events(body) => body,
        ResponseBody::Whole(whole) => {
            let came = match whole.and_then(|body| utf8(body, charset.as_deref())) {
                Ok(body) => Incoming::Answered {
                    exchange,
                    status: code,
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
        status: code,
        session,
        body: None,
    };
    if tell.send(answered).await {
        stream(&requests, &post, body, &tell).await;
        tell.send(Incoming::Ended(exchange)).await;
    }
}

/// Returns a body, unless it is in another charset than that of JSON. Returns the charset that the response names.
fn utf8(body: Bytes, charset: Option<&str>) -> Result<Bytes, String> {
    match charset {
        Some(charset) if std::str::from_utf8(&body).is_err() => Err(format!(
            "the answer is in the charset `{}`: expected UTF-8",
            quotable(charset)
        )),
        _ => Ok(body),
    }
}

/// The body of the response to a POST.
enum ResponseBody {
    /// All of it, or why it did not arrive.
    Whole(Result<Bytes, String>),
    /// A stream of events.
    Events(HttpResponseBody),
}

impl ResponseBody {
    /// Returns whether the body is an error that only servers of the per-request lifecycle send.
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

/// Time that a stream is read after a response with a foreign id, which is the answer if no other comes.
const AFTER_FOREIGN: Duration = Duration::from_secs(10);

/// Hands on the messages of a stream until one of them is the answer; a stream that breaks before is asked for again, if its
/// revision has that.
async fn stream(
    requests: &HttpRequests,
    post: &Post,
    body: HttpResponseBody,
    tell: &QueueSender<Incoming>,
) {
    let Post {
        exchange, headers, ..
    } = post;
    let sent = peek(post.text.as_bytes()).ok();
    let request = sent.and_then(|it| own_id(&it.id?.to_id()?));
    let mut events = SseStream::new(body, requests.limit);
    let (mut resumed, mut pace) = (0, Pace::default());
    let mut until = None;
    loop {
        let opened = Instant::now();
        while let Some(text) = next(&mut events, until).await {
            let response = response_id(&text);
            let message = Incoming::Message {
                exchange: Some(*exchange),
                text,
            };
            let is_answer = response.is_some_and(|id| id.is_none() || id == request);
            if !tell.send(message).await || is_answer {
                return;
            }
            if response.is_some() {
                until = until.or(Instant::now().checked_add(AFTER_FOREIGN));
            }
        }
        if until.is_some() {
            return;
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
        let mut lasted = opened.elapsed();
        let body = loop {
            let pause = pace.pause(requests, lasted, events.retry());
            tokio::time::sleep(pause).await;
            match requests.stream_or_status(headers, Some(id), true).await {
                Ok(Ok(body)) => break body,
                Ok(Err(status)) if may_pass(status) => {}
                Err(RequestFailure::Unreached(_)) => {}
                _ => return,
            }
            resumed += 1;
            if resumed > RESUMED {
                return;
            }
            lasted = Duration::ZERO;
        };
        events = events.continued(body);
    }
}

/// Returns the next message of a stream; `None` at its end, and once its time is over.
async fn next(events: &mut SseStream, until: Option<Instant>) -> Option<Vec<u8>> {
    match until {
        None => events.next().await,
        Some(until) => {
            let message = tokio::time::timeout_at(until, events.next());
            message.await.ok().flatten()
        }
    }
}

/// Returns the request that a response names by its id, of which an error may have none; `None` for other messages.
fn response_id(text: &[u8]) -> Option<Option<i64>> {
    let message = peek(text).ok()?;
    let is_response = matches!(message.kind, MessageKind::Response | MessageKind::Error);
    // No request has the id of one that cannot be read.
    let number = |id: RawId<'_>| id.to_id().as_ref().and_then(own_id).unwrap_or(-1);
    is_response.then(|| message.id.map(number))
}
