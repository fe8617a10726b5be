//! A bound on work: a schema may refer to itself for ever, and to anything in any number of ways.

use std::cell::Cell;

/// Number of steps that are left to what shares them.
#[derive(Debug)]
pub(crate) struct StepBudget(Cell<usize>);

impl StepBudget {
    pub(crate) const fn new(count: usize) -> Self {
        Self(Cell::new(count))
    }

    /// Takes so many steps; `None` if fewer are left, and then none is left.
    pub(crate) fn take(&self, count: usize) -> Option<()> {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or_default());
        left.map(drop)
    }
}
