//! The wire paths where the rules of a pair apply: its plan, walked from every method.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::collections::VecDeque;

use super::OneOrMany;
use super::plan::{ConversionBody, HookCall, PairEnd, PairPlan, Transfer};
use mcp_revisions_diff::{ExchangePart, PathSegment, Trail, WirePath};
use mcp_revisions_schema::pair::StepDirection;

/// Returns the wire paths of each rule, by its id, each part of a method once and the shortest way there.
///
/// A rule that no method of both revisions reaches has the type that an adapter converts.
pub fn places(plan: &PairPlan) -> SortedMap<String, Vec<String>> {
    let mut found = FoundPaths::default();
    let mut around = FoundPaths::default();
    for method in &plan.methods {
        let asked = method.sender.direction();
        if let Some(apart) = &method.apart {
            let path = WirePath::whole(asked, &method.name, ExchangePart::Message);
            found.add(&apart.rule, path.to_string());
        }
        for (part, transfers) in method.parts() {
            let direction = match part {
                ExchangePart::Result | ExchangePart::Response => asked.back(),
                _ => asked,
            };
            let found = match part {
                ExchangePart::Message | ExchangePart::Response => &mut around,
                _ => &mut found,
            };
            for (way, transfer) in StepDirection::BOTH
                .into_iter()
                .zip(transfers.into_iter().flatten())
            {
                let shown =
                    |trail: Trail| WirePath::new(direction, &method.name, part, trail).to_string();
                walk(plan, way, transfer, found, &shown);
            }
        }
    }
    // A whole message holds its params, which are reached by themselves.
    for (rule, paths) in around.0 {
        found.0.entry(rule).or_insert(paths);
    }
    for error in &plan.errors {
        let all = ["*".to_owned()];
        let methods = error.method.as_ref().map(OneOrMany::all);
        for method in methods.filter(|own| !own.is_empty()).unwrap_or(&all) {
            found.add(&error.id, format!("{method} error $.code = {}", error.code));
        }
    }
    adapters(plan, &mut found);
    found.0
}

/// The rules that only conversions reach which adapters of the runtime call.
fn adapters(plan: &PairPlan, found: &mut FoundPaths) {
    let reached: SortedSet<String> = found.0.keys().cloned().collect();
    let mut more = FoundPaths::default();
    for way in StepDirection::BOTH {
        for one in plan.way(way) {
            let transfer = Transfer::Call {
                from: one.from.clone(),
                to: one.to.clone(),
            };
            let shown = |trail: Trail| format!("{} {}", one.from.name(), trail.text);
            walk(plan, way, &transfer, &mut more, &shown);
        }
    }
    for (rule, mut paths) in more.0 {
        if !reached.contains(&rule) {
            paths.sort_by_key(String::len);
            // The innermost type is what the rule speaks of.
            paths.truncate(1);
            found.0.insert(rule, paths);
        }
    }
}

#[derive(Default)]
struct FoundPaths(SortedMap<String, Vec<String>>);

impl FoundPaths {
    fn add(&mut self, rule: &str, path: String) {
        let paths = self.0.entry(rule.to_owned()).or_default();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
}

/// Every rule of one way below a transfer, each conversion where it is met first: nearest to the root.
fn walk(
    plan: &PairPlan,
    way: StepDirection,
    transfer: &Transfer,
    found: &mut FoundPaths,
    shown: &dyn Fn(Trail) -> String,
) {
    let known = plan.known(way);
    let mut seen = SortedSet::new();
    let mut ahead = VecDeque::from_iter(next(transfer, Trail::root()));
    while let Some((ends, trail)) = ahead.pop_front() {
        let Some(one) = known.get(&(&ends.0, &ends.1)).copied() else {
            continue;
        };
        if !seen.insert(ends) {
            continue;
        }
        let mut met = |rule: &str, trail: &Trail| found.add(rule, shown(trail.clone()));
        let ConversionBody::Object(plan) = &one.body else {
            for (variant, rule) in one.body.rules() {
                let choice = variant.map(|variant| to(&trail, PathSegment::choice(variant)));
                met(rule, choice.as_ref().unwrap_or(&trail));
            }
            let transfers = one.body.transfers().into_iter();
            ahead.extend(transfers.filter_map(|transfer| next(transfer, trail.clone())));
            continue;
        };
        for HookCall { rule, .. } in plan.before.iter().chain(&plan.after) {
            met(rule, &trail);
        }
        for member in plan.members() {
            let trail = to(&trail, PathSegment::Member(member.wire.to_owned()));
            member.rules.into_iter().for_each(|rule| met(rule, &trail));
            ahead.extend(member.transfer.and_then(|transfer| next(transfer, trail)));
        }
        let rest = plan.rest.transfer.as_deref();
        ahead.extend(rest.and_then(|transfer| next(transfer, to(&trail, PathSegment::Each))));
    }
}

/// Returns the conversion that a transfer ends in, at the values that it converts one by one.
fn next(transfer: &Transfer, trail: Trail) -> Option<((PairEnd, PairEnd), Trail)> {
    match transfer {
        Transfer::List(inner) => next(inner, to(&trail, PathSegment::Item)),
        Transfer::Map(inner) => next(inner, to(&trail, PathSegment::Each)),
        Transfer::Nullable(inner) | Transfer::OrNull(inner) => next(inner, trail),
        Transfer::Call { from, to } => Some(((from.clone(), to.clone()), trail)),
        Transfer::Move | Transfer::Widen => None,
    }
}

fn to(trail: &Trail, segment: PathSegment) -> Trail {
    let mut longer = trail.clone();
    longer.push(&segment);
    longer
}
