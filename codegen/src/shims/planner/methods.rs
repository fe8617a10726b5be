//! Which methods both revisions have, and what becomes of the others and of error codes.

use super::super::plan::{Fate, MethodPlan};
use super::super::rules::{PairRules, Sender};
use super::*;
use crate::Error;
use crate::model::{Direction, Method, Model, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// Matches the methods of both by name: a request that became an embedded one is the same method.
pub(super) fn methods(
    old: &Model,
    new: &Model,
    rules: &PairRules,
    ways: &mut [Planner<'_>; 2],
    errors: &mut Vec<Error>,
) -> Vec<MethodPlan> {
    let by_name = |model: &'_ Model| -> BTreeMap<(String, Direction), Method> {
        let key = |method: &Method| (method.name.clone(), method.direction);
        model
            .methods
            .iter()
            .map(|method| (key(method), method.clone()))
            .collect()
    };
    let (old, new) = (by_name(old), by_name(new));
    let names: BTreeSet<&(String, Direction)> = old.keys().chain(new.keys()).collect();
    let mut plans = Vec::new();
    for key in names {
        let (name, direction) = key;
        let sender = match direction {
            Direction::ClientToServer => Sender::Client,
            Direction::ServerToClient => Sender::Server,
        };
        let fate = match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => {
                let mut both = |old: &Option<Ty>, new: &Option<Ty>, part: &str| {
                    let (Some(old), Some(new)) = (old, new) else {
                        return None;
                    };
                    let place = format!("{name} {part}");
                    let [up, down] = &mut *ways;
                    match (up.step(old, new), down.step(new, old)) {
                        (Ok(up), Ok(down)) => Some([up, down]),
                        (Err(problem), _) | (_, Err(problem)) => {
                            errors.push(uncovered(rules, &place, "either way", &problem));
                            None
                        }
                    }
                };
                Fate::Both {
                    params: both(&old.params, &new.params, "params"),
                    result: both(&old.result, &new.result, "result"),
                }
            }
            (only_old, _) => match rules.method(name, sender) {
                Some((_, rule)) => {
                    let (rule, action) = (rule.id.clone(), rule.action.clone());
                    match only_old {
                        Some(_) => Fate::OldOnly { rule, action },
                        None => Fate::NewOnly { rule, action },
                    }
                }
                None => {
                    let what = match only_old {
                        Some(_) => "the newer revision has no such method",
                        None => "the older revision has no such method",
                    };
                    errors.push(Error::File {
                        file: rules.path().into(),
                        problem: format!(
                            "method `{name}`: {what}, and no rule says what becomes of it"
                        )
                        .into(),
                        detail: "".into(),
                        help: format!("add a [[method]] with name = \"{name}\"").into(),
                    });
                    continue;
                }
            },
        };
        plans.push(MethodPlan {
            name: name.clone(),
            sender,
            fate,
        });
    }
    plans
}

/// Every error code that only one of the two revisions may send, and no rule speaks of.
pub(super) fn error_codes(old: Side<'_>, new: Side<'_>, rules: &PairRules) -> Vec<Error> {
    let mut errors = Vec::new();
    for (one, other) in [(old, new), (new, old)] {
        for (code, name) in one.errors {
            let shared = other.errors.iter().any(|(known, _)| known == code);
            if !shared && rules.error_row(*code).is_none() {
                errors.push(Error::File {
                    file: rules.path().into(),
                    problem: format!(
                        "error {code} ({name}) of {}: {} does not send it, and no rule says what becomes of it",
                        one.id, other.id
                    )
                    .into(),
                    detail: "".into(),
                    help: format!("add an [[error]] with code = {code}").into(),
                });
            }
        }
    }
    errors
}
