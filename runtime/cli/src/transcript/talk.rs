//! What a transcript has come to: the revision that is spoken, and which requests wait for an answer.

use std::collections::{BTreeMap, BTreeSet};

use mcp_registry::{Era, ProtocolRule, Revision};
use mcp_wire::{
    Direction, Json, JsonObject, Message, MethodKind, Packet, RequestId, Unreadable, peek,
};

use super::Said;
use super::finding::{Fault, Finding};
use crate::message;
use crate::report::{Finding as Check, Verdict};
use crate::revisions::methods;
use mcp_revisions::methods;

/// A message as it went by.
#[derive(Clone, Copy)]
struct Heard<'h> {
    line: usize,
    at: Option<u64>,
    direction: Direction,
    /// Where it stands in its batch.
    place: &'h str,
    text: &'h str,
}

/// A request that waits.
#[derive(Debug)]
struct Open {
    line: usize,
    at: Option<u64>,
    method: String,
    revision: Option<Revision>,
    is_cancelled: bool,
}

/// An id, by its text, and who used it.
type Asked = (Direction, String);

/// What there is to know of a method's calls.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Calls {
    /// How many requests.
    pub(crate) sent: usize,
    /// How many of them were answered with a result.
    pub(crate) answered: usize,
    /// How many with an error.
    pub(crate) failed: usize,
    /// The longest time that one took, in milliseconds, where the lines say when.
    pub(crate) slowest: Option<u64>,
}

/// The state of a talk.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// The revision of the session, or of the last claim.
    settled: Option<Revision>,
    open: BTreeMap<Asked, Open>,
    answered: BTreeSet<Asked>,
    /// What the client said it can do, in the handshake.
    pub(crate) capabilities: Option<Json>,
    /// Who it said it is.
    pub(crate) client: Option<Json>,
    /// What was found.
    pub(crate) findings: Vec<Finding>,
    /// The calls of each method.
    pub(crate) calls: BTreeMap<(Direction, String), Calls>,
    /// The notifications.
    pub(crate) notifications: BTreeMap<(Direction, String), usize>,
    /// Methods that the revision does not have.
    pub(crate) unknown: BTreeMap<(Direction, String), usize>,
    /// The revisions that messages were read as.
    pub(crate) spoken: BTreeSet<Revision>,
}

fn member(object: Option<&Json>, name: &str) -> Option<Json> {
    let object = JsonObject::from_text(object?.text()).ok()?;
    object.get(name)
}

fn text_of(json: Option<Json>) -> Option<String> {
    json?.as_str().map(std::borrow::Cow::into_owned)
}

impl Talk {
    /// A message went by: what it was read as, for those who want to look on.
    pub(crate) fn hears(
        &mut self,
        line: usize,
        at: Option<u64>,
        direction: Direction,
        text: &str,
    ) -> Vec<Said> {
        let packet = match mcp_wire::from_str::<Packet>(text) {
            Ok(packet) => packet,
            Err(error) => {
                let about = match peek(text.as_bytes()) {
                    Err(Unreadable::NotJson(_)) => "text",
                    _ => "JSON-RPC message",
                };
                self.finds(
                    line,
                    Fault::NoMessage,
                    error.pointer(),
                    about,
                    &error.to_string(),
                );
                return Vec::new();
            }
        };
        let heard = Heard {
            line,
            at,
            direction,
            place: "",
            text,
        };
        match packet {
            Packet::Single(message) => self.one(heard, message).into_iter().collect(),
            Packet::Batch(messages) => {
                let has_batches =
                    |revision: &Revision| revision.type_named("JSONRPCBatchRequest").is_some();
                if let Some(revision) = self.settled.filter(|revision| !has_batches(revision)) {
                    let told = format!(
                        "expected one message, since revision {revision} has no batches, found an array"
                    );
                    self.finds(line, Fault::Invalid, "", "batch", &told);
                }
                let mut all = Vec::new();
                for (index, message) in messages.into_iter().enumerate() {
                    let heard = Heard {
                        place: &format!("/{index}"),
                        text: &mcp_wire::to_string(&message),
                        ..heard
                    };
                    all.extend(self.one(heard, message));
                }
                all
            }
        }
    }

