//! Lock files as sides of a comparison: each tool, prompt and resource of a server is a message.
//!
//! The schema of a tool's input becomes that of `arguments` in a `tools/call` of it, and the schema of its output that of
//! `structuredContent` in the result. [`statements`] compares the facts that no schema has.

mod dialect;
mod schemas;
mod statements;

use mcp_lock::{LISTS, LockFile, OfferList, ServerOffer, revealed};
use serde_json::Value;

use super::compare::Comparer;
use super::graph::Graph;
use super::lines::SourceLines;
use super::messages::Message;
use super::methods;
use super::path::ExchangePart;
use super::row::DiffRow;
use super::rows::{self, DiffRows};
use super::side::ComparedSide;
use super::verdict::{ChangeLevel, ComparedEnd, DirectionVerdict, Verdicts};
use super::{ChangeKind, ComparedSubject, CrateChange, Diff, respelled, roots};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::model::{Direction, MethodKind};
use mcp_revisions_schema::pointer::escaped;
use mcp_revisions_schema::sorted::SortedMap;
use mcp_revisions_schema::spec::json;
use schemas::{UNION, result_name};

/// A lock, as it is named and as it is written.
#[derive(Debug)]
pub(crate) struct LockText {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Set if the name is that of a file with this text.
    pub(crate) is_file: bool,
}

/// An entry of a list of a server.
#[derive(Debug, Clone)]
pub(crate) struct LockedEntry {
    /// The message that uses it, as a wire path names it: `tools/call weather`.
    call: String,
    /// The message that lists it: `tools/list weather`.
    listed: String,
    /// The heading of its changes: `tool weather`.
    area: String,
    list: &'static OfferList,
    /// Its name at the server.
    name: String,
    value: Value,
    /// The JSON pointer of the list in the file.
    holder: String,
}

/// The entries of a side, and the facts beside them.
#[derive(Debug, Clone, Default)]
pub(crate) struct LockFacts {
    entries: Vec<LockedEntry>,
    /// The facts about each server, by their words in a wire path.
    servers: Vec<(String, SortedMap<String, Value>)>,
}

/// Returns whether a text is that of a lock file.
pub(crate) fn is_lock(text: &str) -> bool {
    // A schema is not parsed twice for it.
    text.contains("\"mcpLock\"")
        && serde_json::from_str(text).is_ok_and(|document| LockFile::is_marked(&document))
}

/// Opens two locks as sides. A schema that cannot be judged admits anything on both sides.
pub(crate) fn sides(locks: [LockText; 2]) -> Result<[ComparedSide; 2], Error> {
    let read = |lock: &LockText| {
        let document = json::parse(&lock.name, &lock.text)?;
        LockFile::of_value(document).map_err(|why| {
            Error::usage(
                format!("{}: {why}", lock.name),
                "write it with `mcp-rev lock`",
            )
        })
    };
    let mut files = [read(&locks[0])?, read(&locks[1])?];
    let [old, new] = &mut files;
    choose(&locks[0].name, old, (&locks[1].name, new))?;
    choose(&locks[1].name, new, (&locks[0].name, old))?;
    let is_named = files.iter().any(|file| file.servers.len() > 1);
    let facts = files.each_ref().map(|file| LockFacts::of(file, is_named));
    let (documents, unjudged) = schemas::documents(&facts, [&locks[0].name, &locks[1].name]);
    let mut sides = Vec::new();
    for ((lock, facts), document) in locks.iter().zip(facts).zip(documents) {
        let schema = document.map_err(|why| Error::defect("the schemas of a lock", why))?;
        sides.push(facts.side(lock, schema));
    }
    let Ok([old, mut new]) = <[ComparedSide; 2]>::try_from(sides) else {
        return Err(Error::defect(
            "the sides of a comparison",
            "there are not two",
        ));
    };
    new.unlisted = unjudged;
    Ok([old, new])
}

/// Leaves the server of this URL in a file of several, if a side is the server that was read there, which has no name.
fn choose(url: &str, server: &LockFile, (name, file): (&str, &mut LockFile)) -> Result<(), Error> {
    if !server.servers.contains_key("") || file.servers.len() < 2 {
        return Ok(());
    }
    let bare = url.split(['?', '#']).next().unwrap_or_default();
    file.servers.retain(|server, _| server == bare);
    if file.servers.is_empty() {
        return Err(Error::usage(
            format!("{name} has several servers, and none by the name {bare}"),
            format!("`mcp-rev lock --check --output {name}` compares each with itself"),
        ));
    }
    Ok(())
}

impl LockFacts {
    fn of(file: &LockFile, is_named: bool) -> Self {
        let mut facts = Self::default();
        for (server, offer) in &file.servers {
            let prefix = if is_named {
                format!("{}: ", shown(server))
            } else {
                String::new()
            };
            facts.add(&prefix, &format!("/servers/{}", escaped(server)), offer);
        }
        facts
    }

    fn add(&mut self, prefix: &str, pointer: &str, offer: &ServerOffer) {
        let said = offer
            .facts()
            .map(|(name, value)| (name.to_owned(), value.clone()));
        self.servers
            .push((format!("{prefix}server/discover"), said.collect()));
        for list in &LISTS {
            let noun = list.noun;
            let call = list.used_by.unwrap_or("resources/read template");
            for (name, value) in offer.entries(list) {
                let written = shown(name);
                self.entries.push(LockedEntry {
                    call: format!("{prefix}{call} {written}"),
                    listed: format!("{prefix}{} {written}", list.method),
                    area: format!("{prefix}{noun} {written}"),
                    list,
                    name: name.to_owned(),
                    value: value.clone(),
                    holder: format!("{pointer}/{}", list.member),
                });
            }
        }
    }

