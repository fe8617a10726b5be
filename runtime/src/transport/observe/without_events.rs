//! The stand-in for events, without feature `events`.

#[cfg(feature = "server-http")]
pub(super) fn refused(_: u16, _: &str) {}

#[cfg(feature = "server-http")]
pub(super) fn session_taken_over(_: &str) {}

#[cfg(feature = "redis")]
pub(super) fn backplane(_: bool, _: &str) {}

#[cfg(any(feature = "server-http", feature = "server-stdio"))]
pub(super) fn notification_dropped(_: &str) {}
