//! Sign-in by OAuth: an [`AuthProvider`] that follows challenges, refreshes tokens, and keeps them in a store.
//!
//! One flow runs at a time, as a task of its own: a call that is cancelled, or does not want to wait longer, does not end it.

mod builder;
mod callback;
mod drive;
mod error;
mod file;
mod poster;
mod store;
#[cfg(feature = "server-http")]
pub(in crate::transport) mod verifier;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_revisions_auth::{
    AuthError, Cause, Challenge, DpopKey, FlowReport, FlowRequest, FlowResponse, Proof,
    RefusedRequest, Settings, SignInForecast, StoredSignIn, TokenKind,
};
use mcp_revisions_sansio::INSUFFICIENT_SCOPE;
use mcp_revisions_sansio::client::NeededSignIn;
use mcp_revisions_sansio::driver::quotable;
use tokio::sync::watch;

use super::authorize::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, HttpRequest, RefusalFate, TokenId,
};
use super::options::Http;
use crate::transport::observe;
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;
pub use builder::OAuthBuilder;
use drive::{FlowDriver, FlowHooks, now};
pub use error::SignInError;
pub use file::{FileStore, KeptFile};
pub(crate) use poster::{PostFailure, Poster};
use store::LastingStore;
pub use store::{MemoryStore, StoreError, StoreGuard, TokenStore};

/// Maximum time that a call waits for a sign-in.
const WAIT: Duration = Duration::from_secs(45);
/// A token that is refused so soon after it was issued is not refreshed once more.
const FRESH: Duration = Duration::from_secs(10);
/// Time between two looks at the store, which other processes change.
const LOOK: Duration = Duration::from_millis(100);
/// Maximum time that a sign-out waits for another process.
const SIGN_OUT_WAIT: Duration = Duration::from_secs(2);

/// Signs in to a server by OAuth. Give it to [`Http::with_authorization`]; a clone shares its tokens.
///
/// A person signs in with a browser that comes back to a listener on loopback; grants of the settings that have no person need
/// no browser.
#[derive(Clone)]
pub struct OAuth(Arc<SignInShared>);

struct SignInShared {
    settings: Settings,
    driver: FlowDriver,
    store: LastingStore,
    wait: Duration,
    log: Option<SignInLog>,
    state: Mutex<SignInState>,
}

/// Sees each request of a sign-in.
type SignInLog = Arc<dyn Fn(&FlowRequest, &Result<FlowResponse, String>) + Send + Sync>;
/// The result of a flow, once it has one.
type FlowOutcome = Option<Result<(), SignInError>>;

#[derive(Default)]
struct SignInState {
    /// When the store was looked at.
    looked: Option<Instant>,
    kept: Option<StoredSignIn>,
    /// The number of the current token.
    token: u64,
    /// The last flow, until it has an outcome.
    flow: Option<watch::Receiver<FlowOutcome>>,
    /// The page that a person has to look at.
    page: Option<String>,
    /// When the last flow ended well.
    ended: Option<Instant>,
    /// The nonce that the MCP server wants in proofs.
    nonce: Option<String>,
}

impl SignInState {
    /// Returns the flow that runs; one whose hook panicked runs no longer, and has no outcome.
    fn running_flow(&self) -> Option<&watch::Receiver<FlowOutcome>> {
        self.flow.as_ref().filter(|flow| flow.has_changed().is_ok())
    }
}

/// Returns the scopes that the best of the challenges asks for.
pub(super) fn needed_scope<'c>(challenges: impl Iterator<Item = &'c str>) -> Option<String> {
    let all = Challenge::read(challenges);
    Some(Challenge::choose(&all)?.get("scope")?.to_owned())
}

impl OAuth {
    /// Begins a provider for the server of a transport, whose certificates and proxies it uses. `browser` opens a page for a
    /// person: the URL is `https`, or `http` on this machine, and must never be handed to a shell.
    pub fn builder(
        http: &Http,
        settings: Settings,
        browser: impl Fn(&str) + Send + Sync + 'static,
    ) -> OAuthBuilder {
        OAuthBuilder {
            driver: FlowDriver::new(http, Arc::new(browser), settings.allows_private_addresses),
            settings,
            store: Box::new(MemoryStore::default()),
            on_store_failure: Arc::new(|error| observe::sign_in_not_stored(&error.to_string())),
            wait: WAIT,
            log: None,
        }
    }

    /// Returns the stored sign-in.
    #[must_use]
    pub fn kept(&self) -> Option<StoredSignIn> {
        let mut state = lock(&self.0.state);
        self.0.look(&mut state);
        state.kept.clone()
    }

