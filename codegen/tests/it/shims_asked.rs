//! Questions about changes around params and results, about entries of lists, and about members that are never left out.

use crate::changes::apply;
use crate::says;
use crate::specs::{covered, filled, planned, planned_by, twin};
use mcp_codegen::emit::Once;
use mcp_codegen::generate::shims_crate;
use mcp_revisions_diff::ChangeKind;
use mcp_revisions_plans::plan::{ConversionBody, LeftOut, PlannedConversion, ValueSource};
use mcp_revisions_plans::rules::Action;
use mcp_revisions_plans::{PairPlan, UNDECIDED};
use mcp_revisions_schema::pair::StepDirection;
use mcp_revisions_schema::{Models, Spec};

/// A draft that is the latest release, but for some steps.
fn changed(steps: &str) -> Spec {
    let mut spec = twin();
    let draft = spec.revisions.iter_mut().find(|one| one.id == "draft");
    apply(&mut draft.unwrap().schema, steps);
    spec
}

/// The open questions of a plan, each as its place.
fn places(plan: &PairPlan) -> Vec<&str> {
    plan.open.iter().map(|one| one.place.as_str()).collect()
}

/// The row that would settle the question about a place.
#[track_caller]
fn stub<'p>(plan: &'p PairPlan, place: &str) -> &'p str {
    let found = plan.open.iter().find(|one| one.place == place);
    let decision = found.unwrap_or_else(|| panic!("{place}: {:#?}", plan.open));
    &decision.settle.stub
}

fn conversion<'p>(plan: &'p PairPlan, way: StepDirection, from: &str) -> &'p PlannedConversion {
    let mut all = plan.way(way).iter();
    all.find(|one| one.from.name() == from).unwrap()
}

/// Members of a message beside its params are in the plan, in the diff, and in what is generated.
#[test]
fn what_stands_around_params_and_results_is_asked_for() {
    let spec = changed(
        r#"
put CallToolRequest/properties/priority {"type": "integer", "default": 3}
require CallToolRequest priority
put GetPromptRequest/properties/id {"type": "string"}
put ReadResourceRequest/properties/jsonrpc/const "3.0"
put CallToolResultResponse/properties/took {"type": "integer"}
require CallToolResultResponse took
put ProgressNotification/properties/trace {"type": "string"}
"#,
    );
    let plan = planned(&spec);
    assert_eq!(
        places(&plan),
        [
            "CallToolRequest.priority",
            "CallToolResultResponse.took",
            "GetPromptRequest.id",
            "ProgressNotification.trace",
            "ReadResourceRequest.jsonrpc",
        ]
    );
    // Each row of the diff leads to the rule, or to what is open.
    for kind in [
        ChangeKind::MemberAddedRequired,
        ChangeKind::MemberAddedOptional,
        ChangeKind::ConstChanged,
        ChangeKind::TypeNarrowed,
    ] {
        let mut rules = covered(&spec, &plan, kind);
        rules.dedup();
        assert_eq!(rules, [UNDECIDED], "{kind}");
    }
    let rule = filled(stub(&plan, "ProgressNotification.trace"));
    let ruled = planned_by(&spec, &rule).unwrap();
    assert!(!places(&ruled).contains(&"ProgressNotification.trace"));
    let wholes: Vec<(&str, bool, bool)> = (plan.methods.iter())
        .map(|method| {
            (
                &*method.name,
                method.message.is_some(),
                method.response.is_some(),
            )
        })
        .filter(|(_, message, response)| *message || *response)
        .collect();
    assert_eq!(
        wholes,
        [
            ("notifications/progress", true, false),
            ("prompts/get", true, false),
            ("resources/read", true, false),
            ("tools/call", true, true),
        ]
    );
    let models = Models::build(&spec).unwrap();
    let shims = shims_crate(&models, &[plan], &Once::default()).unwrap();
    let (_, table) = (shims.files.iter())
        .find(|(path, _)| path.ends_with("to_draft/mod.rs"))
        .unwrap();
    says(table, "part: Part::Result,");
    says(table, "old: \"CallToolRequest\",");
}

/// Revisions that have the same envelope, whether each message repeats it or not, convert no message as a whole.
#[test]
fn between_the_releases_params_and_results_are_all_that_is_converted() {
    for plan in crate::specs::plans() {
        let wholes = plan
            .methods
            .iter()
            .filter(|method| method.message.is_some() || method.response.is_some());
        let names: Vec<&str> = wholes.map(|method| method.name.as_str()).collect();
        assert!(names.is_empty(), "{}: {names:?}", plan.pair);
    }
}

