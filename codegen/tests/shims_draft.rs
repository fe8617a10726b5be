//! A draft beside the newest release: what is planned between the two.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod twin;

use mcp_codegen::Spec;
use mcp_codegen::generate::Models;
use mcp_codegen::model::{Shape, Union};
use mcp_codegen::shims::plan::{Arm, Body, End};
use mcp_codegen::shims::{Pair, Way};
use mcp_codegen::spec::Status;
use mcp_codegen::spec::rules::RuleFile;
use serde_json::json;
use twin::spec;

/// A union that keeps unknown methods keeps them on the way to the neighbour, too.
#[test]
fn unions_open_on_both_sides_carry_what_neither_knows() {
    let spec = spec();
    let models = Models::build(&spec).unwrap();
    let pair = Pair::new(newest(&spec), "draft");
    let plan = models.plan_pair(&pair, RuleFile::default()).unwrap();
    let model = &models.get("draft").unwrap().model;
    let mut open = 0;
    for way in Way::BOTH {
        for one in plan.way(way) {
            let (End::Type(name), Body::Union(arms)) = (&one.from, &one.body) else {
                continue;
            };
            let Some(Shape::Union(union)) = model.get(name).map(|def| &def.shape) else {
                panic!("{name} is no union");
            };
            let known = union.variants.iter().map(|variant| variant.name.as_str());
            let unknown = union.open.then_some(Union::UNKNOWN);
            let wanted: Vec<&str> = known.chain(unknown).collect();
            let found: Vec<&str> = arms.iter().map(|arm| arm.variant.as_str()).collect();
            assert_eq!(found, wanted, "{name} on the way {way}");
            let kept = arms.iter().all(|arm| matches!(arm.arm, Arm::Same { .. }));
            assert!(kept, "{name} on the way {way}");
            open += usize::from(union.open);
        }
    }
    assert!(open >= 2, "{open} open unions");
}

/// The newest release.
fn newest(spec: &Spec) -> String {
    let mut newest_first = spec.revisions.iter().rev();
    let newest = newest_first.find(|row| row.status == Status::Released);
    newest.unwrap().id.clone()
}

/// The schema of a revision of the spec.
fn schema<'s>(spec: &'s mut Spec, id: &str) -> &'s mut serde_json::Value {
    let mut all = spec.revisions.iter_mut();
    &mut all.find(|revision| revision.id == id).unwrap().schema
}

/// Three changes to a schema: a member that must be there, a choice and a method more.
fn change(schema: &mut serde_json::Value) {
    let tool = schema.pointer_mut("/$defs/Tool").unwrap();
    tool["properties"]["shelf"] = json!({ "type": "string" });
    tool["required"]
        .as_array_mut()
        .unwrap()
        .push(json!("shelf"));
    let role = schema.pointer_mut("/$defs/Role/enum").unwrap();
    role.as_array_mut().unwrap().push(json!("narrator"));
    let request = json!({
        "type": "object",
        "properties": { "method": { "const": "notifications/weather" } },
        "required": ["method"],
    });
    schema["$defs"]["WeatherNotification"] = request;
    let union = schema
        .pointer_mut("/$defs/ServerNotification/anyOf")
        .unwrap();
    let reference = json!({ "$ref": "#/$defs/WeatherNotification" });
    union.as_array_mut().unwrap().push(reference);
}

#[test]
fn what_no_rule_answers_is_listed_with_the_row_that_settles_it() {
    let mut spec = spec();
    change(schema(&mut spec, "draft"));
    let models = Models::build(&spec).unwrap();
    let pair = Pair::new(newest(&spec), "draft");
    assert_eq!(models.shim_pairs().last(), Some(&pair), "the draft differs");
    let plan = models.plan_pair(&pair, RuleFile::default()).unwrap();
    let places: Vec<&str> = plan.open.iter().map(|open| open.place.as_str()).collect();
    assert_eq!(
        places,
        ["Role|narrator", "Tool.shelf", "notifications/weather"]
    );
    let rows: String = (plan.open.iter().map(|open| open.settle.stub.as_str())).collect();
    // As they are, they ask for what is missing: a reason each.
    let file = RuleFile::new(pair.file(), &*rows);
    let asked = models.plan_pair(&pair, file).unwrap_err().to_string();
    assert_eq!(asked.matches("it gives no reason").count(), 3, "{asked}");
    let filled = (rows.replace("reason = \"\"", "reason = \"x\""))
        .replace("source = \"\"", "source = \"x\"")
        .replace("input = '', output = ''", "input = '{}', output = '{}'");
    let file = RuleFile::new(pair.file(), filled);
    let plan = models.plan_pair(&pair, file).unwrap();
    assert_eq!(plan.open, []);
}

#[test]
fn between_released_revisions_nothing_is_left_open() {
    let mut spec = spec();
    let newest = newest(&spec);
    change(schema(&mut spec, &newest));
    let models = Models::build(&spec).unwrap();
    let error = models.plan_shims(&spec).unwrap_err().to_string();
    for (place, ways) in [
        ("Tool.shelf: ", 2),
        ("Role|narrator: ", 1),
        ("notifications/weather: ", 0),
    ] {
        let lines: Vec<&str> = error.lines().filter(|line| line.contains(place)).collect();
        assert_eq!(lines.len(), 1, "{place} is said once: {error}");
        assert_eq!(lines[0].matches("on the way").count(), ways, "{}", lines[0]);
    }
}
