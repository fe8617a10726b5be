//! What is wrong with the rules of a pair before any model is looked at.

use crate::sorted::SortedSet;

use super::exemplified::Told;
use super::rows::{Action, Rows, Rule, error, placed};
use crate::Error;
use crate::naming::is_identifier;
use crate::shims::open::UNDECIDED;
use crate::shims::pair::Way;
use crate::spec::rules::RuleFile;

/// Every rule that says too little, contradicts itself, or leans on another one that is not there.
pub(super) fn faults(file: &RuleFile, rows: &Rows) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut fault = |offset: usize, id: &str, problem: &str, reason: &str| {
        errors.push(error(file, offset, id, problem, reason));
    };
    for (offset, rule) in placed(&rows.rule) {
        let mut fault = |problem: &str| fault(offset, &rule.id, problem, &rule.reason);
        problems(rule).iter().for_each(|problem| fault(problem));
        for place in &rule.with {
            for way in Way::BOTH {
                let loses = |action: &Action| *action != Action::Adopt;
                if rule.action(way).is_some_and(loses) && !has_hook(rows, place, way) {
                    fault(&format!(
                        "it relies on a hook `{place}` on the way {way}, which is not there"
                    ));
                }
            }
        }
    }
    for (offset, rule) in placed(&rows.method) {
        let mut fault = |problem: &str| fault(offset, &rule.id, problem, &rule.reason);
        for name in &rule.with {
            if !placed(&rows.also).any(|(_, also)| also.r#type == *name) {
                fault(&format!(
                    "its adapter converts `{name}`: add an [[also]] with type = \"{name}\""
                ));
            }
        }
        if rule.action.is_some() == (rule.up.is_some() || rule.down.is_some()) {
            fault("it says what becomes of a method by `action`, or by `up` and `down`");
        }
    }
    for (offset, rule) in placed(&rows.error) {
        if rule.up.is_none() && rule.down.is_none() {
            fault(offset, &rule.id, SILENT, &rule.reason);
        }
    }
    for (offset, row) in placed(&rows.rename).filter(|(_, row)| !row.method) {
        // `Type.member` and a name alone: a member cannot become a type.
        if let Some(new) =
            (row.new.all().iter()).find(|new| new.contains('.') != row.old.contains('.'))
        {
            let problem = format!(
                "`{}` and `{new}` are not two types or two members: expected the members on both sides as `Type.member`",
                row.old
            );
            fault(offset, &row.id(), &problem, &row.reason);
        }
    }
    errors.extend(unnameable(file, rows));
    errors.extend(said_twice(file, rows));
    // Rows that do not show what they come to, or show it wrongly.
    for row in rows.told() {
        let fault = |problem: String| error(file, row.offset, row.id, &problem, row.reason);
        errors.extend(row.faults().into_iter().map(fault));
    }
    for (offset, id, what) in unfounded(rows) {
        errors.push(error(file, offset, &id, &format!("it gives no {what}"), ""));
    }
    errors.sort_by_key(|error| error.place().1);
    errors
}

/// Every id and every hook that cannot be a name in Rust: a constant stands for each rule, and a function for each hook.
fn unnameable(file: &RuleFile, rows: &Rows) -> Vec<Error> {
    let problem = "the id is not a name: expected lower-case letters, digits and `-`, beginning with a letter";
    let mut faults: Vec<Error> = (rows.told())
        .filter(|row| !is_rule_id(row.id))
        .map(|row| error(file, row.offset, row.id, problem, row.reason))
        .collect();
    for (offset, rule) in placed(&rows.rule) {
        let hooks = rule.actions().filter_map(Action::function);
        for hook in hooks.filter(|hook| !hook.split("::").all(is_identifier)) {
            let problem = format!(
                "`{hook}` is not a function of the pair's module in runtime/hooks: expected a name such as `as_text`, or a path such as `tools::as_text`"
            );
            faults.push(error(file, offset, &rule.id, &problem, &rule.reason));
        }
    }
    faults
}

/// Whether a constant can be named after an id, and no other id gives the same name.
fn is_rule_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    id.starts_with(|first: char| first.is_ascii_lowercase())
        && id.bytes().all(plain)
        && id != UNDECIDED
}

