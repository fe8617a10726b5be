//! Facts of the protocol outside its schema: error codes, HTTP headers, binding rules, deprecations.

use mcp_revisions_schema::sorted::SortedMap;

use mcp_wire::envelope::ErrorObject;
use serde_json::json;

use super::extension::ExtractedFeature;
use super::graph::{GraphMember, NodeId};
use super::kind::ChangeKind;
use super::path::{ExchangePart, PathSegment, Trail, WirePath};
use super::row::{DiffRow, Witness};
use super::sample::minimal;
use super::show::{View, opened};
use super::side::ComparedSide;
use super::verdict::{ComparedEnd, DirectionVerdict, Verdicts};
use super::witness::tells;
use mcp_revisions_schema::model::Direction;
use mcp_revisions_schema::spec::errors::{
    CodeRange, ErrorCode, ErrorRules, Header, ProtocolRule, RuleKind,
};
use mcp_revisions_schema::spec::extensions::MetaEntry;

/// An error whose code the schema carries.
#[derive(Debug, Clone)]
pub(crate) struct Carried {
    /// The definition, without `Error` at its end.
    pub(crate) name: String,
    pub(crate) definition: String,
    pub(crate) code: i64,
    pub(crate) node: NodeId,
    /// `error`, where the definition is a whole response.
    pub(crate) error: Option<GraphMember>,
}

/// Returns the errors whose codes a schema carries.
pub(crate) fn carried(side: &ComparedSide) -> Vec<Carried> {
    let graph = &side.graph;
    let of = |(definition, node): &(String, NodeId)| {
        let error = graph.member(*node, "error");
        let code = graph.member(error.map_or(*node, |error| error.node), "code")?;
        let name = definition.strip_suffix("Error").unwrap_or(definition);
        Some(Carried {
            name: name.to_owned(),
            definition: definition.clone(),
            code: graph.constant(code.node)?.as_i64()?,
            node: *node,
            error,
        })
    };
    graph.definitions.iter().filter_map(of).collect()
}

/// Returns the rows about errors, headers and rules.
pub(crate) fn rows(old: &ComparedSide, new: &ComparedSide) -> Vec<DiffRow> {
    let mut rows = Vec::new();
    // Errors, headers and rules are of revisions; an extension has those of the one that it rests on.
    if ExtractedFeature::among(&[old, new]).is_some() {
        return rows;
    }
    let (old_errors, new_errors) = match (&old.facts, &new.facts) {
        (Some(before), Some(after)) => {
            headers(before, after, &mut rows);
            rules(before, after, &mut rows);
            ranges(before, after, &mut rows);
            stated(before, after)
        }
        // A file: what both schemas carry can be compared, and nothing else.
        _ => {
            let (mut before, mut after) = (from_schema(old), from_schema(new));
            // JSON-RPC has these whether a schema defines them or not.
            let is_of_json_rpc = |error: &ErrorCode| JSON_RPC.contains(&error.code);
            let both = |name: &String, other: &ErrorCodes| other.contains_key(name);
            let known = before.clone();
            before.retain(|name, error| !is_of_json_rpc(error) || both(name, &after));
            after.retain(|name, error| !is_of_json_rpc(error) || both(name, &known));
            (before, after)
        }
    };
    errors(old, new, &old_errors, &new_errors, &mut rows);
    for row in &mut rows {
        row.page = row.page.take().filter(|page| !page.is_empty());
    }
    rows
}

/// The codes that JSON-RPC itself gives out.
const JSON_RPC: [i64; 5] = [
    ErrorObject::PARSE_ERROR,
    ErrorObject::INVALID_REQUEST,
    ErrorObject::METHOD_NOT_FOUND,
    ErrorObject::INVALID_PARAMS,
    ErrorObject::INTERNAL_ERROR,
];

/// Error codes that may be sent, by name.
type ErrorCodes = SortedMap<String, ErrorCode>;

/// Returns the codes of both sides. An error that goes by the code of another one now stands under its own name with that code,
/// if the other side has it at all.
fn stated(before: &ErrorRules, after: &ErrorRules) -> (ErrorCodes, ErrorCodes) {
    let codes = |own: &ErrorRules, other: &ErrorRules| -> ErrorCodes {
        let is_sent = |name: &str| (other.errors.iter()).any(|one| one.send && one.name == name);
        let sent = own
            .errors
            .iter()
            .filter(|error| error.send)
            .map(|error| (error.code, error));
        let replaced = own
            .errors
            .iter()
            .filter(|error| is_sent(&error.name))
            .filter_map(|error| Some((error.replaced_by?, error)));
        let all = sent.chain(replaced).map(|(code, error)| ErrorCode {
            code,
            ..error.clone()
        });
        all.map(|error| (error.name.clone(), error)).collect()
    };
    (codes(before, after), codes(after, before))
}

fn from_schema(side: &ComparedSide) -> ErrorCodes {
    let row = |error: Carried| {
        let row = ErrorCode {
            code: error.code,
            name: error.name.clone(),
            definition: Some(error.definition),
            send: true,
            ..ErrorCode::default()
        };
        (error.name, row)
    };
    carried(side).into_iter().map(row).collect()
}

