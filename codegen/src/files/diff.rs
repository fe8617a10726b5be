//! The lines in which two texts differ, for people who look at a failed check.

use std::fmt::Write;

use imara_diff::{Algorithm, Diff, InternedInput};
use mcp_revisions_schema::spec::json::cut;

/// Returns the first `limit` differing lines of two texts: `-` with the old ones, `+` with the new ones, the line number before each group.
///
/// Empty when nothing differs. Long lines are cut.
pub fn lines(old: &str, new: &str, limit: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let diff = Diff::compute(Algorithm::Histogram, &input);

    let (mut shown, mut left, mut out) = (0, 0, String::new());
    for hunk in diff.hunks() {
        let (before, after) = (range(hunk.before), range(hunk.after));
        let gone = old[before.clone()].iter().map(|line| ('-', line));
        let came = new[after].iter().map(|line| ('+', line));
        for (index, (sign, line)) in gone.chain(came).enumerate() {
            if shown == limit {
                left += 1;
                continue;
            }
            shown += 1;
            // Writing to a string does not fail.
            if index == 0 {
                let _ = writeln!(out, "@ line {}", before.start + 1);
            }
            let _ = writeln!(out, "{sign} {}", cut(line, 160));
        }
    }
    if left > 0 {
        let _ = writeln!(out, "... and {left} more differing lines");
    }
    out
}

fn range(lines: std::ops::Range<u32>) -> std::ops::Range<usize> {
    lines.start as usize..lines.end as usize
}
