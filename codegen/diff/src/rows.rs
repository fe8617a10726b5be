//! Findings as rows: the wire paths of each, the texts that show it, and what stood and stands there. Then the order of
//! all rows, and their fingerprints: the same for as long as a change is.

use crate::words::joined;
use mcp_revisions_schema::sorted::SortedMap;

use serde_json::Value;

use super::bounds;
use super::compare::Comparer;
use super::graph::{Graph, GraphRest};
use super::kind::ChangeKind;
use super::path::{ExchangePart, PathSegment, WirePath};
use super::row::{self, DiffRow};
use super::show::{self, View};
use super::side::ComparedSide;
use super::site::{
    DiffLocation, DifferenceDetail, SchemaDifference, Site, SiteId, SpelledBound, place,
};
use super::verdict::{ChangeLevel, ComparedEnd, DirectionVerdict, Verdicts};
use super::walk::{self, Root, WireWays};
use super::witness::witness;
use mcp_revisions_schema::schema::applied;

/// Maximum number of findings at one place whose texts leave each other out.
const MOST_JOINT: usize = 64;

/// Maximum number of bytes of all texts and schemas in rows: a change of each of many parts of one message shows all of them
/// as often as they are many.
const MOST_SHOWN: usize = 8 << 20;

/// The findings of a comparison as rows, each finding once, however many ways lead to it.
#[derive(Default)]
pub(super) struct DiffRows {
    pub(super) list: Vec<DiffRow>,
    /// The row of a finding, by its site and its number there.
    known: SortedMap<(SiteId, usize), usize>,
    /// Number of bytes of the texts and schemas in them.
    shown: usize,
    /// Number of texts and schemas that are left out.
    left_out: usize,
}

impl DiffRows {
    /// Leaves out the texts and schemas of a row once the report has as many bytes of them as it may show.
    fn fit(&mut self, row: &mut DiffRow) {
        let mut takes = |value: &Value, more: usize| {
            if self.shown < MOST_SHOWN {
                self.shown += value.to_string().len() + more;
                return true;
            }
            self.left_out += 1;
            false
        };
        row.witnesses.retain(|witness| takes(&witness.json, 0));
        for view in [&mut row.before, &mut row.after].into_iter().flatten() {
            if !takes(&view.schema, view.outline.len()) {
                view.schema = Value::Null;
                view.outline = view.text.clone();
            }
        }
    }

    /// Returns the sentence about texts and schemas that are left out, if some are.
    pub(super) fn note(&self) -> Option<String> {
        let (count, most) = (self.left_out, MOST_SHOWN >> 20);
        let told = || {
            format!("{count} texts and schemas of rows are left out: the others have {most} MiB")
        };
        (count > 0).then(told)
    }

