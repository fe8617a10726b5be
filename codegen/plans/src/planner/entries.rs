//! The plan of a member of one side that is an entry of a map on the other.

use super::super::plan::EntryPlan;
use super::super::rules::{Action, MapEntry};
use super::{PlanProblem, Planner};
use mcp_revisions_schema::model::{Member, Model, ObjectShape, Presence, Ty};

impl Planner<'_> {
    /// Returns the members that one of two types has, and that a rule keeps in a map of the other.
    pub(super) fn entries(
        &mut self,
        [from_key, to_key]: [&str; 2],
        from: &ObjectShape,
        to: &ObjectShape,
    ) -> Vec<EntryPlan> {
        let rules = self.rules;
        let lone = |own: &ObjectShape, other: &ObjectShape| -> Vec<Member> {
            let lone = own
                .members
                .iter()
                .filter(|it| other.member(&it.wire).is_none());
            lone.cloned().collect()
        };
        let taken = lone(to, from)
            .into_iter()
            .map(|member| (to_key, true, member));
        let put = lone(from, to)
            .into_iter()
            .map(|member| (from_key, false, member));
        let mut plans = Vec::new();
        for (key, takes, member) in taken.chain(put) {
            let offer = rules.offer(&format!("{key}.{}", member.wire), self.way);
            let Some((offer, Action::Entry(entry))) = offer.map(|offer| (offer, offer.action))
            else {
                continue;
            };
            rules.uses(&offer);
            match self.map_of(entry, &member, [from, to]) {
                Ok(map_field) => plans.push(EntryPlan {
                    rule: offer.rule.id.clone(),
                    takes,
                    map: entry.of.clone(),
                    map_field,
                    name: entry.name.clone(),
                    wire: member.wire.clone(),
                    field: member.field.clone(),
                    boxed: member.boxed,
                }),
                Err(problem) => {
                    let rule = offer.rule;
                    let error = rules.error(offer.offset(), &rule.id, &problem, &rule.reason);
                    self.unsupported.push(error);
                }
            }
        }
        plans
    }

    /// Returns the field of the source that is the map of an entry, or what is wrong with the row about it.
    fn map_of(
        &self,
        entry: &MapEntry,
        member: &Member,
        [from, to]: [&ObjectShape; 2],
    ) -> Result<String, PlanProblem> {
        if member.presence != Presence::Optional {
            return Err(format!(
                "`{}` must be there, and an entry of a map need not",
                member.wire
            ));
        }
        let is_map = |model: &Model, member: &&Member| {
            let holds_json = match model.resolve(&member.ty) {
                Ty::Map(value) => matches!(model.resolve(value), Ty::Json | Ty::JsonObject),
                _ => false,
            };
            holds_json && member.presence == Presence::Optional && !member.boxed
        };
        let source = from.member(&entry.of).filter(|map| is_map(self.from, map));
        let target = to.member(&entry.of).filter(|map| is_map(self.to, map));
        match (source, target) {
            (Some(source), Some(_)) => Ok(source.field.clone()),
            _ => Err(format!(
                "`{}` is not an optional map of JSON in both revisions",
                entry.of
            )),
        }
    }
}
