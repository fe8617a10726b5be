//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `BlobContents`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct BlobContents {
    /// No doc line yet.
    pub blob: String,
    /// No doc line yet.
    pub uri: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl BlobContents {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(blob: impl Into<String>) -> Self {
        Self {
            blob: blob.into(),
            uri: None,
            extra: Map::new(),
        }
    }

    /// Sets `uri`.
    #[must_use]
    pub fn with_uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }
}

/// `Contents`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Contents {
    /// `TextContents`, which has no doc line yet.
    Text(TextContents),
    /// `BlobContents`, which has no doc line yet.
    Blob(BlobContents),
}

/// `TextContents`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct TextContents {
    /// No doc line yet.
    pub text: String,
    /// No doc line yet.
    pub uri: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl TextContents {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            uri: None,
            extra: Map::new(),
        }
    }

    /// Sets `uri`.
    #[must_use]
    pub fn with_uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }
}
