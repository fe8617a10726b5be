//! The context of a call for its handler: the client, and notifications and requests during the call.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use mcp_revisions_core::translate::find_method;
use mcp_revisions_core::{Latest, Lifecycle, Revision, Spoken};
use mcp_wire::service::{Caller, Context};
use mcp_wire::{Decode, Direction, Encode, Json, MethodKind, Number, Writer};

use super::stateless::Answers;
use super::states::States;
use crate::serve::{Cancellation, ExchangeFacts, Peer, Principal, Session};
use crate::service::Error;
use mcp_revisions_core::methods;
use mcp_revisions_sansio::server::{Caller as Who, IncomingRequest, LogLevel, Owner};

/// The context of a call for its handler, in the revision `App`; clones belong to the same call.
///
/// Typed requests to the client are those of the revision's `CallClient`: `cx.list_roots(None).await?`.
#[doc(alias("Context", "Peer"))]
pub struct RequestContext<App = Latest> {
    facts: Arc<CallFacts>,
    /// Set if its requests to the client end the call.
    starts_over: bool,
    /// The states that the functions of a router share.
    states: Option<Arc<States>>,
    app: PhantomData<fn() -> App>,
}

/// The facts of a call, or of a notification.
struct CallFacts {
    /// The client that waits for the answer; `None` for a notification.
    peer: Option<Peer>,
    /// The method of the call; empty for a notification.
    method: Cow<'static, str>,
    session: Session,
    revision: Revision,
    client: Option<Arc<Who>>,
    log_level: Option<LogLevel>,
    progress_token: Option<Json>,
    params: Json,
    /// Read from the params on first use.
    answers: OnceLock<Answers>,
    /// Set in the context of a call that is answered.
    answered: Option<AnsweredCall>,
}

/// The facts of a call that stay after its answer, without its connection.
#[derive(Clone)]
struct AnsweredCall {
    principal: Option<Principal>,
    sender: ExchangeFacts,
}

impl CallFacts {
    fn answers(&self) -> &Answers {
        self.answers.get_or_init(|| Answers::of(&self.params))
    }
}

impl<App> Clone for RequestContext<App> {
    fn clone(&self) -> Self {
        Self {
            facts: Arc::clone(&self.facts),
            states: self.states.clone(),
            ..*self
        }
    }
}

mcp_wire::debug_struct!([App] RequestContext<App>, "RequestContext", self, "revision": self.facts.revision);

impl<App> RequestContext<App> {
    fn of(facts: CallFacts) -> Self {
        Self {
            facts: Arc::new(facts),
            starts_over: false,
            states: None,
            app: PhantomData,
        }
    }

    pub(in crate::service) fn call<Method>(call: IncomingRequest<Method>, peer: Peer) -> Self
    where
        Method: Into<Cow<'static, str>>,
    {
        let facts = CallFacts {
            session: peer.session(),
            peer: Some(peer),
            method: call.method.into(),
            revision: call.revision,
            client: Some(call.caller),
            log_level: call.log_level,
            progress_token: call.progress_token,
            params: call.params,
            answers: OnceLock::new(),
            answered: None,
        };
        Self::of(facts)
    }

    /// Returns the params of the call, or of the notification.
    pub(in crate::service) fn params(&self) -> &Json {
        &self.facts.params
    }

    /// Returns the context of a notification with these params of a client that speaks this revision.
    pub(in crate::service) fn notice(params: Json, revision: Revision, session: Session) -> Self {
        let facts = CallFacts {
            peer: None,
            method: Cow::default(),
            session,
            revision,
            client: None,
            log_level: None,
            progress_token: None,
            params,
            answers: OnceLock::new(),
            answered: None,
        };
        Self::of(facts)
    }

    /// Returns the context of the same call or notification with other params.
    pub(in crate::service) fn with_params(&self, params: Json) -> Self {
        let facts = &self.facts;
        let facts = CallFacts {
            peer: facts.peer.clone(),
            method: facts.method.clone(),
            session: facts.session.clone(),
            client: facts.client.clone(),
            progress_token: facts.progress_token.clone(),
            params,
            answers: OnceLock::new(),
            answered: facts.answered.clone(),
            ..**facts
        };
        Self {
            facts: Arc::new(facts),
            ..self.clone()
        }
    }

