//! A draft beside the latest release: what is planned between the two, and whether peers are spoken to in it.

use crate::changes::apply;
use crate::says;
use crate::specs::{
    covered, filled, last_pair, latest, planned, planned_by, twin as spec,
    twin_directory as directory,
};
use mcp_codegen::emit::Once;
use mcp_codegen::generate::{registry_crate, shims_crate};
use mcp_revisions_diff::{ChangeKind, SideSources};
use mcp_revisions_plans::open::UNDECIDED;
use mcp_revisions_plans::plan::{
    Arm, ConversionBody, Effect, MethodPlan, ObjectPlan, PairEnd, ValueSource,
};
use mcp_revisions_plans::rules::Action;
use mcp_revisions_schema::decision::{Decision, QuestionKind};
use mcp_revisions_schema::model::{Shape, Union};
use mcp_revisions_schema::pair::StepDirection;
use mcp_revisions_schema::{Models, Spec};
use serde_json::json;

/// A union that keeps unknown methods keeps them on the way to the adjacent revision, too.
#[test]
fn unions_open_on_both_sides_carry_what_neither_knows() {
    let spec = spec();
    let models = Models::build(&spec).unwrap();
    let plan = planned(&spec);
    let model = &models.get("draft").unwrap().model;
    let mut open = 0;
    for way in StepDirection::BOTH {
        for one in plan.way(way) {
            let (PairEnd::Type(name), ConversionBody::Union(arms)) = (&one.from, &one.body) else {
                continue;
            };
            let Some(Shape::Union(union)) = model.get(name).map(|def| &def.shape) else {
                panic!("{name} is not a union");
            };
            let known = union.variants.iter().map(|variant| variant.name.as_str());
            let unknown = union.open.then_some(Union::UNKNOWN);
            let wanted: Vec<&str> = known.chain(unknown).collect();
            let found: Vec<&str> = arms.iter().map(|arm| arm.variant.as_str()).collect();
            assert_eq!(found, wanted, "{name} on the way {way}");
            let kept = arms.iter().all(|arm| matches!(arm.arm, Arm::Same(_)));
            assert!(kept, "{name} on the way {way}");
            open += usize::from(union.open);
        }
    }
    assert!(open >= 2, "{open} open unions");
}

/// A method by another name is no method that came and none that went, once a row says so.
#[test]
fn a_renamed_method_is_one_method_by_a_rule() {
    let mut spec = spec();
    let method = "put GetPromptRequest/properties/method/const \"prompts/fetch\"";
    apply(schema(&mut spec, "draft"), method);
    let fates = |rules: &str| {
        let models = Models::build(&spec).unwrap();
        let plan = planned_by(&spec, rules).unwrap();
        let about = |name: &&MethodPlan| name.name.starts_with("prompts/");
        let told: Vec<(String, Option<String>, bool)> = (plan.methods.iter().filter(about))
            .map(|one| (one.name.clone(), one.was.clone(), one.in_both))
            .collect();
        let text = shims_crate(&models, &[plan], &Once::default())
            .unwrap()
            .files;
        let text: String = text.into_values().collect();
        (told, text.contains("RenamedMethod"))
    };
    let named =
        |name: &str, was: Option<&str>, both| (name.to_owned(), was.map(str::to_owned), both);
    let list = named("prompts/list", None, true);
    assert_eq!(
        fates(""),
        (
            vec![
                named("prompts/fetch", None, false),
                named("prompts/get", None, false),
                list.clone()
            ],
            false
        )
    );
    // Nothing else asks for the rows by which the older name is known.
    let open = planned_by(&spec, "").unwrap().open;
    let rename = open.iter().find(|open| open.place == "prompts/get");
    assert_eq!(
        rename.unwrap().open,
        "`prompts/get` is gone, and `prompts/fetch` came, which is like it; \
         [named-by] and [capabilities] of spec/methods.toml have rows of the older name only"
    );
    let row = "[[rename]]\nmethod = true\nold = \"prompts/get\"\nnew = \"prompts/fetch\"\nreason = \"r\"\n";
    assert_eq!(
        fates(row),
        (
            vec![named("prompts/fetch", Some("prompts/get"), true), list],
            true
        )
    );
}

