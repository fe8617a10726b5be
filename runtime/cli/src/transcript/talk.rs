//! The state of a transcript: the revision that is spoken, and the findings in the messages.

use std::collections::{BTreeMap, BTreeSet};

use mcp_revisions::core::methods;
use mcp_revisions_core::program::read_messages;
use mcp_revisions_core::{Lifecycle, ProtocolRule, Revision};
use mcp_wire::{
    Direction, Json, JsonObject, MessageKind, MethodKind, Peeked, Raw, RawId, RequestId,
    Unreadable, peek,
};

use super::calls::{MethodCalls, OpenRequest, OpenRequests, RequestKey, Stray};
use super::finding::{FindingKind, TranscriptFindings};
use super::said::TranscriptMessage;
use super::sender;
use crate::message;
use crate::revisions::known_methods;

/// A message as it went by.
#[derive(Clone, Copy)]
struct Heard<'h> {
    line: usize,
    at: Option<u64>,
    direction: Direction,
    /// The place in its batch.
    place: &'h str,
    text: &'h str,
}

/// The state of recorded traffic up to a line.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// The revision of the session, or of the last claim.
    settled: Option<Revision>,
    requests: OpenRequests,
    /// The client's capabilities, from the handshake.
    pub(crate) capabilities: Option<Json>,
    /// The client's name and version.
    pub(crate) client: Option<Json>,
    pub(crate) findings: TranscriptFindings,
    pub(crate) notifications: BTreeMap<(Direction, String), usize>,
    /// Methods that the revision does not have.
    pub(crate) unknown: BTreeMap<(Direction, String), usize>,
    /// The revisions that messages were read as.
    pub(crate) spoken: BTreeSet<Revision>,
    /// Set once the findings have a message whose revision is not known: one is enough.
    lacks_revision: bool,
}

fn member(object: Option<&Json>, name: &str) -> Option<Json> {
    let object = JsonObject::from_text(object?.text()).ok()?;
    object.get(name)
}

fn text_of(json: Option<Json>) -> Option<String> {
    json?.as_str().map(std::borrow::Cow::into_owned)
}

impl Talk {
    /// Reads a line that went by, and returns its messages, each as a message of the revision that it was read as.
    pub(crate) fn hears(
        &mut self,
        line: usize,
        at: Option<u64>,
        direction: Direction,
        text: &str,
    ) -> Vec<TranscriptMessage> {
        let messages = match read_messages(text) {
            Ok(messages) => messages,
            Err(problem) => {
                let about = match peek(text.as_bytes()) {
                    Err(Unreadable::NotJson(_)) => "text",
                    _ => "JSON-RPC message",
                };
                self.findings.add(
                    line,
                    FindingKind::NoMessage,
                    &problem.pointer,
                    about,
                    &problem.message,
                );
                return Vec::new();
            }
        };
        let has_batches =
            |revision: &Revision| revision.type_named("JSONRPCBatchRequest").is_some();
        if let Some(revision) = self
            .settled
            .filter(|it| messages.is_batch && !has_batches(it))
        {
            let told = format!(
                "expected one message, since revision {revision} has no batches, found an array"
            );
            self.findings
                .add(line, FindingKind::Invalid, "", "batch", &told);
        }
        let mut all = Vec::new();
        for (index, message) in messages.all.iter().enumerate() {
            let place = if messages.is_batch {
                format!("/{index}")
            } else {
                String::new()
            };
            let message = match message {
                Ok(message) => message,
                Err(problem) => {
                    let (about, told) = ("JSON-RPC message", &problem.message);
                    let fault = FindingKind::NoMessage;
                    self.findings
                        .add(line, fault, &problem.pointer, about, told);
                    continue;
                }
            };
            let heard = Heard {
                line,
                at,
                direction,
                place: &place,
                text: message.text,
            };
            all.extend(self.one(heard, message));
        }
        all
    }

