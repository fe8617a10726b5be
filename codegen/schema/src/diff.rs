//! What changed between two states of the protocol, by wire path.
//!
//! [`compare`] takes two [`Side`]s and gives back rows: what happened, where on the wire, who breaks,
//! and a text that shows it. [`Settings`] then applies what `spec/diff.toml` decides, and [`marked`]
//! tells which rows are there because of an erratum. Rendering is `crate::render`'s business.

mod baseline;
mod builder;
mod classes;
mod compare;
mod errata;
mod extension;
mod facts;
mod filter;
mod graph;
mod history;
mod judge;
mod kind;
mod lines;
mod messages;
mod methods;
mod moved;
mod path;
mod patterns;
mod renamed;
mod roots;
mod row;
mod sample;
mod settings;
mod show;
mod side;
mod simplify;
mod site;
mod summary;
mod variants;
mod verdict;
mod walk;
mod witness;

use std::collections::BTreeMap;

use serde::Serialize;

pub(crate) use compare::Comparer;
use lines::Lines;

use roots::roots;
pub use site::Place;
use site::SiteId;
pub(crate) use site::{Detail, Finding, place};
use walk::{Base, Reached, Root};
use witness::Forge;

pub use baseline::Baseline;
pub use errata::marked;
pub use extension::Extracted;
use extension::{Feature, extracted};
pub use filter::Filter;
pub(crate) use graph::{Graph, NodeId as Node, Rest, Shape};
pub use history::{History, MethodLine, history};
pub(crate) use judge::refused_by;
pub use kind::{Explanation, Kind};
pub(crate) use messages::channel;
pub use path::{Part, WirePath, WirePlace, direction_id};
pub(crate) use path::{Segment, Trail};
pub use patterns::texts as pattern_texts;
pub(crate) use row::refuses_more;
pub use row::{Met, Prose, Row};
pub use settings::{Ignored, Settings};
pub use show::View;
pub(crate) use show::line;
pub use side::{Side, Sources};
pub use summary::{Count, Summary};
pub(crate) use variants::{Profile, pair};
pub use verdict::{CrateChange, End, Level, Meaning, Transport, Verdict, Verdicts};
pub use witness::Witness;

use crate::Error;
use crate::schema::applied;

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
    /// What the prose changes and no row shows, step by step; empty if only some rows are asked for.
    pub prose: Vec<Prose>,
    /// What left the core for an extension.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extracted>,
    /// The area of each method of either side.
    #[serde(skip)]
    pub areas: BTreeMap<String, String>,
    /// Of the sides that are files: where their parts stand.
    #[serde(skip)]
    pub(crate) lines: [Option<Lines>; 2],
}

impl Diff {
    /// Returns the counts, and what they come to.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }

    /// Returns file and line of a row: in the new file, else in the old one; `None` if neither is a file.
    #[must_use]
    pub fn location(&self, row: &Row) -> Option<(&str, usize)> {
        let views = [&row.after, &row.before].into_iter().flatten();
        let pointer = views
            .map(|view| view.pointer.as_str())
            .find(|pointer| !pointer.is_empty())?;
        let [old, new] = &self.lines;
        let lines = new.as_ref().or(old.as_ref())?;
        Some((&lines.file, lines.of_pointer(pointer)))
    }

    /// Sets aside the rows that fit, each with the reason that is given for it; returns whether there was one.
    fn set_aside(&mut self, reason: impl Fn(&Row) -> Option<String>) -> bool {
        let before = self.ignored.len();
        for row in std::mem::take(&mut self.rows) {
            match reason(&row) {
                Some(reason) => self.ignored.push(Ignored { row, reason }),
                None => self.rows.push(row),
            }
        }
        self.ignored.len() > before
    }

    /// Fills in the rules that each row meets.
    pub fn cover(&mut self, rules_of: impl Fn(&Row) -> Vec<Met>) {
        for row in &mut self.rows {
            row.rules = rules_of(row);
        }
    }
}

