//! The results of a comparison: sites, the differences at them, and their names in the schemas.

use mcp_revisions_schema::sorted::SortedSet;

use serde::Serialize;
use serde_json::Value;

use super::graph::{GraphRest, NodeId};
use super::kind::ChangeKind;
use super::path::PathSegment;

/// A part of a message, by its names in both schemas.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DiffLocation {
    /// The name in the old schema; empty if it has none.
    pub old: String,
    /// The name in the new schema; empty if it has none.
    pub new: String,
}

impl DiffLocation {
    /// Creates the location of a part by its names in both schemas.
    pub(crate) fn of(old: impl Into<String>, new: impl Into<String>) -> Self {
        Self {
            old: old.into(),
            new: new.into(),
        }
    }
}

/// Index of a site.
pub(crate) type SiteId = usize;

/// A pair of shapes, and the differences between them.
#[derive(Debug, Default)]
pub(crate) struct Site {
    pub findings: Vec<SchemaDifference>,
    /// The sites of its parts, with the segments that lead to them.
    pub edges: Vec<(Vec<PathSegment>, SiteId)>,
    /// The names in the two schemas: `Tool`, or `Tool.inputSchema` for an inline schema.
    pub(crate) places: SortedSet<DiffLocation>,
}

/// A difference between two schemas at a site.
#[derive(Debug, Clone)]
pub(crate) struct SchemaDifference {
    pub kind: ChangeKind,
    /// The path from the site to the part that differs.
    pub segments: Vec<PathSegment>,
    /// The node of each side; `None` where a side has none.
    pub nodes: [Option<NodeId>; 2],
    /// The presence of a member on each side that has it.
    pub required: [Option<bool>; 2],
    pub detail: DifferenceDetail,
}

/// A keyword of a bound with its value.
pub(crate) type SpelledBound = (String, Value);

/// The values of a difference that the shapes do not show.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DifferenceDetail {
    None,
    /// The schema of other members, on the side that does not name this one.
    Unnamed(GraphRest),
    /// A value of an enumeration.
    Value(Value),
    /// A limit, before and after.
    Limit(String, Option<Value>, Option<Value>),
    /// A bound that each side spells by another keyword.
    Bound(SpelledBound, SpelledBound),
}

/// Returns the place of a part, as rule files name it: `Tool.annotations`, `CallToolResult.content[]`.
pub(crate) fn place(owner: &str, segments: &[PathSegment]) -> String {
    let mut text = owner.to_owned();
    for segment in segments {
        match segment {
            PathSegment::Member(name) => text.extend([".", name]),
            PathSegment::Each => text.push_str("{}"),
            PathSegment::Item => text.push_str("[]"),
            PathSegment::Choice(_) => segment.push_to(&mut text),
        }
    }
    text
}