    fn side(self, lock: &LockText, (schema, graph): (Value, Graph)) -> ComparedSide {
        let message = |entry: &LockedEntry| {
            let node = *graph.definitions.get(&entry.call)?;
            Some(Message {
                name: entry.call.clone(),
                union: UNION,
                direction: Direction::ClientToServer,
                kind: MethodKind::Request,
                node,
                params: graph.member(node, "params"),
                result: graph.definitions.get(&result_name(&entry.call)).copied(),
                is_ruled: false,
                response: None,
            })
        };
        let mut messages: Vec<Message> = self.entries.iter().filter_map(message).collect();
        messages.sort_by(|a, b| a.name.cmp(&b.name));
        messages.dedup_by(|twin, first| twin.name == first.name);
        let mut areas = SortedMap::new();
        for entry in &self.entries {
            areas.insert(entry.call.clone(), entry.area.clone());
            areas.insert(entry.listed.clone(), entry.area.clone());
        }
        for (server, _) in &self.servers {
            areas.insert(server.clone(), server.replace("server/discover", "server"));
        }
        ComparedSide {
            label: lock.name.clone(),
            lines: lock.is_file.then(|| self.lines(lock)),
            schema,
            messages,
            areas,
            graph,
            lock: Some(self),
            ..ComparedSide::default()
        }
    }

    /// Returns the lines of the file, by the pointers of the schemas made of it and by the words of wire paths.
    fn lines(&self, lock: &LockText) -> SourceLines {
        let mut lines = SourceLines::of(&lock.name, &lock.text);
        let mut by_holder: SortedMap<&str, SortedMap<&str, &LockedEntry>> = SortedMap::new();
        for entry in &self.entries {
            let all = by_holder.entry(entry.holder.as_str()).or_default();
            all.insert(entry.name.as_str(), entry);
        }
        for (holder, entries) in by_holder {
            lines.add_parts(holder, |name| match entries.get(name) {
                Some(entry) => schemas::places(entry),
                None => Vec::new(),
            });
        }
        lines
    }
}

/// Compares two sides that are locks.
pub(crate) fn compare(old: &ComparedSide, new: &ComparedSide) -> Diff {
    let mut comparer = Comparer::new(&old.graph, &new.graph);
    let pairs = methods::pair(old, new);
    let mut rows = DiffRows::default();
    let roots = roots::of_messages(&pairs, &mut comparer);
    let cut = rows.add(&comparer, &roots, [old, new]);
    let mut list = rows.list;
    list.extend(methods::rows(&pairs));
    let mut uncompared: Vec<String> = new.unlisted.clone();
    if let (Some(before), Some(after)) = (&old.lock, &new.lock) {
        list.extend(statements::rows(before, after));
    }
    respelled::mark(&mut list);
    list.iter_mut().for_each(seen_from_outside);
    rows::order(&mut list, old, new);
    if cut {
        uncompared.push("there are more wire paths than are followed".to_owned());
    }
    Diff {
        old: old.label.clone(),
        new: new.label.clone(),
        compared: ComparedSubject::Servers,
        rows: list,
        uncompared,
        lines: [old.lines.clone(), new.lines.clone()],
        areas: old.areas.iter().chain(&new.areas).cloned().collect(),
        ..Diff::default()
    }
}

/// Judges a change of a server for the clients of the old one: the new server gets their calls, and they read its results.
fn seen_from_outside(row: &mut DiffRow) {
    let is_sent = |direction| row.paths.iter().any(|path| path.direction == direction);
    let is_called = is_sent(Direction::ClientToServer);
    let is_read = is_sent(Direction::ServerToClient);
    let Verdicts {
        old_to_new,
        new_to_old,
    } = row.verdicts;
    let or_fine = |counts: bool, verdict| {
        if counts {
            verdict
        } else {
            DirectionVerdict::FINE
        }
    };
    row.witnesses.retain(|witness| match witness.valid_in {
        ComparedEnd::Old => is_called,
        ComparedEnd::New => is_read,
    });
    let is_spelling = row.level == ChangeLevel::Representation;
    row.judged(Verdicts::of(
        or_fine(is_called, old_to_new),
        or_fine(is_read, new_to_old),
    ));
    if is_spelling {
        row.level = ChangeLevel::Representation;
    }
    // Every reader accepts a result without an optional member, but some may need the member.
    let is_missed = row.kind == ChangeKind::MemberRemoved && is_read;
    let is_in_result = row
        .paths
        .iter()
        .any(|path| path.part == ExchangePart::Result);
    if is_missed && is_in_result && row.level < ChangeLevel::Risky {
        row.level = ChangeLevel::Risky;
        row.level_reason = Some("a reader of results may rely on it".to_owned());
    }
    row.crate_change = CrateChange::Patch;
}

/// Returns a name for a line of text, with escapes for the characters that it hides.
fn shown(name: &str) -> String {
    revealed(name).unwrap_or_else(|| name.to_owned())
}
