//! A diff as people and programs read it: text, Markdown, JSON, annotations, a page of HTML.

pub mod brief;
pub mod github;
pub mod html;
pub mod json;
pub mod markdown;
mod places;
pub mod text;
pub mod themes;

use std::borrow::Cow;

use mcp_wire::steers;

use crate::words::joined;
use crate::{ChangeKind, Diff, DiffRow, DirectionVerdict, Meaning, MetRule, PROVEN, Prose, View};
use mcp_revisions_schema::pair::MethodSender;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use mcp_revisions_schema::spec::changes::RefusingTransport;

/// Returns `rejected`, `rejected over HTTP`, `ignored`, `misinterpreted` or `ok`.
pub fn verdict_word(verdict: DirectionVerdict) -> &'static str {
    match (verdict.valid, verdict.over, verdict.meaning) {
        (false, Some(RefusingTransport::Http), _) => "rejected over HTTP",
        (false, Some(RefusingTransport::Stdio), _) => "rejected over stdio",
        (false, None, _) => "rejected",
        (true, _, Meaning::Kept) => "ok",
        (true, _, Meaning::Dropped) => "ignored",
        (true, _, Meaning::Changed) => "misinterpreted",
    }
}

/// Returns the rules that a change meets, step by step; the only step of an adjacent pair has no name.
pub fn rules_met(diff: &Diff, change: &themes::ThemeChange<'_>) -> Vec<(String, Vec<String>)> {
    let whole = format!("{}..{}", diff.old, diff.new);
    let mut steps: SortedMap<&str, SortedSet<&String>> = SortedMap::new();
    for MetRule { step, rules } in change.rows().iter().flat_map(|row| &row.rules) {
        let step = if *step == whole { "" } else { step };
        steps.entry(step).or_default().extend(rules);
    }
    let told = steps.into_iter().map(|(step, rules)| {
        // The text names a rule that acts; it does not add that the other places need no rule.
        let others = rules.len() > 1;
        let told = rules.into_iter().filter(|rule| !others || *rule != PROVEN);
        (step.to_owned(), told.cloned().collect())
    });
    told.collect()
}

/// Returns the same in one line: `rule handshake`, or `rules 2025-11-25..2026-07-28 handshake`; `None` if none is known.
pub fn rules_words(diff: &Diff, change: &themes::ThemeChange<'_>) -> Option<String> {
    let steps = rules_met(diff, change);
    match steps.as_slice() {
        [] => None,
        [(step, rules)] if step.is_empty() => Some(match rules.as_slice() {
            [only] if only == PROVEN => "no rule needed".to_owned(),
            [only] => match only.strip_prefix("runtime: ") {
                Some(why) => format!("no rule: {why}"),
                None => format!("rule {only}"),
            },
            several => format!("rules {}", joined(several.iter().map(String::as_str), ", ")),
        }),
        several => {
            let told = several
                .iter()
                .map(|(step, rules)| format!("{step} {}", rules.join(", ")));
            Some(format!("rules {}", joined(told, " | ")))
        }
    }
}

/// Returns a text in one line: what breaks it, or steers what reads it, is shown as an escape.
fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if steers(letter) {
            line.extend(letter.escape_default())
        } else {
            line.push(letter)
        }
    }
    Cow::Owned(line)
}

/// Returns the peers that a change of the pages binds, in words.
pub fn peers(binds: Option<MethodSender>) -> &'static str {
    match binds {
        Some(MethodSender::Client) => "clients",
        Some(MethodSender::Server) => "servers",
        None => "clients and servers",
    }
}

