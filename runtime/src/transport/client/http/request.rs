//! One request: its headers, its authorization, where it is sent on to, and how often it is tried.

use std::time::Duration;

use std::sync::Mutex;

use ::http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST, LOCATION, RETRY_AFTER,
    USER_AGENT,
};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use bytes::Bytes;
use http_body_util::{Full, LengthLimitError};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::authorize::{AuthRefusal, HttpRequest, RefusalFate, TokenId, needed_sign_in};
use super::body::{HttpResponseBody, boxed, is_stream, whole};
use super::connect::{Connector, connector};
use super::cookies::Cookies;
use super::header::header;
use super::options::Http;
use super::url::{place, without_secrets};
use crate::transport::client::Incoming;
use crate::transport::observe;
use crate::transport::panics::lock;
use mcp_revisions_core::translate::known_method;
use mcp_revisions_core::{MessageKind, headers, methods, peek};
use mcp_revisions_sansio::client::{Exchange, NeededSignIn};
use mcp_revisions_sansio::driver::quotable;

/// Maximum number of times that a refused request is sent again: for a token, for a scope, for a nonce.
const REFUSALS: usize = 3;
/// Maximum number of redirects of a request.
const REDIRECTS: usize = 3;
/// Time that a connection is kept for the next request.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// Maximum number of connections kept for the next requests.
const IDLE: usize = 16;
/// The sender of requests, where the application names none.
pub(super) const SENDER: HeaderValue =
    HeaderValue::from_static(concat!("mcp-revisions/", env!("CARGO_PKG_VERSION")));
/// The longest that a client waits before it tries again.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Why a request has no response.
#[derive(Debug)]
pub(super) enum RequestFailure {
    /// It was not sent, or its response did not arrive; why, for people.
    Unreached(String),
    /// The server wants a sign-in.
    SignIn(Box<NeededSignIn>),
}

impl From<String> for RequestFailure {
    fn from(why: String) -> Self {
        Self::Unreached(why)
    }
}

impl RequestFailure {
    /// Returns the failure as the end of an exchange.
    pub(super) fn of(self, exchange: Exchange) -> Incoming {
        match self {
            Self::Unreached(why) => Incoming::Failed { exchange, why },
            Self::SignIn(needed) => Incoming::Unauthorized { exchange, needed },
        }
    }
}

/// The shared parts of all requests to one server.
pub(super) struct HttpRequests {
    http: Http,
    client: Client<Connector, Full<Bytes>>,
    cookies: Mutex<Cookies>,
    /// Bytes of one message.
    pub(super) limit: usize,
}

