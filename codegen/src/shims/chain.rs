//! Which rules a change meets on its way: those of its pair of neighbours, or of each hop between two that are none.
//!
//! Between neighbours the plan of the pair says it. Further apart, a change is what the hops between have made of it:
//! it meets the rules of their rows at its wire paths, or of those that hold these or lie in them.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::Changes;
use super::rules::PairRules;
use super::{PROVEN, Pair, PairPlan, cover};
use crate::Spec;
use crate::diff::{self, Diff, Met, Prose, Row, Sources, WirePath};
use crate::generate::Models;

/// Fills in the rules of every row between revisions that are converted into each other; none for a pair that cannot be planned.
pub fn cover_all(spec: &Spec, sources: &Sources<'_>, diffs: &mut [Diff]) {
    let Ok(models) = Models::open(spec) else {
        return;
    };
    let pairs = models.shim_pairs();
    let changes = Changes::of(spec).unwrap_or_default();
    let mut hops: BTreeMap<usize, Option<Hop>> = BTreeMap::new();
    for diff in diffs.iter_mut().filter(|diff| !diff.raw) {
        let place = |label: &str| place(spec, &pairs, label);
        let [Some(old), Some(new)] = [&diff.old, &diff.new].map(|label| place(label)) else {
            continue;
        };
        let crossed = old.min(new)..old.max(new);
        for at in crossed.clone() {
            hops.entry(at)
                .or_insert_with(|| Hop::of(spec, sources, &models, &pairs[at]));
        }
        let told = crossed.clone().flat_map(|at| prose(&changes, &pairs[at]));
        diff.prose.extend(told);
        let crossed: Option<Vec<&Hop>> = crossed.map(|at| hops.get(&at)?.as_ref()).collect();
        match crossed.as_deref() {
            Some([hop]) if old < new => diff.cover(|row| hop.rules(row)),
            Some(hops) => diff.cover(|row| met(row, hops)),
            None => {}
        }
    }
}

/// What the prose changes between two neighbours.
fn prose(changes: &Changes, pair: &Pair) -> Vec<Prose> {
    let hop = pair.to_string();
    let own = changes.all().filter(|change| change.between == hop);
    own.map(|change| Prose {
        hop: hop.clone(),
        id: change.id.clone(),
        says: change.says.clone(),
        page: change.page.clone(),
    })
    .collect()
}

/// Where a revision stands in the chain of conversions; a draft that is a released revision stands there.
fn place(spec: &Spec, pairs: &[Pair], label: &str) -> Option<usize> {
    let ids =
        (pairs.first().map(|pair| &pair.old).into_iter()).chain(pairs.iter().map(|pair| &pair.new));
    let mut ids = ids.enumerate();
    let known = spec.revision(label).ok()?;
    let same = |id: &str| {
        id == label || (spec.revision(id)).is_ok_and(|revision| revision.schema == known.schema)
    };
    ids.find(|(_, id)| same(id)).map(|(at, _)| at)
}

/// A pair of neighbours: its plan, and its rows with the rules that they meet.
struct Hop {
    name: String,
    plan: PairPlan,
    rules: PairRules,
    rows: Vec<(Vec<WirePath>, BTreeSet<String>)>,
}

impl Hop {
    fn of(spec: &Spec, sources: &Sources<'_>, models: &Models<'_>, pair: &Pair) -> Option<Self> {
        let file = spec.rules.get(&pair.file());
        let plan = models.plan_pair(spec, pair, file.clone()).ok()?;
        let rules = PairRules::read(file).ok()?;
        let diff = diff::between(sources, &pair.old, &pair.new, false).ok()?;
        let rows = diff
            .rows
            .iter()
            .chain(diff.ignored.iter().map(|ignored| &ignored.row));
        let rows = rows.map(|row| {
            let paths = row.paths.iter().map(WirePath::bare).collect();
            (paths, cover(row, &plan, &rules))
        });
        Some(Self {
            name: format!("{}..{}", pair.old, pair.new),
            rows: rows.collect(),
            plan,
            rules,
        })
    }

    /// The rules for a row of this very pair.
    fn rules(&self, row: &Row) -> Vec<Met> {
        self.met(cover(row, &self.plan, &self.rules))
    }

    fn met(&self, rules: BTreeSet<String>) -> Vec<Met> {
        let met = Met {
            hop: self.name.clone(),
            rules: rules.into_iter().collect(),
        };
        match met.rules.is_empty() {
            true => Vec::new(),
            false => vec![met],
        }
    }

    /// The rules of the rows that touch one of the paths.
    fn touching(
        &self,
        paths: &[WirePath],
        touches: fn(&WirePath, &WirePath) -> bool,
    ) -> BTreeSet<String> {
        let touching = self.rows.iter().filter(|(at, _)| {
            let touched = |path: &WirePath| at.iter().any(|other| touches(other, path));
            paths.iter().any(touched)
        });
        touching.flat_map(|(_, rules)| rules.clone()).collect()
    }
}

/// The rules of each hop for a row between two that are no neighbours.
fn met(row: &Row, hops: &[&Hop]) -> Vec<Met> {
    let paths: Vec<WirePath> = row.paths.iter().map(WirePath::bare).collect();
    if paths.is_empty() {
        // Names of definitions are no value that anything could happen to.
        return hops
            .iter()
            .flat_map(|hop| hop.met(BTreeSet::from([PROVEN.to_owned()])))
            .collect();
    }
    let near: [fn(&WirePath, &WirePath) -> bool; 3] = [
        |other, path| other == path,
        WirePath::is_at_or_above,
        |other, path| path.is_at_or_above(other),
    ];
    for touches in near {
        let met: Vec<Met> = (hops.iter())
            .flat_map(|hop| hop.met(hop.touching(&paths, touches)))
            .collect();
        if !met.is_empty() {
            return met;
        }
    }
    Vec::new()
}
