//! What the server sends by itself: requests of the handshake era, and notifications.

use mcp_registry::{Era, Revision};
use mcp_wire::{ErrorObject, Json, RawError, RawNotification, RawRequest, RawResponse, RequestId};

use super::output::{Asked, Event, Ignored, Post, Refused, ServerRequest, Token};
use super::send::{member, own_id};
use super::translate::{Stopped, empty_object};
use super::{Client, Purpose};
use crate::Spoken;

impl<App: Spoken> Client<App> {
    /// A request of the server.
    pub(super) fn take_request(&mut self, request: RawRequest) {
        let RawRequest {
            id, method, params, ..
        } = request;
        // Before the handshake is over a server may ask for a sign of life.
        let revision = match self.state.settled() {
            Some(settled) if settled.revision.era() == Era::PerRequest => {
                return self.ignore(Ignored::Request(method));
            }
            Some(settled) => settled.revision,
            None => self
                .options
                .revisions
                .newest(Era::Handshake)
                .unwrap_or(Revision::NEWEST),
        };
        if method == "ping" {
            return self.post_answer(id, Ok(empty_object()), revision);
        }
        if self.from_server.len() >= self.options.limits.pending
            || self.from_server.contains_key(&id)
        {
            let error = ErrorObject::new(
                ErrorObject::INVALID_REQUEST,
                "that id waits for its answer, or too many do",
            );
            self.post_answer(id, Err(error), revision);
            return self.ignore(Ignored::Request(method));
        }
        let given = params.is_some();
        let params = params.unwrap_or_else(empty_object);
        match self.translator.params_in(&method, &params, revision) {
            Ok((params, losses)) => {
                self.from_server.insert(id.clone(), method.clone());
                let params = (given || params.text() != "{}").then_some(params);
                self.tell(Event::Request {
                    request: ServerRequest(Asked::Request(id)),
                    method,
                    params,
                    losses,
                });
            }
            Err(stopped) => {
                self.report(&method, &stopped);
                self.post_answer(
                    id,
                    Err(stopped.into_error(ErrorObject::INVALID_PARAMS)),
                    revision,
                );
            }
        }
    }

    /// Says why a message of the server does not reach the application.
    fn report(&mut self, method: &str, stopped: &Stopped) {
        let method = method.to_owned();
        self.ignore(match stopped {
            Stopped::NeedsState(needs) => Ignored::NeedsAdapter(method, needs.clone()),
            Stopped::Swallowed(rule) => Ignored::Swallowed(method, rule),
            Stopped::Rejected(error) => Ignored::Invalid(method, error.message.clone()),
            Stopped::Invalid(error) => Ignored::Invalid(method, error.to_string()),
            Stopped::Unknown(what) => Ignored::Invalid(method, what.clone()),
        });
    }

    /// The application's answer to a request of the server.
    pub(super) fn answer_server(
        &mut self,
        request: ServerRequest,
        answer: Result<Json, ErrorObject>,
    ) -> Result<(), Refused> {
        let id = match request.0 {
            Asked::Request(id) => id,
            Asked::Question { round, key } => {
                let now = self.now;
                return match self.answer_question(round, key, answer, now) {
                    true => Ok(()),
                    false => Err(Refused::NotAsked),
                };
            }
        };
        let method = self.from_server.remove(&id).ok_or(Refused::NotAsked)?;
        let revision = self
            .state
            .settled()
            .map(|settled| settled.revision)
            .ok_or(Refused::NotAsked)?;
        let answer = match answer {
            Ok(result) => self
                .translator
                .result_out(&method, &result, revision)
                .map(|it| it.0)
                .map_err(|stopped| stopped.into_error(ErrorObject::INTERNAL_ERROR)),
            Err(error) => Err(self.translator.error_out(&method, error, revision)),
        };
        self.post_answer(id, answer, revision);
        Ok(())
    }

    fn post_answer(
        &mut self,
        id: RequestId,
        answer: Result<Json, ErrorObject>,
        revision: Revision,
    ) {
        let headers = self.headers(revision, true, None, None, Vec::new());
        match answer {
            Ok(result) => self.send(&RawResponse::new(id, result), headers, None),
            Err(error) => self.send(&RawError::new(Some(id), error), headers, None),
        };
    }

    /// A notification of the server.
    pub(super) fn take_notification(&mut self, notification: RawNotification, post: Option<Post>) {
        let RawNotification { method, params, .. } = notification;
        let listening = self.subscription(params.as_ref());
        if self.is_acknowledgement(&method, listening) {
            return;
        }
        let about = self.about(&method, params.as_ref(), post);
        let revision = self.state.settled().map(|settled| settled.revision);
        let revision = revision
            .or_else(|| self.options.revisions.newest(Era::Handshake))
            .unwrap_or(Revision::NEWEST);
        if method == "notifications/cancelled" && revision.era() == Era::Handshake {
            self.forget_request(params.as_ref());
            if App::REVISION.era() == Era::PerRequest {
                // Its questions have no ids of their own there.
                return;
            }
        }
        let given = params.is_some();
        let params = params.unwrap_or_else(empty_object);
        match self.translator.params_in(&method, &params, revision) {
            Ok((params, losses)) => {
                let streams = match about {
                    Some(_) => Vec::new(),
                    None => self.streams_for(&method, &params),
                };
                let params = (given || params.text() != "{}").then_some(params);
                for token in &streams {
                    self.tell(Event::Notification {
                        method: method.clone(),
                        params: params.clone(),
                        about: Some(*token),
                        losses: losses.clone(),
                    });
                }
                if streams.is_empty() {
                    self.tell(Event::Notification {
                        method,
                        params,
                        about,
                        losses,
                    });
                }
            }
            Err(stopped) => self.report(&method, &stopped),
        }
    }

    /// The server gives up one of its requests: it wants no answer any more.
    fn forget_request(&mut self, params: Option<&Json>) {
        let id = params
            .and_then(|params| member(params, "requestId"))
            .and_then(|id| id.read::<RequestId>().ok());
        if let Some(id) = id {
            self.from_server.remove(&id);
        }
    }

    /// The request that a notification belongs to.
    fn about(&self, method: &str, params: Option<&Json>, post: Option<Post>) -> Option<Token> {
        let token_of = |purpose: &Purpose| match purpose {
            Purpose::Application { request, .. } => Some(request.token),
            _ => None,
        };
        if method == "notifications/progress" {
            let wanted = member(params?, "progressToken")?;
            return self
                .pending
                .values()
                .find_map(|pending| match &pending.purpose {
                    Purpose::Application {
                        request,
                        progress_token: Some(token),
                        ..
                    } if *token == wanted => Some(request.token),
                    _ => None,
                });
        }
        if let Some(id) = self.subscription(params) {
            return self
                .pending
                .get(&id)
                .and_then(|pending| token_of(&pending.purpose));
        }
        let id = self.posts.get(&post?).copied().flatten()?;
        self.pending
            .get(&id)
            .and_then(|pending| token_of(&pending.purpose))
    }

    /// The listen request that a notification of a subscription names.
    fn subscription(&self, params: Option<&Json>) -> Option<i64> {
        let meta = member(params?, "_meta")?;
        own_id(&member(&meta, crate::meta::SUBSCRIPTION_ID)?.read().ok()?)
    }
}
