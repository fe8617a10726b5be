//! What the protocol states outside its schema: error codes, HTTP headers, binding rules, deprecations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::graph::{Member, NodeId, Shape};
use super::judge::{refused, valid};
use super::kind::Kind;
use super::path::{Part, Step, Trail, WirePath};
use super::row::Row;
use super::sample::minimal;
use super::show::View;
use super::side::{Facts, Side};
use super::verdict::{Verdict, Verdicts};
use super::witness::{End, Witness};
use crate::model::Direction;
use crate::spec::errors::{CodeRange, ErrorCode, Header, ProtocolRule, RuleKind};

/// An error whose code the schema carries.
#[derive(Debug, Clone)]
pub(crate) struct Carried {
    /// The definition, without `Error` at its end.
    pub(crate) name: String,
    pub(crate) definition: String,
    pub(crate) code: i64,
    pub(crate) node: NodeId,
    /// `error`, where the definition is a whole response.
    pub(crate) error: Option<Member>,
}

/// The errors whose codes a schema carries.
pub(crate) fn carried(side: &Side) -> Vec<Carried> {
    let graph = &side.graph;
    let member = |node: NodeId, name: &str| match &graph.node(node).shape {
        Shape::Object { members, .. } => members.get(name).copied(),
        _ => None,
    };
    let constant = |node: NodeId| match &graph.node(node).shape {
        Shape::Choice(values) => match values.as_slice() {
            [only] => only.as_i64(),
            _ => None,
        },
        _ => None,
    };
    let mut all = Vec::new();
    for (definition, node) in &graph.definitions {
        let error = member(*node, "error");
        let holder = error.map_or(*node, |error| error.node);
        let Some(code) = member(holder, "code").and_then(|code| constant(code.node)) else {
            continue;
        };
        all.push(Carried {
            name: definition
                .strip_suffix("Error")
                .unwrap_or(definition)
                .to_owned(),
            definition: definition.clone(),
            code,
            node: *node,
            error,
        });
    }
    all
}

pub(crate) fn both_ways(old_to_new: Verdict, new_to_old: Verdict) -> Verdicts {
    Verdicts {
        old_to_new,
        new_to_old,
    }
}

/// The rows about errors, headers and rules.
pub(crate) fn rows(old: &Side, new: &Side) -> Vec<Row> {
    let mut rows = Vec::new();
    let (old_errors, new_errors) = match (&old.facts, &new.facts) {
        (Some(before), Some(after)) => {
            let mut stated_rows = Vec::new();
            headers(before, after, &mut stated_rows);
            rules(before, after, &mut stated_rows);
            ranges(before, after, &mut stated_rows);
            for mut row in stated_rows {
                let side = if row.after.is_some() { new } else { old };
                row.page = page(row.page.as_deref(), side);
                rows.push(row);
            }
            stated(before, after)
        }
        // A file: what both schemas carry can be compared, and nothing else.
        _ => (from_schema(old), from_schema(new)),
    };
    errors(old, new, &old_errors, &new_errors, &mut rows);
    rows
}

/// Error codes that may be sent, by name.
type Codes = BTreeMap<String, ErrorCode>;

/// The codes of both sides. An error that goes by the code of another one now stands under its own name with that code,
/// if the other side has it at all.
fn stated(before: &Facts, after: &Facts) -> (Codes, Codes) {
    let sent = |facts: &Facts| -> Codes {
        let sent = facts.errors.iter().filter(|error| error.send);
        sent.map(|error| (error.name.clone(), error.clone()))
            .collect()
    };
    let replaced = |facts: &Facts, other: &Codes| -> Codes {
        let gone = facts.errors.iter().filter_map(|error| {
            let code = error.replaced_by?;
            other.get(&error.name)?;
            let now = ErrorCode {
                code,
                ..error.clone()
            };
            Some((error.name.clone(), now))
        });
        gone.collect()
    };
    let (mut old, mut new) = (sent(before), sent(after));
    let (of_old, of_new) = (replaced(before, &new), replaced(after, &old));
    old.extend(of_old);
    new.extend(of_new);
    (old, new)
}

fn from_schema(side: &Side) -> Codes {
    let row = |error: Carried| ErrorCode {
        code: error.code,
        name: error.name.clone(),
        revisions: Vec::new(),
        meaning: String::new(),
        http: None,
        definition: Some(error.definition),
        send: true,
        replaced_by: None,
        page: String::new(),
    };
    carried(side)
        .into_iter()
        .map(|error| (error.name.clone(), row(error)))
        .collect()
}

