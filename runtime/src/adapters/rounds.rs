//! Round trips of modern handlers: what they ask in a result is asked of an older client, and what they ask by a request
//! is parked with a modern one.

use std::time::Duration;

use mcp_registry::Adapter;

use super::asking::Asking;
use super::parking::Parking;
use super::{Occasion, StateMachine, Step, World};

/// Both machines that modern handlers need.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    asking: Asking,
    parking: Parking,
}

impl StateMachine for Rounds {
    fn adapter(&self) -> Adapter {
        Adapter::MultiRoundTrip
    }

    fn on(&mut self, occasion: Occasion<'_>, world: &World<'_>) -> Option<Vec<Step>> {
        match occasion {
            Occasion::Result { .. } | Occasion::Answered { .. } => self.asking.on(occasion, world),
            Occasion::Request(_) | Occasion::ServerRequest { .. } | Occasion::Forgotten { .. } => {
                self.parking.on(occasion, world)
            }
            Occasion::Cancelled { .. } | Occasion::Time => {
                let mut steps = self.asking.on(occasion, world).unwrap_or_default();
                steps.extend(self.parking.on(occasion, world).unwrap_or_default());
                Some(steps)
            }
            _ => None,
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        let both = [self.asking.wake_at(), self.parking.wake_at()];
        both.into_iter().flatten().min()
    }
}
