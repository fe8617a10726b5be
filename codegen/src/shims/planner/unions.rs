//! What becomes of each variant of a union.

use super::super::plan::{Arm, ArmPlan, Body, End};
use super::super::rules::Action;
use super::*;
use crate::model::{Ty, TypeDef, Union};

impl<'m> Planner<'m> {
    pub(super) fn variant_that_holds(
        &mut self,
        def: &TypeDef,
        union: &Union,
        problems: &mut Vec<(String, Problem)>,
    ) -> Option<Body> {
        if let Some((rule, Action::Custom(path))) =
            self.way.rules.decision(&def.doc_key, self.way.up)
        {
            return Some(Body::Custom(hook(rule, path)));
        }
        let found = union.variants.iter().find_map(|variant| match &variant.ty {
            Ty::Named(name) if self.is_one(&def.name, name) => Some((variant, name.clone())),
            _ => None,
        });
        let Some((variant, wanted)) = found else {
            problems.push((
                def.doc_key.clone(),
                format!("no variant of the target holds `{}`", def.name),
            ));
            return None;
        };
        let step = self.call(End::Type(def.name.clone()), End::Type(wanted));
        Some(Body::IntoVariant(variant.name.clone(), variant.boxed, step))
    }

    /// What becomes of each variant; the target is a union, or one type that a variant holds.
    pub(super) fn arms(
        &mut self,
        def: &TypeDef,
        union: &Union,
        target: Result<&Union, &str>,
        problems: &mut Vec<(String, Problem)>,
    ) -> Vec<ArmPlan> {
        let mut arms = Vec::new();
        for variant in &union.variants {
            let place = format!("{}|{}", def.doc_key, variant.name);
            // A rule is for what has no counterpart.
            let arm = match self.same_arm(&variant.ty, target) {
                Some(arm) => Some(arm),
                None => self.decided_arm(&place),
            };
            match arm {
                Some(arm) => arms.push(ArmPlan {
                    variant: variant.name.clone(),
                    boxed: variant.boxed,
                    arm,
                }),
                None => {
                    let what = match &variant.ty {
                        Ty::Named(name) => format!("the target has no variant that holds `{name}`"),
                        _ => "the target has no such variant".to_owned(),
                    };
                    problems.push((place, what));
                }
            }
        }
        arms
    }

    pub(super) fn decided_arm(&self, place: &str) -> Option<Arm> {
        let (rule, action) = self.way.rules.decision(place, self.way.up)?;
        Some(match action {
            Action::Custom(path) => Arm::Custom(hook(rule, path)),
            Action::NeedsState(adapter) => Arm::NeedsState {
                rule: rule.id.clone(),
                adapter: adapter.clone(),
            },
            Action::Reject(error) => Arm::Reject {
                rule: rule.id.clone(),
                error: error.clone(),
            },
            _ => return None,
        })
    }

    pub(super) fn same_arm(&mut self, ty: &Ty, target: Result<&Union, &str>) -> Option<Arm> {
        match target {
            Err(name) => {
                let Ty::Named(own) = self.way.from.resolve(ty) else {
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
                let variant = target.variants.iter().find(|variant| {
                    match (self.way.from.resolve(ty), self.way.to.resolve(&variant.ty)) {
                        (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
                        (Ty::Array(a), Ty::Array(b)) => match (&**a, &**b) {
                            (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
                            (a, b) => a == b,
                        },
                        (a, b) => a == b,
                    }
                })?;
                let step = self.step(ty, &variant.ty).ok()?;
                Some(Arm::Same {
                    variant: Some(variant.name.clone()),
                    boxed: variant.boxed,
                    step,
                })
            }
        }
    }
}