/// The steps that add a kind of content block.
const FILE: &str = r#"
put FileContent {"type": "object", "properties": {"type": {"const": "file", "type": "string"}, "name": {"type": "string"}}, "required": ["type", "name"]}
put ContentBlock/anyOf/- "@FileContent"
put SamplingMessageContentBlock/anyOf/- "@FileContent"
"#;

/// A new kind of block costs a block, undecided and dropped alike; where a list is whole or nothing it costs the message.
#[test]
fn an_entry_of_a_variant_that_the_other_revision_lacks_is_left_out_of_its_list() {
    let spec = changed(FILE);
    let plan = planned(&spec);
    let left_out = |plan: &PairPlan, from: &str| -> Vec<LeftOut> {
        let ConversionBody::Object(object) = &conversion(plan, StepDirection::Down, from).body
        else {
            panic!("{from} is no object");
        };
        let fields = object
            .fields
            .iter()
            .filter_map(|field| match &field.source {
                ValueSource::Same(same) => Some(same.left_out.clone()),
                _ => None,
            });
        fields.flatten().collect()
    };
    let file = |rule: &str| LeftOut {
        variant: "File".to_owned(),
        rule: rule.to_owned(),
    };
    assert_eq!(left_out(&plan, "CallToolResult"), [file(UNDECIDED)]);
    let row = stub(&plan, "ContentBlock|File");
    says(row, "down = \"drop\"\nseverity = \"semantic\"\n");
    let asked = plan
        .open
        .iter()
        .find(|one| one.place == "ContentBlock|File");
    says(
        &asked.unwrap().answer,
        "an entry of a list is left out, and recorded",
    );
    let ruled = planned_by(&spec, &filled(row)).unwrap();
    assert_eq!(
        left_out(&ruled, "CallToolResult"),
        [file("content-block-file")]
    );
    // What a model reads is not thinned out.
    says(
        stub(&plan, "SamplingMessageContentBlock|File"),
        "down = { reject = ",
    );
}

/// A request without its cursor is answered by the first page again: it is refused, and not sent without.
#[test]
fn a_member_that_is_never_left_out_is_refused_where_it_is_gone() {
    let spec = changed("take PaginatedRequestParams/properties/cursor");
    let plan = planned(&spec);
    says(
        stub(&plan, "PaginatedRequestParams.cursor"),
        "up = { reject = ",
    );
    let ConversionBody::Object(object) =
        &conversion(&plan, StepDirection::Up, "PaginatedRequestParams").body
    else {
        panic!("params are an object");
    };
    let action = object.dropped.iter().map(|gone| &gone.action).next();
    assert!(matches!(action, Some(Action::Reject(_))), "{action:?}");
}

/// A member whose name and type change is one question; so is a method.
#[test]
fn a_member_of_another_name_and_type_is_one_proposed_row() {
    let mut steps = String::from(
        r#"put Page {"type": "object", "properties": {"cursor": {"type": "string"}}}"#,
    );
    for list in ["ListToolsResult", "ListPromptsResult"] {
        steps += &format!(
            "\ntake {list}/properties/nextCursor\nput {list}/properties/nextPage \"@Page\""
        );
    }
    let spec = changed(&steps);
    let plan = planned(&spec);
    assert_eq!(places(&plan), ["*.nextCursor"]);
    let row = stub(&plan, "*.nextCursor");
    says(
        row,
        "[[rename]]\nold = \"*.nextCursor\"\nnew = \"*.nextPage\"",
    );
    says(row, "at = \"*.nextPage\"\nup = { custom = \"\" }");
    says(row, "at = \"*.nextCursor\"\ndown = { custom = \"\" }");
}

/// Any string may stand where one of a list stood: only the way back is a question.
#[test]
fn a_list_of_strings_that_becomes_any_string_asks_for_the_way_back_only() {
    let plan = planned(&changed("take Role/enum"));
    let [one] = &plan.open[..] else {
        panic!("{:#?}", plan.open);
    };
    let open = "on the way down it was a string, and is one of \"assistant\", \"user\"";
    assert_eq!(one.open, open);
}

/// An unknown member of an answer must not make it an answer of the kind that the newer union tells by such a member.
#[test]
fn an_unknown_member_makes_no_other_variant() {
    let spec = changed(
        r#"
put PickResult {"type": "object", "properties": {"picked": {"type": "string"}}, "required": ["picked"]}
put InputResponse/anyOf/- "@PickResult"
release ElicitResult action
"#,
    );
    let plan = planned(&spec);
    let foreign = |way| match &conversion(&plan, way, "ElicitResult").body {
        ConversionBody::Object(object) => object.foreign.contains(&"picked".to_owned()),
        _ => panic!("an answer is an object"),
    };
    assert_eq!(StepDirection::BOTH.map(foreign), [true, false]);
}
