//! The states of handlers that were used, where each is good for one retry.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of used states that are remembered until they expire; beyond it, retries are refused.
const MOST: usize = 100_000;

/// The tickets of states that were used.
#[derive(Debug, Default)]
pub(super) struct SpentStates(Mutex<Spent>);

/// Whether a ticket is used for the first time.
#[derive(Debug, PartialEq)]
pub(super) enum TicketUse {
    First,
    Again,
    /// As many uses are remembered as may be, and this one is not.
    NoRoom,
}

#[derive(Debug, Default)]
struct Spent {
    tickets: HashSet<u64>,
    /// The same, in the order of their use, with the time from which on none of their states holds.
    order: VecDeque<(Duration, u64)>,
}

impl SpentStates {
    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses a ticket, whose state expires before `until`.
    pub(super) fn spend(&self, ticket: u64, now: Duration, until: Duration) -> TicketUse {
        let mut spent = self.lock();
        while let Some((_, over)) = spent.order.front().filter(|(until, _)| *until <= now) {
            let over = *over;
            spent.order.pop_front();
            spent.tickets.remove(&over);
        }
        if spent.tickets.contains(&ticket) {
            return TicketUse::Again;
        }
        if spent.tickets.len() >= MOST {
            return TicketUse::NoRoom;
        }
        spent.tickets.insert(ticket);
        spent.order.push_back((until, ticket));
        TicketUse::First
    }
}
