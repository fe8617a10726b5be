//! A rule file that is read, with which of its rules were of use.

use crate::sorted::SortedSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::Error;
use crate::spec::rules::RuleFile;

/// A rule file: its text for lines, and what it says.
#[derive(Debug, Default)]
pub(crate) struct RuleSource<T> {
    pub(crate) file: RuleFile,
    pub(crate) rules: T,
    /// The rules that were of use, by byte offset.
    used: Mutex<SortedSet<usize>>,
}

impl<T: DeserializeOwned> RuleSource<T> {
    pub(crate) fn of(file: RuleFile) -> Result<Self, Error> {
        Ok(Self {
            rules: file.parse()?,
            file,
            used: Mutex::default(),
        })
    }
}

impl<T> RuleSource<T> {
    fn used(&self) -> MutexGuard<'_, SortedSet<usize>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a rule as used, and returns it.
    pub(crate) fn mark<'r, R>(&self, rule: &'r Spanned<R>) -> &'r R {
        self.used().insert(rule.span().start);
        rule.get_ref()
    }

    /// Those of some rules that were of no use, each an error with its line: the problem, the reason and what to do.
    pub(crate) fn unused(
        &self,
        [problem, reason, help]: [&str; 3],
        rules: impl IntoIterator<Item = (usize, String)>,
    ) -> Vec<Error> {
        let used = self.used();
        let unused = rules.into_iter().filter(|(at, _)| !used.contains(at));
        unused
            .map(|(at, rule)| self.file.error(at, rule, problem, reason, help))
            .collect()
    }
}
