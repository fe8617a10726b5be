//! What goes out: requests in the server's revision, stamped, with their headers.

use mcp_registry::{Era, Revision};
use mcp_wire::{Encode, Json, JsonObject, Map, RawNotification, RawRequest, RequestId, to_line};

use super::output::{Answer, Call, Failure, Output, Post, Send, Token};
use super::stamp::{Claim, Stamp, headers, progress_token, take_log_level};
use super::translate::{Stopped, Translator, empty_object};
use super::{Channel, Client, Pending, Purpose, Resumed, Waiting};
use crate::Spoken;

/// A request in the server's revision.
pub(super) struct Prepared {
    params: Option<Json>,
    losses: Vec<mcp_registry::Loss>,
    log_level: Option<String>,
}

impl<App: Spoken> Client<App> {
    /// Sends what waits, once it is known how.
    pub(super) fn send_waiting(&mut self) {
        while let Some(settled) = self.state.settled() {
            let revision = settled.revision;
            let Some(request) = self.waiting.pop_front() else {
                return;
            };
            let request = match self.options.adapts {
                true => self.adapted(request, revision),
                false => Some(request),
            };
            let Some(request) = request else { continue };
            match self.prepare(&request, revision) {
                Ok(prepared) => self.send_request(request, prepared, revision),
                Err(failure) => self.tell_answer(request, Answer::Failed(failure), Vec::new()),
            }
        }
    }

    /// The params of a request in the server's revision.
    fn prepare(&self, request: &Waiting, revision: Revision) -> Result<Prepared, Failure> {
        let Call {
            method,
            params,
            log_level,
            ..
        } = &request.call;
        let (params, own_level) = take_log_level(params.clone());
        let log_level = log_level
            .clone()
            .or(own_level)
            .or_else(|| self.log_level.clone());
        let (params, losses) = self.carried(method, params, revision)?;
        let params = match &request.retry {
            Some(resumed) if resumed.revision != revision => {
                // The questions were those of a server that speaks otherwise by now.
                return Err(Failure::InvalidResult(
                    "the server changed its revision between two rounds".to_owned(),
                ));
            }
            Some(resumed) => Some(resume(params, resumed)),
            None => params,
        };
        Ok(Prepared {
            params,
            losses,
            log_level,
        })
    }

    /// Params of a method in a revision of the server; the application's own keys of `_meta` may be absent.
    fn carried(
        &self,
        method: &str,
        params: Option<Json>,
        to: Revision,
    ) -> Result<(Option<Json>, Vec<mcp_registry::Loss>), Failure> {
        let params = match self.translator.inner.app.era() {
            Era::PerRequest if !method.starts_with("notifications/") => {
                // Reading it as a request of this era takes what the endpoint will stamp anyway.
                let capabilities = self.options.profile.capabilities.clone();
                let claim = Claim {
                    revision: self.translator.inner.app,
                    capabilities,
                    info: None,
                    log_level: None,
                };
                Stamp {
                    claim: Some(claim),
                    progress_token: None,
                }
                .put_into(params)
            }
            _ => params,
        };
        let given = params.is_some();
        let params = params.unwrap_or_else(empty_object);
        let (params, losses) = self
            .translator
            .params_out(method, &params, to)
            .map_err(Stopped::of_params)?;
        let keep = given || params.text() != "{}";
        Ok((keep.then_some(params), losses))
    }

    fn send_request(&mut self, request: Waiting, prepared: Prepared, revision: Revision) {
        let Prepared {
            params,
            losses,
            log_level,
        } = prepared;
        if revision.era() == Era::Handshake {
            self.apply_log_level(log_level.as_deref());
        }
        let id = self.fresh_id();
        let claim = self.claim(revision, log_level);
        let wanted = request.call.progress.then_some(id);
        let params = Stamp {
            claim,
            progress_token: wanted,
        }
        .put_into(params);
        let progress_token = progress_token(params.as_ref());
        let method = request.call.method.clone();
        let extra = match revision.era() {
            Era::PerRequest => request.call.headers.clone(),
            Era::Handshake => Vec::new(),
        };
        let purpose = Purpose::Application {
            request: Box::new(Waiting {
                sent: request.sent.saturating_add(1),
                ..request
            }),
            progress_token,
            losses,
        };
        self.post_request(id, &method, params, revision, purpose, &extra);
    }

    /// Puts a request on its way.
    pub(super) fn post_request(
        &mut self,
        id: i64,
        method: &str,
        params: Option<Json>,
        revision: Revision,
        purpose: Purpose,
        extra: &[(String, String)],
    ) {
        let extra: Vec<_> = extra
            .iter()
            .map(|(name, value)| (name.clone(), crate::headers::encoded(value).into_owned()))
            .collect();
        let initialize = matches!(purpose, Purpose::Initialize);
        let headers = self.headers(revision, !initialize, Some(method), params.as_ref(), extra);
        let request = RawRequest {
            params,
            ..RawRequest::new(id, method)
        };
        let post = self.send(&request, headers, Some(id));
        self.pending.insert(
            id,
            Pending {
                purpose,
                revision,
                post,
            },
        );
    }

    /// What a request of the per-request era says of its sender.
    pub(super) fn claim(&self, revision: Revision, log_level: Option<String>) -> Option<Claim> {
        if revision.era() == Era::Handshake {
            return None;
        }
        let Translator { capabilities, .. } = &self.translator;
        let info = self.options.profile.info.text();
        Some(Claim {
            revision,
            capabilities: capabilities.clone().unwrap_or_else(empty_object),
            info: (self.translator).definition_out("Implementation", revision, info),
            log_level,
        })
    }

