//! Requests that are made again, with what this server has sealed for them.

use std::time::Duration;

use mcp_wire::{Peeked, Raw};

use super::Server;
use crate::adapters::seal::{Bound, Broken, subject};
use crate::protocol::revisions::Spoken;

impl<App: Spoken> Server<App> {
    /// The ticket of a request that is made again, if it is one that this server sealed for it: over HTTP it belongs
    /// to the channel in which [`Event::Parked`](super::Event::Parked) named that ticket.
    #[must_use]
    pub fn ticket(
        &self,
        message: &Peeked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Option<u64> {
        self.unsealed(message, principal, now)?.ok()
    }

    /// Whether a request of a modern application's own era is made again for what this server has sealed: in time or not.
    pub(super) fn is_retry(
        &self,
        message: &Peeked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> bool {
        let unsealed = self.unsealed(message, principal, now);
        unsealed.is_some_and(|unsealed| unsealed != Err(Broken::Forged))
    }

    /// What its `requestState` says; none if it has none.
    fn unsealed(
        &self,
        message: &Peeked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Option<Result<u64, Broken>> {
        let state = message.request_state.and_then(Raw::as_str)?;
        let params = message.params?.to_json();
        let subject = subject(&params);
        let bound = Bound {
            method: message.method.as_deref()?,
            subject: &subject,
            principal,
        };
        Some(self.seal.open(&state, now, bound))
    }
}
