//! The core in front of a server: the session and the unanswered requests of one client.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_revisions_tables::{Context, Loss, Revision, Session, methods};
use mcp_wire::{
    Direction, ErrorObject, Extra, Json, MessageKind, Peeked, RequestId, Unreadable,
    envelope::write, peek,
};

use crate::diagnostic::ConversionError;
use crate::errors;
use crate::introductions::{Introductions, ProfileError};
use crate::message::{MessageContext, convert_one};
use crate::negotiate::{
    NegotiatedMessage, is_handshake, negotiate, negotiate_element, negotiate_initialize,
};
use crate::profile::Profile;
use crate::revision_set::RevisionSet;
use crate::route::Route;
use crate::rows::has_method;
use crate::translate::{TextDirection, Translator};

/// Maximum number of unanswered requests of both sides; one more gets an error.
const MAX_PENDING: usize = 1024;
/// Maximum number of bytes of their ids and methods.
const MAX_PENDING_BYTES: usize = 1 << 20;
/// Number of bytes of responses to a batch that are sent before the last of them is there.
const BATCH_BYTES: usize = 4 << 20;
/// The error of a request whose id no response could name.
const UNUSABLE_ID: &str = "the id of a request is a string or an integer";

/// A message to send, to one of the two sides of a [`Front`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrontOutput {
    /// A message for the other side.
    Forward(String),
    /// A message for the side that the last text came from.
    Reply(String),
}

/// The core in front of a server of one revision, for one client of any revision. It holds the revision of the client's session,
/// and the id and method of at most 1,024 unanswered requests.
///
/// The caller opens the session with the server, if its revision has sessions, hands in each message of either side as text,
/// and sends the outputs. A front answers `initialize`, `server/discover` and, where the server's revision has none, `ping`. Each
/// request gets one response: that of the other side, or an error if there can be none. The responses to a batch are one array.
#[derive(Debug)]
pub struct Front {
    translator: Translator,
    introductions: Introductions,
    served: RevisionSet,
    /// The revision of the client's session.
    session: Option<Revision>,
    /// The revision of the client's latest message.
    spoken: Option<Revision>,
    pending: BTreeMap<(Sender, RequestId), ForwardedRequest>,
    pending_bytes: usize,
    batches: BTreeMap<u64, OpenBatch>,
    last_batch: u64,
    losses: Vec<Loss>,
    notes: Vec<String>,
}

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sender {
    Client,
    Server,
}

/// A request that waits for its response.
#[derive(Debug)]
struct ForwardedRequest {
    method: String,
    /// The client's revision.
    revision: Revision,
    batch: Option<u64>,
}

/// The responses to a batch of the client.
#[derive(Debug, Default)]
struct OpenBatch {
    waiting: usize,
    answers: Vec<String>,
}

