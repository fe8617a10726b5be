//! Where losses are told, and which of them are not put up with.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use mcp_registry::{Loss, LossKind, Revision};
use mcp_wire::ErrorObject;
use serde_json::json;

/// Where losses are told, and which of them are not put up with.
pub(super) struct Losses {
    to: Mutex<Option<Box<dyn Write + Send>>>,
    refused: Vec<LossKind>,
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

    /// One JSON line a loss; `end` is whom it is lost to or from.
    pub(super) fn tell(&self, end: &str, method: &str, revision: Revision, losses: &[Loss]) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(to) = to.as_mut() else { return };
        for loss in losses {
            let row = json!({
                "end": end,
                "revision": revision.id(),
                "method": method,
                "pointer": loss.pointer(),
                "hop": loss.hop,
                "rule": loss.rule(),
                "kind": loss.kind().as_str(),
                "change": loss.change.as_str(),
            });
            // A log that cannot be written stops no message.
            let _ = writeln!(to, "{row}");
        }
    }

    /// Whether anything is refused at all.
    pub(super) fn refuses_any(&self) -> bool {
        !self.refused.is_empty()
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