fn errors(
    old: &ComparedSide,
    new: &ComparedSide,
    before: &ErrorCodes,
    after: &ErrorCodes,
    rows: &mut Vec<DiffRow>,
) {
    let named = |codes: &ErrorCodes, code: i64| {
        let mut sent = codes.values().filter(|other| other.send);
        let lender = sent.find(|other| other.code == code);
        lender.map(|other| format!(", {}", other.name))
    };
    let view = |error: &ErrorCode| {
        let http = error
            .http
            .map(|status| format!(", HTTP {status}"))
            .unwrap_or_default();
        // A code that another error lends it goes with that one's name.
        let lender = error
            .replaced_by
            .and_then(|_| named(after, error.code).or_else(|| named(before, error.code)))
            .unwrap_or_default();
        let data = (error.definition.as_deref())
            .and_then(|name| data_of(new, name).or_else(|| data_of(old, name)))
            .map(|data| format!(", data {data}"))
            .unwrap_or_default();
        let mut view = View::words(format!("{}{lender}{http}{data}", error.code));
        if !error.meaning.is_empty() {
            view.outline.push_str(&format!("\n{}", error.meaning));
        }
        view
    };
    let sides = [before.values(), after.values()];
    for (name, pair) in by_name(sides, |error| error.name.clone()) {
        let renumbers = matches!(pair, [Some(o), Some(n)] if o.code != n.code);
        let other = if renumbers {
            ChangeKind::ErrorCodeRenumbered
        } else {
            ChangeKind::ErrorCodeChanged
        };
        let kinds = [
            ChangeKind::ErrorCodeAdded,
            ChangeKind::ErrorCodeRemoved,
            other,
        ];
        let told = |error: &ErrorCode| (error.code, error.meaning.clone(), error.http);
        let Some((mut row, error)) = changed(pair, kinds, told, view) else {
            continue;
        };
        if let ([Some(o), Some(n)], true) = (pair, renumbers) {
            let witnesses = [ComparedEnd::Old, ComparedEnd::New]
                .into_iter()
                .filter_map(|sender| renumbered(old, new, o, n, sender));
            row = row.with_witnesses(witnesses.collect());
        }
        row.codes = pair.into_iter().flatten().map(|error| error.code).collect();
        rows.push(anywhere(row, ExchangePart::Error, &name, &error.page));
    }
}

/// Returns the members of an error's `data`, in one line.
fn data_of(side: &ComparedSide, definition: &str) -> Option<String> {
    let graph = &side.graph;
    let node = graph.definitions.get(definition)?;
    let error = graph
        .member(*node, "error")
        .map_or(*node, |error| error.node);
    let data = graph.member(error, "data")?.node;
    (!graph.is_any(data)).then(|| opened(graph, data))
}

/// Returns the facts of both sides by their names.
fn by_name<'f, T: 'f>(
    sides: [impl IntoIterator<Item = &'f T>; 2],
    name: impl Fn(&T) -> String,
) -> SortedMap<String, [Option<&'f T>; 2]> {
    let mut all: SortedMap<String, [Option<&T>; 2]> = SortedMap::new();
    for (at, side) in sides.into_iter().enumerate() {
        for one in side {
            all.entry(name(one)).or_default()[at] = Some(one);
        }
    }
    all
}

/// Returns the row of what one side alone states, or both in other words: it came, it went, or it changed. With it goes what is
/// stated now, or was until it went.
fn changed<T, W: PartialEq>(
    [o, n]: [Option<&T>; 2],
    [came, went, other]: [ChangeKind; 3],
    told: impl Fn(&T) -> W,
    view: impl Fn(&T) -> View,
) -> Option<(DiffRow, &T)> {
    let kind = match (o, n) {
        (None, _) => came,
        (_, None) => went,
        (Some(o), Some(n)) if told(o) == told(n) => return None,
        _ => other,
    };
    let mut row = DiffRow::new(kind);
    row.before = o.map(&view);
    row.after = n.map(&view);
    Some((row, n.or(o)?))
}

/// Returns an error under its own code, which the other side knows under another one.
fn renumbered(
    old: &ComparedSide,
    new: &ComparedSide,
    before: &ErrorCode,
    after: &ErrorCode,
    sender: ComparedEnd,
) -> Option<Witness> {
    let place = |side: &ComparedSide, error: &ErrorCode| {
        let definitions = &side.graph.definitions;
        let generic = ["JSONRPCErrorResponse", "JSONRPCError"]
            .into_iter()
            .find(|name| definitions.contains_key(*name));
        let name = error.definition.as_deref().or(generic)?;
        Some((*definitions.get(name)?, format!("/$defs/{name}")))
    };
    let (old_node, old_at) = place(old, before)?;
    let (new_node, new_at) = place(new, after)?;
    let code = sender.of(before.code, after.code);
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
        text.as_object_mut()?.entry("id").or_insert(json!(1));
    }
    let graphs = [&old.graph, &new.graph];
    tells(graphs, [old_node, new_node], sender, &text).then(|| Witness {
        valid_in: sender,
        part: ExchangePart::Error,
        method: "*".to_owned(),
        json: text,
        old: vec![old_at],
        new: vec![new_at],
    })
}