/// Returns the changes of the pages, by the peers and the transport that they bind: `clients, over HTTP`.
pub fn prose_groups(diff: &Diff) -> Vec<(String, Vec<&Prose>)> {
    let mut groups: SortedMap<(Option<MethodSender>, Option<RefusingTransport>), Vec<&Prose>> =
        SortedMap::new();
    for change in &diff.prose {
        groups
            .entry((change.binds, change.over))
            .or_default()
            .push(change);
    }
    groups
        .into_iter()
        .map(|((binds, over), changes)| {
            let peers = peers(binds);
            let transport = over.map_or_else(String::new, |over| format!(", over {}", over.name()));
            (format!("{peers}{transport}"), changes)
        })
        .collect()
}

/// Returns the old and the new value of a row, in one line; empty if the kind says it all.
pub fn change_line(row: &DiffRow) -> String {
    let presence = |view: &View, [before, after]: [&str; 2]| match view.required {
        Some(true) => format!("{before}required{after}"),
        Some(false) => format!("{before}optional{after}"),
        None => String::new(),
    };
    let shown = |view: &View| format!("{}{}", view.text, presence(view, [" (", ")"]));
    let perhaps = |way: &str| match &row.other_name {
        Some(name) => format!("; perhaps renamed {way} {name}"),
        None => String::new(),
    };
    match (&row.before, &row.after) {
        (Some(before), Some(after))
            if row.kind == ChangeKind::Moved && before.text == after.text =>
        {
            let presence = presence(after, [", ", " there"]);
            let within = if row.changed_within {
                ", and changed inside"
            } else {
                ""
            };
            format!("{}, at another place{presence}{within}", after.text)
        }
        (Some(before), Some(after)) => {
            let (old, new) = (shown(before), shown(after));
            let are_words = before.pointer.is_empty() && after.pointer.is_empty();
            if old == new {
                what_differs(&new, before, after)
            } else if are_words {
                words_that_differ(&old, &new)
            } else {
                format!("{old} -> {new}")
            }
        }
        (Some(before), None) => format!("was {}{}", shown(before), perhaps("to")),
        (None, Some(after)) => format!("{}{}", shown(after), perhaps("from")),
        (None, None) => String::new(),
    }
}

/// Number of words before and after a difference that both sides share.
const WORDS_AROUND: usize = 4;

/// Minimum number of shared words at the ends of two texts before only the words that differ are shown.
const LEAST_SAME: usize = 4;

/// Length of two texts together from which on only the words that differ are shown.
const SHORT: usize = 60;

/// Two texts by the words that differ, with a few around them.
fn words_that_differ(old: &str, new: &str) -> String {
    let [olds, news] = [old, new].map(|text| text.split(' ').collect::<Vec<&str>>());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let before = olds.iter().zip(&news).take_while(same).count();
    let least = olds.len().min(news.len()) - before;
    let ends = olds.iter().rev().zip(news.iter().rev());
    let after = ends.take_while(same).take(least).count();
    if old.len() + new.len() <= SHORT || before + after < LEAST_SAME {
        return format!("{old} -> {new}");
    }
    let shown = |words: &[&str]| {
        let from = before.saturating_sub(WORDS_AROUND);
        let to = (words.len() - after + WORDS_AROUND).min(words.len());
        let [begin, end] = [from > 0, to < words.len()].map(|cut| if cut { "…" } else { "" });
        format!("\"{begin}{}{end}\"", words[from..to].join(" "))
    };
    format!("{} -> {}", shown(&olds), shown(&news))
}

/// Both sides go by the same words: what it is that changed, by the lines that one side alone has.
fn what_differs(words: &str, before: &View, after: &View) -> String {
    let own = |view: &View, other: &View| -> String {
        let lines = view.outline.lines().map(str::trim);
        let own = lines.filter(|line| !other.outline.lines().any(|one| one.trim() == *line));
        joined(own, " ")
    };
    match (own(before, after).as_str(), own(after, before).as_str()) {
        ("", "") => words.to_owned(),
        ("", new) => format!("{words}, now with {new}"),
        (old, "") => format!("{words}, without {old}"),
        (old, new) => format!("{words}: {old} -> {new}"),
    }
}
