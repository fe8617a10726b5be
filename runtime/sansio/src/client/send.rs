//! Outgoing messages: requests in the server's revision, with their `_meta` and headers.

use std::time::Duration;

use mcp_revisions_core::{Conversion, Lifecycle, Revision, methods};
use mcp_wire::{ErrorObject, Json, MessageKind, RequestId, envelope::write, meta, one_line};

use super::requests::TaskStage;
use super::stamp::may_name;
use super::stamp::{Claim, headers, progress_token, stamped, take_log_level};
use super::translate::without_claims;
use super::{AppRequest, Channel, Client, PendingRequest, RequestPurpose};
use crate::errors;
use crate::events::cancelled;
use crate::params;
use crate::tasks::client::is_of_extension;
use crate::translate::{TextDirection, no_params};
use crate::{
    Answer, Connection, Exchange, Failure, Fate, OutgoingRequest, Output, Profile, SendOutcome, To,
    Token,
};

/// A text on its way to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Names it when its answer is handed in.
    pub exchange: Exchange,
    /// The kind of the message.
    pub kind: MessageKind,
    /// The HTTP headers that belong to it; none over stdio.
    pub headers: Vec<(String, String)>,
    /// The text, without line breaks.
    pub text: String,
    /// Set if it ends a handshake: later messages are sent once the server has taken it.
    pub ends_handshake: bool,
}

impl Connection<Client> {
    /// Sends what waits, once it is known how.
    pub(crate) fn send_waiting(&mut self) {
        while let Some(revision) = self.state.stage.revision() {
            if self.state.session.waits_for_level() {
                return;
            }
            let Some(request) = self.state.waiting.pop_front() else {
                return;
            };
            if let Some(id) = request.ask.resumes.clone() {
                self.resume_task(request, id, revision);
                continue;
            }
            let request = if self.role.options.adapts {
                self.adapted(request, revision)
            } else {
                Some(request)
            };
            let Some(mut request) = request else {
                continue;
            };
            if self.prefers_task(&request, revision) {
                request.task = TaskStage::Asked;
            }
            match self.prepare(&mut request, revision) {
                // The level is there before the request is handled.
                Ok((_, level)) if self.applies_log_level(level.as_deref(), revision) => {
                    self.state.waiting.push_front(request);
                }
                Ok((params, log_level)) => self.send_request(request, params, log_level, revision),
                Err(failure) => self.tell_answer(request, Answer::Failed(failure)),
            }
        }
    }

    /// Returns the params of a request in the server's revision, and the log level that it asks for; what they lost is
    /// noted in the request.
    fn prepare(
        &self,
        request: &mut AppRequest,
        revision: Revision,
    ) -> Result<(Option<Json>, Option<String>), Failure> {
        let OutgoingRequest {
            method,
            params,
            log_level,
            behalf,
            ..
        } = &request.ask;
        let (params, own_level) = take_log_level(params.clone());
        let log_level = log_level
            .clone()
            .or(own_level)
            .or_else(|| self.state.session.log_level.clone())
            .or_else(|| self.default_log_level(revision));
        let mut carried = self.carried(method, params, revision);
        // Whoever it is asked for, the server was told of one client in the handshake.
        if let (None, Ok((_, losses))) = (behalf, &mut carried) {
            without_claims(losses);
        }
        let translator = &self.role.translator;
        let carried = translator.checked(method, carried);
        if carried.is_err() {
            translator.tell(method, revision, None, &carried);
        }
        let (params, losses) = carried.map_err(Failure::of_params)?;
        request.losses = losses;
        let params = match &request.retry {
            Some(resumed) if resumed.revision != revision => {
                // The questions were those of a server that speaks otherwise by now.
                return Err(Failure::InvalidResult(
                    "the server changed its revision between two rounds".to_owned(),
                ));
            }
            Some(resumed) => Some(resumed.put_into(params)),
            None => params,
        };
        Ok((Self::with_task(request, params, revision), log_level))
    }

