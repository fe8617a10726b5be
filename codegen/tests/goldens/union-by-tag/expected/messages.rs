//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Map, Number};

/// `CircleShape`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct CircleShape {
    /// No doc line yet.
    pub radius: Number,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl CircleShape {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(radius: impl Into<Number>) -> Self {
        Self {
            radius: radius.into(),
            extra: Map::new(),
        }
    }
}

/// `Shape`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// `CircleShape`, which has no doc line yet.
    Circle(CircleShape),
    /// `SquareShape`, which has no doc line yet.
    Square(SquareShape),
}

/// `SquareShape`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct SquareShape {
    /// No doc line yet.
    pub side: Number,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl SquareShape {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(side: impl Into<Number>) -> Self {
        Self {
            side: side.into(),
            extra: Map::new(),
        }
    }
}
