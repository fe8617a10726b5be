//! The facts that no schema states: texts that a model reads, hints about tools, capabilities, versions, and characters
//! that a person does not see.

use mcp_lock::{hidden_texts, revealed};
use serde_json::{Value, json};

use super::{LockFacts, LockedEntry};
use crate::kind::ChangeKind;
use crate::path::{ExchangePart, PathSegment, Trail, WirePath};
use crate::row::DiffRow;
use crate::show::View;
use crate::verdict::{DirectionVerdict, Verdicts};
use mcp_revisions_schema::model::Direction;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use mcp_revisions_schema::spec::canonical::{KeywordContent, holds, is_prose};

/// The hints about a tool, and the value that each stands for where it is absent; the safe one is the other, but for
/// `destructiveHint` and `openWorldHint`, where it is false.
const HINTS: [(&str, bool, bool); 4] = [
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
    ("openWorldHint", true, false),
    ("readOnlyHint", false, true),
];

/// Values by their places: the members on the way to each.
type Statements = SortedMap<Vec<String>, Value>;

/// Returns the rows about facts that no schema states.
pub(super) fn rows(old: &LockFacts, new: &LockFacts) -> Vec<DiffRow> {
    let mut rows = Vec::new();
    for (method, said) in &new.servers {
        let Some((_, before)) = old.servers.iter().find(|(name, _)| name == method) else {
            continue;
        };
        let whole = |said: &SortedMap<String, Value>| -> Value {
            said.iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        let (before, after) = (whole(before), whole(said));
        let [olds, news] = [&before, &after].map(|value| {
            let mut all = Statements::new();
            leaves(value, &mut Vec::new(), &mut all);
            all
        });
        changed(method, [&olds, &news], &[], &mut rows);
        hidden(method, [Some(&before), Some(&after)], &mut rows);
    }
    let by_list = |side: &'_ LockFacts| -> SortedMap<String, LockedEntry> {
        let all = side.entries.iter();
        all.map(|entry| (entry.listed.clone(), entry.clone()))
            .collect()
    };
    let (olds, news) = (by_list(old), by_list(new));
    for (method, after) in &news {
        let before = olds.get(method);
        if let Some(before) = before {
            let mut hints = Vec::new();
            if after.list.member == "tools" {
                for (hint, absent, safe) in HINTS {
                    let row = weakened(method, [before, after], (hint, absent, safe));
                    hints.extend(row.is_some().then_some(hint));
                    rows.extend(row);
                }
            }
            let [olds, news] = [before, after].map(statements);
            changed(method, [&olds, &news], &hints, &mut rows);
        }
        let whole = |entry: &LockedEntry| json!([entry.name, entry.value]);
        let [before, after] = [before.map(whole), Some(whole(after))];
        hidden(method, [before.as_ref(), after.as_ref()], &mut rows);
    }
    rows
}

/// Returns the facts of an entry beside its schemas.
fn statements(entry: &LockedEntry) -> Statements {
    let mut all = Statements::new();
    let members = entry.value.as_object().into_iter().flatten();
    for (name, value) in members {
        let way = &mut vec![name.clone()];
        match (entry.list.member, name.as_str(), value) {
            ("tools", "inputSchema" | "outputSchema", schema) => prose(schema, way, &mut all),
            // The arguments of a prompt are compared as a schema; what they are for is said beside their names.
            ("prompts", "arguments", Value::Array(arguments)) => {
                for argument in arguments.iter().filter_map(Value::as_object) {
                    let named = argument.get("name").and_then(Value::as_str);
                    let others = argument
                        .iter()
                        .filter(|(name, _)| !matches!(name.as_str(), "name" | "required"));
                    for (member, value) in others {
                        way.extend([named.unwrap_or_default().to_owned(), member.clone()]);
                        leaves(value, way, &mut all);
                        way.truncate(1);
                    }
                }
            }
            (_, _, value) => leaves(value, way, &mut all),
        }
    }
    all
}

/// Adds the values of an object that are no objects, each by the way to it. As deep as it is nested, which its reader limits.
fn leaves(value: &Value, way: &mut Vec<String>, all: &mut Statements) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                way.push(name.clone());
                leaves(member, way, all);
                way.pop();
            }
        }
        value => _ = all.insert(way.clone(), value.clone()),
    }
}

