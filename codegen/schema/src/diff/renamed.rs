//! Definitions that go by another name and stand at the same wire paths.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use super::compare::Comparer;
use super::facts::both_ways;
use super::graph::{Graph, NodeId, Rest, Shape};
use super::kind::Kind;
use super::path::{Step, direction_id};
use super::row::{Place, Row};
use super::show::View;
use super::side::Side;
use super::variants;
use super::verdict::Verdict;

/// How many places are visited before renames are no longer looked for by path.
const MAX_VISITS: usize = 400_000;

/// A row for each definition that was renamed.
pub(crate) fn rows(old: &Side, new: &Side, comparer: &Comparer<'_>) -> Vec<Row> {
    let only = |side: &Side, other: &Side| -> BTreeSet<String> {
        let names = side.graph.definitions.keys();
        names
            .filter(|name| !other.graph.definitions.contains_key(*name))
            .cloned()
            .collect()
    };
    let (gone, came) = (only(old, new), only(new, old));
    if gone.is_empty() || came.is_empty() {
        return Vec::new();
    }
    let mut pairs = by_paths(&paths(old, &gone), &paths(new, &came));
    pairs.extend(by_sites(comparer, &gone, &came, &pairs));
    let row = |(old_name, new_name): (String, String)| {
        let mut row = Row::new(
            Kind::DefinitionRenamed,
            both_ways(Verdict::FINE, Verdict::FINE),
        );
        row.before = old
            .graph
            .definitions
            .get(&old_name)
            .map(|id| View::of(old, *id, None));
        row.after = new
            .graph
            .definitions
            .get(&new_name)
            .map(|id| View::of(new, *id, None));
        row.subject = Some(format!("{old_name} -> {new_name}"));
        row.places = vec![Place {
            old: old_name,
            new: new_name,
        }];
        row
    };
    pairs.into_iter().map(row).collect()
}

/// Names whose sets of wire paths are equal, each the only one with that set.
fn by_paths(
    old: &BTreeMap<String, BTreeSet<u64>>,
    new: &BTreeMap<String, BTreeSet<u64>>,
) -> Vec<(String, String)> {
    let alone = |all: &BTreeMap<String, BTreeSet<u64>>, set: &BTreeSet<u64>| {
        all.values().filter(|other| *other == set).count() == 1
    };
    let mut pairs = Vec::new();
    for (name, set) in old {
        let twin = new.iter().find(|(_, other)| *other == set);
        if let Some((twin, _)) = twin.filter(|_| alone(old, set) && alone(new, set)) {
            pairs.push((name.clone(), twin.clone()));
        }
    }
    pairs
}

/// Names that stand at the same changed sites, where the paths differ in what a union is told apart by.
fn by_sites(
    comparer: &Comparer<'_>,
    gone: &BTreeSet<String>,
    came: &BTreeSet<String>,
    known: &[(String, String)],
) -> Vec<(String, String)> {
    let mut met: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut back: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for places in comparer.sites.iter().flat_map(|site| &site.places) {
        met.entry(&places.old).or_default().insert(&places.new);
        back.entry(&places.new).or_default().insert(&places.old);
    }
    let single = |names: &BTreeMap<&str, BTreeSet<&str>>, name: &str, other: &str| {
        names
            .get(name)
            .is_some_and(|all| all.len() == 1 && all.contains(other))
    };
    let mut pairs = Vec::new();
    for (name, others) in &met {
        for other in others {
            let new = !known.iter().any(|(old, new)| old == name || new == other);
            if new
                && gone.contains(*name)
                && came.contains(*other)
                && single(&met, name, other)
                && single(&back, other, name)
            {
                pairs.push(((*name).to_owned(), (*other).to_owned()));
            }
        }
    }
    pairs
}