/// A member that has another name in several types is one row, and the row settles all of it.
#[test]
fn a_member_under_another_name_is_one_proposed_row() {
    let mut spec = spec();
    let types = [
        "BlobResourceContents",
        "TextResourceContents",
        "Resource",
        "ImageContent",
    ];
    for name in types {
        let schema = schema(&mut spec, "draft");
        let members = schema["$defs"][name]["properties"].as_object_mut().unwrap();
        let mime = members.remove("mimeType").unwrap();
        members.insert("mediaType".to_owned(), mime);
        if let Some(required) = schema["$defs"][name]["required"].as_array_mut() {
            for one in required.iter_mut().filter(|one| **one == json!("mimeType")) {
                *one = json!("mediaType");
            }
        }
    }
    let open = planned(&spec).open;
    let [one] = &open[..] else {
        panic!("{open:#?}");
    };
    says(
        &one.settle.stub,
        "[[rename]]\nold = \"*.mimeType\"\nnew = \"*.mediaType\"",
    );
    let plan = planned_by(&spec, &filled(&one.settle.stub)).unwrap();
    assert_eq!(plan.open, []);
}

/// The same about a member of several types is one rule with a list; what protects against harm is lost with that severity.
#[test]
fn a_member_of_several_types_is_one_proposed_rule_of_its_severity() {
    let mut spec = spec();
    for step in [
        "take ToolAnnotations/properties/destructiveHint",
        "take ToolAnnotations/properties/readOnlyHint",
        "take CallToolResult/properties/isError",
        "take ResourceLink/properties/size",
        "take Resource/properties/size",
    ] {
        apply(schema(&mut spec, "draft"), step);
    }
    let open = planned(&spec).open;
    let stub = |place: &str| {
        let found = open.iter().find(|one| one.place == place);
        &found
            .unwrap_or_else(|| panic!("{place}: {open:#?}"))
            .settle
            .stub
    };
    let both = stub("Resource.size, ResourceLink.size");
    says(
        both,
        "at = [\n  \"Resource.size\",\n  \"ResourceLink.size\",\n]",
    );
    says(both, "severity = \"semantic\"");
    for place in [
        "ToolAnnotations.destructiveHint",
        "ToolAnnotations.readOnlyHint",
        "CallToolResult.isError",
    ] {
        says(stub(place), "severity = \"safety\"");
    }
}

/// A method that is gone and one that came with the same types may be one: the row that says so settles both, and what
/// the messages are called in unions of embedded requests as well.
#[test]
fn a_method_under_another_name_is_proposed_as_a_rename() {
    let mut files = directory().files().clone();
    // The rules that answer the embedded request name it by its new name.
    let methods = files.get_mut("methods.toml").unwrap();
    *methods = methods.replace(
        "\"elicitation/create\"\nresult = \"ElicitResult\"\nsince = \"2026-07-28-rc\"\n",
        "\"elicitation/create\"\nresult = \"ElicitResult\"\nsince = \"2026-07-28-rc\"\nuntil = \"2026-07-28\"\n",
    );
    methods.push_str("\n[[result]]\nmethod = \"elicitation/ask\"\nresult = \"ElicitResult\"\nsince = \"draft\"\n");
    let mut spec = Spec::from_files(files).unwrap();
    for (definition, name) in [
        ("GetPromptRequest", "prompts/fetch"),
        ("ElicitRequest", "elicitation/ask"),
        (
            "ResourceUpdatedNotification",
            "notifications/resources/changed",
        ),
        // What all notifications carry tells nothing.
        ("ToolListChangedNotification", "notifications/tools/changed"),
    ] {
        let method = format!("/$defs/{definition}/properties/method/const");
        let place = schema(&mut spec, "draft").pointer_mut(&method);
        *place.unwrap() = json!(name);
    }
    let asked = |rules: &str| -> Vec<(String, String)> {
        let open = planned_by(&spec, rules).unwrap().open.into_iter();
        open.map(|open| (open.place, open.settle.stub)).collect()
    };
    let first = asked("");
    let row = |old: &str, new: &str| {
        format!("[[rename]]\nmethod = true\nold = \"{old}\"\nnew = \"{new}\"\nreason = \"\"\n")
    };
    let mut rows = String::new();
    for (old, new) in [
        ("prompts/get", "prompts/fetch"),
        ("elicitation/create", "elicitation/ask"),
        (
            "notifications/resources/updated",
            "notifications/resources/changed",
        ),
    ] {
        let row = row(old, new);
        let stub = first.iter().find(|(place, _)| place == old);
        assert_eq!(stub.map(|(_, stub)| stub), Some(&row), "{first:#?}");
        let asked_twice = first.iter().any(|(place, _)| place == new);
        assert!(!asked_twice, "{first:#?}");
        rows.push_str(&row.replace("reason = \"\"", "reason = \"r\""));
    }
    let left: Vec<String> = asked(&rows).into_iter().map(|(place, _)| place).collect();
    let list = [
        "notifications/tools/changed",
        "notifications/tools/list_changed",
    ];
    assert_eq!(left, list);
}

