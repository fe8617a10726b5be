//! What no conversion can do, because it needs to know more than the value at hand: the adapters of a server, as state
//! machines.
//!
//! A conversion says whose business it is ([`Adapter`]), and the machine for it is handed the [`Occasion`] and says
//! what to do, in [`Step`]s; it never sees bytes, ids or sockets, and keeps what it has to remember by itself.
//! A connection makes the machine when it is first needed. On one that has none
//! ([`without_adapters`](super::Connection::without_adapters)) the occasion becomes a typed
//! [`NeedsAdapter`](super::NeedsAdapter), and the peer gets an error that this cannot be done.
//!
//! | handlers | client | machine |
//! |---|---|---|
//! | per-request | handshake | `input_required::by_requests`: each of `inputRequests` becomes a request to the client, and the handler is called again with the answers |
//! | any | per-request | `input_required::suspend`: a question of the handler becomes `input_required` with a signed `requestState`; the handler goes on at the retry |
//! | per-request | handshake | `subscriptions::listen`: subscriptions and the list changes that the client expects unasked become one `subscriptions/listen` of the handlers |
//! | handshake | per-request | `subscriptions::streams`: `subscriptions/listen` becomes `resources/subscribe` of the handlers, and notifications for the session go to the streams that want them |
//!
//! Tasks outlive their connection, and have no machine in it: [`tasks`](super::tasks) says what they are to a connection,
//! and the transport runs them.

use std::time::Duration;

use mcp_protocol::{Adapter, Revision};

use super::input_required::by_requests::ByRequests;
use super::input_required::suspend::Suspended;
use super::occasion::{Occasion, Step, World};
use super::subscriptions::listen::Listening;
use super::subscriptions::streams::Streams;
use crate::protocol::revisions::is_legacy;

/// A state machine that does what a conversion cannot, for one connection.
#[derive(Debug)]
pub(super) enum Machine {
    /// Round trips of per-request handlers: what they ask in a result is asked of a handshake client, and a call that asks by
    /// a request is suspended with a per-request one.
    RoundTrips(ByRequests, Suspended),
    /// Round trips of older handlers.
    Suspended(Suspended),
    /// Subscriptions of per-request handlers.
    Listening(Listening),
    /// Subscriptions of older handlers.
    Streams(Streams),
}

impl Machine {
    /// Creates the machine of an adapter, if there is one.
    pub(super) fn of(adapter: Adapter, app: Revision) -> Option<Self> {
        Some(match (adapter, is_legacy(app)) {
            (Adapter::MultiRoundTrip, false) => {
                Self::RoundTrips(ByRequests::default(), Suspended::default())
            }
            (Adapter::MultiRoundTrip, true) => Self::Suspended(Suspended::default()),
            (Adapter::Subscription, false) => Self::Listening(Listening::default()),
            (Adapter::Subscription, true) => Self::Streams(Streams::default()),
            _ => return None,
        })
    }

    /// Returns what it stands in for.
    pub(super) fn adapter(&self) -> Adapter {
        match self {
            Self::RoundTrips(..) | Self::Suspended(_) => Adapter::MultiRoundTrip,
            Self::Listening(_) | Self::Streams(_) => Adapter::Subscription,
        }
    }

    /// Returns what to do; `None` if the occasion is not for this adapter.
    pub(super) fn on(&mut self, occasion: Occasion<'_>, world: &World<'_>) -> Option<Vec<Step>> {
        match (self, occasion) {
            (Self::RoundTrips(asking, _), Occasion::Result { .. } | Occasion::Answered { .. }) => {
                asking.on(occasion, world)
            }
            (Self::RoundTrips(asking, suspended), Occasion::Cancelled { .. } | Occasion::Time) => {
                let mut steps = asking.on(occasion, world).unwrap_or_default();
                steps.extend(suspended.on(occasion, world).unwrap_or_default());
                Some(steps)
            }
            (Self::RoundTrips(_, suspended) | Self::Suspended(suspended), _) => {
                suspended.on(occasion, world)
            }
            (Self::Listening(listening), _) => listening.on(occasion, world),
            (Self::Streams(streams), _) => streams.on(occasion, world),
        }
    }

    /// Returns when it wants to be woken, on the clock of the connection's driver.
    pub(super) fn wake_at(&self) -> Option<Duration> {
        match self {
            Self::RoundTrips(asking, suspended) => {
                let both = [asking.wake_at(), suspended.wake_at()];
                both.into_iter().flatten().min()
            }
            Self::Suspended(suspended) => suspended.wake_at(),
            Self::Listening(listening) => listening.wake_at(),
            Self::Streams(_) => None,
        }
    }
}
