//! The stage of a service on its way to its end.

use std::sync::atomic::{AtomicU8, Ordering};

/// A stage on the way of a service to its end; none is left again for an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    /// Calls are served, and the readiness says that balancers are to send them elsewhere.
    LameDuck = 1,
    /// New calls are refused, and what belongs to open ones is served.
    Closing,
    /// Calls that are not done end with an error.
    Over,
}

/// The stage that a service has reached.
#[derive(Debug, Default)]
pub(super) struct Stages(AtomicU8);

impl Stages {
    pub(super) fn reach(&self, stage: Stage) {
        self.0.fetch_max(stage as u8, Ordering::AcqRel);
    }

    pub(super) fn has_reached(&self, stage: Stage) -> bool {
        self.0.load(Ordering::Acquire) >= stage as u8
    }
}