    /// Signs in, and waits for the person. A caller that stops waiting does not end the sign-in.
    ///
    /// # Errors
    /// Returns an error if the sign-in failed.
    pub async fn sign_in(&self, refused: Option<RefusedRequest>) -> Result<(), SignInError> {
        let cause = refused.map_or(Cause::Login, Cause::Refused);
        let mut flow = self.begin(cause);
        let ended = flow.wait_for(Option::is_some).await;
        let done = ended.ok().and_then(|done| done.clone());
        done.unwrap_or(Err(SignInError::Ended))
    }

    /// Revokes the tokens at their authorization server, and forgets them in any case. The registration of the client stays. Returns
    /// for each token whether it was revoked. A caller that stops waiting may leave tokens that are revoked and stored still.
    ///
    /// # Errors
    /// Returns an error if no token was revoked.
    pub async fn sign_out(&self) -> Result<Vec<(TokenKind, Result<(), AuthError>)>, SignInError> {
        let guard = store::guard(&self.0.store, |_| false, |_| {});
        // The process that has the guard may wait for a person; it signs in again if the person does.
        let guard = tokio::time::timeout(SIGN_OUT_WAIT, guard).await;
        let Some(mut kept) = self.0.store.load()? else {
            return Ok(Vec::new());
        };
        let before = kept.clone();
        let revoked = self.run_apart(Some(before), Cause::Revoke).await;
        (kept.tokens, kept.dpop_key) = (None, None);
        if guard.is_ok() {
            kept.pending = None;
        }
        self.0.store.save(&kept);
        lock(&self.0.state).kept = Some(kept);
        drop(guard);
        revoked.map(|(_, report)| report.revocations)
    }

    /// Finds out what a sign-in after this refusal would find, without signing in or keeping anything. The hook of
    /// [`OAuthBuilder::on_request`] sees what is asked.
    /// Dropping the future ends the check.
    ///
    /// # Errors
    /// Returns the rule that failed.
    pub async fn check(&self, refusal: AuthRefusal<'_>) -> Result<SignInForecast, SignInError> {
        let cause = Cause::Check(RefusedRequest {
            status: 401,
            challenges: Challenge::read(refusal.challenges()),
            protocol_version: refusal.protocol_version.map(str::to_owned),
            is_fresh: false,
        });
        let (_, report) = self.run_apart(None, cause).await?;
        report.forecast.ok_or(SignInError::Ended)
    }

    /// Runs a flow that keeps nothing.
    async fn run_apart(
        &self,
        kept: Option<StoredSignIn>,
        cause: Cause,
    ) -> Result<(StoredSignIn, FlowReport), SignInError> {
        let hooks = FlowHooks {
            keep: &|_| {},
            opened: &|_| {},
            log: &|request, answer| self.0.log(request, answer),
        };
        let settings = self.0.settings.clone();
        self.0.driver.run(settings, kept, cause, hooks).await
    }

    /// Begins a flow, or joins the one that runs.
    fn begin(&self, cause: Cause) -> watch::Receiver<FlowOutcome> {
        let mut state = lock(&self.0.state);
        if let Some(flow) = state.running_flow() {
            return flow.clone();
        }
        let (tell, flow) = watch::channel(None);
        state.flow = Some(flow.clone());
        let before = state.kept.clone();
        drop(state);
        let inner = Arc::clone(&self.0);
        spawn(async move {
            let done = inner.run(cause, before).await;
            let mut state = lock(&inner.state);
            (state.flow, state.page) = (None, None);
            let outcome = done.map(|kept| {
                state.token += 1;
                state.ended = Some(Instant::now());
                state.kept = Some(kept);
            });
            if outcome.is_err()
                && let Ok(Some(kept)) = inner.store.load()
            {
                state.kept = Some(kept);
            }
            drop(state);
            let _ = tell.send(Some(outcome));
        });
        flow
    }
}

impl SignInShared {
    /// Looks at the store, unless that was a moment ago or a flow runs: another process may have signed in, or out. An error of
    /// the store is one of the flow that needs it.
    fn look(&self, state: &mut SignInState) {
        let is_recent = state.looked.is_some_and(|at| at.elapsed() < LOOK);
        if is_recent || state.running_flow().is_some() {
            return;
        }
        state.looked = Some(Instant::now());
        let Ok(stored) = self.store.load() else {
            return;
        };
        let access = |kept: &Option<StoredSignIn>| {
            let tokens = kept.as_ref().and_then(|kept| kept.tokens.as_ref());
            tokens.map(|tokens| tokens.access.clone())
        };
        if access(&stored) != access(&state.kept) {
            state.token += 1;
        }
        state.kept = stored;
    }

    fn log(&self, request: &FlowRequest, answer: &Result<FlowResponse, String>) {
        if let Some(log) = &self.log {
            log(request, answer);
        }
    }

