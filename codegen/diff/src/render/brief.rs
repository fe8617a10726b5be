//! The summary of a diff in a few lines: what was removed, what must be sent, what is new.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::cmp::Reverse;

use serde::Serialize;

use super::places::{holder, limited, name, within};
use super::themes::{ThemeChange, changes};
use crate::words::joined;
use crate::{
    ChangeKind, ChangeLevel, Diff, DiffRow, ExchangePart, MovedMethods, View, WirePath, bare,
    channel,
};
use mcp_revisions_schema::model::{Direction, MethodKind};

/// A line of the summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BriefLine {
    /// The common part of its items.
    pub head: &'static str,
    /// The items, the gravest first.
    pub items: Vec<BriefItem>,
    /// Number of further names.
    pub more: usize,
}

/// Things of which the same is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BriefItem {
    /// The words before the names: `headers`.
    pub before: String,
    /// Names, as they stand on the wire.
    pub names: Vec<String>,
    /// The words after them.
    pub after: String,
}

impl BriefItem {
    fn new(before: &str, names: Vec<String>, after: impl Into<String>) -> Self {
        Self {
            before: before.to_owned(),
            names,
            after: after.into(),
        }
    }
}

/// Maximum number of items in a line.
const MAX_ITEMS: usize = 5;

/// Maximum number of names in an item about definitions, which are not messages.
const MAX_NAMES: usize = 6;

/// The place of a line among the others, and what its items have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head(u8, &'static str);

impl Head {
    const GONE: Self = Self(0, "Removed");
    const ASKED: Self = Self(1, "Sent differently");
    const MOVED: Self = Self(2, "Moved");
    const CLIENTS_MUST: Self = Self(3, "Clients must send");
    const SERVERS_MUST: Self = Self(4, "Servers must send");
    const NEW: Self = Self(5, "New");
    const MAY: Self = Self(6, "New optional");
    const CHANGED: Self = Self(7, "Changed");
    const TEXTS: Self = Self(8, "Texts for models");
    const RULES: Self = Self(9, "Spec rules");
    const LEAVING: Self = Self(10, "Deprecated");
}

/// Returns the summary of a diff: a line for each sort of news, ten at most.
pub fn brief(diff: &Diff) -> Vec<BriefLine> {
    let mut all: SortedMap<Head, Vec<(ChangeLevel, BriefItem)>> = SortedMap::new();
    let mut messages: SortedMap<(Head, &'static str), SortedSet<&str>> = SortedMap::new();
    let mut moved: SortedMap<(&str, &str), SortedSet<&str>> = SortedMap::new();
    let inputs = (diff.rows.iter()).filter(|row| row.kind == ChangeKind::MethodRechanneled);
    let inputs: SortedSet<&str> = inputs
        .flat_map(|row| row.paths.iter().map(|path| path.method.as_str()))
        .collect();
    for change in changes(diff) {
        let row = change.lead();
        let head = match row.kind {
            ChangeKind::MethodRemoved | ChangeKind::MethodAdded
                if row.before.is_some() && row.after.is_some() =>
            {
                Head::CHANGED
            }
            ChangeKind::MethodRemoved => Head::GONE,
            ChangeKind::MethodAdded => Head::NEW,
            ChangeKind::MethodRechanneled => Head::ASKED,
            _ => {
                for (head, item) in items(&change, &inputs) {
                    all.entry(head).or_default().push((row.level, item));
                }
                continue;
            }
        };
        for path in change.main() {
            let (features, way) = match head {
                Head::GONE => (&*diff.extensions, "from the core to the extension"),
                Head::NEW => (&*diff.taken_back, "to the core from the extension"),
                _ => (&[][..], ""),
            };
            let has = |of: &&MovedMethods| of.methods.contains(&path.method);
            if let Some(of) = features.iter().find(has) {
                let methods = moved.entry((way, &of.extension)).or_default();
                methods.insert(&path.method);
                continue;
            }
            let sender = match (head, path.direction) {
                (Head::ASKED, _) => "",
                (Head::CHANGED, _) => on_another_channel(row),
                (_, Direction::ClientToServer) => "from clients",
                (_, Direction::ServerToClient) => "from servers",
            };
            let methods = messages.entry((head, sender)).or_default();
            methods.insert(&path.method);
        }
    }
    for ((way, extension), methods) in moved {
        let after = format!("{way} {extension}");
        let item = BriefItem::new("", braced(&methods), after);
        let moved = all.entry(Head::MOVED).or_default();
        moved.push((ChangeLevel::Breaking, item));
    }
    for ((head, sender), methods) in messages.into_iter().rev() {
        let (before, after) = match head {
            Head::ASKED => ("", "in the result of another request"),
            Head::CHANGED => ("", sender),
            _ => (sender, ""),
        };
        let item = BriefItem::new(before, braced(&methods), after);
        let items = all.entry(head).or_default();
        items.insert(0, (ChangeLevel::Breaking, item));
    }
    let lines = all.into_iter();
    lines.map(|(head, items)| line(head, items)).collect()
}

/// Says which channel a method got or lost beside one that it keeps.
fn on_another_channel(row: &DiffRow) -> &'static str {
    let is_input = row.subject.as_deref() == Some(channel(MethodKind::Input));
    match (row.kind, is_input) {
        (ChangeKind::MethodAdded, true) => "is an entry of inputRequests as well",
        (ChangeKind::MethodAdded, false) => "is sent by itself as well",
        (_, true) => "is no longer an entry of inputRequests",
        (_, false) => "is no longer sent by itself",
    }
}

