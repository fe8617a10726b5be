//! The comparison itself: pairs of shapes that stand at the same wire path, each compared once.
//!
//! A [`Site`] is a pair of shapes that may be reached from many places; what differs in it is a
//! [`SchemaDifference`], listed once. Which wire paths reach a site is worked out afterwards, in `walk`.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::classes::classes;
use super::graph::{Graph, GraphMember, GraphRest, NodeId, NodeShape};
use super::kind::ChangeKind;
use super::path::{PathSegment, Selector, bare};
use super::site::{DiffLocation, DifferenceDetail, SchemaDifference, Site, SiteId, place};
use super::variants::{self, Choices};
use mcp_revisions_schema::schema::{JsonType, applied};

/// Compares two graphs site by site.
pub(crate) struct Comparer<'g> {
    old: &'g Graph,
    new: &'g Graph,
    classes: Arc<[Vec<usize>; 2]>,
    pub sites: Vec<Site>,
    known: HashMap<(usize, usize, String), SiteId>,
    open: Vec<(SiteId, NodeId, NodeId)>,
}

/// The members that every message of a kind has around its own part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope {
    /// Its definition: the name that the schema has of these.
    pub(crate) definitions: &'static [&'static str],
    /// Set if it is compared by itself, so that a change of it is reported there.
    pub(crate) is_compared: bool,
}

impl Envelope {
    const fn of(definitions: &'static [&'static str]) -> Self {
        Self {
            definitions,
            is_compared: true,
        }
    }

    /// That of requests.
    pub(crate) const REQUEST: Self = Self::of(&["JSONRPCRequest"]);

    /// That of notifications.
    pub(crate) const NOTIFICATION: Self = Self::of(&["JSONRPCNotification"]);

    /// That of responses with a result.
    pub(crate) const RESPONSE: Self = Self::of(&["JSONRPCResultResponse", "JSONRPCResponse"]);

    /// Returns the envelope of a comparison that looks at each message by itself.
    pub(crate) fn uncompared(mut self) -> Self {
        self.is_compared = false;
        self
    }
}

/// A place within a site, by the way to it.
struct Spot {
    site: SiteId,
    segments: Vec<PathSegment>,
}

impl Spot {
    /// Returns a site as a whole.
    fn of(site: SiteId) -> Self {
        let segments = Vec::new();
        Self { site, segments }
    }

    /// Returns the place one segment further.
    fn with(&self, segment: PathSegment) -> Self {
        Self {
            site: self.site,
            segments: [self.segments.as_slice(), &[segment]].concat(),
        }
    }
}

impl<'g> Comparer<'g> {
    pub(crate) fn new(old: &'g Graph, new: &'g Graph) -> Self {
        Self::of_classes([old, new], classes(old, new).into())
    }

