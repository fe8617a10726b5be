//! A message as those see it who look on.

use mcp_revisions_core::Revision;
use mcp_wire::Direction;

/// A message that belongs to a revision, ready to be looked into.
#[derive(Debug)]
pub(crate) struct TranscriptMessage {
    /// The line that it stands in.
    pub(crate) line: usize,
    /// The sender.
    pub(crate) direction: Direction,
    pub(crate) revision: Revision,
    /// Its method, or the one that it answers.
    pub(crate) method: Option<String>,
    pub(crate) text: String,
}
