//! The stand-in for events, without feature `events`.

pub(super) fn refused(_: u16, _: &str) {}

pub(crate) fn server_waited_for(_: u16, _: std::time::Duration) {}

pub(crate) fn event_without_end(_: bool) {}

pub(crate) fn session_stream_given_up(_: &str) {}

pub(crate) fn sign_in_not_stored(_: &str) {}

pub(super) fn session_taken_over(_: &str) {}

pub(super) fn backplane(_: bool, _: &str) {}

pub(super) fn notification_dropped(_: &str) {}

pub(super) fn message_dropped(_: &str) {}

pub(crate) fn replica_silent(_: &str) {}

pub(crate) fn replica_not_understood(_: &str, _: &str, _: u32) {}

pub(crate) fn entry_left_out(_: &'static str, _: &str) {}

pub(crate) fn result_not_valid(_: &str, _: &str, _: &str) {}

pub(super) fn delivery_dropped(_: &str, _: &str, _: &str) {}
