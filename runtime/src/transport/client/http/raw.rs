//! One request at a time to a server over HTTP, as the caller writes it, and everything that the response shows: for a program
//! that examines servers. Nothing is retried, followed or negotiated.

use ::http::{Method, Uri};
use bytes::Bytes;

use super::body::is_stream;
use super::events::SseStream;
use super::options::Http;
use super::request::{HttpRequests, SENDER, cause, header_map};
use super::url::place;

/// A server that is examined.
#[doc(hidden)]
pub struct RawHttp(HttpRequests);

/// A response: its status, its headers, and a body whose messages are read one by one.
#[doc(hidden)]
pub struct RawResponse {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    events: Option<SseStream>,
    whole: Option<Bytes>,
}

impl RawHttp {
    /// Creates what sends requests to a server; of a body no more than `limit` bytes are read.
    #[must_use]
    pub fn new(http: Http, limit: usize) -> Self {
        Self(HttpRequests::new(http, limit))
    }

    /// Returns the URL that a reference in a response of the server leads to; `None` if that is another server.
    #[must_use]
    pub fn place(&self, reference: &str) -> Option<String> {
        Some(place(self.0.url(), reference)?.to_string())
    }

    /// Sends a request with these headers besides those of the server and its authorization, and waits for the head of the
    /// response, and for the body if that is no stream. The error is the reason why the server sent no response.
    pub async fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: String,
    ) -> Result<RawResponse, String> {
        let place: Uri = url.parse().map_err(|why| format!("{url}: {why}"))?;
        let method = Method::from_bytes(method.as_bytes()).map_err(|why| why.to_string())?;
        let all = self.0.headers().chain(headers);
        let mut map = header_map(all.map(|(name, value)| (name.as_str(), value.as_str())))?;
        map.entry(::http::header::USER_AGENT).or_insert(SENDER);
        let (map, _) = self.0.authorized(&method, &place, map).await?;
        let sent = self.0.once(&method, &place, map, &Bytes::from(body)).await;
        let response = sent.map_err(|error| cause(&error))?;
        let status = response.status().as_u16();
        let text =
            |value: &::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let received = response.headers().iter();
        let named = received.map(|(name, value)| (name.as_str().to_owned(), text(value)));
        let headers = named.collect();
        let (mut events, mut whole) = (None, None);
        if is_stream(&response) {
            events = Some(SseStream::new(response.into_body(), self.0.limit));
        } else {
            whole = Some(self.0.whole(response.into_body()).await?);
        }
        Ok(RawResponse {
            status,
            headers,
            events,
            whole,
        })
    }
}

impl RawResponse {
    /// Returns the first header of this name, in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns whether the body is a stream of events.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.events.is_some()
    }

    /// Returns the next text: the data of an event, or the body at once; `None` at the end.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        match &mut self.events {
            Some(events) => events.next().await,
            None => self.whole.take().map(|body| body.to_vec()),
        }
    }

    /// Returns the id of the last event.
    #[must_use]
    pub fn last_event(&self) -> Option<&str> {
        self.events.as_ref()?.last_id()
    }

    /// Returns whether the last text is the place for messages over HTTP+SSE.
    #[must_use]
    pub fn was_endpoint(&self) -> bool {
        self.events.as_ref().is_some_and(SseStream::was_endpoint)
    }
}
