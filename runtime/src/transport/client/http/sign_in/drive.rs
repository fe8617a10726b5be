//! Runs a flow: sends its requests, listens for the browser, keeps what is to be kept.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::http::header::{ACCEPT_ENCODING, LOCATION, USER_AGENT};
use ::http::{HeaderValue, Method as HttpMethod, Request, Response, Uri};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use mcp_revisions_auth::{
    AuthError, Cause, DevicePage, Entropy, Flow, FlowMethod, FlowReport, FlowRequest, FlowResponse,
    FlowStep, Settings, StoredSignIn, is_allowed_address, is_loopback_url,
};

use super::super::connect::{Connector, connector};
use super::super::options::Http;
use super::super::request::SENDER;
use super::super::resolve::AddressRule;
use super::super::url::{place, without_secrets};
use super::callback::{BrowserRedirect, Callback};
use super::error::SignInError;
use mcp_revisions_sansio::driver::quotable;

/// Time of a request, its redirects included.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Maximum size of a document.
const DOCUMENT_BYTES: usize = 256 << 10;
/// Number of redirects of a document.
const REDIRECTS: usize = 5;

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Returns the rule of addresses that may be connected to.
pub(super) fn address_rule(is_local: bool, allows_private: bool) -> AddressRule {
    match (is_local, allows_private) {
        (true, true) => |address: IpAddr| is_allowed_address(address, true, true),
        (true, false) => |address: IpAddr| is_allowed_address(address, true, false),
        (false, true) => |address: IpAddr| is_allowed_address(address, false, true),
        (false, false) => |address: IpAddr| is_allowed_address(address, false, false),
    }
}

/// The function that opens a person's page.
pub(super) type Browser = Arc<dyn Fn(&str) + Send + Sync>;

/// The function that shows a person the page of a device code.
pub(super) type DeviceScreen = Arc<dyn Fn(&DevicePage) + Send + Sync>;

/// The place that a browser comes back to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallbackPlace {
    pub(super) port: Option<u16>,
    pub(super) is_localhost: bool,
}

/// The functions that see the steps of a flow.
#[derive(Clone, Copy)]
pub(super) struct FlowHooks<'a> {
    /// Keeps what is to be kept.
    pub(super) keep: &'a (dyn Fn(&StoredSignIn) + Sync),
    /// Gets the page that a person has to look at.
    pub(super) opened: &'a (dyn Fn(&str) + Sync),
    pub(super) log: &'a (dyn Fn(&FlowRequest, &Result<FlowResponse, String>) + Sync),
}

/// The parts that a flow is run with.
pub(super) struct FlowDriver {
    client: Client<Connector, Full<Bytes>>,
    pub(super) browser: Browser,
    /// Shows pages of device codes; `None` if the browser opens them.
    pub(super) screen: Option<DeviceScreen>,
    /// Shows pages that are open already.
    pub(super) open_page: Option<Browser>,
    pub(super) callback: CallbackPlace,
    pub(super) person_time: Duration,
}

impl FlowDriver {
    pub(super) fn new(http: &Http, browser: Browser, allows_private: bool) -> Self {
        let is_local = is_loopback_url(&http.url.to_string());
        Self {
            client: Client::builder(TokioExecutor::new())
                .build(connector(http, address_rule(is_local, allows_private))),
            browser,
            screen: None,
            open_page: None,
            callback: CallbackPlace::default(),
            person_time: Duration::from_secs(600),
        }
    }

    /// Shows a person a page that is open already.
    pub(super) fn show_open_page(&self, page: &str) {
        if let Some(show) = &self.open_page {
            show(page);
        }
    }

