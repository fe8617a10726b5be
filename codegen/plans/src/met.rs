//! The rules that a plan meets on its way through values: for each member and variant, and for the conversions that it calls.

use mcp_revisions_schema::sorted::SortedMap;

use super::plan::{
    Arm, ConversionBody, Fitted, HookCall, ObjectPlan, PairEnd, PairPlan, PlannedConversion,
    SplitPlan, Transfer, ValueSource,
};
use mcp_revisions_schema::pair::StepDirection;

impl PairPlan {
    /// Returns the conversions of one way, by their ends.
    pub(super) fn known(
        &self,
        way: StepDirection,
    ) -> SortedMap<(&PairEnd, &PairEnd), &PlannedConversion> {
        let conversions = self.way(way).iter();
        conversions.map(|one| ((&one.from, &one.to), one)).collect()
    }
}

/// A member of source or target, the rules that say what becomes of it, and how its value is converted.
pub(super) struct MetMember<'p> {
    pub(super) wire: &'p str,
    pub(super) rules: Vec<&'p str>,
    pub(super) transfer: Option<&'p Transfer>,
    pub(super) fitted: &'p [Fitted],
}

impl ObjectPlan {
    /// Returns the members that something is planned for.
    pub(super) fn members(&self) -> impl Iterator<Item = MetMember<'_>> {
        fn without_counterpart<'p>(wire: &'p str, rule: Option<&'p String>) -> MetMember<'p> {
            MetMember {
                wire,
                rules: rule.into_iter().map(String::as_str).collect(),
                transfer: None,
                fitted: &[],
            }
        }
        let fields = self.fields.iter().map(|field| MetMember {
            wire: &field.wire,
            rules: field.source.rules(),
            transfer: match &field.source {
                ValueSource::Same(same) => Some(&same.transfer),
                _ => None,
            },
            fitted: &field.fitted,
        });
        let dropped =
            (self.dropped.iter()).map(|plan| without_counterpart(&plan.wire, Some(&plan.rule)));
        let settled =
            (self.settled.iter()).map(|plan| without_counterpart(&plan.wire, plan.rule.as_ref()));
        let lists = self.gathered().iter().chain(self.spread());
        let listed = lists.flat_map(|list| {
            let held = list.held_values().map(|held| MetMember {
                wire: &held.member,
                rules: vec![&list.rule],
                transfer: Some(&held.transfer),
                fitted: &[],
            });
            held.chain([without_counterpart(&list.wire, Some(&list.rule))])
        });
        let entries = (self.entries().iter())
            .map(|entry| without_counterpart(&entry.wire, Some(&entry.rule)));
        let own = fields.chain(dropped).chain(settled);
        own.chain(listed).chain(entries)
    }
}

impl ValueSource {
    /// Returns the rules that say what becomes of the member.
    pub(super) fn rules(&self) -> Vec<&str> {
        match self {
            Self::Same(same) => {
                let missing = same.missing.iter().map(|missing| missing.rule.as_str());
                let filter = same.filter.iter().map(|hook| hook.rule.as_str());
                missing.chain(same.null.as_deref()).chain(filter).collect()
            }
            Self::Custom { hook, .. } | Self::Derived(hook) => vec![&hook.rule],
            // A target that holds every value of the source needs no rule.
            Self::Reread(recast) if recast.widens => {
                let missing = recast.missing.iter();
                missing.map(|missing| missing.rule.as_str()).collect()
            }
            Self::Reread(recast) | Self::Lost(recast) => vec![&recast.rule],
            Self::Fill(missing) => vec![&missing.rule],
            Self::Claim { .. } | Self::Constant(_) | Self::Adopt(_) | Self::Session(_) => {
                Vec::new()
            }
        }
    }
}

impl ConversionBody {
    /// Returns the rules that say what becomes of a value as a whole, each with the variant that it speaks of; none of an
    /// object.
    pub(super) fn rules(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            Self::Object(_) | Self::IntoVariant(_) | Self::Split(_) | Self::Text | Self::Reread => {
                Vec::new()
            }
            Self::Union(arms) => (arms.iter())
                .filter_map(|plan| Some((Some(plan.variant.as_str()), plan.arm.rule()?)))
                .collect(),
            Self::Strings(plans) => (plans.iter())
                .filter_map(|plan| Some((None, plan.rejected.as_ref()?.0.as_str())))
                .collect(),
            Self::Custom(HookCall { rule, .. }) | Self::Reject { rule, .. } => vec![(None, rule)],
        }
    }

    /// Returns the conversions of its values.
    pub fn transfers(&self) -> Vec<&Transfer> {
        match self {
            Self::Object(plan) => {
                let members = plan.members().filter_map(|met| met.transfer);
                members.chain(plan.rest.transfer.as_deref()).collect()
            }
            Self::Union(arms) => (arms.iter())
                .filter_map(|arm| match &arm.arm {
                    Arm::Same(becomes) => Some(&becomes.transfer),
                    _ => None,
                })
                .collect(),
            Self::IntoVariant(becomes) => vec![&becomes.transfer],
            Self::Split(SplitPlan { arms, .. }) => {
                arms.iter().map(|(_, becomes)| &becomes.transfer).collect()
            }
            Self::Strings(_)
            | Self::Text
            | Self::Custom(_)
            | Self::Reread
            | Self::Reject { .. } => Vec::new(),
        }
    }
}

impl Arm {
    /// Returns the rule that decides what becomes of the variant; `None` for one that stays.
    pub(super) fn rule(&self) -> Option<&str> {
        match self {
            Self::Same(_) => None,
            Self::Custom(HookCall { rule, .. })
            | Self::RequiresState { rule, .. }
            | Self::Reject { rule, .. } => Some(rule),
        }
    }
}
