//! Every way to break a value in one place, from what the model says about its parts.

use mcp_revisions_schema::model::{Model, Shape, UnionPlan};

use super::{Break, Harm, Within};
use crate::tree::{Kind, Member, Node, Standing, Value};

/// A value of each kind.
const KINDS: &[&str] = &["null", "true", "7", "7.5", "\"wrong\"", "[]", "{}"];

/// What a schema carried as text may not be, by the schema around it.
const NO_SCHEMAS: &[&str] = &[
    "{}",
    r#"{"type":"array"}"#,
    r#"{"type":"object","properties":7}"#,
    r#"{"type":"object","required":[7]}"#,
];

/// All breaks of a value, in the order of its parts.
#[must_use]
pub fn find(model: &Model, whole: &Node) -> Vec<Break> {
    let mut finder = Finder {
        model,
        found: Vec::new(),
        path: Vec::new(),
        types: Vec::new(),
        unions: Vec::new(),
    };
    finder.visit(whole, None);
    finder.found
}

struct Finder<'m> {
    model: &'m Model,
    found: Vec<Break>,
    path: Vec<String>,
    types: Vec<String>,
    unions: Vec<Within>,
}

impl Finder<'_> {
    fn visit(&mut self, node: &Node, standing: Option<Standing>) {
        let outer = (self.types.len(), self.unions.len());
        self.types.extend(node.facts.types.iter().cloned());
        self.unions.extend(self.unions_of(node));
        let harms = self.harms(node);
        self.found.extend(harms.into_iter().map(|harm| Break {
            harm,
            path: self.path.clone(),
            facts: node.facts.clone(),
            standing,
            types: self.types.clone(),
            unions: self.unions.clone(),
        }));
        match (&node.facts.kind, &node.value) {
            (Kind::List, Value::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.below(index.to_string(), item, None);
                }
            }
            (Kind::Map | Kind::Object, Value::Object(members)) => {
                for member in members {
                    self.below(member.name.clone(), &member.node, Some(member.standing));
                }
            }
            _ => {}
        }
        self.types.truncate(outer.0);
        self.unions.truncate(outer.1);
    }

    fn unions_of(&self, node: &Node) -> Vec<Within> {
        let names = &node.facts.types;
        let is_union = |name: &String| {
            let def = self.model.get(name);
            def.is_some_and(|def| matches!(def.shape, Shape::Union(_)))
        };
        (names.iter().enumerate())
            .filter(|(_, name)| is_union(name))
            .map(|(index, name)| Within {
                depth: self.path.len(),
                union: name.clone(),
                variant: names.get(index + 1).cloned(),
            })
            .collect()
    }

    fn below(&mut self, step: String, node: &Node, standing: Option<Standing>) {
        self.path.push(step);
        self.visit(node, standing);
        self.path.pop();
    }

    fn harms(&self, node: &Node) -> Vec<Harm> {
        let kinds = |fitting: &'static [&'static str]| {
            let wrong = KINDS.iter().filter(move |kind| !fitting.contains(kind));
            wrong.map(|kind| Harm::Replaced(kind))
        };
        let mut harms: Vec<Harm> = match &node.facts.kind {
            Kind::Opaque => return Vec::new(),
            Kind::OpaqueObject => kinds(&["{}"]).collect(),
            Kind::OpaqueArray => kinds(&["[]"]).collect(),
            Kind::SchemaText => {
                let texts = NO_SCHEMAS.iter().map(|text| Harm::SchemaText(text));
                kinds(&["{}"]).chain(texts).collect()
            }
            Kind::String => kinds(&["\"wrong\""]).collect(),
            Kind::Boolean => kinds(&["true"]).collect(),
            // Whole, whatever its spelling: both sides have to take it.
            Kind::Integer => kinds(&["7"]).chain([Harm::Respelled]).collect(),
            Kind::Number => kinds(&["7", "7.5"]).collect(),
            Kind::Choice(_) => kinds(&[]).chain([Harm::Shouted]).collect(),
            Kind::Constant => kinds(&[]).chain([Harm::Shouted, Harm::Respelled]).collect(),
            Kind::List => kinds(&["[]"]).collect(),
            Kind::Map | Kind::Object => kinds(&["{}"]).collect(),
        };
        let limits = node.facts.limits.keys();
        harms.extend(limits.map(|limit| Harm::Limit(limit.clone())));
        if let Value::Object(members) = &node.value
            && matches!(node.facts.kind, Kind::Map | Kind::Object)
        {
            harms.extend(members.iter().flat_map(of_member));
            // Of the unknown ones, one stands for all.
            let unknown = members
                .iter()
                .find(|member| member.standing == Standing::Unknown);
            harms.extend(unknown.map(|member| Harm::Repeated(member.name.clone())));
            harms.extend(self.strays(node, members));
        }
        harms
    }

    /// The members that tell the other variants of a union, where this one does not have them.
    fn strays(&self, node: &Node, members: &[Member]) -> Vec<Harm> {
        let mut strays = Vec::new();
        for name in &node.facts.types {
            let Some(Shape::Union(union)) = self.model.get(name).map(|def| &def.shape) else {
                continue;
            };
            let mut telling = Vec::new();
            collect(&union.plan, &mut telling);
            telling.sort();
            telling.dedup();
            for member in telling {
                if members.iter().all(|other| other.name != member) {
                    strays.extend(["7", "\"wrong\"", "{}", "null"].map(|value| Harm::Stray {
                        union: name.clone(),
                        member: member.clone(),
                        value,
                    }));
                }
            }
        }
        strays
    }
}

fn of_member(member: &Member) -> Vec<Harm> {
    let name = || member.name.clone();
    match member.standing {
        Standing::Required => vec![Harm::Removed(name()), Harm::Repeated(name())],
        Standing::Optional => vec![Harm::Repeated(name())],
        Standing::Unknown => Vec::new(),
    }
}

/// The members on which a plan decides, on the object itself.
fn collect(plan: &UnionPlan, members: &mut Vec<String>) {
    match plan {
        UnionPlan::Take(_) => {}
        UnionPlan::Kind(cases) => cases.iter().for_each(|case| collect(&case.plan, members)),
        UnionPlan::Tag {
            member,
            cases,
            other,
            absent,
        } => {
            members.push(member.clone());
            cases.iter().for_each(|case| collect(&case.plan, members));
            let others = [other, absent].into_iter().flatten();
            others.for_each(|plan| collect(plan, members));
        }
        UnionPlan::First(cases) | UnionPlan::Present { cases, .. } => {
            for case in cases {
                let first = case.value.split('.').next().unwrap_or_default();
                members.push(first.to_owned());
                collect(&case.plan, members);
            }
            if let UnionPlan::Present {
                otherwise: Some(otherwise),
                ..
            } = plan
            {
                collect(otherwise, members);
            }
        }
        // It decides on what is inside the list.
        UnionPlan::Element { .. } => {}
    }
}