/// Things of which the same is said become one item; the gravest come first.
fn line(head: Head, mut items: Vec<(ChangeLevel, BriefItem)>) -> BriefLine {
    // Changes of every message come before changes of a few.
    items.sort_by_key(|(level, item)| (item.before.is_empty(), Reverse(*level)));
    let mut all: Vec<BriefItem> = Vec::new();
    for (_, item) in items {
        let alike =
            |known: &&mut BriefItem| known.before == item.before && known.after == item.after;
        match all.iter_mut().find(alike) {
            Some(known) => {
                let mut names = item.names;
                names.retain(|name| !known.names.contains(name));
                known.names.extend(names);
            }
            None => all.push(item),
        }
    }
    let left_out = all.iter().skip(MAX_ITEMS);
    let mut more: usize = left_out.map(|item| item.names.len()).sum();
    all.truncate(MAX_ITEMS);
    for item in &mut all {
        if !item.before.starts_with("from ") {
            more += item.names.len().saturating_sub(MAX_NAMES);
            item.names.truncate(MAX_NAMES);
        }
    }
    BriefLine {
        head: head.1,
        items: all,
        more,
    }
}

fn items(change: &ThemeChange<'_>, inputs: &SortedSet<&str>) -> Vec<(Head, BriefItem)> {
    let row = change.lead();
    let mut paths: Vec<&WirePath> = change.main().collect();
    // The other places that a change of the envelope reaches say less than that every message has it.
    let is_of_envelope =
        |path: &&WirePath| path.method == "*" && path.part == ExchangePart::Message;
    if paths.iter().any(is_of_envelope) {
        paths.retain(is_of_envelope);
    }
    let subject = row.subject.clone().unwrap_or_default();
    let code = |view: &Option<View>| {
        let text = view.as_ref().map_or("", |view| view.text.as_str());
        text.split(',').next().unwrap_or_default().to_owned()
    };
    let one = |head, before: &str, name: String, after: String| {
        vec![(head, BriefItem::new(before, vec![name], after))]
    };
    let shape = |view: &Option<View>| match view.as_ref().map(|view| view.text.as_str()) {
        Some("unknown") => "any JSON".to_owned(),
        text => text.unwrap_or_default().to_owned(),
    };
    let about = |head, before: &str, name: String| one(head, before, name, String::new());
    let error = |head, view| about(head, "errors", format!("{} {subject}", code(view)));
    let here = || within(&paths, inputs);
    let member = |head| one(head, "", name(row, &paths), here());
    let changed = |how: String| {
        let after = format!("{how} {}", here());
        one(Head::CHANGED, "", name(row, &paths), after)
    };
    let deprecated = |head, before: &str| {
        let part = paths.first().map(|path| (path.part, path.method.as_str()));
        let (name, after) = match (part, row.places.first()) {
            (Some((ExchangePart::Message, method)), _) if method != "*" => {
                (method.to_owned(), String::new())
            }
            // A definition as a whole goes by its name.
            (Some(_), Some(place)) if row.subject.is_none() => (place.new.clone(), here()),
            (Some((ExchangePart::Params | ExchangePart::Result, _)), _) => {
                (name(row, &paths), here())
            }
            _ => (subject.clone(), String::new()),
        };
        one(head, before, name, after)
    };
    match row.kind {
        ChangeKind::MethodAdded
        | ChangeKind::MethodRemoved
        | ChangeKind::MethodRechanneled
        | ChangeKind::DefinitionRenamed => Vec::new(),
        ChangeKind::HeaderRemoved => about(Head::GONE, "headers", subject),
        ChangeKind::HeaderAdded | ChangeKind::HeaderChanged
            if !row.verdicts.old_to_new.valid
                || (is_required(&row.after) && !is_required(&row.before)) =>
        {
            about(Head::CLIENTS_MUST, "headers", subject)
        }
        ChangeKind::HeaderAdded => about(Head::MAY, "headers", subject),
        ChangeKind::HeaderChanged => about(Head::CHANGED, "headers", subject),
        ChangeKind::ErrorCodeAdded => error(Head::NEW, &row.after),
        ChangeKind::ErrorCodeRemoved => error(Head::GONE, &row.before),
        ChangeKind::ErrorCodeRenumbered => {
            let name = format!("{subject} {} -> {}", code(&row.before), code(&row.after));
            about(Head::CHANGED, "errors", name)
        }
        ChangeKind::ErrorCodeChanged => error(Head::CHANGED, &row.after),
        ChangeKind::RuleAdded => about(Head::RULES, "new:", subject),
        ChangeKind::RuleRemoved => about(Head::RULES, "removed:", subject),
        ChangeKind::RuleChanged => about(Head::RULES, "changed:", subject),
        ChangeKind::Deprecated => deprecated(Head::LEAVING, ""),
        ChangeKind::Undeprecated => deprecated(Head::CHANGED, "no longer deprecated:"),
        ChangeKind::Moved => {
            let from: Vec<&WirePath> = change.from().collect();
            let old = subject.split(" -> ").next().unwrap_or_default().to_owned();
            let mut ends = [holder(&from), holder(&paths)];
            if ends[0] == ends[1] {
                // Within one exchange its parts tell the ends apart, or else the ways to the two places.
                let parts = [&from, &paths]
                    .map(|paths| paths.first().map(|path| path.part))
                    .map(|part| part.unwrap_or(ExchangePart::Message).as_str());
                let place =
                    |paths: &[&WirePath]| paths.first().map_or("$", |path| path.path()).to_owned();
                ends = if parts[0] == parts[1] {
                    [place(&from), format!("{} of {}", place(&paths), ends[1])]
                } else {
                    [0, 1].map(|end| format!("the {} of {}", parts[end], ends[end]))
                };
            }
            let [here, there] = ends;
            one(Head::MOVED, "", old, format!("from {here} to {there}"))
        }
        ChangeKind::MemberAddedRequired | ChangeKind::BecameRequired => {
            required(row, &paths, inputs)
        }
        ChangeKind::ResultAdded => one(Head::NEW, "the result", subject, here()),
        ChangeKind::ResultRemoved => one(Head::GONE, "the result", subject, here()),
        ChangeKind::MemberAddedOptional => member(Head::MAY),
        ChangeKind::UnionMemberAdded => one(Head::MAY, "", shape(&row.after), here()),
        ChangeKind::EnumValueAdded => one(Head::MAY, "the value", subject, here()),
        ChangeKind::MemberRemoved => match &row.other_name {
            Some(other) => {
                let after = format!("{}, perhaps renamed to {}", here(), bare(other));
                one(Head::GONE, "", name(row, &paths), after)
            }
            None => member(Head::GONE),
        },
        ChangeKind::UnionMemberRemoved => one(Head::GONE, "", shape(&row.before), here()),
        ChangeKind::EnumValueRemoved => one(Head::GONE, "the value", subject, here()),
        ChangeKind::BecameOptional => changed("may be left out".to_owned()),
        ChangeKind::TypeWidened => changed(format!("may be {}", shape(&row.after))),
        ChangeKind::TypeNarrowed if shape(&row.after) == "never" => {
            changed("admits no value any more".to_owned())
        }
        ChangeKind::TypeNarrowed | ChangeKind::TypeChanged | ChangeKind::ConstChanged => {
            changed(format!("is {}", shape(&row.after)))
        }
        ChangeKind::TextChanged => member(Head::TEXTS),
        ChangeKind::HintWeakened => changed(format!("is {}", shape(&row.after))),
        ChangeKind::HiddenCharacters => one(
            Head::TEXTS,
            "hidden characters in",
            name(row, &paths),
            here(),
        ),
        ChangeKind::StatementChanged => member(Head::CHANGED),
        ChangeKind::ConstraintChanged if subject == "oneOf" => changed(
            (if shape(&row.after).starts_with("no ") {
                "may be several of its shapes at once"
            } else {
                "has to be exactly one of its shapes"
            })
            .to_owned(),
        ),
        ChangeKind::ConstraintChanged => {
            let after = format!("has {} {}", shape(&row.after), here());
            one(Head::CHANGED, "", limited(row, &paths), after)
        }
        ChangeKind::OpennessChanged => match only_values(&row.after) {
            Some(kind) => {
                let after = format!("must be {kind} {}", here());
                one(Head::CHANGED, "values of", name(row, &paths), after)
            }
            None => changed(other_members(&row.after)),
        },
    }
}

