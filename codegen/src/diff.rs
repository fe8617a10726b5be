//! What changed between two states of the protocol, by wire path.
//!
//! [`compare`] takes two [`Side`]s and gives back rows: what happened, where on the wire, who breaks,
//! and a text that shows it. [`Settings`] then applies what `spec/diff.toml` decides, and [`marked`]
//! tells which rows are there because of an erratum. Rendering is `crate::render`'s business.

mod classes;
mod compare;
mod explain;
mod facts;
mod filter;
mod graph;
mod history;
mod kind;
mod messages;
mod methods;
mod moved;
mod path;
mod renamed;
mod row;
mod sample;
mod settings;
mod show;
mod side;
mod summary;
mod variants;
mod verdict;
mod walk;
mod witness;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use compare::{Comparer, Detail, Finding, Places};
use path::{Step, opposite};
use walk::{Base, Reached, Root};
use witness::{Forge, Whole};

pub use explain::{Explanation, explain};
pub use filter::Filter;
pub use history::{Channel, History, MethodLine, history};
pub use kind::Kind;
pub use path::{Part, WirePath, direction_id, without_choices};
pub use row::{CrateChange, Place, Row};
pub use settings::{Ignored, Settings};
pub use show::View;
pub use side::{Side, Sources};
pub use summary::{Count, Summary};
pub use verdict::{Level, Meaning, Verdict, Verdicts};
pub use witness::{End, Witness};

use crate::Error;
use crate::model::{Direction, MethodKind};

/// What changed between two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// The name of the old side.
    pub old: String,
    /// The name of the new side.
    pub new: String,
    /// Whether errata were left out.
    pub raw: bool,
    /// The changes, in the order of their wire paths.
    pub rows: Vec<Row>,
    /// Rows that `spec/diff.toml` sets aside.
    pub ignored: Vec<Ignored>,
    /// How many rows a filter has left out.
    pub hidden: usize,
    /// What the reader should know about the inputs.
    pub notes: Vec<String>,
}

impl Diff {
    /// The counts, and what they come to.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }
}

/// The whole way for two names: open, compare, mark what errata do, apply `spec/diff.toml`.
///
/// # Errors
/// An input that cannot be read, and an ignore that matches nothing.
pub fn between(sources: &Sources<'_>, old: &str, new: &str, raw: bool) -> Result<Diff, Error> {
    let settings = Settings::read(sources.spec)?;
    let sides = (sources.open(old, raw)?, sources.open(new, raw)?);
    let mut diff = compare(&sides.0, &sides.1);
    diff.raw = raw;
    if !raw && !(sides.0.errata.is_empty() && sides.1.errata.is_empty()) {
        let raw = compare(&sources.open(old, true)?, &sources.open(new, true)?);
        marked(&mut diff, &raw, &sides.0, &sides.1);
    }
    settings.apply(&mut diff)?;
    Ok(diff)
}

/// Names the errata behind each row that the comparison without errata does not have.
pub fn marked(diff: &mut Diff, raw: &Diff, old: &Side, new: &Side) {
    let without: BTreeSet<_> = raw.rows.iter().map(essence).collect();
    for row in &mut diff.rows {
        if without.contains(&essence(row)) {
            continue;
        }
        let touching = ids_of_errata(old, new, |of_old, at| touches(row, of_old, at));
        // An erratum may act through a definition that the row does not name.
        row.errata = match touching.is_empty() {
            true => ids_of_errata(old, new, |_, _| true),
            false => touching,
        };
    }
}

fn ids_of_errata(old: &Side, new: &Side, fits: impl Fn(bool, &[String]) -> bool) -> Vec<String> {
    let mut ids = BTreeSet::new();
    for (side, of_old) in [(old, true), (new, false)] {
        for erratum in side.errata.iter().filter(|erratum| fits(of_old, &erratum.at)) {
            ids.insert(format!("{}: {}", side.label, erratum.id));
        }
    }
    ids.into_iter().collect()
}

/// What a row says, whatever tells the choices of unions apart: an erratum may change that alone.
fn essence(row: &Row) -> (Kind, String, String, String) {
    let path = row.paths.first().map_or_else(String::new, |path| without_choices(&path.to_string()));
    let text = |view: &Option<View>| view.as_ref().map(|view| view.text.clone()).unwrap_or_default();
    (row.kind, path, text(&row.before), text(&row.after))
}

/// Whether a row speaks of a definition that one of these pointers goes into.
fn touches(row: &Row, of_old: bool, pointers: &[String]) -> bool {
    let view = if of_old { &row.before } else { &row.after };
    let places = row.places.iter().map(|place| if of_old { &place.old } else { &place.new });
    let names = places.chain(view.iter().map(|view| &view.text));
    let mut definitions =
        names.filter_map(|name| name.split(['.', '[', '{']).next()).filter(|name| !name.is_empty());
    definitions.any(|name| pointers.iter().any(|at| at.split('/').nth(2) == Some(name)))
}

