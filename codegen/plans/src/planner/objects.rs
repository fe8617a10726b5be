//! The plan of an object's members, and of those without a name in the schema.

use super::super::open::{Likeness, ProposedRow, UNDECIDED, shares_word};
use super::super::plan::{
    Adoption, AlternativesPlan, ConversionBody, FieldPlan, Fitted, HookCall, MemberMoves,
    ObjectPlan, RestPlan, ValueSource,
};
use super::super::rules::Action;
use super::{Planner, hook};
use mcp_revisions_diff::{Limit, is_text};
use mcp_revisions_schema::model::{Member, Model, ObjectShape, Presence, Rest, Shape, Ty, TypeDef};
use mcp_revisions_schema::pair::StepDirection;
use mcp_revisions_schema::sorted::SortedSet;

impl<'m> Planner<'m> {
    pub(super) fn object(
        &mut self,
        from_def: Option<&TypeDef>,
        from: &ObjectShape,
        to_def: Option<&TypeDef>,
        to: &ObjectShape,
    ) -> ConversionBody {
        // An opaque object has no name of its own.
        let (from_key, to_key) = (key(from_def.or(to_def)), key(to_def.or(from_def)));
        let (mut fields, mut dropped, mut settled) = (Vec::new(), Vec::new(), Vec::new());
        let (mut kept, mut foreign) = (Vec::<&str>::new(), Vec::new());
        let gathered = self.alternatives(&Action::Gather, to_key, to, from);
        let spread = self.alternatives(&Action::Spread, from_key, from, to);
        let entries = self.entries([from_key, to_key], from, to);
        let has = |lists: &[AlternativesPlan], others: &[AlternativesPlan], wire: &str| {
            lists.iter().any(|list| list.wire == wire)
                || entries.iter().any(|entry| entry.wire == wire)
                || (others.iter().flat_map(AlternativesPlan::held_values))
                    .any(|held| held.member == wire)
        };
        let planned = (to.members.iter()).filter(|target| !has(&gathered, &spread, &target.wire));
        for target in planned {
            let place = format!("{to_key}.{}", target.wire);
            let own = from.member(&target.wire);
            if let Presence::Constant(constant) = &target.presence {
                let split = self.is_split_by([from_def, to_def], &target.wire);
                match own {
                    Some(source) => settled.extend(self.settled(source, constant, &place, split)),
                    // An opaque object may have the very constant.
                    None if from_def.is_none() => {}
                    None => foreign.push(target.wire.clone()),
                }
                continue;
            }
            let (key, other) = ((from_key, from), (to_key, target));
            let renamed = match own {
                None => self.rules.renamed_member(key, other, self.way),
                Some(_) => None,
            };
            let source = own.or(renamed);
            kept.extend(source.map(|source| source.wire.as_str()));
            let mut fitted = Vec::new();
            let source = match source {
                Some(Member {
                    presence: Presence::Constant(constant),
                    ..
                }) => self.constant(constant, target, &place, from_key),
                Some(source) => {
                    let defs = [from_def, to_def];
                    let value = self.same_member(source, target, &place);
                    // A hook of the member sees to its limits.
                    if !matches!(value, ValueSource::Custom { .. }) {
                        fitted = self.limited([source, target], defs, [from_key, to_key]);
                    }
                    value
                }
                None => {
                    let mut value = self.new_member(target, &place);
                    // The target may refuse what an unknown member of that name holds.
                    if matches!(&value, ValueSource::Adopt(Adoption::Carried))
                        && self.is_bounded(self.way, target, to_def)
                    {
                        value = ValueSource::Adopt(Adoption::Never);
                    }
                    if matches!(&value, ValueSource::Adopt(how) if *how != Adoption::Never) {
                        fitted = self.limited_adoption(target, to_def, [from_key, to_key]);
                    }
                    value
                }
            };
            fields.push(FieldPlan {
                wire: target.wire.clone(),
                field: target.field.clone(),
                optional: target.presence == Presence::Optional,
                boxed: target.boxed,
                source,
                was: renamed.map(|source| source.wire.clone()),
                fitted,
            });
        }
        for source in &from.members {
            let constant = matches!(source.presence, Presence::Constant(_));
            let is_kept = kept.contains(&&*source.wire)
                || to.member(&source.wire).is_some()
                || has(&spread, &gathered, &source.wire);
            if !constant && !is_kept {
                // One alike that only the target has may be the same under another name.
                let new = fields.iter().filter(|field| field.was.is_none());
                let mut alike = new
                    .filter_map(|field| to.member(&field.wire))
                    .filter(|new| {
                        let is_new = from.member(&new.wire).is_none();
                        is_new && new.ty == source.ty && new.presence == source.presence
                    });
                let twin = alike.next().xor(alike.next()).map(|new| new.wire.as_str());
                let place = format!("{from_key}.{}", source.wire);
                if let (None, Some(new)) = (twin, renewed(source, from, to)) {
                    self.found.alike(&place, self.way, new, Likeness::OfName);
                }
                let mut gone = self.gone_member(source, &place, twin);
                // The way back does not take it for its own again, as it takes no unknown member of that name.
                let is_optional = source.presence == Presence::Optional;
                gone.carried &=
                    !(is_optional && self.is_bounded(self.way.back(), source, from_def));
                dropped.push(gone);
            }
        }
        let moves = MemberMoves {
            gathered,
            spread,
            entries,
        };
        let has_moves = [
            moves.gathered.len(),
            moves.spread.len(),
            moves.entries.len(),
        ] != [0; 3];
        let rest = self.rest(&from.rest, &to.rest, from_key);
        // A union must not take the target for a variant that the source's union did not know by such a member.
        let mut now = misleading(self.to, to_def, to);
        now.retain(|name| from.member(name).is_none());
        if !now.is_empty() {
            let before = misleading(self.from, from_def, from);
            now.retain(|name| !before.contains(name));
        }
        foreign.extend(now.into_iter().map(str::to_owned));
        if from.rest == Rest::Closed {
            foreign.clear();
        }
        let hooks = |key: &str, is_first: bool| -> Vec<HookCall> {
            let decisions = self.rules.decisions(key, self.way).into_iter();
            let hooks = decisions.filter_map(|offer| match (offer.action, is_first) {
                (Action::Before(path), true) | (Action::After(path), false) => {
                    Some(hook(offer.rule, path))
                }
                _ => None,
            });
            hooks.collect()
        };
        ConversionBody::Object(ObjectPlan {
            before: hooks(from_key, true),
            fields,
            dropped,
            settled,
            foreign,
            moves: has_moves.then(|| Box::new(moves)),
            rest,
            after: hooks(to_key, false),
        })
    }

