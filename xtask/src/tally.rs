//! Tables: of results by revision in Markdown, with notes below it, and of columns.

use mcp_revisions_schema::sorted::SortedSet;
use std::fmt::Write as _;

use mcp_revisions_diff::command::CommandOutcome;

/// The rows so far, what is to be noted of them, and whether all is as it was expected.
pub(crate) struct Tally {
    pub(crate) text: String,
    pub(crate) notes: SortedSet<String>,
    pub(crate) passed: bool,
}

impl Tally {
    /// Creates a table with these columns, and one per revision.
    pub(crate) fn new(columns: &[&str], revisions: &[&str]) -> Self {
        let all = [columns, revisions].concat();
        let rule = "---|".repeat(all.len());
        Self {
            text: format!("| {} |\n|{rule}\n", all.join(" | ")),
            notes: SortedSet::new(),
            passed: true,
        }
    }

    /// Notes what is not as it was expected.
    pub(crate) fn fail(&mut self, note: String) {
        self.passed = false;
        self.notes.insert(note);
    }

    /// Returns the table with its notes.
    pub(crate) fn outcome(mut self) -> CommandOutcome {
        self.text.push('\n');
        for note in self.notes {
            let _ = writeln!(self.text, "- {note}");
        }
        CommandOutcome {
            text: self.text,
            passed: self.passed,
        }
    }
}

/// Lays out rows in columns as wide as their widest cell; all but the first may stand at the right.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]], right: bool) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(at, (cell, width))| {
                if right && at > 0 {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:width$}")
                }
            });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
