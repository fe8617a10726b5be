//! Events of `tracing` for operators. Feature `events`.

use std::sync::atomic::{AtomicU64, Ordering};

use mcp_revisions_core::errors::shortened;

/// Number of reports of a kind that are made one by one; after these, those whose count is a power of two.
const EACH: u64 = 5;

/// Reports a refused request at `warn`: the first five, and then those whose count is a power of two.
pub(super) fn refused(status: u16, why: &str) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if let Some(count) = reported(&COUNT) {
        tracing::warn!(status, count, why, "a request was refused");
    }
}

pub(super) fn notification_dropped(method: &str) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let what = "a notification was dropped: too many wait for layers and handlers";
    dropped(&COUNT, method, what);
}

pub(super) fn message_dropped(method: &str) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let what = "a message to a client was dropped: too many wait until it reads";
    dropped(&COUNT, method, what);
}

/// Reports each message that a webhook does not get: it was sent several times before.
pub(super) fn delivery_dropped(subscription: &str, message: &str, why: &str) {
    let id = shortened(message);
    let what = "a message to a webhook was given up";
    tracing::warn!(subscription, id, why, "{what}");
}

/// Reports a dropped message as often as refused requests are reported.
fn dropped(count: &AtomicU64, method: &str, what: &str) {
    if let Some(count) = reported(count) {
        let method = shortened(method);
        tracing::warn!(method, count, "{what}");
    }
}

/// Counts one more, and returns the count if it is reported.
fn reported(count: &AtomicU64) -> Option<u64> {
    let total = count.fetch_add(1, Ordering::Relaxed) + 1;
    (total <= EACH || total.is_power_of_two()).then_some(total)
}

/// Reports that a server wants to be left alone, by this status, and how long a request waits for it.
pub(crate) fn server_waited_for(status: u16, pause: std::time::Duration) {
    tracing::warn!(
        status,
        ?pause,
        "the server is busy: a request waits, and is sent again"
    );
}

/// Reports an event of a server that does not end.
pub(crate) fn event_without_end(is_taken: bool) {
    let fate = if is_taken {
        "its message is whole, and is taken"
    } else {
        "no message of the stream is read before its end"
    };
    tracing::warn!("an event of the server has no blank line at its end for 30 s: {fate}");
}

/// Reports that a client listens no longer to a session of its server, and why.
pub(crate) fn session_stream_given_up(why: &str) {
    tracing::warn!(
        why,
        "the stream of a session ended, and is not opened again: changes of the server are not heard any more"
    );
}

/// Reports that the tokens of a sign-in are not stored, and why: they last until this process ends.
pub(crate) fn sign_in_not_stored(why: &str) {
    tracing::warn!(
        why,
        "the tokens of a sign-in are not stored: they last until this process ends"
    );
}

pub(super) fn session_taken_over(session: &str) {
    tracing::info!(session, "a session goes on here: its replica is gone");
}

/// Reports that a listed entry is left out, because one of its name is registered.
pub(crate) fn entry_left_out(kind: &'static str, name: &str) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if let Some(count) = reported(&COUNT) {
        let name = shortened(name);
        let what = "a listed entry is left out: one of its name is registered";
        tracing::warn!(kind, name, count, "{what}");
    }
}

/// Reports a result that the schema of its tool does not allow: a mistake of this server.
pub(crate) fn result_not_valid(tool: &str, place: &str, why: &str) {
    let tool = shortened(tool);
    let what = "a mistake of this server: a result does not fit the `outputSchema` of its tool, and its client gets an error";
    tracing::error!(tool, place, why, "{what}");
}

/// Reports that a replica is there and does not answer: what waits for it ends.
pub(crate) fn replica_silent(address: &str) {
    tracing::warn!(
        address,
        "a replica is there and does not answer: requests that were passed to it end"
    );
}

/// Reports that a message of another replica cannot be read.
pub(crate) fn replica_not_understood(address: &str, kind: &str, version: u32) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if let Some(count) = reported(&COUNT) {
        let kind = shortened(kind);
        tracing::warn!(
            address,
            kind,
            version,
            count,
            "a message of another replica cannot be read: replicas work together with those of the version before theirs"
        );
    }
}

pub(super) fn backplane(is_available: bool, why: &str) {
    if is_available {
        tracing::info!("the backplane can be used again")
    } else {
        tracing::error!(
            why,
            "the backplane cannot be used: requests that need it get status 503"
        )
    }
}
