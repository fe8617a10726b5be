//! Translations of a client beside its messages: its identity, and the reasons why a request or its response got no further.

use mcp_revisions_core::{ConversionError, Loss, Revision, Severity};
use mcp_wire::{Json, meta};

use crate::Failure;
use crate::translate::{TextDirection, Translator};

/// The members about the sender, in each request of a client of the per-request lifecycle.
const CLAIMS: [&str; 3] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
];

/// Leaves out of the losses what a request of the per-request lifecycle says of its sender: the receiver learns that once, by
/// the handshake, or beside the params.
pub(crate) fn without_claims(losses: &mut Vec<Loss>) {
    losses.retain(|loss| !CLAIMS.iter().any(|claim| loss.is_at(&["_meta", claim])));
}

/// Converts a value of a definition that stands in what a server says of itself, and tells what was not valid in it.
pub(crate) fn facts(
    translator: &Translator,
    method: &str,
    name: &str,
    value: &Json,
    peer: Revision,
) -> Result<Json, ConversionError> {
    let converted = translator.definition(TextDirection::In, name, value, peer);
    let (json, mut losses) = converted?;
    losses.retain(|loss| loss.severity() == Severity::Invalid);
    translator.tell_losses(method, peer, None, &losses);
    Ok(json)
}

impl Failure {
    /// Returns the reason why a request could not be sent.
    pub(super) fn of_params(error: ConversionError) -> Self {
        match error {
            ConversionError::Rejected(rejected) => Self::Rejected(rejected.error),
            error => Self::NotConverted(error),
        }
    }

    /// Returns the reason why the answer to a request could not be read.
    pub(super) fn of_result(error: ConversionError) -> Self {
        match error {
            ConversionError::Invalid(diagnostic) => Self::InvalidResult(diagnostic.message),
            ConversionError::Unknown(what) => Self::InvalidResult(what),
            error => Self::of_params(error),
        }
    }
}
