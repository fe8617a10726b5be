//! What becomes of each member of an object.

use super::super::limits;
use super::super::plan::{Body, DroppedPlan, FieldPlan, Filter, Hook, Missing, Source, Step};
use super::super::rules::{Action, Rule};
use super::*;
use crate::model::{Member, Object, Presence, Shape, Ty, TypeDef};
use serde_json::Value;

impl<'m> Planner<'m> {
    pub(super) fn object(
        &mut self,
        from_def: &TypeDef,
        from: &Object,
        to_def: Option<&TypeDef>,
        to: &Object,
        problems: &mut Vec<(String, Problem)>,
    ) -> Option<Body> {
        let to_key = to_def.map_or(from_def.doc_key.as_str(), |def| def.doc_key.as_str());
        let from_key = match from_def.definition.is_none() && from_def.places.is_empty() {
            // An opaque object has no name of its own.
            true => to_key,
            false => from_def.doc_key.as_str(),
        };
        let mut fields = Vec::new();
        for target in &to.members {
            if matches!(target.presence, Presence::Constant(_)) {
                continue;
            }
            let source = from.members.iter().find(|source| {
                source.wire == target.wire && !matches!(source.presence, Presence::Constant(_))
            });
            let place = format!("{to_key}.{}", target.wire);
            let plan = match source {
                Some(source) => {
                    let defs = [Some(from_def), to_def];
                    problems.extend(self.limited([source, target], defs, [from_key, to_key]));
                    self.same_member(source, target, &place)
                }
                None => self.new_member(target, &place),
            };
            match plan {
                Ok(source) => fields.push(FieldPlan {
                    wire: target.wire.clone(),
                    field: target.field.clone(),
                    source,
                }),
                Err(problem) => problems.push((place, problem)),
            }
        }
        let mut dropped = Vec::new();
        for source in &from.members {
            let constant = matches!(source.presence, Presence::Constant(_));
            let kept = to.members.iter().any(|target| target.wire == source.wire);
            if constant || kept {
                continue;
            }
            let place = format!("{from_key}.{}", source.wire);
            match self.hop.rules.decision(&place, self.hop.way) {
                Some((rule, action)) if !action.drops() => {
                    problems.push((
                        place,
                        unfit(rule, "becomes of a member that the target does not have"),
                    ));
                }
                Some((rule, action)) => dropped.push(DroppedPlan {
                    wire: source.wire.clone(),
                    field: source.field.clone(),
                    optional: source.presence == Presence::Optional,
                    rule: rule.id.clone(),
                    action: action.clone(),
                    loss: rule.loss,
                }),
                None => problems.push((place, "the target has no such member".to_owned())),
            }
        }
        let hooks = |key: &str, wanted: fn(&Action) -> Option<&String>| -> Vec<Hook> {
            (self.hop.rules.decisions(key.to_owned(), self.hop.way))
                .filter_map(|(rule, action)| wanted(action).map(|path| hook(rule, path)))
                .collect()
        };
        let before = hooks(from_key, |action| match action {
            Action::Before(path) => Some(path),
            _ => None,
        });
        let after = hooks(to_key, |action| match action {
            Action::After(path) => Some(path),
            _ => None,
        });
        Some(Body::Object {
            before,
            fields,
            dropped,
            after,
        })
    }

    /// The limits of a member that are tighter in the target, and that neither a rule of its own nor a hook of its
    /// type sees to.
    pub(super) fn limited(
        &self,
        members: [&Member; 2],
        defs: [Option<&TypeDef>; 2],
        keys: [&str; 2],
    ) -> Vec<(String, Problem)> {
        let Hop {
            rules,
            way,
            schemas: [before, now],
            ..
        } = self.hop;
        let [source, target] = members;
        let mut all = limits::tighter(source, target);
        if let [Some(from), Some(to)] = defs {
            all.extend(limits::tighter_text([(before, from), (now, to)], members));
        }
        let [from_key, to_key] = keys;
        let open = all.into_iter().filter(|(place, _)| {
            // Not `||`: each rule that says so has to be seen.
            !(rules.fits(from_key, place, way) | rules.fits(to_key, place, way))
        });
        open.map(|(place, problem)| (format!("{to_key}.{place}"), problem))
            .collect()
    }

    pub(super) fn same_member(
        &mut self,
        source: &Member,
        target: &Member,
        place: &str,
    ) -> Result<Source, Problem> {
        let optional = [source, target].map(|member| member.presence == Presence::Optional);
        let Hop { rules, way, .. } = self.hop;
        let offer = rules.offer(place, way);
        let used = |offset: usize| rules.uses(offset, way);
        if let Some((offset, rule, Action::Custom(path))) = offer {
            used(offset);
            return Ok(Source::Custom {
                field: source.field.clone(),
                hook: hook(rule, path),
            });
        }
        let step = self.step(&source.ty, &target.ty)?;
        let missing = match (optional, offer) {
            ([true, false], Some((_, rule, action))) if !action.fills() => {
                return Err(unfit(
                    rule,
                    "an absent one becomes where the target must have it",
                ));
            }
            ([true, false], Some((offset, rule, action))) => {
                used(offset);
                let mut missing = missing(rule, action, target);
                if *action == Action::Empty
                    && let Ty::Named(name) = self.hop.from.resolve(&source.ty)
                {
                    missing.empty = Some((name.clone(), step.clone()));
                }
                Some(missing)
            }
            ([true, false], None) => {
                return Err("the target must have it, the source may not".to_owned());
            }
            _ => None,
        };
        let implied = match offer {
            Some((offset, _, Action::Implied(value))) if optional == [false, true] => {
                used(offset);
                Some(value.clone())
            }
            _ => None,
        };
        let filter = match (offer, &step) {
            (Some((offset, rule, Action::Filter(path))), Step::List(_)) => {
                used(offset);
                Some(Filter {
                    hook: hook(rule, path),
                    loss: rule.loss,
                })
            }
            _ => None,
        };
        Ok(Source::Same {
            field: source.field.clone(),
            step,
            optional,
            boxed: [source.boxed, target.boxed],
            missing,
            implied,
            filter,
        })
    }

    pub(super) fn new_member(&self, target: &Member, place: &str) -> Result<Source, Problem> {
        if target.presence == Presence::Optional {
            return Ok(Source::Adopt {
                boxed: target.boxed,
            });
        }
        match self.hop.rules.decision(place, self.hop.way) {
            Some((rule, action)) if !action.fills() => {
                Err(unfit(rule, "a member gets that the source does not name"))
            }
            Some((rule, action)) => Ok(Source::Fill(missing(rule, action, target))),
            None => Err("the target must have it, the source does not name it".to_owned()),
        }
    }
}

pub(super) fn missing(rule: &Rule, action: &Action, target: &Member) -> Missing {
    // What is implied on the way down is the default on the way up.
    let action = match action {
        Action::Implied(value) => Action::Default(value.clone()),
        Action::Only(only) => Action::Default(Value::clone(&only.value)),
        action => action.clone(),
    };
    Missing {
        rule: rule.id.clone(),
        action,
        ty: target.ty.clone(),
        boxed: target.boxed,
        empty: None,
    }
}

/// Stands for an object whose members nobody named.
pub(super) fn pseudo(name: &str) -> TypeDef {
    TypeDef {
        name: name.to_owned(),
        definition: None,
        places: Vec::new(),
        doc_key: name.to_owned(),
        area: String::new(),
        deprecated: false,
        shape: Shape::Alias(Ty::JsonObject),
    }
}
