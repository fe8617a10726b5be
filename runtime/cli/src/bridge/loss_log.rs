//! The log of losses: a JSON object per line, for each loss and for each message that was not delivered.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use mcp_bridge::{MessageLosses, PeerRole};
use mcp_revisions::core::{Change, Loss};
use mcp_revisions_core::{ConversionError, Severity};
use mcp_wire::{EXCERPT, Json, Map, RequestId, excerpt};

use crate::background::{Background, Destination};
use crate::stderr;

/// Most bytes that wait for a disk, or for the reader of a pipe.
const WAITING: usize = 4 << 20;

/// The target of the lines; clones are the same log.
#[derive(Clone)]
pub(super) enum LossLog {
    Off,
    Stderr,
    File(Background, Arc<Destination>),
}

impl LossLog {
    /// Opens the log: a file, `stderr`, or `off` for none. Returns an error if the file cannot be created.
    pub(super) fn open(place: &str) -> anyhow::Result<Self> {
        let file = match place {
            "off" => return Ok(Self::Off),
            "stderr" => return Ok(Self::Stderr),
            file => file,
        };
        let gap = |count| format!("{{\"change\":\"not-logged\",\"lines\":{count}}}\n");
        let failed = |why: &str| tracing::error!("the loss log has gaps: {why}");
        let opened =
            Destination::file(file, gap, failed).with_context(|| format!("cannot write {file}"))?;
        let thread = Background::start(WAITING).context("cannot start a thread")?;
        Ok(Self::File(thread, Arc::new(opened)))
    }

    /// Writes the lines of a report, about the server of this name if there are several.
    pub(super) fn write(&self, report: &MessageLosses<'_>, server: Option<&str>) {
        if matches!(self, Self::Off) {
            return;
        }
        let end = match report.peer {
            PeerRole::Client => "client",
            PeerRole::Server => "server",
        };
        let about = [
            ("end", Json::of(end)),
            ("revision", Json::of(report.revision.id())),
            ("method", Json::of(&*excerpt(report.method, EXCERPT))),
        ];
        let request = report.request.map(|id| ("request", request_id(Some(id))));
        let lost = self.rows(report.losses.iter().filter(|loss| is_told(loss)));
        let mut lines = String::new();
        for more in lost
            .into_iter()
            .chain(report.undelivered.and_then(undelivered))
        {
            let named = server.map(|name| ("server", Json::of(&*excerpt(name, EXCERPT))));
            let about = named.into_iter().chain(about.iter().cloned());
            let mut row: Map<Json> = about.chain(request.clone()).collect();
            row.extend(more);
            lines.push_str(&mcp_wire::to_string(&row));
            lines.push('\n');
        }
        match self {
            _ if lines.is_empty() => {}
            Self::Off => {}
            Self::Stderr => stderr::tell_json(lines),
            Self::File(thread, file) => thread.write(file, lines),
        }
    }

    /// Returns the rows of losses. On standard error, cosmetic ones of one kind are one row, with their number and the place of
    /// the first: a list may have dozens.
    fn rows<'l>(&self, losses: impl Iterator<Item = &'l Loss>) -> Vec<Map<Json>> {
        let (mut rows, mut summed) = (Vec::new(), Vec::<((&str, &str, Change), usize, i64)>::new());
        for loss in losses {
            let kind = (loss.rule(), loss.step, loss.change);
            let is_summed = matches!(self, Self::Stderr) && loss.severity() == Severity::Cosmetic;
            match summed.iter_mut().find(|(it, ..)| is_summed && *it == kind) {
                Some((_, _, count)) => *count += 1,
                None => {
                    if is_summed {
                        summed.push((kind, rows.len(), 1));
                    }
                    rows.push(crate::loss::row(loss));
                }
            }
        }
        for (_, at, count) in summed.into_iter().filter(|(.., count)| *count > 1) {
            rows[at].insert("count", Json::of(&count));
        }
        rows
    }

    /// Waits until the lines are written, or until `deadline`, and returns how many are not.
    pub(super) fn finish(&self, deadline: Instant) -> u64 {
        match self {
            Self::File(thread, _) => thread.flush(deadline),
            _ => 0,
        }
    }
}

/// Returns whether a loss changes the message for its receiver: not what the session says, or what a member says by its
/// absence.
fn is_told(loss: &Loss) -> bool {
    loss.is_loss() || matches!(loss.change, Change::Carried | Change::Reshaped)
}

/// Returns the reason why a message was not delivered, as members of its line.
fn undelivered(why: &ConversionError) -> Option<Map<Json>> {
    let members = match why {
        ConversionError::Rejected(rejected) => vec![
            ("step", Json::of(rejected.step)),
            ("rule", Json::of(rejected.rule)),
            ("change", Json::of("rejected")),
            ("code", Json::of(&rejected.error.code)),
            (
                "message",
                Json::of(&*excerpt(&rejected.error.message, EXCERPT)),
            ),
        ],
        ConversionError::Dropped(dropped) => vec![
            ("rule", Json::of(dropped.rule)),
            ("change", Json::of("dropped")),
        ],
        _ => return None,
    };
    Some(members.into_iter().collect())
}

/// Returns the id of a request, cut where it is a long text.
fn request_id(id: Option<&RequestId>) -> Json {
    match id {
        Some(RequestId::String(text)) => Json::of(&*excerpt(text, EXCERPT)),
        id => Json::of(&id),
    }
}