    /// Runs a flow to its end.
    pub(super) async fn run(
        &self,
        settings: Settings,
        kept: Option<StoredSignIn>,
        cause: Cause,
        hooks: FlowHooks<'_>,
    ) -> Result<(StoredSignIn, FlowReport), SignInError> {
        let FlowHooks { keep, opened, log } = hooks;
        let mut random = [0; 96];
        let filled = getrandom::fill(&mut random);
        filled.map_err(|error| SignInError::Random(error.to_string()))?;
        let server = settings.server.clone();
        let mut flow = Flow::new(settings, kept, cause, Entropy(random));
        let mut callback: Option<Callback> = None;
        let mut browser: Option<BrowserRedirect> = None;
        let mut shown: Option<DevicePage> = None;
        let done = loop {
            match flow.step(now()) {
                FlowStep::Send(request) => {
                    let answer = self.send(&request).await;
                    log(&request, &answer);
                    flow.answered(answer);
                }
                FlowStep::Listen(known) => {
                    let CallbackPlace { port, is_localhost } = self.callback;
                    let host = if is_localhost {
                        "localhost"
                    } else {
                        "127.0.0.1"
                    };
                    match Callback::open(&server, &known, port, host).await {
                        Ok(open) => {
                            flow.listening(open.redirect());
                            callback = Some(open);
                        }
                        Err(why) => flow.answered(Err(why)),
                    }
                }
                FlowStep::Wait(page, seconds) => {
                    if shown.as_ref() != Some(&page) {
                        opened(&page.url);
                        match &self.screen {
                            Some(screen) => screen(&page),
                            None => (self.browser)(&page.url),
                        }
                        shown = Some(page);
                    }
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                    flow.waited();
                }
                FlowStep::Keep(kept) => {
                    keep(&kept);
                    flow.kept();
                }
                FlowStep::Open(page) => {
                    let Some(callback) = callback.take() else {
                        let why = "nothing listens for the browser";
                        break Err(AuthError::Unfinished(why.to_owned()));
                    };
                    opened(&page.url);
                    if page.is_open {
                        self.show_open_page(&page.url);
                    } else {
                        (self.browser)(&page.url);
                    }
                    let returned = callback.returned(page.state.expose().to_owned());
                    match tokio::time::timeout(self.person_time, returned).await {
                        Ok(Ok(redirected)) => {
                            flow.returned(redirected.query.clone());
                            browser = Some(redirected);
                        }
                        Ok(Err(why)) => flow.answered(Err(why)),
                        Err(_) => {
                            let within = self.person_time.as_secs();
                            flow.answered(Err(format!(
                                "no sign-in came back within {within} seconds"
                            )));
                        }
                    }
                }
                FlowStep::Done(kept) => {
                    keep(&kept);
                    break Ok((*kept, flow.report()));
                }
                FlowStep::Failed(error) => break Err(error),
            }
        };
        if let Some(browser) = browser {
            let _ = browser.outcome.send(done.is_ok());
        }
        Ok(done?)
    }

    pub(super) async fn send(&self, request: &FlowRequest) -> Result<FlowResponse, String> {
        let sent = tokio::time::timeout(REQUEST_TIME, self.follow(request)).await;
        sent.unwrap_or_else(|_| {
            Err(format!(
                "no answer within {} seconds",
                REQUEST_TIME.as_secs()
            ))
        })
    }

    /// Sends a request; redirects of documents are followed within the origin.
    async fn follow(&self, request: &FlowRequest) -> Result<FlowResponse, String> {
        let mut url: Uri = request
            .url
            .parse()
            .map_err(|_| "the URL is not valid".to_owned())?;
        for _ in 0..=REDIRECTS {
            let response = self.once(request, &url).await?;
            let status = response.status();
            if request.method == FlowMethod::Get && status.is_redirection() {
                let to = response
                    .headers()
                    .get(LOCATION)
                    .and_then(|it| it.to_str().ok());
                match to.map(|to| (to, place(&url, to))) {
                    Some((_, Some(to))) => url = to,
                    Some((to, None)) => {
                        let to = quotable(&without_secrets(to));
                        return Err(format!("it redirects to another server: `{to}`"));
                    }
                    None => return Err("it redirects to no place".to_owned()),
                }
                continue;
            }
            let nonce = response.headers().get("dpop-nonce");
            let dpop_nonce = nonce.and_then(|it| it.to_str().ok()).map(str::to_owned);
            let body = Limited::new(response.into_body(), DOCUMENT_BYTES)
                .collect()
                .await
                .map_err(|error| format!("the response breaks off: {error}"))?;
            return Ok(FlowResponse {
                status: status.as_u16(),
                dpop_nonce,
                body: body.to_bytes().to_vec(),
            });
        }
        Err(format!("more than {REDIRECTS} redirects"))
    }

    async fn once(&self, request: &FlowRequest, url: &Uri) -> Result<Response<Incoming>, String> {
        let body = request.body.clone().unwrap_or_default();
        let mut sent = Request::new(Full::new(Bytes::from(body)));
        *sent.method_mut() = match request.method {
            FlowMethod::Get => HttpMethod::GET,
            FlowMethod::Post => HttpMethod::POST,
        };
        *sent.uri_mut() = url.clone();
        for (name, value) in &request.headers {
            let parsed: ::http::HeaderName =
                name.parse().map_err(|_| "a header name".to_owned())?;
            let written = HeaderValue::from_str(value).map_err(|_| {
                format!("the header {name} has a character that no header can hold")
            })?;
            sent.headers_mut().insert(parsed, written);
        }
        let identity = HeaderValue::from_static("identity");
        sent.headers_mut().insert(ACCEPT_ENCODING, identity);
        sent.headers_mut().entry(USER_AGENT).or_insert(SENDER);
        let answer = self.client.request(sent).await;
        answer.map_err(|error| super::super::request::cause(&error))
    }
}