    fn one(&mut self, heard: Heard<'_>, message: Message) -> Option<Said> {
        let Heard {
            line,
            direction,
            place,
            text,
            ..
        } = heard;
        let said = |revision, method: &str| Said {
            line,
            direction,
            revision,
            method: Some(method.to_owned()),
            text: text.to_owned(),
        };
        match &message {
            Message::Request(request) => {
                let method = request.method.as_str();
                let revision = self.speaks(heard, method, request.params.as_ref());
                let key = (direction, mcp_wire::to_string(&request.id));
                let once = revision.is_none_or(|it| it.has_rule(ProtocolRule::IdsOnce));
                if self.open.contains_key(&key) || (once && self.answered.contains(&key)) {
                    let told = format!("expected an id that was not used before, found {}", key.1);
                    self.finds(line, Fault::IdUsed, &format!("{place}/id"), method, &told);
                }
                let calls = self.calls.entry((direction, method.to_owned()));
                calls.or_default().sent += 1;
                self.called(heard, revision, method, MethodKind::Request);
                let open = Open {
                    line,
                    at: heard.at,
                    method: method.to_owned(),
                    revision,
                    is_cancelled: false,
                };
                self.open.insert(key, open);
                revision.map(|revision| said(revision, method))
            }
            Message::Notification(notification) => {
                let method = notification.method.as_str();
                let params = notification.params.as_ref();
                let count = self.notifications.entry((direction, method.to_owned()));
                *count.or_default() += 1;
                if method == methods::NOTIFICATIONS_CANCELLED
                    && let Some(id) = member(params, "requestId")
                {
                    self.cancelled(direction, &id);
                }
                let revision = self.speaks(heard, method, params);
                self.called(heard, revision, method, MethodKind::Notification);
                revision.map(|revision| said(revision, method))
            }
            Message::Response(response) => {
                let open = self.answers(heard, Some(&response.id), true)?;
                let mut revision = open.revision;
                if open.method == methods::INITIALIZE {
                    self.greeted(heard, &response.result);
                    revision = self.settled.or(revision);
                }
                let revision = revision?;
                let known = methods(revision, &open.method).next().is_some();
                let wanted = known.then_some(open.method.as_str());
                self.checks(heard, message::as_message(revision, wanted, text));
                Some(said(revision, &open.method))
            }
            Message::Error(error) => {
                let open = self.answers(heard, error.id.as_ref(), false);
                let asked = open.as_ref().and_then(|open| open.revision);
                let revision = asked.or(self.settled)?;
                self.checks(heard, message::as_message(revision, None, text));
                Some(said(revision, &open?.method))
            }
        }
    }