    /// Adds what these roots lead to; true if there was more than could be followed.
    pub(super) fn add(
        &mut self,
        comparer: &Comparer<'_>,
        roots: &[Root],
        sides: [&ComparedSide; 2],
    ) -> bool {
        let graphs = sides.map(|side| &side.graph);
        let (reached, cut) = walk::walk(&comparer.sites, roots);
        let demands = demands(&comparer.sites, &reached, roots.len());
        for (id, (site, ways)) in comparer.sites.iter().zip(&reached).enumerate() {
            let findings = bounds::joined(&site.findings);
            // A text without any of the others would be as long as they are many, for each of them.
            let joint = findings.len() <= MOST_JOINT
                && ways.iter().all(|(root, _)| demands[*root] <= MOST_JOINT);
            for (number, finding) in findings.iter().map(AsRef::as_ref).enumerate() {
                let mut row = DiffRow::new(finding.kind);
                reach(&mut row, roots, ways, finding);
                if row.paths.is_empty() || is_code_of_an_error(&row.paths, finding) {
                    continue;
                }
                if let Some(index) = self.known.get(&(id, number)) {
                    // A change that is met at a place that stayed has no ends.
                    let known = &mut self.list[*index].paths;
                    known.extend(row.paths);
                    known.sort();
                    known.dedup();
                    continue;
                }
                // A required member has no use for a default.
                let is_idle = finding.required == [Some(true); 2]
                    && matches!(&finding.detail, DifferenceDetail::Limit(name, ..) if name == "default");
                match (&finding.detail, finding.kind, finding.nodes) {
                    (DifferenceDetail::Limit(..), ..) if is_idle => {
                        row.judged(Verdicts::of(DirectionVerdict::FINE, DirectionVerdict::FINE));
                    }
                    (DifferenceDetail::Limit(name, before, after), ..) => {
                        row.judged(row::of_limit(name, before.as_ref(), after.as_ref()));
                    }
                    (DifferenceDetail::Bound(before, after), ..) => {
                        row.judged(bounds::verdicts(before, after));
                    }
                    (_, ChangeKind::OpennessChanged, [Some(old), Some(new)]) => {
                        let rest = |graph: &Graph, node| Some(graph.node(node).shape.object()?.1);
                        row.judged(row::of_rest(rest(graphs[0], old), rest(graphs[1], new)));
                    }
                    (DifferenceDetail::Unnamed(GraphRest::Closed), kind, [old, _]) => {
                        // A closed object may refuse the member, even if no text shows it.
                        let mut verdicts = kind.verdicts();
                        match old {
                            None => verdicts.new_to_old = DirectionVerdict::CHANGED,
                            Some(_) => verdicts.old_to_new = DirectionVerdict::CHANGED,
                        }
                        row.judged(verdicts);
                    }
                    _ => {}
                }
                let witnesses = [ComparedEnd::Old, ComparedEnd::New]
                    .into_iter()
                    .filter_map(|sender| witness(graphs, sender, roots, ways, finding, joint));
                let mut row = row.with_witnesses(witnesses.collect());
                if is_idle {
                    row.level = ChangeLevel::Representation;
                }
                let places = site.places.iter();
                row.places = places.map(|place| place_of(place, finding)).collect();
                describe(&mut row, finding, sides);
                if let (
                    DifferenceDetail::Unnamed(GraphRest::Open),
                    ChangeKind::TypeWidened | ChangeKind::TypeNarrowed,
                ) = (&finding.detail, finding.kind)
                {
                    let free = || View::words("any JSON, as any member of an open object");
                    row.before.get_or_insert_with(free);
                    row.after.get_or_insert_with(free);
                }
                self.fit(&mut row);
                self.known.insert((id, number), self.list.len());
                self.list.push(row);
            }
        }
        cut
    }
}

/// Gives a row the wire paths of its finding: all of them, and for what lies inside a value that moved those of each end.
fn reach(row: &mut DiffRow, roots: &[Root], ways: &WireWays, finding: &SchemaDifference) {
    let stands = finding.nodes.map(|node| node.is_some());
    for (root, way) in ways {
        let root = &roots[*root];
        let mut path = root.path.clone();
        let segments = way.iter().chain(&finding.segments);
        let written = segments.skip(usize::from(root.hides_first));
        written.for_each(|segment| path.trail.push(segment));
        if is_inside_an_envelope(&path) {
            continue;
        }
        // A removed value had the old place, an added one has the new place.
        match (root.moved, stands) {
            (Some(ComparedEnd::Old), [false, _]) | (Some(ComparedEnd::New), [_, false]) => continue,
            (Some(ComparedEnd::Old), [true, true]) => row.from.push(path.clone()),
            (Some(ComparedEnd::New), [true, true]) => row.to.push(path.clone()),
            _ => {}
        }
        row.paths.push(path);
    }
    for paths in [&mut row.paths, &mut row.from, &mut row.to] {
        paths.sort();
        paths.dedup();
    }
}

/// Returns, for each root, the number of members in a whole text that only one side requires.
fn demands(sites: &[Site], reached: &[WireWays], roots: usize) -> Vec<usize> {
    let mut demands = vec![0; roots];
    for (site, ways) in sites.iter().zip(reached) {
        let is_demand = |finding: &&SchemaDifference| {
            finding.required.contains(&Some(true)) && finding.required != [Some(true); 2]
        };
        let count = site.findings.iter().filter(is_demand).count();
        ways.iter().for_each(|(root, _)| demands[*root] += count);
    }
    demands
}

/// Returns whether a path lies in the params or the result of an envelope: methods have their own, which are compared one by
/// one.
fn is_inside_an_envelope(path: &WirePath) -> bool {
    let is_part = |segment: &PathSegment| matches!(segment, PathSegment::Member(name) if matches!(name.as_str(), "params" | "result"));
    path.method == "*"
        && path.part == ExchangePart::Message
        && (path.trail.segments.split_last()).is_some_and(|(_, around)| around.iter().any(is_part))
}

/// Returns whether the finding is the code of an error, which `error-code-renumbered` reports.
fn is_code_of_an_error(paths: &[WirePath], finding: &SchemaDifference) -> bool {
    finding.kind == ChangeKind::ConstChanged
        && paths
            .iter()
            .all(|path| path.part == ExchangePart::Error && path.trail.ends_in("code"))
}