/// Compares two sides.
#[must_use]
pub fn compare(old: &Side, new: &Side) -> Diff {
    let mut comparer = Comparer::new(&old.graph, &new.graph);
    let pairs = methods::pair(&old.messages, &new.messages);
    let (roots, wholes) = roots(old, new, &pairs, &mut comparer);
    let (reached, cut) = walk::walk(&comparer.sites, &roots);
    let forge = Forge {
        old: &old.graph,
        new: &new.graph,
    };
    let mut rows = Vec::new();
    for (site, reached) in comparer.sites.iter().zip(&reached) {
        for finding in &site.findings {
            let paths = wire_paths(&roots, reached, finding);
            if paths.is_empty() || is_code_of_an_error(&paths, finding) {
                continue;
            }
            let routes: Vec<(usize, Vec<Step>)> = (reached.routes.iter())
                .map(|(root, steps)| (roots[*root].index, steps.clone()))
                .collect();
            let witnesses = [End::Old, End::New]
                .into_iter()
                .filter_map(|sender| forge.witness(&wholes, &routes, finding, sender))
                .collect();
            let mut row = Row::new(finding.kind, row::expected(finding)).with_witnesses(witnesses);
            row.paths = paths;
            row.places = site.places.iter().map(|places| place_of(places, finding)).collect();
            describe(&mut row, finding, old, new);
            rows.push(row);
        }
    }
    rows.extend(methods::rows(old, new, &pairs));
    rows.extend(facts::rows(old, new));
    moved::merge(&mut rows, old, new, &pairs, &comparer);
    rows.extend(renamed::rows(old, new, &comparer));
    order(&mut rows);
    let mut notes: Vec<String> = old.notes.iter().chain(&new.notes).cloned().collect();
    notes.dedup();
    if cut {
        notes.push("there are more wire paths than are followed: rows name only some of theirs".to_owned());
    }
    Diff {
        old: old.label.clone(),
        new: new.label.clone(),
        raw: false,
        rows,
        ignored: Vec::new(),
        hidden: 0,
        notes,
    }
}

/// Sorts the rows, and gives those a number that would have the same fingerprint.
fn order(rows: &mut [Row]) {
    let key = |row: &Row| {
        let names: Vec<&Place> = row.places.iter().collect();
        (row.paths.clone(), row.kind, row.subject.clone(), format!("{names:?}"))
    };
    rows.sort_by_cached_key(key);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let facet = facet(row);
        row.sign(&facet);
        let count = seen.entry(row.fingerprint.clone()).or_default();
        *count += 1;
        if *count > 1 {
            row.sign(&format!("{facet}\n{count}"));
        }
    }
}

/// What tells a row from others of its kind at the same path, without the names of definitions.
fn facet(row: &Row) -> String {
    let brief = |view: &Option<View>| view.as_ref().map(|view| view.brief.clone()).unwrap_or_default();
    let subject = row.subject.clone().unwrap_or_default();
    match row.kind {
        Kind::TypeChanged | Kind::TypeNarrowed | Kind::TypeWidened | Kind::ConstChanged | Kind::ConstraintChanged => {
            format!("{subject}\n{}\n{}", brief(&row.before), brief(&row.after))
        }
        Kind::DefinitionRenamed => {
            let names: Vec<String> = row.places.iter().map(|place| format!("{} {}", place.old, place.new)).collect();
            names.join("\n")
        }
        _ => subject,
    }
}

/// Where wire paths begin: params and results of the messages that both sides have, the envelope, errors.
fn roots(
    old: &Side,
    new: &Side,
    pairs: &methods::Pairs,
    comparer: &mut Comparer<'_>,
) -> (Vec<Root>, Vec<Whole>) {
    let mut roots = Vec::new();
    let mut wholes: Vec<Whole> = Vec::new();
    let mut add = |path: WirePath, site, hides_first, whole: Whole| {
        roots.push(Root {
            path,
            site,
            index: wholes.len(),
            hides_first,
        });
        wholes.push(whole);
    };
    let path = |direction, method: &str, part, path: &str| WirePath {
        direction,
        method: method.to_owned(),
        part,
        path: path.to_owned(),
    };
    for (o, n) in &pairs.both {
        let (o, n) = (&old.messages[*o], &new.messages[*n]);
        let places = Places {
            old: name_of(old, o.node),
            new: name_of(new, n.node),
        };
        let site = comparer.root(places, "params", [o.params, n.params]);
        let whole = whole(Part::Message, old, new, o.node, n.node);
        add(path(o.direction, &o.name, Part::Params, "$"), site, true, whole);
        if let (Some(o_result), Some(n_result)) = (o.result, n.result) {
            let places = Places {
                old: name_of(old, o_result),
                new: name_of(new, n_result),
            };
            let site = comparer.whole(places, o_result, n_result);
            let whole = self::whole(Part::Result, old, new, o_result, n_result);
            let direction = opposite(o.direction);
            add(path(direction, &o.name, Part::Result, "$"), site, false, whole);
        }
    }
    let definition = |name: &str| {
        Some((*old.graph.definitions.get(name)?, *new.graph.definitions.get(name)?))
    };
    if let Some((o, n)) = definition("JSONRPCMessage") {
        let name = || "JSONRPCMessage".to_owned();
        let places = Places { old: name(), new: name() };
        let site = comparer.whole(places, o, n);
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            let whole = whole(Part::Message, old, new, o, n);
            add(path(direction, "*", Part::Message, "$"), site, false, whole);
        }
    }
    for error in facts::carried(old) {
        let Some(twin) = facts::carried(new).into_iter().find(|other| other.name == error.name) else {
            continue;
        };
        let places = Places {
            old: error.definition.clone(),
            new: twin.definition.clone(),
        };
        let site = match (error.error, twin.error) {
            (Some(o), Some(n)) => comparer.root(places, "error", [Some(o), Some(n)]),
            _ => comparer.whole(places, error.node, twin.node),
        };
        let hides_first = error.error.is_some() && twin.error.is_some();
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            let at = path(direction, "*", Part::Error, &format!("${{{}}}", error.name));
            add(at, site, hides_first, whole(Part::Error, old, new, error.node, twin.node));
        }
    }
    (roots, wholes)
}

