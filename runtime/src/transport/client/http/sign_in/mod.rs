//! Sign-in by OAuth: an [`AuthProvider`] that follows challenges, refreshes tokens, and keeps them in a store.
//!
//! One flow runs at a time, as a task of its own: a call that is cancelled, or does not want to wait longer, does not end it.

mod builder;
mod callback;
mod drive;
mod file;
#[cfg(feature = "server-http")]
pub(in crate::transport::client) mod introspect;
mod store;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_revisions_auth::{
    Cause, Challenge, DpopKey, FlowRequest, FlowResponse, Proof, RefusedRequest, Settings,
    StoredSignIn,
};
use mcp_revisions_sansio::INSUFFICIENT_SCOPE;
use mcp_revisions_sansio::client::NeededSignIn;
use tokio::sync::watch;

use super::authorize::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, HttpRequest, RefusalFate, TokenId,
};
use super::options::Http;
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;
pub use builder::OAuthBuilder;
use drive::{Browser, FlowDriver, now};
pub use file::{FileStore, KeptFile};
pub use store::{MemoryStore, StoreGuard, TokenStore};

/// Maximum time that a call waits for a sign-in.
const WAIT: Duration = Duration::from_secs(45);
/// Number of sign-ins in [`SIGN_INS_TIME`].
const SIGN_INS: usize = 3;
const SIGN_INS_TIME: Duration = Duration::from_secs(600);
/// A token that is refused so soon after it was issued is not refreshed once more.
const FRESH: Duration = Duration::from_secs(10);

/// Signs in to a server by OAuth. Give it to [`Http::with_authorization`]; a clone shares its tokens.
///
/// A person signs in with a browser that comes back to a listener on loopback; grants of the settings that have no person need
/// no browser.
#[derive(Clone)]
pub struct OAuth(Arc<SignInShared>);

struct SignInShared {
    settings: Settings,
    driver: FlowDriver,
    store: Arc<dyn TokenStore>,
    wait: Duration,
    log: Option<SignInLog>,
    state: Mutex<SignInState>,
}

/// Sees each request of a sign-in.
type SignInLog = Arc<dyn Fn(&FlowRequest, &Result<FlowResponse, String>) + Send + Sync>;
/// The result of a flow, once it has one.
type FlowOutcome = Option<Result<(), String>>;

#[derive(Default)]
struct SignInState {
    is_loaded: bool,
    kept: Option<StoredSignIn>,
    /// The number of the current token.
    token: u64,
    /// The last flow, until it has an outcome.
    flow: Option<watch::Receiver<FlowOutcome>>,
    /// The page that a person has to look at.
    page: Option<String>,
    /// When the last flow ended well.
    ended: Option<Instant>,
    sign_ins: Vec<Instant>,
    /// The nonce that the MCP server wants in proofs.
    nonce: Option<String>,
}

impl SignInState {
    /// Returns the flow that runs; one whose hook panicked runs no longer, and has no outcome.
    fn running_flow(&self) -> Option<&watch::Receiver<FlowOutcome>> {
        self.flow.as_ref().filter(|flow| flow.has_changed().is_ok())
    }
}

impl OAuth {
    /// Begins a provider for the server of a transport, whose certificates and proxies it uses. `browser` opens a page for a
    /// person: the URL is `https`, or `http` on this machine, and must never be handed to a shell.
    ///
    /// `allows_private` is whether authorization servers may be in private networks.
    #[must_use]
    pub fn builder(
        http: &Http,
        settings: Settings,
        allows_private: bool,
        browser: impl Fn(&str) + Send + Sync + 'static,
    ) -> OAuthBuilder {
        let browser: Browser = Arc::new(browser);
        OAuthBuilder {
            driver: FlowDriver::new(http, browser, allows_private),
            settings,
            store: Arc::new(MemoryStore::default()),
            wait: WAIT,
            log: None,
        }
    }

    /// Returns what is kept of the sign-in.
    #[must_use]
    pub fn kept(&self) -> Option<StoredSignIn> {
        let mut state = lock(&self.0.state);
        // Without a token, a server says what it wants.
        let _ = self.0.load(&mut state);
        state.kept.clone()
    }

    /// Signs in, and waits for the person.
    ///
    /// # Errors
    /// Returns why the sign-in failed.
    pub async fn sign_in(&self, refused: Option<RefusedRequest>) -> Result<(), String> {
        let cause = refused.map_or(Cause::Login, Cause::Refused);
        let mut flow = self.begin(cause);
        let done = flow.wait_for(Option::is_some).await;
        match done.ok().and_then(|done| done.clone()) {
            Some(done) => done,
            None => Err("the sign-in ended early".to_owned()),
        }
    }

    /// Revokes the tokens at their authorization server, and forgets them in any case. The registration of the client stays.
    ///
    /// # Errors
    /// Returns an error if the tokens were not revoked, with the reason, or if the store cannot be written.
    pub async fn sign_out(&self) -> Result<(), String> {
        let guard = store::guard(&*self.0.store, |_| false).await?;
        let Some(mut kept) = self.0.store.load()? else {
            return Ok(());
        };
        let log = |request: &FlowRequest, answer: &Result<FlowResponse, String>| {
            if let Some(log) = &self.0.log {
                log(request, answer);
            }
        };
        let (settings, scratch) = (self.0.settings.clone(), MemoryStore::default());
        let before = Some(kept.clone());
        let driver = &self.0.driver;
        let revoked = driver
            .run(settings, before, Cause::Revoke, &scratch, |_| Ok(()), log)
            .await;
        (kept.tokens, kept.pending, kept.dpop_key) = (None, None, None);
        self.0.store.save(&kept)?;
        lock(&self.0.state).kept = Some(kept);
        drop(guard);
        revoked.map(drop)
    }