/// The schema of a revision of the spec.
fn schema<'s>(spec: &'s mut Spec, id: &str) -> &'s mut serde_json::Value {
    let mut all = spec.revisions.iter_mut();
    &mut all.find(|revision| revision.id == id).unwrap().schema
}

/// Three changes to a schema: a member that must be there, a choice and a method more.
fn change(schema: &mut serde_json::Value) {
    apply(
        schema,
        r#"
put Tool/properties/shelf {"type": "string"}
put Tool/required/- "shelf"
put Role/enum/- "narrator"
notification WeatherNotification notifications/weather
put ServerNotification/anyOf/- "@WeatherNotification"
"#,
    );
}

#[test]
fn what_no_rule_answers_is_listed_with_the_row_that_settles_it() {
    let mut spec = spec();
    change(schema(&mut spec, "draft"));
    let models = Models::build(&spec).unwrap();
    let pair = last_pair(&spec);
    assert_eq!(models.shim_pairs().last(), Some(&pair), "the draft differs");
    let plan = planned(&spec);
    let places: Vec<&str> = plan.open.iter().map(|open| open.place.as_str()).collect();
    assert_eq!(
        places,
        ["Role|narrator", "Tool.shelf", "notifications/weather"]
    );
    let rows: String = (plan.open.iter().map(|open| open.settle.stub.as_str())).collect();
    // As they are, they ask for what is missing: a reason each.
    let asked = planned_by(&spec, &rows).unwrap_err().to_string();
    assert_eq!(asked.matches("it gives no reason").count(), 3, "{asked}");
    assert_eq!(planned_by(&spec, &filled(&rows)).unwrap().open, []);
}

/// Until somebody says what stands there, a message without it is refused as one of wrong params.
#[test]
fn a_member_that_nothing_fills_is_refused() {
    let mut spec = spec();
    change(schema(&mut spec, "draft"));
    let plan = planned(&spec);
    let tool = PairEnd::Type("Tool".to_owned());
    let of_tool = plan
        .way(StepDirection::Up)
        .iter()
        .find(|one| one.from == tool);
    let ConversionBody::Object(ObjectPlan { fields, .. }) = &of_tool.unwrap().body else {
        panic!("{of_tool:?}");
    };
    let shelf = fields.iter().find(|field| field.wire == "shelf").unwrap();
    let ValueSource::Fill(missing) = &shelf.source else {
        panic!("{:?}", shelf.source);
    };
    let Action::Reject(error) = &missing.action else {
        panic!("{:?}", missing.action);
    };
    assert_eq!(error.code, -32602);
    assert!(
        error.message.contains("`Tool.shelf` must be there"),
        "{}",
        error.message
    );
    // So it travels as an unknown one where that is the policy, and comes back.
    let of_tool = plan
        .way(StepDirection::Down)
        .iter()
        .find(|one| one.from == tool);
    let ConversionBody::Object(ObjectPlan { dropped, .. }) = &of_tool.unwrap().body else {
        panic!("{of_tool:?}");
    };
    let shelf = dropped.iter().find(|plan| plan.wire == "shelf").unwrap();
    assert!(shelf.carried && !shelf.optional);
}

