//! From the endpoint to running handlers: what the adapters to stdio and HTTP share.
//!
//! A [`Handler`] answers calls in the application's revision, each in a task of its own; its [`Peer`] carries what it
//! says meanwhile. Time comes from the clock of tokio here, at the edge, and nowhere below.

#[cfg_attr(
    not(feature = "http"),
    allow(
        dead_code,
        reason = "standard streams have one client, which shares with nobody"
    )
)]
mod budget;
mod lane;
#[cfg_attr(
    not(feature = "http"),
    allow(
        dead_code,
        unreachable_pub,
        reason = "what is said over standard streams is said once"
    )
)]
mod replay;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "what is said over standard streams is said once")
)]
mod route;

use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::{Instant, SystemTime};

use mcp_wire::{ErrorObject, Json};
use tokio::sync::oneshot;

#[cfg(feature = "router")]
use crate::Limits;
use crate::protocol::{
    Answer, Answered, Call, Caller, Fate, Notice, OtherCall, OtherNotice, To, Token,
};

use crate::server::Server;

#[cfg(feature = "http")]
use crate::protocol::server::Owner;

pub(crate) use budget::Budget;
#[cfg(feature = "http")]
pub(crate) use budget::{Full, Permit, Reservation, SUSPENDED_BYTES, Share, Suspended};
pub(crate) use lane::Lane;
#[cfg(feature = "http")]
pub(crate) use lane::{Parked, Taken};
#[cfg(feature = "http")]
pub use replay::{EventId, EventStore, KeptEvent, MemoryEvents, NoEventId};
#[cfg(feature = "http")]
pub(crate) use route::Item;
pub(crate) use route::{Next, Queue, Route, route};

/// A server whose clock begins now, and when that is.
pub(crate) fn started(server: Server) -> (Arc<Server>, Instant) {
    let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let server = server.with_epoch(epoch.unwrap_or_default());
    (Arc::new(server), Instant::now())
}

