//! Limits of an endpoint, beyond which it refuses messages.

use std::time::Duration;

/// Limits of an endpoint. A message beyond a limit gets an error, and other messages are not affected.
///
/// Nesting has a limit of its own: [`mcp_wire::MAX_DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message; a batch is one. Default: 16 MiB.
    pub max_message_bytes: usize,
    /// Messages of one batch. Default: 100.
    pub max_batch_length: usize,
    /// Unanswered requests of one connection, in each direction. Default: 1,000.
    pub max_pending_requests: usize,
    /// Bytes of those requests of the peer, all together. Default: 16 MiB. Handlers and adapters hold copies: actual memory use
    /// can be 3-4 times this value, plus the same again for notifications being handled.
    pub max_pending_bytes: usize,
    /// Bytes of an id, a progress token or a URI that is kept. Default: 1 KiB.
    pub max_identifier_bytes: usize,
    /// Rounds in which one call may request input from its client. Default: 10.
    pub max_input_rounds: u32,
    /// Input requests in one result. Default: 100.
    pub max_input_requests: usize,
    /// Time that a call waits for the responses of its client. Default: 10 minutes.
    pub client_response_timeout: Duration,
    /// Time that messages wait until it is known which application serves their client, at a server that learns it late.
    /// Default: 10 minutes.
    pub introduction_timeout: Duration,
    /// Suspended calls of one connection, which wait for their client to retry. Default: 1,000.
    pub max_suspended_requests: usize,
    /// Suspended calls of one service over HTTP, where each has a connection of its own. Default: 10,000, of which one
    /// `sansio::server::Owner` may have a quarter; a call has its place until it is answered.
    pub max_suspended_requests_in_total: usize,
    /// Streams of one connection with notifications of changes. Default: 100.
    pub max_change_streams: usize,
    /// Resources that one connection, or one stream, is subscribed to. Default: 1,000.
    pub max_subscriptions: usize,
    /// Sessions at a time, in `sansio::server::Sessions`. Default: 100,000.
    pub max_sessions: usize,
    /// Sessions of one `sansio::server::Owner` at a time. Default: 10,000. Behind a proxy that does not name its clients,
    /// all of them are one owner.
    pub max_sessions_per_owner: usize,
    /// Bytes of the identities and capabilities of all clients with sessions. Default: 128 MiB.
    pub max_session_bytes: usize,
    /// Bytes of the identity and the capabilities of one client. Default: 64 KiB.
    pub max_client_info_bytes: usize,
}

/// The longest time that is waited for; clocks cannot add every [`Duration`].
const LONGEST_WAIT: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Returns the end of a time that begins now; more than 100 years count as 100 years.
pub(crate) fn deadline(now: Duration, time: Duration) -> Duration {
    now.saturating_add(time.min(LONGEST_WAIT))
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_bytes: 16 << 20,
            max_batch_length: 100,
            max_pending_requests: 1_000,
            max_pending_bytes: 16 << 20,
            max_identifier_bytes: 1 << 10,
            max_input_rounds: 10,
            max_input_requests: 100,
            client_response_timeout: Duration::from_secs(600),
            introduction_timeout: Duration::from_secs(600),
            max_suspended_requests: 1_000,
            max_suspended_requests_in_total: 10_000,
            max_change_streams: 100,
            max_subscriptions: 1_000,
            max_sessions: 100_000,
            max_sessions_per_owner: 10_000,
            max_session_bytes: 128 << 20,
            max_client_info_bytes: 64 << 10,
        }
    }
}
