//! The output of a subcommand, and its exit code.
//!
//! 0 all is well, 1 a check failed, 2 the command was not put right (clap's own code too), 3 an input cannot be read.

use mcp_revisions_schema::Error;

/// The text to print, and the result of the check.
#[derive(Debug, Clone)]
pub struct CommandOutcome {
    /// The text to print.
    pub text: String,
    /// Set if the check passed.
    pub passed: bool,
}

impl CommandOutcome {
    /// Returns the outcome of a check without findings.
    pub fn passed(text: String) -> Self {
        Self { text, passed: true }
    }
}

/// Returns the exit code of a failure.
pub fn failure_code(error: &anyhow::Error) -> u8 {
    if let Some(UnreadOption(cause)) = error.downcast_ref() {
        return if cause.is_of_the_request() { 2 } else { 3 };
    }
    match error.downcast_ref::<Error>() {
        Some(error) if error.is_of_the_request() => 2,
        Some(error) if error.is_unreadable() => 3,
        _ => 1,
    }
}

/// An input that could not be read, so that a failure is never taken for "no change".
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnreadOption(
    /// Why.
    pub Error,
);
