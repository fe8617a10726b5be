//! Where losses are told, and which of them are not put up with.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use mcp_registry::{Context, Loss, LossKind, Revision, Subject};
use mcp_wire::{ErrorObject, Json, RequestId};
use serde_json::{Value, json};

/// Where losses are told, and which of them are not put up with.
pub(super) struct Losses {
    to: Mutex<Option<Box<dyn Write + Send>>>,
    refused: Vec<LossKind>,
}

/// Whom something is lost to or from.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Client,
    Server,
}

impl Losses {
    /// To a file, to `stderr`, or nowhere if `off`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn to(place: &str, refused: Vec<LossKind>) -> anyhow::Result<Self> {
        let to: Option<Box<dyn Write + Send>> = match place {
            "off" => None,
            "stderr" => Some(Box::new(std::io::stderr())),
            file => {
                let file = File::create(file).with_context(|| format!("cannot write {file}"))?;
                Some(Box::new(file))
            }
        };
        Ok(Self {
            to: Mutex::new(to),
            refused,
        })
    }

    /// One JSON line a loss.
    pub(super) fn tell(
        &self,
        end: End,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        losses: &[Loss],
    ) {
        if losses.is_empty() {
            return;
        }
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(to) = to.as_mut() else { return };
        let id = request.map(Json::of);
        let id = id.and_then(|id| id.parse::<Value>().ok());
        for loss in losses {
            let mut row = json!({
                "end": match end { End::Client => "client", End::Server => "server" },
                "revision": peer.id(),
                "method": method,
                "request": id,
                "pointer": loss.pointer(),
                "hop": loss.hop,
                "rule": loss.rule(),
                "kind": loss.kind().as_str(),
                "change": loss.change.as_str(),
            })
            .to_string();
            row.push('\n');
            // A log that cannot be written stops no message.
            let _ = to.write_all(row.as_bytes());
        }
    }

    /// The error in the place of what would lose something on its way to another revision that is not put up with.
    pub(super) fn refuse_to_carry(
        &self,
        subject: Subject<'_>,
        (from, to): (Revision, Revision),
        value: &Json,
    ) -> Option<ErrorObject> {
        if self.refused.is_empty() {
            return None;
        }
        let outcome = mcp_registry::convert(subject, from, to, value.text(), Context::default());
        self.refuse(outcome.ok()?.losses())
    }

    /// The error in the place of what loses something that is not put up with.
    pub(super) fn refuse(&self, losses: &[Loss]) -> Option<ErrorObject> {
        let loss = losses
            .iter()
            .find(|loss| self.refused.contains(&loss.kind()))?;
        let told = format!(
            "refused: {} at {} would be lost ({}, rule {})",
            loss.kind().as_str(),
            loss.pointer(),
            loss.hop,
            loss.rule()
        );
        Some(ErrorObject::new(ErrorObject::INTERNAL_ERROR, told))
    }
}
