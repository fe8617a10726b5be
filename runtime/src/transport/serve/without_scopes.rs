//! Scopes without HTTP: there are no access tokens, and every scope is there.

use mcp_wire::ErrorObject;

use super::Peer;

impl Peer {
    /// Returns that the scopes are there.
    ///
    /// # Errors
    /// Returns no error: the signature is that with feature `server-http`.
    pub fn require_scopes<S: AsRef<str>>(
        &self,
        _: impl IntoIterator<Item = S>,
    ) -> Result<(), ErrorObject> {
        Ok(())
    }
}