fn whole(part: Part, old: &Side, new: &Side, o: usize, n: usize) -> Whole {
    Whole {
        part,
        old: o,
        new: n,
        old_at: pointers(old, o),
        new_at: pointers(new, n),
    }
}

/// Where a schema says what a node is; several places for a union that was made by hand.
pub(crate) fn pointers(side: &Side, id: usize) -> Vec<String> {
    let pointer = &side.graph.node(id).pointer;
    match pointer.is_empty() {
        false => vec![pointer.clone()],
        true => variants::choices(&side.graph, id)
            .into_iter()
            .map(|choice| side.graph.node(choice).pointer.clone())
            .collect(),
    }
}

pub(crate) fn name_of(side: &Side, id: usize) -> String {
    side.graph.name(id).unwrap_or_default().to_owned()
}

/// All wire paths of a finding, sorted.
fn wire_paths(roots: &[Root], reached: &Reached, finding: &Finding) -> Vec<WirePath> {
    let mut paths: Vec<WirePath> = (reached.paths.iter())
        .map(|Base { root, path, hides_next }| {
            let mut text = path.clone();
            for step in finding.steps.iter().skip(usize::from(*hides_next)) {
                step.push_to(&mut text);
            }
            let root = &roots[*root].path;
            WirePath {
                path: text,
                method: root.method.clone(),
                ..*root
            }
        })
        .collect();
    paths.retain(|path| !is_inside_an_envelope(path));
    paths.sort();
    paths.dedup();
    paths
}

/// Params and results are compared method by method; what the envelope says of them in general is no wire fact.
fn is_inside_an_envelope(path: &WirePath) -> bool {
    path.method == "*"
        && path.part == Part::Message
        && [".params.", ".params[", ".params{", ".result.", ".result[", ".result{"]
            .iter()
            .any(|inside| path.path.contains(inside))
}

/// The code of an error is told as `error-code-renumbered`.
fn is_code_of_an_error(paths: &[WirePath], finding: &Finding) -> bool {
    finding.kind == Kind::ConstChanged
        && paths.iter().all(|path| path.part == Part::Error && path.path.ends_with(".code"))
}

fn place_of(places: &Places, finding: &Finding) -> Place {
    let at = |owner: &str| match owner {
        "" => String::new(),
        owner => compare::place(owner, &finding.steps),
    };
    Place {
        old: at(&places.old),
        new: at(&places.new),
    }
}

/// What stood there, what stands there, and what the row is about.
fn describe(row: &mut Row, finding: &Finding, old: &Side, new: &Side) {
    let required = |first: bool| match finding.required {
        Some((old, _)) if first => Some(old),
        Some((_, new)) => Some(new),
        None => None,
    };
    row.before = finding.old.map(|id| View::of(old, id, required(true)));
    row.after = finding.new.map(|id| View::of(new, id, required(false)));
    row.subject = match (&finding.detail, finding.steps.last()) {
        (Detail::Value(value), _) => Some(value.to_string()),
        (Detail::Limit(name, before, after), _) => {
            let words = |value: &Option<serde_json::Value>| match value {
                Some(value) => View::words(format!("{name}: {value}")),
                None => View::words(format!("no {name}")),
            };
            row.before = Some(words(before));
            row.after = Some(words(after));
            Some(name.clone())
        }
        (Detail::None, Some(Step::Member(name))) => Some(name.clone()),
        (Detail::None, Some(Step::Choice(choice))) => Some(choice.text.clone()),
        (Detail::None, _) => None,
    };
}

/// How a kind of message is called.
pub(crate) fn channel(kind: MethodKind) -> &'static str {
    match kind {
        MethodKind::Request => "request",
        MethodKind::Notification => "notification",
        MethodKind::Input => "entry of inputRequests",
    }
}
