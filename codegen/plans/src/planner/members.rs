//! The plan of one member: kept, new, gone, or a constant on one of the two sides.

use serde_json::{Value, json};

use super::super::open::{Likeness, ProposedRow, UNDECIDED};
use super::super::plan::{
    Adoption, DroppedPlan, Missing, Recast, SameMember, SettledPlan, SourceValue, Transfer,
    ValueSource,
};
use super::super::rules::{Action, Offer, SessionFact};
use super::words::{self, MAX_WITHIN};
use super::{PairEnd, Planner, Reject, hook, rejection};
use mcp_revisions_diff::refused_by;
use mcp_revisions_schema::model::{Given, InitialValue, Member, Model, Presence, Ty};

/// The question of an absent value, as the rest of a sentence.
const ABSENT: &str = "what an absent one becomes where the target must have it";

impl<'m> Planner<'m> {
    /// Returns a member that both sides name.
    pub(super) fn same_member(
        &mut self,
        source: &Member,
        target: &Member,
        place: &str,
    ) -> ValueSource {
        let optional = [source, target].map(|member| member.presence == Presence::Optional);
        let (rules, now) = (self.rules, self.now);
        let offer = rules.offer(place, self.way);
        if let Some(offer) = &offer
            && let Action::Custom(path) = offer.action
        {
            rules.uses(offer);
            return ValueSource::Custom {
                field: source.field.clone(),
                hook: hook(offer.rule, path),
            };
        }
        let claims = |member: &Member| member.given == Given::Start(InitialValue::ProtocolVersion);
        if self.restates && claims(source) && claims(target) {
            return ValueSource::Claim {
                field: source.field.clone(),
            };
        }
        let [from, to] = [self.from.resolve(&source.ty), self.to.resolve(&target.ty)];
        let (transfer, null) = match (from, to) {
            (Ty::Nullable(inner), to) if optional[1] && !matches!(to, Ty::Nullable(_)) => {
                let transfer = self.transfer(inner, to);
                let open = format!("it may be null, and may not in {now}");
                let answer = "`null` is left out, and recorded";
                let null = transfer
                    .is_ok()
                    .then(|| self.dropped_safely(place, "that `null` is dropped", &open, answer));
                (transfer, null)
            }
            (from, to) => (self.transfer(from, to), None),
        };
        let missing = (optional == [true, false]).then(|| {
            let open = format!("it is required in {now}, and may be absent before");
            let mut missing = self.required(target, place, ABSENT, &open, ProposedRow::Add);
            if let (Action::Empty, Ty::Named(_), Ok(transfer)) = (&missing.action, from, &transfer)
            {
                missing.empty = Some(transfer.clone());
            }
            missing
        });
        let transfer = match transfer {
            Ok(transfer) => transfer,
            Err(problem) => {
                let recast = Recast {
                    field: source.field.clone(),
                    optional: optional[0],
                    boxed: source.boxed,
                    rule: UNDECIDED.to_owned(),
                    widens: false,
                    missing,
                };
                return self.recast_member([source, target], recast, place, &problem);
            }
        };
        let (mut implied, mut filter) = (None, None);
        match offer.as_ref().map(|offer| (offer, offer.action)) {
            Some((offer, Action::Implied(value))) if optional == [false, true] => {
                rules.uses(offer);
                implied = Some(value.clone());
            }
            Some((offer, Action::Filter(path))) if matches!(transfer, Transfer::List(_)) => {
                rules.uses(offer);
                filter = Some(hook(offer.rule, path));
            }
            _ => {}
        }
        let boxed = source.boxed || target.boxed;
        let plain = optional == [true, true] && !boxed && null.is_none();
        let prune = plain
            && matches!(
                transfer,
                Transfer::Call {
                    to: PairEnd::Map,
                    ..
                }
            );
        let summon = match &transfer {
            Transfer::Call {
                from: PairEnd::Map,
                to: PairEnd::Type(name),
            } if plain => self.summoned(name),
            _ => None,
        };
        ValueSource::Same(SameMember {
            field: source.field.clone(),
            transfer,
            optional: optional[0],
            boxed: source.boxed,
            missing,
            implied,
            null,
            prune,
            summon,
            filter,
            left_out: Vec::new(),
        })
    }

