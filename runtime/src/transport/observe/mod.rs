//! The transports as operators see them: metrics, by the crate `metrics`, and events of `tracing`. Without these features,
//! nothing of it is compiled.
//!
//! Labels take few values: methods that no revision has are `_OTHER`, and names of tools are no labels.

#[cfg_attr(not(feature = "events"), path = "without_events.rs")]
mod events;
#[cfg_attr(not(feature = "metrics"), path = "without_metrics.rs")]
pub(crate) mod metrics;

pub use metrics::ClientOperation;

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

/// Reports that a server wants to be left alone, by this status, and how long a request waits for it.
pub(crate) fn server_waited_for(status: u16, pause: std::time::Duration) {
    events::server_waited_for(status, pause);
}

/// Reports an event of a server that does not end.
pub(crate) fn event_without_end(is_taken: bool) {
    events::event_without_end(is_taken);
}

/// Reports that a client listens no longer to a session of its server, and why.
pub(crate) fn session_stream_given_up(why: &str) {
    events::session_stream_given_up(why);
}

/// Reports that the tokens of a sign-in are not stored, and why: they last until this process ends.
pub(crate) fn sign_in_not_stored(why: &str) {
    events::sign_in_not_stored(why);
}

/// Reports that a session goes on here whose replica is gone.
pub(crate) fn session_taken_over(session: &str) {
    metrics::session_taken_over();
    // The rest of the id is a secret.
    events::session_taken_over(session.get(..8).unwrap_or_default());
}

/// Reports that a listed entry is left out, because one of its name is registered.
pub(crate) fn entry_left_out(kind: &'static str, name: &str) {
    events::entry_left_out(kind, name);
}

/// Reports that a replica is there and does not answer: what waits for it ends.
pub(crate) fn replica_silent(address: &str) {
    events::replica_silent(address);
}

/// Reports that a message of another replica cannot be read.
pub(crate) fn replica_not_understood(address: &str, kind: &str, version: u32) {
    events::replica_not_understood(address, kind, version);
}

/// Reports whether the backplane can be used, each time that this changes.
pub(crate) fn backplane(is_available: bool, why: &str) {
    metrics::backplane(is_available);
    events::backplane(is_available, why);
}

/// Sets the numbers of a service that are measured when they are read, by the names of their metrics.
pub(crate) fn set_levels(levels: &[(&'static str, usize)]) {
    metrics::set_levels(levels);
}
