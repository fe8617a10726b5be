//! Budgets that all clients share, and the share of each: a client that takes more than its share is refused alone.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::transport::panics::lock;
use mcp_revisions_sansio::errors::{self, Refusal};
use mcp_revisions_sansio::server::Owner;

/// The budget of all clients together for something, in bytes or in connections.
pub(crate) struct Budget {
    total: AtomicUsize,
    share: AtomicUsize,
    taken: Mutex<BudgetUsage>,
}

#[derive(Default)]
struct BudgetUsage {
    all: usize,
    owners: HashMap<Owner, usize>,
}

/// One of so many parts of a budget is the share of each owner.
const PARTS: usize = 4;

impl Budget {
    /// Returns a budget of which each owner that is known may take a quarter, or `at_least`.
    pub(crate) fn new(total: usize, at_least: usize) -> Arc<Self> {
        Self::with_share(total, (total / PARTS).max(at_least))
    }

    /// Returns a budget of which each owner that is known may take `share`.
    pub(crate) fn with_share(total: usize, share: usize) -> Arc<Self> {
        Arc::new(Self {
            total: AtomicUsize::new(total),
            share: AtomicUsize::new(share.min(total)),
            taken: Mutex::default(),
        })
    }

    /// Changes it to one of which each owner may take a quarter. What is taken stays, be it more.
    pub(crate) fn resize(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        self.share.store(total / PARTS, Ordering::Relaxed);
    }

    pub(crate) fn of(self: &Arc<Self>, owner: Owner) -> Share {
        Share {
            budget: Arc::clone(self),
            owner,
        }
    }

    /// Returns the amount that is taken of it.
    pub(crate) fn amount(&self) -> usize {
        lock(&self.taken).all
    }
}

/// The part of a budget that one owner may take.
#[derive(Clone)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    owner: Owner,
}

/// A budget, or the share of an owner in it, is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) limit: usize,
    /// Set if this is the limit of one owner, rather than of all.
    pub(crate) is_share: bool,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_share {
            write!(f, "{}, the share of one client", self.limit)
        } else {
            write!(f, "{}, the limit for all clients", self.limit)
        }
    }
}

impl Share {
    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Takes so much, until what this returns is dropped.
    pub(crate) fn take(&self, amount: usize) -> Result<Permit, Full> {
        let mut permit = Permit {
            share: self.clone(),
            amount: 0,
        };
        permit.grow(amount)?;
        Ok(permit)
    }
}

/// A taken part of a budget; dropping it gives it back.
pub(crate) struct Permit {
    share: Share,
    amount: usize,
}

impl Permit {
    /// Takes so much more.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), Full> {
        if more == 0 {
            return Ok(());
        }
        let Share { budget, owner } = &self.share;
        let mut taken = lock(&budget.taken);
        let all = taken.all.saturating_add(more);
        let own = taken.owners.get_mut(owner);
        // Owners that nobody can tell apart have no share of their own.
        let wanted = (*owner != Owner::Unknown)
            .then(|| more.saturating_add(own.as_deref().copied().unwrap_or_default()));
        let full = |limit, is_share| Full { limit, is_share };
        let (total, share) = (&budget.total, &budget.share);
        let (total, share) = (total.load(Ordering::Relaxed), share.load(Ordering::Relaxed));
        if wanted.is_some_and(|wanted| wanted > share) {
            return Err(full(share, true));
        }
        if all > total {
            return Err(full(total, false));
        }
        match (own, wanted) {
            (Some(own), Some(wanted)) => *own = wanted,
            (None, Some(wanted)) => drop(taken.owners.insert(owner.clone(), wanted)),
            (_, None) => {}
        }
        taken.all = all;
        self.amount += more;
        Ok(())
    }

    pub(crate) fn amount(&self) -> usize {
        self.amount
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Share { budget, owner } = &self.share;
        let mut taken = lock(&budget.taken);
        taken.all = taken.all.saturating_sub(self.amount);
        if let Some(own) = taken.owners.get_mut(owner) {
            *own = own.saturating_sub(self.amount);
            if *own == 0 {
                taken.owners.remove(owner);
            }
        }
    }
}

/// A request's part of the bytes for requests, from its first byte until no task works on it any more.
pub(crate) struct Reservation {
    permit: Mutex<Permit>,
    /// The share of its owner for suspended requests: their bytes, and their number.
    suspended_bytes: Share,
    suspensions: Share,
    /// Its place among the suspended ones, once it has been one of them.
    place: Mutex<Option<Permit>>,
}

/// Number of bytes of a suspended request beside its own: its task, its connection, and headers of the usual length.
pub(crate) const SUSPENDED_BYTES: usize = 4 << 10;

impl Reservation {
    /// Returns the reservation of a request that was read, and the shares that it is counted against while it is suspended.
    pub(crate) fn new(permit: Permit, suspended_bytes: Share, suspensions: Share) -> Self {
        Self {
            permit: Mutex::new(permit),
            suspended_bytes,
            suspensions,
            place: Mutex::default(),
        }
    }

    /// Gives back the room of a request that is suspended: it counts against its owner's share of those, and what is kept of it
    /// against the share of their bytes. A request that was suspended before has been counted. Returns a refusal if the
    /// share of the owner, or that of all clients, is used up.
    pub(crate) fn suspend(&self) -> Result<(), Box<Refusal>> {
        let mut place = lock(&self.place);
        if place.is_some() {
            return Ok(());
        }
        let taken = self
            .suspensions
            .take(1)
            .map_err(|full| errors::too_many_suspended(&full.to_string()))?;
        let mut permit = lock(&self.permit);
        let kept = permit.amount().saturating_add(SUSPENDED_BYTES);
        let bytes = self.suspended_bytes.take(kept);
        *permit = bytes.map_err(|full| errors::too_much_suspended(&full.to_string()))?;
        *place = Some(taken);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn named(name: &str) -> Owner {
        Owner::Principal(name.into())
    }

    #[test]
    fn one_owner_takes_its_share_and_all_take_the_budget() {
        let budget = Budget::new(100, 0);
        let greedy = budget.of(named("greedy"));
        let held = greedy.take(25).unwrap();
        let full = |limit, is_share| Some(Full { limit, is_share });
        assert_eq!(greedy.take(1).err(), full(25, true));
        let others: Vec<_> = (0..3)
            .map(|number| budget.of(named(&number.to_string())).take(25).unwrap())
            .collect();
        assert_eq!(budget.of(Owner::Unknown).take(1).err(), full(100, false));
        drop(others);
        assert_eq!(greedy.take(1).err(), full(25, true));
        drop(held);
        assert!(greedy.take(25).is_ok());
        // Owners that nobody can tell apart have the budget to themselves.
        assert!(budget.of(Owner::Unknown).take(100).is_ok());
        assert!(lock(&budget.taken).owners.is_empty() && lock(&budget.taken).all == 0);
    }
}