/// The string that a request claims is that of the revision that it was converted to, and no rule has to say so.
#[test]
fn a_request_claims_the_revision_that_it_was_converted_to() {
    let mut spec = spec();
    let draft = spec.revisions.iter_mut().find(|row| row.id == "draft");
    draft.unwrap().wire = "2999-12-31".to_owned();
    let plan = planned(&spec);
    assert_eq!(plan.open, []);
    for way in StepDirection::BOTH {
        let meta = PairEnd::Type("RequestMetaObject".to_owned());
        let one = plan.way(way).iter().find(|one| one.from == meta).unwrap();
        let ConversionBody::Object(ObjectPlan { fields, .. }) = &one.body else {
            panic!("{one:?}");
        };
        let claims = |source: &ValueSource| matches!(source, ValueSource::Claim { .. });
        let restated: Vec<&str> = (fields.iter())
            .filter(|field| claims(&field.source))
            .map(|field| field.wire.as_str())
            .collect();
        assert_eq!(
            restated,
            ["io.modelcontextprotocol/protocolVersion"],
            "{way}"
        );
        assert_ne!(
            one.effect,
            Effect::Exact,
            "another claim is lost on the way {way}"
        );
    }
}

/// Types that a rule lists beside what methods reach: each that is of no use is said in its own row.
#[test]
fn a_type_that_need_not_be_listed_is_said_where_it_is() {
    let spec = spec();
    let pair = last_pair(&spec);
    let rows = ["ClientCapabilities", "Nowhere", "Tool"]
        .map(|name| format!("[[also]]\ntype = \"{name}\"\nreason = \"as {name} is\"\n"));
    let said = planned_by(&spec, &rows.concat()).unwrap_err().to_string();
    for (line, name, problem) in [
        (
            1,
            "ClientCapabilities",
            "a method of both revisions reaches it as it is",
        ),
        (4, "Nowhere", "both revisions must have a type of that name"),
        (7, "Tool", "a method of both revisions reaches it as it is"),
    ] {
        let place = format!("{}:{line}: rule `{name}`: {problem}", pair.file());
        assert!(said.contains(&place), "{place} is not in {said}");
    }
}

#[test]
fn between_released_revisions_nothing_is_left_open() {
    let mut spec = spec();
    let latest = latest(&spec).id.clone();
    change(schema(&mut spec, &latest));
    let models = Models::build(&spec).unwrap();
    let error = mcp_revisions_plans::plan_shims(&models, &spec)
        .unwrap_err()
        .to_string();
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

/// What is open between the latest release and a draft that differs by a change.
fn open_after(change: impl FnOnce(&mut serde_json::Value)) -> Vec<(String, String)> {
    let mut spec = spec();
    change(schema(&mut spec, "draft"));
    let models = Models::build(&spec).unwrap();
    let pair = last_pair(&spec);
    assert_eq!(models.shim_pairs().last(), Some(&pair), "the draft differs");
    let plan = planned(&spec);
    let open = plan.open.into_iter();
    open.map(|one| (one.place, format!("{}; {}", one.open, one.answer)))
        .collect()
}

/// What a schema calls a choice is its own business: on the wire it is its tag.
#[test]
fn a_choice_by_another_name_is_the_one_of_its_tag() {
    let renamed = |tag: &'static str| {
        let tag = format!("put LinkedResource/properties/type/const \"{tag}\"");
        move |schema: &mut serde_json::Value| {
            apply(
                schema,
                &format!("rename ResourceLink LinkedResource\n{tag}"),
            );
        }
    };
    assert_eq!(open_after(renamed("resource_link")), []);
    let places: Vec<String> = (open_after(renamed("link")).into_iter())
        .map(|(place, _)| place)
        .collect();
    let wanted = ["ContentBlock|Link", "ContentBlock|ResourceLink"];
    assert_eq!(places, wanted, "another tag is another choice");
}