    /// Returns whether a new token can be had without a person.
    fn can_refresh(&self) -> bool {
        let state = lock(&self.state);
        let tokens = state.kept.as_ref().and_then(|kept| kept.tokens.as_ref());
        tokens.is_some_and(|tokens| tokens.refresh.is_some())
    }

    /// Runs a flow under the lock of the store, unless another process has brought a new token meanwhile.
    async fn run(
        &self,
        cause: Cause,
        before: Option<StoredSignIn>,
    ) -> Result<StoredSignIn, SignInError> {
        let refused = before.as_ref().and_then(|kept| kept.tokens.as_ref());
        let old = refused.map(|tokens| tokens.access.clone());
        let is_login = cause == Cause::Login;
        let is_new = |kept: &StoredSignIn| {
            let tokens = kept.tokens.as_ref();
            !is_login && tokens.is_some_and(|tokens| Some(&tokens.access) != old.as_ref())
        };
        // The page of another process is the one to look at.
        let waits = |kept: &StoredSignIn| {
            let pending = kept.pending.as_ref().filter(|it| it.is_open(now()));
            let page = pending.map(|it| it.page.clone());
            let shown = &mut lock(&self.state).page;
            if let Some(page) = page.as_ref().filter(|page| shown.as_ref() != Some(*page)) {
                self.driver.show_open_page(page);
            }
            *shown = page;
        };
        let guard = store::guard(&self.store, is_new, waits).await?;
        let kept = self.store.load()?;
        if let Some(kept) = kept.clone().filter(|kept| is_new(kept)) {
            return Ok(kept);
        }
        let hooks = FlowHooks {
            keep: &|kept| self.store.save(kept),
            opened: &|page| lock(&self.state).page = Some(page.to_owned()),
            log: &|request, answer| self.log(request, answer),
        };
        let settings = self.settings.clone();
        let done = self.driver.run(settings, kept, cause, hooks).await;
        drop(guard);
        done.map(|(kept, _)| kept)
    }

    /// Marks the tokens as refused, so that no process opens another page for them.
    fn mark_refused(&self, kept: &StoredSignIn) {
        let Ok(Some(_guard)) = self.store.try_lock() else {
            return;
        };
        let access = |kept: &StoredSignIn| kept.tokens.as_ref().map(|it| it.access.clone());
        if let Ok(Some(stored)) = self.store.load()
            && access(&stored) == access(kept)
        {
            self.store.save(kept);
        }
    }

    fn headers(&self, request: &HttpRequest<'_>) -> Result<Credentials, String> {
        let state = lock(&self.state);
        let Some(kept) = &state.kept else {
            return Ok(Credentials::default());
        };
        let Some(tokens) = &kept.tokens else {
            return Ok(Credentials::default());
        };
        let mut headers = Vec::new();
        match &kept.dpop_key {
            Some(key) if tokens.is_dpop => {
                let key = DpopKey::read(key).map_err(|error| error.to_string())?;
                let mut random = [0_u8; 16];
                getrandom::fill(&mut random).map_err(|error| error.to_string())?;
                let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
                let proof = Proof {
                    method: request.method.as_str(),
                    url: &request.url.to_string(),
                    token: Some(&tokens.access),
                    nonce: state.nonce.as_deref(),
                    id: &id,
                    now: now(),
                };
                let proof = key.prove(&proof).map_err(|error| error.to_string())?;
                headers.push(("DPoP", proof));
                headers.push(("Authorization", format!("DPoP {}", tokens.access.expose())));
            }
            _ => headers.push((
                "Authorization",
                format!("Bearer {}", tokens.access.expose()),
            )),
        }
        Ok(Credentials {
            headers,
            token: Some(TokenId(state.token)),
        })
    }
}

enum RefusalAnswer {
    Next(RefusalFate),
    Flow(RefusedRequest),
    /// The server refuses what was issued for it, which another sign-in would not mend.
    Refused(AuthError),
}