/// Compares two names in all steps: open, compare, mark what errata do, apply `spec/diff.toml`.
///
/// # Errors
/// An input that cannot be read, and an ignore that matches nothing.
pub fn between(sources: &Sources<'_>, old: &str, new: &str, raw: bool) -> Result<Diff, Error> {
    let settings = Settings::read(sources.spec)?;
    let open = |raw| Ok::<_, Error>((sources.open(old, raw)?, sources.open(new, raw)?));
    let sides = open(raw)?;
    let mended = !(sides.0.errata.is_empty() && sides.1.errata.is_empty());
    let without_errata = (mended && !raw).then(|| open(true)).transpose()?;
    let without_errata = without_errata.as_ref().map(|(old, new)| [old, new]);
    settled([&sides.0, &sides.1], without_errata, raw, &settings)
}

/// Compares two sides, marks what errata do by the same sides `without_errata`, and applies `spec/diff.toml`.
fn settled(
    [old, new]: [&Side; 2],
    without_errata: Option<[&Side; 2]>,
    raw: bool,
    settings: &Settings,
) -> Result<Diff, Error> {
    let mut diff = compare(old, new);
    diff.raw = raw;
    if let Some([raw_old, raw_new]) = without_errata {
        marked(&mut diff, &compare(raw_old, raw_new), old, new);
    }
    settings.apply(&mut diff)?;
    Ok(diff)
}

/// Compares two sides.
#[must_use]
pub fn compare(old: &Side, new: &Side) -> Diff {
    let mut comparer = Comparer::new(&old.graph, &new.graph);
    let mut pairs = methods::pair(&old.messages, &new.messages);
    Feature::retain(&mut pairs, old, new);
    let roots = roots(old, new, &pairs, &mut comparer);
    let mut told = Told::default();
    let mut cut = told.tell(&comparer, &roots, old, new);
    told.rows.extend(methods::rows(old, new, &pairs));
    told.rows.extend(facts::rows(old, new));
    let moves = moved::find(&told.rows, old, new, &pairs, &comparer);
    // What changed inside a value on its way is told as well.
    let roots = moved::roots(&moves, &mut comparer);
    cut |= told.tell(&comparer, &roots, old, new);
    let mut rows = told.rows;
    moved::merge(&mut rows, &moves, old, new, &comparer);
    rows.extend(renamed::rows(old, new, &pairs, &comparer));
    order(&mut rows, old, new);
    let mut notes: Vec<String> = old.notes.iter().chain(&new.notes).cloned().collect();
    notes.dedup();
    if cut {
        notes.push(
            "there are more wire paths than are followed: rows name only some of theirs".to_owned(),
        );
    }
    let gone = rows.iter().filter(|row| row.kind == Kind::MethodRemoved);
    let gone = gone.flat_map(|row| row.paths.iter().map(|path| &path.method));
    let extensions = extracted(&new.cores, &gone.collect());
    Diff {
        old: old.label.clone(),
        new: new.label.clone(),
        raw: false,
        rows,
        ignored: Vec::new(),
        hidden: 0,
        notes,
        prose: Vec::new(),
        extensions,
        lines: [old.lines.clone(), new.lines.clone()],
        areas: old
            .areas
            .iter()
            .chain(&new.areas)
            .map(|(method, area)| (method.clone(), area.clone()))
            .collect(),
    }
}

