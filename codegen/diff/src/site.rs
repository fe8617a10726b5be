//! The results of a comparison: sites, the differences at them, and their names in the schemas.

use mcp_revisions_schema::sorted::SortedSet;

use serde::Serialize;
use serde_json::Value;

use super::graph::{GraphRest, NodeId};
use super::kind::ChangeKind;
use super::path::PathSegment;

/// The same part in both schemas.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DiffLocation {
    /// In the old one; empty where it has none.
    pub old: String,
    /// In the new one.
    pub new: String,
}

impl DiffLocation {
    /// Returns a part by what the two schemas call it.
    pub(crate) fn of(old: impl Into<String>, new: impl Into<String>) -> Self {
        Self {
            old: old.into(),
            new: new.into(),
        }
    }
}

/// Index of a site.
pub(crate) type SiteId = usize;

/// A pair of shapes, and what differs between them.
#[derive(Debug, Default)]
pub(crate) struct Site {
    pub findings: Vec<SchemaDifference>,
    /// Ways to the sites of its parts.
    pub edges: Vec<(Vec<PathSegment>, SiteId)>,
    /// The names in the two schemas: `Tool`, or `Tool.inputSchema` for an inline schema.
    pub(crate) places: SortedSet<DiffLocation>,
}

/// One difference.
#[derive(Debug, Clone)]
pub(crate) struct SchemaDifference {
    pub kind: ChangeKind,
    /// From the site to what differs.
    pub segments: Vec<PathSegment>,
    /// The node of each side; `None` where a side has none.
    pub nodes: [Option<NodeId>; 2],
    /// The presence of a member on each side that has it.
    pub required: [Option<bool>; 2],
    pub detail: DifferenceDetail,
}

/// A keyword of a bound with its value.
pub(crate) type SpelledBound = (String, Value);

/// The difference, where the shapes alone do not say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DifferenceDetail {
    None,
    /// The rest beside named members, on the side that does not name this one.
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
