//! Events of `tracing` for operators. Feature `events`.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of refusals reported one by one; after these, those whose count is a power of two.
const EACH: u64 = 5;

/// Reports a refused request at `warn`: the first five, and then those whose count is a power of two.
pub(super) fn refused(status: u16, why: &str) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    if count <= EACH || count.is_power_of_two() {
        tracing::warn!(status, count, why, "a request was refused");
    }
}

pub(super) fn notification_dropped(method: &str) {
    tracing::warn!(
        method,
        "a notification was dropped: too many wait in layers"
    );
}

pub(super) fn session_taken_over(session: &str) {
    tracing::info!(session, "a session goes on here: its replica is gone");
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
