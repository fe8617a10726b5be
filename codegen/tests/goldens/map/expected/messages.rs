//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `Names`, which has no doc line yet.
pub type Names = Vec<String>;

/// `Report`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Report {
    /// No doc line yet.
    pub scores: Scores,
    /// No doc line yet.
    pub tools: Option<Map<Tool>>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Report {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(scores: impl Into<Scores>) -> Self {
        Self {
            scores: scores.into(),
            tools: None,
            extra: Map::new(),
        }
    }

    /// Sets `tools`.
    #[must_use]
    pub fn with_tools(mut self, tools: Map<Tool>) -> Self {
        self.tools = Some(tools);
        self
    }
}

/// `Same`, which has no doc line yet.
pub type Same = Tool;

/// `Scores`, which has no doc line yet.
pub type Scores = Map<Integer>;

/// `Tool`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Tool {
    /// No doc line yet.
    pub name: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Tool {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            extra: Map::new(),
        }
    }
}

/// `Tools`, which has no doc line yet.
pub type Tools = Vec<Tool>;
