//! What becomes of each variant of a union.

use serde_json::Value;

use super::super::open::{Row, UNDECIDED};
use super::super::plan::{Arm, ArmPlan, Body, End, Step};
use super::super::rules::{Action, Reject};
use super::{Planner, REFUSED, hook, rejection};
use crate::model::{Model, Presence, Shape, Ty, TypeDef, Union, Variant};

impl<'m> Planner<'m> {
    /// A type that became one variant of a union.
    pub(super) fn variant_that_holds(&mut self, def: &TypeDef, union: &Union, to: &str) -> Body {
        // Other rules of the type are hooks, which ask for nothing here.
        let rules = (self.hop.rules).decisions(def.doc_key.clone(), self.hop.way);
        let custom = rules.into_iter().find_map(|(rule, action)| match action {
            Action::Custom(path) => Some(hook(rule, path)),
            _ => None,
        });
        if let Some(hook) = custom {
            return Body::Custom(hook);
        }
        let found = union.variants.iter().find_map(|variant| match &variant.ty {
            Ty::Named(name) if self.is_one(&def.name, name) => Some((variant, name.clone())),
            _ => None,
        });
        let Some((variant, wanted)) = found else {
            return self.recast(def, to);
        };
        let step = self.call(End::Type(def.name.clone()), End::Type(wanted));
        Body::IntoVariant(variant.name.clone(), variant.boxed, step)
    }

    /// What becomes of each variant; the target is a union, or one type that a variant holds.
    pub(super) fn arms(
        &mut self,
        def: &TypeDef,
        union: &Union,
        target: Result<&Union, &str>,
    ) -> Vec<ArmPlan> {
        let mut arms = Vec::new();
        for variant in &union.variants {
            let place = format!("{}|{}", def.doc_key, variant.name);
            let arm = match self.same_arm(&variant.ty, union, target) {
                Some(arm) => arm,
                None => {
                    let held = match &variant.ty {
                        Ty::Named(name) => format!("variant that holds `{name}`"),
                        _ => "such variant".to_owned(),
                    };
                    let open = format!("{} has no {held}", self.hop.ids[1]);
                    let error = self.refusal(&format!("`{}`", variant.name));
                    self.decided_arm(&place, &open, error)
                }
            };
            arms.push(ArmPlan {
                variant: variant.name.clone(),
                boxed: variant.boxed,
                arm,
            });
        }
        if union.open {
            let open = target.is_ok_and(|target| target.open);
            let arm = match open {
                true => Arm::Same {
                    variant: Some(Union::UNKNOWN.to_owned()),
                    boxed: false,
                    step: Step::Move,
                },
                false => {
                    let id = self.hop.ids[1];
                    let open = format!("{id} keeps no message of a method that it does not name");
                    let error = Reject {
                        code: -32601,
                        message: format!("the method is not part of revision {id}"),
                    };
                    let place = format!("{}|{}", def.doc_key, Union::UNKNOWN);
                    self.decided_arm(&place, &open, error)
                }
            };
            arms.push(ArmPlan {
                variant: Union::UNKNOWN.to_owned(),
                boxed: false,
                arm,
            });
        }
        arms
    }

    /// What a rule says of a variant that has no counterpart; else it is refused.
    fn decided_arm(&mut self, place: &str, open: &str, error: Reject) -> Arm {
        let decides = |action: &Action| {
            matches!(
                action,
                Action::Custom(_) | Action::RequiresState(_) | Action::Reject(_)
            )
        };
        let question = "what becomes of a variant that the target does not have";
        match self.rule(place, decides, question) {
            Some((rule, Action::Custom(path))) => Arm::Custom(hook(rule, path)),
            Some((rule, Action::RequiresState(adapter))) => Arm::RequiresState {
                rule: rule.id.clone(),
                adapter: *adapter,
            },
            Some((rule, Action::Reject(error))) => Arm::Reject {
                rule: rule.id.clone(),
                error: error.clone(),
            },
            _ => {
                self.notes(place, open, REFUSED, Row::Rule(rejection(&error)));
                Arm::Reject {
                    rule: UNDECIDED.to_owned(),
                    error,
                }
            }
        }
    }

