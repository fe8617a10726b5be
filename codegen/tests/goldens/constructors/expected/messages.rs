//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `Author`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Author {
    /// No doc line yet.
    pub speaks: String,
    /// No doc line yet.
    pub name: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Author {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new() -> Self {
        Self {
            speaks: crate::PROTOCOL_VERSION.to_owned(),
            name: None,
            extra: Map::new(),
        }
    }

    /// Sets `speaks`.
    #[must_use]
    pub fn with_speaks(mut self, speaks: impl Into<String>) -> Self {
        self.speaks = speaks.into();
        self
    }

    /// Sets `name`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl Default for Author {
    fn default() -> Self {
        Self::new()
    }
}

/// `Page`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Page {
    /// No doc line yet.
    pub body: String,
    /// No doc line yet.
    pub by: Author,
    /// No doc line yet.
    pub number: Integer,
    /// No doc line yet.
    pub scope: PageScope,
    /// No doc line yet.
    pub uri: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Page {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(
        uri: mcp_wire::args::Uri<impl Into<String>>,
        body: impl Into<String>,
    ) -> Self {
        Self {
            body: body.into(),
            by: Author::new(),
            number: 1.into(),
            scope: PageScope::Mine,
            uri: uri.0.into(),
            extra: Map::new(),
        }
    }

    /// Sets `by`.
    #[must_use]
    pub fn with_by(mut self, by: impl Into<Author>) -> Self {
        self.by = by.into();
        self
    }

    /// Sets `number`.
    #[must_use]
    pub fn with_number(mut self, number: impl Into<Integer>) -> Self {
        self.number = number.into();
        self
    }

    /// Sets `scope`.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<PageScope>) -> Self {
        self.scope = scope.into();
        self
    }
}

/// `PageScope`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageScope {
    /// `all`
    All,
    /// `mine`
    Mine,
}