fn headers(before: &ErrorRules, after: &ErrorRules, rows: &mut Vec<DiffRow>) {
    let sides = [before, after].map(|facts| facts.headers.iter().filter(|header| header.used));
    for (_, pair) in by_name(sides, |header| header.name.to_lowercase()) {
        let kinds = [
            ChangeKind::HeaderAdded,
            ChangeKind::HeaderRemoved,
            ChangeKind::HeaderChanged,
        ];
        let told = |header: &Header| (header.meaning.clone(), header.required, header.must);
        let view = |header: &Header| View {
            required: (header.required || header.must).then_some(true),
            ..View::words(&header.meaning)
        };
        if let Some((mut row, header)) = changed(pair, kinds, told, view) {
            // A peer that does not send a required fact is refused before anything is read.
            let mut verdicts = row.verdicts;
            match pair.map(|header| header.is_some_and(|header| header.required)) {
                [false, true] => verdicts.old_to_new = DirectionVerdict::REFUSED_OVER_HTTP,
                [true, false] => verdicts.new_to_old = DirectionVerdict::REFUSED_OVER_HTTP,
                _ => {}
            }
            row.judged(verdicts);
            rows.push(anywhere(
                row,
                ExchangePart::Header,
                &header.name,
                &header.page,
            ));
        }
    }
}

/// The kinds of rows for a rule that came, went or changed.
const RULES: [ChangeKind; 3] = [
    ChangeKind::RuleAdded,
    ChangeKind::RuleRemoved,
    ChangeKind::RuleChanged,
];

/// Ranges of codes that are given out or kept free: rules about codes.
fn ranges(before: &ErrorRules, after: &ErrorRules, rows: &mut Vec<DiffRow>) {
    for (name, pair) in by_name([&before.ranges, &after.ranges], |range| range.name.clone()) {
        let told = |range: &CodeRange| format!("{} to {}: {}", range.from, range.to, range.meaning);
        let row = changed(pair, RULES, told, |range| View::words(told(range)));
        rows.extend(row.map(|(row, range)| anywhere(row, ExchangePart::Error, &name, &range.page)));
    }
}

fn rules(before: &ErrorRules, after: &ErrorRules, rows: &mut Vec<DiffRow>) {
    for (id, pair) in by_name([&before.rules, &after.rules], |rule| rule.id.clone()) {
        let [o, n] = pair;
        let Some(rule) = n.or(o) else { continue };
        let kinds = match rule.kind {
            // A deprecated part is still there.
            RuleKind::Deprecation => [
                ChangeKind::Deprecated,
                ChangeKind::Undeprecated,
                ChangeKind::RuleChanged,
            ],
            RuleKind::Binding => RULES,
        };
        let told = |rule: &ProtocolRule| rule.meaning.clone();
        if let Some((mut row, _)) = changed(pair, kinds, told, |rule| View::words(&rule.meaning)) {
            if rule.kind == RuleKind::Deprecation {
                row.judged(Verdicts::of(DirectionVerdict::FINE, DirectionVerdict::FINE));
            }
            row.about = Some(rule.about.clone());
            rows.push(anywhere(row, ExchangePart::Rule, &id, &rule.page));
        }
    }
}

/// Sets the subject, the page and the paths of a row about a fact of all messages: a path for each direction.
fn anywhere(mut row: DiffRow, part: ExchangePart, name: &str, page: &str) -> DiffRow {
    let trail = match part {
        ExchangePart::Error => {
            let mut trail = Trail::error(name);
            trail.push(&PathSegment::Member("code".to_owned()));
            trail
        }
        _ => Trail::named(name),
    };
    let of_clients = part == ExchangePart::Header;
    row.paths = (Direction::ALL.into_iter())
        .filter(|direction| !of_clients || *direction == Direction::ClientToServer)
        .map(|direction| WirePath::new(direction, "*", part, trail.clone()))
        .collect();
    row.subject = Some(name.to_owned());
    row.page = Some(page.to_owned());
    row
}

/// Returns notes about the entries that `_meta` of the revision's types has on one side only: no message of the extension reaches
/// them.
pub(super) fn meta_notes(old: &ComparedSide, new: &ComparedSide) -> Vec<String> {
    let entries = |side: &ComparedSide| side.feature.as_ref().map(|feature| feature.meta.clone());
    let (Some(before), Some(after)) = (entries(old), entries(new)) else {
        return Vec::new();
    };
    let told = |own: &[MetaEntry], other: &[MetaEntry], label: &str| -> Vec<String> {
        own.iter()
            .filter(|entry| !other.contains(entry))
            .map(
                |MetaEntry {
                     definition,
                     name,
                     of,
                 }| {
                    let listed = of.join(", ");
                    format!(
                        "only in {label}, `_meta` of {listed} may hold `{name}`, a {definition}"
                    )
                },
            )
            .collect()
    };
    let lost = told(&before, &after, &old.label);
    [lost, told(&after, &before, &new.label)].concat()
}
