//! Pairs of the choices of an old and a new union: by constant tag, else by required members.
//!
//! Never by position: a choice that was put in front of the others is one added choice.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use serde_json::Value;

use super::graph::{Graph, NodeId, NodeShape};
use crate::words::joined;
use mcp_revisions_schema::model::{Model, Presence, Shape as Typed, Ty};

/// Returns the choices of a node: those of a union, else the node itself.
pub(crate) fn choices(graph: &Graph, id: NodeId) -> Vec<NodeId> {
    match &graph.node(id).shape {
        NodeShape::Union(variants) => variants.clone(),
        _ => vec![id],
    }
}

/// The choices of a node, and what can be seen of each.
pub(crate) struct Choices<'g> {
    graph: &'g Graph,
    pub(crate) ids: Vec<NodeId>,
    pub(crate) profiles: Vec<ChoiceMarks<'g>>,
}

/// The visible marks of a choice.
#[derive(Default)]
pub struct ChoiceMarks<'g> {
    kind: &'static str,
    /// Members with fixed values, as JSON.
    tags: SortedMap<&'g str, SortedSet<String>>,
    pub(crate) required: SortedSet<&'g str>,
    members: SortedSet<&'g str>,
    name: Option<&'g str>,
}

impl<'g> ChoiceMarks<'g> {
    fn of(graph: &'g Graph, id: NodeId) -> Self {
        let mut profile = Self {
            kind: kind(graph, id),
            name: graph.name(id),
            ..Self::default()
        };
        // Scalars are as near to each other as their kinds.
        if let NodeShape::Scalar(kinds) = &graph.node(id).shape {
            profile.members = kinds.iter().map(|kind| kind.name()).collect();
        }
        let object = graph.node(id).shape.object();
        for (name, member) in object.into_iter().flat_map(|(members, _)| members) {
            let values = match &graph.node(member.node).shape {
                NodeShape::Choice(values) => Some(values.as_slice()),
                _ => None,
            };
            profile.member(name, member.required, values);
        }
        profile
    }

    /// Returns the same of a type of a model.
    pub fn of_type(model: &'g Model, ty: &'g Ty) -> Self {
        let ty = model.resolve(ty);
        let shape = model.shape_of(ty);
        let kind = match (ty, shape) {
            (Ty::Array(_) | Ty::JsonArray, _) => "array",
            (Ty::Map(_) | Ty::JsonObject, _) | (_, Some(Typed::Object(_))) => "object",
            (_, Some(Typed::Union(_))) => "union",
            (Ty::Json, _) => "any",
            _ => "scalar",
        };
        let mut profile = Self {
            kind,
            name: ty.named(),
            ..Self::default()
        };
        let object = shape.and_then(Typed::object);
        for member in object.iter().flat_map(|it| &it.members) {
            let values = match &member.presence {
                Presence::Constant(value) => Some(std::slice::from_ref(value)),
                _ => None,
            };
            profile.member(&member.wire, member.presence != Presence::Optional, values);
        }
        profile
    }

    fn member(&mut self, name: &'g str, required: bool, fixed: Option<&[Value]>) {
        self.members.insert(name);
        if required {
            self.required.insert(name);
        }
        if let Some(fixed) = fixed {
            let values = fixed.iter().map(Value::to_string).collect();
            self.tags.insert(name, values);
        }
    }

    /// Returns whether a constant tag that both have tells them apart.
    fn contradicts(&self, other: &Self) -> bool {
        let mut tags = self.tags.iter();
        self.kind != other.kind
            || tags.any(|(name, values)| other.is_apart(name, values) == Some(true))
    }

    fn shares_tag(&self, other: &Self, telling: &SortedSet<&str>) -> bool {
        let mut tags = self.tags.iter().filter(|(name, _)| telling.contains(*name));
        tags.any(|(name, values)| other.is_apart(name, values) == Some(false))
    }

    /// Returns whether a tag of a choice holds none of these values; `None` if the choice does not have that tag.
    fn is_apart(&self, name: &str, values: &SortedSet<String>) -> Option<bool> {
        self.tags
            .get(name)
            .map(|own| !own.iter().any(|own| values.contains(own)))
    }
}

