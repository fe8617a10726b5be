//! Unknown members that the receiver names: carried only where it takes them, and recorded where it does not.

use mcp_revisions_core::UnknownFields;
use mcp_revisions_schema::model::{Model, ObjectShape, Presence};
use mcp_tests::random::seed;
use mcp_tests::sampler::{Recipe, Sampler};
use mcp_tests::shims::steps::{self, Way};
use mcp_wire::pointer::escaped;
use serde_json::{Value, json};

/// Values of each kind, and schemas of which some are of an object. The text is a URI: no type checks a format.
fn values() -> Vec<Value> {
    let all = json!([
        null, true, -1, 1.5, "https://example.com", [], ["x"], [5], {}, { "type": "array" }, { "type": "object" },
        { "type": "object", "properties": { "a": true } }, { "type": "object", "properties": { "a": {} } },
        { "type": "object", "required": [1] }, { "type": ["object"] },
    ]);
    all.as_array().unwrap().clone()
}

/// The optional members that only the target of a way names.
fn named_by_the_target(way: &Way, [from, to]: [&Model; 2]) -> Vec<String> {
    fn object<'m>(model: &'m Model, name: &str) -> Option<&'m ObjectShape> {
        model.shape(name)?.object()
    }
    let ends = object(from, way.source.rust_name).zip(object(to, way.target.rust_name));
    let Some((source, target)) = ends else {
        return Vec::new();
    };
    let optional = (target.members.iter()).filter(|one| one.presence == Presence::Optional);
    let new = optional.filter(|member| source.member(&member.wire).is_none());
    new.map(|member| member.wire.clone()).collect()
}

#[test]
fn an_unknown_member_is_carried_only_where_its_receiver_takes_it() {
    let world = crate::specs::world();
    let (mut carried, mut failures) = (0, Vec::new());
    for way in steps::all() {
        let (Some(from), Some(to)) = (world.side(way.from), world.side(way.to)) else {
            continue;
        };
        let sampler = Sampler::new(from.model, from.id);
        for member in named_by_the_target(&way, [from.model, to.model]) {
            let least = sampler.instance(way.source.rust_name, Recipe::Least, seed(&[&member]));
            let mut sample: Value = serde_json::from_str(&least.text).unwrap();
            for value in values() {
                sample[&member] = value.clone();
                let text = sample.to_string();
                // A closed object has no unknown members, and some conversions need a connection.
                let Ok(outcome) = way.there(&text, UnknownFields::Preserve) else {
                    continue;
                };
                let at = format!("/{}", escaped(&member));
                let is_told = (outcome.losses().iter()).any(|loss| loss.pointer().starts_with(&at));
                let Some(there) = outcome.value() else {
                    continue;
                };
                if let Err(problem) = to.judge.check(way.target.rust_name, &there) {
                    failures.push(format!("{}: {text} became {there}: {problem}", way.label()));
                }
                let there: Value = serde_json::from_str(&there).unwrap();
                carried += usize::from(there.get(&member) == Some(&value));
                if there.get(&member) != Some(&value) && !is_told {
                    failures.push(format!("{}: {text} became {there}, silently", way.label()));
                }
            }
        }
    }
    let shown = failures.len().min(12);
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures[..shown].join("\n")
    );
    assert!(carried > 100, "{carried} values are carried");
}