    /// Returns whether messages of a method pass between the application and a server of this revision as they are.
    pub(crate) fn is_other(&self, method: &str, peer: Revision) -> bool {
        // Requests of the extension have names that a revision has for others.
        let is_of_extension = is_of_extension(self.role.app(), method);
        self.role.options.takes_others
            && (is_of_extension || self.role.translator.passes_as_is(method, Some(peer)))
    }

    /// Params of a method in a revision of the server; the application's own keys of `_meta` may be absent.
    fn carried(
        &self,
        method: &str,
        params: Option<Json>,
        to: Revision,
    ) -> Conversion<Option<Json>> {
        if self.is_other(method, to) {
            return Ok((unclaimed(params, to), Vec::new()));
        }
        let params = match self.role.app().lifecycle() {
            Lifecycle::PerRequest if !method.starts_with("notifications/") => {
                // Reading it as a request of this lifecycle takes what the endpoint will stamp anyway.
                let (app, profile) = (self.role.app(), &self.role.options.profile);
                let capabilities = self.role.translator.capabilities_of(profile, app);
                let claim = Claim {
                    revision: app,
                    capabilities: capabilities.unwrap_or_else(no_params),
                    info: None,
                    log_level: None,
                };
                stamped(params, Some(claim), None)
            }
            _ => params,
        };
        let given = params.is_some();
        let object = params.unwrap_or_else(no_params);
        let (params, losses) =
            self.role
                .translator
                .params(TextDirection::Out, method, &object, to)?;
        let keep = given || params.text() != "{}";
        Ok((keep.then_some(params), losses))
    }

    fn send_request(
        &mut self,
        request: AppRequest,
        params: Option<Json>,
        log_level: Option<String>,
        revision: Revision,
    ) {
        let id = self.fresh_id();
        let takes_task = request.ask.prefers_task || request.task == TaskStage::Asked;
        let claim = self.claim(revision, log_level, request.ask.behalf.as_deref());
        let claim = if takes_task && self.role.options.takes_tasks {
            self.claim_of_task(claim)
        } else {
            claim
        };
        let wanted = request.ask.progress.then_some(id);
        let params = stamped(params, claim, wanted);
        let progress_token = progress_token(params.as_ref());
        let method = request.ask.method.clone();
        let name = RequestId::from(id);
        (self.role.translator).tell_losses(&method, revision, Some(&name), &request.losses);
        let extra = match revision.lifecycle() {
            Lifecycle::PerRequest => {
                self.repeated(&method, &request.ask.headers, params.as_ref(), revision)
            }
            Lifecycle::Handshake => Vec::new(),
        };
        let purpose = RequestPurpose::Application(Box::new(AppRequest {
            sent: request.sent.saturating_add(1),
            progress_token,
            ..request
        }));
        self.post_as(id, &method, params, revision, purpose, extra);
    }

    /// Puts a request of the endpoint's own on its way. Returns its id.
    pub(crate) fn post_request(
        &mut self,
        method: &str,
        params: Option<Json>,
        revision: Revision,
        purpose: RequestPurpose,
    ) -> i64 {
        let id = self.fresh_id();
        self.post_as(id, method, params, revision, purpose, Vec::new());
        id
    }

    /// Puts a request on its way, with headers of its own.
    fn post_as(
        &mut self,
        id: i64,
        method: &str,
        params: Option<Json>,
        revision: Revision,
        purpose: RequestPurpose,
        extra: Vec<(String, String)>,
    ) {
        let extra: Vec<_> = extra
            .into_iter()
            .filter(|(name, _)| params::is_token(name))
            .map(|(name, value)| {
                (
                    name,
                    mcp_revisions_core::headers::encoded(&value).into_owned(),
                )
            })
            .collect();
        let initialize = matches!(purpose, RequestPurpose::Initialize);
        let method = self.role.translator.peer_name(method, revision);
        let headers = self.headers(revision, !initialize, Some(method), params.as_ref(), extra);
        let text = write::request(
            &RequestId::from(id),
            method,
            params.as_ref().map(Json::text),
        );
        let exchange = self.post(text, headers, MessageKind::Request, Some(id), false);
        let settled = self.state.stage.settled().filter(|_| !initialize);
        let session = settled.map_or(0, |settled| settled.number);
        self.state.pending.insert(
            id,
            PendingRequest {
                purpose,
                revision,
                exchange,
                session,
                status: None,
                foreign: None,
            },
        );
    }