    /// The revision of a request or a notification.
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
                let told = "nothing says which revision is spoken: neither a handshake before it nor a claim in `_meta`";
                // One that is told once is told enough.
                if !self
                    .findings
                    .iter()
                    .any(|finding| finding.fault == Fault::NoRevision)
                {
                    self.finds(line, Fault::NoRevision, place, method, told);
                }
            }
            return self.settled;
        };
        let revision = Revision::from_wire(&named);
        match revision {
            // What a client proposes is not settled yet.
            Some(_) if method == methods::INITIALIZE => {}
            Some(revision) => self.settled = Some(revision),
            // A proposal may be of tomorrow: what counts is the answer to it.
            None if method == methods::INITIALIZE => {
                return Revision::NEGOTIATED
                    .iter()
                    .rev()
                    .find(|revision| revision.era() == Era::Handshake)
                    .copied();
            }
            None => {
                let told = format!("expected a version of the protocol, found `{named}`");
                self.finds(
                    line,
                    Fault::Version,
                    &format!("{place}{pointer}"),
                    method,
                    &told,
                );
            }
        }
        revision.or(self.settled)
    }

    /// The answer to `initialize` settles the revision.
    fn greeted(&mut self, heard: Heard<'_>, result: &Json) {
        let Heard { line, place, .. } = heard;
        let named = text_of(member(Some(result), "protocolVersion"));
        match named.as_deref().map(Revision::from_wire) {
            Some(Some(revision)) => self.settled = Some(revision),
            Some(None) => {
                let told = format!(
                    "expected a version of the protocol, found `{}`",
                    named.unwrap_or_default()
                );
                let pointer = format!("{place}/result/protocolVersion");
                self.finds(line, Fault::Version, &pointer, "initialize response", &told);
            }
            None => {}
        }
    }

    fn cancelled(&mut self, direction: Direction, id: &Json) {
        if let Ok(id) = id.read::<RequestId>() {
            // Who cancels has asked; a server of a stream of changes ends what its client asked for.
            for asker in [direction, direction.back()] {
                if let Some(open) = self.open.get_mut(&(asker, mcp_wire::to_string(&id))) {
                    open.is_cancelled = true;
                    return;
                }
            }
        }
    }

    fn called(
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
        let rows = || methods(revision, method).filter(|row| row.kind == kind);
        if methods(revision, method).next().is_none() {
            *self
                .unknown
                .entry((direction, method.to_owned()))
                .or_default() += 1;
        } else if rows().next().is_some() && !rows().any(|row| row.direction == direction) {
            let told = format!("revision {revision} has it {} alone", direction.back());
            self.finds(
                line,
                Fault::Direction,
                &format!("{place}/method"),
                &format!("{method} {kind}"),
                &told,
            );
            return;
        }
        self.checks(heard, message::as_message(revision, None, text));
        self.spoken.insert(revision);
    }

    /// The request that a response answers.
    fn answers(
        &mut self,
        heard: Heard<'_>,
        id: Option<&RequestId>,
        is_result: bool,
    ) -> Option<Open> {
        let Heard {
            line,
            at,
            direction,
            place,
            ..
        } = heard;
        // An error without an id speaks of no request that anybody could name.
        let key = (direction.back(), mcp_wire::to_string(id?));
        let Some(open) = self.open.remove(&key) else {
            let (fault, told) = match self.answered.contains(&key) {
                true => (
                    Fault::AnsweredTwice,
                    "the request of this id was answered before",
                ),
                false => (Fault::Unasked, "no request of this id was sent"),
            };
            let told = format!("id {}: {told}", key.1);
            self.finds(line, fault, &format!("{place}/id"), "response", &told);
            return None;
        };
        let calls = self.calls.entry((key.0, open.method.clone())).or_default();
        match is_result {
            true => calls.answered += 1,
            false => calls.failed += 1,
        }
        if let (Some(start), Some(end)) = (open.at, at) {
            calls.slowest = calls.slowest.max(Some(end.saturating_sub(start)));
        }
        self.answered.insert(key);
        Some(open)
    }

    /// How long the request took that a response answers; to be asked before the response is heard.
    pub(crate) fn waited(&self, direction: Direction, id: &str, at: u64) -> Option<(&str, u64)> {
        let open = self.open.get(&(direction.back(), id.to_owned()))?;
        Some((&open.method, at.saturating_sub(open.at?)))
    }

    /// What still waits when nothing more comes.
    pub(crate) fn ends(&mut self) {
        let open = std::mem::take(&mut self.open);
        for (
            (_, id),
            Open {
                line,
                method,
                is_cancelled,
                ..
            },
        ) in open
        {
            if !is_cancelled && method != methods::SUBSCRIPTIONS_LISTEN {
                self.finds(
                    line,
                    Fault::Unanswered,
                    "",
                    &format!("{method} request"),
                    &format!("id {id} was never answered"),
                );
            }
        }
        self.findings.sort_by_key(|finding| finding.line);
    }

    fn checks(&mut self, heard: Heard<'_>, checks: Vec<Check>) {
        let Heard { line, place, .. } = heard;
        for Check { read_as, verdict } in checks {
            match verdict {
                Verdict::Same => {}
                Verdict::Lost(pointers) => {
                    for pointer in pointers {
                        let told = "it was not written back as it was read";
                        self.finds(
                            line,
                            Fault::Lost,
                            &format!("{place}{pointer}"),
                            &read_as,
                            told,
                        );
                    }
                }
                Verdict::Refused(problem) => {
                    let told = format!("expected {}, found {}", problem.expected, problem.found);
                    self.finds(
                        line,
                        Fault::Invalid,
                        &format!("{place}{}", problem.pointer),
                        &read_as,
                        &told,
                    );
                }
            }
        }
    }

    pub(crate) fn finds(
        &mut self,
        line: usize,
        fault: Fault,
        pointer: &str,
        about: &str,
        told: &str,
    ) {
        self.findings.push(Finding {
            line,
            fault,
            pointer: pointer.to_owned(),
            about: about.to_owned(),
            told: told.to_owned(),
        });
    }
}
