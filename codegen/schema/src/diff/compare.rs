//! The comparison itself: pairs of shapes that stand at the same wire path, each compared once.
//!
//! A [`Site`] is a pair of shapes that may be reached from many places; what differs in it is a
//! [`Finding`], listed once. Which wire paths reach a site is worked out afterwards, in `walk`.

use crate::sorted::{SortedMap, SortedSet};
use std::collections::HashMap;

use serde_json::Value;

use super::classes::Classes;
use super::graph::{Graph, Member, NodeId, Rest, Shape};
use super::kind::Kind;
use super::path::{Segment, Selector};
use super::site::{Detail, Finding, Place, Site, SiteId, place};
use super::variants::{self, Choices};
use crate::schema::JsonType;
use crate::schema::applied;

/// Compares two graphs site by site.
pub(crate) struct Comparer<'g> {
    old: &'g Graph,
    new: &'g Graph,
    classes: Classes,
    pub(crate) sites: Vec<Site>,
    known: HashMap<(u32, u32, String), SiteId>,
    open: Vec<(SiteId, NodeId, NodeId)>,
}

impl<'g> Comparer<'g> {
    pub(crate) fn new(old: &'g Graph, new: &'g Graph) -> Self {
        Self {
            old,
            new,
            classes: Classes::of(old, new),
            sites: Vec::new(),
            known: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// Whether two nodes are equal on the wire.
    pub(crate) fn same(&self, old: NodeId, new: NodeId) -> bool {
        self.classes.old[self.old.resolve(old)] == self.classes.new[self.new.resolve(new)]
    }

    /// A site for one member of two messages, such as `params`.
    pub(crate) fn root(
        &mut self,
        places: Place,
        member: &str,
        pair: [Option<Member>; 2],
    ) -> SiteId {
        let site = self.site(places);
        self.member(site, &[], member, pair);
        self.drain();
        site
    }

    /// A site for two whole values.
    pub(crate) fn whole(&mut self, places: Place, old: NodeId, new: NodeId) -> SiteId {
        let site = self.site(places);
        self.value(site, &[], old, new);
        self.drain();
        site
    }

    fn site(&mut self, places: Place) -> SiteId {
        self.sites.push(Site {
            places: SortedSet::from([places]),
            ..Site::default()
        });
        self.sites.len() - 1
    }

    fn drain(&mut self) {
        while let Some((site, old, new)) = self.open.pop() {
            self.shapes(site, &[], old, new);
        }
    }

    fn find(&mut self, site: SiteId, kind: Kind, segments: &[Segment], pair: [Option<NodeId>; 2]) {
        self.report(site, kind, segments, pair, Detail::None);
    }

    fn report(
        &mut self,
        site: SiteId,
        kind: Kind,
        segments: &[Segment],
        [old, new]: [Option<NodeId>; 2],
        detail: Detail,
    ) {
        self.sites[site].findings.push(Finding {
            kind,
            segments: segments.to_vec(),
            old,
            new,
            required: [None; 2],
            detail,
        });
    }

    fn member(
        &mut self,
        site: SiteId,
        segments: &[Segment],
        name: &str,
        pair: [Option<Member>; 2],
    ) {
        let segments = &with(segments, Segment::Member(name.to_owned()));
        let nodes = pair.map(|member| member.map(|member| member.node));
        let required = pair.map(|member| member.map(|member| member.required));
        let kind = match required {
            [None, None] => return,
            [None, Some(true)] => Some(Kind::MemberAddedRequired),
            [None, Some(false)] => Some(Kind::MemberAddedOptional),
            [Some(_), None] => Some(Kind::MemberRemoved),
            [Some(false), Some(true)] => Some(Kind::BecameRequired),
            [Some(true), Some(false)] => Some(Kind::BecameOptional),
            _ => None,
        };
        if let Some(kind) = kind {
            self.find(site, kind, segments, nodes);
            let finding = self.sites[site].findings.last_mut();
            finding.into_iter().for_each(|one| one.required = required);
        }
        if let [Some(old), Some(new)] = nodes {
            self.value(site, segments, old, new);
        }
    }

    /// Two values at the same path: compared here, or as a site of their own where they can be shared.
    fn value(&mut self, site: SiteId, segments: &[Segment], old: NodeId, new: NodeId) {
        if self.same(old, new) {
            return;
        }
        let (o, n) = (self.old.resolve(old), self.new.resolve(new));
        let names = (self.old.name(old), self.new.name(new));
        let composite = |graph: &Graph, id| match &graph.node(id).shape {
            Shape::Object { members, rest } => !members.is_empty() || matches!(rest, Rest::Each(_)),
            Shape::Union(_) => true,
            _ => false,
        };
        let named = match names {
            (Some(old), Some(new)) => format!("{old} {new}"),
            _ => String::new(),
        };
        let either = composite(self.old, o) || composite(self.new, n);
        if !either && named.is_empty() {
            return self.shapes(site, segments, o, n);
        }
        let key = match either {
            true => String::new(),
            false => named,
        };
        let key = (self.classes.old[o], self.classes.new[n], key);
        let child = match self.known.get(&key) {
            Some(child) => *child,
            None => {
                let child = self.sites.len();
                self.sites.push(Site::default());
                self.known.insert(key, child);
                self.open.push((child, o, n));
                child
            }
        };
        let places: Vec<Place> = (self.sites[site].places.iter().take(1))
            .map(|owner| Place {
                old: names
                    .0
                    .map_or_else(|| place(&owner.old, segments), str::to_owned),
                new: names
                    .1
                    .map_or_else(|| place(&owner.new, segments), str::to_owned),
            })
            .collect();
        self.sites[child].places.extend(places);
        self.sites[site].edges.push((segments.to_vec(), child));
    }

    fn shapes(&mut self, site: SiteId, segments: &[Segment], old: NodeId, new: NodeId) {
        let (old_graph, new_graph) = (self.old, self.new);
        let (o, n) = (old_graph.node(old), new_graph.node(new));
        let pair = [Some(old), Some(new)];
        match (o.deprecated, n.deprecated) {
            (false, true) => self.find(site, Kind::Deprecated, segments, pair),
            (true, false) => self.find(site, Kind::Undeprecated, segments, pair),
            _ => {}
        }
        match (&o.shape, &n.shape) {
            (Shape::Any, Shape::Any) => {}
            (Shape::Any, _) => self.find(site, Kind::TypeNarrowed, segments, pair),
            (_, Shape::Any) => self.find(site, Kind::TypeWidened, segments, pair),
            _ if o.untyped != n.untyped => {
                let kind = match o.untyped {
                    true => Kind::TypeNarrowed,
                    false => Kind::TypeWidened,
                };
                self.find(site, kind, segments, pair);
                match (&o.shape, &n.shape) {
                    (Shape::Object { .. }, Shape::Object { .. }) => {
                        self.objects(site, segments, old, new);
                    }
                    (Shape::Array(old), Shape::Array(new)) => {
                        self.items(site, segments, [*old, *new])
                    }
                    _ => self.find(site, Kind::TypeChanged, segments, pair),
                }
            }
            (Shape::Union(_), _) | (_, Shape::Union(_)) => {
                self.unions(site, segments, old, new);
            }
            (Shape::Object { .. }, Shape::Object { .. }) => self.objects(site, segments, old, new),
            (Shape::Array(old), Shape::Array(new)) => self.items(site, segments, [*old, *new]),
            (Shape::Choice(old_values), Shape::Choice(new_values)) => {
                self.choices(site, segments, pair, old_values, new_values);
            }
            (old, new) => match (covers(new, old), covers(old, new)) {
                (true, true) => {}
                (true, false) => self.find(site, Kind::TypeWidened, segments, pair),
                (false, true) => self.find(site, Kind::TypeNarrowed, segments, pair),
                (false, false) => self.find(site, Kind::TypeChanged, segments, pair),
            },
        }
        self.limits(site, segments, [old, new]);
    }

    fn items(&mut self, site: SiteId, segments: &[Segment], items: [Option<NodeId>; 2]) {
        let segments = &with(segments, Segment::Item);
        match items {
            [Some(old), Some(new)] => self.value(site, segments, old, new),
            [None, Some(_)] => self.find(site, Kind::TypeNarrowed, segments, items),
            [Some(_), None] => self.find(site, Kind::TypeWidened, segments, items),
            [None, None] => {}
        }
    }

    fn limits(&mut self, site: SiteId, segments: &[Segment], [old, new]: [NodeId; 2]) {
        let (o, n) = (self.old.node(old), self.new.node(new));
        let names: SortedSet<&String> = o.limits.keys().chain(n.limits.keys()).collect();
        for name in names {
            let (before, after) = (o.limits.get(name), n.limits.get(name));
            let same = match applied::is_applied(name) && before.is_some() && after.is_some() {
                // Names of definitions do not matter, and what they stand for does.
                true => self.same_parts(name, &o.applied, &n.applied),
                false => before == after,
            };
            if !same {
                let detail = Detail::Limit(name.clone(), before.cloned(), after.cloned());
                let pair = [Some(old), Some(new)];
                self.report(site, Kind::ConstraintChanged, segments, pair, detail);
            }
        }
    }

    /// Whether a keyword is made of the same schemas.
    fn same_parts(
        &self,
        keyword: &str,
        old: &SortedMap<String, NodeId>,
        new: &SortedMap<String, NodeId>,
    ) -> bool {
        let of = |parts: &SortedMap<String, NodeId>| -> Vec<(String, NodeId)> {
            let own = parts.iter().filter(|(place, _)| {
                (place.strip_prefix(keyword))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            own.map(|(place, node)| (place.clone(), *node)).collect()
        };
        let (old, new) = (of(old), of(new));
        old.len() == new.len()
            && (old.iter().zip(&new)).all(|((at, o), (place, n))| at == place && self.same(*o, *n))
    }

    fn choices(
        &mut self,
        site: SiteId,
        segments: &[Segment],
        pair: [Option<NodeId>; 2],
        old: &[Value],
        new: &[Value],
    ) {
        if let ([before], [after]) = (old, new) {
            if before != after {
                self.find(site, Kind::ConstChanged, segments, pair);
            }
            return;
        }
        for (values, others, kind) in [
            (new, old, Kind::EnumValueAdded),
            (old, new, Kind::EnumValueRemoved),
        ] {
            for value in values.iter().filter(|value| !others.contains(value)) {
                let detail = Detail::Value(value.clone());
                self.report(site, kind, segments, pair, detail);
            }
        }
    }

    fn objects(&mut self, site: SiteId, segments: &[Segment], old: NodeId, new: NodeId) {
        let (old_graph, new_graph) = (self.old, self.new);
        let (
            Shape::Object {
                members: old_members,
                rest: old_rest,
            },
            Shape::Object {
                members: new_members,
                rest: new_rest,
            },
        ) = (&old_graph.node(old).shape, &new_graph.node(new).shape)
        else {
            return;
        };
        let names: SortedSet<&String> = old_members.keys().chain(new_members.keys()).collect();
        for name in names {
            let pair = [
                old_members.get(name).copied(),
                new_members.get(name).copied(),
            ];
            self.member(site, segments, name, pair);
        }
        match (old_rest, new_rest) {
            (Rest::Open, Rest::Open) | (Rest::Closed, Rest::Closed) => {}
            (Rest::Each(old), Rest::Each(new)) => {
                self.value(site, &with(segments, Segment::Each), *old, *new);
            }
            _ => self.find(
                site,
                Kind::OpennessChanged,
                segments,
                [Some(old), Some(new)],
            ),
        }
    }

    /// The choices of two nodes, by their places: those that are one, then those that the old and the new one has alone.
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

    fn unions(&mut self, site: SiteId, segments: &[Segment], old: NodeId, new: NodeId) {
        let olds = Choices::of(self.old, old);
        let news = Choices::of(self.new, new);
        let pairs = self.paired(&olds, &news);
        let apart = pairs.iter().all(|pair| pair.contains(&None));
        if apart && (olds.ids.len() == 1 || news.ids.len() == 1) {
            return self.find(site, Kind::TypeChanged, segments, [Some(old), Some(new)]);
        }
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
                (Some(old), Some(new)) => match (old.len(), &old) <= (new.len(), &new) {
                    true => old,
                    false => new,
                },
                (old, new) => old.or(new).unwrap_or_default(),
            };
            let [old, new] = nodes;
            let segments = &with(segments, Segment::Choice(Selector { text, old, new }));
            match nodes {
                [Some(old), Some(new)] => self.value(site, segments, old, new),
                [_, None] => self.find(site, Kind::UnionMemberRemoved, segments, nodes),
                [None, _] => self.find(site, Kind::UnionMemberAdded, segments, nodes),
            }
        }
    }
}

fn with(segments: &[Segment], segment: Segment) -> Vec<Segment> {
    let mut longer = segments.to_vec();
    longer.push(segment);
    longer
}

/// Whether a scalar shape admits all values of another one.
fn covers(wide: &Shape, narrow: &Shape) -> bool {
    let is_choice = matches!(wide, Shape::Choice(_));
    let both = kinds(wide).zip(kinds(narrow));
    !is_choice && both.is_some_and(|(wide, narrow)| wide.is_superset(&narrow))
}

/// The JSON kinds of a scalar shape; a number may be an integer.
fn kinds(shape: &Shape) -> Option<SortedSet<JsonType>> {
    let mut kinds: SortedSet<JsonType> = match shape {
        Shape::Scalar(kinds) => kinds.clone(),
        Shape::Choice(values) => values
            .iter()
            .map(|value| match value {
                Value::Null => Some(JsonType::Null),
                Value::Bool(_) => Some(JsonType::Boolean),
                Value::Number(number) if number.is_f64() => Some(JsonType::Number),
                Value::Number(_) => Some(JsonType::Integer),
                Value::String(_) => Some(JsonType::String),
                Value::Array(_) | Value::Object(_) => None,
            })
            .collect::<Option<_>>()?,
        _ => return None,
    };
    if kinds.contains(&JsonType::Number) {
        kinds.insert(JsonType::Integer);
    }
    Some(kinds)
}
