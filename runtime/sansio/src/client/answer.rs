//! Incoming messages: responses find their request, are read by its method, and are converted for the application.

use std::time::Duration;

use mcp_revisions_core::{Adapter, ConversionError, Lifecycle, ProtocolRule, Revision, methods};
use mcp_wire::{
    ErrorObject, Json, JsonObject, Map, MessageKind, Peeked, Raw, RawId, RequestId, Unreadable,
    peek,
};

use super::tools::RefusedCall;
use super::{AppRequest, Client, PendingRequest, RequestPurpose};
use crate::ask::{outcome, own_id, read_error, spelled_id};
use crate::client::requests::TaskStage;
use crate::errors::UNSUPPORTED_PROTOCOL_VERSION;
use crate::negotiate::client::lifecycle::{Evidence, choose, supported};
use crate::quote::shown;
use crate::tasks::plain::{has_core_tasks, plain_tools};
use crate::translate::TextDirection;
use crate::unread;
use crate::{Answer, Connection, Event, Exchange, Failure, Ignored, MendedMessage, Output};

/// A message, alone or of a batch; or the text that is none, and what is wrong with it.
pub(crate) type Element<'a> = Result<Peeked<'a>, (&'a str, Unreadable)>;

/// Maximum number of times that one request is sent to a server that turns out to be another than thought.
pub(crate) const MOST_SENDS: u8 = 3;

impl Connection<Client> {
    /// Takes a text of the server: a message, or a batch where the revision has them. `exchange` is the one that it came
    /// in, over HTTP.
    pub fn receive(&mut self, exchange: Option<Exchange>, bytes: &[u8], now: Duration) -> Exchange {
        match self.messages(bytes) {
            Ok(messages) => {
                for message in messages {
                    match message {
                        Ok(message) => self.take_message(exchange, &message, now),
                        Err((text, unreadable)) => {
                            let ignored = unread::unreadable(text.as_bytes(), unreadable);
                            self.take_unreadable(exchange, text.as_bytes(), ignored, now);
                        }
                    }
                }
            }
            Err(ignored) => self.take_unreadable(exchange, bytes, ignored, now),
        }
        exchange.unwrap_or(Exchange::NONE)
    }

    /// One look at a text: its message, or those of a batch, where the server may send one; of each what is wrong with it.
    pub(crate) fn messages<'a>(&self, bytes: &'a [u8]) -> Result<Vec<Element<'a>>, Ignored> {
        let limits = &self.role.options.limits;
        if bytes.len() > limits.max_message_bytes {
            return Err(Ignored::TooLong(bytes.len()));
        }
        let message = unread::look(bytes)?;
        if message.kind != MessageKind::Batch {
            return Ok(vec![Ok(message)]);
        }
        let settled = self.state.stage.settled();
        let length = message.elements().count();
        if !settled.is_some_and(|it| it.revision.has_rule(ProtocolRule::Batch))
            || length > limits.max_batch_length
            || length == 0
        {
            return Err(Ignored::Batch(length));
        }
        // A fault of one of them is not a reason to leave out the others.
        let look = |text: &'a str| peek(text.as_bytes()).map_err(|unreadable| (text, unreadable));
        Ok(message.elements().map(look).collect())
    }

    pub(crate) fn take_message(
        &mut self,
        exchange: Option<Exchange>,
        message: &Peeked<'_>,
        now: Duration,
    ) {
        match message.kind {
            MessageKind::Request => self.take_request(message, exchange),
            MessageKind::Notification => self.take_notification(message, exchange, now),
            MessageKind::Response | MessageKind::Error => {
                self.take_answer(exchange, None, message, now);
            }
            MessageKind::Batch => self.ignore(Ignored::Batch(0)),
        }
    }

    /// An answer. One with a foreign id in the stream of a POST, which has no status, is kept until the stream is over.
    pub(crate) fn take_answer(
        &mut self,
        exchange: Option<Exchange>,
        status: Option<u16>,
        message: &Peeked<'_>,
        now: Duration,
    ) {
        match self
            .foreign_to(exchange, message)
            .filter(|_| status.is_none())
        {
            Some(posted) => self.keep_foreign(posted, message),
            None => self.end_by_answer(exchange, status, message, now),
        }
    }

    /// Returns the request of a POST whose response has the id of no request.
    pub(crate) fn foreign_to(
        &self,
        exchange: Option<Exchange>,
        message: &Peeked<'_>,
    ) -> Option<i64> {
        let id = message.id?.to_id();
        let (posted, _) = self.request_of(Some(exchange?), message)?;
        let is_named = id.as_ref().and_then(own_id) == Some(posted);
        (!is_named && message.method.is_none()).then_some(posted)
    }

    /// Keeps the first response with a foreign id.
    pub(crate) fn keep_foreign(&mut self, posted: i64, message: &Peeked<'_>) {
        let pending = self.state.pending.get_mut(&posted);
        match pending.filter(|pending| pending.foreign.is_none()) {
            Some(pending) => pending.foreign = Some(message.text.into()),
            None => {
                let id = message.id.and_then(RawId::to_id);
                self.ignore(Ignored::AnswerToNothing(id));
            }
        }
    }

    /// Ends the request of a POST by the response with a foreign id, if its stream had one. Returns whether it had.
    pub(crate) fn end_by_foreign(&mut self, exchange: Exchange, id: i64, now: Duration) -> bool {
        let pending = self.state.pending.get_mut(&id);
        let Some(text) = pending.and_then(|pending| pending.foreign.take()) else {
            return false;
        };
        if let Ok(message) = peek(text.as_bytes()) {
            self.end_by_answer(Some(exchange), None, &message, now);
        }
        !self.state.pending.contains_key(&id)
    }

    /// Finds the request of an answer, which is answered with it once and for all.
    fn end_by_answer(
        &mut self,
        exchange: Option<Exchange>,
        status: Option<u16>,
        message: &Peeked<'_>,
        now: Duration,
    ) {
        let said = message.id.and_then(RawId::to_id);
        let answered = self.request_of(exchange, message);
        let found = answered.and_then(|(id, why)| Some((id, why, self.state.pending.remove(&id)?)));
        let Some((id, misnamed, pending)) = found else {
            return self.answers_nothing(said, message);
        };
        let PendingRequest {
            purpose,
            revision,
            exchange: sent_in,
            ..
        } = pending;
        let malformed = message.error.and_then(|error| read_error(error).1);
        if exchange.is_none()
            && misnamed.is_some()
            && self.state.exchanges.remove(&sent_in).is_some()
        {
            // The transport did not see that this is the answer.
            self.put(Output::Close(sent_in));
        }
        for why in misnamed.into_iter().chain(malformed) {
            self.tell(Event::Mended(MendedMessage::new(purpose.method(), why)));
        }
        if let Some(posted) = self.state.exchanges.get_mut(&sent_in) {
            *posted = None;
        }
        if matches!(purpose, RequestPurpose::Probe) {
            let message = Some(message);
            return self.probed(Evidence { status, message }, None, now);
        }
        match (purpose, outcome(message)) {
            (RequestPurpose::Initialize, Ok(result)) => self.initialized(&result, now),
            (RequestPurpose::Initialize, Err(error)) => self.handshake_refused(status, error, now),
            (RequestPurpose::Application(request), Ok(result)) => {
                self.state.stage.confirm();
                self.note_session_request(&request.ask, revision);
                self.take_result(*request, said.as_ref(), &result, revision, now);
            }
            (RequestPurpose::Application(request), Err(error)) => {
                self.take_error(*request, said.as_ref(), error, revision, now);
            }
            (RequestPurpose::Relist, result) => self.relisted(result, revision, now),
            (RequestPurpose::Task { token, look }, result) => {
                self.looked_at_task(token, look, result, now);
            }
            (RequestPurpose::Listen, result) => self.listened(id, result.err(), now),
            (RequestPurpose::LogLevel, result) => self.end_level_wait(result.err()),
            (RequestPurpose::Subscription(subscription), result) => {
                self.end_subscription(subscription, result.err(), revision);
            }
            (RequestPurpose::Probe | RequestPurpose::Adapter, _) => {}
        }
    }

    /// Returns the request that an answer is for, and what is wrong with the id by which it says so.
    ///
    /// An id that is not the one of the request is taken where it can be only one request's: another spelling of the number;
    /// any id in the response to a POST, unless another request has it; and in a stream of all responses one that this end never
    /// gave out, if one request waits for its answer and the answer can be to nothing else.
    pub(crate) fn request_of(
        &self,
        exchange: Option<Exchange>,
        message: &Peeked<'_>,
    ) -> Option<(i64, Option<String>)> {
        let pending = &self.state.pending;
        let said = message.id.and_then(RawId::to_id);
        let named = said.as_ref().and_then(spelled_id);
        let waits = named.filter(|(id, _)| pending.contains_key(id));
        let foreign = |id: i64| {
            let found = said.as_ref().map_or_else(|| "nothing".to_owned(), shown);
            Some((id, Some(format!("at /id: expected {id}, found {found}"))))
        };
        match exchange {
            Some(exchange) => {
                // A POST answers its own request and no other.
                let posted = self.state.exchanges.get(&exchange).copied().flatten()?;
                pending.get(&posted)?;
                match waits {
                    Some((id, why)) => (id == posted).then_some((id, why)),
                    // An error that could not read the id has none.
                    None if message.id.is_none() => Some((posted, None)),
                    None => foreign(posted),
                }
            }
            None => waits.or_else(|| {
                let is_stale = said
                    .as_ref()
                    .and_then(own_id)
                    .is_some_and(|id| (1..=self.state.next_id).contains(&id));
                let id = self.only_request().filter(|_| !is_stale)?;
                self.is_only_for(id, message).then(|| foreign(id)).flatten()
            }),
        }
    }

    /// Returns the only request that waits for its answer.
    pub(crate) fn only_request(&self) -> Option<i64> {
        let mut waiting = self.state.pending.iter();
        let (id, _) = waiting.next()?;
        waiting.next().is_none().then_some(*id)
    }

    /// Returns whether an answer can be for nothing but this request, the only one that waits: servers also answer requests
    /// that were withdrawn, and some answer notifications, with an error or with nothing in the result.
    pub(crate) fn is_only_for(&self, id: i64, message: &Peeked<'_>) -> bool {
        let purpose = self.state.pending.get(&id).map(|pending| &pending.purpose);
        let names_itself = |member| {
            let result = message.result.map(Raw::to_json);
            result.is_some_and(|result| result.get(member).is_some())
        };
        match purpose {
            Some(RequestPurpose::Initialize) if names_itself("protocolVersion") => return true,
            Some(RequestPurpose::Probe) if names_itself("supportedVersions") => return true,
            _ => {}
        }
        let has_content = message.result.is_some_and(|result| {
            let object = JsonObject::from_text(result.text());
            object.is_ok_and(|object| !object.is_empty())
        });
        self.state.withdrawn.is_empty() && (has_content || !self.state.has_notified)
    }

    /// An answer that is for no request: one that crossed the withdrawal of its request, or a mistake.
    fn answers_nothing(&mut self, id: Option<RequestId>, message: &Peeked<'_>) {
        let number = id.as_ref().and_then(own_id);
        if number.is_some_and(|number| self.state.withdrawn.remove(&number)) {
            return self.ignore(Ignored::Late("a response".to_owned()));
        }
        match (message.id, message.error) {
            (None, Some(error)) => self.ignore(Ignored::Error(read_error(error).0)),
            _ => self.ignore(Ignored::AnswerToNothing(id)),
        }
    }

    /// A result, read by the method of its request in the revision of its request.
    pub(crate) fn take_result(
        &mut self,
        mut request: AppRequest,
        id: Option<&RequestId>,
        result: &Json,
        revision: Revision,
        now: Duration,
    ) {
        let method = &request.ask.method;
        if self.is_other(method, revision) {
            return self.tell_answer(request, Answer::Result(result.clone()));
        }
        if let Some(task) = self.task_given(&request, result, revision) {
            return self.take_task(request, task, revision, now);
        }
        let may_ask_back = |method| (self.role.translator).may_ask_back(revision, method);
        let mut completed = None;
        if revision.lifecycle() == Lifecycle::PerRequest {
            let told = result.get("resultType");
            let is_absent = told.is_none();
            let kind = told
                .filter(|kind| !kind.is_null())
                .map(|kind| kind.read::<String>());
            match kind.as_ref().map(|kind| kind.as_deref()) {
                Some(Ok("complete")) => {}
                Some(Ok(kind)) if self.hands_on_kind(kind, &request, revision) => {}
                Some(Ok("input_required"))
                    if request.ask.takes_questions
                        && may_ask_back(method)
                        && revision.same_types(self.role.app()) => {}
                Some(Ok("input_required")) if may_ask_back(method) => {
                    let answer = match self.input_required(&request, result, revision) {
                        Ok(input) if self.role.options.adapts => {
                            return self.ask_application(request, input, now);
                        }
                        Ok(input) => Answer::InputRequired(input),
                        Err(what) => Answer::Failed(Failure::InvalidResult(what)),
                    };
                    return self.tell_answer(request, answer);
                }
                Some(kind) => {
                    let what = match kind {
                        Ok(kind) => format!("resultType {kind:?} in answer to `{method}`"),
                        Err(error) => format!("resultType in answer to `{method}`: {error}"),
                    };
                    let failure = Failure::InvalidResult(what);
                    return self.tell_answer(request, Answer::Failed(failure));
                }
                // A result type that a server of an earlier revision leaves out means complete, for any server that does.
                None if is_absent => completed = complete(result),
                None => {}
            }
        }
        let result = completed.as_ref().unwrap_or(result);
        let learned = match method.as_str() {
            methods::TOOLS_LIST => {
                self.learn_task_tools(result, revision);
                self.learn(result, revision)
            }
            _ => None,
        };
        let result = learned.as_ref().unwrap_or(result);
        let plain = match method.as_str() {
            methods::TOOLS_LIST if !have_same_tasks(self.role.app(), revision) => {
                plain_tools(result)
            }
            _ => None,
        };
        let result = plain.as_ref().unwrap_or(result);
        let translator = &self.role.translator;
        let carried = translator.result_told(TextDirection::In, method, result, revision, id);
        let answer = match carried {
            Ok((result, lost)) => {
                request.losses.extend(lost);
                Answer::Result(result)
            }
            Err(stopped) => Answer::Failed(Failure::of_result(stopped)),
        };
        self.tell_answer(request, answer);
    }

    /// An error; one about the revision is not the application's business, as long as another can be tried.
    fn take_error(
        &mut self,
        mut request: AppRequest,
        id: Option<&RequestId>,
        error: ErrorObject,
        revision: Revision,
        now: Duration,
    ) {
        if error.code.as_i64() == Some(UNSUPPORTED_PROTOCOL_VERSION)
            && revision.lifecycle() == Lifecycle::PerRequest
        {
            let versions = supported(&error);
            let ours = self.role.options.revisions.iter();
            let left = ours.filter(|it| *it != revision).collect();
            match choose(&versions, self.role.own(), left) {
                Some(other) if request.sent < MOST_SENDS => {
                    let stale = self.state.stage.revision() == Some(revision);
                    self.send_later(request);
                    if stale {
                        return self.resettle(other, now);
                    }
                    return self.start(now);
                }
                _ => {
                    let failure = Failure::NoCommonRevision(versions);
                    return self.tell_answer(request, Answer::Failed(failure));
                }
            }
        }
        if self.asks_for_task(&request, &error, revision) {
            request.task = TaskStage::Asked;
            self.send_later(request);
            return self.start(now);
        }
        if self.relists(&request, &error, revision) {
            let refused = RefusedCall {
                request,
                error,
                revision,
            };
            return self.relist(refused);
        }
        if let Some(input) = self.pages_wanted(&request, &error, revision) {
            return self.ask_application(request, input, now);
        }
        self.tell_error(request, id, error, revision);
    }

    /// An error of the server, for the application.
    pub(crate) fn tell_error(
        &mut self,
        mut request: AppRequest,
        id: Option<&RequestId>,
        error: ErrorObject,
        revision: Revision,
    ) {
        if self.is_other(&request.ask.method, revision) {
            return self.tell_answer(request, Answer::Error(error));
        }
        let method = &request.ask.method;
        let translator = &self.role.translator;
        let carried = match translator.error(TextDirection::In, method, error.clone(), revision) {
            // The application may do what the error asks for, and call again.
            Err(ConversionError::RequiresState(needs))
                if needs.adapter == Adapter::MultiRoundTrip && self.role.options.adapts =>
            {
                Ok((error, Vec::new()))
            }
            carried => carried,
        };
        let answer = match translator.report(method, revision, id, carried) {
            Ok((error, lost)) => {
                request.losses.extend(lost);
                Answer::Error(error)
            }
            Err(stopped) => Answer::Failed(Failure::of_result(stopped)),
        };
        self.tell_answer(request, answer);
    }

    pub(crate) fn ignore(&mut self, what: Ignored) {
        self.tell(Event::Ignored(what));
    }
}

/// Returns a result without `resultType` as one that says it is complete; `None` if it is not an object.
fn complete(result: &Json) -> Option<Json> {
    let mut members: Map<Json> = result.read().ok()?;
    members.insert("resultType", Json::of("complete"));
    Some(Json::of(&members))
}

/// Returns whether peers of two revisions have tasks in the same form, or both in none.
fn have_same_tasks(one: Revision, other: Revision) -> bool {
    let form = |revision: Revision| {
        let is_core = has_core_tasks(revision);
        [
            is_core,
            !is_core && revision.lifecycle() == Lifecycle::PerRequest,
        ]
    };
    form(one) == form(other)
}
