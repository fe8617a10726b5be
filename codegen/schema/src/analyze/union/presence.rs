//! Decisions by which members are there.

use crate::sorted::SortedSet;

use super::Decider;
use crate::model::{Case, UnionPlan};

/// Maximum number of paths that a reader looks for at once (`mcp_wire::Paths`).
const MAX_PATHS: usize = 128;

/// Returns whether a member can be a step of a path, whose steps are joined with `.`.
fn is_step(member: &&str) -> bool {
    !member.contains('.')
}

/// Returns the variants without one of them.
fn others(variants: &[usize], index: usize) -> Vec<usize> {
    variants
        .iter()
        .copied()
        .filter(|other| *other != index)
        .collect()
}

impl Decider<'_> {
    /// By the member that each variant demands and no other one knows.
    pub(super) fn by_sole_members(&self, variants: &[usize]) -> Option<UnionPlan> {
        let case = |&index: &usize| {
            let member = self.sole_member(index, &others(variants, index))?;
            Some(Case::take(member, index))
        };
        let cases = variants.iter().map(case).collect::<Option<_>>();
        cases.map(UnionPlan::First)
    }

    pub(super) fn by_presence(&self, variants: &[usize]) -> Result<UnionPlan, String> {
        if variants.len() > MAX_PATHS {
            return Err(format!(
                "{} variants without a tag, where a reader looks for {MAX_PATHS} members at most",
                variants.len()
            ));
        }
        // Best: each variant must have a member that no other one knows.
        if let Some(plan) = self.by_sole_members(variants) {
            return Ok(plan);
        }
        // Else one after the other: settle the variant that can be told from all that remain.
        let mut remaining = variants.to_vec();
        let mut cases = Vec::new();
        while let [_, _, ..] = remaining.as_slice() {
            let settled = remaining.iter().enumerate().find_map(|(at, &index)| {
                let path = self.telling_path(index, &others(&remaining, index));
                path.map(|path| (at, path))
            });
            let Some((at, path)) = settled else {
                return Err(format!(
                    "{} with no member that only one of them knows",
                    self.names(&remaining)
                ));
            };
            cases.push(Case::take(path, remaining.remove(at)));
        }
        let last = remaining[0];
        let others = others(variants, last);
        // The last one takes the rest, unless it too has a member that must be there.
        let otherwise = match self.nested_path(last, &others) {
            Some(path) => {
                cases.push(Case::take(path, last));
                None
            }
            None => Some(Box::new(UnionPlan::Take(last))),
        };
        Ok(UnionPlan::Present { cases, otherwise })
    }

    /// Returns a required member that none of the others knows.
    pub(super) fn sole_member(&self, index: usize, others: &[usize]) -> Option<String> {
        self.unknown_to(others, self.profiles[index].required())
    }

    /// Returns the first of some members that none of these variants knows.
    fn unknown_to<'m>(
        &self,
        others: &[usize],
        members: impl Iterator<Item = &'m str>,
    ) -> Option<String> {
        let known = |member: &&str| {
            others
                .iter()
                .map(|other| &self.profiles[*other])
                .any(|other| other.members.contains_key(*member))
        };
        let mut unknown = members.filter(is_step).filter(|member| !known(member));
        unknown.next().map(str::to_owned)
    }

    pub(super) fn telling_path(&self, index: usize, others: &[usize]) -> Option<String> {
        self.sole_member(index, others)
            .or_else(|| self.nested_path(index, others))
            .or_else(|| self.optional_member(index, others))
    }

    /// `member.inner`, where the inner member is required and no other variant's member knows it.
    pub(super) fn nested_path(&self, index: usize, others: &[usize]) -> Option<String> {
        let members = self.profiles[index]
            .members
            .iter()
            .filter(|(_, member)| member.required);
        for (name, member) in members {
            for (inner, profile) in &member.inner {
                if ![name, inner].iter().all(|step| is_step(&step.as_str())) {
                    continue;
                }
                let known = |other: &usize| {
                    let other = self.profiles[*other].members.get(name);
                    other.is_some_and(|other| other.inner.contains_key(inner))
                };
                if profile.required && !others.iter().any(known) {
                    return Some(format!("{name}.{inner}"));
                }
            }
        }
        None
    }

    /// Returns an optional member that only this variant knows, where the others demand nothing more than it does.
    ///
    /// Without that member, a value of this variant is read as one of the others: these have to take what else it holds.
    pub(super) fn optional_member(&self, index: usize, others: &[usize]) -> Option<String> {
        let profile = &self.profiles[index];
        let required: SortedSet<&str> = profile.required().collect();
        let others_of = others.iter().map(|other| &self.profiles[*other]);
        let mut within = others_of.filter(|other| other.required().all(|it| required.contains(it)));
        if !within.any(|other| other.takes(profile)) {
            return None;
        }
        self.unknown_to(others, profile.members.keys().map(String::as_str))
    }
}