    /// Returns the `_meta` of a per-request request: the claims of the client, or of the peer that it is made for.
    pub(crate) fn claim(
        &self,
        revision: Revision,
        log_level: Option<String>,
        behalf: Option<&Profile>,
    ) -> Option<Claim> {
        if revision.lifecycle() == Lifecycle::Handshake {
            return None;
        }
        let translator = &self.role.translator;
        let profile = behalf.unwrap_or(&self.role.options.profile);
        let capabilities = match behalf {
            Some(behalf) => {
                let capabilities = translator.capabilities_of(behalf, revision);
                capabilities.map(|it| self.role.options.with_extension(it))
            }
            None => (translator.session.as_ref()).and_then(|it| it.client_capabilities.clone()),
        };
        Some(Claim {
            revision,
            capabilities: (self.role.options)
                .declared_to(revision, capabilities.unwrap_or_else(no_params)),
            info: translator.info_of(profile, revision),
            log_level,
        })
    }

    /// Returns the params of a request of the endpoint's own, with what each says of the client that it is made for.
    pub(crate) fn stamped(
        &self,
        params: Option<Json>,
        revision: Revision,
        behalf: Option<&Profile>,
    ) -> Option<Json> {
        stamped(params, self.claim(revision, None, behalf), None)
    }

    /// Sends a notification, in the words of the application's revision.
    pub fn notify(
        &mut self,
        _: To,
        method: &str,
        params: Option<&Json>,
        _: Duration,
    ) -> SendOutcome {
        let Some(revision) = self.state.stage.revision() else {
            return SendOutcome::of(Fate::Unknown);
        };
        if self.is_unheeded() {
            let refusal = errors::too_many_pending(self.role.options.limits.max_pending_requests);
            return SendOutcome::of(Fate::Refused(Box::new(refusal.error)));
        }
        let carried = self.carried(method, params.cloned(), revision);
        let translator = &self.role.translator;
        match translator.report(method, revision, None, carried) {
            Ok((params, losses)) => {
                self.post_notification(method, params, revision);
                SendOutcome {
                    fate: Fate::Sent,
                    losses,
                }
            }
            Err(stopped) => {
                let code = ErrorObject::INVALID_PARAMS;
                SendOutcome::of(Fate::stopped(stopped, code))
            }
        }
    }

    pub(crate) fn post_notification(
        &mut self,
        method: &str,
        params: Option<Json>,
        revision: Revision,
    ) {
        let name = self.role.translator.peer_name(method, revision);
        let headers = self.headers(revision, true, Some(name), params.as_ref(), Vec::new());
        let text = write::notification(name, params.as_ref().map(Json::text));
        self.post(
            text,
            headers,
            MessageKind::Notification,
            None,
            method == methods::NOTIFICATIONS_INITIALIZED,
        );
    }

    /// Cancels a request of the application: its response is not waited for any more, and the server is notified.
    pub fn cancel(&mut self, token: Token, reason: Option<&str>, _: Duration) {
        let cancelled = Answer::Failed(Failure::Cancelled);
        if self.has_task(token) {
            return self.give_up_task(token, cancelled);
        }
        let mut waiting = self.state.waiting.iter();
        let request = match waiting.position(|request| request.token == token) {
            Some(index) => self.state.waiting.remove(index),
            None => (self.end_round(token))
                .or_else(|| self.state.tools.take(token))
                .or_else(|| self.close_stream(token))
                .or_else(|| match self.withdraw(self.id_of(token)?, reason)? {
                    RequestPurpose::Application(request) => Some(*request),
                    _ => None,
                }),
        };
        if let Some(request) = request {
            self.tell_answer(request, cancelled);
        }
    }

