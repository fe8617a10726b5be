//! The rules that a change meets on its way: those of its pair of adjacent revisions, or of each step between two others.
//!
//! Between adjacent revisions the plan of the pair says it. Further apart, a change is what the steps have made of it:
//! it meets the rules of their rows at its places on the wire, or of those that hold these or lie in them.
//! A candidate stands between two adjacent revisions: its changes meet the rules of the step over it.
//! An extension and the core that had its feature are a pair of their own.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::cell::OnceCell;

use super::{PairPlan, cover, plan_pair};
use mcp_revisions_diff::{Diff, DiffRow, MetRule, PROVEN, Prose, SideSources, WirePath, WirePlace};
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::spec::RevisionStage;
use mcp_revisions_schema::spec::changes::ProseChanges;
use mcp_revisions_schema::{Models, Spec};

/// Meets a change that only a candidate has.
const UNNEGOTIATED: &str = "runtime: a candidate is never negotiated";

/// Fills in the rules of every row between revisions that are converted into each other, and candidates on the way;
/// no rules for a pair that cannot be planned.
pub fn cover_all(spec: &Spec, sources: &SideSources<'_>, diffs: &mut [Diff]) {
    let Ok(models) = Models::open(spec) else {
        return;
    };
    let chain = models.shim_pairs();
    let of_extensions = models.extension_pairs();
    let mut planned: SortedMap<&RevisionPair, Option<PlannedPair<'_>>> = SortedMap::new();
    for diff in diffs.iter_mut().filter(|diff| !diff.raw) {
        let ends = [&diff.old, &diff.new];
        let is_between = |pair: &&RevisionPair| {
            let pair = [&pair.old, &pair.new];
            pair == ends || pair == [ends[1], ends[0]]
        };
        let (crossed, is_up, converted) = match of_extensions.iter().find(is_between) {
            Some(pair) => (std::slice::from_ref(pair), pair.old == diff.old, true),
            None => {
                let place = |label: &String| place(spec, &chain, label);
                let [Some(old), Some(new)] = ends.map(place) else {
                    continue;
                };
                let crossed = old[0].min(new[0])..old[1].max(new[1]);
                let converted = [old, new].iter().all(|[first, last]| first == last);
                (&chain[crossed], old < new, converted)
            }
        };
        for pair in crossed {
            let of_pair = planned.entry(pair);
            of_pair.or_insert_with(|| PlannedPair::of(spec, sources, &models, pair));
        }
        if converted {
            let told = crossed.iter().flat_map(|pair| prose(&models.changes, pair));
            diff.prose.extend(told);
        }
        let crossed: Option<Vec<&PlannedPair<'_>>> = (crossed.iter())
            .map(|pair| planned.get(pair)?.as_ref())
            .collect();
        match crossed.as_deref() {
            Some([pair]) if converted && is_up => diff.cover(|row| pair.rules(row)),
            Some(planned) if converted => diff.cover(|row| met(row, planned)),
            Some(planned) => diff.cover(|row| met_on_the_way(row, planned)),
            None => {}
        }
    }
}

/// Returns the changes of the prose between two adjacent revisions.
fn prose(changes: &ProseChanges, pair: &RevisionPair) -> Vec<Prose> {
    let step = pair.to_string();
    let own = changes.all().filter(|change| change.between == step);
    own.map(|change| Prose {
        step: step.clone(),
        id: change.id.clone(),
        binds: change.binds,
        over: change.over,
        says: change.says.clone(),
        page: change.page.clone(),
    })
    .collect()
}

/// Returns the place of a revision in the chain of conversions: the indices of the last one that is converted and not after it,
/// and of the first one not before it. They are one where it is converted itself, or a draft that is a released revision;
/// a candidate stands between two.
fn place(spec: &Spec, pairs: &[RevisionPair], label: &str) -> Option<[usize; 2]> {
    let oldest = pairs.first().map(|pair| &pair.old);
    let ids: Vec<&String> = (oldest.into_iter())
        .chain(pairs.iter().map(|pair| &pair.new))
        .collect();
    let known = spec.revision(label).ok()?;
    let same = |id: &str| {
        id == label || (spec.revision(id)).is_ok_and(|other| other.schema == known.schema)
    };
    if let Some(at) = ids.iter().position(|id| same(id)) {
        return Some([at, at]);
    }
    let before = (spec.revisions.iter())
        .take_while(|other| other.id != known.id)
        .filter_map(|other| ids.iter().position(|id| **id == other.id));
    let after = before.last().filter(|at| at + 1 < ids.len())?;
    (known.status == RevisionStage::Candidate).then_some([after, after + 1])
}

