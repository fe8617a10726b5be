//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map, Number};

/// `AnyShape`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnyShape {
    /// `CircleShape`, which has no doc line yet.
    Circle(CircleShape),
    /// `OtherShape`, which has no doc line yet.
    Other(OtherShape),
}

/// `CircleShape`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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

/// `LineShape`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct LineShape {
    /// No doc line yet.
    pub length: Integer,
    /// No doc line yet.
    pub type_: Option<LineShapeType>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl LineShape {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(length: impl Into<Integer>) -> Self {
        Self {
            length: length.into(),
            type_: None,
            extra: Map::new(),
        }
    }

    /// Sets `type`.
    #[must_use]
    pub fn with_type(mut self, type_: impl Into<LineShapeType>) -> Self {
        self.type_ = Some(type_.into());
        self
    }
}

/// `LineShapeType`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineShapeType {
    /// `line`
    Line,
}

/// `OtherShape`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct OtherShape {
    /// No doc line yet.
    pub type_: String,
    /// No doc line yet.
    pub id: Option<Integer>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl OtherShape {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(type_: impl Into<String>) -> Self {
        Self {
            type_: type_.into(),
            id: None,
            extra: Map::new(),
        }
    }

    /// Sets `id`.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Integer>) -> Self {
        self.id = Some(id.into());
        self
    }
}

/// `Outline`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outline {
    /// `LineShape`, which has no doc line yet.
    Line(LineShape),
    /// `SquareShape`, which has no doc line yet.
    Square(SquareShape),
}

/// `Shape`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// `CircleShape`, which has no doc line yet.
    Circle(CircleShape),
    /// `SquareShape`, which has no doc line yet.
    Square(SquareShape),
}

/// `SquareShape`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
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