impl HttpRequests {
    pub(super) fn new(http: Http, limit: usize) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .pool_max_idle_per_host(IDLE)
            .build(connector(&http, |_| true));
        Self {
            http,
            client,
            cookies: Mutex::default(),
            limit,
        }
    }

    /// Sends a request, and returns its response, or why there is none. A request that did not reach the server, or that the
    /// server did not begin, is retried, and one without an effect also where a proxy has no answer of the server. A challenge is
    /// answered by the provider; a redirect within the same server is followed.
    pub(super) async fn send(
        &self,
        method: &Method,
        headers: &[(String, String)],
        body: &Bytes,
    ) -> Result<Response<HttpResponseBody>, RequestFailure> {
        self.send_to(self.url().clone(), method, headers, body)
            .await
    }

    /// Asks for a stream of events, behind an event if one is named; `None` if the server has no such stream.
    pub(super) async fn stream(
        &self,
        headers: &[(String, String)],
        behind: Option<&str>,
    ) -> Result<Option<HttpResponseBody>, RequestFailure> {
        let stream = self.stream_or_status(headers, behind, true).await?;
        Ok(stream.ok())
    }

    /// Does the same as [`stream`](Self::stream); the status if the server has no such stream. If no call waits for the stream,
    /// no person is asked to sign in for it.
    pub(super) async fn stream_or_status(
        &self,
        headers: &[(String, String)],
        behind: Option<&str>,
        is_attended: bool,
    ) -> Result<Result<HttpResponseBody, StatusCode>, RequestFailure> {
        let mut headers = without_body(headers);
        headers.push((ACCEPT.to_string(), "text/event-stream".to_owned()));
        headers.extend(behind.map(|id| (headers::LAST_EVENT_ID.to_owned(), id.to_owned())));
        let (url, nothing) = (self.url().clone(), Bytes::new());
        let sent = self.send_for(url, &Method::GET, &headers, &nothing, is_attended);
        let response = sent.await?;
        if response.status().is_success() && is_stream(&response) {
            return Ok(Ok(response.into_body()));
        }
        Ok(Err(response.status()))
    }

    /// Returns the headers that each request has.
    pub(super) fn headers(&self) -> impl Iterator<Item = &(String, String)> {
        self.http.headers.iter()
    }

    /// Returns the URL of the server.
    pub(super) fn url(&self) -> &Uri {
        &self.http.url
    }

    /// As [`send`](Self::send), to another place of the server.
    pub(super) async fn send_to(
        &self,
        url: Uri,
        method: &Method,
        headers: &[(String, String)],
        body: &Bytes,
    ) -> Result<Response<HttpResponseBody>, RequestFailure> {
        self.send_for(url, method, headers, body, true).await
    }

    async fn send_for(
        &self,
        mut url: Uri,
        method: &Method,
        headers: &[(String, String)],
        body: &Bytes,
        is_attended: bool,
    ) -> Result<Response<HttpResponseBody>, RequestFailure> {
        let all = self.headers().chain(headers);
        let mut headers = header_map(all.map(|(name, value)| (name.as_str(), value.as_str())))?;
        headers.entry(USER_AGENT).or_insert(SENDER);
        let has_no_effect = method == Method::GET || has_no_effect(body);
        let version = headers.get(headers::PROTOCOL_VERSION).cloned();
        let (mut tries, mut redirects, mut refusals) = (0, 0, 0);
        loop {
            tries += 1;
            let last = tries >= self.http.tries;
            let (headers, token) = self.authorized(method, &url, headers.clone()).await?;
            let answer = self.once(method, &url, headers, body);
            let answer = tokio::time::timeout(self.http.answer_time, answer).await;
            // A server that keeps silent may be at work on it.
            let Ok(answer) = answer else {
                let within = self.http.answer_time;
                return Err(format!("no answer within {within:?}").into());
            };
            let response = match answer {
                Ok(response) => response,
                // Only what never was sent can be sent again without harm.
                Err(error) if error.is_connect() && !last => {
                    tokio::time::sleep(self.pause(tries, None)).await;
                    continue;
                }
                Err(error) => return Err(cause(&error).into()),
            };
            match response.status() {
                status if is_not_begun(&response) || has_no_effect && is_of_proxy(status) => {
                    let wanted = wanted_pause(response.headers());
                    if last || wanted.is_some_and(|wanted| wanted > LONGEST_PAUSE) {
                        return self.refused_for_now(response).await;
                    }
                    let pause = self.pause(tries, wanted);
                    observe::server_waited_for(status.as_u16(), pause);
                    tokio::time::sleep(pause).await;
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if refusals < REFUSALS => {
                    let Some(authorize) = &self.http.authorize else {
                        return self.refused(method, response).await;
                    };
                    let is_repeated = refusals > 0;
                    refusals += 1;
                    let named = version.as_ref().and_then(|value| value.to_str().ok());
                    let refusal = AuthRefusal {
                        request: HttpRequest { method, url: &url },
                        protocol_version: named,
                        status: response.status(),
                        headers: response.headers(),
                        token,
                        is_repeated,
                        is_unattended: !is_attended,
                    };
                    match authorize.refused(refusal).await {
                        // The wait before a retry may have been long: the attempts begin again.
                        RefusalFate::Retry => tries = 0,
                        RefusalFate::GiveUp(None) => return self.refused(method, response).await,
                        // The provider's reason says more than the response to a request without a token.
                        RefusalFate::GiveUp(Some(mut needed)) => {
                            if needed.resource.is_empty() {
                                needed.resource = self.url().to_string();
                            }
                            return Err(RequestFailure::SignIn(needed));
                        }
                    }
                }
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
                    if redirects < REDIRECTS =>
                {
                    redirects += 1;
                    match elsewhere(&url, response.headers()) {
                        Some(to) => url = to,
                        None => return redirected(method, response),
                    }
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    return self.refused(method, response).await;
                }
                _ => return redirected(method, response),
            }
        }
    }

    /// Returns the response of a server that is busy: as the failure that says for how long, if the server does and no message
    /// says more.
    async fn refused_for_now(
        &self,
        response: Response<HttpResponseBody>,
    ) -> Result<Response<HttpResponseBody>, RequestFailure> {
        let Some(wanted) = super::body::header(&response, RETRY_AFTER.as_str()) else {
            return Ok(plain(response)?);
        };
        let (parts, body) = plain(response)?.into_parts();
        let bytes = self.whole(body).await?;
        if peek(&bytes).is_ok() {
            return Ok(Response::from_parts(parts, boxed(Full::new(bytes))));
        }
        let said = quotable(String::from_utf8_lossy(&bytes).trim());
        let said = if said.is_empty() {
            said
        } else {
            format!(": {said:?}")
        };
        let (status, wanted) = (parts.status.as_u16(), quotable(&wanted));
        let unit = if wanted.bytes().all(|it| it.is_ascii_digit()) {
            " s"
        } else {
            ""
        };
        Err(format!(
            "HTTP status {status}, and the server wants no other request before `Retry-After: {wanted}`{unit}{said}"
        )
        .into())
    }

    /// Returns the response 401 or 403 of a request that is not sent again. A POST with a message fails instead: it needs a
    /// sign-in, even if the body is an error of JSON-RPC, unless it has status 403 for another reason than a scope.
    async fn refused(
        &self,
        method: &Method,
        response: Response<HttpResponseBody>,
    ) -> Result<Response<HttpResponseBody>, RequestFailure> {
        match needed_sign_in(response.status(), response.headers()) {
            Some(needed) if method == Method::POST => {
                Err(self.unauthorized(Box::new(needed), response).await)
            }
            _ => Ok(plain(response)?),
        }
    }

    /// Returns the failure of a request that needs a sign-in, with what the server's response says.
    async fn unauthorized(
        &self,
        mut needed: Box<NeededSignIn>,
        response: Response<HttpResponseBody>,
    ) -> RequestFailure {
        let body = self.whole(response.into_body()).await.unwrap_or_default();
        let said = quotable(String::from_utf8_lossy(&body).trim());
        if !said.is_empty() {
            let said = format!(" (the server's response: {said:?})");
            needed.why.push_str(&said);
        }
        needed.resource = self.url().to_string();
        RequestFailure::SignIn(needed)
    }

    /// Returns a whole body, if it is not longer than it may be, and comes in time; else why there is none.
    pub(super) async fn whole(&self, body: HttpResponseBody) -> Result<Bytes, String> {
        let within = self.http.answer_time;
        match tokio::time::timeout(within, whole(body, self.limit)).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(format!("the answer is longer than {} bytes", self.limit))
            }
            Ok(Err(error)) => Err(format!("the answer broke off: {error}")),
            Err(_) => Err(format!("the answer did not arrive within {within:?}")),
        }
    }

    /// Sends a request once.
    pub(super) async fn once(
        &self,
        method: &Method,
        url: &Uri,
        headers: HeaderMap,
        body: &Bytes,
    ) -> Result<Response<HttpResponseBody>, Error> {
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method.clone();
        *request.uri_mut() = url.clone();
        *request.headers_mut() = headers;
        let accepted = HeaderValue::from_static(IDENTITY);
        request.headers_mut().insert(ACCEPT_ENCODING, accepted);
        if self.http.keeps_cookies {
            lock(&self.cookies).put_into(request.headers_mut(), url);
        }
        let response = self.sent(url, request).await?;
        if self.http.keeps_cookies {
            lock(&self.cookies).take_from(response.headers(), url);
        }
        Ok(response)
    }

    async fn sent(
        &self,
        url: &Uri,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<HttpResponseBody>, Error> {
        if let Some(service) = &self.http.service {
            // Over a socket the connection adds it.
            if let Some(host) = url.host().and_then(|host| host.parse().ok()) {
                request.headers_mut().insert(HOST, host);
            }
            let answer = service(request);
            return Ok(answer.await);
        }
        Ok(self.client.request(request).await?.map(boxed))
    }

    /// Returns the headers of a request with its authorization, and the token in it.
    pub(super) async fn authorized(
        &self,
        method: &Method,
        url: &Uri,
        mut headers: HeaderMap,
    ) -> Result<(HeaderMap, Option<TokenId>), String> {
        let Some(authorize) = &self.http.authorize else {
            return Ok((headers, None));
        };
        let request = HttpRequest { method, url };
        let credentials = authorize.credentials(&request).await?;
        for (name, value) in &credentials.headers {
            set(&mut headers, name, value)?;
        }
        Ok((headers, credentials.token))
    }

    /// Returns the time to wait before a try: it doubles each time, and a random part of up to a half is added.
    pub(super) fn pause(&self, tries: u32, wanted: Option<Duration>) -> Duration {
        let doubled = self
            .http
            .pause
            .saturating_mul(1 << tries.saturating_sub(1).min(10));
        let mut chance = [0; 1];
        // Without chance all clients come at once, and no worse.
        let _ = getrandom::fill(&mut chance);
        let more = doubled.mul_f64(f64::from(chance[0]) / 512.0);
        wanted.unwrap_or(doubled + more).min(LONGEST_PAUSE)
    }
}

