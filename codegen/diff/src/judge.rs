//! The judge of a value against a shape: yes, no, or undecided.
//!
//! The tests let an independent validator judge the same.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::graph::{Graph, GraphRest, NodeId, NodeShape, WireNode};
use super::steps::StepBudget;
use mcp_revisions_schema::schema::applied::{is_hint, is_understood, named, patterns};
use mcp_revisions_schema::schema::decimal;

/// Maximum number of shapes in one question: schemas may refer to themselves for ever.
const MAX_STEPS: usize = 200_000;

/// Maximum depth of shapes within each other.
const MAX_DEPTH: usize = 300;

/// Returns whether a value is valid for a shape, as far as is known.
pub(super) fn valid(graph: &Graph, id: NodeId, value: &Value) -> bool {
    judged(graph, id, value) == Some(true)
}

/// Returns whether a value is known not to be valid for a shape.
pub(super) fn refused(graph: &Graph, id: NodeId, value: &Value) -> bool {
    judged(graph, id, value) == Some(false)
}

/// Returns the limit that a value is known not to keep.
pub fn refused_by<'l>(
    limits: &'l SortedMap<String, Value>,
    value: &Value,
) -> Option<(&'l str, &'l Value)> {
    let mut all = limits.iter();
    let (name, bound) = all.find(|(name, bound)| {
        let limits = SortedMap::from_iter([((*name).clone(), (*bound).clone())]);
        let mut graph = Graph::default();
        for pattern in patterns(&limits) {
            graph.patterns.read(&pattern);
        }
        let id = graph.push_raw(WireNode {
            limits,
            ..WireNode::default()
        });
        refused(&graph, id, value)
    })?;
    Some((name, bound))
}

fn judged(graph: &Graph, id: NodeId, value: &Value) -> Option<bool> {
    let judge = Judge {
        graph,
        steps: StepBudget::new(MAX_STEPS),
    };
    judge.node(id, value, 0)
}

struct Judge<'g> {
    graph: &'g Graph,
    steps: StepBudget,
}