    /// Returns the fact of a session that is of this type.
    fn summoned(&self, name: &str) -> Option<SessionFact> {
        let def = self.to.get(name)?;
        def.shape.object()?.members.iter().find_map(|member| {
            let place = format!("{}.{}", def.doc_key, member.wire);
            match self.rules.offer(&place, self.way)?.action {
                Action::Session(fact @ SessionFact::SubscriptionId) => Some(*fact),
                _ => None,
            }
        })
    }

    /// When an unknown member is taken for one that only the target names: what the way back does with that decides.
    fn adoption(&self, place: &str) -> Adoption {
        let back = self.rules.offer(place, self.way.back());
        match back.map(|offer| (offer.rule.carry, offer.action)) {
            Some((_, Action::Pass)) => Adoption::Always,
            None | Some((true, Action::Drop | Action::Implied(_) | Action::Custom(_))) => {
                Adoption::Carried
            }
            Some(_) => Adoption::Never,
        }
    }

    /// Returns a member whose type became another one: dropped where a rule says so, else its text is read again where nothing
    /// in it could need a rule. A type that holds every value of the old one asks for no rule.
    fn recast_member(
        &mut self,
        [source, target]: [&Member; 2],
        recast: Recast,
        place: &str,
        problem: &str,
    ) -> ValueSource {
        let (from, to) = (self.from, self.to);
        let opaque = matches!(to.resolve(&target.ty), Ty::Json);
        let plain =
            words::is_plain(from, &source.ty) && (opaque || words::is_plain(to, &target.ty));
        let scalar = [(from, source), (to, target)]
            .iter()
            .any(|(model, member)| words::is_scalar(model, &member.ty, MAX_WITHIN));
        let may_lack = target.presence == Presence::Optional;
        let question = "that a value of another type is dropped";
        if may_lack && let Some(rule) = self.dropped(place, question) {
            return ValueSource::Lost(Recast { rule, ..recast });
        }
        if words::widens((from, &source.ty), (to, &target.ty), MAX_WITHIN) {
            return ValueSource::Reread(Recast {
                widens: true,
                ..recast
            });
        }
        let (otherwise, action) = if may_lack {
            ("lost", "\"drop\"")
        } else {
            ("refused", "{ custom = \"\" }")
        };
        if plain || scalar {
            let answer = format!("the value is read again, and {otherwise} if it does not fit");
            self.finds(place, problem, &answer, "{ custom = \"\" }");
            ValueSource::Reread(recast)
        } else {
            self.finds(place, problem, &format!("it is {otherwise}"), action);
            ValueSource::Lost(recast)
        }
    }

    /// Returns a member that only the target names.
    pub(super) fn new_member(&mut self, target: &Member, place: &str) -> ValueSource {
        if target.presence == Presence::Optional {
            let rules = self.rules;
            let offer = rules.offer(place, self.way);
            return match offer.as_ref().map(|offer| (offer, offer.action)) {
                Some((offer, Action::Adopt)) => {
                    rules.uses(offer);
                    ValueSource::Adopt(Adoption::Always)
                }
                Some((offer, Action::Session(fact))) => {
                    rules.uses(offer);
                    ValueSource::Session(*fact)
                }
                _ => ValueSource::Adopt(self.adoption(place)),
            };
        }
        let question = "what a member gets that the source does not name";
        let (before, now, ty) = (self.before, self.now, &target.ty);
        let open = format!("it is {ty}, required in {now}, and {before} has no such member");
        ValueSource::Fill(self.required(target, place, question, &open, ProposedRow::Rule))
    }