/// Sorts the rows and signs them. Rows that would have the same fingerprint are distinguished by the whole of their
/// shapes, and by a number only where these are the same, too.
fn order(rows: &mut [Row], old: &Side, new: &Side) {
    let key = |row: &Row| {
        let names: Vec<&Place> = row.places.iter().collect();
        (
            row.paths.clone(),
            row.kind,
            row.subject.clone(),
            format!("{names:?}"),
        )
    };
    rows.sort_by_cached_key(key);
    let whole = |row: &Row| {
        let of = |side: &Side, view: &Option<View>| {
            let node = view.as_ref().and_then(|view| view.node);
            node.map_or_else(String::new, |node| show::spelled(&side.graph, node))
        };
        format!("{}\n{}", of(old, &row.before), of(new, &row.after))
    };
    for row in rows.iter_mut() {
        let facet = match row.subject.as_deref() {
            // Lists are told apart by nothing but their items.
            Some("array") => format!("{}\n{}", facet(row), whole(row)),
            _ => facet(row),
        };
        row.sign(&facet);
    }
    sign_apart(rows, |row, _| match row.subject.as_deref() {
        Some("array") => format!("{}\n{}\n{}", facet(row), whole(row), whole(row)),
        _ => format!("{}\n{}", facet(row), whole(row)),
    });
    sign_apart(rows, |row, count| format!("{}\n{count}", row.fingerprint));
}

/// Signs again the rows that have one fingerprint, each by what it says of the row and how many came before.
fn sign_apart(rows: &mut [Row], says: impl Fn(&Row, usize) -> String) {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for row in rows.iter() {
        counts.entry(row.fingerprint.clone()).or_default()[0] += 1;
    }
    for row in rows {
        if let Some([all, seen]) = counts.get_mut(&row.fingerprint)
            && *all > 1
        {
            *seen += 1;
            let facet = says(row, *seen);
            row.sign(&facet);
        }
    }
}

/// What tells a row from others of its kind at the same path, without the names of definitions.
fn facet(row: &Row) -> String {
    let brief = |view: &Option<View>| {
        view.as_ref()
            .map(|view| view.brief.clone())
            .unwrap_or_default()
    };
    let subject = row.subject.clone().unwrap_or_default();
    match row.kind {
        Kind::TypeChanged
        | Kind::TypeNarrowed
        | Kind::TypeWidened
        | Kind::ConstChanged
        | Kind::ConstraintChanged => {
            format!("{subject}\n{}\n{}", brief(&row.before), brief(&row.after))
        }
        Kind::DefinitionRenamed => {
            let names: Vec<String> = row
                .places
                .iter()
                .map(|place| format!("{} {}", place.old, place.new))
                .collect();
            names.join("\n")
        }
        _ => subject,
    }
}

/// The findings of a comparison as rows, each finding once, however many ways lead to it.
#[derive(Default)]
struct Told {
    rows: Vec<Row>,
    /// Which row tells a finding, by its site and its number there.
    known: BTreeMap<(SiteId, usize), usize>,
}

impl Told {
    /// Tells what these roots lead to; true if there was more than could be followed.
    fn tell(&mut self, comparer: &Comparer<'_>, roots: &[Root], old: &Side, new: &Side) -> bool {
        let (reached, cut) = walk::walk(&comparer.sites, roots);
        let forge = Forge {
            old: &old.graph,
            new: &new.graph,
        };
        for (id, (site, reached)) in comparer.sites.iter().zip(&reached).enumerate() {
            for (number, finding) in site.findings.iter().enumerate() {
                let found = Found::of(roots, reached, finding);
                if found.paths.is_empty() || is_code_of_an_error(&found.paths, finding) {
                    continue;
                }
                if let Some(index) = self.known.get(&(id, number)) {
                    found.join(&mut self.rows[*index]);
                    continue;
                }
                let witnesses = [End::Old, End::New]
                    .into_iter()
                    .filter_map(|sender| forge.witness(roots, &reached.routes, finding, sender))
                    .collect();
                let mut row = Row::new(finding.kind);
                if let Detail::Limit(name, before, after) = &finding.detail {
                    row.judged(row::of_limit(name, before.as_ref(), after.as_ref()));
                }
                let mut row = row.with_witnesses(witnesses);
                found.join(&mut row);
                row.places = site
                    .places
                    .iter()
                    .map(|places| place_of(places, finding))
                    .collect();
                describe(&mut row, finding, old, new);
                self.known.insert((id, number), self.rows.len());
                self.rows.push(row);
            }
        }
        cut
    }
}

