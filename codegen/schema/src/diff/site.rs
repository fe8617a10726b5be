//! The results of a comparison: sites, the differences at them, and their names in the schemas.

use crate::sorted::SortedSet;

use serde::Serialize;
use serde_json::Value;

use super::graph::{NodeId, Rest};
use super::kind::Kind;
use super::path::Segment;

/// The same part in both schemas.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// In the old one; empty where it has none.
    pub old: String,
    /// In the new one.
    pub new: String,
}

impl Place {
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
    pub(crate) findings: Vec<Finding>,
    /// Ways to the sites of its parts.
    pub(crate) edges: Vec<(Vec<Segment>, SiteId)>,
    /// The names in the two schemas: `Tool`, or `Tool.inputSchema` for an inline schema.
    pub(crate) places: SortedSet<Place>,
}

/// One difference.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    /// From the site to what differs.
    pub(crate) segments: Vec<Segment>,
    /// The node of each side; `None` where a side has none.
    pub(crate) nodes: [Option<NodeId>; 2],
    /// The presence of a member on each side that has it.
    pub(crate) required: [Option<bool>; 2],
    pub(crate) detail: Detail,
}

/// The difference, where the shapes alone do not say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Detail {
    None,
    /// The rest beside named members, on the side that does not name this one.
    Unnamed(Rest),
    /// A value of an enumeration.
    Value(Value),
    /// A limit, before and after.
    Limit(String, Option<Value>, Option<Value>),
}

/// Returns the place of a part, as rule files name it: `Tool.annotations`, `CallToolResult.content[]`.
pub(crate) fn place(owner: &str, segments: &[Segment]) -> String {
    let mut text = owner.to_owned();
    for segment in segments {
        match segment {
            Segment::Member(name) => text.extend([".", name]),
            Segment::Each => text.push_str("{}"),
            Segment::Item => text.push_str("[]"),
            Segment::Choice(_) => segment.push_to(&mut text),
        }
    }
    text
}