impl Front {
    /// Creates the front of a server that speaks `own`, one of [`Revision::CONVERTED`], and has this profile.
    ///
    /// # Errors
    /// Returns an error if the profile is not valid in that revision, or cannot be converted to another one.
    pub fn new(own: Revision, profile: Profile) -> Result<Self, ProfileError> {
        Ok(Self {
            introductions: Introductions::new(profile, own)?,
            translator: Translator::new(own, Direction::ServerToClient),
            served: RevisionSet::all(),
            session: None,
            spoken: None,
            pending: BTreeMap::new(),
            pending_bytes: 0,
            batches: BTreeMap::new(),
            last_batch: 0,
            losses: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Sets the revisions that clients may speak [default: all].
    #[must_use]
    pub fn with_revisions(self, served: RevisionSet) -> Self {
        Self { served, ..self }
    }

    /// Returns the losses of the messages in the last text.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Returns lines for the log about the last text: messages that were dropped, such as a notification that the other side
    /// does not have or a response to no request, and ids that were spelled in another way.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Takes a text of the client, a message or a batch, and returns the messages to send.
    pub fn from_client(&mut self, text: &str) -> Vec<FrontOutput> {
        let message = match self.look(text, Sender::Server) {
            Ok(message) => message,
            Err(refusal) => return refusal,
        };
        let served = self.served;
        let negotiated = negotiate(&message, None, served);
        match negotiated.and_then(|it| it.within(self.session)) {
            Err(refusal) => self.refuse(&message, refusal.error, None),
            Ok(NegotiatedMessage::Initialize) => self.initialize(&message),
            Ok(NegotiatedMessage::Single(revision)) => {
                self.client_message(&message, revision, None)
            }
            Ok(NegotiatedMessage::Batch(revision)) => self.client_batch(&message, revision),
        }
    }

    /// Takes a text of the server, a message or a batch, and returns the messages to send.
    pub fn from_server(&mut self, text: &str) -> Vec<FrontOutput> {
        match self.look(text, Sender::Client) {
            Ok(message) if message.kind == MessageKind::Batch => {
                let element = |element| match peek(str::as_bytes(element)) {
                    Ok(message) => self.server_message(&message),
                    Err(unreadable) => self.unreadable(element, &unreadable, Sender::Client),
                };
                message.elements().flat_map(element).collect()
            }
            Ok(message) => self.server_message(&message),
            Err(refusal) => refusal,
        }
    }

    /// Peeks at a text, and clears the losses and notes of the one before.
    fn look<'t>(
        &mut self,
        text: &'t str,
        asked_by: Sender,
    ) -> Result<Peeked<'t>, Vec<FrontOutput>> {
        self.losses.clear();
        self.notes.clear();
        peek(text.as_bytes()).map_err(|unreadable| self.unreadable(text, &unreadable, asked_by))
    }

    /// Answers a text that is not a message; one that was meant as the response to a request of `asked_by` ends that request.
    fn unreadable(
        &mut self,
        text: &str,
        unreadable: &Unreadable,
        asked_by: Sender,
    ) -> Vec<FrontOutput> {
        let why = unreadable.to_string();
        if let Unreadable::NotAMessage { id: Some(id), .. } = unreadable
            && mcp_wire::from_str::<Extra>(text).is_ok_and(|it| it.get("method").is_none())
            && let Some((id, pending)) = self.take(asked_by, id)
        {
            let error = write::error(Some(&id), &errors::internal(&why).error);
            self.notes.push(why);
            return self.forward_response(error, pending.batch);
        }
        let (id, refusal) = match unreadable {
            Unreadable::NotJson(_) => (None, errors::parse_error(&why)),
            Unreadable::NotAMessage { id, .. } => (id.as_deref(), errors::invalid_request(&why)),
        };
        vec![FrontOutput::Reply(write::error(id, &refusal.error))]
    }

    /// Opens the client's session.
    fn initialize(&mut self, message: &Peeked<'_>) -> Vec<FrontOutput> {
        let revision = match negotiate_initialize(message, self.served) {
            Ok(revision) => revision,
            Err(refusal) => return self.refuse(message, refusal.error, None),
        };
        (self.session, self.spoken) = (Some(revision), Some(revision));
        let fact = |name, member| {
            let json = message.param(member)?;
            let converted = (self.translator).definition(TextDirection::In, name, &json, revision);
            converted.ok().map(|(json, _)| json)
        };
        let session = Session {
            client_capabilities: fact("ClientCapabilities", "capabilities"),
            client_info: fact("Implementation", "clientInfo"),
            subscription_id: None,
        };
        self.translator.session = Some(Arc::new(session));
        self.losses
            .extend_from_slice(self.introductions.losses(revision));
        let result = self.introductions.initialize_result(revision);
        self.answer(message, result.unwrap_or_default().text(), None)
    }

    /// Handles each message of a batch.
    fn client_batch(&mut self, batch: &Peeked<'_>, revision: Revision) -> Vec<FrontOutput> {
        if batch.elements().next().is_none() {
            let error = errors::invalid_request("a batch without messages").error;
            return self.refuse(batch, error, None);
        }
        self.last_batch = self.last_batch.wrapping_add(1);
        let number = self.last_batch;
        self.batches.insert(number, OpenBatch::default());
        let mut outputs = Vec::new();
        for element in batch.elements() {
            outputs.extend(match peek(element.as_bytes()) {
                Err(unreadable) => {
                    let answers = self.unreadable(element, &unreadable, Sender::Server);
                    self.collect(number, answers)
                }
                Ok(message) => match negotiate_element(&message, revision) {
                    Ok(_) => self.client_message(&message, revision, Some(number)),
                    Err(refusal) => self.refuse(&message, refusal.error, Some(number)),
                },
            });
        }
        let answers = self.complete(number, FrontOutput::Reply);
        outputs.extend(answers);
        outputs
    }

    fn client_message(
        &mut self,
        message: &Peeked<'_>,
        revision: Revision,
        batch: Option<u64>,
    ) -> Vec<FrontOutput> {
        self.spoken = Some(revision);
        let method = message.method.as_deref().unwrap_or_default();
        match (message.kind, method) {
            (MessageKind::Request, methods::SERVER_DISCOVER) if !is_handshake(revision) => {
                let result = self.introductions.discover_result(revision, self.served);
                self.answer(message, result.unwrap_or_default().text(), batch)
            }
            (MessageKind::Request, methods::PING)
                if has_method(revision, method) && !has_method(self.translator.app, method) =>
            {
                self.answer(message, "{}", batch)
            }
            // The session with the server is open.
            (MessageKind::Notification, methods::NOTIFICATIONS_INITIALIZED) => Vec::new(),
            (MessageKind::Request, _) => self.request(message, Sender::Client, revision, batch),
            (MessageKind::Notification, _) => self.notification(message, Sender::Client, revision),
            _ => self.response(message, Sender::Server),
        }
    }

    fn server_message(&mut self, message: &Peeked<'_>) -> Vec<FrontOutput> {
        match (message.kind, self.session.or(self.spoken)) {
            (MessageKind::Response | MessageKind::Error, _) => {
                self.response(message, Sender::Client)
            }
            (MessageKind::Request, Some(revision)) => {
                self.request(message, Sender::Server, revision, None)
            }
            (MessageKind::Notification, Some(revision)) => {
                self.notification(message, Sender::Server, revision)
            }
            (MessageKind::Batch, _) => {
                let error = errors::invalid_request("a batch inside a batch").error;
                self.refuse(message, error, None)
            }
            (_, None) => {
                let error = errors::internal("no client has spoken yet").error;
                self.refuse(message, error, None)
            }
        }
    }

    /// Forwards a request, or answers it with the reason why it cannot be.
    fn request(
        &mut self,
        message: &Peeked<'_>,
        sender: Sender,
        revision: Revision,
        batch: Option<u64>,
    ) -> Vec<FrontOutput> {
        let method = message.method.as_deref().unwrap_or_default();
        let Some(id) = message.id.and_then(|id| id.to_id()) else {
            return self.refuse(message, errors::invalid_request(UNUSABLE_ID).error, batch);
        };
        let bytes = method.len() + mcp_wire::to_string(&id).len();
        let key = (sender, id);
        let refused = if self.pending.contains_key(&key) {
            Some("a request with that id waits for its response")
        } else if self.pending.len() >= MAX_PENDING
            || self.pending_bytes.saturating_add(bytes) > MAX_PENDING_BYTES
        {
            Some("too many requests wait for their responses")
        } else {
            None
        };
        if let Some(why) = refused {
            let error = errors::invalid_request(why).error;
            return self.refuse(message, error, batch);
        }
        match self.convert(message, sender, revision, None) {
            Err(unconverted) => {
                let error = unconverted.into_error(ErrorObject::INVALID_PARAMS);
                self.refuse(message, error, batch)
            }
            Ok(text) => {
                let pending = ForwardedRequest {
                    method: method.to_owned(),
                    revision,
                    batch,
                };
                self.pending_bytes += bytes;
                self.pending.insert(key, pending);
                if let Some(batch) = batch.and_then(|batch| self.batches.get_mut(&batch)) {
                    batch.waiting += 1;
                }
                vec![FrontOutput::Forward(text)]
            }
        }
    }

    fn notification(
        &mut self,
        message: &Peeked<'_>,
        sender: Sender,
        revision: Revision,
    ) -> Vec<FrontOutput> {
        let method = message.method.as_deref().unwrap_or_default();
        let mut outputs = Vec::new();
        if method == methods::NOTIFICATIONS_CANCELLED {
            let given = message.param("requestId");
            let id = given.and_then(|id| id.read::<RequestId>().ok());
            // A cancelled request needs no response: its batch may be complete without it.
            let taken = id.and_then(|id| self.take(sender, &id));
            if let Some(batch) = taken.and_then(|(_, pending)| pending.batch) {
                outputs.extend(self.complete(batch, FrontOutput::Reply));
            }
        }
        match self.convert(message, sender, revision, None) {
            Ok(text) => outputs.push(FrontOutput::Forward(text)),
            Err(error) => self.notes.push(format!("`{method}`: {error}")),
        }
        outputs
    }

    /// Forwards the response to a request of `asked_by`, as an error if it cannot be converted.
    fn response(&mut self, message: &Peeked<'_>, asked_by: Sender) -> Vec<FrontOutput> {
        let id = message.id.and_then(|id| id.to_id());
        let Some((id, pending)) = id.as_ref().and_then(|id| self.take(asked_by, id)) else {
            let id = message.id.map_or("null", |id| id.text());
            let id = errors::shortened(id);
            self.notes
                .push(format!("a response to no request that waits: id {id}"));
            return Vec::new();
        };
        let ForwardedRequest {
            method,
            revision,
            batch,
        } = pending;
        let converted = self.convert(message, asked_by, revision, Some(&method));
        let text = converted.unwrap_or_else(|error| {
            write::error(Some(&id), &error.into_error(ErrorObject::INTERNAL_ERROR))
        });
        let text = if message.id.and_then(|id| id.to_id()).as_ref() == Some(&id) {
            text
        } else {
            let why = "the id of a response is spelled in another way than that of its request";
            self.notes.push(format!(
                "{why}: {}",
                errors::shortened(&mcp_wire::to_string(&id))
            ));
            with_id(text, &id)
        };
        self.forward_response(text, batch)
    }

    /// Forwards a response at once, or with the other responses to a batch.
    fn forward_response(&mut self, text: String, batch: Option<u64>) -> Vec<FrontOutput> {
        let Some(number) = batch else {
            return vec![FrontOutput::Forward(text)];
        };
        if let Some(batch) = self.batches.get_mut(&number) {
            batch.answers.push(text);
        }
        self.complete(number, FrontOutput::Forward)
            .into_iter()
            .collect()
    }

    /// Removes the request that a response answers or a cancellation names; a number may be spelled as a string, and a string as a number.
    fn take(&mut self, sender: Sender, id: &RequestId) -> Option<(RequestId, ForwardedRequest)> {
        let mut key = (sender, id.clone());
        if !self.pending.contains_key(&key) {
            key.1 = other_spelling(id)?;
        }
        let pending = self.pending.remove(&key)?;
        let (_, id) = key;
        let bytes = pending.method.len() + mcp_wire::to_string(&id).len();
        self.pending_bytes = self.pending_bytes.saturating_sub(bytes);
        if let Some(batch) = pending.batch.and_then(|batch| self.batches.get_mut(&batch)) {
            batch.waiting = batch.waiting.saturating_sub(1);
        }
        Some((id, pending))
    }

    /// Converts a message of a request or a notification of this sender, or the response to one of `method`.
    fn convert(
        &mut self,
        message: &Peeked<'_>,
        sender: Sender,
        revision: Revision,
        answered: Option<&str>,
    ) -> Result<String, ConversionError> {
        let own = self.translator.app;
        let method = answered.or(message.method.as_deref()).unwrap_or_default();
        if self.translator.passes_as_is(method, Some(revision)) {
            return Ok(message.text.to_owned());
        }
        let (from, to) = match (sender, answered) {
            (Sender::Client, None) | (Sender::Server, Some(_)) => (revision, own),
            (Sender::Server, None) | (Sender::Client, Some(_)) => (own, revision),
        };
        let conversion: Context = self.translator.context(self.translator.session.as_ref());
        let context = MessageContext::new(conversion)
            .answering(answered)
            .sent_by(match sender {
                Sender::Client => Direction::ClientToServer,
                Sender::Server => Direction::ServerToClient,
            });
        let (text, losses) = convert_one(message, &Route::between(from, to)?, &context)?;
        self.losses.extend(losses);
        Ok(text.into_text())
    }

    /// Answers a request with a result.
    fn answer(
        &mut self,
        message: &Peeked<'_>,
        result: &str,
        batch: Option<u64>,
    ) -> Vec<FrontOutput> {
        match message.id.and_then(|id| id.to_id()) {
            Some(id) => self.reply(write::response(&id, result), batch),
            None => self.refuse(message, errors::invalid_request(UNUSABLE_ID).error, batch),
        }
    }

    /// Answers a request with an error. Drops another message, with a note.
    fn refuse(
        &mut self,
        message: &Peeked<'_>,
        error: ErrorObject,
        batch: Option<u64>,
    ) -> Vec<FrontOutput> {
        if let MessageKind::Request | MessageKind::Batch = message.kind {
            let id = message.id.and_then(|id| id.to_id());
            return self.reply(write::error(id.as_ref(), &error), batch);
        }
        let what = message.method.as_deref().unwrap_or("a response");
        let what = errors::shortened(what);
        self.notes.push(format!("{what}: {}", error.message));
        Vec::new()
    }

    /// Replies at once, or with the other responses to a batch.
    fn reply(&mut self, text: String, batch: Option<u64>) -> Vec<FrontOutput> {
        let output = FrontOutput::Reply(text);
        match batch {
            Some(number) => self.collect(number, vec![output]),
            None => vec![output],
        }
    }

    /// Adds replies to their batch, and returns the other outputs.
    fn collect(&mut self, number: u64, outputs: Vec<FrontOutput>) -> Vec<FrontOutput> {
        let Some(batch) = self.batches.get_mut(&number) else {
            return outputs;
        };
        let keep = |output| match output {
            FrontOutput::Reply(text) => {
                batch.answers.push(text);
                None
            }
            forward @ FrontOutput::Forward(_) => Some(forward),
        };
        outputs.into_iter().filter_map(keep).collect()
    }

    /// Returns the responses to a batch as one array, once the last is there or they are large.
    fn complete(&mut self, number: u64, output: fn(String) -> FrontOutput) -> Option<FrontOutput> {
        let batch = self.batches.get_mut(&number)?;
        let bytes: usize = batch.answers.iter().map(String::len).sum();
        if batch.waiting > 0 && bytes < BATCH_BYTES {
            return None;
        }
        let answers = std::mem::take(&mut batch.answers);
        if batch.waiting == 0 {
            self.batches.remove(&number);
        }
        (!answers.is_empty()).then(|| output(write::batch(&answers)))
    }
}

/// Returns the other spelling of an id: `"1"` for `1`, and `1` for `"1"`.
#[must_use]
pub fn other_spelling(id: &RequestId) -> Option<RequestId> {
    match id {
        RequestId::Integer(number) => Some(RequestId::String(number.to_string())),
        RequestId::String(text) => (mcp_wire::from_str(text.trim()).ok()).map(RequestId::Integer),
    }
}

/// Returns a response with this id.
fn with_id(text: String, id: &RequestId) -> String {
    let Ok(mut members) = mcp_wire::from_str::<Extra>(&text) else {
        return text;
    };
    members.insert("id", Json::of(id));
    Json::of(&members).into_text()
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::panic,
        clippy::unwrap_used,
        reason = "a test says what it found and stops"
    )]

    use super::*;

    const OWN: Revision = Revision::V2025_06_18;

    fn front(own: Revision) -> Front {
        let json = |text| Json::from_text(text).unwrap();
        let (info, capabilities) = (r#"{"name":"s","version":"1"}"#, r#"{"tools":{}}"#);
        Front::new(own, Profile::new(&json(info), &json(capabilities))).unwrap()
    }

    fn initialize(front: &mut Front, version: &str) -> Vec<FrontOutput> {
        front.from_client(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
        ))
    }

    fn text(outputs: &[FrontOutput]) -> (char, &str) {
        match outputs {
            [FrontOutput::Forward(text)] => ('f', text),
            [FrontOutput::Reply(text)] => ('r', text),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn is(outputs: Vec<FrontOutput>, kind: char, parts: &[&str]) {
        let (is, text) = text(&outputs);
        assert_eq!(is, kind, "{text}");
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_session_and_a_client_of_each_request_are_served_by_one_revision() {
        let mut front = front(OWN);
        is(
            initialize(&mut front, "2024-11-05"),
            'r',
            &[r#""protocolVersion":"2024-11-05""#],
        );
        let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(front.from_client(done), []);
        let list = r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#;
        is(front.from_client(list), 'f', &[list]);
        let tools = r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"t","title":"T","inputSchema":{"type":"object"}}]}}"#;
        is(
            front.from_server(tools),
            'f',
            &[r#""id":"a""#, r#""name":"t""#],
        );
        assert!(!front.losses().is_empty());
        // Each request of the other lifecycle says its revision, and gets a result of it.
        let claimed = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        is(
            front.from_client(claimed),
            'f',
            &[r#""method":"tools/list""#],
        );
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
        is(
            front.from_server(result),
            'f',
            &[r#""resultType":"complete""#],
        );
        let unknown = claimed.replace("2026-07-28", "2030-01-01");
        is(front.from_client(&unknown), 'r', &["-32022", r#""id":1"#]);
        is(front.from_client("{"), 'r', &["-32700", r#""id":null"#]);
    }

    #[test]
    fn each_request_is_answered_whatever_its_response_is() {
        let ask = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}"#;
        for (result, part) in [
            (r#""result":[7]"#, r#""error""#),
            (r#""result":5"#, r#""error""#),
            (r#""error":{"code":-32603,"message":"no"}"#, "-32603"),
            (r#""error":{"code":"x"}"#, r#""error""#),
        ] {
            let mut front = front(OWN);
            initialize(&mut front, "2025-03-26");
            is(front.from_client(ask), 'f', &[]);
            is(front.from_client(ask), 'r', &["waits for its response"]);
            // The id is that of the request, even where the server spells it as a text.
            let answer = format!(r#"{{"jsonrpc":"2.0","id":"7",{result}}}"#);
            is(front.from_server(&answer), 'f', &[r#""id":7"#, part]);
            assert!(!front.notes().is_empty());
            assert_eq!(front.from_server(&answer), []);
            assert!(
                front.notes()[0].contains("no request"),
                "{:?}",
                front.notes()
            );
        }
        // A question that its client cannot be asked is answered to the server.
        let mut front = front(OWN);
        front.from_client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#);
        let question = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
        is(
            front.from_server(question),
            'r',
            &[r#""error""#, r#""id":1"#],
        );
        // One that it can be is answered by it, by an id of the server's.
        initialize(&mut front, "2025-11-25");
        is(front.from_server(question), 'f', &["roots/list"]);
        let roots = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
        is(front.from_client(roots), 'f', &[roots]);
    }

    #[test]
    fn the_responses_to_a_batch_are_one_array_also_if_one_is_refused_or_cancelled() {
        let mut front = front(OWN);
        initialize(&mut front, "2025-03-26");
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},5,{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"tools/call","params":7}]"#;
        let forwarded = front.from_client(batch);
        assert_eq!(forwarded.len(), 2, "{forwarded:?}");
        let pong = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
        assert_eq!(front.from_server(pong), []);
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let outputs = front.from_client(cancel);
        let [FrontOutput::Reply(array), FrontOutput::Forward(_)] = &*outputs else {
            panic!("{outputs:?}")
        };
        let all: Vec<Json> = array.parse::<Json>().unwrap().read().unwrap();
        let ids: Vec<String> = all
            .iter()
            .map(|one| one.get("id").unwrap().to_string())
            .collect();
        assert_eq!(ids, ["null", "3", "2"], "{array}");
        assert!(front.batches.is_empty() && front.pending.is_empty());
        assert_eq!(front.pending_bytes, 0);
        is(front.from_client("[]"), 'r', &["-32600"]);
    }

    #[test]
    fn requests_that_wait_are_bounded_in_number_and_bytes() {
        let mut front = front(OWN);
        initialize(&mut front, "2025-06-18");
        let ask = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
        is(
            front.from_client(&ask(&"x".repeat(MAX_PENDING_BYTES))),
            'r',
            &["too many"],
        );
        for id in 0..MAX_PENDING {
            is(front.from_client(&ask(&id.to_string())), 'f', &[]);
        }
        is(front.from_client(&ask("more")), 'r', &["too many"]);
    }

    #[test]
    fn an_older_client_calls_a_server_of_each_request() {
        let mut front = front(Revision::V2026_07_28);
        initialize(&mut front, "2025-06-18");
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        is(front.from_client(list), 'f', &["clientCapabilities"]);
        is(
            front.from_client(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
            'r',
            &[r#""result":{}"#],
        );
        let level =
            r#"{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}"#;
        is(front.from_client(level), 'r', &[r#""error""#]);
        let own = r#"{"jsonrpc":"2.0","id":4,"method":"com.example/own","params":[1]}"#;
        is(front.from_client(own), 'f', &[own]);
    }

    #[test]
    fn a_response_that_is_not_a_message_ends_the_request_that_waits_for_it() {
        let mut front = front(OWN);
        initialize(&mut front, "2025-06-18");
        let request = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
        assert_eq!(front.from_client(request).len(), 1);
        let both = r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}"#;
        let outputs = front.from_server(both);
        let (kind, text) = text(&outputs);
        assert!(
            kind == 'f' && text.contains(r#""id":7"#) && text.contains("-32603"),
            "{text}"
        );
        // It has its response: another one answers nothing.
        assert_eq!(
            front.from_server(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
            []
        );
    }
}
