//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Holder`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Holder {
    /// No doc line yet.
    pub kind: Option<HolderKind>,
    /// No doc line yet.
    pub option: Option<OptionItem>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Holder {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `kind`.
    #[must_use]
    pub fn with_kind(mut self, kind: impl Into<HolderKind>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Sets `option`.
    #[must_use]
    pub fn with_option(mut self, option: impl Into<OptionItem>) -> Self {
        self.option = Some(option.into());
        self
    }
}

/// `Kind`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HolderKind {
    /// `a`
    A,
    /// `b`
    B,
}

/// `Option`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct OptionItem {
    /// No doc line yet.
    pub value: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl OptionItem {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            extra: Map::new(),
        }
    }
}
