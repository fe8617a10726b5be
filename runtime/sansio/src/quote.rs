//! Texts of peers as logs and errors quote them: short, and without characters that change how a terminal shows them.

use mcp_revisions_core::errors::shortened;
use mcp_wire::{RequestId, printable};

/// Returns an id as its JSON text, of bounded length.
pub(crate) fn shown(id: &RequestId) -> String {
    match id {
        RequestId::String(text) => format!("{:?}", quotable(text)),
        RequestId::Integer(number) => quotable(&number.to_string()),
    }
}

/// Returns the beginning of a text of a peer, without characters that change how a terminal shows it.
pub fn quotable(text: &str) -> String {
    printable(&shortened(text))
}
