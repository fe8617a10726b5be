//! Where losses are told, and which of them are not put up with.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use mcp_registry::{Context, Loss, LossKind, Revision, Subject};
use mcp_revisions::server::{Lost, Undelivered};
use mcp_wire::{ErrorObject, Json, Map, RequestId};

/// Where losses are told, and which of them are not put up with.
pub(super) struct Losses {
    to: Mutex<Option<Box<dyn Write + Send>>>,
    /// The least grave loss for which an error is sent.
    rejected: Option<LossKind>,
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
    pub(super) fn to(place: &str, rejected: Option<LossKind>) -> anyhow::Result<Self> {
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
            rejected,
        })
    }

    /// One JSON line for each loss of a message on its way to or from a client, or for the message that did not arrive.
    pub(super) fn tell_of(&self, lost: &Lost<'_>) {
        let Lost {
            method,
            peer,
            request,
            losses,
            undelivered,
            ..
        } = *lost;
        self.tell(End::Client, method, peer, request, losses);
        let row: &[(&str, Json)] = match undelivered {
            Some(Undelivered::Rejected {
                rule, hop, error, ..
            }) => &[
                ("step", Json::of(hop)),
                ("rule", Json::of(rule)),
                ("change", Json::of("rejected")),
                ("code", Json::of(&error.code)),
                ("message", Json::of(&error.message)),
            ],
            Some(Undelivered::Swallowed { rule, .. }) => {
                &[("rule", Json::of(rule)), ("change", Json::of("dropped"))]
            }
            _ => return,
        };
        self.write(
            End::Client,
            method,
            peer,
            request,
            [row.iter().cloned().collect()],
        );
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
        if !losses.is_empty() {
            self.write(
                end,
                method,
                peer,
                request,
                losses.iter().map(crate::loss::row),
            );
        }
    }

    fn write(
        &self,
        end: End,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        rows: impl IntoIterator<Item = Map<Json>>,
    ) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(to) = to.as_mut() else { return };
        let end = match end {
            End::Client => "client",
            End::Server => "server",
        };
        let about = [
            ("end", Json::of(end)),
            ("revision", Json::of(peer.id())),
            ("method", Json::of(method)),
            ("request", Json::of(&request)),
        ];
        for more in rows {
            let mut row: Map<Json> = about.iter().cloned().collect();
            row.extend(more);
            // A log that cannot be written stops no message.
            let _ = writeln!(to, "{}", mcp_wire::to_string(&row));
        }
    }

    /// The error in the place of what would lose something on its way to another revision that is not put up with.
    pub(super) fn refuse_to_carry(
        &self,
        subject: Subject<'_>,
        (from, to): (Revision, Revision),
        value: &Json,
    ) -> Option<ErrorObject> {
        self.rejected?;
        let outcome = mcp_registry::convert(subject, from, to, value.text(), Context::default());
        self.refuse(outcome.ok()?.losses())
    }

    /// The error in the place of what loses something that is not put up with.
    pub(super) fn refuse(&self, losses: &[Loss]) -> Option<ErrorObject> {
        let least = self.rejected?;
        let loss = losses
            .iter()
            .find(|loss| loss.change.is_loss() && loss.kind() >= least)?;
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
