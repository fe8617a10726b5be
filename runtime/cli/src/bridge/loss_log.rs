//! The log of losses: a JSON object per line, for each loss and for each message that was not delivered.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use mcp_bridge::{End, LossReport};
use mcp_revisions::sansio::server::Undelivered;
use mcp_revisions::{Change, Loss};
use mcp_wire::{Json, Map};

/// Where the lines are written; nowhere if it is off.
pub(super) struct LossLog(Option<Mutex<Box<dyn Write + Send>>>);

impl LossLog {
    /// Opens the log: a file, `stderr`, or `off` for none.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(super) fn open(place: &str) -> anyhow::Result<Self> {
        let to: Box<dyn Write + Send> = match place {
            "off" => return Ok(Self(None)),
            "stderr" => Box::new(std::io::stderr()),
            file => {
                let file = File::create(file).with_context(|| format!("cannot write {file}"))?;
                Box::new(file)
            }
        };
        Ok(Self(Some(Mutex::new(to))))
    }

    /// Writes the lines of a report.
    pub(super) fn write(&self, report: &LossReport<'_>) {
        let Some(to) = &self.0 else { return };
        let end = match report.end {
            End::Client => "client",
            _ => "server",
        };
        let about = [
            ("end", Json::of(end)),
            ("revision", Json::of(report.revision.id())),
            ("method", Json::of(report.method)),
        ];
        let request = report.request.map(|id| ("request", Json::of(id)));
        let told = report.losses.iter().filter(|loss| is_told(loss));
        let lost = told.map(crate::loss::row);
        let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
        for more in lost.chain(report.undelivered.and_then(undelivered)) {
            let mut row: Map<Json> = about.iter().cloned().chain(request.clone()).collect();
            row.extend(more);
            // A log that cannot be written stops no message.
            let _ = writeln!(to, "{}", mcp_wire::to_string(&row));
        }
    }
}

/// Whether a loss changes the message for its receiver: not what the session says, or what a member says by its absence.
fn is_told(loss: &Loss) -> bool {
    loss.is_loss() || matches!(loss.change, Change::Carried | Change::Reshaped)
}

/// Why a message was not delivered, as members of its line.
fn undelivered(why: Undelivered<'_>) -> Option<Map<Json>> {
    let members = match why {
        Undelivered::Rejected {
            rule, step, error, ..
        } => vec![
            ("step", Json::of(step)),
            ("rule", Json::of(rule)),
            ("change", Json::of("rejected")),
            ("code", Json::of(&error.code)),
            ("message", Json::of(&error.message)),
        ],
        Undelivered::Dropped { rule, .. } => {
            vec![("rule", Json::of(rule)), ("change", Json::of("dropped"))]
        }
        _ => return None,
    };
    Some(members.into_iter().collect())
}
