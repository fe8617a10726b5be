//! What comes in: answers find their request, are read by its method, and become the application's.

use std::time::Duration;

use mcp_shims::{Era, Loss, Revision};
use mcp_wire::{Error, ErrorObject, Json, JsonObject, Message, Packet, RawError, RawResponse};

use super::era::{Evidence, choose, supported};
use super::output::{Answer, Event, Failure, Ignored, InputRequired, Post, Retry};
use super::send::{member, own_id};
use super::translate::Stopped;
use super::{Channel, Client, Pending, Purpose, Waiting};
use crate::errors::UNSUPPORTED_PROTOCOL_VERSION;
use crate::{RevisionSet, Spoken};

/// How often one request is sent to a server that turns out to be another than thought.
const MOST_SENDS: u8 = 3;

/// The methods whose result may ask for input.
const MULTI_ROUND_TRIP: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

impl<App: Spoken> Client<App> {
    /// A text that came in.
    pub(super) fn take(&mut self, post: Option<Post>, bytes: &[u8], now: Duration) {
        match self.packet(bytes) {
            Ok(Packet::Single(message)) => self.take_message(post, message, now),
            Ok(Packet::Batch(messages)) => {
                let legal = self.state.settled().is_some_and(|it| it.revision == Revision::V2025_03_26);
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

    fn packet(&self, bytes: &[u8]) -> Result<Packet, Ignored> {
        if bytes.len() > self.options.limits.message_bytes {
            return Err(Ignored::TooLong(bytes.len()));
        }
        mcp_wire::from_slice(bytes).map_err(|error: Error| Ignored::Unreadable(error))
    }

    fn take_message(&mut self, post: Option<Post>, message: Message, now: Duration) {
        match message {
            Message::Request(request) => self.take_request(request),
            Message::Notification(notification) => self.take_notification(notification, post),
            Message::Response(_) | Message::Error(_) => self.take_answer(post, None, message, now),
        }
    }

    /// An answer: finds its request, which is answered with it once and for all.
    fn take_answer(&mut self, post: Option<Post>, status: Option<u16>, message: Message, now: Duration) {
        let id = match message.id() {
            Some(id) => own_id(id),
            // An error that could not read the id belongs to the POST that it answers.
            None => post.and_then(|post| self.posts.get(&post).copied().flatten()),
        };
        // Over HTTP a POST answers its own request and no other.
        let is_its_own = |pending: &Pending| post.is_none_or(|post| pending.post == post);
        let id = id.filter(|id| self.pending.get(id).is_some_and(is_its_own));
        let found = id.and_then(|id| self.pending.remove(&id));
        let Some(Pending { purpose, revision, post: sent_in }) = found else {
            return match message {
                Message::Error(RawError { id: None, error, .. }) => self.ignore(Ignored::ServerError(error)),
                message => self.ignore(Ignored::AnswerToNothing(message.id().cloned())),
            };
        };
        if let Some(posted) = self.posts.get_mut(&sent_in) {
            *posted = None;
        }
        match (purpose, message) {
            (Purpose::Probe, message) => {
                self.probed(Evidence::Answer { status, message: Some(&message) }, now);
            }
            (Purpose::Initialize, Message::Response(response)) => self.initialized(&response.result),
            (Purpose::Initialize, Message::Error(error)) => self.handshake_refused(error.error),
            (Purpose::Application { request, progress_token: _, losses }, Message::Response(response)) => {
                self.state.confirm();
                self.take_result(*request, response, revision, losses);
            }
            (Purpose::Application { request, progress_token: _, losses }, Message::Error(error)) => {
                self.take_error(*request, error.error, revision, losses, now);
            }
            (Purpose::LogLevel | Purpose::Initialize | Purpose::Application { .. }, _) => {}
        }
    }

    /// A result, read by the method of its request in the revision of its request.
    fn take_result(&mut self, request: Waiting, response: RawResponse, revision: Revision, mut losses: Vec<Loss>) {
        let RawResponse { result, .. } = response;
        let method = &request.call.method;
        if revision.era() == Era::PerRequest {
            let kind = member(&result, "resultType").and_then(|kind| kind.read::<String>().ok());
            match kind.as_deref() {
                Some("complete") => {}
                Some("input_required") if MULTI_ROUND_TRIP.contains(&method.as_str()) => {
                    let answer = match self.input_required(&request, &result, revision) {
                        Ok(input) => Answer::InputRequired(input),
                        Err(what) => Answer::Failed(Failure::InvalidResult(what)),
                    };
                    return self.tell_answer(request, answer, losses);
                }
                Some(kind) => {
                    let what = format!("resultType {kind:?} in answer to `{method}`");
                    return self.tell_answer(request, Answer::Failed(Failure::InvalidResult(what)), losses);
                }
                // Only a server of an earlier revision may leave it out, and this one was asked in a later one.
                None => {
                    let what = format!("no resultType, which revision {revision} demands");
                    return self.tell_answer(request, Answer::Failed(Failure::InvalidResult(what)), losses);
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

    fn input_required(&self, request: &Waiting, result: &Json, revision: Revision) -> Result<InputRequired, String> {
        let object = JsonObject::try_from(result.clone()).map_err(|error| error.to_string())?;
        let state = object.get("requestState");
        if let Some(state) = &state
            && state.as_str().is_none()
        {
            return Err("requestState is not a string".to_owned());
        }
        if state.is_none() && object.get("inputRequests").is_none() {
            return Err("it asks for input, but has neither inputRequests nor requestState".to_owned());
        }
        let questions = self.translator.questions(&object, revision)?;
        let methods = questions.iter().map(|it| (it.key.clone(), it.method.clone())).collect();
        let retry = Retry { call: request.call.clone(), state, methods, revision };
        Ok(InputRequired { questions, retry })
    }

    /// An error; one about the revision is not the application's business, as long as another can be tried.
    fn take_error(&mut self, request: Waiting, error: ErrorObject, revision: Revision, mut losses: Vec<Loss>, now: Duration) {
        if error.code.as_i64() == Some(UNSUPPORTED_PROTOCOL_VERSION) && revision.era() == Era::PerRequest {
            let versions = supported(&error);
            match choose(&versions, self.left(RevisionSet::none().with(revision))) {
                Some(other) if request.sent < MOST_SENDS => {
                    let stale = self.state.settled().is_some_and(|settled| settled.revision == revision);
                    self.waiting.push_back(request);
                    if stale {
                        return self.resettle(other);
                    }
                    return self.start(now);
                }
                _ => return self.tell_answer(request, Answer::Failed(Failure::NoCommonRevision(versions)), losses),
            }
        }
        let answer = match self.translator.error_in(&request.call.method, error, revision) {
            Ok((error, lost)) => {
                losses.extend(lost);
                Answer::Error(error)
            }
            Err(stopped) => Answer::Failed(Stopped::of_result(stopped)),
        };
        self.tell_answer(request, answer, losses);
    }

    /// The answer to a POST.
    pub(super) fn take_http(&mut self, post: Post, status: u16, session: Option<&str>, body: Option<&[u8]>, now: Duration) {
        let Some(&id) = self.posts.get(&post) else { return };
        let purpose = id.and_then(|id| self.pending.get(&id)).map(|pending| &pending.purpose);
        if matches!(purpose, Some(Purpose::Initialize)) {
            self.session_to_be = session.map(str::to_owned);
        }
        // Without a body its messages follow one by one.
        let Some(body) = body else { return };
        let success = (200..300).contains(&status);
        if id.is_none() && !success {
            self.ignore(Ignored::Status(status));
        }
        let messages = match self.packet(body) {
            _ if body.is_empty() => Vec::new(),
            Ok(Packet::Single(message)) => vec![message],
            Ok(Packet::Batch(messages)) => messages,
            Err(ignored) => {
                if success {
                    self.ignore(ignored);
                }
                Vec::new()
            }
        };
        for message in messages {
            match message {
                Message::Response(_) | Message::Error(_) if self.answers(&message, id) => {
                    self.take_http_answer(post, status, message, now);
                }
                _ if success => self.take_message(Some(post), message, now),
                _ => {}
            }
        }
        self.unanswered(post, Some(status), now);
    }

    /// Whether a message is the answer to this request, or an error that does not say to which.
    fn answers(&self, message: &Message, id: Option<i64>) -> bool {
        let Some(id) = id else { return false };
        match message.id() {
            Some(found) => own_id(found) == Some(id),
            None => self.pending.contains_key(&id),
        }
    }

    fn take_http_answer(&mut self, post: Post, status: u16, message: Message, now: Duration) {
        // A request that did not reach the server's handlers may be sent again.
        if !(200..300).contains(&status) && self.stale(post, status, Some(&message)) {
            return self.send_again(post, now);
        }
        self.take_answer(Some(post), Some(status), message, now);
    }

    /// The response stream of a POST is over, or there was none.
    pub(super) fn end_of_post(&mut self, post: Post, now: Duration) {
        self.unanswered(post, None, now);
    }

    /// A POST is over: whatever it carried and was not answered ends here.
    fn unanswered(&mut self, post: Post, status: Option<u16>, now: Duration) {
        let Some(Some(id)) = self.posts.get(&post).copied() else {
            self.posts.remove(&post);
            return;
        };
        if let Some(status) = status
            && !(200..300).contains(&status)
            && self.stale(post, status, None)
        {
            return self.send_again(post, now);
        }
        self.posts.remove(&post);
        let Some(Pending { purpose, .. }) = self.pending.remove(&id) else { return };
        let failure = status.map_or(Failure::Closed, Failure::Http);
        match purpose {
            Purpose::Probe => match status {
                Some(_) => self.probed(Evidence::Answer { status, message: None }, now),
                None => self.probed(Evidence::Ended(Channel::Http), now),
            },
            Purpose::Initialize => self.unsettle(&failure),
            Purpose::LogLevel => {}
            Purpose::Application { request, losses, .. } => {
                self.tell_answer(*request, Answer::Failed(failure), losses);
            }
        }
    }

    /// Whether this answer says that what was settled does not hold any more: a session that ended, or a verdict that was handed in.
    fn stale(&self, post: Post, status: u16, message: Option<&Message>) -> bool {
        let id = self.posts.get(&post).copied().flatten();
        let Some(pending) = id.and_then(|id| self.pending.get(&id)) else { return false };
        let Purpose::Application { request, .. } = &pending.purpose else { return false };
        let Some(settled) = self.state.settled() else { return false };
        if request.sent >= MOST_SENDS || settled.revision != pending.revision {
            return false;
        }
        match settled.revision.era() {
            Era::Handshake => status == 404 && settled.session.is_some(),
            Era::PerRequest => {
                !settled.confirmed
                    && super::era::judge(Evidence::Answer { status: Some(status), message }) == super::era::Finding::Legacy
            }
        }
    }

    /// Starts over, and sends the request of this POST again.
    fn send_again(&mut self, post: Post, now: Duration) {
        let id = self.posts.remove(&post).flatten();
        let Some(Pending { purpose, revision, .. }) = id.and_then(|id| self.pending.remove(&id)) else { return };
        if let Purpose::Application { request, .. } = purpose {
            self.waiting.push_back(*request);
            match revision.era() {
                Era::Handshake => self.initialize(revision, RevisionSet::none()),
                Era::PerRequest => self.start_over(now),
            }
        }
    }

    pub(super) fn ignore(&mut self, what: Ignored) {
        self.tell(Event::Ignored(what));
    }
}