/// Choices under another name are taken one by one.
#[test]
fn choices_by_another_name_are_the_choices_that_they_were() {
    let open = open_after(|schema| {
        apply(
            schema,
            r#"
extract Icon/properties/theme Theme
put Theme/enum ["dark", "dim", "light"]
copy ContentBlock ToolBlock
put CallToolResult/properties/content/items "@ToolBlock"
"#,
        );
    });
    let places: Vec<&str> = open.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, ["Theme|dim"]);
}

/// What an object holds beside its named members is planned as what a map holds.
#[test]
fn a_change_within_what_unknown_members_are_is_asked_for() {
    let foo = |schema: &mut serde_json::Value, foo: &str, kinds: [&str; 3]| {
        let [foo_is, text, list] = kinds;
        apply(
            schema,
            &format!(
                r#"
put Foo {foo}
put Tool/properties/e {{"type": "object", "properties": {{"x": {{"type": "string"}}}}, "additionalProperties": {foo_is}}}
put Tool/properties/t {{"type": "object", "properties": {{"x": {{"type": "string"}}}}, "additionalProperties": {text}}}
put Tool/properties/l {{"type": "object", "properties": {{"x": {{"type": "string"}}}}, "additionalProperties": {list}}}
"#
            ),
        );
    };
    let mut spec = spec();
    let latest = latest(&spec).id.clone();
    let list = r#"{"type": "array", "items": "@Foo"}"#;
    let before = r#"{"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "string"}}, "required": ["a"]}"#;
    let now = r#"{"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "z": {"type": "string"}}, "required": ["a"]}"#;
    let text = r#"{"type": "string"}"#;
    foo(
        schema(&mut spec, &latest),
        before,
        [r#""@Foo""#, text, list],
    );
    foo(
        schema(&mut spec, "draft"),
        now,
        [r#""@Foo""#, r#"{"type": "integer"}"#, list],
    );
    let plan = planned(&spec);
    let open: Vec<(&str, &str)> = (plan.open.iter())
        .map(|open| (open.place.as_str(), open.open.as_str()))
        .collect();
    let latest = &crate::specs::latest(&spec).id;
    assert_eq!(
        open,
        [
            (
                "Foo.n",
                "on the way up it was a string, and is an integer; on the way down it was an integer, and is a string"
            ),
            (
                "Foo.z",
                &*format!(
                    "on the way down {latest} has no such member; it is a string, optional in draft"
                )
            ),
            (
                "ToolT.*",
                &*format!(
                    "on the way up in draft unknown members are an integer there; on the way down in {latest} unknown members are a string there"
                )
            ),
        ]
    );
    // And a diff leads to what becomes of them.
    assert_eq!(covered(&spec, &plan, ChangeKind::TypeChanged)[0], UNDECIDED);
    assert_eq!(
        covered(&spec, &plan, ChangeKind::MemberAddedOptional),
        [UNDECIDED]
    );
}

/// Where the new type holds what the old one did, only the way back is a question.
#[test]
fn a_type_that_widens_asks_for_nothing_on_the_way_there() {
    let text = json!({ "type": "string" });
    let rich = json!({ "type": "object", "properties": { "text": text }, "required": ["text"] });
    for (place, wider) in [
        ("Prompt.description", json!({ "anyOf": [text, rich] })),
        ("Resource.size", json!({ "type": "number" })),
        ("Icon.theme", text.clone()),
        (
            "Icon.sizes",
            json!({ "type": "array", "items": { "type": ["integer", "string"] } }),
        ),
    ] {
        let (name, member) = place.split_once('.').unwrap();
        let open = open_after(|schema| schema["$defs"][name]["properties"][member] = wider.clone());
        let [(at, said)] = open.as_slice() else {
            panic!("{place}: {open:?}");
        };
        assert_eq!(at, place);
        assert!(!said.contains("on the way up"), "{said}");
        assert!(said.contains("on the way down"), "{said}");
        let answer = "the value is read again, and lost if it does not fit";
        assert!(said.ends_with(answer), "{said}");
    }
}

/// A code that the schema brings along is sent, whether somebody has said what it means or not.
#[test]
fn an_error_code_of_the_schema_is_asked_for_and_not_passed_on() {
    let mut files = directory().files().clone();
    let schema = files.get_mut("draft/schema.json").unwrap();
    let mut changed: serde_json::Value = serde_json::from_str(schema).unwrap();
    let code = json!({ "properties": { "code": { "type": "integer", "const": -32023 } } });
    changed["$defs"]["RateLimitedError"] = json!({
        "type": "object",
        "properties": { "error": { "allOf": [{ "$ref": "#/$defs/Error" }, code] } },
    });
    *schema = changed.to_string();
    let spec = Spec::from_files(files.clone()).unwrap();
    let asked = codes(&spec);
    let [decision] = asked.as_slice() else {
        panic!("{asked:?}");
    };
    assert_eq!(decision.place, "/$defs/RateLimitedError");
    let open = planned(&spec).open;
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0].place, "error -32023");
    // The row that it proposes settles it, and the code is still asked for between the adjacent revisions.
    let row = &decision.settle.stub;
    let row = row.replace("meaning = \"\"", "meaning = \"Too many requests.\"");
    let rows = files.get_mut(&decision.settle.file).unwrap();
    rows.push_str(&format!("\n{row}"));
    let spec = Spec::from_files(files).unwrap();
    assert_eq!(codes(&spec), []);
    assert_eq!(planned(&spec).open.len(), 1);
}

