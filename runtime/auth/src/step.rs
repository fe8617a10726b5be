//! The steps of a flow: tasks for its caller, their outcomes, and the desk at which both are handed over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use crate::document::{oauth_error, status_text};
use crate::{AuthError, Challenge, Secret, StoredSignIn};

/// Maximum number of requests of a flow.
const REQUESTS: usize = 24;

/// Why a flow begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A server refused a request.
    Refused(RefusedRequest),
    /// The token ends soon, and can be refreshed.
    Expiring,
    /// A person wants to sign in.
    Login,
    /// A person signs out: the tokens are revoked, for [`FlowReport::revocations`].
    Revoke,
    /// A person wants to know what a sign-in would find after this response: only discovery runs, for
    /// [`FlowReport::forecast`].
    Check(RefusedRequest),
}

/// A response 401 or 403.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The status.
    pub status: u16,
    /// Its challenges.
    pub challenges: Vec<Challenge>,
    /// The protocol version of the request.
    pub protocol_version: Option<String>,
    /// Set if the refused token was issued a moment ago: then it is not refreshed, and the sign-in begins again.
    pub is_fresh: bool,
}

/// Random bytes: for `state`, for the PKCE verifier, and for the ids of signed tokens.
pub struct Entropy(pub [u8; 96]);

/// The next task of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowStep {
    /// Send a request, and hand in its response with [`Flow::answered`](crate::Flow::answered).
    Send(FlowRequest),
    /// Listen for the browser, and hand in the redirect URL with [`Flow::listening`](crate::Flow::listening). The texts are redirect URLs that are known
    /// to the authorization server already; without any, each loopback port is fine.
    Listen(Vec<String>),
    /// Open the authorization page, unless it is open, and hand in the query of the redirect with
    /// [`Flow::returned`](crate::Flow::returned).
    Open(AuthorizationPage),
    /// Show a person this page, if it was not shown yet, wait for so many seconds, and call [`Flow::waited`](crate::Flow::waited).
    Wait(DevicePage, u64),
    /// Keep this, and call [`Flow::kept`](crate::Flow::kept).
    Keep(Box<StoredSignIn>),
    /// It is done; keep this.
    Done(Box<StoredSignIn>),
    /// It failed.
    Failed(AuthError),
}

/// The page of the authorization server at which a person signs in, in a browser that comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthorizationPage {
    /// The URL.
    pub url: String,
    /// The `state` that the browser comes back with.
    pub state: Secret,
    /// Set if a process that has ended opened the page: it is shown to the person, and no second tab is opened.
    pub is_open: bool,
}

/// The findings of a flow besides the stored sign-in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowReport {
    /// The findings of [`Cause::Check`].
    pub forecast: Option<SignInForecast>,
    /// The outcome for each token of [`Cause::Revoke`].
    pub revocations: Vec<(TokenKind, Result<(), AuthError>)>,
}

/// The server, client and scopes of a sign-in that may follow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignInForecast {
    /// The issuer.
    pub issuer: String,
    /// The `resource` parameter; `None` for a server of 2025-03-26.
    pub resource: Option<String>,
    /// Set if the metadata list PKCE with S256.
    pub lists_pkce: bool,
    /// The client: its id, or how it is registered.
    pub client: String,
    /// The scopes to request, each with whether the authorization server lists it; `None` if it lists no scopes.
    pub scopes: Vec<(String, Option<bool>)>,
}

/// A kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A refresh token.
    Refresh,
    /// An access token.
    Access,
}

impl std::fmt::Display for TokenKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Refresh => "refresh token",
            Self::Access => "access token",
        })
    }
}

/// A page at which a person allows a sign-in, on any device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DevicePage {
    /// The URL; that of the whole page has the code.
    pub url: String,
    /// The code that the person enters, or compares with that of the page.
    pub code: String,
}