/// Returns the share of members that two choices have in common, or of definitions that two schemas have, in thousandths.
pub(super) fn share(left: &SortedSet<&str>, right: &SortedSet<&str>) -> usize {
    let shared = left.iter().filter(|name| right.contains(*name)).count();
    match left.len() + right.len() - shared {
        0 => 1000,
        all => shared * 1000 / all,
    }
}

fn kind(graph: &Graph, id: NodeId) -> &'static str {
    match &graph.node(id).shape {
        NodeShape::Object { .. } => "object",
        NodeShape::Array(_) => "array",
        NodeShape::Scalar(_) | NodeShape::Choice(_) => "scalar",
        NodeShape::Union(_) => "union",
        NodeShape::Any | NodeShape::Alias(_) => "any",
    }
}

/// Members whose fixed values differ between choices of one union.
fn telling<'g>(profiles: &[ChoiceMarks<'g>]) -> SortedSet<&'g str> {
    let mut values: SortedMap<&str, SortedSet<&SortedSet<String>>> = SortedMap::new();
    for profile in profiles {
        for (name, fixed) in &profile.tags {
            values.entry(name).or_default().insert(fixed);
        }
    }
    values.retain(|_, values| values.len() > 1);
    values.into_iter().map(|(name, _)| name).collect()
}

