//! The body of a response: of any kind, whole or a stream of events.

use std::pin::Pin;
use std::task::{Context, Poll};

use ::http::Response;
use ::http::header::CONTENT_TYPE;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Limited};
use hyper::body::Frame;

use crate::transport::BoxError;

/// The body of a response, from a socket or from a service in this process. It is a type of its own because the compiler
/// does not find that futures which hold the boxed one are `Send`.
pub(super) struct HttpResponseBody(UnsyncBoxBody<Bytes, BoxError>);

impl hyper::body::Body for HttpResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }
}

/// Returns a body of any kind as one type.
pub(super) fn boxed<B>(body: B) -> HttpResponseBody
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    HttpResponseBody(body.map_err(Into::into).boxed_unsync())
}

/// Returns a whole body, if it is not longer than it may be. Fails for a body that is longer
/// ([`http_body_util::LengthLimitError`]), or breaks off.
pub(super) async fn whole(body: HttpResponseBody, limit: usize) -> Result<Bytes, BoxError> {
    let body = Limited::new(body, limit.saturating_add(1))
        .collect()
        .await?;
    Ok(body.to_bytes())
}

/// Returns a header of a response, if it is text.
pub(super) fn header(response: &Response<HttpResponseBody>, name: &str) -> Option<String> {
    response
        .headers()
        .get(name)?
        .to_str()
        .ok()
        .map(str::to_owned)
}

/// Returns the charset that a response names, if that is not UTF-8.
pub(super) fn charset(response: &Response<HttpResponseBody>) -> Option<String> {
    let kind = header(response, CONTENT_TYPE.as_str())?;
    let named = kind.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches('"').to_owned())
    });
    let is_utf8 = |named: &String| ["utf-8", "utf8"].contains(&named.to_ascii_lowercase().as_str());
    named.filter(|named| !is_utf8(named))
}

/// Returns whether a response is a stream of events.
pub(super) fn is_stream(response: &Response<HttpResponseBody>) -> bool {
    header(response, CONTENT_TYPE.as_str()).is_some_and(|kind| {
        kind.trim_start()
            .to_ascii_lowercase()
            .starts_with("text/event-stream")
    })
}
