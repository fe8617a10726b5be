//! The losses of recorded traffic if the peer spoke another revision.

use std::collections::BTreeMap;
use std::fmt;

use mcp_revisions_core::{
    Adapter, Context, ConversionError, MessageContext, Revision, Session, Severity, UnknownFields,
    convert_message,
};
use mcp_wire::{MessageKind, peek};

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
            Self::Part(severity) => f.pad(severity.as_str()),
            Self::Adapter(adapter) => f.pad(&format!("adapter {}", adapter.as_str())),
            Self::Rejected => f.pad("rejected"),
            Self::Dropped => f.pad("dropped"),
        }
    }
}

/// The effects of one rule on recorded traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) cost: Cost,
    /// The number of occurrences.
    pub(crate) count: usize,
    /// The line of the first one.
    pub(crate) line: usize,
    /// The place.
    pub(crate) pointer: String,
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
        let Ok(message) = peek(said.text.as_bytes()) else {
            return;
        };
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
        let converted = convert_message(&said.text, said.revision, self.revision, &context);
        let method = said.method.clone().unwrap_or_default();
        let losses = &mut self.losses;
        let mut adds = |step: &str, rule: &str, cost: Cost, pointer: String| {
            let row = losses
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
        match converted {
            Ok((_, losses)) if losses.iter().any(|loss| loss.change.is_loss()) => {
                for loss in losses {
                    let cost = Cost::Part(loss.severity());
                    adds(loss.step, loss.rule(), cost, loss.pointer());
                }
            }
            Ok(_) => self.whole += 1,
            Err(ConversionError::RequiresState(needs)) => {
                let cost = Cost::Adapter(needs.adapter);
                adds(needs.step, needs.rule, cost, needs.pointer);
            }
            Err(ConversionError::Rejected(rejected)) => {
                adds(
                    rejected.step,
                    rejected.rule,
                    Cost::Rejected,
                    rejected.pointer,
                );
            }
            Err(ConversionError::Dropped(dropped)) => {
                adds(dropped.step, dropped.rule, Cost::Dropped, dropped.pointer);
            }
            // A message that its own revision does not know was counted, and goes nowhere.
            Err(_) => return,
        }
        self.all += 1;
    }
}