/// The only coding of a body that is asked for and read.
const IDENTITY: &str = "identity";

/// Returns a response whose body can be read as it is. Fails for a body in a coding that was not asked for.
fn plain(response: Response<HttpResponseBody>) -> Result<Response<HttpResponseBody>, String> {
    let coding = super::body::header(&response, CONTENT_ENCODING.as_str());
    let is_plain = |one: &str| one.is_empty() || one.eq_ignore_ascii_case(IDENTITY);
    match coding.filter(|codings| !codings.split(',').map(str::trim).all(is_plain)) {
        None => Ok(response),
        Some(coding) => {
            let (status, coding) = (response.status().as_u16(), quotable(&coding));
            Err(format!(
                "the server answered with HTTP status {status} and `Content-Encoding: {coding}`, where the request \
                 accepts only `{IDENTITY}`: turn off compression in the server, or in the proxy before it"
            ))
        }
    }
}

/// Returns whether a response says that the server did not begin the request.
fn is_not_begun(response: &Response<HttpResponseBody>) -> bool {
    match response.status() {
        StatusCode::TOO_MANY_REQUESTS => true,
        StatusCode::SERVICE_UNAVAILABLE => response.headers().contains_key(RETRY_AFTER),
        _ => false,
    }
}

/// Returns whether a proxy has no answer of the server, which may have begun the request or not.
fn is_of_proxy(status: StatusCode) -> bool {
    [
        StatusCode::BAD_GATEWAY,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::GATEWAY_TIMEOUT,
    ]
    .contains(&status)
}

