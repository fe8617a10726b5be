//! A diff as people and programs read it: text, Markdown, JSON, annotations, a page of HTML.

pub mod github;
pub mod html;
pub mod json;
pub mod markdown;
pub mod text;

use crate::diff::{Diff, Kind, Meaning, Row, Transport, Verdict, View};

/// Rows of one group, under its heading.
#[derive(Debug)]
pub struct Group<'d> {
    /// A method, or what the rows have in common.
    pub title: String,
    /// The rows, in order.
    pub rows: Vec<&'d Row>,
}

/// Heading of rows that reach more than one method.
const SHARED: &str = "shared by several methods";
/// Heading of rows that are about every message.
const EVERYWHERE: &str = "every message";
/// Heading of rows that are on no wire path.
const NAMES: &str = "names of definitions";

/// The rows of a diff by method: what every message has, what several share, each method, names.
#[must_use]
pub fn grouped(diff: &Diff) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in &diff.rows {
        let methods: std::collections::BTreeSet<&str> = row.methods().collect();
        let title = match methods.iter().collect::<Vec<_>>().as_slice() {
            [] => NAMES,
            [only] if **only == "*" => EVERYWHERE,
            [only] => only,
            _ => SHARED,
        };
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group {
                title: title.to_owned(),
                rows: vec![row],
            }),
        }
    }
    groups.sort_by_key(|group| {
        let rank = match group.title.as_str() {
            EVERYWHERE => 0,
            SHARED => 1,
            NAMES => 3,
            _ => 2,
        };
        (rank, group.title.clone())
    });
    for group in &mut groups {
        group.rows.sort_by_key(|row| std::cmp::Reverse(row.level));
    }
    groups
}

/// `refused`, `refused over HTTP`, `passed over`, `misread` or `fine`.
#[must_use]
pub fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict {
            valid: false,
            over: Some(Transport::Http),
            ..
        } => "refused over HTTP",
        Verdict { valid: false, .. } => "refused",
        Verdict {
            meaning: Meaning::Kept,
            ..
        } => "fine",
        Verdict {
            meaning: Meaning::Dropped,
            ..
        } => "passed over",
        Verdict {
            meaning: Meaning::Changed,
            ..
        } => "misread",
    }
}

/// What stood there and what stands there, in one line; empty where the kind says it all.
#[must_use]
pub fn change_line(row: &Row) -> String {
    let shown = |view: &View| {
        let presence = match view.required {
            Some(true) => " (required)",
            Some(false) => " (optional)",
            None => "",
        };
        format!("{}{presence}", view.text)
    };
    match (&row.before, &row.after) {
        (Some(before), Some(after)) => {
            let (old, new) = (shown(before), shown(after));
            match old == new {
                true => what_differs(row, &new, before, after),
                false => format!("{old} -> {new}"),
            }
        }
        (Some(before), None) => format!("was {}", shown(before)),
        (None, Some(after)) => shown(after),
        (None, None) => String::new(),
    }
}

/// Both sides go by the same words: what it is that changed, by the lines that one side alone has.
fn what_differs(row: &Row, words: &str, before: &View, after: &View) -> String {
    if row.kind == Kind::Moved {
        let within = if row.changed_within {
            "and changed inside"
        } else {
            "otherwise as before"
        };
        return format!("{words}, at another place {within}");
    }
    let own = |view: &View, other: &View| -> String {
        let lines = view.outline.lines().map(str::trim);
        let own = lines.filter(|line| !other.outline.lines().any(|one| one.trim() == *line));
        own.collect::<Vec<_>>().join(" ")
    };
    match (own(before, after).as_str(), own(after, before).as_str()) {
        ("", "") => words.to_owned(),
        ("", new) => format!("{words}, now with {new}"),
        (old, "") => format!("{words}, without {old}"),
        (old, new) => format!("{words}: {old} -> {new}"),
    }
}
