//! How much an endpoint takes before it refuses more.

/// What an endpoint takes; beyond it there is an error, and nothing else is disturbed.
///
/// Nesting has a limit of its own: [`mcp_wire::MAX_DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message; a batch is one.
    pub message_bytes: usize,
    /// Messages of one batch.
    pub batch_length: usize,
    /// Requests of one channel that are not answered yet, in each direction.
    pub pending: usize,
    /// Sessions at a time, in [`Sessions`](crate::server::Sessions).
    pub sessions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 << 20,
            batch_length: 100,
            pending: 1_000,
            sessions: 100_000,
        }
    }
}
