//! A message of a transcript.

use mcp_revisions_core::Revision;
use mcp_wire::Direction;

/// A message of a transcript, with its revision.
#[derive(Debug)]
pub(crate) struct TranscriptMessage {
    /// The number of its line.
    pub(crate) line: usize,
    /// The sender.
    pub(crate) direction: Direction,
    pub(crate) revision: Revision,
    /// Its method, or the one that it answers.
    pub(crate) method: Option<String>,
    pub(crate) text: String,
}