fn place_of(places: &DiffLocation, finding: &SchemaDifference) -> DiffLocation {
    let at = |owner: &str| match owner {
        "" => String::new(),
        owner => place(owner, &finding.segments),
    };
    DiffLocation::of(at(&places.old), at(&places.new))
}

/// Fills in the old value, the new value, and the subject of the row.
fn describe(row: &mut DiffRow, finding: &SchemaDifference, [old, new]: [&ComparedSide; 2]) {
    let ([o, n], [was_required, is_required]) = (finding.nodes, finding.required);
    row.before = o.map(|id| View::of(old, id, was_required));
    row.after = n.map(|id| View::of(new, id, is_required));
    row.subject = match (&finding.detail, finding.segments.last()) {
        (DifferenceDetail::Value(value), _) => Some(value.to_string()),
        (DifferenceDetail::Limit(name, before, after), _) => {
            let remark = if applied::is_understood(name) {
                ""
            } else {
                " (a keyword that is not understood)"
            };
            let words = |value: &Value| format!("{name}: {value}{remark}");
            [row.before, row.after] = [before, after].map(|value| {
                let words = value.as_ref().map(words);
                Some(View::words(words.unwrap_or_else(|| format!("no {name}"))))
            });
            Some(name.clone())
        }
        (DifferenceDetail::Bound(before, after), _) => {
            let words = |(name, value): &SpelledBound| View::words(format!("{name}: {value}"));
            (row.before, row.after) = (Some(words(before)), Some(words(after)));
            Some(bounds::name(before).to_owned())
        }
        (
            DifferenceDetail::None | DifferenceDetail::Unnamed(_),
            Some(PathSegment::Member(name)),
        ) => Some(name.clone()),
        (DifferenceDetail::None, Some(PathSegment::Choice(choice))) => Some(choice.text.clone()),
        (DifferenceDetail::None | DifferenceDetail::Unnamed(_), _) => None,
    };
}

/// Sorts the rows and signs them. Rows that would have the same fingerprint are distinguished by the whole of their
/// shapes, and by a number only where these are the same, too.
pub(super) fn order(rows: &mut [DiffRow], old: &ComparedSide, new: &ComparedSide) {
    rows.sort_by_cached_key(|row| {
        let names = format!("{:?}", row.places);
        (row.paths.clone(), row.kind, row.subject.clone(), names)
    });
    let whole = |row: &DiffRow| {
        let of = |side: &ComparedSide, view: &Option<View>| {
            let node = view.as_ref().and_then(|view| view.node);
            node.map_or_else(String::new, |node| show::spelled(&side.graph, node))
        };
        format!("{}\n{}", of(old, &row.before), of(new, &row.after))
    };
    let facet = |row: &DiffRow| match row.subject.as_deref() {
        // Lists are told apart by nothing but their items.
        Some("array") => format!("{}\n{}", facet(row), whole(row)),
        _ => facet(row),
    };
    for row in rows.iter_mut() {
        row.sign(&facet(row));
    }
    sign_apart(rows, |row, _| format!("{}\n{}", facet(row), whole(row)));
    sign_apart(rows, |row, count| format!("{}\n{count}", row.fingerprint));
}

/// Signs again the rows that have one fingerprint, each by what it says of the row and how many came before.
fn sign_apart(rows: &mut [DiffRow], says: impl Fn(&DiffRow, usize) -> String) {
    let mut counts: SortedMap<String, [usize; 2]> = SortedMap::new();
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

/// Returns the text that tells a row from others of its kind at the same path, without the names of definitions.
fn facet(row: &DiffRow) -> String {
    let brief = |view: &Option<View>| {
        view.as_ref()
            .map_or_else(String::new, |it| it.brief.clone())
    };
    let subject = row.subject.clone().unwrap_or_default();
    match row.kind {
        ChangeKind::TypeChanged
        | ChangeKind::TypeNarrowed
        | ChangeKind::TypeWidened
        | ChangeKind::ConstChanged
        | ChangeKind::ConstraintChanged
        | ChangeKind::TextChanged
        | ChangeKind::HintWeakened
        | ChangeKind::HiddenCharacters
        | ChangeKind::StatementChanged => {
            format!("{subject}\n{}\n{}", brief(&row.before), brief(&row.after))
        }
        ChangeKind::DefinitionRenamed => {
            let names = row
                .places
                .iter()
                .map(|place| format!("{} {}", place.old, place.new));
            joined(names, "\n")
        }
        _ => subject,
    }
}