    fn one(&mut self, heard: Heard<'_>, message: &Peeked<'_>) -> Option<TranscriptMessage> {
        let Heard {
            line,
            direction,
            place,
            text,
            ..
        } = heard;
        let said = |revision, method: &str| TranscriptMessage {
            line,
            direction,
            revision,
            method: Some(method.to_owned()),
            text: text.to_owned(),
        };
        let method = message.method.as_deref().unwrap_or_default();
        let params_json = message.params.map(Raw::to_json);
        let params = params_json.as_ref();
        let id = message.id.and_then(RawId::to_id);
        match message.kind {
            MessageKind::Request => {
                let revision = self.speaks(heard, method, params);
                let id_text = id.as_ref().map(mcp_wire::to_string);
                let key = (direction, id_text.unwrap_or_default());
                let once = revision.is_none_or(|it| it.has_rule(ProtocolRule::IdsOnce));
                if self.requests.is_taken(&key, once) {
                    let told = format!("expected an id that was not used before, found {}", key.1);
                    self.findings.add(
                        line,
                        FindingKind::IdUsed,
                        &format!("{place}/id"),
                        method,
                        &told,
                    );
                }
                self.check_call(heard, revision, method, MethodKind::Request);
                let open = OpenRequest {
                    line,
                    at: heard.at,
                    method: method.to_owned(),
                    revision,
                    is_cancelled: false,
                };
                self.requests.ask(key, open);
                revision.map(|revision| said(revision, method))
            }
            MessageKind::Notification => {
                let count = self.notifications.entry((direction, method.to_owned()));
                *count.or_default() += 1;
                if method == methods::NOTIFICATIONS_CANCELLED
                    && let Some(id) = member(params, "requestId")
                {
                    // An id of another kind names nothing.
                    if let Ok(id) = id.read::<RequestId>() {
                        self.requests.cancel(direction, &mcp_wire::to_string(&id));
                    }
                }
                let revision = self.speaks(heard, method, params);
                self.check_call(heard, revision, method, MethodKind::Notification);
                revision.map(|revision| said(revision, method))
            }
            MessageKind::Response => {
                let open = self.answers(heard, id.as_ref(), true)?;
                let mut revision = open.revision;
                if open.method == methods::INITIALIZE {
                    self.greeted(heard, message.result.map(Raw::to_json).as_ref());
                    revision = self.settled.or(revision);
                }
                let spoken = revision?;
                let known = known_methods(spoken, &open.method).next().is_some();
                let wanted = known.then_some(open.method.as_str());
                self.findings
                    .add_checks(line, place, message::as_message(spoken, wanted, text));
                Some(said(spoken, &open.method))
            }
            MessageKind::Error | MessageKind::Batch => {
                let open = self.answers(heard, id.as_ref(), false);
                let asked = open.as_ref().and_then(|open| open.revision);
                let revision = asked.or(self.settled)?;
                self.findings
                    .add_checks(line, place, message::as_message(revision, None, text));
                Some(said(revision, &open?.method))
            }
        }
    }

    /// Returns the revision of a request or a notification.
    fn speaks(
        &mut self,
        heard: Heard<'_>,
        method: &str,
        params: Option<&Json>,
    ) -> Option<Revision> {
        let Heard { line, place, .. } = heard;
        let meta = member(params, "_meta");
        let (named, pointer) = match method {
            methods::INITIALIZE => {
                self.capabilities = member(params, "capabilities");
                self.client = member(params, "clientInfo");
                (
                    text_of(member(params, "protocolVersion")),
                    "/params/protocolVersion",
                )
            }
            _ => (
                text_of(member(
                    meta.as_ref(),
                    "io.modelcontextprotocol/protocolVersion",
                )),
                "/params/_meta/io.modelcontextprotocol~1protocolVersion",
            ),
        };
        let Some(named) = named else {
            if self.settled.is_none() {
                let told = "unknown protocol version: no answered `initialize` before it, and no version in `_meta`";
                if !std::mem::replace(&mut self.lacks_revision, true) {
                    self.findings
                        .add(line, FindingKind::NoRevision, place, method, told);
                }
            }
            return self.settled;
        };
        let revision = Revision::from_protocol_version(&named);
        match revision {
            // A version that a client proposes is not settled yet.
            Some(_) if method == methods::INITIALIZE => {}
            Some(revision) => self.settled = Some(revision),
            // A proposal may be of tomorrow: what counts is the answer to it.
            None if method == methods::INITIALIZE => {
                return Revision::NEGOTIATED
                    .iter()
                    .rev()
                    .find(|revision| revision.lifecycle() == Lifecycle::Handshake)
                    .copied();
            }
            None => {
                let told = format!("expected a protocol version, found `{named}`");
                self.findings.add(
                    line,
                    FindingKind::Version,
                    &format!("{place}{pointer}"),
                    method,
                    &told,
                );
            }
        }
        revision.or(self.settled)
    }