/// What serves the calls of clients, in the words of the application's revision.
///
/// Any `async` function from [`Call`] and [`Peer`] to a result is one.
pub trait Handler: Send + Sync + 'static {
    /// Answers a call.
    fn call(
        &self,
        call: Call,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send;

    /// Answers a call of a method that no revision has, if the server was told to hand those over
    /// ([`Server::with_other_methods`](crate::Server::with_other_methods)); else they never come here.
    fn other_call(
        &self,
        call: OtherCall,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send {
        drop(peer);
        let refusal = crate::errors::method_not_found(&call.method, call.peer.era());
        std::future::ready(Err(refusal.error))
    }

    /// Takes note of a notification of a method that no revision has, as [`other_call`](Self::other_call) answers calls.
    fn other_notice(&self, notice: OtherNotice, session: Session) {
        drop((notice, session));
    }

    /// Takes note of a notification of a session.
    fn notice(&self, notice: Notice, session: Session) {
        drop((notice, session));
    }

    /// A client can be told things from now on: it is initialized, or has opened a stream for them.
    fn opened(&self, session: Session) {
        drop(session);
    }
}

impl<F, A> Handler for F
where
    F: Fn(Call, Peer) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Json, ErrorObject>> + Send,
{
    fn call(
        &self,
        call: Call,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send {
        self(call, peer)
    }
}

/// The answer of a handler, on its way.
pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Json, ErrorObject>> + Send>>;

/// A [`Handler`] as transports keep it: of any type, so that they are compiled once.
pub(crate) trait AnyHandler: Send + Sync {
    fn call(self: Arc<Self>, call: Call, peer: Peer) -> HandlerFuture;
    fn other_call(self: Arc<Self>, call: OtherCall, peer: Peer) -> HandlerFuture;
    fn other_notice(&self, notice: OtherNotice, session: Session);
    fn notice(&self, notice: Notice, session: Session);
    fn opened(&self, session: Session);
}

impl<H: Handler> AnyHandler for H {
    fn call(self: Arc<Self>, call: Call, peer: Peer) -> HandlerFuture {
        Box::pin(async move { Handler::call(&*self, call, peer).await })
    }

    fn other_call(self: Arc<Self>, call: OtherCall, peer: Peer) -> HandlerFuture {
        Box::pin(async move { Handler::other_call(&*self, call, peer).await })
    }

    fn other_notice(&self, notice: OtherNotice, session: Session) {
        Handler::other_notice(self, notice, session);
    }

    fn notice(&self, notice: Notice, session: Session) {
        Handler::notice(self, notice, session);
    }

    fn opened(&self, session: Session) {
        Handler::opened(self, session);
    }
}

/// What the transport knows of who began an exchange.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    #[cfg(feature = "http")]
    pub(crate) parts: Option<Arc<::http::request::Parts>>,
    /// What the text takes up of the room for all of them, until nobody works on it any more.
    #[cfg(feature = "http")]
    pub(crate) room: Option<Arc<Reservation>>,
}

/// Whoever waits for the answer to a call, to be told and asked things on the way.
#[derive(Clone)]
pub struct Peer {
    token: Token,
    line: Arc<dyn Line>,
    facts: Facts,
}

/// Whoever is at the other end, after the call too; the handle does not keep the session alive.
#[derive(Clone)]
pub struct Session {
    line: Weak<dyn Line>,
}

/// What a [`Peer`] needs of its lane, whatever the application speaks.
pub(crate) trait Line: Send + Sync {
    /// Where what is said about a request goes.
    fn route(&self, token: Token) -> Option<Route>;
    fn notify(&self, to: To, method: &str, params: Option<&Json>) -> Fate;
    fn ask(
        &self,
        about: Option<(Token, &Facts)>,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(Token, oneshot::Receiver<Answered>), Fate>;
    /// The answer to this request is not waited for any more.
    fn forget(&self, ask: Token);
    fn handle(self: Arc<Self>) -> Session;
    fn end(&self);
    fn is_over(&self) -> bool;
    #[cfg(feature = "http")]
    fn owner(&self) -> Owner;
    /// Who has opened the session, or the stream of one that has none.
    fn caller(&self) -> Option<Arc<Caller>>;
    #[cfg(feature = "router")]
    fn limits(&self) -> Limits;
    #[cfg(feature = "http")]
    fn pause(&self, token: Token) -> bool;
}

impl Peer {
    /// Sends a notification about the call, such as its progress; over HTTP the answer then becomes a stream.
    ///
    /// What the peer did not ask for, or does not have, is not sent; the fate says so.
    pub async fn notify(&self, method: &str, params: Option<&Json>) -> Fate {
        // Room first: nobody holds the lane while a slow reader is waited for. One that is gone may come again.
        let _turn = match self.line.route(self.token) {
            Some(route) => route.turn().await,
            None => None,
        };
        self.line.notify(To::Request(self.token), method, params)
    }

    /// As [`notify`](Self::notify), without waiting for room: none if a slow reader leaves none, and nothing is sent.
    #[cfg(feature = "tracing")]
    pub(crate) fn try_notify(&self, method: &str, params: Option<&Json>) -> Option<Fate> {
        let route = self.line.route(self.token);
        (route.is_none_or(|route| route.has_room()))
            .then(|| self.line.notify(To::Request(self.token), method, params))
    }

    /// Asks the client something, and waits for its answer: `sampling/createMessage`, `elicitation/create`, `roots/list`.
    ///
    /// A client of the modern era is asked in the result of its call, and answers when it calls again.
    /// If this is not waited for to the end, the client is told that its answer is not wanted any more.
    ///
    /// # Errors
    /// The client's own error; that it cannot be asked; that it did not answer in time; or that it is gone.
    pub async fn ask(&self, method: &str, params: Option<&Json>) -> Result<Json, ErrorObject> {
        ask(&self.line, Some((self.token, &self.facts)), method, params).await
    }

    /// Closes the connection on which the call is answered, in the middle of it: its client is told to come again for
    /// the rest after a while, and what is said meanwhile is kept for it. Whether that was done: only in a session over
    /// HTTP, of a revision that has it.
    #[cfg(feature = "http")]
    pub fn close_stream(&self) -> bool {
        self.line.pause(self.token)
    }

    /// A handle that outlives the call.
    #[must_use]
    pub fn session(&self) -> Session {
        Arc::clone(&self.line).handle()
    }

    /// The headers of the request that the call came in; none over stdio.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn headers(&self) -> Option<&::http::HeaderMap> {
        self.facts.parts.as_ref().map(|parts| &parts.headers)
    }

    /// What a layer has put into the extensions of that request, such as who is behind it.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.facts.parts.as_ref()?.extensions.get()
    }

    /// The id of the session, over HTTP and in the handshake era.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        let id = self.headers()?.get(crate::headers::SESSION_ID)?;
        id.to_str().ok()
    }
}