/// The wire paths of a finding: all of them, and for what lies inside a value that moved those of each end.
struct Found {
    paths: Vec<WirePath>,
    from: Vec<WirePath>,
    to: Vec<WirePath>,
}

impl Found {
    fn of(roots: &[Root], reached: &Reached, finding: &Finding) -> Self {
        let stands = [finding.old.is_some(), finding.new.is_some()];
        let mut found = Self {
            paths: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
        };
        for base in &reached.paths {
            let root = &roots[base.root];
            let path = wire_path(root, base, finding);
            if is_inside_an_envelope(&path) {
                continue;
            }
            // What is gone was in the old place alone, and what came is in the new one.
            match (root.moved, stands) {
                (Some(End::Old), [false, _]) | (Some(End::New), [_, false]) => continue,
                (Some(End::Old), [true, true]) => found.from.push(path.clone()),
                (Some(End::New), [true, true]) => found.to.push(path.clone()),
                _ => {}
            }
            found.paths.push(path);
        }
        for paths in [&mut found.paths, &mut found.from, &mut found.to] {
            paths.sort();
            paths.dedup();
        }
        found
    }

    /// Adds the paths to those of a row.
    fn join(self, row: &mut Row) {
        let new = row.paths.is_empty();
        row.paths.extend(self.paths);
        row.paths.sort();
        row.paths.dedup();
        // A change that is met at a place that stayed has no ends.
        if new {
            (row.from, row.to) = (self.from, self.to);
        }
    }
}

fn wire_path(root: &Root, base: &Base, finding: &Finding) -> WirePath {
    let mut trail = base.trail.clone();
    finding
        .segments
        .iter()
        .for_each(|segment| trail.push(segment));
    let WirePath {
        direction,
        method,
        part,
        ..
    } = &root.path;
    WirePath::new(*direction, method, *part, trail)
}

/// Params and results are compared method by method; what the envelope says of them in general is no wire fact.
fn is_inside_an_envelope(path: &WirePath) -> bool {
    let is_part = |segment: &Segment| matches!(segment, Segment::Member(name) if matches!(name.as_str(), "params" | "result"));
    path.method == "*"
        && path.part == Part::Message
        && (path.trail.segments().split_last())
            .is_some_and(|(_, around)| around.iter().any(is_part))
}

/// Returns whether the finding is the code of an error, which `error-code-renumbered` reports.
fn is_code_of_an_error(paths: &[WirePath], finding: &Finding) -> bool {
    finding.kind == Kind::ConstChanged
        && paths
            .iter()
            .all(|path| path.part == Part::Error && path.trail.ends_in("code"))
}

fn place_of(places: &Place, finding: &Finding) -> Place {
    let at = |owner: &str| match owner {
        "" => String::new(),
        owner => place(owner, &finding.segments),
    };
    Place {
        old: at(&places.old),
        new: at(&places.new),
    }
}

/// What stood there, what stands there, and what the row is about.
fn describe(row: &mut Row, finding: &Finding, old: &Side, new: &Side) {
    let [was_required, is_required] = finding.required;
    row.before = finding.old.map(|id| View::of(old, id, was_required));
    row.after = finding.new.map(|id| View::of(new, id, is_required));
    row.subject = match (&finding.detail, finding.segments.last()) {
        (Detail::Value(value), _) => Some(value.to_string()),
        (Detail::Limit(name, before, after), _) => {
            let words = |value: &Option<serde_json::Value>| match value {
                Some(value) if applied::is_understood(name) => {
                    View::words(format!("{name}: {value}"))
                }
                Some(value) => View::words(format!(
                    "{name}: {value} (a keyword that is not understood)"
                )),
                None => View::words(format!("no {name}")),
            };
            row.before = Some(words(before));
            row.after = Some(words(after));
            Some(name.clone())
        }
        (Detail::None, Some(Segment::Member(name))) => Some(name.clone()),
        (Detail::None, Some(Segment::Choice(choice))) => Some(choice.text.clone()),
        (Detail::None, _) => None,
    };
}