    /// Returns the limits of a member that are tighter in the target, and what sees to them: a hook of its type, or the safe
    /// answer.
    fn limited(
        &mut self,
        members: [&Member; 2],
        defs: [Option<&TypeDef>; 2],
        [from_key, to_key]: [&str; 2],
    ) -> Vec<Fitted> {
        let (Some(limits), [Some(from), Some(to)]) = (self.limits, defs) else {
            return Vec::new();
        };
        let tighter = limits.tighter([from, to], members, self.way);
        let answer = "the value is passed on as it is, and may be refused by who receives it";
        self.fitted(tighter, [from_key, to_key], answer)
    }

    /// Returns the limits of a member that only the target names, and what sees to an unknown member of that name: a hook of
    /// its type, or the safe answer.
    fn limited_adoption(
        &mut self,
        member: &Member,
        def: Option<&TypeDef>,
        keys: [&str; 2],
    ) -> Vec<Fitted> {
        let (Some(limits), Some(to)) = (self.limits, def) else {
            return Vec::new();
        };
        let own = limits.own(to, member, self.way);
        let answer = "an unknown member of that name is passed on as it is, and may be refused by who receives it";
        self.fitted(own.into_iter().collect(), keys, answer)
    }

    /// Returns whether the schema to which a way leads refuses values that the type of its member can hold. A member that is
    /// kept as text is asked about by `limited_adoption`.
    fn is_bounded(&self, way: StepDirection, member: &Member, def: Option<&TypeDef>) -> bool {
        let (Some(limits), Some(to)) = (self.limits, def) else {
            return false;
        };
        !is_text(&member.ty) && limits.is_bounded(to, member, way)
    }