/// All of them: one that refuses is enough.
fn all(answers: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for answer in answers {
        match answer {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

/// One of them: one that admits is enough.
fn any(answers: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let negated = answers.into_iter().map(|answer| answer.map(|is| !is));
    all(negated).map(|none| !none)
}

impl Judge<'_> {
    fn node(&self, id: NodeId, value: &Value, depth: usize) -> Option<bool> {
        self.steps.take(1)?;
        let deeper = depth.checked_add(1).filter(|depth| *depth < MAX_DEPTH)?;
        let node = self.graph.node(id);
        match self.shape(node, value, deeper) {
            Some(false) => Some(false),
            fits if node.limits.is_empty() => fits,
            fits => all([fits].into_iter().chain(
                (node.limits.iter())
                    .map(|(name, bound)| self.limit(node, name, bound, value, deeper)),
            )),
        }
    }

    fn shape(&self, node: &WireNode, value: &Value, depth: usize) -> Option<bool> {
        match (&node.shape, value) {
            (NodeShape::Any, _) => Some(true),
            (NodeShape::Alias(_), _) => None,
            (NodeShape::Choice(values), value) => Some(values.iter().any(|one| same(one, value))),
            (NodeShape::Scalar(kinds), value) => Some(kinds.iter().any(|kind| kind.admits(value))),
            (NodeShape::Array(None), Value::Array(_)) => Some(true),
            (NodeShape::Array(Some(each)), Value::Array(items)) => all(items
                .iter()
                .skip(listed(node))
                .map(|item| self.node(*each, item, depth))),
            (NodeShape::Object { members, rest }, Value::Object(object)) => {
                let named = members.iter().map(|(name, member)| match object.get(name) {
                    Some(value) => self.node(member.node, value, depth),
                    None => Some(!member.required),
                });
                let further = object.iter().map(|(name, value)| {
                    if members.contains_key(name) {
                        return Some(true);
                    }
                    let free = match rest {
                        GraphRest::Open => return Some(true),
                        GraphRest::Closed => Some(false),
                        GraphRest::Each(each) => self.node(*each, value, depth),
                    };
                    any([self.is_patterned(node, name), free])
                });
                all(named.chain(further))
            }
            (NodeShape::Union(variants), value) => {
                let fits = variants.iter().map(|one| self.node(*one, value, depth));
                if !node.limits.contains_key("oneOf") {
                    return any(fits);
                }
                let counts = fits.map(|fits| fits.map(usize::from));
                Some(counts.sum::<Option<usize>>()? == 1)
            }
            _ => Some(node.untyped),
        }
    }

    /// Returns whether a pattern of `patternProperties` speaks of a member.
    fn is_patterned(&self, node: &WireNode, name: &str) -> Option<bool> {
        let patterns = parts(node, "patternProperties");
        any(patterns.map(|(pattern, _)| self.graph.patterns.matches(&pattern, name)))
    }

    fn limit(
        &self,
        node: &WireNode,
        name: &str,
        bound: &Value,
        value: &Value,
        depth: usize,
    ) -> Option<bool> {
        if is_hint(name) {
            return Some(true);
        }
        if !is_understood(name) {
            return None;
        }
        let holds = |place: &str, value: &Value| match node.applied.get(place) {
            Some(id) => self.node(*id, value, depth),
            None => Some(true),
        };
        match (name, value) {
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", value) => {
                let (Some(is), Some(bound)) = (value.as_f64(), bound.as_f64()) else {
                    return Some(true);
                };
                Some(match name {
                    "minimum" => is >= bound,
                    "maximum" => is <= bound,
                    "exclusiveMinimum" => is > bound,
                    _ => is < bound,
                })
            }
            ("multipleOf", Value::Number(number)) => {
                decimal::is_multiple(&Value::Number(number.clone()), bound)
            }
            ("minLength", Value::String(text)) => least(text.chars().count(), bound),
            ("maxLength", Value::String(text)) => most(text.chars().count(), bound),
            ("minItems", Value::Array(items)) => least(items.len(), bound),
            ("maxItems", Value::Array(items)) => most(items.len(), bound),
            ("minProperties", Value::Object(members)) => least(members.len(), bound),
            ("maxProperties", Value::Object(members)) => most(members.len(), bound),
            ("uniqueItems", Value::Array(items)) if bound == &json!(true) => {
                let mut pairs = items.iter().enumerate();
                Some(pairs.all(|(at, item)| !items[..at].iter().any(|one| same(one, item))))
            }
            ("pattern", Value::String(text)) => self.graph.patterns.matches(bound.as_str()?, text),
            ("dependentRequired", Value::Object(members)) => {
                let mut asked = bound.as_object()?.iter();
                Some(asked.all(|(name, needed)| {
                    let mut names = needed.as_array().into_iter().flatten();
                    !members.contains_key(name)
                        || names
                            .all(|name| name.as_str().is_none_or(|name| members.contains_key(name)))
                }))
            }
            ("dependentSchemas", Value::Object(members)) => {
                let asked = parts(node, "dependentSchemas")
                    .filter(|(name, _)| members.contains_key(&**name));
                all(asked.map(|(_, id)| self.node(id, value, depth)))
            }
            ("patternProperties", Value::Object(members)) => {
                let patterned = parts(node, "patternProperties");
                all(patterned.flat_map(|(pattern, id)| {
                    members.iter().map(move |(name, value)| {
                        let spoken_of = self.graph.patterns.matches(&pattern, name);
                        any([spoken_of.map(|is| !is), self.node(id, value, depth)])
                    })
                }))
            }
            ("propertyNames", Value::Object(members)) => all(members
                .keys()
                .map(|name| holds("propertyNames", &Value::from(name.as_str())))),
            ("prefixItems", Value::Array(items)) => all(items
                .iter()
                .enumerate()
                .map(|(at, item)| holds(&format!("prefixItems/{at}"), item))),
            ("contains", Value::Array(items)) => {
                let met = items
                    .iter()
                    .map(|item| Some(usize::from(holds("contains", item)?)))
                    .sum::<Option<usize>>()?;
                let one = json!(1);
                let fewest = node.limits.get("minContains").unwrap_or(&one);
                let most_of_them = node.limits.get("maxContains");
                all([
                    least(met, fewest),
                    most_of_them.map_or(Some(true), |bound| most(met, bound)),
                ])
            }
            ("not", value) => holds("not", value).map(|is| !is),
            ("if", value) => match holds("if", value) {
                Some(true) => holds("then", value),
                Some(false) => holds("else", value),
                None => all([holds("then", value), holds("else", value)]).filter(|both| *both),
            },
            ("$ref" | "anyOf", value) => holds(name, value),
            ("allOf", value) => all(parts(node, name).map(|(_, id)| self.node(id, value, depth))),
            ("unevaluatedProperties", Value::Object(members)) => {
                let seen = self.evaluated(node, members, value, depth)?;
                let unseen = members.iter().filter(|(name, _)| !seen.contains(*name));
                all(unseen.map(|(_, value)| holds("unevaluatedProperties", value)))
            }
            ("unevaluatedItems", Value::Array(items)) => {
                let others = ["$ref", "allOf", "anyOf", "contains", "if"];
                if matches!(node.shape, NodeShape::Array(Some(_))) {
                    return Some(true);
                }
                if others.iter().any(|name| node.limits.contains_key(*name)) {
                    return None;
                }
                let unseen = items.iter().skip(listed(node));
                all(unseen.map(|item| holds("unevaluatedItems", item)))
            }
            // `then` and `else` are asked by `if`, `oneOf` by the union, and bounds of `contains` by that.
            _ => Some(true),
        }
    }

    /// Returns the members of a value that a node and what it applies speak of.
    fn evaluated(
        &self,
        node: &WireNode,
        members: &Map<String, Value>,
        value: &Value,
        depth: usize,
    ) -> Option<SortedSet<String>> {
        self.steps.take(1)?;
        let deeper = depth.checked_add(1).filter(|depth| *depth < MAX_DEPTH)?;
        let everything = || members.keys().cloned().collect::<SortedSet<String>>();
        let mut seen = SortedSet::new();
        let mut within: Vec<NodeId> = Vec::new();
        match &node.shape {
            NodeShape::Object { members: own, rest } => {
                if !matches!(rest, GraphRest::Open) {
                    return Some(everything());
                }
                seen.extend(own.keys().cloned());
            }
            NodeShape::Union(variants) => within.extend(variants),
            _ => {}
        }
        for name in members.keys() {
            if self.is_patterned(node, name)? {
                seen.insert(name.clone());
            }
        }
        for (place, id) in &node.applied {
            let speaks = match place.split('/').next().unwrap_or_default() {
                "$ref" | "anyOf" | "allOf" | "if" => true,
                "dependentSchemas" => named(place, "dependentSchemas")
                    .is_some_and(|name| members.contains_key(&*name)),
                "then" => self.node(*node.applied.get("if")?, value, deeper)?,
                "else" => !self.node(*node.applied.get("if")?, value, deeper)?,
                _ => false,
            };
            if speaks {
                within.push(*id);
            }
        }
        for id in within {
            if self.node(id, value, deeper)? {
                let inner = self.graph.node(id);
                seen.extend(self.evaluated(inner, members, value, deeper)?);
                if inner.applied.contains_key("unevaluatedProperties") {
                    return Some(everything());
                }
            }
        }
        Some(seen)
    }
}

/// Returns the schemas within a keyword of a node, by their names in it.
fn parts<'n>(node: &'n WireNode, keyword: &'n str) -> impl Iterator<Item = (Cow<'n, str>, NodeId)> {
    let parts = node.applied.iter();
    parts.filter_map(move |(place, id)| Some((named(place, keyword)?, *id)))
}

/// Returns the number of items that have a schema of their own.
fn listed(node: &WireNode) -> usize {
    parts(node, "prefixItems").count()
}

fn least(count: usize, bound: &Value) -> Option<bool> {
    Some(size(count) >= bound.as_f64()?)
}

fn most(count: usize, bound: &Value) -> Option<bool> {
    Some(size(count) <= bound.as_f64()?)
}

fn size(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns whether two values are the same to JSON Schema, to which 1 is 1.0.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && (left.iter())
                    .all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
        }
        (left, right) => left == right,
    }
}