    /// Takes back a request on its way.
    pub(crate) fn withdraw(&mut self, id: i64, reason: Option<&str>) -> Option<RequestPurpose> {
        let PendingRequest {
            purpose,
            revision,
            exchange,
            ..
        } = self.state.pending.remove(&id)?;
        self.state.withdrawn.insert(id);
        match (self.role.options.channel, revision.lifecycle()) {
            (Channel::Http, Lifecycle::PerRequest) => {
                self.state.exchanges.remove(&exchange);
                self.put(Output::Close(exchange));
            }
            _ => self.send_cancelled(id, reason, revision),
        }
        Some(purpose)
    }

    fn send_cancelled(&mut self, id: i64, reason: Option<&str>, revision: Revision) {
        let params = cancelled(&RequestId::from(id), reason);
        let method = methods::NOTIFICATIONS_CANCELLED;
        self.post_notification(method, Some(params), revision);
    }

    /// Returns the id of a request on its way.
    fn id_of(&self, token: Token) -> Option<i64> {
        let is_it = |pending: &PendingRequest| matches!(&pending.purpose, RequestPurpose::Application(request) if request.token == token);
        self.state.pending.find(is_it)
    }

    /// Returns the headers of a message, none over stdio.
    pub(crate) fn headers(
        &self,
        revision: Revision,
        settled: bool,
        method: Option<&str>,
        params: Option<&Json>,
        extra: Vec<(String, String)>,
    ) -> Vec<(String, String)> {
        if self.role.options.channel == Channel::Stdio {
            return Vec::new();
        }
        let session = self
            .state
            .stage
            .settled()
            .and_then(|settled| settled.session.as_deref());
        let mut headers = headers(
            revision,
            session.filter(|_| settled),
            settled,
            method,
            params,
        );
        headers.extend(extra);
        headers
    }

    /// Hands a message to the driver.
    pub(crate) fn post(
        &mut self,
        text: String,
        headers: Vec<(String, String)>,
        kind: MessageKind,
        id: Option<i64>,
        ends_handshake: bool,
    ) -> Exchange {
        self.state.last_exchange += 1;
        self.state.has_notified |= kind != MessageKind::Request;
        let exchange = Exchange(self.state.last_exchange);
        if self.role.options.channel == Channel::Http {
            self.state.exchanges.insert(exchange, id);
        }
        self.send(Post {
            exchange,
            kind,
            headers,
            text: one_line(text).into_owned(),
            ends_handshake,
        });
        exchange
    }

    pub(crate) fn new_token(&mut self) -> Token {
        self.state.last_token += 1;
        Token(self.state.last_token)
    }

    pub(crate) fn fresh_id(&mut self) -> i64 {
        self.state.next_id += 1;
        self.state.next_id
    }
}

/// Returns params that are not converted, without the `_meta` keys of the per-request lifecycle for an older server.
fn unclaimed(params: Option<Json>, to: Revision) -> Option<Json> {
    if to.lifecycle() == Lifecycle::PerRequest {
        return params;
    }
    let claims = [
        meta::PROTOCOL_VERSION,
        meta::CLIENT_CAPABILITIES,
        meta::CLIENT_INFO,
        meta::LOG_LEVEL,
    ];
    let object = params?;
    let is_said = claims.iter().any(|claim| may_name(&object, claim));
    if !is_said || object.get("_meta").is_none() {
        return Some(object);
    }
    Some(meta::edit(&object, |meta| {
        for claim in claims {
            meta.remove(claim);
        }
    }))
}