    /// Returns the hooks that see to limits; where there is none, the safe answer, which it notes.
    fn fitted(
        &mut self,
        limits: Vec<Limit>,
        [from_key, to_key]: [&str; 2],
        answer: &str,
    ) -> Vec<Fitted> {
        let (rules, way) = (self.rules, self.way);
        let mut fitted = Vec::new();
        for limit in limits {
            let mut ids = rules.fit(from_key, &limit.place, way);
            ids.extend(rules.fit(to_key, &limit.place, way));
            if ids.is_empty() {
                let row = ProposedRow::Covers([to_key.to_owned(), limit.place.clone()]);
                let place = format!("{to_key}.{}", limit.place);
                self.notes(&place, &limit.asks, answer, row);
                ids.insert(UNDECIDED.to_owned());
            }
            fitted.extend(ids.into_iter().map(|rule| Fitted {
                inside: limit.inside.clone(),
                rule,
            }));
        }
        fitted
    }

    /// Returns the plan for unknown members, if source and target keep them differently.
    fn rest(&mut self, from: &Rest, to: &Rest, key: &str) -> RestPlan {
        let mut plan = RestPlan {
            from: from.clone(),
            to: to.clone(),
            transfer: None,
            rule: UNDECIDED.to_owned(),
        };
        let [a, b] = [from, to].map(|rest| match rest {
            Rest::Open => Some(&Ty::Json),
            Rest::Typed(ty) => Some(ty),
            Rest::Closed => None,
        });
        // The conversion loses nothing if the source cannot hold such a value, or if the target takes it as any JSON.
        if a.is_none() || b == Some(&Ty::Json) {
            return plan;
        }
        if let (Rest::Typed(from), Rest::Typed(to)) = (from, to)
            && let Ok(transfer) = self.transfer(from, to)
        {
            // Two members of one name may differ inside.
            plan.transfer = Some(Box::new(transfer));
            return plan;
        }
        let place = format!("{key}.*");
        let question = "that unknown members are dropped which the target cannot keep";
        let open = match b {
            Some(ty) => format!("unknown members are {ty} there"),
            None => "there are no unknown members".to_owned(),
        };
        let open = format!("in {} {open}", self.now);
        let answer = "those that do not fit are left out, and recorded";
        plan.rule = self.dropped_safely(&place, question, &open, answer);
        plan
    }
}

/// Returns the name of a type in rule files.
fn key(def: Option<&TypeDef>) -> &str {
    def.map_or("", |def| &def.doc_key)
}

/// Returns the unknown members by which unions would take an object of a type for another of their variants.
fn misleading<'m>(
    model: &'m Model,
    def: Option<&TypeDef>,
    object: &ObjectShape,
) -> SortedSet<&'m str> {
    let unions = model.types.values().filter_map(|def| match &def.shape {
        Shape::Union(union) => Some(union),
        _ => None,
    });
    let Some(name) = def.map(|def| def.name.as_str()) else {
        return SortedSet::new();
    };
    let of_it = unions.filter(|union| union.types().any(|ty| ty.name() == Some(name)));
    of_it
        .flat_map(|union| union.plan.misleading_members(object))
        .collect()
}

/// Returns the only member that came whose name has a word in common with one that goes, the only one that goes with such a word.
fn renewed<'m>(source: &Member, from: &ObjectShape, to: &'m ObjectShape) -> Option<&'m str> {
    let is_constant = |member: &Member| matches!(member.presence, Presence::Constant(_));
    let gone = |member: &&Member| to.member(&member.wire).is_none() && !is_constant(member);
    let came = |member: &&Member| from.member(&member.wire).is_none() && !is_constant(member);
    let mut near = (to.members.iter().filter(came))
        .filter(|new| new.presence == source.presence && shares_word(&source.wire, &new.wire));
    let new = near.next().xor(near.next())?;
    let mut others = from.members.iter().filter(gone);
    let is_only = !others.any(|old| old.wire != source.wire && shares_word(&old.wire, &new.wire));
    is_only.then_some(&*new.wire)
}
