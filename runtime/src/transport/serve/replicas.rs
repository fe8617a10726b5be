//! The replicas of a server, and the ids by which they know what they share.

use std::sync::Arc;

use crate::backplane::Backplane;

/// The replicas of a server, as its tasks and its suspended requests know them.
#[derive(Clone)]
pub(crate) struct Replicas {
    pub(crate) backplane: Arc<dyn Backplane>,
    pub(crate) address: Arc<str>,
}

/// Returns whether a text can be an id that [`unguessable`](mcp_revisions_sansio::driver::unguessable) gave out; of others
/// no store is asked.
pub(crate) fn is_unguessable(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
