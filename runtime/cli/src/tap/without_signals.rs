//! Signals on systems without them: a tap ends with its server.

use std::io;

/// No signals.
pub(super) struct Signals;

impl Signals {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "it may fail where there are signals"
    )]
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for `work`.
    #[allow(clippy::unused_self, reason = "there are no signals to forward")]
    pub(super) async fn forward_during<T>(
        &mut self,
        _: Option<u32>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        Some(work.await)
    }
}

/// Does nothing: without signals, no work is cut off.
pub(super) fn kill(_: Option<u32>) {}