/// Adds the words for people in a schema, and what vendors added to it. All else is compared as a schema.
fn prose(schema: &Value, way: &mut Vec<String>, all: &mut Statements) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        way.push(keyword.clone());
        match (holds(keyword), value) {
            _ if is_prose(keyword) || keyword.starts_with("x-") => {
                all.insert(way.clone(), value.clone());
            }
            (KeywordContent::Named, Value::Object(named)) => {
                for (name, schema) in named {
                    way.push(name.clone());
                    prose(schema, way, all);
                    way.pop();
                }
            }
            (KeywordContent::List | KeywordContent::Schema, Value::Array(list)) => {
                for (index, schema) in list.iter().enumerate() {
                    way.push(index.to_string());
                    prose(schema, way, all);
                    way.pop();
                }
            }
            (KeywordContent::Schema, schema) => prose(schema, way, all),
            _ => {}
        }
        way.pop();
    }
}

/// Adds a row for each statement that is not the same, but for the hints that have one.
fn changed(method: &str, [olds, news]: [&Statements; 2], hints: &[&str], rows: &mut Vec<DiffRow>) {
    let ways: SortedSet<&Vec<String>> = olds.keys().chain(news.keys()).collect();
    for way in ways {
        let (before, after) = (olds.get(way), news.get(way));
        let last = way.last().map_or("", String::as_str);
        let is_told = way.len() == 2 && way[0] == "annotations" && hints.contains(&last);
        if before == after || is_told {
            continue;
        }
        let is_text = is_prose(last) || last == "instructions";
        let kind = if is_text {
            ChangeKind::TextChanged
        } else {
            ChangeKind::StatementChanged
        };
        let mut row = row(kind, method, way, [before, after]);
        if kind == ChangeKind::StatementChanged && takes_away(way, before, after) {
            row.judged(Verdicts::of(
                DirectionVerdict::DROPPED,
                DirectionVerdict::CHANGED,
            ));
        }
        rows.push(row);
    }
}

/// Returns whether a client that relied on a statement about the protocol can do so no more.
fn takes_away(way: &[String], before: Option<&Value>, after: Option<&Value>) -> bool {
    let first = way.first().map_or("", String::as_str);
    let Some(before) = before else {
        return false;
    };
    match first {
        "capabilities" => after.is_none() || after == Some(&Value::Bool(false)),
        "protocolVersion" => true,
        "supportedVersions" => {
            let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
            let now = after.map(listed).unwrap_or_default();
            listed(before).iter().any(|version| !now.contains(version))
        }
        _ => false,
    }
}

/// Returns the row of a hint that promises less than before.
fn weakened(
    method: &str,
    entries: [&LockedEntry; 2],
    (hint, absent, safe): (&str, bool, bool),
) -> Option<DiffRow> {
    let told = entries.map(|entry| entry.value.get("annotations")?.get(hint));
    let means = told.map(|told| told.and_then(Value::as_bool).unwrap_or(absent));
    let way = ["annotations".to_owned(), hint.to_owned()];
    let is_weaker = means[0] == safe && means[1] != safe;
    is_weaker.then(|| {
        let mut row = row(ChangeKind::HintWeakened, method, &way, told);
        let stated = |told: Option<&Value>| match told {
            Some(told) => told.to_string(),
            None => format!("absent, which means {absent}"),
        };
        [row.before, row.after] = told.map(|told| Some(View::words(stated(told))));
        row
    })
}

/// Adds a row for each text that hides characters, unless the same text did so before.
fn hidden(method: &str, [old, new]: [Option<&Value>; 2], rows: &mut Vec<DiffRow>) {
    let [before, after] = [old, new].map(|value| value.map(hidden_texts).unwrap_or_default());
    for (way, text) in after.iter().filter(|found| !before.contains(found)) {
        // An entry is its name, and the object that it names.
        let within = match way.split_first() {
            Some((first, within)) if new.is_some_and(Value::is_array) => {
                if first == "0" {
                    &["name".to_owned()]
                } else {
                    within
                }
            }
            _ => way,
        };
        let mut row = row(ChangeKind::HiddenCharacters, method, within, [None; 2]);
        row.after = Some(View::words(text));
        rows.push(row);
    }
}

/// Returns the row of a statement of the server, about an entry of a list or about itself.
fn row(kind: ChangeKind, method: &str, way: &[String], values: [Option<&Value>; 2]) -> DiffRow {
    let mut row = DiffRow::new(kind);
    let mut trail = Trail::root();
    for name in way {
        trail.push(&PathSegment::Member(
            revealed(name).unwrap_or_else(|| name.clone()),
        ));
    }
    row.paths = vec![WirePath::new(
        Direction::ServerToClient,
        method,
        ExchangePart::Result,
        trail,
    )];
    row.subject = way.last().cloned();
    [row.before, row.after] = values.map(|value| value.map(|value| View::words(words(value))));
    row
}

/// Returns a value as words: a text as it is, with an escape for each character that it hides.
fn words(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    revealed(&text).unwrap_or(text)
}