/// What is open of the codes of the draft.
fn codes(spec: &Spec) -> Vec<Decision> {
    let models = Models::build(spec).unwrap();
    let decisions = models.get("draft").unwrap().decisions.iter();
    let of_codes = decisions.filter(|one| one.question == QuestionKind::Code);
    of_codes.cloned().collect()
}

#[test]
fn a_draft_is_negotiated_where_no_release_has_its_wire_string() {
    let mut spec = spec();
    change(schema(&mut spec, "draft"));
    let as_released = spec.revisions.last().unwrap().wire.clone();
    for (wire, is_negotiated) in [(as_released.as_str(), false), ("2099-01-01", true)] {
        wire.clone_into(&mut spec.revisions.last_mut().unwrap().wire);
        let models = Models::build(&spec).unwrap();
        let plans = mcp_revisions_plans::plan_shims(&models, &spec).unwrap();
        let registry = registry_crate(&models, &plans, &Once::default()).unwrap();
        let (path, text) = (registry.files.iter())
            .find(|(_, text)| text.contains("pub const NEGOTIATED"))
            .unwrap();
        let (_, list) = text.split_once("pub const NEGOTIATED").unwrap();
        let (list, _) = list.split_once("];").unwrap();
        assert_eq!(
            list.contains("Self::Draft"),
            is_negotiated,
            "{path}: {list}"
        );
    }
}

/// A diff names what the plan asks for: a value more is no question of types.
#[test]
fn a_value_that_only_one_side_has_is_covered_by_its_rule() {
    let mut spec = spec();
    let draft = schema(&mut spec, "draft");
    draft["$defs"]["Role"]["enum"] = json!(["assistant", "system", "user"]);
    draft["$defs"]["Prompt"]["properties"]["description"] =
        json!({ "type": ["integer", "string"] });
    let hook = "[[rule]]\nid = \"prompt-description\"\nat = \"Prompt.description\"\ndown = \"drop\"\nseverity = \"semantic\"\nreason = \"x\"\nsource = \"x\"\nexample = [{ type = \"Prompt\", input = '{}', output = '{}' }]\n";
    let plan = planned_by(&spec, hook).unwrap();
    let sources = SideSources::read(&spec).unwrap();
    let diff =
        mcp_revisions_diff::between(&sources, &plan.pair.old, &plan.pair.new, false).unwrap();
    let covered = |kind: ChangeKind| covered(&spec, &plan, kind);
    assert_eq!(covered(ChangeKind::EnumValueAdded), [UNDECIDED]);
    // One way is proven, the other has its rule.
    let kinds: Vec<ChangeKind> = diff.rows.iter().map(|row| row.kind).collect();
    let widened = kinds
        .into_iter()
        .find(|kind| *kind != ChangeKind::EnumValueAdded);
    assert_eq!(covered(widened.unwrap()), ["prompt-description"]);
}