fn errors(old: &Side, new: &Side, before: &Codes, after: &Codes, rows: &mut Vec<Row>) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (o, n) = (before.get(name), after.get(name));
        let (kind, verdicts) = match (o, n) {
            (None, Some(_)) => (
                Kind::ErrorCodeAdded,
                both_ways(Verdict::FINE, Verdict::DROPPED),
            ),
            (Some(_), None) => (
                Kind::ErrorCodeRemoved,
                both_ways(Verdict::DROPPED, Verdict::FINE),
            ),
            (Some(o), Some(n)) if o.code != n.code => (
                Kind::ErrorCodeRenumbered,
                both_ways(Verdict::CHANGED, Verdict::CHANGED),
            ),
            (Some(o), Some(n)) if o.meaning != n.meaning || o.http != n.http => (
                Kind::ErrorCodeChanged,
                both_ways(Verdict::CHANGED, Verdict::CHANGED),
            ),
            _ => continue,
        };
        let mut row = Row::new(kind, verdicts);
        if kind == Kind::ErrorCodeRenumbered {
            let witnesses = [End::Old, End::New].into_iter();
            row = row.with_witnesses(
                witnesses
                    .filter_map(|sender| renumbered(old, new, o?, n?, sender))
                    .collect(),
            );
        }
        let view = |error: &ErrorCode| {
            let http = error
                .http
                .map_or_else(String::new, |status| format!(", HTTP {status}"));
            let named = |codes: &Codes| {
                let mut sent = codes.values().filter(|other| other.send);
                sent.find(|other| other.code == error.code)
                    .map(|other| format!(", {}", other.name))
            };
            // A code that another error lends it goes with that one's name.
            let lender = match error.replaced_by {
                Some(_) => named(after).or_else(|| named(before)),
                None => None,
            };
            let lender = lender.unwrap_or_default();
            let mut view = View::words(format!("{}{lender}{http}", error.code));
            if !error.meaning.is_empty() {
                view.outline.push_str(&format!("\n{}", error.meaning));
            }
            view
        };
        row.before = o.map(view);
        row.after = n.map(view);
        row.subject = Some(name.clone());
        row.codes = [o, n]
            .into_iter()
            .flatten()
            .map(|error| error.code)
            .collect();
        row.page = page(
            n.or(o).map(|error| error.page.as_str()),
            if n.is_some() { new } else { old },
        );
        rows.push(anywhere(row, Part::Error, &code_of(name)));
    }
}

/// An error under its own code, which the other side knows under another one.
fn renumbered(
    old: &Side,
    new: &Side,
    before: &ErrorCode,
    after: &ErrorCode,
    sender: End,
) -> Option<Witness> {
    let place = |side: &Side, error: &ErrorCode| {
        let name = error.definition.clone().or_else(|| {
            let generic = ["JSONRPCErrorResponse", "JSONRPCError"];
            let found = generic
                .iter()
                .find(|name| side.graph.definitions.contains_key(**name));
            found.map(|name| (*name).to_owned())
        })?;
        let node = *side.graph.definitions.get(&name)?;
        Some((node, format!("/$defs/{name}")))
    };
    let (old_node, old_at) = place(old, before)?;
    let (new_node, new_at) = place(new, after)?;
    let code = match sender {
        End::Old => before.code,
        End::New => after.code,
    };
    // The side that spells the error out says what else is in it.
    let (graph, node) = match after.definition {
        Some(_) => (&new.graph, new_node),
        None => (&old.graph, old_node),
    };
    let mut text = minimal(graph, node)?;
    for at in ["/error/code", "/code"] {
        if let Some(slot) = text.pointer_mut(at) {
            *slot = json!(code);
        }
    }
    if text.get("error").is_some() {
        text.as_object_mut()?
            .entry("id")
            .or_insert_with(|| json!(1));
    }
    let (of_old, of_new) = ((&old.graph, old_node), (&new.graph, new_node));
    let ((sent, node), (read, there)) = match sender {
        End::Old => (of_old, of_new),
        End::New => (of_new, of_old),
    };
    let shows = valid(sent, node, &text) && refused(read, there, &text);
    shows.then(|| Witness {
        valid_in: sender,
        part: Part::Error,
        json: text,
        old: vec![old_at],
        new: vec![new_at],
    })
}

