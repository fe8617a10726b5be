//! Responses: a message, a stream of events, a refusal of HTTP, a bare status; and the headers that a page may read.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, CACHE_CONTROL, CONTENT_TYPE,
    RETRY_AFTER, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use mcp_wire::RequestId;
use mcp_wire::envelope::write;

use super::Body;
use super::body::SseEvents;
use crate::backplane::Unavailable;
use crate::serve::Permit;
use crate::transport::observe;
use mcp_revisions_sansio::errors::Refusal;

/// The header by which a server asks that its events are passed on as they come.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The headers of responses that a page may read: the session, and the challenge of a guard.
const READABLE: &str = "Mcp-Session-Id, WWW-Authenticate";

/// The response to a request; or a step on the way to it, unless a response is given in its place.
pub(super) type HttpResult<T = Response<Body>> = Result<T, Box<Response<Body>>>;

/// Returns a status that says it all.
pub(super) fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Returns a body of a type beside a status; one that says that it passes says when to try again, too.
pub(super) fn response(code: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if code == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Returns a refusal that names the seconds until the client is to try again.
pub(super) fn refused_for(seconds: u64, why: &str) -> Response<Body> {
    let mut refused = refused(StatusCode::SERVICE_UNAVAILABLE, why);
    let headers = refused.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    refused
}

/// Returns a message, and what it takes up until it is read.
pub(super) fn json(code: StatusCode, body: String, unread: Option<Permit>) -> Response<Body> {
    response(code, "application/json", Body::unread(body, unread))
}

/// Returns a refusal as a message.
pub(super) fn refusal(id: Option<&RequestId>, refusal: &Refusal) -> Response<Body> {
    let code = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    observe::refused(code.as_u16(), &refusal.error.message);
    json(code, write::error(id, &refusal.error), None)
}

/// Returns a refusal of HTTP, before any message was read.
pub fn refused(code: StatusCode, why: &str) -> Response<Body> {
    observe::refused(code.as_u16(), why);
    plain(code, why)
}

/// Returns a status with a text.
pub(super) fn plain(code: StatusCode, why: &str) -> Response<Body> {
    response(code, "text/plain", Body::text(why))
}

/// The refusal of a request that needs the backplane.
impl From<Unavailable> for Box<Response<Body>> {
    fn from(why: Unavailable) -> Self {
        let why = format!("{why}: try again in a second");
        refused(StatusCode::SERVICE_UNAVAILABLE, &why).into()
    }
}

/// Returns a stream of events.
pub(super) fn events(events: SseEvents) -> Response<Body> {
    let mut response = response(StatusCode::OK, "text/event-stream", Body::events(events));
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that would hold events back are asked not to.
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

/// Returns the answer to a page of an allowed origin that asks whether it may send.
pub(super) fn allowed(asked: &HeaderMap) -> Response<Body> {
    let mut response = status(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

/// Returns a response that a page of this origin may read.
pub(super) fn exposed(origin: HeaderValue, mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(READABLE),
    );
    response
}
