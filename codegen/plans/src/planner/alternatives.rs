//! The plan of a list of typed alternatives: members of one side are the items of a list of the other.

use super::super::plan::{AlternativePlan, AlternativesPlan, HeldValue};
use super::super::rules::{Action, Alternative};
use super::{PlanProblem, Planner, words};
use mcp_revisions_schema::model::{Member, Model, ObjectShape, Presence, Shape, Ty, Union};

/// The two sides of a list of typed alternatives.
struct ListSides<'m, 's> {
    /// The list.
    list: &'s Member,
    /// The union that its items are of.
    union: &'s Union,
    /// The model that has it.
    of_list: &'m Model,
    /// The members of the other side.
    members: &'s ObjectShape,
    /// The model that has those.
    of_members: &'m Model,
}

impl<'m> Planner<'m> {
    /// Returns the lists of a type that the other side does not have, and that a rule gathers or spreads: `action` says which.
    pub(super) fn alternatives(
        &mut self,
        action: &Action,
        key: &str,
        lists: &ObjectShape,
        members: &ObjectShape,
    ) -> Vec<AlternativesPlan> {
        let rules = self.rules;
        let mut plans = Vec::new();
        let only_there = |list: &&Member| members.member(&list.wire).is_none();
        for list in lists.members.iter().filter(only_there) {
            let offer = rules.offer(&format!("{key}.{}", list.wire), self.way);
            let Some(offer) = offer.filter(|offer| offer.action == action) else {
                continue;
            };
            rules.uses(&offer);
            let rule = offer.rule;
            let mut plan = AlternativesPlan {
                rule: rule.id.clone(),
                wire: list.wire.clone(),
                field: list.field.clone(),
                optional: list.presence == Presence::Optional,
                union: String::new(),
                has_others: false,
                items: Vec::new(),
            };
            let (of_list, of_members) = if *action == Action::Gather {
                (self.to, self.from)
            } else {
                (self.from, self.to)
            };
            let mut problems = Vec::new();
            if let Some((name, union)) = union_of_items(of_list, list) {
                plan.union = name.to_owned();
                plan.has_others = union.open || union.variants.len() > rule.alternatives.len();
                let sides = ListSides {
                    list,
                    union,
                    of_list,
                    members,
                    of_members,
                };
                for row in &rule.alternatives {
                    match self.alternative(&sides, row, action) {
                        Ok(item)
                            if plan.items.iter().any(|other| other.variant == item.variant) =>
                        {
                            problems.push(format!("two alternatives are `{}`", row.r#type));
                        }
                        Ok(item) => plan.items.push(item),
                        Err(problem) => problems.push(problem),
                    }
                }
            } else {
                let problem = "the member has `alternatives`, and is not a list of a union";
                problems.push(problem.to_owned());
            }
            for problem in problems {
                let error = rules.error(offer.offset(), &rule.id, &problem, &rule.reason);
                self.unsupported.push(error);
            }
            plans.push(plan);
        }
        plans
    }

    /// Returns the plan of one item, or what is wrong with the row about it.
    fn alternative(
        &mut self,
        sides: &ListSides<'m, '_>,
        row: &Alternative,
        action: &Action,
    ) -> Result<AlternativePlan, PlanProblem> {
        let name = &row.r#type;
        let is_of_it = |ty: &Ty| matches!(sides.of_list.resolve(ty), Ty::Named(own) if own == name);
        let variant = sides
            .union
            .variants
            .iter()
            .find(|variant| is_of_it(&variant.ty));
        let object = sides.of_list.shape(name).and_then(Shape::object);
        let (Some(variant), Some(object)) = (variant, object) else {
            return Err(format!(
                "`{name}` is not an object that an item of the list may be"
            ));
        };
        let held = match (&row.value, &row.member) {
            (Some(value), Some(member)) => {
                let value = object
                    .member(value)
                    .ok_or_else(|| format!("`{name}` has no member `{value}`"))?;
                Some(self.value_plan(sides, row, action, value, member)?)
            }
            _ => None,
        };
        let mut others = Vec::new();
        for other in &object.members {
            let is_held = held.as_ref().is_some_and(|held| held.wire == other.wire);
            match other.presence {
                Presence::Constant(_) => {}
                _ if is_held => {}
                Presence::Optional => others.push(other.field.clone()),
                Presence::Required => {
                    return Err(format!(
                        "`{name}.{}` must be there, and no member of the other revision has its value",
                        other.wire
                    ));
                }
            }
        }
        Ok(AlternativePlan {
            variant: variant.name.clone(),
            boxed: variant.boxed,
            ty: name.clone(),
            others,
            rest: object.rest.clone(),
            held,
        })
    }

    /// Returns the plan of the value of an item, or the fault of the row about it.
    fn value_plan(
        &mut self,
        sides: &ListSides<'m, '_>,
        row: &Alternative,
        action: &Action,
        value: &Member,
        member: &str,
    ) -> Result<HeldValue, PlanProblem> {
        let of = &row.r#type;
        let Some(other) = sides.members.member(member) else {
            return Err(format!("the other revision has no member `{member}`"));
        };
        if value.presence != Presence::Required {
            return Err(format!(
                "`{of}.{}` is not always there: an item without it has no value",
                value.wire
            ));
        }
        let optional = match (&other.presence, &row.absent) {
            (Presence::Constant(_), _) => return Err(format!("`{member}` is a constant")),
            (Presence::Optional, Some(_)) => {
                return Err(format!(
                    "`{member}` may be absent, and the row has `absent`"
                ));
            }
            (Presence::Optional, None) => true,
            (Presence::Required, None) => {
                return Err(format!(
                    "`{member}` must be there, and no `absent` says what it is without an item"
                ));
            }
            (Presence::Required, Some(absent)) => {
                if words::admits(sides.of_members, &other.ty, absent) == Some(false) {
                    return Err(format!(
                        "{absent} is not {}, which `{member}` has to be",
                        other.ty
                    ));
                }
                if sides.list.presence == Presence::Optional {
                    return Err(format!(
                        "`{member}` must be there, and the list may be absent"
                    ));
                }
                false
            }
        };
        let [from, to] = if *action == Action::Gather {
            [other, value]
        } else {
            [value, other]
        };
        let transfer = self.transfer(&from.ty, &to.ty)?;
        Ok(HeldValue {
            wire: value.wire.clone(),
            field: value.field.clone(),
            boxed: value.boxed,
            member: other.wire.clone(),
            member_field: other.field.clone(),
            optional,
            member_boxed: other.boxed,
            transfer,
            absent: row.absent.clone(),
        })
    }
}

/// Returns the union that the items of a list are of, with its name.
fn union_of_items<'m>(model: &'m Model, list: &'m Member) -> Option<(&'m str, &'m Union)> {
    let Ty::Array(item) = model.resolve(&list.ty) else {
        return None;
    };
    match model.resolve(item) {
        Ty::Named(name) => match model.shape(name)? {
            Shape::Union(union) => Some((name, union)),
            _ => None,
        },
        _ => None,
    }
}
