//! A diff as annotations of a GitHub workflow: one line a change, errors for what breaks.

use std::fmt::Write;

use super::text::headline;
use super::{change_line, one_line};
use crate::diff::{Diff, Level, Row};

/// Renders the annotations of a diff, the summary first; with a gate, only those that fail it.
#[must_use]
pub fn render(diff: &Diff, gate: Option<Level>) -> String {
    let title = format!("{} -> {}", diff.old, diff.new);
    let title = one_line(&title);
    let head = headline(diff, &diff.summary());
    let mut text = command("notice", None, &title, &one_line(&head));
    for note in &diff.notes {
        text.push_str(&command("notice", None, &title, &one_line(note)));
    }
    let asked = |row: &&Row| gate.is_none_or(|gate| row.level >= gate);
    for row in diff.rows.iter().filter(asked) {
        let severity = match row.level {
            _ if gate.is_some() => "error",
            Level::Breaking => "error",
            Level::Risky => "warning",
            Level::Compatible | Level::Representation => "notice",
        };
        let title = format!("{} {}", row.level, row.kind);
        let place = diff.location(row);
        text.push_str(&command(severity, place, &title, &message(row)));
    }
    text
}

fn message(row: &Row) -> String {
    let subject = row.subject.clone().unwrap_or_default();
    let subject = row.paths.first().map_or(subject, ToString::to_string);
    let mut text = one_line(&subject).into_owned();
    if row.paths.len() > 1 {
        let _ = write!(text, " (and {} more wire paths)", row.paths.len() - 1);
    }
    let change = change_line(row);
    if !change.is_empty() {
        let _ = write!(text, ": {}", one_line(&change));
    }
    for witness in &row.witnesses {
        let _ = write!(text, "\n{}", witness.json);
    }
    let _ = write!(text, "\n[{}]", row.fingerprint);
    text
}

/// A workflow command; what would end it early is escaped.
fn command(severity: &str, place: Option<(&str, usize)>, title: &str, message: &str) -> String {
    let data = |text: &str| {
        text.replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
    };
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let place = place.map(|(file, line)| format!("file={},line={line},", property(file)));
    let (place, title) = (place.unwrap_or_default(), property(title));
    format!("::{severity} {place}title={title}::{}\n", data(message))
}
