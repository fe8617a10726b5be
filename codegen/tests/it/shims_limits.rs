//! What the schemas say of members that the types keep as text: planned and read by one comparison.

use mcp_schema::Models;
use mcp_schema::Spec;
use mcp_schema::diff::{self, Kind, Sources};
use mcp_schema::shims::open::UNDECIDED;
use mcp_schema::shims::{Pair, PairPlan, cover};
use mcp_schema::spec::rules::RuleFile;
use serde_json::{Value, json};

/// A spec whose draft has another schema of a tool's input: `inputSchema` is text in every type.
fn spec(change: impl FnOnce(&mut Value)) -> Spec {
    spec_with("Tool/properties/inputSchema", change)
}

/// A spec whose draft says something else of a place in its definitions.
fn spec_with(place: &str, change: impl FnOnce(&mut Value)) -> Spec {
    let mut spec = crate::twin::spec();
    let mut all = spec.revisions.iter_mut();
    let draft = all.find(|revision| revision.id == "draft").unwrap();
    let pointer = format!("/$defs/{place}");
    change(draft.schema.pointer_mut(&pointer).unwrap());
    spec
}

/// The newest release and the draft.
fn pair(spec: &Spec) -> Pair {
    let models = Models::build(spec).unwrap();
    models.shim_pairs().last().unwrap().clone()
}

fn planned(spec: &Spec, rules: RuleFile) -> PairPlan {
    let models = Models::build(spec).unwrap();
    models.plan_pair(&pair(spec), rules).unwrap()
}

/// What covers the rows of a kind.
fn covered(spec: &Spec, plan: &PairPlan, kind: Kind) -> Vec<String> {
    let sources = Sources::read(spec).unwrap();
    let diff = diff::between(&sources, &plan.pair.old, &plan.pair.new, false).unwrap();
    let rows = diff.rows.iter().filter(|row| row.kind == kind);
    rows.flat_map(|row| cover(row, plan)).collect()
}

#[test]
fn each_difference_in_text_is_a_question_of_the_way_that_it_stands_in() {
    for (kind, place, up, down, change) in [
        (
            Kind::ConstraintChanged,
            "$schema",
            Some("it has minLength 1 in the target"),
            None,
            (|input| input["properties"]["$schema"]["minLength"] = json!(1)) as fn(&mut Value),
        ),
        (
            Kind::ConstChanged,
            "type",
            Some("it is \"struct\" in the target"),
            Some("it is \"object\" in the target"),
            |input| input["properties"]["type"]["const"] = json!("struct"),
        ),
        (
            Kind::BecameRequired,
            "$schema",
            Some("it must be there in the target"),
            None,
            |input| input["required"] = json!(["$schema", "type"]),
        ),
        (
            Kind::TypeChanged,
            "$schema",
            Some("it is number in the target"),
            Some("it is string in the target"),
            |input| input["properties"]["$schema"] = json!({ "type": "number" }),
        ),
        (
            Kind::OpennessChanged,
            "",
            Some("it holds nothing else in the target"),
            None,
            |input| input["additionalProperties"] = json!(false),
        ),
    ] {
        let spec = spec(change);
        let plan = planned(&spec, RuleFile::default());
        let said: Vec<(&str, String)> = (plan.open.iter())
            .map(|open| (open.place.as_str(), open.open.clone()))
            .collect();
        let at = match place {
            "" => "Tool.inputSchema".to_owned(),
            place => format!("Tool.inputSchema.{place}"),
        };
        let ways = [("up", up), ("down", down)];
        let ways = ways
            .iter()
            .filter_map(|(way, asks)| Some(format!("on the way {way} {}", (*asks)?)));
        assert_eq!(
            said,
            [(at.as_str(), ways.collect::<Vec<_>>().join("; "))],
            "{kind}"
        );
        // And who reads the diff is not told that nothing is left to decide.
        assert_eq!(covered(&spec, &plan, kind), [UNDECIDED], "{kind}");
    }
}

#[test]
fn the_hook_that_makes_it_fit_is_the_rule_of_the_row() {
    let spec = spec(|input| input["properties"]["$schema"]["minLength"] = json!(1));
    let rules = r#"
        [[rule]]
        id = "dialect"
        at = "Tool"
        up = { before = "say_the_dialect" }
        loss = "cosmetic"
        covers = ["inputSchema.$schema"]
        reason = "x"
        source = "x"
        example = [{ type = "Tool", input = '{}', output = '{}' }]
    "#;
    let plan = planned(&spec, RuleFile::new(pair(&spec).file(), rules));
    assert_eq!(plan.open, []);
    assert_eq!(covered(&spec, &plan, Kind::ConstraintChanged), ["dialect"]);
}

/// A limit is a question of the way on which it gets tighter: the other way all that was allowed still is.
#[test]
fn a_limit_of_a_number_is_asked_for_where_it_gets_tighter() {
    // Between 0 and 1 in every release.
    let priority = "Annotations/properties/priority";
    for (limit, now, asks) in [
        ("minimum", 0.5, ("up", "its minimum changed from 0 to 0.5")),
        (
            "minimum",
            -1.0,
            ("down", "its minimum changed from -1.0 to 0"),
        ),
        ("maximum", 0.5, ("up", "its maximum changed from 1 to 0.5")),
        (
            "maximum",
            2.0,
            ("down", "its maximum changed from 2.0 to 1"),
        ),
    ] {
        let spec = spec_with(priority, |number| number[limit] = json!(now));
        let open = planned(&spec, RuleFile::default()).open;
        let said: Vec<(&str, &str)> = (open.iter())
            .map(|open| (open.place.as_str(), open.open.as_str()))
            .collect();
        let (way, tighter) = asks;
        let wanted = format!("on the way {way} {tighter}");
        assert_eq!(
            said,
            [("Annotations.priority", wanted.as_str())],
            "{limit} {now}"
        );
    }
}
