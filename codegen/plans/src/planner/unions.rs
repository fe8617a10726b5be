//! The plan of each variant of a union.

use super::super::open::{ProposedRow, UNDECIDED};
use super::super::plan::{Arm, ArmPlan, Becomes, ConversionBody, PairEnd, SplitPlan, Transfer};
use super::super::rules::{Action, Reject};
use super::{Planner, REFUSED, hook, rejection};
use mcp_revisions_diff::{ChoiceMarks, pair};
use mcp_revisions_schema::model::{Member, Model, Presence, Shape, Ty, TypeDef, Union, Variant};

impl<'m> Planner<'m> {
    /// Returns a type that became one variant of a union, or several of them.
    pub(super) fn variant_that_holds(
        &mut self,
        def: &TypeDef,
        union: &Union,
        to: &str,
    ) -> ConversionBody {
        let held: Vec<_> = self.holding(union, &def.name).collect();
        match held[..] {
            [] => self.recast(def, to),
            [(variant, wanted)] => {
                let transfer = self.call(
                    PairEnd::Type(def.name.clone()),
                    PairEnd::Type(wanted.clone()),
                );
                ConversionBody::IntoVariant(into(variant, transfer))
            }
            _ => match self.split(def, &held) {
                Some(plan) => ConversionBody::Split(plan),
                None => {
                    self.unsupported.extend(self.rules.not_split(&def.name));
                    self.refused(def, &format!("it became several of `{to}`"))
                }
            },
        }
    }

