//! What comes in: answers find their request, are read by its method, and become the application's.

use std::time::Duration;

use mcp_registry::{Era, Loss, ProtocolRule, Revision};
use mcp_wire::{Error, ErrorObject, Json, JsonObject, Message, Packet, RawError, RawResponse};

use super::era::{Evidence, choose, supported};
use super::output::{Answer, Event, Failure, Ignored, InputRequired, Post, Retry};
use super::send::{member, own_id};
use super::translate::Stopped;
use super::{Client, Pending, Purpose, Waiting};
use crate::errors::UNSUPPORTED_PROTOCOL_VERSION;
use crate::{RevisionSet, Spoken};

/// How often one request is sent to a server that turns out to be another than thought.
pub(super) const MOST_SENDS: u8 = 3;

/// The methods whose result may ask for input.
const MULTI_ROUND_TRIP: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

impl<App: Spoken> Client<App> {
    /// A text that came in.
    pub(super) fn take(&mut self, post: Option<Post>, bytes: &[u8], now: Duration) {
        match self.packet(bytes) {
            Ok(Packet::Single(message)) => self.take_message(post, message, now),
            Ok(Packet::Batch(messages)) => {
                let legal = self
                    .state
                    .settled()
                    .is_some_and(|it| it.revision.has_rule(ProtocolRule::Batch));
                if !legal || messages.len() > self.options.limits.batch_length {
                    return self.ignore(Ignored::Batch(messages.len()));
                }
                for message in messages {
                    self.take_message(post, message, now);
                }
            }
            Err(ignored) => self.ignore(ignored),
        }
    }

    pub(super) fn packet(&self, bytes: &[u8]) -> Result<Packet, Ignored> {
        if bytes.len() > self.options.limits.message_bytes {
            return Err(Ignored::TooLong(bytes.len()));
        }
        mcp_wire::from_slice(bytes).map_err(|error: Error| Ignored::Unreadable(error))
    }

    pub(super) fn take_message(&mut self, post: Option<Post>, message: Message, now: Duration) {
        match message {
            Message::Request(request) => self.take_request(request),
            Message::Notification(notification) => self.take_notification(notification, post),
            Message::Response(_) | Message::Error(_) => self.take_answer(post, None, message, now),
        }
    }

    /// An answer: finds its request, which is answered with it once and for all.
    pub(super) fn take_answer(
        &mut self,
        post: Option<Post>,
        status: Option<u16>,
        message: Message,
        now: Duration,
    ) {
        let id = match message.id() {
            Some(id) => own_id(id),
            // An error that could not read the id belongs to the POST that it answers.
            None => post.and_then(|post| self.posts.get(&post).copied().flatten()),
        };
        // Over HTTP a POST answers its own request and no other.
        let is_its_own = |pending: &Pending| post.is_none_or(|post| pending.post == post);
        let id = id.filter(|id| self.pending.get(id).is_some_and(is_its_own));
        let found = id.and_then(|id| self.pending.remove(&id));
        let Some(Pending {
            purpose,
            revision,
            post: sent_in,
        }) = found
        else {
            return match message {
                Message::Error(RawError {
                    id: None, error, ..
                }) => self.ignore(Ignored::ServerError(error)),
                message => self.ignore(Ignored::AnswerToNothing(message.id().cloned())),
            };
        };
        if let Some(posted) = self.posts.get_mut(&sent_in) {
            *posted = None;
        }
        match (purpose, message) {
            (Purpose::Probe, message) => {
                self.probed(
                    Evidence::Answer {
                        status,
                        message: Some(&message),
                    },
                    now,
                );
            }
            (Purpose::Initialize, Message::Response(response)) => {
                self.initialized(&response.result)
            }
            (Purpose::Initialize, Message::Error(error)) => self.handshake_refused(error.error),
            (
                Purpose::Application {
                    request,
                    progress_token: _,
                    losses,
                },
                Message::Response(response),
            ) => {
                self.state.confirm();
                self.take_result(*request, response, revision, losses, now);
            }
            (
                Purpose::Application {
                    request,
                    progress_token: _,
                    losses,
                },
                Message::Error(error),
            ) => {
                self.take_error(*request, error.error, revision, losses, now);
            }
            (Purpose::Listen, message) => {
                let error = match message {
                    Message::Error(error) => Some(error.error),
                    _ => None,
                };
                if let Some(id) = id {
                    self.listened(id, error, now);
                }
            }
            (
                Purpose::LogLevel
                | Purpose::Adapter
                | Purpose::Initialize
                | Purpose::Application { .. },
                _,
            ) => {}
        }
    }

