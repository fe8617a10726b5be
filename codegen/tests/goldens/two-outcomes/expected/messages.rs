//! Messages as a whole, and definitions that no method reaches.

use crate::RunRequest;

/// `ClientRequest`, which has no doc line yet.
pub type ClientRequest = RunRequest;