/// Returns the kind of all values of a map, which names no members.
fn only_values(view: &Option<View>) -> Option<&str> {
    let schema = &view.as_ref()?.schema;
    let names = schema
        .get("properties")
        .and_then(serde_json::Value::as_object);
    let is_map = names.is_none_or(serde_json::Map::is_empty);
    let each = schema.get("additionalProperties").filter(|_| is_map)?;
    kind_of(each)
}

/// Returns the name of a schema, or its type.
fn kind_of(schema: &serde_json::Value) -> Option<&str> {
    let target = schema.get("$ref").and_then(|target| target.as_str());
    let name = target.and_then(|target| target.rsplit('/').next());
    name.or_else(|| schema.get("type")?.as_str())
}

/// Returns the type of an object's other members.
fn other_members(view: &Option<View>) -> String {
    let schema = view.as_ref().map(|view| &view.schema);
    let each = schema.and_then(|schema| schema.get("additionalProperties"));
    let kind = each.and_then(kind_of);
    match (each, kind) {
        (_, Some(kind)) => format!("takes other members only as {kind}"),
        (Some(each), _) if each.as_bool() == Some(false) => "takes no other members".to_owned(),
        (Some(each), _) if each.as_object().is_some_and(|each| !each.is_empty()) => {
            "takes other members of one shape only".to_owned()
        }
        _ => "takes any other members".to_owned(),
    }
}

