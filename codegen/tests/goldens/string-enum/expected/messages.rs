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

impl Level {
    /// All values, in the order of their strings.
    pub const ALL: [Self; 5] = [
        Self::N2d,
        Self::NA,
        Self::DateTime,
        Self::Debug,
        Self::ThisServer,
    ];
    /// Returns the string that messages carry.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::N2d => "2d",
            Self::NA => "N/A",
            Self::DateTime => "date-time",
            Self::Debug => "debug",
            Self::ThisServer => "thisServer",
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// `Only`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Only {
    /// `one`
    One,
}

impl Only {
    /// All values, in the order of their strings.
    pub const ALL: [Self; 1] = [Self::One];
    /// Returns the string that messages carry.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::One => "one",
        }
    }
}

impl std::fmt::Display for Only {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
