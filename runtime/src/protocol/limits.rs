//! How much an endpoint takes before it refuses more.

use std::time::Duration;

/// What an endpoint takes; beyond it there is an error, and nothing else is disturbed.
///
/// Nesting has a limit of its own: [`mcp_wire::MAX_DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message; a batch is one.
    pub message_bytes: usize,
    /// Messages of one batch.
    pub batch_length: usize,
    /// Requests of one connection that are not answered yet, in each direction.
    pub pending: usize,
    /// Bytes of those requests of the peer, all together; handlers and adapters have copies of what they work on, so that
    /// three to four times as much is taken up. Of notifications that typed handlers are at, as much once more.
    pub pending_bytes: usize,
    /// Bytes of an id, a progress token or a URI that is kept.
    pub name_bytes: usize,
    /// How often one call may be asked back before it is answered.
    pub rounds: u32,
    /// Questions that one result may ask.
    pub questions: usize,
    /// How long a call waits for its client's answers.
    pub ask_time: Duration,
    /// Calls of one connection that wait for their client to come again.
    pub parked: usize,
    /// Such calls of one service over HTTP, where each has a connection of its own. Those of one
    /// [`Owner`](crate::server::Owner) take up a quarter at most; a call has its place until it is answered.
    pub all_parked: usize,
    /// Streams of one connection that are told of changes.
    pub streams: usize,
    /// Resources of one connection, or one stream, that are subscribed to.
    pub subscriptions: usize,
    /// Sessions at a time, in [`Sessions`](crate::server::Sessions).
    pub sessions: usize,
    /// Sessions of one [`Owner`](crate::server::Owner) at a time, where the transport can tell whose they are; behind a
    /// proxy that says nothing of its clients, they are all one's.
    pub owner_sessions: usize,
    /// Bytes of what their clients said of themselves, all together.
    pub sessions_bytes: usize,
    /// Bytes of what one client says of itself: who it is and what it can do.
    pub introduction_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 << 20,
            batch_length: 100,
            pending: 1_000,
            pending_bytes: 16 << 20,
            name_bytes: 1 << 10,
            rounds: 10,
            questions: 100,
            ask_time: Duration::from_secs(600),
            parked: 1_000,
            all_parked: 10_000,
            streams: 100,
            subscriptions: 1_000,
            sessions: 100_000,
            owner_sessions: 10_000,
            sessions_bytes: 128 << 20,
            introduction_bytes: 64 << 10,
        }
    }
}
