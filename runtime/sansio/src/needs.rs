//! The report of an event that needs an adapter which is turned off.

use std::fmt;

use mcp_revisions_core::{Adapter, RequiresState, Revision};

/// Something that no conversion can carry over, and no adapter took.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedsAdapter {
    /// The adapter that is needed.
    pub adapter: Adapter,
    /// The rule in `spec/shims/` that says so.
    pub rule: &'static str,
    /// The step at which it came up.
    pub step: &'static str,
    /// The method concerned.
    pub method: String,
    /// The revision of the peer.
    pub peer: Revision,
}

impl NeedsAdapter {
    pub(crate) fn new(needs: &RequiresState, method: &str, peer: Revision) -> Self {
        let RequiresState {
            adapter,
            rule,
            step,
            ..
        } = *needs;
        Self {
            adapter,
            rule,
            step,
            method: method.to_owned(),
            peer,
        }
    }
}

impl fmt::Display for NeedsAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            adapter,
            rule,
            step,
            method,
            peer,
        } = self;
        write!(
            f,
            "`{method}` with a peer of {peer} needs the {adapter} adapter ({step}, {rule})"
        )
    }
}

impl std::error::Error for NeedsAdapter {}
