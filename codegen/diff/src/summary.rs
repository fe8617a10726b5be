//! The summary of a diff on two axes: the wire, and the generated crate.

use mcp_revisions_schema::sorted::SortedSet;

use serde::Serialize;

use super::kind::ChangeKind;
use super::role::{RoleCounts, role_counts};
use super::row::DiffRow;
use super::verdict::{ChangeLevel, CrateChange};
use super::{ComparedSubject, Diff};

/// Counts and conclusions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Number of rows.
    pub rows: usize,
    /// By level, worst first, levels without rows left out.
    pub levels: Vec<KindCount>,
    /// By kind, in the order of [`ChangeKind::ALL`].
    pub kinds: Vec<KindCount>,
    /// Number of wire paths reached.
    pub wire_paths: usize,
    /// First axis: the worst level; absent where nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<ChangeLevel>,
    /// Rows where a new receiver refuses an old sender.
    pub old_sender_refused: usize,
    /// Rows where an old receiver refuses a new sender.
    pub new_sender_refused: usize,
    /// Second axis: what the change means for the version number of the generated crate.
    #[serde(rename = "crate", skip_serializing_if = "Option::is_none")]
    pub crate_change: Option<CrateChange>,
    /// Number of rows that ask for that much.
    pub crate_rows: usize,
    /// What the rows do to a server of one side and clients of the other; empty of two servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleCounts>,
    /// Rows that no conversion rule covers.
    pub uncovered: usize,
    /// Rows that a baseline sets aside.
    pub ignored: usize,
}

/// The number of occurrences of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The id of a level or kind.
    pub id: &'static str,
    /// Number of rows.
    pub rows: usize,
}

impl Summary {
    pub(super) fn of(diff: &Diff) -> Self {
        let rows = &diff.rows;
        let those = |fits: &dyn Fn(&DiffRow) -> bool| rows.iter().filter(|row| fits(row)).count();
        let count = |id, fits: &dyn Fn(&DiffRow) -> bool| KindCount {
            id,
            rows: those(fits),
        };
        let levels = ChangeLevel::ALL
            .iter()
            .map(|level| count(level.as_str(), &|row| row.level == *level));
        let kinds = ChangeKind::ALL
            .iter()
            .map(|kind| count(kind.id(), &|row| row.kind == *kind));
        let is_of_protocol = diff.compared == ComparedSubject::Protocol;
        let crates = rows.iter().map(|row| row.crate_change);
        let crate_change = crates.max().filter(|_| is_of_protocol);
        let paths: SortedSet<_> = rows.iter().flat_map(|row| &row.paths).collect();
        Self {
            rows: rows.len(),
            levels: levels.filter(|count| count.rows > 0).collect(),
            kinds: kinds.filter(|count| count.rows > 0).collect(),
            wire_paths: paths.len(),
            wire: rows.iter().map(|row| row.level).max(),
            old_sender_refused: those(&|row| !row.verdicts.old_to_new.valid),
            new_sender_refused: those(&|row| !row.verdicts.new_to_old.valid),
            crate_rows: those(&|row| Some(row.crate_change) == crate_change),
            crate_change,
            roles: if is_of_protocol {
                role_counts(rows).into()
            } else {
                Vec::new()
            },
            uncovered: those(&|row| row.rules.is_empty() && row.kind.is_on_the_wire()),
            ignored: diff.ignored.len(),
        }
    }
}
