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
use super::walk::{self, Base, Reached, Root};
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
        old: &Side,
        new: &Side,
    ) -> bool {
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
                    found.join(&mut self.list[*index]);
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
                self.known.insert((id, number), self.list.len());
                self.list.push(row);
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
            let words = |value: &Option<Value>| match value {
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
