//! How far a long command has come, on standard error.

use std::fmt::Display;

/// A count of steps whose number is known from the start.
pub(crate) struct ProgressLine {
    done: usize,
    of: usize,
}

impl ProgressLine {
    pub(crate) fn of(of: usize) -> Self {
        Self { done: 0, of }
    }

    /// Prints the step that begins, with its number and that of all steps.
    pub(crate) fn step(&mut self, what: impl Display) {
        self.done += 1;
        eprintln!("{} of {}: {what}", self.done, self.of);
    }
}