impl Session {
    /// Sends a notification that belongs to no call: that a list has changed, or a resource.
    ///
    /// It reaches a client of the handshake era as such, and one of the modern era on the streams that asked for it.
    pub fn notify(&self, method: &str, params: Option<&Json>) -> Fate {
        match self.line.upgrade() {
            Some(line) => line.notify(To::Session, method, params),
            None => Fate::Unknown,
        }
    }

    /// Asks the client something outside of a call; one of the modern era cannot be asked so.
    ///
    /// # Errors
    /// As [`Peer::ask`].
    pub async fn ask(&self, method: &str, params: Option<&Json>) -> Result<Json, ErrorObject> {
        match self.line.upgrade() {
            Some(line) => ask(&line, None, method, params).await,
            None => Err(crate::errors::internal("the client is gone").error),
        }
    }

    /// Who is at the other end, and what it can do, as it said when it opened the session, or the stream on which it is
    /// told things; none as long as it has opened neither.
    #[must_use]
    pub fn caller(&self) -> Option<Arc<Caller>> {
        self.line.upgrade()?.caller()
    }

    /// Whose the session is, as far as the transport can tell.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn owner(&self) -> Owner {
        let line = self.line.upgrade();
        line.map(|line| line.owner()).unwrap_or_default()
    }

    /// The limits of its server; none once it is over.
    #[cfg(feature = "router")]
    pub(crate) fn limits(&self) -> Option<Limits> {
        Some(self.line.upgrade()?.limits())
    }

    /// Ends the session: its streams and whatever is at work in it. Over HTTP its client is told, at the next message,
    /// to open another one; to a client of the modern era, which has none, its streams of changes end.
    pub fn end(&self) {
        if let Some(line) = self.line.upgrade() {
            line.end();
        }
    }

    /// Whether the session is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.line.upgrade().is_none_or(|line| line.is_over())
    }
}

/// Two handles are equal if they are of one session.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.line, &other.line)
    }
}

impl Eq for Session {}

impl Hash for Session {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The place is not taken by another as long as there is a handle.
        self.line.as_ptr().cast::<()>().hash(state);
    }
}

async fn ask(
    line: &Arc<dyn Line>,
    about: Option<(Token, &Facts)>,
    method: &str,
    params: Option<&Json>,
) -> Result<Json, ErrorObject> {
    let gone = || crate::errors::internal("the client is gone").error;
    // Room first, as for what is told about a call.
    let turn = match about.and_then(|(call, _)| line.route(call)) {
        Some(route) => route.turn().await,
        None => None,
    };
    let asked = line.ask(about, method, params);
    drop(turn);
    match asked {
        Ok((ask, answer)) => {
            let _forget = Forget { line, ask };
            match answer.await.map_err(|_| gone())?.answer {
                Answer::Result(result) => Ok(result),
                Answer::Error(error) => Err(error),
                // A client's alone.
                Answer::InputRequired(_) | Answer::Failed(_) => Err(gone()),
            }
        }
        Err(Fate::Refused(error)) => Err(*error),
        Err(Fate::NeedsAdapter(needs)) => Err(crate::errors::internal(&needs.to_string()).error),
        Err(_) => Err(gone()),
    }
}

/// Says that an answer is not waited for any more; once it has come, that changes nothing.
struct Forget<'a> {
    line: &'a Arc<dyn Line>,
    ask: Token,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.line.forget(self.ask);
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("is_over", &self.is_over())
            .finish()
    }
}
