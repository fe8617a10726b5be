//! Lists of a union: an entry whose variant the target lacks is left out, like an unknown entry, and the list stays.

use super::super::effect::target;
use super::super::open::UNDECIDED;
use super::super::plan::{
    Arm, ConversionBody, LeftOut, PairEnd, PlannedConversion, Transfer, ValueSource,
};
use super::super::rules::Action;
use super::Planner;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

impl Planner<'_> {
    /// Marks the lists from which entries are left out: those of variants that no rule covers, or that a rule drops. A list that must
    /// be complete is not marked. The open questions about these variants say so.
    pub(super) fn leave_out(&mut self) {
        let mut done = std::mem::take(&mut self.done);
        let unions: SortedMap<(PairEnd, PairEnd), Vec<LeftOut>> = done
            .iter()
            .map(|one| ((one.from.clone(), one.to.clone()), self.left_out(one)))
            .collect();
        let mut listed = SortedSet::new();
        for one in &mut done {
            let ConversionBody::Object(object) = &mut one.body else {
                continue;
            };
            let owner = one.from.name();
            for field in &mut object.fields {
                let wire = field.was.as_ref().unwrap_or(&field.wire);
                let ValueSource::Same(same) = &mut field.source else {
                    continue;
                };
                let Transfer::List(item) = &same.transfer else {
                    continue;
                };
                let ends = target(item).filter(|_| !self.rules.is_kept(owner, wire));
                let left_out = ends.as_ref().and_then(|ends| unions.get(ends));
                if let (Some((union, _)), Some(left_out)) = (&ends, left_out) {
                    let places = left_out.iter().map(|one| self.variant(union, &one.variant));
                    listed.extend(places);
                    same.left_out.clone_from(left_out);
                }
            }
        }
        self.done = done;
        for place in listed {
            self.found.leaves_out(&place, self.way);
        }
    }

    /// Returns the name of a variant in rules.
    fn variant(&self, union: &PairEnd, variant: &str) -> String {
        let def = self.from.get(union.name());
        format!("{}|{variant}", def.map_or(union.name(), |def| &def.doc_key))
    }

    /// Returns the variants of a union whose entries are left out of lists.
    fn left_out(&self, one: &PlannedConversion) -> Vec<LeftOut> {
        let ConversionBody::Union(arms) = &one.body else {
            return Vec::new();
        };
        let left_out = arms.iter().filter_map(|plan| {
            let Arm::Reject { rule, .. } = &plan.arm else {
                return None;
            };
            let action = self
                .rules
                .action(&self.variant(&one.from, &plan.variant), self.way);
            let is_dropped = rule == UNDECIDED || action == Some(&Action::Drop);
            is_dropped.then(|| LeftOut {
                variant: plan.variant.clone(),
                rule: rule.clone(),
            })
        });
        left_out.collect()
    }
}