/// The requests that a server may get twice.
const WITHOUT_EFFECT: [&str; 10] = [
    methods::INITIALIZE,
    methods::SERVER_DISCOVER,
    methods::PING,
    methods::TOOLS_LIST,
    methods::RESOURCES_LIST,
    methods::RESOURCES_TEMPLATES_LIST,
    methods::RESOURCES_READ,
    methods::PROMPTS_LIST,
    methods::PROMPTS_GET,
    methods::COMPLETION_COMPLETE,
];

/// Returns whether a message may be sent again though its first sending may have had its effect: lists, reads, and the
/// protocol's own notifications; neither calls nor requests about tasks nor responses.
fn has_no_effect(text: &[u8]) -> bool {
    let Ok(message) = peek(text) else {
        return false;
    };
    let method = message.method.as_deref().unwrap_or_default();
    match message.kind {
        MessageKind::Request => WITHOUT_EFFECT.contains(&method),
        MessageKind::Notification => known_method(method).is_some(),
        _ => false,
    }
}

/// Returns a response, unless it redirects a message to a place that is not followed.
fn redirected(
    method: &Method,
    response: Response<HttpResponseBody>,
) -> Result<Response<HttpResponseBody>, RequestFailure> {
    let location = response.headers().get(LOCATION);
    let to = location.map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
    match to.filter(|_| response.status().is_redirection() && method == Method::POST) {
        None => Ok(plain(response)?),
        Some(to) => {
            let (status, to) = (response.status().as_u16(), quotable(&without_secrets(&to)));
            Err(format!(
                "HTTP status {status} redirects to `{to}`, where no message is sent: use that URL if it is the server's"
            )
            .into())
        }
    }
}