    fn same_arm(&mut self, ty: &Ty, source: &Union, target: Result<&Union, &str>) -> Option<Arm> {
        match target {
            Err(name) => {
                let Ty::Named(own) = self.hop.from.resolve(ty) else {
                    return None;
                };
                let own = own.clone();
                if !self.is_one(&own, name) {
                    return None;
                }
                let step = self.call(End::Type(own), End::Type(name.to_owned()));
                Some(Arm::Same {
                    variant: None,
                    boxed: false,
                    step,
                })
            }
            Ok(target) => {
                let variant = self.counterpart(ty, source, target)?;
                let step = self.step(ty, &variant.ty).ok()?;
                Some(Arm::Same {
                    variant: Some(variant.name.clone()),
                    boxed: variant.boxed,
                    step,
                })
            }
        }
    }

    /// The variant of the target that a type is, of a union of the source: the one of its name, else the one of its tag.
    pub(super) fn counterpart<'u>(
        &self,
        ty: &Ty,
        source: &Union,
        target: &'u Union,
    ) -> Option<&'u Variant> {
        let mut variants = target.variants.iter();
        let named = variants.find(|variant| self.is_same(ty, &variant.ty));
        named.or_else(|| self.of_tag(ty, source, target))
    }

    fn is_same(&self, from: &Ty, to: &Ty) -> bool {
        match (self.hop.from.resolve(from), self.hop.to.resolve(to)) {
            (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
            (Ty::Array(a), Ty::Array(b)) => match (&**a, &**b) {
                (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
                (a, b) => a == b,
            },
            (a, b) => a == b,
        }
    }

    /// Of the variants that no name pairs, the only one that bears a tag of the type, if the type is its only one, too.
    ///
    /// So the way back leads to where the value came from.
    fn of_tag<'u>(&self, ty: &Ty, source: &Union, target: &'u Union) -> Option<&'u Variant> {
        let new = target.variants.iter().filter(|new| {
            let mut old = source.variants.iter();
            !old.any(|old| self.is_same(&old.ty, &new.ty))
        });
        let mut mates = new.filter(|new| self.shares_tag(ty, &new.ty));
        let (only, None) = (mates.next()?, mates.next()) else {
            return None;
        };
        let old = source.variants.iter().filter(|old| {
            let mut new = target.variants.iter();
            !new.any(|new| self.is_same(&old.ty, &new.ty))
        });
        let back = old.filter(|old| self.shares_tag(&old.ty, &only.ty));
        (back.count() == 1).then_some(only)
    }

    /// Whether a member always holds the same in both, and none always holds something else.
    fn shares_tag(&self, from: &Ty, to: &Ty) -> bool {
        let mut shares = false;
        for (wire, value) in constants(self.hop.from, from) {
            match constant(self.hop.to, to, wire) {
                Some(other) if other == value => shares = true,
                Some(_) => return false,
                None => {}
            }
        }
        shares
    }
}

/// What a member of an object always holds.
fn constant<'m>(model: &'m Model, ty: &'m Ty, wire: &str) -> Option<&'m Value> {
    let mut constants = constants(model, ty);
    constants.find_map(|(member, value)| (member == wire).then_some(value))
}

/// The members of an object that always hold one value, and that value.
fn constants<'m>(model: &'m Model, ty: &'m Ty) -> impl Iterator<Item = (&'m str, &'m Value)> {
    let object = match model.resolve(ty) {
        Ty::Named(name) => match model.get(name).map(|def| &def.shape) {
            Some(Shape::Object(object)) => Some(object),
            _ => None,
        },
        _ => None,
    };
    let members = object.into_iter().flat_map(|object| &object.members);
    members.filter_map(|member| match &member.presence {
        Presence::Constant(value) => Some((member.wire.as_str(), value)),
        _ => None,
    })
}
