//! The laws of conversions hold on samples of every type of every pair, both ways and under both policies.

use std::collections::BTreeSet;

use mcp_registry::Policy;
use mcp_schema::Models;
use mcp_schema::Spec;
use mcp_schema::shims::open::UNDECIDED;
use mcp_tests::sampler::Sampler;
use mcp_tests::shims::excused;
use mcp_tests::shims::hops::{self, Way};
use mcp_tests::shims::laws::{self, Findings};
use mcp_tests::shims::stray::PASSED;
use mcp_tests::shims::world::World;
use mcp_tests::tree::{Kind, Node, Style, Value};
use mcp_tests::{parallel, root};

/// How many samples each type has at least.
const LEAST: usize = 200;

#[test]
fn what_is_lost_is_said_and_nothing_else_is_lost() {
    let findings = check_all(Policy::Strict);
    for (entry, count) in excused::STOPS.iter().zip(&findings.stops) {
        assert!(
            *count > 0,
            "`{}` never stops the way back ({})",
            entry.rule,
            entry.reason
        );
    }
    for (entry, count) in PASSED.iter().zip(&findings.passed) {
        assert!(
            *count > 0,
            "`{}` of {} never travels on ({})",
            entry.name,
            entry.old,
            entry.reason
        );
    }
}

/// What the carry policy cannot carry: the rules that change more than whether a member is named.
const NOT_CARRIED: &[(&str, &str)] = &[
    (
        "audio-block",
        "a block is no member: a client that does not know its type refuses the whole message",
    ),
    (
        "resource-link-block",
        "a block is no member: a client that does not know its type refuses the whole message",
    ),
    (
        "sampling-split",
        "several blocks in one message are a list where the older schema has one block",
    ),
    (
        "sampling-join",
        "several blocks in one result are a list where the older schema has one block",
    ),
    (
        "elicitation-capability",
        "a client that takes URLs alone must not look as if it took forms, under no policy",
    ),
    (
        "enum-titled",
        "`enumNames` are texts: what a choice of `oneOf` says beside its title has no place there",
    ),
    (
        "cache-scope",
        "who may keep a result is never taken from an older server, and so not carried to one",
    ),
    (
        "ttl",
        "how long a result may be kept is never taken from an older server, and so not carried to one",
    ),
    (
        "protocol-version",
        "a claim makes a request one of the newer revision to a server of both",
    ),
    (
        "client-capabilities",
        "what the handshake settled counts, under any policy",
    ),
    (
        "client-info",
        "what the handshake settled counts, under any policy",
    ),
    (
        "subscription-id",
        "it names a stream that an older peer does not have",
    ),
    (
        "structured-content-text",
        "a text is all that an old client shows, under any policy",
    ),
    (
        "task-tools",
        "a tool that cannot be called is hidden, under any policy",
    ),
];

#[test]
fn carried_members_come_back_without_anything_put_back() {
    let findings = check_all(Policy::Carry);
    for rule in findings.lost.keys() {
        // What a draft leaves open may be more than a member, and nobody has said yet what becomes of it.
        assert!(
            *rule == UNDECIDED || NOT_CARRIED.iter().any(|(known, _)| known == rule),
            "{rule} loses something under carry"
        );
    }
    for (rule, reason) in NOT_CARRIED {
        assert!(
            findings.lost.contains_key(rule),
            "{rule} is carried after all ({reason})"
        );
    }
}

fn check_all(policy: Policy) -> Findings {
    let spec = Spec::read(&root().join("spec")).unwrap();
    let models = Models::build(&spec).unwrap();
    let world = World::new(&spec, &models).unwrap();
    let ways = hops::all();
    let mut all = Findings::default();
    for (way, findings) in ways
        .iter()
        .zip(parallel::map(&ways, |way| check(&world, way, policy)))
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
    for (entry, count) in excused::ALL.iter().zip(&all.excused) {
        let expected = entry.policy == policy;
        assert_eq!(
            *count > 0,
            expected,
            "excuse `{}` covers {count} values ({})",
            entry.id,
            entry.reason
        );
    }
    all
}

/// A failure with the ends of its long lines cut off.
fn short(failure: &str) -> String {
    let lines = failure
        .lines()
        .map(|line| line.chars().take(600).collect::<String>());
    lines.take(24).collect::<Vec<_>>().join("\n")
}

/// Makes the results in a sample complete; says whether there are any.
fn complete(node: &mut Node) -> bool {
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

fn check(world: &World<'_>, way: &Way, policy: Policy) -> Findings {
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