impl DevicePage {
    /// Creates one, with the code as it can be shown.
    pub(crate) fn new(url: String, code: &str) -> Self {
        let code = crate::error::harmless(code);
        Self { url, code }
    }
}

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowMethod {
    /// GET: up to 5 redirects within the origin are followed.
    Get,
    /// POST: no redirect is followed.
    Post,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowPurpose {
    /// Metadata of the protected resource.
    Resource,
    /// Metadata of the authorization server.
    Server,
    /// Registration of the client.
    Registration,
    /// A token.
    Token,
    /// The claims of a token.
    Introspection,
    /// The keys that tokens are signed with.
    Keys,
    /// A device code.
    DeviceCode,
    /// The revocation of a token.
    Revocation,
}

/// A request. `Debug` shows neither headers nor body, which may have secrets.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowRequest {
    /// The purpose.
    pub purpose: FlowPurpose,
    /// Its method.
    pub method: FlowMethod,
    /// Its URL.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(&'static str, String)>,
    /// Its body.
    pub body: Option<String>,
}

impl std::fmt::Debug for FlowRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("purpose", &self.purpose)
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A response. `Debug` shows only its status.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FlowResponse {
    /// The status.
    pub status: u16,
    /// The value of the header `DPoP-Nonce`.
    pub dpop_nonce: Option<String>,
    /// The body, at most 256 KiB.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for FlowResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// The result of a step.
pub(crate) enum StepReply {
    Answer(Result<FlowResponse, String>),
    Listening(String),
    Returned(String),
    Waited,
    Kept,
}

/// The place where the sequence leaves its next step, and finds the result of the last one.
#[derive(Clone, Default)]
pub(crate) struct Desk(Arc<Mutex<Papers>>);

#[derive(Default)]
pub(crate) struct Papers {
    pub(crate) step: Option<FlowStep>,
    pub(crate) reply: Option<StepReply>,
    pub(crate) now: u64,
    pub(crate) report: FlowReport,
    requests: usize,
}

impl Desk {
    pub(crate) fn papers(&self) -> MutexGuard<'_, Papers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.papers().now
    }

    async fn ask(&self, step: FlowStep) -> StepReply {
        self.papers().step = Some(step);
        std::future::poll_fn(|_| match self.papers().reply.take() {
            Some(reply) => Poll::Ready(reply),
            None => Poll::Pending,
        })
        .await
    }

    pub(crate) async fn send(&self, request: FlowRequest) -> Result<FlowResponse, AuthError> {
        let url = request.url.clone();
        let unreached = |why: String| AuthError::Unreached { url, why };
        let requests = {
            let mut papers = self.papers();
            papers.requests += 1;
            papers.requests
        };
        if requests > REQUESTS {
            return Err(unreached(format!(
                "more than {REQUESTS} requests in a sign-in"
            )));
        }
        match self.ask(FlowStep::Send(request)).await {
            StepReply::Answer(Ok(answer)) if answer.status >= 500 || answer.status == 429 => {
                let (code, words) = oauth_error(&answer);
                let status = status_text(&answer);
                let code = if code == status {
                    code
                } else {
                    format!("{status}: {code}")
                };
                Err(unreached(format!("{code}{words}; try again later")))
            }
            StepReply::Answer(Ok(answer)) => Ok(answer),
            StepReply::Answer(Err(why)) => Err(unreached(crate::error::harmless(&why))),
            _ => Err(unreached("no response was handed in".to_owned())),
        }
    }

    pub(crate) async fn listen(&self, known: Vec<String>) -> Result<String, AuthError> {
        match self.ask(FlowStep::Listen(known)).await {
            StepReply::Listening(url) => Ok(url),
            StepReply::Answer(Err(why)) => Err(AuthError::Unfinished(why)),
            _ => Err(AuthError::Unfinished(
                "nothing listens for the browser".to_owned(),
            )),
        }
    }

    pub(crate) async fn open(&self, page: AuthorizationPage) -> Result<String, AuthError> {
        match self.ask(FlowStep::Open(page)).await {
            StepReply::Returned(query) => Ok(query),
            StepReply::Answer(Err(why)) => Err(AuthError::Unfinished(why)),
            _ => Err(AuthError::Unfinished(
                "the browser did not come back".to_owned(),
            )),
        }
    }

    /// Waits for a person; the requests of a flow are counted from here on again.
    pub(crate) async fn wait(&self, page: DevicePage, seconds: u64) -> Result<(), AuthError> {
        self.papers().requests = 0;
        match self.ask(FlowStep::Wait(page, seconds)).await {
            StepReply::Answer(Err(why)) => Err(AuthError::Unfinished(why)),
            _ => Ok(()),
        }
    }

    pub(crate) async fn keep(&self, kept: &StoredSignIn) {
        self.ask(FlowStep::Keep(Box::new(kept.clone()))).await;
    }
}
