//! The methods of both revisions, and the fate of the others and of error codes.

use super::super::open::{OpenDifferences, ProposedRow, UNDECIDED};
use super::super::plan::{Apart, MethodPlan, PairEnd, Transfer};
use super::super::rules::{CodeRange, ErrorRule, ErrorRuleFate, MethodAction, PairRules, Reject};
use super::{PairSide, Planner, REFUSED, rejection};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::model::{Direction, MethodKind, Model, ModelMethod, Ty, TypeDef};
use mcp_revisions_schema::pair::{MethodSender, StepDirection};
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use mcp_revisions_schema::spec::roles;

/// Matches the methods of both by name, or by the row that says that they are one under two names: a request that
/// became an embedded one is the same method.
pub(super) fn methods(
    old: PairSide<'_>,
    new: PairSide<'_>,
    rules: &PairRules,
    ways: &mut [Planner<'_>; 2],
    found: &mut OpenDifferences,
    errors: &mut Vec<Error>,
) -> Vec<MethodPlan> {
    let by_name = |model: &Model| -> Methods {
        let row = |method: &ModelMethod| ((method.name.clone(), method.direction), method.clone());
        model.methods.iter().map(row).collect()
    };
    let (mut olds, news) = (by_name(old.model), by_name(new.model));
    let renamed = renamed(&mut olds, &news, rules);
    let moved = moved(&olds, &news);
    let names: SortedSet<&(String, Direction)> = olds.keys().chain(news.keys()).collect();
    let mut plans = Vec::new();
    for key in names {
        let (name, direction) = key;
        let sender = MethodSender::from(*direction);
        let mut plan = MethodPlan {
            name: name.clone(),
            was: renamed.get(key).cloned(),
            sender,
            in_both: false,
            params: None,
            result: None,
            message: None,
            response: None,
            apart: None,
        };
        match (olds.get(key), news.get(key)) {
            (Some(a), Some(b)) if is_answered(a) == is_answered(b) => {
                let mut both = |old: &Option<Ty>, new: &Option<Ty>, part: &str| {
                    let (Some(old), Some(new)) = (old, new) else {
                        return None;
                    };
                    let [up, down] = &mut *ways;
                    match (up.transfer(old, new), down.transfer(new, old)) {
                        (Ok(up), Ok(down)) => Some([up, down]),
                        (Err(open), _) | (_, Err(open)) => {
                            let row = match [old, new] {
                                [Ty::Named(old), Ty::Named(new)] => {
                                    ProposedRow::Rename([old.clone(), new.clone()])
                                }
                                _ => ProposedRow::Rule("{ custom = \"\" }".to_owned()),
                            };
                            found.open(format!("{name} {part}"), None, open, REFUSED, row);
                            None
                        }
                    }
                };
                plan.in_both = true;
                plan.params = both(&a.params, &b.params, "params");
                plan.result = both(&a.result, &b.result, "result");
                if a.kind == b.kind && a.kind != MethodKind::Input {
                    [plan.message, plan.response] = wholes([old.model, new.model], [a, b], ways);
                }
                plan.apart = rules.method_apart(name, sender).map(|(_, rule)| Apart {
                    rule: rule.id.clone(),
                    up: rule.up.clone(),
                    down: rule.down.clone(),
                });
            }
            (a, b) => {
                let is_old = a.is_some();
                let lacking = if is_old { new.id } else { old.id };
                let answered = [a, b].into_iter().flatten().any(is_answered);
                let open = match [a, b].map(|method| method.map(kind)) {
                    [Some(a), Some(b)] => {
                        format!("it is {a} in {}, and {b} in {}", old.id, new.id)
                    }
                    _ => format!("{lacking} has no such method"),
                };
                let decided = rules
                    .method(name, sender)
                    .and_then(|(offset, rule)| Some((offset, rule, rule.action.clone()?)));
                let (rule, action) = match decided {
                    Some((offset, rule, action)) => {
                        if action == MethodAction::Drop && answered {
                            let problem = "its sender waits for a response: it needs an adapter or an error, `drop` is for notifications";
                            errors.push(rules.error(offset, &rule.id, problem, &rule.reason));
                        }
                        (rule.id.clone(), action)
                    }
                    None => {
                        let error = Reject {
                            code: -32601,
                            message: format!("{name} is not part of {lacking}"),
                        };
                        let (answer, row, action) = if answered {
                            (REFUSED, rejection(&error), MethodAction::Reject(error))
                        } else {
                            ("it ends here", "\"drop\"".to_owned(), MethodAction::Drop)
                        };
                        let mut of_side = moved.iter().filter(|(of, _)| of == direction);
                        match of_side.find(|(_, names)| names.contains(name)) {
                            // Both names are one question, which the older one asks.
                            Some((_, names)) => {
                                let [old, new] = names;
                                let [gone, came] = [(&olds, old), (&news, new)]
                                    .map(|(all, name)| all.get(&(name.clone(), *direction)));
                                let open = format!(
                                    "`{old}` is gone, and `{new}` came, which is like it{}",
                                    gone.zip(came).map(rows_to_add).unwrap_or_default()
                                );
                                let row = ProposedRow::RenameMethod(names.clone());
                                found.open(old.clone(), None, open, answer, row);
                            }
                            None => {
                                let way = if is_old {
                                    StepDirection::Up
                                } else {
                                    StepDirection::Down
                                };
                                let row = ProposedRow::Method(sender, way, row);
                                found.open(name.clone(), None, open, answer, row);
                            }
                        }
                        (UNDECIDED.to_owned(), action)
                    }
                };
                plan.apart = Some(Apart {
                    rule,
                    up: Some(action.clone()),
                    down: Some(action),
                });
            }
        }
        plans.push(plan);
    }
    plans
}

/// Plans the conversions of a message and of its response as wholes, where the schemas differ beside params and result.
fn wholes(
    models: [&Model; 2],
    methods: [&ModelMethod; 2],
    ways: &mut [Planner<'_>; 2],
) -> [Option<[Transfer; 2]>; 2] {
    let messages = [0, 1].map(|side: usize| models[side].get(&methods[side].message));
    let responses = [0, 1].map(|side: usize| {
        let request = messages[side]?.definition.as_deref()?;
        models[side].definition(&roles::response(roles::stem(request)))
    });
    let whole = |defs: [Option<&TypeDef>; 2], ways: &mut [Planner<'_>; 2], is_response: bool| {
        let [Some(old), Some(new)] = defs else {
            return None;
        };
        let pointers = [old, new].map(|def| def.pointer.as_str());
        let limits = ways[0].limits?;
        let differ = if is_response {
            limits.responses_differ(pointers)
        } else {
            limits.messages_differ(pointers, methods[0].kind)
        };
        let [old, new] = [old, new].map(|def| PairEnd::Type(def.name.clone()));
        let [up, down] = ways;
        differ.then(|| [up.call(old.clone(), new.clone()), down.call(new, old)])
    };
    [whole(messages, ways, false), whole(responses, ways, true)]
}

type Methods = SortedMap<(String, Direction), ModelMethod>;

/// Puts the older methods that rules rename under their newer names; gives back the older ones by the newer.
fn renamed(
    olds: &mut Methods,
    news: &Methods,
    rules: &PairRules,
) -> SortedMap<(String, Direction), String> {
    let mut renamed = SortedMap::new();
    for (offset, old, new) in rules.renamed_methods() {
        for direction in Direction::ALL {
            let [gone, came] = [old, new].map(|name| (name.to_owned(), direction));
            let (Some(before), Some(after)) = (olds.get(&gone), news.get(&came)) else {
                continue;
            };
            let is_taken = olds.contains_key(&came) || news.contains_key(&gone);
            if is_taken || is_answered(before) != is_answered(after) {
                continue;
            }
            if let Some(method) = olds.remove(&gone) {
                olds.insert(came.clone(), method);
                renamed.insert(came, old.to_owned());
                rules.uses_row(offset, 0);
            }
        }
    }
    renamed
}

/// Methods that may be one under two names: one is gone, one came, and they carry what no other method carries.
fn moved(olds: &Methods, news: &Methods) -> Vec<(Direction, [String; 2])> {
    fn carries(method: &ModelMethod) -> [&Option<Ty>; 2] {
        [&method.params, &method.result]
    }
    fn only<'m>(one: &'m Methods, other: &'m Methods) -> impl Iterator<Item = &'m ModelMethod> {
        let only = one.iter().filter(|(key, _)| !other.contains_key(key));
        only.map(|(_, method)| method)
    }
    let is_own = |part: &Option<Ty>| {
        let uses = |method: &&ModelMethod| carries(method).contains(&part);
        part.is_some() && [olds, news].map(|all| all.values().filter(uses).count()) == [1, 1]
    };
    let is_one = |a: &ModelMethod, b: &ModelMethod| {
        a.direction == b.direction
            && is_answered(a) == is_answered(b)
            && carries(a) == carries(b)
            && carries(a).into_iter().any(is_own)
    };
    let pairs = only(olds, news).filter_map(|a| {
        let b = only(news, olds).find(|b| is_one(a, b))?;
        Some((a.direction, [a.name.clone(), b.name.clone()]))
    });
    pairs.collect()
}

/// Returns what to say of the tables of `spec/methods.toml` that have a row of the older of two methods, and none of the newer.
fn rows_to_add((old, new): (&ModelMethod, &ModelMethod)) -> String {
    let is_lost = |old: &Option<String>, new: &Option<String>| old.is_some() && new.is_none();
    let tables = [
        ("[named-by]", is_lost(&old.named_by, &new.named_by)),
        ("[capabilities]", is_lost(&old.capability, &new.capability)),
    ];
    let lost = tables.iter().filter(|(_, is_lost)| *is_lost);
    let names: Vec<&str> = lost.map(|(name, _)| *name).collect();
    match names.join(" and ") {
        none if none.is_empty() => none,
        names => format!("; {names} of spec/methods.toml have rows of the older name only"),
    }
}

fn is_answered(method: &ModelMethod) -> bool {
    method.kind != MethodKind::Notification
}

fn kind(method: &ModelMethod) -> &'static str {
    match method.kind {
        MethodKind::Request => "a request",
        MethodKind::Notification => "a notification",
        MethodKind::Input => "an embedded request",
    }
}

/// Every error code that only one of the two revisions may send, and no rule speaks of.
pub(super) fn error_codes(
    old: PairSide<'_>,
    new: PairSide<'_>,
    rules: &PairRules,
    codes: &mut Vec<ErrorRule>,
    found: &mut OpenDifferences,
) {
    for (way, one, other) in [
        (StepDirection::Up, old, new),
        (StepDirection::Down, new, old),
    ] {
        if other.errors.is_empty() {
            // Nobody has said yet which codes it sends.
            if !one.errors.is_empty() {
                let codes = one.errors.iter().map(|(code, _)| code.to_string());
                found.open(
                    "errors",
                    None,
                    format!("no row of spec/errors.toml lists {}", other.id),
                    format!("it sends what {} sends", one.id),
                    ProposedRow::Listed(format!(
                        "# let each [[error]] that it still sends hold for {}, of {}: a later `until`, or none\n",
                        other.id,
                        codes.collect::<Vec<_>>().join(", ")
                    )),
                );
            }
            continue;
        }
        for (code, name) in one.errors {
            let shared = other.errors.iter().any(|(known, _)| known == code);
            if shared || rules.has_error(*code, way) {
                continue;
            }
            // A code that peers still send is more often ended too early than gone.
            let else_listed = (way == StepDirection::Up).then(|| {
                format!(
                    "# If {} still sends it, delete this row, and let the [[error]] with code = {code} of spec/errors.toml\n# hold for it, with a later `until` or none.\n",
                    other.id
                )
            });
            let row = ProposedRow::Error(*code, else_listed.unwrap_or_default());
            found.open(
                format!("error {code}"),
                Some(way),
                format!("{} may send it ({name}), {} does not", one.id, other.id),
                "it becomes -32603, and is recorded",
                row,
            );
            let fate = Some(ErrorRuleFate::Code(-32603));
            let (up, down) = way.of((fate.clone(), None), (None, fate));
            codes.push(ErrorRule {
                code: CodeRange::one(*code),
                example: Vec::new(),
                id: UNDECIDED.to_owned(),
                method: None,
                data: None,
                up,
                down,
                reason: String::new(),
                source: String::new(),
            });
        }
    }
}