    /// A result, read by the method of its request in the revision of its request.
    fn take_result(
        &mut self,
        request: Waiting,
        response: RawResponse,
        revision: Revision,
        mut losses: Vec<Loss>,
        now: Duration,
    ) {
        let RawResponse { result, .. } = response;
        let method = &request.call.method;
        if revision.era() == Era::PerRequest {
            let kind = member(&result, "resultType").and_then(|kind| kind.read::<String>().ok());
            match kind.as_deref() {
                Some("complete") => {}
                Some("input_required") if MULTI_ROUND_TRIP.contains(&method.as_str()) => {
                    let answer = match self.input_required(&request, &result, revision) {
                        Ok(input) if self.options.adapts => {
                            return self.ask_application(request, input, losses, now);
                        }
                        Ok(input) => Answer::InputRequired(input),
                        Err(what) => Answer::Failed(Failure::InvalidResult(what)),
                    };
                    return self.tell_answer(request, answer, losses);
                }
                Some(kind) => {
                    let what = format!("resultType {kind:?} in answer to `{method}`");
                    return self.tell_answer(
                        request,
                        Answer::Failed(Failure::InvalidResult(what)),
                        losses,
                    );
                }
                // Only a server of an earlier revision may leave it out, and this one was asked in a later one.
                None => {
                    let what = format!("no resultType, which revision {revision} demands");
                    return self.tell_answer(
                        request,
                        Answer::Failed(Failure::InvalidResult(what)),
                        losses,
                    );
                }
            }
        }
        let answer = match self.translator.result_in(method, &result, revision) {
            Ok((result, lost)) => {
                losses.extend(lost);
                Answer::Result(result)
            }
            Err(stopped) => Answer::Failed(Stopped::of_result(stopped)),
        };
        self.tell_answer(request, answer, losses);
    }

    fn input_required(
        &self,
        request: &Waiting,
        result: &Json,
        revision: Revision,
    ) -> Result<InputRequired, String> {
        let object = JsonObject::try_from(result.clone()).map_err(|error| error.to_string())?;
        let state = object.get("requestState");
        if let Some(state) = &state
            && state.as_str().is_none()
        {
            return Err("requestState is not a string".to_owned());
        }
        if state.is_none() && object.get("inputRequests").is_none() {
            return Err(
                "it asks for input, but has neither inputRequests nor requestState".to_owned(),
            );
        }
        let questions = self.translator.questions(&object, revision)?;
        let methods = questions
            .iter()
            .map(|it| (it.key.clone(), it.method.clone()))
            .collect();
        let retry = Retry {
            call: request.call.clone(),
            state,
            methods,
            revision,
        };
        Ok(InputRequired { questions, retry })
    }

    /// An error; one about the revision is not the application's business, as long as another can be tried.
    fn take_error(
        &mut self,
        request: Waiting,
        error: ErrorObject,
        revision: Revision,
        mut losses: Vec<Loss>,
        now: Duration,
    ) {
        if error.code.as_i64() == Some(UNSUPPORTED_PROTOCOL_VERSION)
            && revision.era() == Era::PerRequest
        {
            let versions = supported(&error);
            match choose(&versions, self.left(RevisionSet::none().with(revision))) {
                Some(other) if request.sent < MOST_SENDS => {
                    let stale = self
                        .state
                        .settled()
                        .is_some_and(|settled| settled.revision == revision);
                    self.waiting.push_back(request);
                    if stale {
                        return self.resettle(other);
                    }
                    return self.start(now);
                }
                _ => {
                    return self.tell_answer(
                        request,
                        Answer::Failed(Failure::NoCommonRevision(versions)),
                        losses,
                    );
                }
            }
        }
        let answer = match self
            .translator
            .error_in(&request.call.method, error, revision)
        {
            Ok((error, lost)) => {
                losses.extend(lost);
                Answer::Error(error)
            }
            Err(stopped) => Answer::Failed(Stopped::of_result(stopped)),
        };
        self.tell_answer(request, answer, losses);
    }

    pub(super) fn ignore(&mut self, what: Ignored) {
        self.tell(Event::Ignored(what));
    }
}
