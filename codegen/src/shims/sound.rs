//! What is wrong with the rules of a pair before any model is looked at.

use super::rules::{ADAPTERS, Action, PairRules, Rule};
use crate::Error;

/// Every rule that says too little, contradicts itself, or leans on another one that is not there.
pub(super) fn faults(rules: &PairRules) -> Vec<Error> {
    let mut errors = Vec::new();
    for (offset, rule) in rules.placed() {
        for problem in problems(rule) {
            errors.push(rules.error(offset, &rule.id, &problem, &rule.reason));
        }
        for place in &rule.with {
            for (up, action) in [(true, &rule.up), (false, &rule.down)] {
                if action.is_some() && !has_hook(rules, place, up) {
                    let way = if up { "up" } else { "down" };
                    let problem = format!(
                        "it relies on a hook `{place}` on the way {way}, which is not there"
                    );
                    errors.push(rules.error(offset, &rule.id, &problem, &rule.reason));
                }
            }
        }
    }
    for (offset, rule) in rules.placed_methods() {
        for name in &rule.with {
            if !rules.also().any(|(_, also)| also == name) {
                let problem = format!(
                    "its adapter converts `{name}`: add an [[also]] with type = \"{name}\""
                );
                errors.push(rules.error(offset, &rule.id, &problem, &rule.reason));
            }
        }
        for (what, text) in [("reason", &rule.reason), ("source", &rule.source)] {
            if text.is_empty() {
                errors.push(rules.error(
                    offset,
                    &rule.id,
                    &format!("it gives no {what}"),
                    &rule.reason,
                ));
            }
        }
    }
    errors
}

/// Every hook and every type of an adapter that no other rule asks for.
pub(super) fn idle(rules: &PairRules) -> Vec<Error> {
    let mut errors = Vec::new();
    for (offset, rule) in rules.placed() {
        if is_hook(rule) && rule.covers.is_empty() && !is_relied_on(rules, rule) {
            let problem = "nothing relies on it: name it as `ID@PLACE` in the `with` of a rule, or what it `covers`";
            errors.push(rules.error(offset, &rule.id, problem, &rule.reason));
        }
    }
    for (offset, name) in rules.also() {
        if !rules
            .placed_methods()
            .any(|(_, rule)| rule.with.iter().any(|with| with == name))
        {
            errors.push(rules.also_error(offset, "no adapter of a method asks for it by `with`"));
        }
    }
    errors
}

fn problems(rule: &Rule) -> Vec<String> {
    let mut problems = Vec::new();
    let actions = || [&rule.up, &rule.down].into_iter().flatten();
    if actions().next().is_none() {
        problems.push("it says neither what happens on the way up nor down".to_owned());
    }
    let loses = actions().any(|action| {
        matches!(
            action,
            Action::Drop | Action::Implied(_) | Action::Filter(_)
        )
    });
    if loses && rule.loss.is_none() {
        problems.push("it drops something and does not say what kind of loss that is".to_owned());
    }
    for name in actions().filter_map(Action::unknown_adapter) {
        let known: Vec<&str> = ADAPTERS.iter().map(|(name, _)| *name).collect();
        problems.push(format!(
            "there is no adapter `{name}`; known: {}",
            known.join(", ")
        ));
    }
    if !rule.covers.is_empty() && !is_hook(rule) {
        problems.push("only a hook (`before`, `after`) covers members of its type".to_owned());
    }
    for (what, text) in [("reason", &rule.reason), ("source", &rule.source)] {
        if text.is_empty() {
            problems.push(format!("it gives no {what}"));
        }
    }
    problems
}

fn is_hook(rule: &Rule) -> bool {
    [&rule.up, &rule.down]
        .into_iter()
        .flatten()
        .any(Action::is_hook)
}

fn has_hook(rules: &PairRules, place: &str, up: bool) -> bool {
    rules.placed().any(|(_, rule)| {
        let action = if up { &rule.up } else { &rule.down };
        label(rule) == place && action.as_ref().is_some_and(Action::is_hook)
    })
}

fn is_relied_on(rules: &PairRules, hook: &Rule) -> bool {
    let label = label(hook);
    rules.placed().any(|(_, rule)| rule.with.contains(&label))
}

/// How `with` names a rule.
fn label(rule: &Rule) -> String {
    format!("{}@{}", rule.id, rule.at)
}