/// Every id that a second row bears: what a rule is for is said in one place.
fn said_twice(file: &RuleFile, rows: &Rows) -> Vec<Error> {
    let mut all: Vec<Told<'_>> = rows.told().collect();
    all.sort_by_key(|row| row.offset);
    let mut seen = SortedSet::new();
    let problem = "another rule of this pair has the id: make them one, whose `at` or `name` is a list, or name them apart";
    all.into_iter()
        .filter(|row| !seen.insert(row.id))
        .map(|row| error(file, row.offset, row.id, problem, row.reason))
        .collect()
}

/// A row that speaks of neither way.
const SILENT: &str = "it says neither what happens on the way up nor down";

/// The rows that lack a reason or a source.
fn unfounded(rows: &Rows) -> Vec<(usize, String, &'static str)> {
    let also = placed(&rows.also).map(|(at, row)| (at, row.r#type.clone(), &*row.reason, "-"));
    let rename = placed(&rows.rename).map(|(at, row)| (at, row.id(), &*row.reason, "-"));
    let told = (rows.told()).map(|row| (row.offset, row.id.to_owned(), row.reason, row.source));
    let all = also.chain(rename).chain(told);
    all.flat_map(|(at, id, reason, source)| {
        let lacks = [("reason", reason), ("source", source)];
        let lacks = lacks.into_iter().filter(|(_, text)| text.is_empty());
        lacks.map(move |(what, _)| (at, id.clone(), what))
    })
    .collect()
}

/// Every hook and every type of an adapter that no other rule asks for.
pub(super) fn idle(file: &RuleFile, rows: &Rows, asked: &SortedSet<String>) -> Vec<Error> {
    let mut errors = Vec::new();
    for (offset, rule) in placed(&rows.rule) {
        let wanted = asked.contains(&rule.id) || is_relied_on(rows, rule);
        if is_hook(rule) && rule.covers.is_empty() && !wanted {
            let problem = "nothing relies on it: name it as `ID@PLACE` in the `with` of a rule, what it `covers`, or it in the answer to a change of the prose (changes.toml)";
            errors.push(error(file, offset, &rule.id, problem, &rule.reason));
        }
    }
    for (offset, also) in placed(&rows.also) {
        let name = &also.r#type;
        if !placed(&rows.method).any(|(_, rule)| rule.with.contains(name)) {
            let problem = "no adapter of a method asks for it by `with`";
            errors.push(error(file, offset, name, problem, &also.reason));
        }
    }
    errors
}

fn problems(rule: &Rule) -> Vec<String> {
    let mut problems = Vec::new();
    if rule.actions().next().is_none() {
        problems.push(SILENT.to_owned());
    }
    let loses = rule.actions().any(|action| {
        matches!(
            action,
            Action::Drop | Action::Implied(_) | Action::Filter(_)
        )
    });
    if loses && rule.loss.is_none() {
        problems.push("it drops something and does not say what kind of loss that is".to_owned());
    }
    if rule.trivial.is_some() && rule.lesser.is_none() {
        problems.push("it names trivial values, and no `lesser` kind of loss for them".to_owned());
    }
    if !rule.covers.is_empty() && !is_hook(rule) {
        problems.push("only a hook (`before`, `after`) covers members of its type".to_owned());
    }
    problems
}

fn is_hook(rule: &Rule) -> bool {
    rule.actions().any(Action::is_hook)
}

fn has_hook(rows: &Rows, place: &str, way: Way) -> bool {
    placed(&rows.rule).any(|(_, rule)| {
        labels(rule).any(|label| label == place) && rule.action(way).is_some_and(Action::is_hook)
    })
}

fn is_relied_on(rows: &Rows, hook: &Rule) -> bool {
    labels(hook).all(|label| placed(&rows.rule).any(|(_, rule)| rule.with.contains(&label)))
}

/// How `with` names a rule.
fn labels(rule: &Rule) -> impl Iterator<Item = String> {
    let places = rule.at.all().iter();
    places.map(|place| format!("{}@{place}", rule.id))
}
