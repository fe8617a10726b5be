//! Limits of a member that only the target's schema has, by keywords that no type expresses.
//!
//! The model keeps some members as opaque text; here they are seen through to what the schemas say of them.
//! The comparison is that of the diff; its findings become questions of one way, which a plan of conversions asks.

use mcp_revisions_schema::sorted::SortedSet;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::{
    ChangeKind, Comparer, DiffLocation, DifferenceDetail, Envelope, Graph, GraphRest, Node,
    NodeShape, PathSegment, SchemaDifference, classes, line, place, refuses_more,
};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::model::{Member, MethodKind, Model, Ty, TypeDef};
use mcp_revisions_schema::pair::StepDirection;
use mcp_revisions_schema::schema::applied::is_hint;

/// A limit of the target on a member that the source does not have.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    /// The place that a hook names in `covers`.
    pub place: String,
    /// The names on the way from the member to the place.
    pub inside: Vec<String>,
    /// The limit, in words.
    pub asks: String,
}

/// A finding at a member or inside it: the way from the value of the member to what differs, and what differs.
type Difference = (Vec<PathSegment>, SchemaDifference);

/// The limits of two schemas on the members that both have, compared once for both ways.
pub struct MemberLimits<'g> {
    graphs: [&'g Graph; 2],
    /// The objects of each, by the JSON pointers of their schemas.
    objects: [HashMap<&'g str, Node>; 2],
    comparer: RefCell<Comparer<'g>>,
}

/// The schemas of two models as graphs, compared as far as no rule matters: plans of one pair by several rule files share it.
#[derive(Debug)]
pub struct ComparedSchemas {
    graphs: [Graph; 2],
    classes: Arc<[Vec<usize>; 2]>,
}

impl ComparedSchemas {
    /// Compares the schemas of two models. Returns an error for each schema that has no graph, such as one whose references go
    /// round in a circle.
    pub fn of(old: &Model, new: &Model) -> Result<Self, Vec<Error>> {
        match [old, new].map(|model| Graph::of(&model.schema)) {
            [Ok(old), Ok(new)] => Ok(Self {
                classes: classes(&old, &new).into(),
                graphs: [old, new],
            }),
            graphs => Err(graphs.into_iter().filter_map(Result::err).collect()),
        }
    }
}

impl<'g> MemberLimits<'g> {
    /// Creates the limits of two schemas that were compared.
    pub fn of(compared: &'g ComparedSchemas) -> Self {
        let [old, new] = &compared.graphs;
        let graphs = [old, new];
        Self {
            graphs,
            objects: graphs.map(objects),
            comparer: RefCell::new(Comparer::of_classes(graphs, compared.classes.clone())),
        }
    }

    /// Returns whether two messages differ in what stands beside their method and params; each is known by the JSON pointer of
    /// its schema, the older one first.
    pub fn messages_differ(&self, pointers: [&str; 2], kind: MethodKind) -> bool {
        self.differ_beside(
            pointers,
            match kind {
                MethodKind::Notification => Envelope::NOTIFICATION,
                MethodKind::Request | MethodKind::Input => Envelope::REQUEST,
            },
        )
    }

    /// Does the same as [`messages_differ`](Self::messages_differ) for what stands beside the results of two responses.
    pub fn responses_differ(&self, pointers: [&str; 2]) -> bool {
        self.differ_beside(pointers, Envelope::RESPONSE)
    }

    fn differ_beside(&self, pointers: [&str; 2], envelope: Envelope) -> bool {
        let object = |side: usize| self.objects[side].get(pointers[side]).copied();
        let (Some(old), Some(new)) = (object(0), object(1)) else {
            return false;
        };
        let mut comparer = self.comparer.borrow_mut();
        let site = comparer.message(DiffLocation::default(), envelope.uncompared(), old, new);
        let site = &comparer.sites[site];
        // A remark on a message changes nothing of it.
        let changes = |finding: &SchemaDifference| {
            !matches!(
                finding.kind,
                ChangeKind::Deprecated | ChangeKind::Undeprecated
            )
        };
        !site.edges.is_empty() || site.findings.iter().any(changes)
    }

    /// Returns the limits of the target that the source does not have. Source and target are given in the direction of `way`.
    pub fn tighter(
        &self,
        owners: [&TypeDef; 2],
        [source, target]: [&Member; 2],
        way: StepDirection,
    ) -> Vec<Limit> {
        let text = is_text(&source.ty) && is_text(&target.ty);
        let [from, to] = owners.map(|def| def.pointer.as_str());
        let ends = way.ends([(from, source), (to, target)]);
        let differences =
            self.differences(ends.map(|(owner, member)| (owner, &*member.wire)), text);
        let [_, graph] = way.ends(self.graphs);
        // Two types with different kinds of values differ as types; unions of other names are planned by their choices.
        let unions = [source, target].map(|member| member.ty.named());
        let told = if text {
            source.ty != target.ty
        } else {
            source.ty.innermost() != target.ty.innermost() && unions.contains(&None)
        };
        let asks_more = |(inside, finding): &&Difference| {
            let limits = !text && matches!(finding.detail, DifferenceDetail::Limit(..));
            !told || limits || is_named(inside)
        };
        let mut limits: Vec<Limit> = Vec::new();
        for difference in differences.iter().filter(asks_more) {
            for asks in requirements(difference, way, graph, text) {
                let limit = if text {
                    inside(&target.wire, difference, asks)
                } else {
                    // The type says what stands there: the limit is one of the member.
                    Limit {
                        place: target.wire.clone(),
                        inside: Vec::new(),
                        asks,
                    }
                };
                if !limits.contains(&limit) {
                    limits.push(limit);
                }
            }
        }
        limits.sort_by(|a, b| (&a.place, &a.asks).cmp(&(&b.place, &b.asks)));
        limits
    }

    /// Returns the limit of a member that the target keeps as text and the source does not name; `None` if it names no
    /// part of its value.
    pub fn own(&self, owner: &TypeDef, member: &Member, way: StepDirection) -> Option<Limit> {
        if !is_text(&member.ty) {
            return None;
        }
        let [_, (graph, objects)] =
            way.ends([0, 1].map(|side: usize| (self.graphs[side], &self.objects[side])));
        let object = *objects.get(owner.pointer.as_str())?;
        let node = graph.member(object, &member.wire)?.node;
        let (parts, _) = graph.node(node).shape.object()?;
        (!parts.is_empty()).then(|| Limit {
            place: member.wire.clone(),
            inside: Vec::new(),
            asks: format!("it is {} in the target", line(graph, node, true)),
        })
    }

    /// Returns whether the target's schema refuses values of a member that its type can hold: by a limit of the value, or of
    /// anything in it.
    pub fn is_bounded(&self, owner: &TypeDef, member: &Member, way: StepDirection) -> bool {
        let [_, (graph, objects)] =
            way.ends([0, 1].map(|side: usize| (self.graphs[side], &self.objects[side])));
        let object = objects.get(owner.pointer.as_str());
        let Some(found) = object.and_then(|object| graph.member(*object, &member.wire)) else {
            return false;
        };
        let mut seen = SortedSet::from_iter([found.node]);
        let mut ahead = vec![found.node];
        while let Some(id) = ahead.pop() {
            let node = graph.node(id);
            if node.limits.keys().any(|keyword| !is_hint(keyword)) {
                return true;
            }
            let below: Vec<Node> = match &node.shape {
                NodeShape::Object { members, rest } => {
                    let named = members.values().map(|member| member.node);
                    named.chain(rest.each()).collect()
                }
                NodeShape::Array(items) => items.iter().copied().collect(),
                NodeShape::Union(choices) => choices.clone(),
                NodeShape::Alias(_)
                | NodeShape::Any
                | NodeShape::Scalar(_)
                | NodeShape::Choice(_) => Vec::new(),
            };
            ahead.extend(below.into_iter().filter(|id| seen.insert(*id)));
        }
        false
    }

    /// Returns the differences at a member that both objects name, to the end or to where its own members have names: these are
    /// planned by themselves. The objects are known by the JSON pointers of their schemas, and the member by its name in
    /// each.
    fn differences(&self, ends: [(&str, &str); 2], to_the_end: bool) -> Vec<Difference> {
        let member = |side: usize| {
            let (owner, wire) = ends[side];
            let object = *self.objects[side].get(owner)?;
            self.graphs[side].member(object, wire)
        };
        let (Some(old), Some(new)) = (member(0), member(1)) else {
            return Vec::new();
        };
        let mut comparer = self.comparer.borrow_mut();
        if comparer.same(old.node, new.node) {
            return Vec::new();
        }
        let root = comparer.root(DiffLocation::default(), ends[1].1, [Some(old), Some(new)]);
        let mut found = Vec::new();
        let mut seen = SortedSet::from_iter([root]);
        // The first segment is the member itself.
        let mut ahead = vec![(root, Vec::new(), 1)];
        while let Some((site, way, hidden)) = ahead.pop() {
            let site = &comparer.sites[site];
            let inside = |segments: &[PathSegment]| -> Option<Vec<PathSegment>> {
                let inner = segments.get(hidden..).unwrap_or_default();
                (to_the_end || !is_named(inner)).then(|| [&way, inner].concat())
            };
            for finding in &site.findings {
                let mut difference = finding.clone();
                // A conversion keeps every member that its object does not name.
                difference.kind = match (&difference.detail, difference.kind) {
                    (DifferenceDetail::Unnamed(GraphRest::Open), ChangeKind::TypeWidened) => {
                        ChangeKind::MemberRemoved
                    }
                    (DifferenceDetail::Unnamed(GraphRest::Open), ChangeKind::TypeNarrowed) => {
                        ChangeKind::MemberAddedOptional
                    }
                    (_, kind) => kind,
                };
                let inside = inside(&difference.segments);
                found.extend(inside.map(|inside| (inside, difference.clone())));
            }
            for (segments, child) in &site.edges {
                if let Some(inside) = inside(segments).filter(|_| seen.insert(*child)) {
                    ahead.push((*child, inside, 0));
                }
            }
        }
        found
    }
}

/// Returns the objects of a graph, by the JSON pointers of their schemas.
fn objects(graph: &Graph) -> HashMap<&str, Node> {
    let mut objects = HashMap::new();
    for id in 0..graph.len() {
        let node = graph.node(id);
        if matches!(node.shape, NodeShape::Object { .. }) {
            objects.entry(node.pointer.as_str()).or_insert(id);
        }
    }
    objects
}

fn is_named(segments: &[PathSegment]) -> bool {
    let is_name = |segment: &PathSegment| matches!(segment, PathSegment::Member(_));
    segments.iter().any(is_name)
}

/// Returns a limit within a member whose value is kept as text.
fn inside(wire: &str, (segments, _): &Difference, asks: String) -> Limit {
    let names = segments.iter().filter_map(|segment| match segment {
        PathSegment::Member(name) => Some(name.clone()),
        PathSegment::Item | PathSegment::Each | PathSegment::Choice(_) => None,
    });
    Limit {
        place: place(wire, segments),
        inside: names.collect(),
        asks,
    }
}

/// Returns whether nothing is known of a value but that it is JSON, or how it is held.
pub fn is_text(ty: &Ty) -> bool {
    matches!(ty.innermost(), Ty::Json | Ty::JsonObject | Ty::JsonArray)
}

/// Returns the requirement of the target that a difference adds, in words; nothing if it takes all that the source allows.
///
/// A name that only the target knows is taken to mean there what it means to it: asked is no more than that it is
/// there, that it is one value, and what each part of it has to be.
fn requirements(
    (inside, finding): &Difference,
    way: StepDirection,
    target: &Graph,
    text: bool,
) -> Vec<String> {
    let [_, node] = way.ends(finding.nodes);
    if let DifferenceDetail::Limit(name, old, new) = &finding.detail {
        let [before, now] = way.ends([old.as_ref(), new.as_ref()]);
        let items = inside.iter().filter(|one| **one == PathSegment::Item);
        let name = format!("{}{name}", "[]".repeat(items.count()));
        let limit = now.and_then(|now| limit(&name, before, now));
        return limit.into_iter().collect();
    }
    if !text {
        // A type says that a value is a boolean or a number, and not which.
        let only = node.and_then(|node| target.constant(node));
        let narrows = match (finding.kind, way) {
            (ChangeKind::TypeNarrowed, StepDirection::Up)
            | (ChangeKind::TypeWidened, StepDirection::Down) => true,
            (kind, _) => kind == ChangeKind::ConstChanged,
        };
        let it = if inside
            .iter()
            .any(|one| matches!(one, PathSegment::Item | PathSegment::Each))
        {
            "each of what it holds"
        } else {
            "it"
        };
        let stated = only.filter(|only| narrows && !only.is_string());
        let asks = stated.map(|stated| format!("{it} is {stated} in the target"));
        return asks.into_iter().collect();
    }
    let is = |words: &str| vec![format!("it is {words} in the target")];
    let shape = || node.map_or_else(Vec::new, |node| is(&line(target, node, true)));
    let [_, required] = way.ends(finding.required);
    let there = (required == Some(true)).then(|| "it must be there in the target".to_owned());
    match (finding.kind, way) {
        (ChangeKind::BecameRequired | ChangeKind::BecameOptional, _) => there.into_iter().collect(),
        (
            ChangeKind::MemberAddedOptional
            | ChangeKind::MemberAddedRequired
            | ChangeKind::MemberRemoved,
            _,
        ) => {
            let Some(node) = node else {
                return Vec::new();
            };
            there.into_iter().chain(fixed(target, node)).collect()
        }
        (ChangeKind::TypeNarrowed, StepDirection::Up)
        | (ChangeKind::TypeWidened, StepDirection::Down) => shape(),
        (ChangeKind::TypeChanged | ChangeKind::ConstChanged, _) => shape(),
        (ChangeKind::EnumValueRemoved, StepDirection::Up)
        | (ChangeKind::EnumValueAdded, StepDirection::Down) => match &finding.detail {
            DifferenceDetail::Value(value) => vec![format!("it is never {value} in the target")],
            _ => Vec::new(),
        },
        (ChangeKind::UnionMemberRemoved, StepDirection::Up)
        | (ChangeKind::UnionMemberAdded, StepDirection::Down) => {
            vec!["this choice is none in the target".to_owned()]
        }
        (ChangeKind::OpennessChanged, _) => match node.map(|node| &target.node(node).shape) {
            Some(NodeShape::Object {
                rest: GraphRest::Each(each),
                ..
            }) => vec![each_is(target, *each)],
            Some(NodeShape::Object {
                rest: GraphRest::Closed,
                ..
            }) => vec!["it holds nothing else in the target".to_owned()],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns the requirement of a schema for a member that the other one does not name, in words.
fn fixed(graph: &Graph, node: Node) -> Option<String> {
    if let Some(only) = graph.constant(node) {
        return Some(format!("it is {only} in the target"));
    }
    match &graph.node(node).shape {
        NodeShape::Object {
            rest: GraphRest::Each(each),
            ..
        } => Some(each_is(graph, *each)),
        _ => None,
    }
}

fn each_is(graph: &Graph, each: Node) -> String {
    let kind = match &graph.node(each).shape {
        NodeShape::Object { .. } => "of type object".to_owned(),
        _ => line(graph, each, true),
    };
    format!("each of what it holds is {kind} in the target")
}

/// Returns a limit that is tighter than the one before, in words.
fn limit(name: &str, before: Option<&Value>, now: &Value) -> Option<String> {
    let bare = name.trim_start_matches("[]");
    // The keyword `default` does not limit the values of a member.
    if bare == "default" {
        return None;
    }
    let Some(before) = before else {
        return Some(format!("it has {name} {now} in the target"));
    };
    refuses_more(bare, Some(before), Some(now))
        .then(|| format!("its {name} changed from {before} to {now}"))
}
