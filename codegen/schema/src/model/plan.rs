//! Decision plans: how a reader tells the variants of a union apart without trying them.

use serde::Serialize;
use serde_json::Value;

use super::{ObjectShape, Presence};
use crate::schema::JsonType;
use crate::sorted::SortedSet;

/// A decision, or a question and what follows from its answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnionPlan {
    /// Decided: the variant with this index.
    Take(usize),
    /// Decides by the kind of the JSON value.
    Kind(Vec<KindCase>),
    /// Decides by the constant of a member.
    Tag {
        /// The member's wire name.
        member: String,
        /// The constants and what follows from each.
        cases: Vec<Case>,
        /// The plan for any other string; absent where that is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        other: Option<Box<UnionPlan>>,
        /// The plan for an absent member; absent where that is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<Box<UnionPlan>>,
    },
    /// Decides by the first of these members in the text; no two variants know the same one.
    First(Vec<Case>),
    /// Is this member there? The first row that is takes it.
    Present {
        /// Member paths, joined with `.`, and what follows.
        cases: Vec<Case>,
        /// The plan for a text without any of them; absent where that is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<UnionPlan>>,
    },
    /// Decides by the first element of the array. Its plan leads to a variant; so does an empty array.
    Element {
        /// Decides by the first element.
        plan: Box<UnionPlan>,
        /// The variant of an empty array.
        empty: usize,
    },
}

/// An answer and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// A constant, or a member path.
    pub value: String,
    /// The plan for this case.
    pub plan: UnionPlan,
}

impl Case {
    /// Returns the answer that leads straight to a variant.
    pub(crate) fn take(value: impl Into<String>, index: usize) -> Self {
        Self {
            value: value.into(),
            plan: UnionPlan::Take(index),
        }
    }
}

/// A kind of JSON value and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindCase {
    /// The kinds.
    pub kinds: Vec<JsonType>,
    /// The plan for this case.
    pub plan: UnionPlan,
}

impl UnionPlan {
    /// Returns the plan with its variants renumbered: `owners[old]` is new.
    ///
    /// A question whose answers all lead to one variant is not asked.
    pub(crate) fn renumbered(mut self, owners: &[usize]) -> Self {
        if let Self::Take(index) | Self::Element { empty: index, .. } = &mut self {
            *index = owners.get(*index).copied().unwrap_or(*index);
        }
        for plan in self.follow() {
            *plan = std::mem::replace(plan, Self::Take(0)).renumbered(owners);
        }
        self.simplified()
    }

    /// Returns the members that an object of a variant does not name and by which a reader would take it for another variant.
    pub fn misleading_members(&self, object: &ObjectShape) -> SortedSet<&str> {
        let mut members = SortedSet::new();
        self.add_misleading(object, &mut members);
        members
    }

    fn add_misleading<'p>(&'p self, object: &ObjectShape, members: &mut SortedSet<&'p str>) {
        let named = |case: &'p Case| case.value.split('.').next().unwrap_or_default();
        let is_there = |name: &str| {
            let member = object.member(name);
            member.is_some_and(|member| member.presence != Presence::Optional)
        };
        match self {
            Self::Take(_) | Self::Element { .. } => {}
            Self::Kind(cases) => {
                let of_objects = cases
                    .iter()
                    .filter(|case| case.kinds.contains(&JsonType::Object));
                of_objects.for_each(|case| case.plan.add_misleading(object, members));
            }
            Self::Tag {
                member,
                cases,
                other,
                absent,
            } => match object.member(member).map(|own| &own.presence) {
                Some(Presence::Constant(Value::String(tag))) => {
                    let case = cases.iter().find(|case| case.value == *tag);
                    let plan = case.map(|case| &case.plan).or(other.as_deref());
                    plan.into_iter()
                        .for_each(|plan| plan.add_misleading(object, members));
                }
                own => {
                    members.extend(own.is_none().then_some(member.as_str()));
                    absent
                        .iter()
                        .for_each(|plan| plan.add_misleading(object, members));
                }
            },
            Self::First(cases) if cases.iter().any(|case| is_there(named(case))) => {}
            Self::First(cases) => members.extend(cases.iter().map(named)),
            Self::Present { cases, otherwise } => {
                let own = cases.iter().position(|case| is_there(named(case)));
                members.extend(cases[..own.unwrap_or(cases.len())].iter().map(named));
                let plan = own.map(|at| &cases[at].plan).or(otherwise.as_deref());
                plan.into_iter()
                    .for_each(|plan| plan.add_misleading(object, members));
            }
        }
        members.retain(|name| object.member(name).is_none());
    }

    /// Returns the plans that follow from the answers.
    fn follow(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Take(_) => Vec::new(),
            Self::Kind(cases) => cases.iter_mut().map(|case| &mut case.plan).collect(),
            Self::First(cases) => cases.iter_mut().map(|case| &mut case.plan).collect(),
            Self::Tag {
                cases,
                other,
                absent,
                ..
            } => (cases.iter_mut().map(|case| &mut case.plan))
                .chain(other.as_deref_mut())
                .chain(absent.as_deref_mut())
                .collect(),
            Self::Present { cases, otherwise } => (cases.iter_mut().map(|case| &mut case.plan))
                .chain(otherwise.as_deref_mut())
                .collect(),
            Self::Element { plan, .. } => vec![plan],
        }
    }

    fn simplified(mut self) -> Self {
        if let Self::Present {
            cases,
            otherwise: Some(otherwise),
        } = &mut self
        {
            while cases.last().is_some_and(|case| case.plan == **otherwise) {
                cases.pop();
            }
        }
        match self {
            Self::Present {
                cases,
                otherwise: Some(otherwise),
            } if cases.is_empty() => *otherwise,
            Self::First(cases)
            | Self::Present {
                cases,
                otherwise: None,
            } if cases.windows(2).all(|pair| pair[0].plan == pair[1].plan) => {
                let first = cases.into_iter().next();
                first.map_or(Self::Take(0), |case| case.plan)
            }
            plan => plan,
        }
    }
}