    /// Returns the variants of a union of the target that hold a type of the source, with the name that it has there.
    pub(super) fn holding<'u>(
        &self,
        union: &'u Union,
        from: &str,
    ) -> impl Iterator<Item = (&'u Variant, &'u String)> {
        let variants = union.variants.iter();
        variants.filter_map(move |variant| match &variant.ty {
            Ty::Named(name) if self.is_one(from, name) => Some((variant, name)),
            _ => None,
        })
    }

    /// Tells the variants that a type became apart by a member that each has as another constant, one for every value
    /// that the type has there.
    fn split(&mut self, def: &TypeDef, held: &[(&Variant, &String)]) -> Option<SplitPlan> {
        let (from, to) = (self.from, self.to);
        let is_constant = |name: &str, wire: &str, value: &str| {
            let object = to.shape(name).and_then(Shape::object);
            let member = object.and_then(|object| object.member(wire));
            member.is_some_and(|it| matches!(&it.presence, Presence::Constant(it) if it == value))
        };
        let by = |member: &'m Member| {
            let (Presence::Required, false, Ty::Named(ty)) =
                (&member.presence, member.boxed, from.resolve(&member.ty))
            else {
                return None;
            };
            let Some(Shape::StringEnum(values)) = from.shape(ty) else {
                return None;
            };
            let arms: Vec<_> = values
                .iter()
                .map(|value| {
                    let is_it = |(_, name): &&(_, &String)| is_constant(name, &member.wire, value);
                    Some((value, *held.iter().find(is_it)?))
                })
                .collect::<Option<_>>()?;
            (arms.len() == held.len()).then_some((member, ty, arms))
        };
        let object = from.shape(&def.name).and_then(Shape::object)?;
        let (member, ty, arms) = object.members.iter().find_map(by)?;
        Some(SplitPlan {
            field: member.field.clone(),
            ty: ty.clone(),
            arms: arms
                .into_iter()
                .map(|(value, (variant, name))| {
                    let ends = (def.name.clone(), name.clone());
                    self.splits.insert(ends, member.wire.clone());
                    let transfer =
                        self.call(PairEnd::Type(def.name.clone()), PairEnd::Type(name.clone()));
                    (value.clone(), into(variant, transfer))
                })
                .collect(),
        })
    }

    /// Returns whether the value of a member is what led from a type to this one of several.
    pub(super) fn is_split_by(&self, ends: [Option<&TypeDef>; 2], wire: &str) -> bool {
        let [Some(from), Some(to)] = ends else {
            return false;
        };
        let by = self.splits.get(&(from.name.clone(), to.name.clone()));
        by.is_some_and(|by| by == wire)
    }

    /// Returns the plan for each variant; the target is a union, or one type that a variant holds.
    pub(super) fn arms(
        &mut self,
        def: &TypeDef,
        union: &Union,
        target: Result<&Union, &str>,
    ) -> Vec<ArmPlan> {
        let mut arms = Vec::new();
        let pairs = target.map_or_else(|_| Vec::new(), |target| self.pairs(union, target));
        for (at, variant) in union.variants.iter().enumerate() {
            let place = format!("{}|{}", def.doc_key, variant.name);
            // It stays as the variant of a union, or as the one type that is left of it.
            let becomes = match target {
                Ok(target) => {
                    let to = pairs.iter().find(|(from, _)| *from == at);
                    to.map(|(_, to)| &target.variants[*to]).and_then(|to| {
                        let transfer = self.transfer(&variant.ty, &to.ty).ok()?;
                        Some(into(to, transfer))
                    })
                }
                Err(name) => {
                    let own = self
                        .from
                        .resolve(&variant.ty)
                        .name()
                        .filter(|own| self.is_one(own, name));
                    own.map(|own| Becomes {
                        variant: None,
                        boxed: false,
                        transfer: self.call(
                            PairEnd::Type(own.to_owned()),
                            PairEnd::Type(name.to_owned()),
                        ),
                    })
                }
            };
            let arm = match becomes {
                Some(becomes) => Arm::Same(becomes),
                None => {
                    let held = match &variant.ty {
                        Ty::Named(name) => format!("variant that holds `{name}`"),
                        _ => "such variant".to_owned(),
                    };
                    let open = format!("{} has no {held}", self.now);
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
            let arm = if open {
                Arm::Same(Becomes {
                    variant: Some(Union::UNKNOWN.to_owned()),
                    boxed: false,
                    transfer: Transfer::Move,
                })
            } else {
                let id = self.now;
                let open = format!("{id} keeps no message of a method that it does not name");
                let error = Reject {
                    code: -32601,
                    message: format!("the method is not part of {id}"),
                };
                let place = format!("{}|{}", def.doc_key, Union::UNKNOWN);
                self.decided_arm(&place, &open, error)
            };
            arms.push(ArmPlan {
                variant: Union::UNKNOWN.to_owned(),
                boxed: false,
                arm,
            });
        }
        arms
    }

    /// Returns the rule's plan for a variant without a counterpart; without a rule, it is refused.
    fn decided_arm(&mut self, place: &str, open: &str, error: Reject) -> Arm {
        let decides = |action: &Action| {
            matches!(
                action,
                Action::Custom(_) | Action::RequiresState(_) | Action::Reject(_) | Action::Drop
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
            // A variant that is not an item of a list is the whole value: the message would be left without it.
            Some((rule, Action::Drop)) => Arm::Reject {
                rule: rule.id.clone(),
                error,
            },
            _ => {
                self.notes(place, open, REFUSED, ProposedRow::Rule(rejection(&error)));
                Arm::Reject {
                    rule: UNDECIDED.to_owned(),
                    error,
                }
            }
        }
    }

    /// Returns the pairs of variants of source and target, by their places: by name or rule, else by the constant of a member. The way back leads to where a value came from.
    pub(super) fn pairs(&self, source: &Union, target: &Union) -> Vec<(usize, usize)> {
        fn profiles<'m>(model: &'m Model, union: &'m Union) -> Vec<ChoiceMarks<'m>> {
            let types = union.types();
            types.map(|ty| ChoiceMarks::of_type(model, ty)).collect()
        }
        let sides = [profiles(self.from, source), profiles(self.to, target)];
        let flipped = |pair: (usize, usize)| self.way.of(pair, (pair.1, pair.0));
        let [olds, news] = &self.way.ends(sides);
        let pairs = pair(olds, news, false, |old, new| {
            let (from, to) = flipped((old, new));
            self.is_same(&source.variants[from].ty, &target.variants[to].ty)
        });
        pairs.into_iter().map(flipped).collect()
    }

    fn is_same(&self, from: &Ty, to: &Ty) -> bool {
        match (self.from.resolve(from), self.to.resolve(to)) {
            (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
            (Ty::Array(a), Ty::Array(b)) => match (&**a, &**b) {
                (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
                (a, b) => a == b,
            },
            (a, b) => a == b,
        }
    }
}

fn into(variant: &Variant, transfer: Transfer) -> Becomes {
    Becomes {
        variant: Some(variant.name.clone()),
        boxed: variant.boxed,
        transfer,
    }
}