    /// Returns the context for work that goes on after the answer: it knows the principal and the extensions of the request, and
    /// has no client to ask. It keeps neither the connection nor the server alive.
    pub(in crate::service) fn answered(&self) -> Self {
        let facts = &self.facts;
        let parts = facts.peer.as_ref().and_then(|it| it.facts().parts.clone());
        let facts = CallFacts {
            peer: None,
            method: facts.method.clone(),
            session: facts.session.clone(),
            client: facts.client.clone(),
            progress_token: None,
            params: facts.params.clone(),
            answers: OnceLock::new(),
            answered: Some(AnsweredCall {
                principal: self.principal(),
                sender: ExchangeFacts { parts, room: None },
            }),
            ..**facts
        };
        Self {
            facts: Arc::new(facts),
            ..self.clone()
        }
    }

    /// Returns the context with what the functions of a router share.
    pub(in crate::service) fn with_states(mut self, states: &Arc<States>) -> Self {
        self.states = Some(Arc::clone(states));
        self
    }

    /// Returns the state of this type; `None` if the router was given none.
    pub(in crate::service) fn state<S: Send + Sync + 'static>(&self) -> Option<Arc<S>> {
        self.states.as_ref()?.get()
    }

    /// Returns the arguments that were filled in before the one that a completion is for, by name; empty in other calls, and
    /// from clients whose revision does not send them.
    #[must_use]
    pub fn completion_arguments(&self) -> mcp_wire::Map<String> {
        let context = self.facts.params.get("context");
        let arguments = context.and_then(|it| it.get("arguments")?.read().ok());
        arguments.unwrap_or_default()
    }

    /// Returns the result that asks the client, if the handler has sent a question that has no answer yet.
    pub(in crate::service) fn question(&self) -> Option<Json> {
        self.facts.answers.get()?.question()
    }

    /// Returns `_meta` of the params, in the application's revision; `None` if the call or the notification has none.
    #[must_use]
    pub fn meta(&self) -> Option<Json> {
        self.facts.params.get("_meta")
    }

    /// Returns the revision that the client speaks.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.facts.revision
    }

    /// Returns the name and the capabilities of the client, or `None` in the handler of a notification.
    #[must_use]
    pub fn client(&self) -> Option<&Who> {
        self.facts.client.as_deref()
    }

    /// Returns params of an extension's method for its typed handlers, which read in `_meta` what a client declares. A client of
    /// the handshake lifecycle declares it once, in `initialize`: that is put into `_meta`. Params of other clients stay as they
    /// are.
    #[must_use]
    pub fn with_declared(&self, params: &Json) -> Json
    where
        App: Spoken,
    {
        match (&self.facts.client, self.facts.revision.lifecycle()) {
            (Some(client), Lifecycle::Handshake) => client.stated_in(params, App::REVISION),
            _ => params.clone(),
        }
    }

    /// Returns a handle that outlives the call: for messages that belong to no call, such as that a list has changed.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.facts.session
    }

    /// Returns the minimum log level that the client requested for this call, or `None`.
    #[must_use]
    pub fn log_level(&self) -> Option<LogLevel> {
        self.facts.log_level
    }

    /// Returns the peer that sent the request, with its HTTP headers and extensions; `None` in the handler of a notification.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        self.facts.peer.as_ref()
    }

    /// Returns a value that a layer around the HTTP service has inserted into the extensions of the request; `None` over stdio.
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        match (&self.facts.peer, &self.facts.answered) {
            (Some(peer), _) => peer.facts().inserted(),
            (None, answered) => answered.as_ref()?.sender.inserted(),
        }
    }

    /// Returns the authenticated principal of the call; `None` without authentication, and over stdio.
    #[must_use]
    pub fn principal(&self) -> Option<Principal> {
        if let Some(answered) = &self.facts.answered {
            return answered.principal.clone();
        }
        match self.facts.session.owner() {
            Owner::Principal(name) => Some(Principal(name.to_string())),
            _ => None,
        }
    }

    /// Checks whether the access token of the call has these scopes, by the guard of the service
    /// (`http::Options::with_guard`). Over stdio there are no tokens, and every scope is there.
    ///
    /// Return the error before anything was sent: the response then has status 403 and names the scopes, and the client signs in
    /// again for them. Later the error is part of the stream, and clients do not follow it.
    ///
    /// # Errors
    /// Returns an error if the token lacks one of the scopes, or if the service has no guard.
    pub fn require_scopes<S: AsRef<str>>(
        &self,
        scopes: impl IntoIterator<Item = S>,
    ) -> Result<(), Error> {
        let mut needed = scopes.into_iter().peekable();
        match &self.facts.peer {
            Some(peer) if needed.peek().is_some() => Ok(peer.require_scopes(needed)?),
            _ => Ok(()),
        }
    }

    /// Returns the client's cancellation of the call, with its reason; `None` if it did not, and in the handler of a notification.
    /// The future of the handler is dropped right after it was cancelled: a guard in it can ask.
    #[must_use]
    pub fn cancellation(&self) -> Option<&Cancellation> {
        self.facts.peer.as_ref()?.cancellation()
    }

    /// Returns a context whose requests to the client end the call. The handler starts over once the client has answered,
    /// and nothing is kept for it meanwhile, neither here nor on another replica. Code before a request runs again, so
    /// send requests first:
    ///
    /// ```
    /// # use mcp_revisions::Latest;
    /// # use mcp_revisions::service::{RequestContext, Error};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Profile { name: String }
    /// async fn greet(cx: RequestContext<Latest>) -> Result<String, Error> {
    ///     let cx = cx.stateless();
    ///     let Profile { name } = cx.elicit("Who are you?").await?;
    ///     Ok(format!("Hello, {name}."))
    /// }
    /// ```
    ///
    /// A request without an answer fails with [`Error::InputRequired`]. The call ends with the question, and not with what the
    /// handler returns after it, so `?` works in a handler of any error type. In an application of a handshake revision, and in
    /// calls of methods that have no result with a question, such as those of `custom_method`, requests are sent as usual.
    ///
    /// Earlier answers come back signed for this tool, these arguments and this principal, and expire after
    /// [`Limits::client_response_timeout`](crate::Limits::client_response_timeout). Nothing is remembered of them here: until then a client can send the
    /// same answers again, and what the handler does after its last question is done again. What must not be done twice
    /// needs a key of its own. Replicas need the same
    /// [`with_request_state_key`](super::McpServer::with_request_state_key).
    #[must_use]
    pub fn stateless(self) -> Self
    where
        App: Spoken,
    {
        let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
        let row = find_method(App::REVISION, &self.facts.method, sender, kind);
        Self {
            starts_over: row.is_some_and(|row| row.input_required),
            ..self
        }
    }

    /// Returns the response of the client under this key of `inputRequests`, or `None`.
    ///
    /// For handlers of a per-request revision that return `InputRequiredResult` themselves: several requests at once, or
    /// keys that mean something. Other responses of the client are ignored.
    ///
    /// # Errors
    /// Returns an error if the response is not of this type.
    pub fn input_response<T: Decode>(&self, name: &str) -> Result<Option<T>, Error> {
        let answer = self.facts.answers().named(name);
        let read = answer.map(Json::read).transpose();
        read.map_err(|error| {
            let why = mcp_revisions_sansio::errors::abridged(&error);
            Error::InvalidParams(format!("the answer `{name}`: {why}"))
        })
    }

    /// Returns the `requestState` of such a result, as its client has sent it back.
    ///
    /// It was given out by this server for the same method, name, URI and arguments, and to the same principal, no longer
    /// than [`Limits::client_response_timeout`](crate::Limits::client_response_timeout) ago: any other is refused before the handler is called. The client
    /// can read it, and can send it again until it expires.
    #[must_use]
    pub fn request_state(&self) -> Option<&str> {
        self.facts.answers().state()
    }

    /// Answers the call with a task, if its client takes one, and returns whether it has one now.
    /// If the future is dropped, the call may have become a task.
    ///
    /// The handler goes on in any case. Its result is kept for the client, which looks for it; a client without tasks waits
    /// for it, and so does one for whose task there is no room. Requests to the client that end the call come before
    /// this: from here on they are sent as usual.
    ///
    /// # Errors
    /// Returns an error if the client is gone, or if it asked for a task and none can be kept.
    pub async fn start_task(&self) -> Result<bool, Error> {
        match &self.facts.peer {
            Some(peer) => Ok(peer.start_task().await?),
            None => Ok(false),
        }
    }

    /// Reports progress, if the client requested it: `cx.progress(50, 100).await`. If this future is dropped, it may not be sent.
    pub async fn progress(&self, done: impl Into<Number>, total: impl Into<Number>) {
        self.tell_progress(done.into(), Some(total.into()), None)
            .await;
    }

    /// Reports progress with a message for users; the total may not be known.
    /// If the future is dropped, it may not be sent.
    pub async fn progress_with(
        &self,
        done: impl Into<Number>,
        total: Option<Number>,
        message: impl Into<String>,
    ) {
        self.tell_progress(done.into(), total, Some(&message.into()))
            .await;
    }

    async fn tell_progress(&self, done: Number, total: Option<Number>, message: Option<&str>) {
        let Some(peer) = &self.facts.peer else {
            return;
        };
        let token = &self.facts.progress_token;
        // A client that polls a task sees its message.
        if token.is_none() && peer.task().is_none() {
            return;
        }
        let mut writer = Writer::new();
        let mut object = writer.object();
        object.optional("progressToken", token);
        object.member("progress", &done);
        object.optional("total", &total);
        object.optional("message", &message);
        object.end();
        let params = Json::from_text(&writer.into_text()).ok();
        // Whoever hung up does not want to know.
        let _ = peer
            .notify(methods::NOTIFICATIONS_PROGRESS, params.as_ref())
            .await;
    }

    /// Sends a log message, if the client wants any of this severity.
    /// If the future is dropped, it may not be sent.
    pub async fn log(&self, level: LogLevel, data: impl Encode) {
        let Some(peer) = &self.facts.peer else {
            return;
        };
        let mut writer = Writer::new();
        let mut object = writer.object();
        object.member("level", &level);
        object.member("data", &data);
        object.end();
        let params = Json::from_text(&writer.into_text()).ok();
        let _ = peer
            .notify(methods::NOTIFICATIONS_MESSAGE, params.as_ref())
            .await;
    }
}

