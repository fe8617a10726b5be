//! Decision plans: how a reader tells the variants of a union apart without trying them.

use serde::Serialize;

use crate::model::Ty;

/// A JSON kind, as a reader sees it before it reads on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A number without fraction and exponent.
    Integer,
    /// Any other number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
}

/// A decision, or a question and what follows from its answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// Decided: the variant with this index.
    Take(usize),
    /// What kind of JSON value stands there?
    Kind(Vec<KindCase>),
    /// Which constant does a member hold?
    Tag {
        /// The member's wire name.
        member: String,
        /// The constants and what follows from each.
        cases: Vec<Case>,
        /// What follows from any other string; absent where that is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        other: Option<Box<Plan>>,
        /// What follows where the member is absent; absent where that is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<Box<Plan>>,
    },
    /// Which of these members comes first in the text? No two variants know the same one.
    First(Vec<Case>),
    /// Is this member there? The first row that is takes it.
    Present {
        /// Member paths, joined with `.`, and what follows.
        cases: Vec<Case>,
        /// What follows where none is there; absent where that is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<Plan>>,
    },
    /// What is the first element of the array? An empty array is the first variant.
    Element {
        /// The types an element can have, in the order of the inner plan's indices.
        elements: Vec<Ty>,
        /// Decides the element; its index leads to a variant through `owners`.
        plan: Box<Plan>,
        /// For each element, the variant it belongs to.
        owners: Vec<usize>,
    },
}

/// An answer and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// A constant, or a member path.
    pub value: String,
    /// What follows.
    pub plan: Plan,
}

/// A kind of JSON value and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindCase {
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// What follows.
    pub plan: Plan,
}
