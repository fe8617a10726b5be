//! The conversions of a connection, with its source of ids.

use std::sync::Arc;

use mcp_revisions_core::Revision;
#[allow(unused_imports, reason = "each role uses a part of them")]
pub(crate) use mcp_revisions_core::translate::{NO_PARAMS, TextDirection, Translator};
use mcp_wire::{Direction, Json};

/// Returns `{}`.
pub fn no_params() -> Json {
    Json::from_text(NO_PARAMS).unwrap_or_default()
}

/// Creates the conversions of an end whose requests go this way.
pub(crate) fn translator(app: Revision, own: Direction) -> Translator {
    Translator {
        fresh_id: unguessable,
        ..Translator::new(app, own)
    }
}

/// Returns 128 random bits as visible ASCII, which cannot be guessed; `None` if the system gives no randomness.
pub fn unguessable() -> Option<Arc<str>> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
    Some(hex.collect::<String>().into())
}