impl<App: Spoken> Context for RequestContext<App> {
    type Error = Error;
}

impl<App: Spoken> Caller for RequestContext<App> {
    type Protocol = App::Protocol;
    type Error = Error;

    /// Sends a request to the client, in the application's revision; a client of a per-request revision gets it in the
    /// result of its call.
    async fn request(&self, method: &'static str, params: Option<Json>) -> Result<Json, Error> {
        let is_task = (self.facts.peer.as_ref()).is_some_and(|peer| peer.task().is_some());
        if self.starts_over && !is_task {
            let answer = self.facts.answers().next(method, params);
            return answer.ok_or(Error::InputRequired);
        }
        let answer = match &self.facts.peer {
            Some(peer) => peer.ask(method, params.as_ref()).await,
            None => self.facts.session.ask(method, params.as_ref()).await,
        };
        let lacks = Some(mcp_revisions_core::errors::MISSING_CLIENT_CAPABILITY);
        answer.map_err(|error| {
            if error.code.as_i64() == lacks {
                Error::CannotAsk(error)
            } else {
                Error::Rpc(error)
            }
        })
    }

    async fn notification(&self, method: &'static str, params: Option<Json>) -> Result<(), Error> {
        // A notification that a client does not want is not sent, and that is not an error.
        let _ = match &self.facts.peer {
            Some(peer) => peer.notify(method, params.as_ref()).await,
            None => self.facts.session.notify(method, params.as_ref()),
        };
        Ok(())
    }
}