/// Pairs the choices of two unions, by their places; `same` says of which it is known that they are one.
///
/// Where `likely` is not enough, neither likeness makes a pair nor a sign that several
/// bear: people see the difference in such a pair, and a conversion would guess.
pub fn pair(
    olds: &[ChoiceMarks<'_>],
    news: &[ChoiceMarks<'_>],
    likely: bool,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut tells = telling(olds);
    tells.extend(telling(news));
    let mut open_old: Vec<usize> = (0..olds.len()).collect();
    let mut open_new: Vec<usize> = (0..news.len()).collect();
    let mut pairs: Vec<(usize, usize)> = Vec::new();

    let fits = |o: usize, n: usize| !olds[o].contradicts(&news[n]);
    let likeness = |o: usize, n: usize| share(&olds[o].required, &news[n].required);
    // From the surest sign to the weakest; the score orders the candidates of one sign.
    let signs: [&dyn Fn(usize, usize) -> Option<usize>; 5] = [
        &|o, n| same(o, n).then_some(1000),
        &|o, n| {
            let tagged = fits(o, n) && olds[o].shares_tag(&news[n], &tells);
            tagged.then(|| likeness(o, n))
        },
        &|o, n| (fits(o, n) && olds[o].required == news[n].required).then_some(1000),
        &|o, n| {
            let named = olds[o].name.is_some() && olds[o].name == news[n].name;
            (named && fits(o, n)).then_some(1000)
        },
        &|o, n| Some(likeness(o, n)).filter(|likeness| *likeness >= 500 && fits(o, n)),
    ];
    for sign in &signs[..if likely { 5 } else { 2 }] {
        let mut candidates: Vec<(usize, usize, usize, usize)> = Vec::new();
        for o in &open_old {
            for n in &open_new {
                if let Some(score) = sign(*o, *n) {
                    // All their members decide between some that a sign does not tell apart.
                    let kinship = share(&olds[*o].members, &news[*n].members);
                    candidates.push((1000 - score.min(1000), 1000 - kinship, *o, *n));
                }
            }
        }
        candidates.sort_unstable();
        if !likely {
            let all = candidates.clone();
            let rivals = |o, n| all.iter().filter(move |one| one.2 == o || one.3 == n);
            candidates.retain(|(_, _, o, n)| rivals(*o, *n).count() == 1);
        }
        for (_, _, o, n) in candidates {
            if open_old.contains(&o) && open_new.contains(&n) {
                open_old.retain(|other| *other != o);
                open_new.retain(|other| *other != n);
                pairs.push((o, n));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

impl<'g> Choices<'g> {
    pub(crate) fn of(graph: &'g Graph, id: NodeId) -> Self {
        let ids = choices(graph, id);
        let profiles = ids.iter().map(|id| ChoiceMarks::of(graph, *id)).collect();
        Self {
            graph,
            ids,
            profiles,
        }
    }

    /// Leaves out each scalar that is part of a scalar of several kinds among other choices, where another choice is the
    /// rest of that: `null` beside `true`, if `boolean | null` is among the others.
    pub(crate) fn leave_out_parts(&mut self, of: &Self) {
        let mut parts = SortedSet::new();
        for whole in &of.ids {
            let Some(kinds) = of.graph.kinds(*whole).filter(|kinds| kinds.len() > 1) else {
                continue;
            };
            let is_within = |id: &&NodeId| {
                let own = self.graph.kinds(**id);
                own.is_some_and(|own| {
                    own.len() < kinds.len() && own.iter().all(|it| kinds.contains(it))
                })
            };
            let is_plain = |id: &&NodeId| {
                let node = self.graph.node(**id);
                matches!(node.shape, NodeShape::Scalar(_)) && node.limits.is_empty()
            };
            let (plain, rest): (Vec<_>, Vec<_>) =
                self.ids.iter().filter(is_within).partition(is_plain);
            if !rest.is_empty() {
                parts.extend(plain.into_iter().copied());
            }
        }
        self.ids.retain(|id| !parts.contains(id));
        self.profiles = (self.ids.iter())
            .map(|id| ChoiceMarks::of(self.graph, *id))
            .collect();
    }

    /// Returns the text of a choice in a path: `type=image`, `blob`, `array`.
    ///
    /// `known` are members that the other side's choice requires as well; they are preferred, since they stay.
    pub(crate) fn selector(&self, at: usize, known: &SortedSet<&str>) -> String {
        let own = &self.profiles[at];
        let others = || self.profiles[..at].iter().chain(&self.profiles[at + 1..]);
        let tells = telling(&self.profiles);
        if own.kind != "object" {
            let lone = others().all(|other| other.kind != own.kind);
            return match (&self.graph.node(self.ids[at]).shape, lone) {
                (_, true) if own.kind != "scalar" => own.kind.to_owned(),
                (NodeShape::Scalar(kinds), _) => joined(kinds.iter().map(|kind| kind.name()), "|"),
                (NodeShape::Choice(values), _) => joined(values.iter().map(Value::to_string), "|"),
                _ => own.name.unwrap_or(own.kind).to_owned(),
            };
        }
        let plain = |values: &SortedSet<String>| {
            joined(values.iter().map(|value| value.trim_matches('"')), "|")
        };
        let tag = (own.tags.iter()).find(|(name, _)| tells.contains(*name));
        let tag_text = tag.map(|(name, values)| format!("{name}={}", plain(values)));
        let rivals: Vec<&ChoiceMarks<'_>> = others()
            .filter(|other| {
                other.kind == "object"
                    && tag.is_none_or(|(name, values)| other.is_apart(name, values) != Some(true))
            })
            .collect();
        if rivals.is_empty() {
            return tag_text.unwrap_or_else(|| "object".to_owned());
        }
        let special: Vec<&str> = (own.required.iter().copied())
            .filter(|name| rivals.iter().any(|rival| !rival.required.contains(name)))
            .filter(|name| tag.is_none_or(|(tag, _)| tag != name))
            .collect();
        // One member is enough, if no rival requires it.
        let telling_alone =
            |name: &&&str| rivals.iter().all(|rival| !rival.required.contains(**name));
        let one = (special.iter().filter(|name| known.contains(*name)))
            .find(telling_alone)
            .or_else(|| special.iter().find(telling_alone));
        if let Some(one) = one {
            return tag_text.map_or_else(|| (*one).to_owned(), |tag| format!("{tag},{one}"));
        }
        // A constant of its own tells it apart even if the others have none.
        let own_tag = own.tags.iter().find(|(name, values)| {
            rivals
                .iter()
                .all(|rival| rival.is_apart(name, values) != Some(false))
        });
        if let (None, Some((name, value))) = (&tag_text, own_tag) {
            return format!("{name}={}", plain(value));
        }
        // The members that it requires, and those that others like it require.
        let mut words: Vec<String> = tag_text.into_iter().collect();
        words.extend(special.iter().map(|name| (*name).to_owned()));
        for rival in &rivals {
            if special.iter().any(|name| !rival.required.contains(name)) {
                continue;
            }
            let mut required = rival.required.iter();
            match required.find(|name| !own.required.contains(*name)) {
                Some(name) => words.push(format!("!{name}")),
                // Nothing but the name is left to tell the two apart.
                None => words.extend(own.name.map(str::to_owned)),
            }
        }
        words.dedup();
        if words.is_empty() {
            own.name.unwrap_or("object").to_owned()
        } else {
            words.join(",")
        }
    }
}
