//! The losses of recorded traffic if the peer spoke another revision.

use std::collections::BTreeMap;
use std::fmt;

use mcp_revisions_core::{Adapter, Context, Outcome, Revision, Session, Severity, UnknownFields};
use mcp_revisions_core::{MessageContext, Protocol, Route, convert_messages, read_messages};
use mcp_wire::MessageKind;

use super::said::TranscriptMessage;
use super::talk::Talk;

/// The cost of a rule for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// A part of it.
    Part(Severity),
    /// An adapter has to help.
    Adapter(Adapter),
    /// It is answered with an error.
    Rejected,
    /// The notification is dropped.
    Dropped,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(kind) => f.pad(kind.as_str()),
            Self::Adapter(adapter) => f.pad(&format!("adapter {}", adapter.as_str())),
            Self::Rejected => f.pad("rejected"),
            Self::Dropped => f.pad("dropped"),
        }
    }
}

/// The effects of one rule on recorded traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effects {
    /// The cost.
    pub(crate) cost: Cost,
    /// The number of occurrences.
    pub(crate) count: usize,
    /// The line of the first one.
    pub(crate) line: usize,
    /// The place.
    pub(crate) pointer: String,
    /// The method.
    pub(crate) method: String,
}

/// The losses of recorded traffic with a peer of another revision.
#[derive(Debug)]
pub(crate) struct Other {
    /// The revision of the other end.
    pub(crate) revision: Revision,
    /// By step and rule.
    pub(crate) losses: BTreeMap<(String, String), Effects>,
    /// The messages that would go through as they are, or come back so.
    pub(crate) whole: usize,
    /// All of them.
    pub(crate) all: usize,
}

impl Other {
    pub(crate) fn new(revision: Revision) -> Self {
        Self {
            revision,
            losses: BTreeMap::new(),
            whole: 0,
            all: 0,
        }
    }

    /// 4 if something would be lost, as of `convert`.
    pub(crate) fn code(&self) -> u8 {
        if self.losses.is_empty() { 0 } else { 4 }
    }

    /// Converts a message to the other revision.
    pub(crate) fn look(&mut self, said: &TranscriptMessage, talk: &Talk) {
        let Ok(messages) = read_messages(&said.text) else {
            return;
        };
        let [message] = &*messages.all else { return };
        // The one who asks is the one who sends the method.
        let sender = match message.kind {
            MessageKind::Request | MessageKind::Notification => said.direction,
            _ => said.direction.back(),
        };
        let conversion = Context::new(UnknownFields::Drop).with_session(Session {
            client_capabilities: talk.capabilities.clone(),
            client_info: talk.client.clone(),
            subscription_id: None,
        });
        let context = MessageContext::new(conversion)
            .answering(said.method.as_deref())
            .sent_by(sender);
        let [from, to] =
            [said.revision, self.revision].map(|revision| Protocol::from(revision).stand_in());
        let Ok(route) = Route::between(from, to) else {
            return;
        };
        // A message that its own revision does not know was counted, and goes nowhere.
        let Ok(converted) = convert_messages(&messages, &route, &context) else {
            return;
        };
        let method = said.method.clone().unwrap_or_default();
        for (_, outcome) in converted.messages {
            self.all += 1;
            let mut adds = |step: &str, rule: &str, cost: Cost, pointer: String| {
                let row = self
                    .losses
                    .entry((step.to_owned(), rule.to_owned()))
                    .or_insert_with(|| Effects {
                        cost,
                        count: 0,
                        line: said.line,
                        pointer,
                        method: method.clone(),
                    });
                row.count += 1;
            };
            match outcome {
                Outcome::Exact(_) | Outcome::Reversible(..) => self.whole += 1,
                Outcome::Lossy(_, losses) => {
                    for loss in losses {
                        let cost = Cost::Part(loss.severity());
                        adds(loss.step, loss.rule(), cost, loss.pointer());
                    }
                }
                Outcome::RequiresState(needs) => {
                    let cost = Cost::Adapter(needs.adapter);
                    adds(needs.step, needs.rule, cost, needs.pointer);
                }
                Outcome::Rejected(rejected) => {
                    let cost = Cost::Rejected;
                    adds(rejected.step, rejected.rule, cost, rejected.pointer);
                }
                Outcome::Dropped(dropped) => {
                    let cost = Cost::Dropped;
                    adds(dropped.step, dropped.rule, cost, dropped.pointer);
                }
            }
        }
    }
}
