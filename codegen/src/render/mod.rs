//! A diff as people and programs read it: text, Markdown, JSON, annotations, a page of HTML.

pub mod github;
pub mod html;
pub mod json;
pub mod markdown;
pub mod text;

use crate::diff::{Diff, Meaning, Row, Verdict};

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

/// `refused`, `passed over`, `misread` or `fine`.
#[must_use]
pub fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
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
    let shown = |view: &crate::diff::View| {
        let presence = match view.required {
            Some(true) => " (required)",
            Some(false) => " (optional)",
            None => "",
        };
        format!("{}{presence}", view.text)
    };
    match (&row.before, &row.after) {
        (Some(before), Some(after)) => format!("{} -> {}", shown(before), shown(after)),
        (Some(before), None) => format!("was {}", shown(before)),
        (None, Some(after)) => shown(after),
        (None, None) => String::new(),
    }
}