    /// The answer to `initialize` settles the revision.
    fn greeted(&mut self, heard: Heard<'_>, result: Option<&Json>) {
        let Heard { line, place, .. } = heard;
        let named = text_of(member(result, "protocolVersion"));
        match named.as_deref().map(Revision::from_protocol_version) {
            Some(Some(revision)) => self.settled = Some(revision),
            Some(None) => {
                let told = format!(
                    "expected a protocol version, found `{}`",
                    named.unwrap_or_default()
                );
                let pointer = format!("{place}/result/protocolVersion");
                self.findings.add(
                    line,
                    FindingKind::Version,
                    &pointer,
                    "initialize response",
                    &told,
                );
            }
            None => {}
        }
    }

    fn check_call(
        &mut self,
        heard: Heard<'_>,
        revision: Option<Revision>,
        method: &str,
        kind: MethodKind,
    ) {
        let Heard {
            line,
            direction,
            place,
            text,
            ..
        } = heard;
        let Some(revision) = revision else { return };
        let rows = || known_methods(revision, method).filter(|row| row.kind == kind);
        if known_methods(revision, method).next().is_none() {
            *self
                .unknown
                .entry((direction, method.to_owned()))
                .or_default() += 1;
        } else if rows().next().is_some() && !rows().any(|row| row.direction == direction) {
            let told = format!(
                "in {revision}, only the {} sends this method",
                sender(direction.back())
            );
            self.findings.add(
                line,
                FindingKind::Direction,
                &format!("{place}/method"),
                &format!("{method} {kind}"),
                &told,
            );
            return;
        }
        self.findings
            .add_checks(line, place, message::as_message(revision, None, text));
        self.spoken.insert(revision);
    }

    /// Returns the request that a response answers.
    fn answers(
        &mut self,
        heard: Heard<'_>,
        id: Option<&RequestId>,
        is_result: bool,
    ) -> Option<OpenRequest> {
        let Heard {
            line,
            at,
            direction,
            place,
            ..
        } = heard;
        // An error without an id speaks of no request that anybody could name.
        let key: RequestKey = (direction.back(), mcp_wire::to_string(id?));
        let id = key.1.clone();
        let stray = match self.requests.answer(key, at, is_result) {
            Ok(open) => return Some(open),
            Err(stray) => stray,
        };
        let (fault, told) = match stray {
            Stray::Twice => (
                FindingKind::AnsweredTwice,
                format!("second response to request {id}"),
            ),
            Stray::Unasked => (
                FindingKind::Unasked,
                format!("response to unknown request {id}"),
            ),
        };
        self.findings
            .add(line, fault, &format!("{place}/id"), "response", &told);
        None
    }

    pub(crate) fn calls(&self) -> &BTreeMap<(Direction, String), MethodCalls> {
        &self.requests.calls
    }

    /// Returns the method and the time of the request that a response answers; to be called before the response is read.
    pub(crate) fn waited(&self, direction: Direction, id: &str, at: u64) -> Option<(&str, u64)> {
        let open = self.requests.waiting(&(direction.back(), id.to_owned()))?;
        Some((&open.method, at.saturating_sub(open.at?)))
    }

    /// Forgets what was counted, found and answered, so that traffic may go by for ever; see [`OpenRequests::forget`].
    pub(crate) fn forget(&mut self, before: usize) {
        self.requests.forget(before);
        self.findings = TranscriptFindings::default();
        self.lacks_revision = false;
        self.notifications.clear();
        self.unknown.clear();
    }

    /// Records the requests that still wait when nothing more comes.
    pub(crate) fn ends(&mut self) {
        for (id, open) in self.requests.end() {
            // A stream of changes stays open as long as its client listens.
            if !open.is_cancelled && open.method != methods::SUBSCRIPTIONS_LISTEN {
                let about = format!("{} request", open.method);
                let told = format!("no response to request {id}");
                self.findings
                    .add(open.line, FindingKind::Unanswered, "", &about, &told);
            }
        }
        self.findings.sort();
    }
}