/// Returns whether a later try of a request may have another status: this one tells of the server's or a proxy's state.
pub(super) fn may_pass(status: StatusCode) -> bool {
    let is_of_now = [
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::CONFLICT,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    status.is_server_error() || is_of_now.contains(&status)
}

/// Returns the headers of a request without a body, of those of one that has one.
pub(super) fn without_body(headers: &[(String, String)]) -> Vec<(String, String)> {
    let is_of_body = |name: &str| {
        let is = |other: &HeaderName| name.eq_ignore_ascii_case(other.as_str());
        is(&CONTENT_TYPE) || is(&ACCEPT)
    };
    headers
        .iter()
        .filter(|(name, _)| !is_of_body(name))
        .cloned()
        .collect()
}

/// The pace at which a broken stream is asked for again: as its server wants it, unless that is time and again at once.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Number of streams in a row that broke soon after they were opened.
    hasty: u32,
}

/// A stream that lasted so long did not break at once.
const STEADY: Duration = Duration::from_secs(1);
/// The shortest pause before a stream is asked for again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// Number of consecutive retries without delay that a server may ask for.
const AS_WANTED: u32 = 5;

impl Pace {
    /// Returns the time to wait before a broken stream is requested again; `lasted` is how long it lasted.
    pub(super) fn pause(
        &mut self,
        requests: &HttpRequests,
        lasted: Duration,
        wanted: Option<Duration>,
    ) -> Duration {
        self.hasty = if lasted < STEADY {
            self.hasty.saturating_add(1)
        } else {
            1
        };
        let pause = match wanted {
            Some(wanted) if self.hasty <= AS_WANTED => wanted,
            Some(wanted) => wanted.max(requests.pause(self.hasty - AS_WANTED, None)),
            None => requests.pause(self.hasty, None),
        };
        pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }
}

/// Returns an error with all that led to it: the outermost alone says nothing of use.
pub(super) fn cause(error: &Error) -> String {
    let mut said = if error.is_connect() {
        "cannot connect".to_owned()
    } else {
        error.to_string()
    };
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let more = error.to_string();
        if !said.contains(&more) {
            said.push_str(": ");
            said.push_str(&more);
        }
        source = error.source();
    }
    // The beginning of the answer is not a record of TLS.
    if said.contains("InvalidContentType") {
        said.push_str(": the server does not speak TLS at this port, try http://");
    }
    said
}

/// Returns the headers of a request. Those of the protocol come last: nothing else sets them.
pub(super) fn header_map<'a>(
    all: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in all {
        set(&mut headers, name, value)?;
    }
    Ok(headers)
}

/// Sets a header; the error keeps the value to itself, which may be a secret.
fn set(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let parsed = header(name, value).map_err(|why| format!("the request was not sent: {why}"));
    let (name, value) = parsed?;
    headers.insert(name, value);
    Ok(())
}

/// Returns the pause of `Retry-After`, which has seconds or a date.
fn wanted_pause(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = value.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| {
        let until = httpdate::parse_http_date(value).ok()?;
        Some(
            until
                .duration_since(std::time::SystemTime::now())
                .unwrap_or_default(),
        )
    })
}

/// Returns the target of a redirect; only on the same server, because the headers are meant for no other.
fn elsewhere(from: &Uri, headers: &HeaderMap) -> Option<Uri> {
    place(from, headers.get(LOCATION)?.to_str().ok()?)
}
