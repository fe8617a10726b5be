//! The transports as operators see them: metrics, by the crate `metrics`, and events of `tracing`. Without these features,
//! nothing of it is compiled.
//!
//! Labels take few values: methods that no revision has are `_OTHER`, and names of tools are not labels.

#[cfg_attr(not(feature = "events"), path = "without_events.rs")]
mod events;
#[cfg_attr(not(feature = "metrics"), path = "without_metrics.rs")]
pub(crate) mod metrics;

pub(crate) use events::{
    entry_left_out, event_without_end, replica_not_understood, replica_silent, result_not_valid,
    server_waited_for, session_stream_given_up, sign_in_not_stored,
};
pub use metrics::ClientOperation;
pub(crate) use metrics::set_levels;

/// Reports that a request was refused before a handler saw it.
pub(crate) fn refused(status: u16, why: &str) {
    metrics::refused(status);
    events::refused(status, why);
}

/// Reports that a notification was dropped, because too many wait for layers and handlers.
pub(crate) fn notification_dropped(method: &str) {
    metrics::message_dropped("handler");
    events::notification_dropped(method);
}

/// Reports that a message to a client was dropped, because too many wait until it reads.
pub(crate) fn message_dropped(method: &str) {
    metrics::message_dropped("client");
    events::message_dropped(method);
}

/// Reports that a message to a webhook is given up, of this subscription, and why.
pub(crate) fn delivery_dropped(subscription: &str, message: &str, why: &str) {
    metrics::message_dropped("webhook");
    events::delivery_dropped(subscription, message, why);
}

/// Reports that a session goes on here whose replica is gone.
pub(crate) fn session_taken_over(session: &str) {
    metrics::session_taken_over();
    // The rest of the id is a secret.
    events::session_taken_over(session.get(..8).unwrap_or_default());
}

/// Reports whether the backplane can be used, each time that this changes.
pub(crate) fn backplane(is_available: bool, why: &str) {
    metrics::backplane(is_available);
    events::backplane(is_available, why);
}