/// A pair of adjacent revisions: its plan, and the rules that its rows meet, place by place.
struct PlannedPair<'s> {
    pair: &'s RevisionPair,
    plan: PairPlan,
    sources: &'s SideSources<'s>,
    /// Filled in where rows of another pair look for the places.
    rules: OnceCell<PlaceRules>,
}

type PlaceRules = SortedMap<WirePlace, SortedSet<String>>;

impl<'s> PlannedPair<'s> {
    fn of(
        spec: &Spec,
        sources: &'s SideSources<'s>,
        models: &Models<'_>,
        pair: &'s RevisionPair,
    ) -> Option<Self> {
        let file = spec.rules.get(&pair.file());
        Some(Self {
            pair,
            plan: plan_pair(models, pair, file).ok()?,
            sources,
            rules: OnceCell::new(),
        })
    }

    /// Returns the rules that the rows of the pair meet, by their places.
    fn by_place(&self) -> &PlaceRules {
        self.rules.get_or_init(|| {
            let diff =
                mcp_revisions_diff::between(self.sources, &self.pair.old, &self.pair.new, false);
            let mut rules = PlaceRules::new();
            for row in diff.map(|diff| diff.rows).unwrap_or_default() {
                let met = cover(&row, &self.plan);
                for path in &row.paths {
                    let at_place = rules.entry(path.place()).or_default();
                    at_place.extend(met.iter().cloned());
                }
            }
            rules
        })
    }

    /// Returns the rules for a row of this very pair.
    fn rules(&self, row: &DiffRow) -> Vec<MetRule> {
        self.met_rule(cover(row, &self.plan)).into_iter().collect()
    }

    fn met_rule(&self, rules: SortedSet<String>) -> Option<MetRule> {
        (!rules.is_empty()).then(|| MetRule {
            step: self.pair.to_string(),
            rules: rules.into_iter().collect(),
        })
    }

    /// Returns the rules of the places that touch one of these.
    fn touching(&self, places: &[WirePlace], touches: Touches) -> SortedSet<String> {
        let touching = (self.by_place().iter())
            .filter(|(at, _)| places.iter().any(|place| touches(at, place)));
        touching.flat_map(|(_, rules)| rules.clone()).collect()
    }
}

/// Decides if the value at the first place affects the one at the second.
type Touches = fn(&WirePlace, &WirePlace) -> bool;

/// Returns the rules of each step for a row between two revisions that are not adjacent.
fn met(row: &DiffRow, planned: &[&PlannedPair<'_>]) -> Vec<MetRule> {
    let places: Vec<WirePlace> = row.paths.iter().map(WirePath::place).collect();
    if places.is_empty() {
        // Names of definitions are not a value that anything could happen to.
        let proven = || SortedSet::from_iter([PROVEN.to_owned()]);
        return planned
            .iter()
            .flat_map(|pair| pair.met_rule(proven()))
            .collect();
    }
    let near: [Touches; 3] = [
        |other, place| other == place,
        WirePlace::holds,
        |other, place| place.holds(other),
    ];
    for touches in near {
        let met: Vec<MetRule> = (planned.iter())
            .flat_map(|pair| pair.met_rule(pair.touching(&places, touches)))
            .collect();
        if !met.is_empty() {
            return met;
        }
    }
    Vec::new()
}

/// Returns the rules for a row of a candidate: what the step over it does where the candidate changes something.
fn met_on_the_way(row: &DiffRow, planned: &[&PlannedPair<'_>]) -> Vec<MetRule> {
    let met = met(row, planned);
    if !met.is_empty() {
        return met;
    }
    let alone =
        |pair: &&PlannedPair<'_>| pair.met_rule(SortedSet::from_iter([UNNEGOTIATED.to_owned()]));
    planned.last().and_then(alone).into_iter().collect()
}