/// The wire paths at which each of the definitions stands.
fn paths(side: &Side, names: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<u64>> {
    let graph = &side.graph;
    let mut walker = Walker {
        graph,
        leads: leading_to(graph, names),
        names,
        on_way: vec![false; graph.len()],
        found: BTreeMap::new(),
        selectors: HashMap::new(),
        visits: 0,
    };
    for message in &side.messages {
        let direction = direction_id(message.direction);
        let at = format!("{direction} {}", message.name);
        walker.note(message.node, &at);
        if let Some(params) = message.params {
            walker.visit(params.node, &format!("{at} params $"));
        }
        if let Some(result) = message.result {
            walker.visit(result, &format!("{at} result $"));
        }
    }
    if let Some(message) = graph.definitions.get("JSONRPCMessage") {
        walker.visit(*message, "message $");
    }
    walker.found
}

/// Nodes from which one of the definitions can be reached.
fn leading_to(graph: &Graph, names: &BTreeSet<String>) -> Vec<bool> {
    let mut wholes: Vec<Vec<NodeId>> = vec![Vec::new(); graph.len()];
    for id in 0..graph.len() {
        for (_, part) in parts(graph, id) {
            wholes[graph.resolve(part)].push(id);
        }
    }
    let mut leads = vec![false; graph.len()];
    let is_one = |id: &NodeId| graph.name(*id).is_some_and(|name| names.contains(name));
    let mut open: Vec<NodeId> = (0..graph.len())
        .filter(is_one)
        .map(|id| graph.resolve(id))
        .collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut leads[id], true) {
            open.extend(&wholes[id]);
        }
    }
    leads
}

/// The parts of a node; choices of a union without their selector.
fn parts(graph: &Graph, id: NodeId) -> Vec<(Option<Step>, NodeId)> {
    match &graph.node(id).shape {
        Shape::Object { members, rest } => {
            let mut all: Vec<(Option<Step>, NodeId)> = (members.iter())
                .map(|(name, member)| (Some(Step::Member(name.clone())), member.node))
                .collect();
            if let Rest::Each(each) = rest {
                all.push((Some(Step::Each), *each));
            }
            all
        }
        Shape::Array(Some(items)) => vec![(Some(Step::Item), *items)],
        Shape::Union(variants) => variants.iter().map(|variant| (None, *variant)).collect(),
        _ => Vec::new(),
    }
}

struct Walker<'g> {
    graph: &'g Graph,
    leads: Vec<bool>,
    names: &'g BTreeSet<String>,
    on_way: Vec<bool>,
    found: BTreeMap<String, BTreeSet<u64>>,
    selectors: HashMap<(NodeId, NodeId), String>,
    visits: usize,
}

impl Walker<'_> {
    fn note(&mut self, id: NodeId, path: &str) {
        if let Some(name) = self
            .graph
            .name(id)
            .filter(|name| self.names.contains(*name))
        {
            let mut hasher = DefaultHasher::new();
            path.hash(&mut hasher);
            self.found
                .entry(name.to_owned())
                .or_default()
                .insert(hasher.finish());
        }
    }

    fn visit(&mut self, start: NodeId, path: &str) {
        enum Task {
            Enter(NodeId, String),
            Leave(NodeId),
        }
        let mut tasks = vec![Task::Enter(start, path.to_owned())];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Leave(id) => self.on_way[id] = false,
                Task::Enter(id, path) => {
                    self.note(id, &path);
                    let resolved = self.graph.resolve(id);
                    self.visits += 1;
                    if !self.leads[resolved] || self.on_way[resolved] || self.visits > MAX_VISITS {
                        continue;
                    }
                    self.on_way[resolved] = true;
                    tasks.push(Task::Leave(resolved));
                    for (step, part) in parts(self.graph, resolved) {
                        if !self.leads[self.graph.resolve(part)] {
                            continue;
                        }
                        let mut path = path.clone();
                        match step {
                            Some(step) => step.push_to(&mut path),
                            None => {
                                path.push('{');
                                path.push_str(&self.selector(resolved, part));
                                path.push('}');
                            }
                        }
                        tasks.push(Task::Enter(part, path));
                    }
                }
            }
        }
    }

    fn selector(&mut self, union: NodeId, variant: NodeId) -> String {
        let graph = self.graph;
        let known = self.selectors.entry((union, variant));
        known
            .or_insert_with(|| {
                let choices = variants::choices(graph, union);
                variants::selector(graph, &choices, variant, &BTreeSet::new())
            })
            .clone()
    }
}
