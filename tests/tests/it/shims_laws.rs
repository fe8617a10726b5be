//! The laws of conversions hold on samples of every type of every pair, both ways and under both policies.

use std::collections::BTreeSet;

use mcp_revisions_core::UnknownFields;
use mcp_revisions_plans::open::UNDECIDED;
use mcp_tests::parallel;
use mcp_tests::sampler::Sampler;
use mcp_tests::shims::laws::{self, Findings};
use mcp_tests::shims::steps::{self, Way};
use mcp_tests::shims::world::{Said, World};
use mcp_tests::tree::{Kind, Node, Style, Value};

/// How many samples each type has at least.
const LEAST: usize = 200;

#[test]
fn what_is_lost_is_said_and_nothing_else_is_lost() {
    let (findings, rules) = check_all(UnknownFields::Drop);
    for (pair, said) in rules.iter().enumerate() {
        for rule in &said.stops {
            let count = findings.stops.get(&(pair, rule.clone()));
            assert!(count.is_some(), "`{rule}` never stops the way back");
        }
        for name in &said.passed {
            let count = findings.passed.get(&(pair, name.clone()));
            assert!(count.is_some(), "`{name}` never travels on: pair {pair}");
        }
    }
}

/// What is no plain member cannot be carried: the rule says so by `carry = false`, and why.
#[test]
fn carried_members_come_back_without_anything_put_back() {
    let (findings, rules) = check_all(UnknownFields::Preserve);
    for (pair, rule) in findings.lost.keys() {
        let said = &rules[*pair].not_carried;
        // What a draft leaves open may be more than a member, and nobody has said yet what becomes of it.
        assert!(
            built_in(rule) || said.contains(rule),
            "{rule} loses something under carry: give it `carry = false`, or carry it"
        );
    }
    for (pair, said) in rules.iter().enumerate() {
        for rule in &said.not_carried {
            let lost = findings.lost.contains_key(&(pair, rule.clone()));
            assert!(
                lost,
                "{rule} is carried after all: take out `carry = false`"
            );
        }
    }
}

/// Whether something is lost by no rule of a file: what is undecided, a claim of another revision, and a mistake of the sender.
fn built_in(rule: &str) -> bool {
    use mcp_convert::Rule;
    [UNDECIDED, Rule::CLAIM.id(), Rule::INVALID.id()].contains(&rule)
}

fn check_all(policy: UnknownFields) -> (Findings, &'static [Said]) {
    let world = crate::specs::world();
    let ways = steps::all();
    let mut all = Findings::default();
    for (way, findings) in ways
        .iter()
        .zip(parallel::map(&ways, |way| check(world, way, policy)))
    {
        if findings.exact + findings.lossy == 0 {
            println!("{}: never a value: {:?}", way.label(), findings.stopped);
        }
        all.join(findings);
    }
    println!(
        "{policy:?}: {} samples of {} conversions: {} exact, {} lossy; stopped: {:#?}; lost by: {:#?}",
        all.samples,
        ways.len(),
        all.exact,
        all.lossy,
        all.stopped,
        all.lost
    );
    // One of each conversion, so that one defect does not hide another.
    let mut seen = BTreeSet::new();
    let way =
        |failure: &&String| seen.insert(failure.split(',').next().unwrap_or_default().to_owned());
    let shown = all
        .failures
        .iter()
        .filter(way)
        .take(20)
        .map(|failure| short(failure))
        .collect::<Vec<_>>();
    assert!(
        all.failures.is_empty(),
        "{} failures:\n{}",
        all.failures.len(),
        shown.join("\n")
    );
    for (pair, said) in world.rules.iter().enumerate() {
        for implied in &said.implied {
            let count = all.excused.get(&(pair, implied.member.clone()));
            assert!(count.is_some(), "never met: {implied:?} of pair {pair}");
        }
    }
    (all, &world.rules)
}

/// A failure with the ends of its long lines cut off.
fn short(failure: &str) -> String {
    let lines = failure
        .lines()
        .map(|line| line.chars().take(600).collect::<String>());
    lines.take(24).collect::<Vec<_>>().join("\n")
}

/// Makes the results in a sample complete; says whether there are any.
pub(crate) fn complete(node: &mut Node) -> bool {
    match &mut node.value {
        Value::List(items) => items
            .iter_mut()
            .map(complete)
            .fold(false, |any, one| any | one),
        Value::Object(members) => {
            let mut any = false;
            for member in members {
                if member.name == "resultType" && member.node.facts.kind == Kind::String {
                    member.node.value = Value::String("complete".to_owned());
                    any = true;
                } else {
                    any |= complete(&mut member.node);
                }
            }
            any
        }
        Value::Word(_) | Value::String(_) => false,
    }
}

fn check(world: &World<'_>, way: &Way, policy: UnknownFields) -> Findings {
    assert!(way.has_back(), "{}: no way back", way.label());
    let side = world.side(way.from).unwrap();
    let sampler = Sampler::new(side.model, side.id);
    let mut instances = sampler.instances(way.source.rust_name, LEAST);
    for (index, instance) in instances.iter_mut().enumerate() {
        // A result type that nobody knows is refused, and hides all else that the sample shows.
        if index % 8 != 0 && complete(&mut instance.node) {
            instance.text = instance.node.text(&mut Style::plain());
        }
    }
    laws::check(world, way, policy, &instances)
}
