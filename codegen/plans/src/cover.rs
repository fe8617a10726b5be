//! The rule that covers a row of a diff: the plan of the pair, walked along the wire paths of the row.
//!
//! A row is covered by the rules met at the end of its paths, by `proven` where the planner needed none, or by
//! `runtime` where no value is concerned: headers, envelopes, what binds peers. What none of these covers is uncovered.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use super::effect::target;
use super::open::UNDECIDED;
use super::plan::{ConversionBody, ObjectPlan, PairEnd, PairPlan, PlannedConversion, Transfer};
use super::rules::ErrorRule;
use mcp_revisions_diff::{ChangeKind, DiffRow, ExchangePart, PROVEN, WirePath};
use mcp_revisions_schema::pair::{MethodSender, StepDirection};

/// Returns the rules that cover a row, or why it needs none; empty if nothing covers it.
pub fn cover(row: &DiffRow, plan: &PairPlan) -> SortedSet<String> {
    let without_rule = match row.kind {
        ChangeKind::HeaderAdded | ChangeKind::HeaderRemoved | ChangeKind::HeaderChanged => {
            Some("runtime: headers are the transport's")
        }
        ChangeKind::RuleAdded | ChangeKind::RuleRemoved | ChangeKind::RuleChanged => {
            Some("runtime: it binds peers, and no message changes")
        }
        ChangeKind::ErrorCodeAdded
        | ChangeKind::ErrorCodeRemoved
        | ChangeKind::ErrorCodeRenumbered => {
            return code(row, plan).into_iter().collect();
        }
        ChangeKind::ErrorCodeChanged => {
            Some("runtime: the code stays, the HTTP status is the transport's")
        }
        ChangeKind::Deprecated | ChangeKind::Undeprecated | ChangeKind::DefinitionRenamed => {
            Some(PROVEN)
        }
        ChangeKind::MethodRechanneled => Some("runtime: embedded requests have no envelope"),
        _ => None,
    };
    if let Some(why) = without_rule {
        return one(why);
    }
    let mut found = SortedSet::new();
    for path in &row.paths {
        let of_values = matches!(
            row.kind,
            ChangeKind::EnumValueAdded | ChangeKind::EnumValueRemoved
        );
        match end(plan, path, of_values) {
            Some(met) => found.extend(met),
            None => return SortedSet::new(),
        }
    }
    if found.len() > 1 {
        found.remove(PROVEN);
    }
    found
}

/// Returns the rule about an error code.
fn code(row: &DiffRow, plan: &PairPlan) -> Option<String> {
    let about = |rule: &&ErrorRule| row.codes.iter().any(|code| rule.code.contains(*code));
    // A rule of one code says more than one of a range that the code is in.
    let rules = plan.errors.iter().filter(about);
    let rule = rules.min_by_key(|rule| rule.code.to.abs_diff(rule.code.from))?;
    Some(rule.id.clone())
}

/// The conversions of objects of one direction that a path has come to.
type OpenPlans<'p> = Vec<&'p ObjectPlan>;

/// Returns the rules that cover the end of a path; `None` if the plan does not lead there.
///
/// The path of a row that tells `of_values` of an `enum` does not name them.
fn end(plan: &PairPlan, path: &WirePath, of_values: bool) -> Option<SortedSet<String>> {
    if path.method == "*" {
        // What every message has is converted with the messages whose own definitions have it.
        let wholes = plan.methods.iter().flat_map(|method| {
            let wholes = [&method.message, &method.response];
            wholes.into_iter().flatten()
        });
        let found = wholes.filter_map(|whole| rules_at(plan, whole, path, of_values));
        let mut rules: SortedSet<String> = found.flatten().collect();
        rules.remove(PROVEN);
        return Some(if rules.is_empty() {
            one("runtime: envelopes are read and written by the runtime")
        } else {
            rules
        });
    }
    let sender = match path.part {
        ExchangePart::Result | ExchangePart::Response | ExchangePart::Error => {
            MethodSender::from(path.direction.back())
        }
        ExchangePart::Params | ExchangePart::Message => MethodSender::from(path.direction),
        ExchangePart::Header | ExchangePart::Rule => MethodSender::Client,
    };
    let mut methods = (plan.methods.iter())
        .filter(|method| method.name == path.method || method.was.as_ref() == Some(&path.method));
    let of_sender = methods.clone().find(|method| method.sender == sender);
    let method = of_sender.or_else(|| methods.next())?;
    if let (false, Some(apart)) = (method.in_both, &method.apart) {
        return Some(one(&apart.rule));
    }
    let mut parts = method.parts().into_iter();
    let (_, transfers) = parts.find(|(part, _)| *part == path.part)?;
    let Some(transfers) = transfers else {
        let is_whole = matches!(path.part, ExchangePart::Message | ExchangePart::Response);
        if is_whole && !path.trail.members().is_empty() {
            return None;
        }
        // Params that one revision has and the other leaves out are an empty object there. A part that cannot be
        // converted is an open question of the plan.
        let place = format!("{} {}", method.name, path.part);
        let is_open = plan.open.iter().any(|decision| decision.place == place);
        return Some(one(if is_open { UNDECIDED } else { PROVEN }));
    };
    rules_at(plan, transfers, path, of_values)
}