    /// Returns the value of a required member: that of a rule, or the safe answer.
    fn required(
        &mut self,
        target: &Member,
        place: &str,
        question: &str,
        open: &str,
        row: fn(String) -> ProposedRow,
    ) -> Missing {
        let rules = self.rules;
        let Some(offer) = rules.offer(place, self.way) else {
            return self.filled(target, place, open, row);
        };
        rules.uses(&offer);
        if !offer.action.fills() {
            self.misses(place, &offer, question);
            return self.unfilled(place);
        }
        self.fills(place, &offer, (self.to, target));
        Missing {
            rule: offer.rule.id.clone(),
            // An implied value on the way down is the default on the way up.
            action: match offer.action {
                Action::Implied(value) => Action::Default(value.clone()),
                Action::Only(only) => Action::Default(only.value.clone()),
                action => action.clone(),
            },
            empty: None,
        }
    }

    /// A value that a rule gives to a member has to be one of the member.
    fn fills(&mut self, place: &str, offer: &Offer<'_>, (model, member): (&Model, &Member)) {
        let value = match offer.action {
            Action::Default(value) | Action::Implied(value) => value,
            Action::Only(only) => &only.value,
            _ => return,
        };
        let limits = &member.constraints.values;
        let problem = if words::admits(model, &member.ty, value) == Some(false) {
            format!("{value} is not {}", member.ty)
        } else if let Some((name, bound)) = refused_by(limits, value) {
            format!("{value} does not keep `{name}: {bound}`")
        } else {
            return;
        };
        let (rule, way) = (offer.rule, self.way);
        let problem = format!("{problem}, which {place} has to be on the way {way}");
        let error = (self.rules).error(offer.offset(), &rule.id, &problem, &rule.reason);
        self.unsupported.push(error);
    }

    /// Returns the value of a required member without a rule: the schema's own default, else nothing.
    fn filled(
        &mut self,
        target: &Member,
        place: &str,
        open: &str,
        row: fn(String) -> ProposedRow,
    ) -> Missing {
        let mut missing = self.unfilled(place);
        let mut answer = "a message without it is refused".to_owned();
        // The stub is not a value of the member: it is refused until there is a decision.
        let stub = ["\"\"", "{}"].into_iter().zip([json!(""), json!({})]);
        let mut stub =
            stub.filter(|(_, value)| words::admits(self.to, &target.ty, value) == Some(false));
        let mut action = match stub.next() {
            Some((stub, _)) => format!("{{ default = {stub} }}"),
            None => "{ custom = \"\" }".to_owned(),
        };
        if let Some(value) = words::default(self.to, target) {
            missing.action = Action::Default(value.clone());
            answer = format!("an absent one becomes {value}, the default of the schema");
            action = format!("{{ default = {} }}", words::toml(value));
        }
        self.notes(place, open, &answer, row(action));
        missing
    }

    /// Nothing: a message without the member is refused.
    fn unfilled(&self, place: &str) -> Missing {
        let message = format!(
            "`{place}` must be there in {}, and nothing says what it is",
            self.now
        );
        let error = Reject {
            code: -32602,
            message,
        };
        Missing {
            rule: UNDECIDED.to_owned(),
            action: Action::Reject(error),
            empty: None,
        }
    }

