//! Why a sign-in over HTTP failed.

use mcp_revisions_auth::AuthError;

use super::store::StoreError;

/// Why a sign-in failed, or has not ended.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// A server refused, or answered with something that is not valid.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system has no random numbers.
    #[error("no random numbers: {0}")]
    Random(String),
    /// A person has not finished the sign-in, which goes on.
    #[error(
        "sign in{}; the sign-in goes on: call again after it",
        page.as_ref().map_or_else(String::new, |page| format!(" at {page}"))
    )]
    Waiting {
        /// The page, if it is known yet.
        page: Option<String>,
    },
    /// The sign-in ended without an outcome, because a hook panicked.
    #[error("the sign-in ended early")]
    Ended,
}