/// Returns the members that are required now, by their sender.
fn required(
    row: &DiffRow,
    paths: &[&WirePath],
    inputs: &SortedSet<&str>,
) -> Vec<(Head, BriefItem)> {
    let mut items = Vec::new();
    for (direction, head) in Direction::ALL
        .into_iter()
        .zip([Head::CLIENTS_MUST, Head::SERVERS_MUST])
    {
        let mut own = paths.to_vec();
        own.retain(|path| path.direction == direction);
        if !own.is_empty() {
            let names = vec![name(row, &own)];
            items.push((head, BriefItem::new("", names, within(&own, inputs))));
        }
    }
    items
}

fn is_required(view: &Option<View>) -> bool {
    view.as_ref()
        .is_some_and(|view| view.required == Some(true))
}

/// Names of methods, those of one family between braces: `tasks/{cancel,get,list}`; of entries of a server, those of one
/// method: `tools/call {read,write}`.
fn braced(methods: &SortedSet<&str>) -> Vec<String> {
    let mut entries: SortedMap<&str, Vec<&str>> = SortedMap::new();
    let mut families: SortedMap<Option<&str>, Vec<&str>> = SortedMap::new();
    for method in methods {
        if let Some((method, entry)) = method.split_once(' ') {
            entries.entry(method).or_default().push(entry);
            continue;
        }
        let family = method.rsplit_once('/').map(|(family, _)| family);
        families.entry(family).or_default().push(method);
    }
    let of_entries = entries.into_iter();
    let mut names: Vec<String> = of_entries
        .map(|(method, all)| match all.as_slice() {
            [only] => format!("{method} {only}"),
            several => format!("{method} {{{}}}", several.join(", ")),
        })
        .collect();
    for (family, methods) in families {
        match family {
            Some(family) if methods.len() > 1 => {
                let rest = joined(methods.into_iter().map(bare), ",");
                names.push(format!("{family}/{{{rest}}}"));
            }
            _ => names.extend(methods.into_iter().map(str::to_owned)),
        }
    }
    names
}

impl BriefLine {
    /// Writes the items in words, names as `name` writes them.
    pub fn words(&self, name: impl Fn(&str) -> String) -> String {
        let items = self.items.iter().map(|item| {
            let names = joined(item.names.iter().map(|one| name(one)), ", ");
            let parts = [&item.before, &names, &item.after].into_iter();
            joined(
                parts.filter(|part| !part.is_empty()).map(String::as_str),
                " ",
            )
        });
        let mut text = joined(items, "; ");
        if self.more > 0 {
            text.push_str(&format!("; and {} more", self.more));
        }
        text
    }
}
