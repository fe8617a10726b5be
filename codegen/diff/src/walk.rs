//! The wire paths that reach a site: every way from a root, cut where a shape contains itself.

use super::graph::NodeId;
use super::path::{ExchangePart, PathSegment, WirePath};
use super::site::{Site, SiteId};
use super::verdict::ComparedEnd;

/// Maximum number of wire paths to follow before the rest is only counted as "more".
const MAX_PATHS: usize = 50_000;

/// Maximum number of their segments together.
const MAX_SEGMENTS: usize = 1_000_000;

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
    let (mut paths, mut length, mut visits) = (0, 0, 0);
    let mut is_cut = false;
    for (number, root) in roots.iter().enumerate() {
        let mut tasks = vec![WalkTask::Enter(root.site, &[])];
        while let Some(task) = tasks.pop() {
            match task {
                WalkTask::Leave(id, start) => {
                    on_way[id] = false;
                    way.truncate(start);
                }
                WalkTask::Enter(id, _) if !useful[id] => {}
                WalkTask::Enter(..) if paths >= MAX_PATHS || visits >= MAX_VISITS => is_cut = true,
                WalkTask::Enter(id, segments) => {
                    visits += 1;
                    on_way[id] = true;
                    tasks.push(WalkTask::Leave(id, way.len()));
                    way.extend_from_slice(segments);
                    // Each finding of the site becomes a path of its own.
                    let findings = sites[id].findings.len();
                    let longer = length + findings * (way.len() + 1);
                    if longer > MAX_SEGMENTS {
                        is_cut = true;
                    } else if findings > 0 {
                        paths += findings;
                        length = longer;
                        reached[id].push((number, way.clone()));
                    }
                    let edges = sites[id].edges.iter().rev();
                    let ahead = edges.filter(|(_, child)| useful[*child] && !on_way[*child]);
                    tasks.extend(ahead.map(|(segments, child)| WalkTask::Enter(*child, segments)));
                }
            }
        }
    }
    (reached, is_cut)
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
