//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `Word`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// `self`
    SelfValue,
    /// `type`
    Type,
}

/// `Words`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Words {
    /// No doc line yet.
    pub member: Integer,
    /// No doc line yet.
    pub type_: String,
    /// No doc line yet.
    pub async_: Option<bool>,
    /// No doc line yet.
    pub object: Option<Integer>,
    /// No doc line yet.
    pub reader: Option<Integer>,
    /// No doc line yet.
    pub ref_: Option<String>,
    /// No doc line yet.
    pub self_: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Words {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(member: impl Into<Integer>, type_: impl Into<String>) -> Self {
        Self {
            member: member.into(),
            type_: type_.into(),
            async_: None,
            object: None,
            reader: None,
            ref_: None,
            self_: None,
            extra: Map::new(),
        }
    }

    /// Sets `async`.
    #[must_use]
    pub fn with_async(mut self, async_: bool) -> Self {
        self.async_ = Some(async_);
        self
    }

    /// Sets `object`.
    #[must_use]
    pub fn with_object(mut self, object: impl Into<Integer>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// Sets `reader`.
    #[must_use]
    pub fn with_reader(mut self, reader: impl Into<Integer>) -> Self {
        self.reader = Some(reader.into());
        self
    }

    /// Sets `$ref`.
    #[must_use]
    pub fn with_ref(mut self, ref_: impl Into<String>) -> Self {
        self.ref_ = Some(ref_.into());
        self
    }

    /// Sets `self`.
    #[must_use]
    pub fn with_self(mut self, self_: impl Into<String>) -> Self {
        self.self_ = Some(self_.into());
        self
    }
}
