//! Findings as rows: the wire paths of each, the texts that show it, and what stood and stands there.

use crate::sorted::SortedMap;

use serde_json::Value;

use super::compare::Comparer;
use super::kind::Kind;
use super::path::{Part, Segment, WirePath};
use super::row::{self, Row};
use super::show::View;
use super::side::Side;
use super::site::{Detail, Finding, Place, SiteId, place};
use super::verdict::End;
use super::walk::{self, Reached, Root};
use super::witness::Forge;
use crate::schema::applied;

/// The findings of a comparison as rows, each finding once, however many ways lead to it.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) list: Vec<Row>,
    /// The row of a finding, by its site and its number there.
    known: SortedMap<(SiteId, usize), usize>,
}

impl Rows {
    /// Adds what these roots lead to; true if there was more than could be followed.
    pub(super) fn add(
        &mut self,
        comparer: &Comparer<'_>,
        roots: &[Root],
        sides: [&Side; 2],
    ) -> bool {
        let graphs = sides.map(|side| &side.graph);
        let (reached, cut) = walk::walk(&comparer.sites, roots);
        for (id, (site, reached)) in comparer.sites.iter().zip(&reached).enumerate() {
            for (number, finding) in site.findings.iter().enumerate() {
                let mut row = Row::new(finding.kind);
                reach(&mut row, roots, reached, finding);
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
                if let Detail::Limit(name, before, after) = &finding.detail {
                    row.judged(row::of_limit(name, before.as_ref(), after.as_ref()));
                }
                let witnesses = [End::Old, End::New].into_iter().filter_map(|sender| {
                    Forge::new(graphs, sender).witness(roots, &reached.routes, finding)
                });
                let mut row = row.with_witnesses(witnesses.collect());
                let places = site.places.iter();
                row.places = places.map(|place| place_of(place, finding)).collect();
                describe(&mut row, finding, sides);
                self.known.insert((id, number), self.list.len());
                self.list.push(row);
            }
        }
        cut
    }
}

/// Gives a row the wire paths of its finding: all of them, and for what lies inside a value that moved those of each end.
fn reach(row: &mut Row, roots: &[Root], reached: &Reached, finding: &Finding) {
    let stands = [finding.old.is_some(), finding.new.is_some()];
    for (root, trail) in &reached.paths {
        let root = &roots[*root];
        let mut path = root.path.clone();
        path.trail.clone_from(trail);
        (finding.segments.iter()).for_each(|segment| path.trail.push(segment));
        if is_inside_an_envelope(&path) {
            continue;
        }
        // What is gone was in the old place alone, and what came is in the new one.
        match (root.moved, stands) {
            (Some(End::Old), [false, _]) | (Some(End::New), [_, false]) => continue,
            (Some(End::Old), [true, true]) => row.from.push(path.clone()),
            (Some(End::New), [true, true]) => row.to.push(path.clone()),
            _ => {}
        }
        row.paths.push(path);
    }
    for paths in [&mut row.paths, &mut row.from, &mut row.to] {
        paths.sort();
        paths.dedup();
    }
}

/// Whether a path lies in the params or the result of an envelope: methods have their own, which are compared one by one.
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
    Place::of(at(&places.old), at(&places.new))
}

/// What stood there, what stands there, and what the row is about.
fn describe(row: &mut Row, finding: &Finding, [old, new]: [&Side; 2]) {
    let [was_required, is_required] = finding.required;
    row.before = finding.old.map(|id| View::of(old, id, was_required));
    row.after = finding.new.map(|id| View::of(new, id, is_required));
    row.subject = match (&finding.detail, finding.segments.last()) {
        (Detail::Value(value), _) => Some(value.to_string()),
        (Detail::Limit(name, before, after), _) => {
            let remark = match applied::is_understood(name) {
                true => "",
                false => " (a keyword that is not understood)",
            };
            let words = |value: &Value| format!("{name}: {value}{remark}");
            [row.before, row.after] = [before, after].map(|value| {
                let words = value.as_ref().map(words);
                Some(View::words(words.unwrap_or_else(|| format!("no {name}"))))
            });
            Some(name.clone())
        }
        (Detail::None, Some(Segment::Member(name))) => Some(name.clone()),
        (Detail::None, Some(Segment::Choice(choice))) => Some(choice.text.clone()),
        (Detail::None, _) => None,
    };
}
