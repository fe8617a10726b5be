//! The wire paths that reach a site: every way from a root, cut where a shape contains itself.

use super::compare::Comparer;
use super::facts;
use super::graph::NodeId;
use super::methods::Pairs;
use super::path::{ExchangePart, PathSegment, Trail, WirePath};
use super::site::{DiffLocation, Site, SiteId};
use super::verdict::ComparedEnd;
use crate::model::{Direction, MethodKind};

/// Maximum number of wire paths to follow before the rest is only counted as "more".
const MAX_PATHS: usize = 50_000;

/// Maximum number of sites on the way to them.
const MAX_VISITS: usize = 1_000_000;

/// The beginning of wire paths.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// The path of the site's value.
    pub(crate) path: WirePath,
    /// Set if the first segment of each way is not written: the one into `params`, at the top of a message.
    pub(crate) hides_first: bool,
    /// The site of the comparison.
    pub(crate) site: SiteId,
    /// The whole texts that begin or end here, by either side: witnesses are made of them.
    pub(crate) part: ExchangePart,
    pub(crate) whole: [NodeId; 2],
    /// For a value that moved: whose place this is.
    pub(crate) moved: Option<ComparedEnd>,
}

/// The ways to one site, by root and segment by segment, without the finding's own segments.
pub(crate) type WireWays = Vec<(usize, Vec<PathSegment>)>;

/// A step of the walk, which goes depth first over a stack of its own: a chain of definitions may be long.
enum WalkTask<'s> {
    /// Enters a site over these segments.
    Enter(SiteId, &'s [PathSegment]),
    /// Leaves a site: the way there had so many segments.
    Leave(SiteId, usize),
}

/// Returns the ways to each site with a finding, and whether there were more than could be followed.
pub(crate) fn walk(sites: &[Site], roots: &[Root]) -> (Vec<WireWays>, bool) {
    let useful = useful(sites);
    let mut reached = vec![WireWays::new(); sites.len()];
    let mut on_way = vec![false; sites.len()];
    let mut way: Vec<PathSegment> = Vec::new();
    let (mut paths, mut visits) = (0, 0);
    let is_spent = |paths, visits| paths >= MAX_PATHS || visits >= MAX_VISITS;
    for (number, root) in roots.iter().enumerate() {
        let mut tasks = vec![WalkTask::Enter(root.site, &[])];
        while let Some(task) = tasks.pop() {
            match task {
                WalkTask::Leave(id, length) => {
                    on_way[id] = false;
                    way.truncate(length);
                }
                WalkTask::Enter(id, _) if !useful[id] || is_spent(paths, visits) => {}
                WalkTask::Enter(id, segments) => {
                    visits += 1;
                    on_way[id] = true;
                    tasks.push(WalkTask::Leave(id, way.len()));
                    way.extend_from_slice(segments);
                    if !sites[id].findings.is_empty() {
                        paths += 1;
                        reached[id].push((number, way.clone()));
                    }
                    let edges = sites[id].edges.iter().rev();
                    let ahead = edges.filter(|(_, child)| useful[*child] && !on_way[*child]);
                    tasks.extend(ahead.map(|(segments, child)| WalkTask::Enter(*child, segments)));
                }
            }
        }
    }
    (reached, is_spent(paths, visits))
}

/// Sites that lead to a finding.
fn useful(sites: &[Site]) -> Vec<bool> {
    let mut leads_here: Vec<Vec<SiteId>> = vec![Vec::new(); sites.len()];
    for (id, site) in sites.iter().enumerate() {
        for (_, child) in &site.edges {
            leads_here[*child].push(id);
        }
    }
    let mut useful = vec![false; sites.len()];
    let mut open: Vec<SiteId> = (0..sites.len())
        .filter(|id| !sites[*id].findings.is_empty())
        .collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut useful[id], true) {
            open.extend(&leads_here[id]);
        }
    }
    useful
}

/// Returns where wire paths begin: params and results of the messages that both sides have, results of an extension, the
/// envelope, errors.
pub(super) fn roots(pairs: &Pairs<'_>, comparer: &mut Comparer<'_>) -> Vec<Root> {
    let (old, new) = (pairs.old, pairs.new);
    let mut roots = Vec::new();
    let mut add = |path: WirePath, hides_first, site, whole: [NodeId; 2]| {
        // Params are sent in the message around them.
        let part = match path.part {
            ExchangePart::Params => ExchangePart::Message,
            part => part,
        };
        roots.push(Root {
            part,
            whole,
            path,
            hides_first,
            site,
            moved: None,
        });
    };
    let named = |[o, n]: [NodeId; 2]| DiffLocation::of(old.name_of(o), new.name_of(n));
    for (o, n) in &pairs.both {
        let nodes = [o.node, n.node];
        let site = comparer.root(named(nodes), "params", [o.params, n.params]);
        let path = WirePath::whole(o.direction, &o.name, ExchangePart::Params);
        add(path, true, site, nodes);
        if o.kind == n.kind && o.kind != MethodKind::Input {
            let site = comparer.message(named(nodes), o.node, n.node);
            let path = WirePath::whole(o.direction, &o.name, ExchangePart::Message);
            add(path, false, site, nodes);
        }
        if let (Some(o_result), Some(n_result)) = (o.result, n.result) {
            let nodes = [o_result, n_result];
            let site = comparer.whole(named(nodes), o_result, n_result);
            let path = WirePath::whole(o.direction.back(), &o.name, ExchangePart::Result);
            add(path, false, site, nodes);
        }
    }
    let defined = |name: &str| {
        let [o, n] = [old, new].map(|side| side.graph.definitions.get(name).copied());
        Some([o?, n?])
    };
    let [of_old, of_new] = [old, new].map(|side| side.feature.iter().flat_map(|it| &it.results));
    for row in of_old.filter(|row| of_new.clone().any(|other| other == *row)) {
        let (sender, method, result) = row;
        if let Some([o, n]) = defined(result) {
            let site = comparer.whole(named([o, n]), o, n);
            let path = WirePath::whole(sender.back(), method, ExchangePart::Result);
            add(path, false, site, [o, n]);
        }
    }
    if let Some([o, n]) = defined("JSONRPCMessage") {
        let site = comparer.whole(named([o, n]), o, n);
        for direction in Direction::ALL {
            let path = WirePath::whole(direction, "*", ExchangePart::Message);
            add(path, false, site, [o, n]);
        }
    }
    let twins = facts::carried(new);
    for error in facts::carried(old) {
        let Some(twin) = twins.iter().find(|other| other.name == error.name) else {
            continue;
        };
        let places = DiffLocation::of(error.definition, &twin.definition);
        let nodes = [error.node, twin.node];
        let (site, hides_first) = match [error.error, twin.error] {
            both @ [Some(_), Some(_)] => (comparer.root(places, "error", both), true),
            _ => (comparer.whole(places, error.node, twin.node), false),
        };
        for direction in Direction::ALL {
            let path = WirePath::new(
                direction,
                "*",
                ExchangePart::Error,
                Trail::error(&error.name),
            );
            add(path, hides_first, site, nodes);
        }
    }
    roots
}