fn headers(before: &Facts, after: &Facts, rows: &mut Vec<Row>) {
    let used = |facts: &Facts| -> BTreeMap<String, Header> {
        let used = facts.headers.iter().filter(|header| header.used);
        used.map(|header| (header.name.to_lowercase(), header.clone()))
            .collect()
    };
    let said = |header: &Header| (header.meaning.clone(), header.required, header.must);
    let (before, after) = (used(before), used(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (o, n) = (before.get(name), after.get(name));
        let (kind, mut verdicts) = match (o, n) {
            (None, Some(_)) => (
                Kind::HeaderAdded,
                both_ways(Verdict::CHANGED, Verdict::DROPPED),
            ),
            (Some(_), None) => (
                Kind::HeaderRemoved,
                both_ways(Verdict::DROPPED, Verdict::CHANGED),
            ),
            (Some(o), Some(n)) if said(o) != said(n) => (
                Kind::HeaderChanged,
                both_ways(Verdict::CHANGED, Verdict::CHANGED),
            ),
            _ => continue,
        };
        // Who does not send what the other side insists on is turned away before anything is read.
        let required = |header: Option<&Header>| header.is_some_and(|header| header.required);
        match (required(o), required(n)) {
            (false, true) => verdicts.old_to_new = Verdict::REFUSED_OVER_HTTP,
            (true, false) => verdicts.new_to_old = Verdict::REFUSED_OVER_HTTP,
            _ => {}
        }
        let Some(header) = n.or(o) else {
            continue;
        };
        let view = |header: &Header| View {
            required: (header.required || header.must).then_some(true),
            ..View::words(&header.meaning)
        };
        let mut row = Row::new(kind, verdicts);
        row.before = o.map(view);
        row.after = n.map(view);
        row.subject = Some(header.name.clone());
        row.page = Some(header.page.clone());
        rows.push(anywhere(row, Part::Header, &Trail::named(&header.name)));
    }
}

/// Ranges of codes that are given out or kept free: rules about codes.
fn ranges(before: &Facts, after: &Facts, rows: &mut Vec<Row>) {
    let by_name = |facts: &Facts| -> BTreeMap<String, CodeRange> {
        let all = facts.ranges.iter();
        all.map(|range| (range.name.clone(), range.clone()))
            .collect()
    };
    let (before, after) = (by_name(before), by_name(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (o, n) = (before.get(name), after.get(name));
        let said = |range: &CodeRange| (range.from, range.to, range.meaning.clone());
        let (kind, verdicts) = match (o, n) {
            (None, Some(_)) => (Kind::RuleAdded, both_ways(Verdict::CHANGED, Verdict::FINE)),
            (Some(_), None) => (
                Kind::RuleRemoved,
                both_ways(Verdict::FINE, Verdict::CHANGED),
            ),
            (Some(o), Some(n)) if said(o) != said(n) => (
                Kind::RuleChanged,
                both_ways(Verdict::CHANGED, Verdict::CHANGED),
            ),
            _ => continue,
        };
        let Some(range) = n.or(o) else { continue };
        let view = |range: &CodeRange| {
            View::words(format!("{} to {}: {}", range.from, range.to, range.meaning))
        };
        let mut row = Row::new(kind, verdicts);
        row.before = o.map(view);
        row.after = n.map(view);
        row.subject = Some(name.clone());
        row.page = Some(range.page.clone());
        rows.push(anywhere(row, Part::Error, &code_of(name)));
    }
}

fn rules(before: &Facts, after: &Facts, rows: &mut Vec<Row>) {
    let by_id = |facts: &Facts| -> BTreeMap<String, ProtocolRule> {
        facts
            .rules
            .iter()
            .map(|rule| (rule.id.clone(), rule.clone()))
            .collect()
    };
    let (before, after) = (by_id(before), by_id(after));
    let ids: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for id in ids {
        let (o, n) = (before.get(id), after.get(id));
        let deprecation = |rule: &ProtocolRule| rule.kind == RuleKind::Deprecation;
        let fine = both_ways(Verdict::FINE, Verdict::FINE);
        let (kind, verdicts) = match (o, n) {
            (None, Some(rule)) if deprecation(rule) => (Kind::Deprecated, fine),
            (Some(rule), None) if deprecation(rule) => (Kind::Undeprecated, fine),
            (None, Some(_)) => (Kind::RuleAdded, both_ways(Verdict::CHANGED, Verdict::FINE)),
            (Some(_), None) => (
                Kind::RuleRemoved,
                both_ways(Verdict::FINE, Verdict::CHANGED),
            ),
            (Some(o), Some(n)) if o.meaning != n.meaning => match deprecation(n) {
                true => (Kind::RuleChanged, fine),
                false => (
                    Kind::RuleChanged,
                    both_ways(Verdict::CHANGED, Verdict::CHANGED),
                ),
            },
            _ => continue,
        };
        let Some(rule) = n.or(o) else { continue };
        let mut row = Row::new(kind, verdicts);
        row.before = o.map(|rule| View::words(&rule.meaning));
        row.after = n.map(|rule| View::words(&rule.meaning));
        row.subject = Some(id.clone());
        row.about = Some(rule.about.clone());
        row.page = Some(rule.page.clone());
        rows.push(anywhere(row, Part::Rule, &Trail::named(id)));
    }
}

/// The page of a row, with the revision filled in.
fn page(page: Option<&str>, side: &Side) -> Option<String> {
    let page = page.filter(|page| !page.is_empty())?;
    let revision = side.revision.as_deref().unwrap_or("draft");
    Some(page.replace("{revision}", revision))
}

/// Where an error says its code.
fn code_of(error: &str) -> Trail {
    let mut trail = Trail::error(error);
    trail.push(&Step::Member("code".to_owned()));
    trail
}

/// What concerns every message has a path for each direction.
fn anywhere(mut row: Row, part: Part, trail: &Trail) -> Row {
    let directions = match part {
        Part::Header => vec![Direction::ClientToServer],
        _ => vec![Direction::ClientToServer, Direction::ServerToClient],
    };
    row.paths = (directions.into_iter())
        .map(|direction| WirePath::new(direction, "*", part, trail.clone()))
        .collect();
    row
}
