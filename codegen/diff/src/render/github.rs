//! A diff as annotations of a GitHub workflow: one line a change, errors for what breaks.

use std::cmp::Reverse;
use std::fmt::Write;

use mcp_revisions_schema::sorted::SortedMap;

use super::text::headline;
use super::themes::ThemeChange;
use super::{change_line, one_line};
use crate::words::counted;
use crate::{ChangeLevel, Diff, DiffRow};

/// Maximum number of annotations of a severity that GitHub shows of a step, without the one that counts the others.
const MAX_SHOWN: usize = 9;

/// Renders the annotations of a diff, the summary first; with a gate, only those that fail it.
pub fn render(diff: &Diff, gate: Option<ChangeLevel>) -> String {
    let title = format!("{} -> {}", diff.old, diff.new);
    let title = one_line(&title);
    let head = headline(diff, &diff.summary());
    let mut shown = Annotations::default();
    shown.add("notice", None, &title, &one_line(&head));
    for what in &diff.uncompared {
        let message = format!("not compared: {}", one_line(what));
        shown.add("error", None, &title, &message);
    }
    for note in &diff.notes {
        shown.add("notice", None, &title, &one_line(note));
    }
    let asked = |row: &&DiffRow| gate.is_none_or(|gate| row.level >= gate);
    let mut rows: Vec<&DiffRow> = diff.rows.iter().filter(asked).collect();
    rows.sort_by_key(|row| Reverse(row.level));
    for row in rows {
        let severity = match row.level {
            _ if gate.is_some() => "error",
            ChangeLevel::Breaking => "error",
            ChangeLevel::Risky => "warning",
            ChangeLevel::Compatible | ChangeLevel::Representation => "notice",
        };
        let title = format!("{} {}", row.level, row.kind);
        shown.add(severity, diff.location(row), &title, &message(row));
    }
    shown.finish(&title)
}

/// Workflow commands, no more of a severity than GitHub shows.
#[derive(Default)]
struct Annotations {
    text: String,
    counts: SortedMap<&'static str, usize>,
}

impl Annotations {
    fn add(
        &mut self,
        severity: &'static str,
        place: Option<(&str, usize)>,
        title: &str,
        message: &str,
    ) {
        let count = self.counts.entry(severity).or_default();
        *count += 1;
        if *count <= MAX_SHOWN {
            (self.text).push_str(&command(severity, place, title, message));
        }
    }

    /// Returns all of them, with the number of those that are left out.
    fn finish(mut self, title: &str) -> String {
        for (severity, count) in self.counts {
            if let Some(more) = count.checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
                let message = format!("{more} more: the log of `--format text --verbose` has all");
                (self.text).push_str(&command(severity, None, title, &message));
            }
        }
        self.text
    }
}

fn message(row: &DiffRow) -> String {
    let subject = row.subject.clone().unwrap_or_default();
    let written = ThemeChange::of(row).written();
    let first = written
        .first()
        .map(|(path, remark)| format!("{path}{remark}"));
    let mut text = one_line(&first.unwrap_or(subject)).into_owned();
    if let Some(more) = written.len().checked_sub(1).filter(|more| *more > 0) {
        let _ = write!(text, " (and {})", counted(more, "more wire path"));
    }
    let change = change_line(row);
    if !change.is_empty() {
        let _ = write!(text, ": {}", one_line(&change));
    }
    for witness in &row.witnesses {
        let _ = write!(text, "\n{}", one_line(&witness.json.to_string()));
    }
    let _ = write!(text, "\n[{}]", row.fingerprint);
    text
}

/// Returns a workflow command; what would end it early is escaped.
fn command(severity: &str, place: Option<(&str, usize)>, title: &str, message: &str) -> String {
    let data = |text: &str| {
        text.replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
    };
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let location = place.map_or_else(String::new, |(file, line)| {
        format!("file={},line={line},", property(file))
    });
    let title = property(title);
    format!("::{severity} {location}title={title}::{}\n", data(message))
}
