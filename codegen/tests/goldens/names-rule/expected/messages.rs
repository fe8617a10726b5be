//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer};

/// `Hints`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Hints {
    /// No doc line yet.
    pub a: Option<bool>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Hints {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `a`.
    #[must_use]
    pub fn with_a(mut self, a: bool) -> Self {
        self.a = Some(a);
        self
    }
}

/// `Other`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Other {
    /// No doc line yet.
    pub meta: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Other {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<String>) -> Self {
        self.meta = Some(meta.into());
        self
    }
}

/// `Tool`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Tool {
    /// No doc line yet.
    pub hints: Option<Hints>,
    /// No doc line yet.
    pub vendor_id: Option<Integer>,
    /// No doc line yet.
    pub meta: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Tool {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `hints`.
    #[must_use]
    pub fn with_hints(mut self, hints: impl Into<Hints>) -> Self {
        self.hints = Some(hints.into());
        self
    }

    /// Sets `x.org/id`.
    #[must_use]
    pub fn with_vendor_id(mut self, vendor_id: impl Into<Integer>) -> Self {
        self.vendor_id = Some(vendor_id.into());
        self
    }

    /// Sets `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<String>) -> Self {
        self.meta = Some(meta.into());
        self
    }
}

/// `URLValue`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UrlValue(pub String);

impl From<String> for UrlValue {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<UrlValue> for String {
    fn from(value: UrlValue) -> Self {
        value.0
    }
}

impl From<&str> for UrlValue {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}