/// Returns the rules at the end of a path through values that are converted so; `None` if the plan does not lead there.
fn rules_at(
    plan: &PairPlan,
    transfers: &[Transfer; 2],
    path: &WirePath,
    of_values: bool,
) -> Option<SortedSet<String>> {
    let mut found = SortedSet::new();
    let mut reached = false;
    for (way, transfer) in StepDirection::BOTH.into_iter().zip(transfers) {
        let mut walk = OneWay {
            known: plan.known(way),
            found: &mut found,
        };
        let is_choice = of_values || path.trail.ends_in_choice();
        reached |= walk.descend(transfer, &path.trail.members(), is_choice);
    }
    if reached && found.is_empty() {
        found.insert(PROVEN.to_owned());
    }
    (!found.is_empty()).then_some(found)
}

/// One direction of a walk.
struct OneWay<'w, 'p> {
    known: SortedMap<(&'p PairEnd, &'p PairEnd), &'p PlannedConversion>,
    found: &'w mut SortedSet<String>,
}

impl<'p> OneWay<'_, 'p> {
    /// Goes down the members; true if the plan leads to the end.
    fn descend(&mut self, transfer: &Transfer, members: &[&str], is_choice: bool) -> bool {
        let Some((from, to)) = target(transfer) else {
            return true;
        };
        let Some(start) = self.known.get(&(&from, &to)).copied() else {
            return false;
        };
        let (open, decided) = self.choices(start);
        let Some((name, rest)) = members.split_first() else {
            if is_choice {
                self.found.extend(decided);
            }
            return true;
        };
        let mut reached = false;
        for one in open {
            reached |= self.member(one, name, rest, is_choice);
        }
        if !reached && !decided.is_empty() {
            // Only variants that are decided as a whole have it.
            self.found.extend(decided);
            reached = true;
        }
        reached
    }

    /// Returns the conversions of all variants that stay, and the rules about those that do not.
    fn choices(&self, start: &'p PlannedConversion) -> (OpenPlans<'p>, Vec<String>) {
        let (mut open, mut decided) = (Vec::new(), Vec::new());
        let mut ahead = vec![start];
        let mut seen = SortedSet::new();
        while let Some(one) = ahead.pop() {
            if !seen.insert((&one.from, &one.to)) {
                continue;
            }
            if let ConversionBody::Object(plan) = &one.body {
                open.push(plan);
                continue;
            }
            let called = one.body.transfers().into_iter().filter_map(target);
            ahead.extend(called.filter_map(|(from, to)| self.known.get(&(&from, &to)).copied()));
            let rules = one.body.rules().into_iter();
            decided.extend(rules.map(|(_, rule)| rule.to_owned()));
        }
        (open, decided)
    }

    fn member(&mut self, one: &ObjectPlan, name: &str, rest: &[&str], is_choice: bool) -> bool {
        let Some(met) = one.members().find(|met| met.wire == name) else {
            // A constant of the target needs no value of the source; a name that is none of the object's is one of what
            // each of the others holds.
            let within = (one.rest.transfer.as_ref()).is_some_and(|transfer| {
                self.descend(transfer, &[&[name], rest].concat(), is_choice)
            });
            return within || one.foreign.iter().any(|constant| constant == name);
        };
        let fitted = met.fitted.iter().filter(|fitted| fitted.inside == rest);
        self.found.extend(fitted.map(|fitted| fitted.rule.clone()));
        // Rules about a member whose value is converted are not about what is inside.
        if met.transfer.is_none() || rest.is_empty() {
            self.found.extend(met.rules.into_iter().map(str::to_owned));
        }
        met.transfer
            .is_none_or(|transfer| self.descend(transfer, rest, is_choice))
    }
}

fn one(word: &str) -> SortedSet<String> {
    SortedSet::from_iter([word.to_owned()])
}
