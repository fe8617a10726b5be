//! The faults of a pair's rules before any model is looked at.

use mcp_revisions_schema::sorted::SortedSet;

use super::exemplified::ExemplifiedRow;
use super::rows::{Action, Alternative, PairRule, RuleTables, error, placed};
use crate::open::UNDECIDED;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::naming::is_identifier;
use mcp_revisions_schema::pair::StepDirection;
use mcp_revisions_schema::spec::rules::RuleFile;

/// Every rule that says too little, contradicts itself, or leans on another one that is not there; if `with_examples`, also every
/// rule that lacks an example, or whose examples cannot be tried.
pub(super) fn faults(file: &RuleFile, rows: &RuleTables, with_examples: bool) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut fault = |offset: usize, id: &str, problem: &str, reason: &str| {
        errors.push(error(file, offset, id, problem, reason));
    };
    let mut seen = SortedSet::new();
    let mut told: Vec<ExemplifiedRow<'_>> = rows.exemplified().collect();
    told.sort_by_key(|row| row.offset);
    for row in &told {
        let mut fault = |problem: &str| fault(row.offset, row.id, problem, row.reason);
        match (row.rule, row.method) {
            (Some(rule), _) => (problems(rows, rule).iter()).for_each(|problem| fault(problem)),
            (_, Some(rule)) => {
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
            _ if row.says.is_empty() => fault(SILENT),
            _ => {}
        }
        if !is_rule_id(row.id) {
            fault(
                "the id is not a name: expected lower-case letters, digits and `-`, beginning with a letter",
            );
        }
        let hooks = row
            .rule
            .into_iter()
            .flat_map(PairRule::actions)
            .filter_map(Action::function);
        for hook in hooks.filter(|hook| !hook.split("::").all(is_identifier)) {
            fault(&format!(
                "`{hook}` is not a function of the pair's module in runtime/hooks: expected a name such as `as_text`, or a path such as `tools::as_text`"
            ));
        }
        // One row says the purpose of a rule.
        if !seen.insert(row.id) {
            fault(
                "another rule of this pair has the id: make them one, whose `at` or `name` is a list, or name them apart",
            );
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
    // Rows that lack a reason or a source.
    let also = placed(&rows.also).map(|(at, row)| (at, row.r#type.clone(), &*row.reason, "-"));
    let rename = placed(&rows.rename).map(|(at, row)| (at, row.id(), &*row.reason, "-"));
    let rules = (told.iter()).map(|row| (row.offset, row.id.to_owned(), row.reason, row.source));
    for (offset, id, reason, source) in also.chain(rename).chain(rules) {
        let lacks = [("reason", reason), ("source", source)].into_iter();
        for (what, _) in lacks.filter(|(_, text)| text.is_empty()) {
            fault(offset, &id, &format!("it gives no {what}"), "");
        }
    }
    for row in told.iter().filter(|_| with_examples) {
        for problem in row.faults() {
            fault(row.offset, row.id, &problem, row.reason);
        }
    }
    errors.sort_by_key(|error| error.place().1);
    errors
}

/// Returns whether a constant can be named after an id, and no other id gives the same name.
fn is_rule_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    id.starts_with(|first: char| first.is_ascii_lowercase())
        && id.bytes().all(plain)
        && id != UNDECIDED
}

/// A row that speaks of neither way.
const SILENT: &str = "it says neither what happens on the way up nor down";

/// Every hook and every type of an adapter that no other rule asks for.
pub(super) fn idle(file: &RuleFile, rows: &RuleTables, asked: &SortedSet<String>) -> Vec<Error> {
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

fn problems(rows: &RuleTables, rule: &PairRule) -> Vec<String> {
    let loses = rule.actions().any(|action| {
        matches!(
            action,
            Action::Drop
                | Action::Implied(_)
                | Action::Filter(_)
                | Action::Spread
                | Action::Entry(_)
        )
    });
    let lists = |action: &Action| matches!(action, Action::Gather | Action::Spread);
    let has_half = |one: &Alternative| one.value.is_some() != one.member.is_some();
    let by_itself = [
        (rule.actions().next().is_none(), SILENT),
        (
            loses && rule.severity.is_none(),
            "it drops something and does not say what kind of loss that is",
        ),
        (
            rule.trivial.is_some() && rule.lesser.is_none(),
            "it names trivial values, and no `lesser` kind of loss for them",
        ),
        (
            !rule.covers.is_empty() && !is_hook(rule),
            "only a hook (`before`, `after`) covers members of its type",
        ),
        (
            rule.actions().any(lists) == rule.alternatives.is_empty(),
            "`gather` and `spread` go with the `alternatives` of the list, and they with one of the two",
        ),
        (
            !rule.alternatives.is_empty() && rule.alternatives.iter().all(|one| one.value.is_none()),
            "none of its `alternatives` holds a value",
        ),
        (
            rule.alternatives.iter().any(has_half),
            "an alternative has both `value` and `member`, or neither",
        ),
    ]
    .into_iter()
    .filter(|(is_wrong, _)| *is_wrong);
    let mut problems: Vec<String> = by_itself.map(|(_, problem)| problem.to_owned()).collect();
    let places = rule.with.iter();
    for (place, way) in places.flat_map(|place| StepDirection::BOTH.map(|way| (place, way))) {
        let mut hooks = placed(&rows.rule).filter(|(_, hook)| labels(hook).any(|it| it == *place));
        let is_there =
            |(_, hook): (usize, &PairRule)| hook.action(way).is_some_and(Action::is_hook);
        let leans = |action: &Action| *action != Action::Adopt;
        if rule.action(way).is_some_and(leans) && !hooks.any(is_there) {
            problems.push(format!(
                "it relies on a hook `{place}` on the way {way}, which is not there"
            ));
        }
    }
    problems
}

fn is_hook(rule: &PairRule) -> bool {
    rule.actions().any(Action::is_hook)
}

fn is_relied_on(rows: &RuleTables, hook: &PairRule) -> bool {
    labels(hook).all(|label| placed(&rows.rule).any(|(_, rule)| rule.with.contains(&label)))
}

/// Returns the names of a rule in `with`.
fn labels(rule: &PairRule) -> impl Iterator<Item = String> {
    let places = rule.at.all().iter();
    places.map(|place| format!("{}@{place}", rule.id))
}
