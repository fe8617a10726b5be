//! Which wire paths reach a site: every way from a root, cut where a shape contains itself.

use super::graph::NodeId;
use super::path::{Part, Segment, Trail, WirePath};
use super::site::{Site, SiteId};
use super::verdict::End;

/// How many wire paths are followed before the rest is only counted as "more".
const MAX_PATHS: usize = 50_000;

/// How many sites are entered on the way to them.
const MAX_VISITS: usize = 1_000_000;

/// How many ways to a site are kept segment by segment; witnesses are made along them.
const MAX_ROUTES: usize = 6;

/// Where wire paths begin.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// The path of the site's value.
    pub(crate) path: WirePath,
    /// The site of the comparison.
    pub(crate) site: SiteId,
    /// What the whole texts are that begin or end here, and what they are by either side: witnesses are made of them.
    pub(crate) part: Part,
    pub(crate) whole: [NodeId; 2],
    /// For a value that moved: whose place this is.
    pub(crate) moved: Option<End>,
}

/// The ways to one site.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// Wire paths of the site's value, by root, without the finding's own segments.
    pub(crate) paths: Vec<(usize, Trail)>,
    /// The first few of them segment by segment.
    pub(crate) routes: Vec<(usize, Vec<Segment>)>,
}

/// All wire paths, and whether there were more than could be followed.
pub(crate) fn walk(sites: &[Site], roots: &[Root]) -> (Vec<Reached>, bool) {
    let mut walker = Walker {
        useful: useful(sites),
        sites,
        on_way: vec![false; sites.len()],
        reached: sites.iter().map(|_| Reached::default()).collect(),
        segments: Vec::new(),
        paths: 0,
        visits: 0,
    };
    for (index, root) in roots.iter().enumerate() {
        walker.visit(index, root.site, root.path.trail.clone());
    }
    let cut = walker.is_spent();
    (walker.reached, cut)
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

struct Walker<'s> {
    sites: &'s [Site],
    useful: Vec<bool>,
    on_way: Vec<bool>,
    reached: Vec<Reached>,
    segments: Vec<Segment>,
    paths: usize,
    visits: usize,
}

impl Walker<'_> {
    /// Goes depth first over a stack of its own: a chain of definitions may be long.
    fn visit(&mut self, root: usize, start: SiteId, trail: Trail) {
        enum Task<'s> {
            /// Enters a site over these segments.
            Enter(SiteId, &'s [Segment], Trail),
            /// Leaves a site: the way there had so many segments.
            Leave(SiteId, usize),
        }
        let mut tasks = vec![Task::Enter(start, &[], trail)];
        let sites = self.sites;
        while let Some(task) = tasks.pop() {
            match task {
                Task::Leave(site, length) => {
                    self.on_way[site] = false;
                    self.segments.truncate(length);
                }
                Task::Enter(site, segments, trail) => {
                    if !self.useful[site] || self.is_spent() {
                        continue;
                    }
                    self.visits += 1;
                    self.on_way[site] = true;
                    tasks.push(Task::Leave(site, self.segments.len()));
                    self.segments.extend_from_slice(segments);
                    self.arrive(root, site, &trail);
                    let edges = sites[site].edges.iter().rev();
                    let ahead: Vec<_> = edges
                        .filter(|(_, child)| self.useful[*child] && !self.on_way[*child])
                        .collect();
                    // The last one takes the trail itself: a chain of sites copies none.
                    let trails = vec![trail; ahead.len()];
                    for ((segments, child), mut trail) in ahead.into_iter().zip(trails) {
                        segments.iter().for_each(|segment| trail.push(segment));
                        tasks.push(Task::Enter(*child, segments, trail));
                    }
                }
            }
        }
    }

    fn is_spent(&self) -> bool {
        self.paths >= MAX_PATHS || self.visits >= MAX_VISITS
    }

    fn arrive(&mut self, root: usize, site: SiteId, trail: &Trail) {
        if self.sites[site].findings.is_empty() {
            return;
        }
        self.paths += 1;
        let reached = &mut self.reached[site];
        reached.paths.push((root, trail.clone()));
        if reached.routes.len() < MAX_ROUTES {
            reached.routes.push((root, self.segments.clone()));
        }
    }
}
