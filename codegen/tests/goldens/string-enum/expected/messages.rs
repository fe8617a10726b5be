//! Messages as a whole, and definitions that no method reaches.

/// `Level`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// `2d`
    N2d,
    /// `N/A`
    NA,
    /// `date-time`
    DateTime,
    /// `debug`
    Debug,
    /// `thisServer`
    ThisServer,
}

/// `Only`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Only {
    /// `one`
    One,
}
