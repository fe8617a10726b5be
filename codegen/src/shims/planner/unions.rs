//! What becomes of each variant of a union.

use super::super::plan::{Arm, ArmPlan, Body, End, Step};
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
            self.hop.rules.decision(&def.doc_key, self.hop.way)
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
            let same = self.same_arm(&variant.ty, target);
            let (name, boxed) = (&variant.name, variant.boxed);
            match self.arm(def, (name, boxed), same) {
                Some(arm) => arms.push(arm),
                None => {
                    let what = match &variant.ty {
                        Ty::Named(name) => format!("the target has no variant that holds `{name}`"),
                        _ => "the target has no such variant".to_owned(),
                    };
                    problems.push((format!("{}|{name}", def.doc_key), what));
                }
            }
        }
        if union.open {
            let open = target.is_ok_and(|target| target.open);
            let same = open.then(|| Arm::Same {
                variant: Some(Union::UNKNOWN.to_owned()),
                boxed: false,
                step: Step::Move,
            });
            match self.arm(def, (Union::UNKNOWN, false), same) {
                Some(arm) => arms.push(arm),
                None => problems.push((
                    format!("{}|{}", def.doc_key, Union::UNKNOWN),
                    "the target keeps no message of a method that it does not name".to_owned(),
                )),
            }
        }
        arms
    }

    /// What becomes of a variant: what the target has for it, else what a rule says.
    fn arm(
        &self,
        def: &TypeDef,
        (name, boxed): (&str, bool),
        same: Option<Arm>,
    ) -> Option<ArmPlan> {
        // A rule is for what has no counterpart.
        let arm = match same {
            Some(arm) => arm,
            None => self.decided_arm(&format!("{}|{name}", def.doc_key))?,
        };
        Some(ArmPlan {
            variant: name.to_owned(),
            boxed,
            arm,
        })
    }

    pub(super) fn decided_arm(&self, place: &str) -> Option<Arm> {
        let (rule, action) = self.hop.rules.decision(place, self.hop.way)?;
        Some(match action {
            Action::Custom(path) => Arm::Custom(hook(rule, path)),
            Action::NeedsState(adapter) => Arm::NeedsState {
                rule: rule.id.clone(),
                adapter: *adapter,
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
                let variant = target.variants.iter().find(|variant| {
                    match (self.hop.from.resolve(ty), self.hop.to.resolve(&variant.ty)) {
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