    /// Finds out what a sign-in after this refusal would find, without signing in or keeping anything. The hook of
    /// [`OAuthBuilder::on_request`] sees what is asked.
    ///
    /// # Errors
    /// Returns the rule that failed.
    pub async fn check(&self, refusal: AuthRefusal<'_>) -> Result<StoredSignIn, String> {
        let cause = Cause::Check(RefusedRequest {
            status: 401,
            challenges: Challenge::read(refusal.challenges()),
            protocol_version: refusal.protocol_version.map(str::to_owned),
            is_fresh: false,
        });
        let log = |request: &FlowRequest, answer: &Result<FlowResponse, String>| {
            if let Some(log) = &self.0.log {
                log(request, answer);
            }
        };
        let (settings, store) = (self.0.settings.clone(), MemoryStore::default());
        let driver = &self.0.driver;
        driver
            .run(settings, None, cause, &store, |_| Ok(()), log)
            .await
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
    /// Reads the store, once.
    fn load(&self, state: &mut SignInState) -> Result<(), String> {
        if !state.is_loaded {
            state.kept = self.store.load()?;
            state.is_loaded = true;
        }
        Ok(())
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
    ) -> Result<StoredSignIn, String> {
        let refused = before.as_ref().and_then(|kept| kept.tokens.as_ref());
        let old = refused.map(|tokens| tokens.access.clone());
        let is_login = cause == Cause::Login;
        let is_new = |kept: &StoredSignIn| {
            let tokens = kept.tokens.as_ref();
            !is_login && tokens.is_some_and(|tokens| Some(&tokens.access) != old.as_ref())
        };
        let guard = store::guard(&*self.store, is_new).await?;
        let kept = self.store.load()?;
        if let Some(kept) = kept.clone().filter(|kept| is_new(kept)) {
            return Ok(kept);
        }
        // A person is not shown page after page; a refresh opens none.
        let opened = |page: &str| {
            if !is_login {
                self.count()?;
            }
            lock(&self.state).page = Some(page.to_owned());
            Ok(())
        };
        let log = |request: &FlowRequest, answer: &Result<FlowResponse, String>| {
            if let Some(log) = &self.log {
                log(request, answer);
            }
        };
        let settings = self.settings.clone();
        let done = self
            .driver
            .run(settings, kept, cause, &*self.store, opened, log)
            .await;
        drop(guard);
        done
    }

    /// Counts a sign-in; an error if there were too many.
    fn count(&self) -> Result<(), String> {
        let mut state = lock(&self.state);
        let sign_ins = &mut state.sign_ins;
        sign_ins.retain(|at| at.elapsed() < SIGN_INS_TIME);
        if sign_ins.len() >= SIGN_INS {
            return Err(format!(
                "{} had {SIGN_INS} sign-ins within {} minutes, and wants one more: the account may not have what this call needs",
                self.settings.server,
                SIGN_INS_TIME.as_secs() / 60
            ));
        }
        sign_ins.push(Instant::now());
        Ok(())
    }

    /// Returns the headers of a request.
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

/// The answer to a refusal.
enum RefusalAnswer {
    Next(RefusalFate),
    Flow(RefusedRequest),
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
        RefusalAnswer::Flow(RefusedRequest {
            status,
            challenges,
            protocol_version: refusal.protocol_version.map(str::to_owned),
            // A token that was good before is refreshed, however new it is.
            is_fresh: refusal.is_repeated && state.ended.is_some_and(|at| at.elapsed() < FRESH),
        })
    }

    /// Waits for a flow, as long as a call does.
    async fn wait(&self, cause: Cause) -> Result<(), String> {
        let mut flow = self.begin(cause);
        let waiting = flow.wait_for(Option::is_some);
        match tokio::time::timeout(self.0.wait, waiting).await {
            Ok(Ok(done)) => done.clone().unwrap_or(Ok(())),
            Ok(Err(_)) => Err("the sign-in ended early".to_owned()),
            Err(_) => {
                let page = lock(&self.0.state).page.clone();
                let at = page.map_or_else(String::new, |page| format!(" at {page}"));
                Err(format!(
                    "sign in{at}; the sign-in goes on: call again after it"
                ))
            }
        }
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
                self.0.load(&mut state)?;
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
            let refused = match answered {
                RefusalAnswer::Next(next) => return next,
                RefusalAnswer::Flow(refused) => refused,
            };
            let lacks_scope = refused.status == 403;
            let challenge = Challenge::choose(&refused.challenges);
            let scope = challenge.and_then(|it| it.get("scope")).map(str::to_owned);
            let is_first = lock(&self.0.state).running_flow().is_none();
            let has_person = self.0.settings.grant.has_person();
            // The person may be away: only a refresh is begun, which asks no person, or the flow is joined that a call began.
            let cause = if refusal.is_unattended && has_person {
                if is_first && !self.0.can_refresh() {
                    return RefusalFate::GiveUp(None);
                }
                Cause::Expiring
            } else {
                Cause::Refused(refused)
            };
            let counted = if is_first && !has_person {
                self.0.count()
            } else {
                Ok(())
            };
            let done = match counted {
                Ok(()) => self.wait(cause).await,
                Err(why) => Err(why),
            };
            match done {
                Ok(()) => RefusalFate::Retry,
                Err(why) => {
                    let resource = self.0.settings.server.clone();
                    RefusalFate::GiveUp(Some(Box::new(NeededSignIn {
                        why: format!("{resource} wants a sign-in: {why}"),
                        resource,
                        scope,
                        page: lock(&self.0.state).page.clone(),
                        lacks_scope,
                    })))
                }
            }
        })
    }
}

impl std::fmt::Debug for OAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuth")
            .field("server", &self.0.settings.server)
            .finish_non_exhaustive()
    }
}
