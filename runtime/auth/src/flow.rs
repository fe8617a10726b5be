//! A flow: one sign-in, step-up or refresh as a sequence of steps.
//!
//! The sequence is written as straight-line code that awaits only its [`Desk`], where it leaves the next step and finds what
//! came of it. Nothing else ever wakes it, so a [`Flow`] polls it without a runtime.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::grant;
use crate::{AuthError, Challenge, Settings, StoredSignIn};

/// Maximum number of requests of a flow.
const REQUESTS: usize = 24;

/// One sign-in, step-up or refresh for one server.
pub struct Flow {
    work: Option<FlowWork>,
    desk: Desk,
    step: Option<FlowStep>,
}

type FlowWork = Pin<Box<dyn Future<Output = Result<StoredSignIn, AuthError>> + Send>>;

/// Why a flow begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A server refused a request.
    Refused(RefusedRequest),
    /// The token ends soon, and can be refreshed.
    Expiring,
    /// A person wants to sign in.
    Login,
    /// A person signs out: the tokens are revoked.
    Revoke,
    /// A person wants to know what a sign-in would find after this response: only discovery runs.
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
    /// Send a request, and hand in its response with [`Flow::answered`].
    Send(FlowRequest),
    /// Listen for the browser, and hand in the redirect URL with [`Flow::listening`]. The texts are redirect URLs that are known
    /// to the authorization server already; without any, each loopback port is fine.
    Listen(Vec<String>),
    /// Open the authorization page, and hand in the query of the redirect with [`Flow::returned`].
    Open(String),
    /// Show a person this page, if it was not shown yet, wait for so many seconds, and call [`Flow::waited`].
    Wait(DevicePage, u64),
    /// Keep this, and call [`Flow::kept`].
    Keep(Box<StoredSignIn>),
    /// It is done; keep this.
    Done(Box<StoredSignIn>),
    /// It failed.
    Failed(AuthError),
}

/// A page at which a person allows a sign-in, on any device.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// A device code.
    DeviceCode,
    /// The revocation of a token.
    Revocation,
}

/// A request. `Debug` shows neither headers nor body, which may have secrets.
#[derive(Clone, PartialEq, Eq)]
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
struct Papers {
    step: Option<FlowStep>,
    reply: Option<StepReply>,
    now: u64,
    requests: usize,
}

impl Desk {
    fn papers(&self) -> MutexGuard<'_, Papers> {
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
                Err(unreached(format!("HTTP status {}", answer.status)))
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

    pub(crate) async fn open(&self, page: String) -> Result<String, AuthError> {
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

impl Flow {
    /// Begins a flow with what is kept of the server.
    #[must_use]
    pub fn new(
        settings: Settings,
        kept: Option<StoredSignIn>,
        cause: Cause,
        entropy: Entropy,
    ) -> Self {
        let desk = Desk::default();
        let work = grant::run(
            desk.clone(),
            settings,
            kept.unwrap_or_default(),
            cause,
            entropy,
        );
        Self {
            work: Some(Box::pin(work)),
            desk,
            step: None,
        }
    }

    /// Returns what is to be done next; the same until something of it is handed in. `now` is in seconds since 1970.
    pub fn step(&mut self, now: u64) -> FlowStep {
        self.desk.papers().now = now;
        if let Some(step) = &self.step {
            return step.clone();
        }
        let missing = || FlowStep::Failed(AuthError::Unfinished("it has ended".to_owned()));
        let Some(work) = &mut self.work else {
            return missing();
        };
        let step = match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => {
                self.work = None;
                match done {
                    Ok(kept) => FlowStep::Done(Box::new(kept)),
                    Err(error) => FlowStep::Failed(error),
                }
            }
            Poll::Pending => self.desk.papers().step.take().unwrap_or_else(missing),
        };
        self.step = Some(step.clone());
        step
    }

    fn reply(&mut self, reply: StepReply) {
        self.step = None;
        self.desk.papers().reply = Some(reply);
    }

    /// Hands in the response of [`FlowStep::Send`], or why there is none. The reason also ends [`FlowStep::Listen`], [`FlowStep::Open`]
    /// and [`FlowStep::Wait`].
    pub fn answered(&mut self, answer: Result<FlowResponse, String>) {
        self.reply(StepReply::Answer(answer));
    }

    /// Hands in the redirect URL that is listened at.
    pub fn listening(&mut self, redirect: impl Into<String>) {
        self.reply(StepReply::Listening(redirect.into()));
    }

    /// Hands in the query with which the browser came back.
    pub fn returned(&mut self, query: impl Into<String>) {
        self.reply(StepReply::Returned(query.into()));
    }

    /// Goes on after [`FlowStep::Wait`].
    pub fn waited(&mut self) {
        self.reply(StepReply::Waited);
    }

    /// Goes on after [`FlowStep::Keep`].
    pub fn kept(&mut self) {
        self.reply(StepReply::Kept);
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow")
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}