impl OAuth {
    fn answer(&self, refusal: &AuthRefusal<'_>) -> RefusalAnswer {
        let challenges = Challenge::read(refusal.challenges());
        let challenge = Challenge::choose(&challenges);
        let error = challenge.and_then(|it| it.get("error"));
        let mut state = lock(&self.0.state);
        let nonce = refusal
            .headers
            .get("dpop-nonce")
            .and_then(|it| it.to_str().ok());
        if error == Some("use_dpop_nonce")
            && let Some(nonce) = nonce
            && state.nonce.as_deref() != Some(nonce)
        {
            state.nonce = Some(nonce.to_owned());
            return RefusalAnswer::Next(RefusalFate::Retry);
        }
        if refusal
            .token
            .is_some_and(|token| token != TokenId(state.token))
        {
            return RefusalAnswer::Next(RefusalFate::Retry);
        }
        let status = refusal.status.as_u16();
        if status == 403 && error != Some(INSUFFICIENT_SCOPE) {
            return RefusalAnswer::Next(RefusalFate::GiveUp(None));
        }
        // A token that was good before is refreshed, however new it is.
        let is_fresh = refusal.is_repeated && state.ended.is_some_and(|at| at.elapsed() < FRESH);
        if status == 401
            && let Some(kept) = &mut state.kept
        {
            let is_known = kept.is_refused(now());
            if let Some(tokens) = kept.tokens.as_mut().filter(|_| is_fresh || is_known) {
                tokens.is_refused = true;
            }
            if kept.is_refused(now()) {
                if !is_known && !refusal.is_unattended {
                    self.0.mark_refused(kept);
                }
                return RefusalAnswer::Refused(refused_token(&self.0.settings, kept, challenge));
            }
        }
        RefusalAnswer::Flow(RefusedRequest {
            status,
            challenges,
            protocol_version: refusal.protocol_version.map(str::to_owned),
            is_fresh,
        })
    }

    /// Waits for a flow, as long as a call does.
    async fn wait(&self, cause: Cause) -> Result<(), SignInError> {
        let mut flow = self.begin(cause);
        let waiting = flow.wait_for(Option::is_some);
        match tokio::time::timeout(self.0.wait, waiting).await {
            Ok(Ok(done)) => done.clone().unwrap_or(Ok(())),
            Ok(Err(_)) => Err(SignInError::Ended),
            Err(_) => {
                let page = lock(&self.0.state).page.clone();
                Err(SignInError::Waiting { page })
            }
        }
    }
}

/// Returns the error of tokens that the server refuses although they were issued for it.
fn refused_token(
    settings: &Settings,
    kept: &StoredSignIn,
    challenge: Option<&Challenge>,
) -> AuthError {
    let members = ["error", "error_description"];
    let found = members.map(|name| challenge.and_then(|it| it.get(name)));
    let texts: Vec<String> = found.into_iter().flatten().map(quotable).collect();
    let tokens = kept.tokens.as_ref();
    let scope = tokens.and_then(|it| it.scope.as_ref().or(it.requested.as_ref()));
    let or_none = |text: Option<&String>| text.cloned().unwrap_or_else(|| "none".to_owned());
    AuthError::TokenRefused {
        server: settings.server.clone(),
        issuer: kept.issuer.clone(),
        words: match texts.join(": ") {
            none if none.is_empty() => none,
            words => format!(" ({words})"),
        },
        resource: or_none(kept.resource.as_ref()),
        scope: or_none(scope),
    }
}

impl AuthProvider for OAuth {
    fn credentials<'a>(
        &'a self,
        request: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        Box::pin(async move {
            let is_due = {
                let mut state = lock(&self.0.state);
                self.0.look(&mut state);
                let tokens = state.kept.as_ref().and_then(|kept| kept.tokens.as_ref());
                tokens.is_some_and(|tokens| tokens.refresh.is_some() && tokens.is_due(now()))
            };
            if is_due {
                // If it fails, the server says what it thinks of the old token.
                let _ = self.wait(Cause::Expiring).await;
            }
            self.0.headers(request)
        })
    }

    fn refused<'a>(&'a self, refusal: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        let answered = self.answer(&refusal);
        Box::pin(async move {
            let resource = self.0.settings.server.clone();
            let refused = match answered {
                RefusalAnswer::Next(next) => return next,
                RefusalAnswer::Flow(refused) => refused,
                RefusalAnswer::Refused(error) => {
                    let why = error.to_string();
                    let needed = NeededSignIn {
                        resource,
                        ..NeededSignIn::new(why)
                    };
                    return RefusalFate::GiveUp(Some(Box::new(needed)));
                }
            };
            let lacks_scope = refused.status == 403;
            let challenge = Challenge::choose(&refused.challenges);
            let scope = challenge.and_then(|it| it.get("scope")).map(str::to_owned);
            let is_first = lock(&self.0.state).running_flow().is_none();
            // The person may be away: only a refresh is begun, which asks no person, or the flow is joined that a call began.
            let cause = if refusal.is_unattended && self.0.settings.grant.has_person() {
                if is_first && !self.0.can_refresh() {
                    return RefusalFate::GiveUp(None);
                }
                Cause::Expiring
            } else {
                Cause::Refused(refused)
            };
            match self.wait(cause).await {
                Ok(()) => RefusalFate::Retry,
                Err(error) => RefusalFate::GiveUp(Some(Box::new(NeededSignIn {
                    why: format!("{resource} wants a sign-in: {error}"),
                    resource,
                    scope,
                    page: lock(&self.0.state).page.clone(),
                    lacks_scope,
                }))),
            }
        })
    }
}

mcp_wire::debug_struct!([] OAuth, "OAuth", self, "server": self.0.settings.server);