    /// A notification of the application, in the revision that is settled.
    pub(super) fn send_notification(
        &mut self,
        method: &str,
        params: Option<Json>,
    ) -> Result<Vec<mcp_registry::Loss>, Failure> {
        let Some(settled) = self.state.settled() else {
            return Err(Failure::Closed);
        };
        let revision = settled.revision;
        let (params, losses) = self.carried(method, params, revision)?;
        self.post_notification(method, params, revision);
        Ok(losses)
    }

    pub(super) fn post_notification(
        &mut self,
        method: &str,
        params: Option<Json>,
        revision: Revision,
    ) {
        let headers = self.headers(revision, true, Some(method), params.as_ref(), Vec::new());
        let notification = RawNotification {
            params,
            ..RawNotification::new(method)
        };
        self.send(&notification, headers, None);
    }

    /// Sends `logging/setLevel` if the session has another level.
    pub(super) fn apply_log_level(&mut self, level: Option<&str>) {
        let Some(level) = level else { return };
        let Some(revision) = self.state.new_log_level(level) else {
            return;
        };
        let mut params = Map::new();
        params.insert("level", Json::of(level));
        let id = self.fresh_id();
        self.post_request(
            id,
            "logging/setLevel",
            Some(Json::of(&params)),
            revision,
            Purpose::LogLevel,
            &[],
        );
    }

    /// Gives up a request of the application.
    pub(super) fn give_up(&mut self, token: Token, reason: Option<&str>) {
        if let Some(index) = self
            .waiting
            .iter()
            .position(|request| request.token == token)
        {
            if let Some(request) = self.waiting.remove(index) {
                self.tell_answer(request, Answer::Failed(Failure::Cancelled), Vec::new());
            }
            return;
        }
        let cancelled = Answer::Failed(Failure::Cancelled);
        if let Some((request, losses)) = self.rounds.remove(token) {
            return self.tell_answer(request, cancelled, losses);
        }
        if let Some(request) = self.close_stream(token) {
            return self.tell_answer(request, cancelled, Vec::new());
        }
        let Some(id) = self.id_of(token) else { return };
        if let Some(Purpose::Application {
            request, losses, ..
        }) = self.withdraw(id, reason)
        {
            self.tell_answer(*request, cancelled, losses);
        }
    }

    /// Takes back a request on its way.
    pub(super) fn withdraw(&mut self, id: i64, reason: Option<&str>) -> Option<Purpose> {
        let Pending {
            purpose,
            revision,
            post,
        } = self.pending.remove(&id)?;
        match (self.options.channel, revision.era()) {
            (Channel::Http, Era::PerRequest) => {
                self.posts.remove(&post);
                self.outputs.push_back(Output::Close(post));
            }
            _ => self.send_cancelled(id, reason, revision),
        }
        Some(purpose)
    }

    fn send_cancelled(&mut self, id: i64, reason: Option<&str>, revision: Revision) {
        let mut params = Map::new();
        params.insert("requestId", Json::from(id));
        if let Some(reason) = reason {
            params.insert("reason", Json::of(reason));
        }
        self.post_notification("notifications/cancelled", Some(Json::of(&params)), revision);
    }

    /// The id of a request on its way.
    fn id_of(&self, token: Token) -> Option<i64> {
        let is_it = |purpose: &Purpose| match purpose {
            Purpose::Application { request, .. } => request.token == token,
            _ => false,
        };
        self.pending
            .iter()
            .find(|(_, pending)| is_it(&pending.purpose))
            .map(|(id, _)| *id)
    }

    /// The headers of a message, none over stdio.
    pub(super) fn headers(
        &self,
        revision: Revision,
        settled: bool,
        method: Option<&str>,
        params: Option<&Json>,
        extra: Vec<(String, String)>,
    ) -> Vec<(String, String)> {
        if self.options.channel == Channel::Stdio {
            return Vec::new();
        }
        let session = self
            .state
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
    pub(super) fn send<M: Encode>(
        &mut self,
        message: &M,
        headers: Vec<(String, String)>,
        id: Option<i64>,
    ) -> Post {
        self.next_post += 1;
        let post = Post(self.next_post);
        if self.options.channel == Channel::Http {
            self.posts.insert(post, id);
        }
        self.outputs.push_back(Output::Send(Send {
            post,
            headers,
            text: to_line(message),
        }));
        post
    }

    pub(super) fn fresh_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    /// The application's answers to the questions of a server, in its revision.
    pub(super) fn responses(
        &self,
        methods: &[(String, String)],
        answers: impl IntoIterator<Item = (String, Json)>,
        revision: Revision,
    ) -> Option<Json> {
        let mut responses = Map::new();
        for (key, answer) in answers {
            let Some((_, method)) = methods.iter().find(|(asked, _)| *asked == key) else {
                continue;
            };
            if let Ok((answer, _)) = self.translator.result_out(method, &answer, revision) {
                responses.insert(key, answer);
            }
        }
        (!methods.is_empty()).then(|| Json::of(&responses))
    }
}

/// The params of a request that is sent again.
fn resume(params: Option<Json>, resumed: &Resumed) -> Json {
    let mut params: Map<Json> = params
        .unwrap_or_else(empty_object)
        .read()
        .unwrap_or_default();
    let mut set = |name: &str, value: &Option<Json>| match value {
        Some(value) => {
            params.insert(name, value.clone());
        }
        None => {
            params.remove(name);
        }
    };
    set("inputResponses", &resumed.responses);
    set("requestState", &resumed.state);
    Json::of(&params)
}

/// The number of an id that this client gave out.
pub(super) fn own_id(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Integer(id) => id.as_i64(),
        RequestId::String(_) => None,
    }
}

/// The member of an object, if it is one.
pub(super) fn member(object: &Json, name: &str) -> Option<Json> {
    JsonObject::try_from(object.clone()).ok()?.get(name)
}
