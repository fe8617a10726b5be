//! Words for the places of a change: what a member is called, and in which messages it is.

use crate::words::joined;
use crate::{DiffRow, ExchangePart, PathSegment, WirePath, bare};
use mcp_revisions_schema::sorted::SortedSet;

/// From how many methods on their number says more than their names.
const MANY: usize = 3;

/// Returns the name of a member, with its path if that is short and the same everywhere.
pub(super) fn name(row: &DiffRow, paths: &[&WirePath]) -> String {
    let ways: SortedSet<String> = paths.iter().map(|path| way(path).join(".")).collect();
    match (ways.first(), ways.len()) {
        (Some(way), 1) if !way.is_empty() => way.clone(),
        _ => match row.subject.as_deref() {
            Some(subject) => within_owner(subject, paths),
            None => ways.into_iter().next().unwrap_or_default(),
        },
    }
}

/// Returns the owner of a limit: a member with its path, or the message itself. The subject of such a change is its keyword.
pub(super) fn limited(row: &DiffRow, paths: &[&WirePath]) -> String {
    let ways: SortedSet<Vec<String>> = paths.iter().map(|path| way(path)).collect();
    let leaves: SortedSet<Option<&String>> = ways.iter().map(|way| way.last()).collect();
    match (leaves.first(), leaves.len(), ways.first()) {
        (Some(None), 1, _) => "the message".to_owned(),
        (Some(Some(_)), 1, Some(way)) if ways.len() == 1 => way.join("."),
        (Some(Some(leaf)), 1, _) => within_owner(leaf, paths),
        // Members of several names have one definition.
        _ => match row.places.first() {
            Some(place) => place.new.clone(),
            None => name(row, paths),
        },
    }
}

/// Returns a member with the name of its owner, if that is the same everywhere: `_meta.progressToken`.
fn within_owner(subject: &str, paths: &[&WirePath]) -> String {
    let holder = |path: &&WirePath| {
        let way = way(path);
        way.len().checked_sub(2).map(|at| way[at].clone())
    };
    let holders: SortedSet<Option<String>> = paths.iter().map(holder).collect();
    match (holders.first(), holders.len()) {
        (Some(Some(holder)), 1) => format!("{holder}.{}", bare(subject)),
        _ => bare(subject).to_owned(),
    }
}

/// Returns the last steps of a path, without choices and prefixes: `_meta`, `clientCapabilities`, `extensions`.
fn way(path: &WirePath) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut segments: Vec<String> = Vec::new();
    for segment in &path.trail.segments {
        match (segment, segments.last_mut()) {
            (PathSegment::Member(name), _) => segments.push(bare(name).to_owned()),
            (PathSegment::Each, _) => segments.push("*".to_owned()),
            (PathSegment::Item, Some(last)) => last.push_str("[]"),
            (PathSegment::Item, None) | (PathSegment::Choice(_), _) => {}
        }
    }
    segments.split_off(segments.len().saturating_sub(SHOWN))
}

/// `in tools/call`, `in 8 results`, or `in 3 entries of inputRequests`; `inputs` are the methods that became such entries.
pub(super) fn within(paths: &[&WirePath], inputs: &SortedSet<&str>) -> String {
    let methods: SortedSet<&str> = paths.iter().map(|path| path.method.as_str()).collect();
    match methods.len() {
        0 => String::new(),
        1 if methods.contains("*") => match chosen(paths) {
            Some(choice) => format!("in every {choice}"),
            None => "in every message".to_owned(),
        },
        count => {
            let all_are_inputs = methods.iter().all(|method| inputs.contains(method));
            let of_part =
                |part: ExchangePart| all_are_inputs && paths.iter().all(|path| path.part == part);
            let list = match (of_part(ExchangePart::Params), of_part(ExchangePart::Result)) {
                (true, _) => " in inputRequests",
                (_, true) => " in inputResponses",
                _ => "",
            };
            if count < MANY {
                format!("in {}{list}", joined(methods, " and "))
            } else if list.is_empty() {
                format!("in {count} {}", exchanges(paths))
            } else {
                format!("in {count} entries of {}", list.trim_start_matches(" in "))
            }
        }
    }
}

/// Returns the kind of message that all these places are in, where it is one: `error`.
fn chosen<'p>(paths: &[&'p WirePath]) -> Option<&'p str> {
    let choice = |path: &&'p WirePath| match path.trail.segments.as_slice() {
        [PathSegment::Choice(choice), _, ..] => Some(choice.text.as_str()),
        _ => None,
    };
    let choices: SortedSet<&str> = paths.iter().map(choice).collect::<Option<_>>()?;
    choices.first().copied().filter(|_| choices.len() == 1)
}

/// Returns the messages that carry a value: `initialize`, or `_meta of 8 requests`.
pub(super) fn holder(paths: &[&WirePath]) -> String {
    let methods: SortedSet<&str> = paths.iter().map(|path| path.method.as_str()).collect();
    let Some(first) = paths.first() else {
        return String::new();
    };
    if methods.len() < MANY {
        return joined(methods, " and ");
    }
    let around = match way(first).split_last() {
        Some((_, around)) if !around.is_empty() => around.join("."),
        _ => "params".to_owned(),
    };
    format!("{around} of {} {}", methods.len(), exchanges(paths))
}

fn exchanges(paths: &[&WirePath]) -> &'static str {
    let all = |fits: fn(&WirePath) -> bool| paths.iter().all(|path| fits(path));
    if all(|path| path.part == ExchangePart::Result) {
        "results"
    } else if all(|path| path.method.starts_with("notifications/")) {
        "notifications"
    } else if all(|path| {
        path.part == ExchangePart::Params && !path.method.starts_with("notifications/")
    }) {
        "requests"
    } else {
        "messages"
    }
}