    /// Returns a member that the target does not have, and the one that may be the same there, under another name.
    pub(super) fn gone_member(
        &mut self,
        source: &Member,
        place: &str,
        alike: Option<&str>,
    ) -> DroppedPlan {
        let question = "what becomes of a member that the target does not have";
        let optional = source.presence == Presence::Optional;
        let plan = |rule: &str, action: Action, carried: bool| DroppedPlan {
            wire: source.wire.clone(),
            field: source.field.clone(),
            optional,
            rule: rule.to_owned(),
            action,
            carried,
        };
        let rules = self.rules;
        let offer = rules.offer(place, self.way);
        let offered = offer.is_some();
        if let Some(
            offer @ Offer {
                action: Action::Implied(_),
                ..
            },
        ) = &offer
        {
            self.fills(place, offer, (self.from, source));
        }
        if let Some((rule, action)) = self.rule(place, Action::drops, question) {
            // A value that the source always has is made again on the way back, unless nothing can make it.
            let stops = || rule.action(self.way.back()).is_some_and(Action::stops);
            let carried = rule.carry && (optional || stops());
            return plan(&rule.id, action.clone(), carried);
        }
        if offered {
            return plan(UNDECIDED, Action::Drop, optional);
        }
        let (before, now) = (self.before, self.now);
        let (ty, presence) = (&source.ty, words::presence(&source.presence));
        let hint = alike
            .map(|new| {
                format!(", as is `{new}`, which only {now} has: a [[rename]] if they are one")
            })
            .unwrap_or_default();
        let open = format!("{now} has no such member; it is {ty}, {presence} in {before}{hint}");
        if let Some(twin) = alike {
            self.found.alike(place, self.way, twin, Likeness::OfType);
        }
        let owner = place.split('.').next().unwrap_or(place);
        if self.rules.is_refused_without(owner, &source.wire) {
            let error = self.refusal(&format!("`{}`", source.wire));
            self.finds(
                place,
                &open,
                "a message with it is refused",
                &rejection(&error),
            );
            return plan(UNDECIDED, Action::Reject(error), false);
        }
        // The way back fills in the default again, so the proposed row records only another value.
        let default = words::default(self.from, source);
        if let (Presence::Required, Some(value)) = (&source.presence, default) {
            let answer = format!(
                "{value}, the default of the schema, is left out, and another value is recorded"
            );
            let action = format!("{{ implied = {} }}", words::toml(value));
            self.finds(place, &open, &answer, &action);
            return plan(UNDECIDED, Action::Implied(value.clone()), optional);
        }
        self.finds(place, &open, "it is left out, and recorded", "\"drop\"");
        // Nothing can make it anew on the way back.
        plan(UNDECIDED, Action::Drop, true)
    }

    /// Returns a member that was a constant, and is one value of several now: of the rest of the source, where a rule says so
    /// at the source's own place.
    pub(super) fn constant(
        &mut self,
        constant: &Value,
        target: &Member,
        place: &str,
        from_key: &str,
    ) -> ValueSource {
        let own = format!("{from_key}.{}", target.wire);
        if let Some((rule, path)) = self.rules.custom(&own, self.way) {
            return ValueSource::Derived(hook(rule, path));
        }
        if words::admits(self.to, &target.ty, constant) == Some(true) {
            return ValueSource::Constant(constant.clone());
        }
        let open = format!("it was always {constant}, and is {}", target.ty);
        if target.presence == Presence::Optional {
            self.finds(place, &open, "it is left out", "\"drop\"");
            return ValueSource::Adopt(Adoption::Never);
        }
        ValueSource::Fill(self.filled(target, place, &open, ProposedRow::Rule))
    }

    /// Replaces a member that is a constant now: any value becomes it, unless that value was what `split` its object.
    pub(super) fn settled(
        &mut self,
        source: &Member,
        constant: &Value,
        place: &str,
        split: bool,
    ) -> Option<SettledPlan> {
        let from = match &source.presence {
            Presence::Constant(old) if old == constant => return None,
            Presence::Constant(old) if source.wire == "method" && self.renames(old, constant) => {
                return None;
            }
            Presence::Constant(old) => SourceValue::Constant(old.clone()),
            presence => SourceValue::Field {
                field: source.field.clone(),
                optional: *presence == Presence::Optional,
            },
        };
        let mut plan = SettledPlan {
            wire: source.wire.clone(),
            from,
            constant: constant.clone(),
            rule: None,
        };
        if split {
            return Some(plan);
        }
        let question = "that another value than the constant is dropped";
        let was = match words::presence(&source.presence) {
            fixed if matches!(source.presence, Presence::Constant(_)) => fixed,
            presence => format!("{}, {presence}", source.ty),
        };
        let open = format!("it was {was}, and is always {constant}");
        let answer = "another value becomes that one, and is recorded";
        plan.rule = Some(self.dropped_safely(place, question, &open, answer));
        Some(plan)
    }

    /// Returns whether a row says that two constants are the names of one method.
    fn renames(&self, from: &Value, to: &Value) -> bool {
        self.rules.renamed_methods().any(|(_, old, new)| {
            let [before, after] = self.way.ends([old, new]);
            from == before && to == after
        })
    }
}
