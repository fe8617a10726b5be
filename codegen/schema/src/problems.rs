//! Problems: everything that stands in the way, each once, in order of its file and line.

use std::collections::BTreeSet;
use std::fmt;

use crate::Error;

/// One failure or several: no two of the same text, ordered by file and line.
#[derive(Debug)]
pub struct Problems(Vec<Error>);

impl Problems {
    /// What is left of `errors` when each is said once; none for none.
    #[must_use]
    pub fn of(errors: Vec<Error>) -> Option<Self> {
        let mut flat = Vec::with_capacity(errors.len());
        for error in errors {
            match error {
                Error::Many(inner) => flat.extend(inner.0),
                one => flat.push(one),
            }
        }
        let mut said = BTreeSet::new();
        flat.retain(|error| said.insert(error.to_string()));
        // Those of one line stay in the order in which they were found.
        flat.sort_by_cached_key(Error::place);
        (!flat.is_empty()).then_some(Self(flat))
    }

    /// Ok for no failure.
    ///
    /// # Errors
    /// What [`Problems::of`] makes of `errors`.
    pub fn check(errors: Vec<Error>) -> Result<(), Self> {
        Self::of(errors).map_or(Ok(()), Err)
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Error> {
        self.0.iter()
    }

    /// How many there are; at least one.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl IntoIterator for Problems {
    type Item = Error;
    type IntoIter = std::vec::IntoIter<Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Problems {
    /// One after another, with their number at the end where there are several.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(f);
        }
        for error in &self.0 {
            writeln!(f, "{error}")?;
        }
        write!(f, "{} problems", self.0.len())
    }
}

impl std::error::Error for Problems {}

impl From<Error> for Problems {
    fn from(error: Error) -> Self {
        match error {
            Error::Many(problems) => problems,
            one => Self(vec![one]),
        }
    }
}

/// The one alone, or all of them.
impl From<Problems> for Error {
    fn from(mut problems: Problems) -> Self {
        match problems.0.len() {
            1 => problems.0.swap_remove(0),
            _ => Self::Many(problems),
        }
    }
}