    /// Returns the comparer of two graphs whose classes are known.
    pub(crate) fn of_classes([old, new]: [&'g Graph; 2], classes: Arc<[Vec<usize>; 2]>) -> Self {
        Self {
            old,
            new,
            classes,
            sites: Vec::new(),
            known: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// Returns the classes of two nodes: what is of one class is equal on the wire.
    fn classes(&self, old: NodeId, new: NodeId) -> (usize, usize) {
        let [olds, news] = &*self.classes;
        (olds[self.old.resolve(old)], news[self.new.resolve(new)])
    }

    /// Returns whether two nodes are equal on the wire.
    pub(crate) fn same(&self, old: NodeId, new: NodeId) -> bool {
        let (old, new) = self.classes(old, new);
        old == new
    }

    /// Returns a site for one member of two messages, such as `params`.
    pub(crate) fn root(
        &mut self,
        places: DiffLocation,
        member: &str,
        pair: [Option<GraphMember>; 2],
    ) -> SiteId {
        self.begin(places, |comparer, at| {
            comparer.member(at, member, pair, [GraphRest::Open; 2]);
        })
    }

    /// Returns a site for two whole values.
    pub(crate) fn whole(&mut self, places: DiffLocation, old: NodeId, new: NodeId) -> SiteId {
        self.begin(places, |comparer, at| comparer.value(at, old, new))
    }

    /// Returns a site that is compared as `compares` says, with all that is met on the way.
    fn begin(&mut self, places: DiffLocation, compares: impl FnOnce(&mut Self, &Spot)) -> SiteId {
        let site = self.sites.len();
        self.sites.push(Site {
            places: SortedSet::from_iter([places]),
            ..Site::default()
        });
        compares(self, &Spot::of(site));
        while let Some((site, old, new)) = self.open.pop() {
            self.shapes(&Spot::of(site), old, new, &[]);
        }
        site
    }

    fn find(&mut self, kind: ChangeKind, at: &Spot, pair: [Option<NodeId>; 2]) {
        self.report(kind, at, pair, [None; 2], DifferenceDetail::None);
    }

    fn report(
        &mut self,
        kind: ChangeKind,
        at: &Spot,
        nodes: [Option<NodeId>; 2],
        required: [Option<bool>; 2],
        detail: DifferenceDetail,
    ) {
        self.sites[at.site].findings.push(SchemaDifference {
            kind,
            segments: at.segments.clone(),
            nodes,
            required,
            detail,
        });
    }

    fn member(
        &mut self,
        holder: &Spot,
        name: &str,
        pair: [Option<GraphMember>; 2],
        rests: [GraphRest; 2],
    ) {
        let at = &holder.with(PathSegment::Member(name.to_owned()));
        let nodes = pair.map(|member| member.map(|member| member.node));
        let required = pair.map(|member| member.map(|member| member.required));
        let kind = match required {
            [None, None] => return,
            [None, Some(true)] => Some(ChangeKind::MemberAddedRequired),
            [None, Some(false)] => Some(ChangeKind::MemberAddedOptional),
            [Some(_), None] => Some(ChangeKind::MemberRemoved),
            [Some(false), Some(true)] => Some(ChangeKind::BecameRequired),
            [Some(true), Some(false)] => Some(ChangeKind::BecameOptional),
            _ => None,
        };
        if let Some(kind) = kind {
            let unnamed = nodes.iter().zip(rests).find(|(node, _)| node.is_none());
            let detail = unnamed.map_or(DifferenceDetail::None, |(_, rest)| {
                DifferenceDetail::Unnamed(rest)
            });
            self.report(kind, at, nodes, required, detail);
        }
        if let [Some(old), Some(new)] = nodes {
            let before = self.sites[at.site].findings.len();
            self.value(at, old, new);
            let own = self.sites[at.site].findings.iter_mut().skip(before);
            // The purpose of a default depends on the presence of the value.
            for finding in own.filter(|own| matches!(own.detail, DifferenceDetail::Limit(..))) {
                finding.required = required;
            }
        }
    }

    /// Compares what two messages or responses say beside their method, params and result.
    pub(crate) fn message(
        &mut self,
        places: DiffLocation,
        envelope: Envelope,
        old: NodeId,
        new: NodeId,
    ) -> SiteId {
        self.begin(places, |comparer, at| {
            if comparer.same(old, new) {
                return;
            }
            let (old, new) = (comparer.old.resolve(old), comparer.new.resolve(new));
            let mut beside = vec!["method", "params", "result"];
            let told = |name: &&str| comparer.is_told_once(envelope, name, old, new);
            beside.extend(["id", "jsonrpc"].into_iter().filter(told));
            comparer.parts(at, old, new, &beside);
            comparer.limits(at, [old, new], &[]);
        })
    }

    /// Returns whether two messages have a member alike, or, where the envelope is compared by itself, as every message of
    /// their kind has it.
    fn is_told_once(&self, envelope: Envelope, name: &str, old: NodeId, new: NodeId) -> bool {
        let members = |graph: &Graph, message: NodeId| {
            let mut names = envelope.definitions.iter();
            let definition = names.find_map(|name| graph.definitions.get(*name));
            let general = definition.and_then(|id| graph.member(graph.resolve(*id), name));
            (graph.member(message, name).or(general), general)
        };
        let ((o, of_olds), (n, of_news)) = (members(self.old, old), members(self.new, new));
        let class = |of_old: bool, member: GraphMember| {
            let class = if of_old {
                self.classes(member.node, new).0
            } else {
                self.classes(old, member.node).1
            };
            (class, member.required)
        };
        let [o, of_olds] = [o, of_olds].map(|member| member.map(|member| class(true, member)));
        let [n, of_news] = [n, of_news].map(|member| member.map(|member| class(false, member)));
        o == n || (envelope.is_compared && o == of_olds && n == of_news)
    }

    /// Two values at the same path: compared here, or as a site of their own where they can be shared.
    fn value(&mut self, at: &Spot, old: NodeId, new: NodeId) {
        if self.same(old, new) {
            return;
        }
        let names = [self.old.name(old), self.new.name(new)];
        let (old, new) = (self.old.resolve(old), self.new.resolve(new));
        let composite = |graph: &Graph, id| match &graph.node(id).shape {
            NodeShape::Object { members, rest } => {
                !members.is_empty() || matches!(rest, GraphRest::Each(_))
            }
            NodeShape::Union(_) => true,
            _ => false,
        };
        let key = match names {
            _ if composite(self.old, old) || composite(self.new, new) => String::new(),
            [Some(old), Some(new)] => format!("{old} {new}"),
            _ => return self.shapes(at, old, new, &[]),
        };
        let (of_old, of_new) = self.classes(old, new);
        let next = self.sites.len();
        let child = *self.known.entry((of_old, of_new, key)).or_insert(next);
        if child == next {
            self.sites.push(Site::default());
            self.open.push((child, old, new));
        }
        let owner = self.sites[at.site].places.first();
        let called = owner.map(|owner| {
            let called = |name: Option<&str>, owner: &str| {
                name.map_or_else(|| place(owner, &at.segments), str::to_owned)
            };
            DiffLocation::of(called(names[0], &owner.old), called(names[1], &owner.new))
        });
        self.sites[child].places.extend(called);
        self.sites[at.site].edges.push((at.segments.clone(), child));
    }

    /// Compares two shapes and their limits, without those limits that are reported around them.
    fn shapes(&mut self, at: &Spot, old: NodeId, new: NodeId, told: &[&String]) {
        let (o, n) = (self.old.node(old), self.new.node(new));
        let pair = [Some(old), Some(new)];
        let mut reported = told.to_vec();
        match (o.deprecated, n.deprecated) {
            (false, true) => self.find(ChangeKind::Deprecated, at, pair),
            (true, false) => self.find(ChangeKind::Undeprecated, at, pair),
            _ => {}
        }
        match [self.old.is_never(old), self.new.is_never(new)] {
            [false, true] => return self.find(ChangeKind::TypeNarrowed, at, pair),
            [true, false] => return self.find(ChangeKind::TypeWidened, at, pair),
            [false, false] | [true, true] => {}
        }
        match (&o.shape, &n.shape) {
            (NodeShape::Any, NodeShape::Any) => {}
            (NodeShape::Any, _) => self.find(ChangeKind::TypeNarrowed, at, pair),
            (_, NodeShape::Any) => self.find(ChangeKind::TypeWidened, at, pair),
            (old_shape, new_shape) if o.untyped != n.untyped => {
                let kind = if o.untyped {
                    ChangeKind::TypeNarrowed
                } else {
                    ChangeKind::TypeWidened
                };
                self.find(kind, at, pair);
                match (old_shape, new_shape) {
                    (NodeShape::Object { .. }, NodeShape::Object { .. })
                    | (NodeShape::Array(_), NodeShape::Array(_)) => self.parts(at, old, new, &[]),
                    _ => self.find(ChangeKind::TypeChanged, at, pair),
                }
            }
            (NodeShape::Union(_), _) | (_, NodeShape::Union(_)) => {
                reported.extend(self.unions(at, old, new));
            }
            (NodeShape::Choice(old_values), NodeShape::Choice(new_values)) => {
                self.choices(at, pair, old_values, new_values);
            }
            (NodeShape::Object { .. }, NodeShape::Object { .. })
            | (NodeShape::Array(_), NodeShape::Array(_)) => {
                self.parts(at, old, new, &[]);
            }
            (old, new) => match (covers(new, old), covers(old, new)) {
                (true, true) => {}
                (true, false) => self.find(ChangeKind::TypeWidened, at, pair),
                (false, true) => self.find(ChangeKind::TypeNarrowed, at, pair),
                (false, false) => self.find(ChangeKind::TypeChanged, at, pair),
            },
        }
        self.limits(at, [old, new], &reported);
    }

    fn limits(&mut self, at: &Spot, [old, new]: [NodeId; 2], told: &[&String]) {
        let (o, n) = (self.old.node(old), self.new.node(new));
        let names: SortedSet<&String> = o.limits.keys().chain(n.limits.keys()).collect();
        for name in names.into_iter().filter(|name| !told.contains(name)) {
            let (before, after) = (o.limits.get(name), n.limits.get(name));
            let same = if applied::is_applied(name) && before.is_some() && after.is_some() {
                // Names of definitions do not matter, and what they stand for does.
                self.same_parts(name, &o.applied, &n.applied)
            } else {
                before == after
            };
            if !same {
                let detail = DifferenceDetail::Limit(name.clone(), before.cloned(), after.cloned());
                let pair = [Some(old), Some(new)];
                self.report(ChangeKind::ConstraintChanged, at, pair, [None; 2], detail);
            }
        }
    }

    /// Returns whether a keyword is made of the same schemas.
    fn same_parts(
        &self,
        keyword: &str,
        old: &SortedMap<String, NodeId>,
        new: &SortedMap<String, NodeId>,
    ) -> bool {
        let mut places = old.keys().chain(new.keys()).filter(|place| {
            let rest = place.strip_prefix(keyword);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        places.all(|place| {
            let both = old.get(place).zip(new.get(place));
            both.is_some_and(|(old, new)| self.same(*old, *new))
        })
    }

    fn choices(&mut self, at: &Spot, pair: [Option<NodeId>; 2], old: &[Value], new: &[Value]) {
        if let ([before], [after]) = (old, new) {
            if before != after {
                self.find(ChangeKind::ConstChanged, at, pair);
            }
            return;
        }
        for (values, others, kind) in [
            (new, old, ChangeKind::EnumValueAdded),
            (old, new, ChangeKind::EnumValueRemoved),
        ] {
            for value in values.iter().filter(|value| !others.contains(value)) {
                let detail = DifferenceDetail::Value(value.clone());
                self.report(kind, at, pair, [None; 2], detail);
            }
        }
    }

    /// Compares the parts of two objects, but for the members `beside`, or of two lists.
    fn parts(&mut self, at: &Spot, old: NodeId, new: NodeId, beside: &[&str]) {
        let (o, n) = (&self.old.node(old).shape, &self.new.node(new).shape);
        if let (NodeShape::Array(old), NodeShape::Array(new)) = (o, n) {
            let item = &at.with(PathSegment::Item);
            match [*old, *new] {
                [Some(old), Some(new)] => self.value(item, old, new),
                items @ [None, Some(_)] => self.find(ChangeKind::TypeNarrowed, item, items),
                items @ [Some(_), None] => self.find(ChangeKind::TypeWidened, item, items),
                [None, None] => {}
            }
        }
        let (Some((olds, old_rest)), Some((news, new_rest))) = (o.object(), n.object()) else {
            return;
        };
        let mut names: SortedSet<&String> = olds.keys().chain(news.keys()).collect();
        names.retain(|name| !beside.contains(&name.as_str()));
        // An object that admits any member admits any value of it; a name with a prefix is its owner's alone.
        // An object without a member of its own is one of which nothing is said yet.
        let free = [
            self.old.node(old).free && !olds.is_empty(),
            self.new.node(new).free && !news.is_empty(),
        ];
        for name in names {
            let pair = [olds, news].map(|of| of.get(name).copied());
            let is_owned = bare(name) != name.as_str();
            let binds =
                |member: GraphMember, graph: &Graph| !member.required && !graph.is_any(member.node);
            let opened = match pair {
                [Some(member), None] if free[1] && binds(member, self.old) => {
                    ChangeKind::TypeWidened
                }
                [None, Some(member)] if free[0] && binds(member, self.new) => {
                    ChangeKind::TypeNarrowed
                }
                _ => ChangeKind::MemberRemoved,
            };
            if opened == ChangeKind::MemberRemoved || is_owned {
                self.member(at, name, pair, [old_rest, new_rest]);
                continue;
            }
            let inner = &at.with(PathSegment::Member(name.clone()));
            let nodes = pair.map(|member| member.map(|member| member.node));
            self.report(
                opened,
                inner,
                nodes,
                [None; 2],
                DifferenceDetail::Unnamed(GraphRest::Open),
            );
        }
        match (old_rest, new_rest) {
            (GraphRest::Open, GraphRest::Open) | (GraphRest::Closed, GraphRest::Closed) => {}
            (GraphRest::Each(old), GraphRest::Each(new)) => {
                self.value(&at.with(PathSegment::Each), old, new)
            }
            _ => self.find(ChangeKind::OpennessChanged, at, [Some(old), Some(new)]),
        }
    }

    /// Returns the choices of two nodes, by their places: those that are one, then those that the old and the new one has
    /// alone.
    pub(crate) fn paired(&self, olds: &Choices<'_>, news: &Choices<'_>) -> Vec<[Option<usize>; 2]> {
        let same = |o: usize, n: usize| self.same(olds.ids[o], news.ids[n]);
        let pairs = variants::pair(&olds.profiles, &news.profiles, true, same);
        let gone = (0..olds.ids.len()).filter(|o| pairs.iter().all(|(other, _)| other != o));
        let came = (0..news.ids.len()).filter(|n| pairs.iter().all(|(_, other)| other != n));
        (pairs.iter())
            .map(|(o, n)| [Some(*o), Some(*n)])
            .chain(gone.map(|o| [Some(o), None]))
            .chain(came.map(|n| [None, Some(n)]))
            .collect()
    }

    /// Compares the choices of two nodes; returns the limits that are reported with one of them.
    fn unions(&mut self, at: &Spot, old: NodeId, new: NodeId) -> Vec<&'g String> {
        let mut olds = Choices::of(self.old, old);
        let mut news = Choices::of(self.new, new);
        news.leave_out_parts(&olds);
        olds.leave_out_parts(&news);
        let pairs = self.paired(&olds, &news);
        let apart = pairs.iter().all(|pair| pair.contains(&None));
        if apart && (olds.ids.len() == 1 || news.ids.len() == 1) {
            self.find(ChangeKind::TypeChanged, at, [Some(old), Some(new)]);
            return Vec::new();
        }
        // A node that is not a union is a choice by itself. Its limits are those of this choice, unless the union has them as well.
        let (o, n) = (self.old.node(old), self.new.node(new));
        let is_union = |shape: &NodeShape| matches!(shape, NodeShape::Union(_));
        let (own, around) = match (is_union(&o.shape), is_union(&n.shape)) {
            (true, false) => (Some(&n.limits), &o.limits),
            (false, true) => (Some(&o.limits), &n.limits),
            _ => (None, &n.limits),
        };
        let own_names = own.into_iter().flat_map(|limits| limits.keys());
        let (told_here, told_within): (Vec<&String>, Vec<&String>) =
            own_names.partition(|name| around.contains_key(*name));
        let none = SortedSet::new();
        for [o, n] in pairs {
            let nodes = [o.map(|at| olds.ids[at]), n.map(|at| news.ids[at])];
            if let [Some(old), Some(new)] = nodes
                && self.same(old, new)
            {
                continue;
            }
            let in_old = o.map_or(&none, |at| &olds.profiles[at].required);
            let in_new = n.map_or(&none, |at| &news.profiles[at].required);
            let of_old = o.map(|at| olds.selector(at, in_new));
            let of_new = n.map(|at| news.selector(at, in_old));
            let text = match (of_old, of_new) {
                (Some(old), Some(_)) if news.ids.len() == 1 => old,
                (Some(_), Some(new)) if olds.ids.len() == 1 => new,
                (Some(old), Some(new)) => {
                    std::cmp::min_by_key(old, new, |text| (text.len(), text.clone()))
                }
                (old, new) => old.or(new).unwrap_or_default(),
            };
            let inner = &at.with(PathSegment::Choice(Selector { text, nodes }));
            match nodes {
                [Some(old), Some(new)] if told_here.is_empty() => self.value(inner, old, new),
                [Some(old), Some(new)] => self.shapes(inner, old, new, &told_here),
                [_, None] => self.find(ChangeKind::UnionMemberRemoved, inner, nodes),
                [None, _] => self.find(ChangeKind::UnionMemberAdded, inner, nodes),
            }
        }
        told_within
    }
}

/// Returns whether a scalar shape admits all values of another one; a number may be an integer.
fn covers(wide: &NodeShape, narrow: &NodeShape) -> bool {
    let NodeShape::Scalar(wide) = wide else {
        return false;
    };
    let is_wide = |kind: JsonType| wide.contains(&kind);
    let whole = is_wide(JsonType::Integer) || is_wide(JsonType::Number);
    match narrow {
        NodeShape::Scalar(kinds) => {
            (kinds.iter()).all(|kind| is_wide(*kind) || whole && *kind == JsonType::Integer)
        }
        NodeShape::Choice(values) => values.iter().all(|value| match value {
            Value::Number(number) if !number.is_f64() => whole,
            Value::Number(_) => is_wide(JsonType::Number),
            value => wide.iter().any(|kind| kind.admits(value)),
        }),
        _ => false,
    }
}
