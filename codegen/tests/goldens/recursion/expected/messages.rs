//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map};

/// `Expression`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A string.
    String(String),
    /// `Negation`, which has no doc line yet.
    Negation(Box<Negation>),
}

/// `Negation`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Negation {
    /// No doc line yet.
    pub of: Box<Expression>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Negation {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(of: impl Into<Expression>) -> Self {
        Self {
            of: Box::new(of.into()),
            extra: Map::new(),
        }
    }
}

/// `Tree`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Tree {
    /// No doc line yet.
    pub value: String,
    /// No doc line yet.
    pub children: Option<Vec<Tree>>,
    /// No doc line yet.
    pub left: Option<Box<Tree>>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Tree {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            children: None,
            left: None,
            extra: Map::new(),
        }
    }

    /// Sets `children`.
    #[must_use]
    pub fn with_children(mut self, children: Vec<Tree>) -> Self {
        self.children = Some(children);
        self
    }

    /// Sets `left`.
    #[must_use]
    pub fn with_left(mut self, left: impl Into<Tree>) -> Self {
        self.left = Some(Box::new(left.into()));
        self
    }
}
