//! The rows of a diff that the user asked for.

use mcp_revisions_schema::sorted::SortedSet;

use super::Diff;
use super::kind::ChangeKind;
use super::path::{WirePath, direction_id};
use super::row::DiffRow;
use super::verdict::ChangeLevel;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::naming::nearest;

/// A choice of rows; what is empty asks for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Methods, by name; `*` at the end stands for any rest.
    pub methods: Vec<String>,
    /// `C2S` or `S2C`.
    pub directions: Vec<String>,
    /// Kinds.
    pub kinds: Vec<ChangeKind>,
    /// Levels.
    pub levels: Vec<ChangeLevel>,
    /// Only what no conversion rule covers.
    pub uncovered: bool,
}

impl RowFilter {
    /// Returns whether everything is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether a row is asked for. A row with several wire paths is, if one of them fits.
    pub fn admits(&self, row: &DiffRow) -> bool {
        fn asks<T>(wanted: &[T], fits: impl Fn(&T) -> bool) -> bool {
            wanted.is_empty() || wanted.iter().any(fits)
        }
        let path_fits = |path: &WirePath| {
            let direction = direction_id(path.direction);
            asks(&self.methods, |method| names(method, &path.method))
                && asks(&self.directions, |id| id.eq_ignore_ascii_case(direction))
        };
        let any_path = self.methods.is_empty() && self.directions.is_empty();
        (any_path || row.paths.iter().any(path_fits))
            && asks(&self.kinds, |kind| *kind == row.kind)
            && asks(&self.levels, |level| *level == row.level)
            && !(self.uncovered && (!row.rules.is_empty() || !row.kind.is_on_the_wire()))
    }

    /// Refuses methods that no revision has, with the nearest name of one that exists. The error is the first one that matches
    /// none of the `known`.
    pub fn check(&self, known: &SortedSet<String>) -> Result<(), Error> {
        let matches_none = |pattern: &&String| {
            *pattern != "*" && !known.iter().any(|method| names(pattern, method))
        };
        let Some(unknown) = self.methods.iter().find(matches_none) else {
            return Ok(());
        };
        let every = "`tools/*` is every method that begins with `tools/`";
        let help = match nearest(unknown, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? {every}"),
            None => every.to_owned(),
        };
        Err(Error::usage(format!("no method `{unknown}`"), help))
    }

    /// Leaves in a diff only what is asked for.
    pub fn apply(&self, diff: &mut Diff) {
        let all = diff.rows.len();
        diff.rows.retain(|row| self.admits(row));
        diff.hidden += all - diff.rows.len();
        if !self.is_empty() {
            diff.prose.clear();
        }
    }
}

fn names(pattern: &str, method: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) if !start.is_empty() => method.starts_with(start),
        _ => pattern == method,
    }
}
