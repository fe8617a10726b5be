//! What the schemas say of members that the types keep as text: planned and read by one comparison.

use crate::says;
use mcp_revisions_schema::sorted::SortedMap;
use std::collections::BTreeSet;

use mcp_codegen::import::{SpecDirectory, SpecGaps};
use mcp_revisions_diff::ChangeKind;
use mcp_revisions_plans::PairPlan;
use mcp_revisions_plans::open::UNDECIDED;
use mcp_revisions_plans::plan::{Adoption, ConversionBody, Effect, PlannedConversion, ValueSource};
use mcp_revisions_plans::rules::PairRules;
use mcp_revisions_schema::decision::QuestionKind;
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::{Models, Spec};
use serde_json::{Value, json};

use crate::changes::changed;
use crate::specs::{covered, filled, planned, planned_by};

/// A spec whose draft has another schema of a tool's input: `inputSchema` is text in every type.
fn spec(change: impl FnOnce(&mut Value)) -> Spec {
    spec_with("Tool/properties/inputSchema", change)
}

/// A spec whose draft says something else of a place in its definitions.
fn spec_with(place: &str, change: impl FnOnce(&mut Value)) -> Spec {
    let mut spec = crate::specs::twin();
    let mut all = spec.revisions.iter_mut();
    let draft = all.find(|revision| revision.id == "draft").unwrap();
    let pointer = format!("/$defs/{place}");
    change(draft.schema.pointer_mut(&pointer).unwrap());
    spec
}

#[test]
fn each_difference_in_text_is_a_question_of_the_way_that_it_stands_in() {
    for (kind, place, up, down, change) in [
        (
            ChangeKind::ConstraintChanged,
            "$schema",
            Some("it has minLength 1 in the target"),
            None,
            (|input| input["properties"]["$schema"]["minLength"] = json!(1)) as fn(&mut Value),
        ),
        (
            ChangeKind::ConstChanged,
            "type",
            Some("it is \"struct\" in the target"),
            Some("it is \"object\" in the target"),
            |input| input["properties"]["type"]["const"] = json!("struct"),
        ),
        (
            ChangeKind::BecameRequired,
            "$schema",
            Some("it must be there in the target"),
            None,
            |input| input["required"] = json!(["$schema", "type"]),
        ),
        (
            ChangeKind::TypeChanged,
            "$schema",
            Some("it is number in the target"),
            Some("it is string in the target"),
            |input| input["properties"]["$schema"] = json!({ "type": "number" }),
        ),
        (
            ChangeKind::OpennessChanged,
            "",
            Some("it holds nothing else in the target"),
            None,
            |input| input["additionalProperties"] = json!(false),
        ),
    ] {
        let spec = spec(change);
        let plan = planned(&spec);
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
        severity = "cosmetic"
        covers = ["inputSchema.$schema"]
        reason = "x"
        source = "x"
        example = [{ type = "Tool", input = '{}', output = '{}' }]
    "#;
    let plan = planned_by(&spec, rules).unwrap();
    assert_eq!(plan.open, []);
    assert_eq!(
        covered(&spec, &plan, ChangeKind::ConstraintChanged),
        ["dialect"]
    );
    // One that may stop says so, and with it stops what holds the value.
    let stopping = rules.replace("say_the_dialect", "say_the_dialect?");
    let stopping = planned_by(&spec, &stopping).unwrap();
    for name in ["Tool", "ListToolsResult"] {
        let effect = |plan: &PairPlan| {
            let mut up = plan.up.iter();
            up.find(|one| one.from.name() == name).map(|one| one.effect)
        };
        let effects = [effect(&plan), effect(&stopping)];
        assert_eq!(
            effects,
            [Some(Effect::Lossy), Some(Effect::Fallible)],
            "{name}"
        );
    }
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
        let open = planned(&spec).open;
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

/// What the way back would not take for a member again is lost on the way there.
#[test]
fn a_member_that_only_the_draft_has_is_carried_where_its_own_schema_takes_whatever_comes_back() {
    for (schema, is_carried) in [
        (json!({"type": "number"}), true),
        (json!({"type": "number", "minimum": 0}), false),
        (
            json!({"type": "array", "items": {"type": "string", "maxLength": 5}}),
            false,
        ),
    ] {
        let spec = spec_with("Annotations/properties", |members| {
            members["weight"] = schema.clone();
        });
        let plan = planned(&spec);
        let object = |conversions: &[PlannedConversion]| {
            let of = |one: &&PlannedConversion| one.from.name() == "Annotations";
            match &conversions.iter().find(of).unwrap().body {
                ConversionBody::Object(object) => object.clone(),
                other => panic!("{other:?}"),
            }
        };
        let gone = &object(&plan.down).dropped[0];
        assert_eq!(
            (&*gone.wire, gone.carried),
            ("weight", is_carried),
            "{schema}"
        );
        let fields = object(&plan.up).fields;
        let back = fields.iter().find(|field| field.wire == "weight").unwrap();
        let adoption = match is_carried {
            true => Adoption::Carried,
            false => Adoption::Never,
        };
        assert_eq!(back.source, ValueSource::Adopt(adoption), "{schema}");
    }
}

/// A type says that a value is a boolean or a number, and the schema which.
#[test]
fn a_boolean_or_a_number_that_is_a_constant_now_is_asked_for() {
    let object = r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#;
    for (before, now, up, down) in [
        (
            r#"{"type": "boolean"}"#.to_owned(),
            r#"{"type": "boolean", "const": true}"#.to_owned(),
            Some("it is true in the target"),
            None,
        ),
        (
            r#"{"type": ["boolean", "null"]}"#.to_owned(),
            r#"{"anyOf": [{"type": "boolean", "const": true}, {"type": "null"}]}"#.to_owned(),
            Some("it is true in the target"),
            None,
        ),
        (
            r#"{"type": "integer", "const": 2}"#.to_owned(),
            r#"{"type": "integer", "const": 1}"#.to_owned(),
            Some("it is 1 in the target"),
            Some("it is 2 in the target"),
        ),
        (
            r#"{"type": "array", "items": {"type": "boolean", "const": true}}"#.to_owned(),
            r#"{"type": "array", "items": {"type": "boolean"}}"#.to_owned(),
            None,
            Some("each of what it holds is true in the target"),
        ),
        (
            format!(r#"{{"anyOf": [{{"type": "integer"}}, {object}]}}"#),
            format!(r#"{{"anyOf": [{{"type": "integer", "const": 1}}, {object}]}}"#),
            Some("it is 1 in the target"),
            None,
        ),
        // What a type says is asked for once.
        (
            r#"{"type": "number"}"#.to_owned(),
            r#"{"type": "integer", "const": 1}"#.to_owned(),
            Some("it was a number, and is an integer"),
            None,
        ),
    ] {
        let mut spec = crate::specs::twin();
        let latest = crate::specs::latest(&spec).id.clone();
        for (id, value) in [(&*latest, &before), ("draft", &now)] {
            let mut all = spec.revisions.iter_mut();
            let revision = all.find(|revision| revision.id == id).unwrap();
            let step = format!("put Tool/properties/made {value}");
            crate::changes::apply(&mut revision.schema, &step);
        }
        let open = planned(&spec).open;
        let said: Vec<(&str, &str)> = (open.iter())
            .map(|open| (open.place.as_str(), open.open.as_str()))
            .collect();
        let ways = [("up", up), ("down", down)].into_iter();
        let ways = ways.filter_map(|(way, asks)| Some(format!("on the way {way} {}", asks?)));
        let wanted = ways.collect::<Vec<_>>().join("; ");
        assert_eq!(said, [("Tool.made", wanted.as_str())], "{before} {now}");
    }
}

/// A constant is named after each rule, and a function of the pair's module after each hook.
#[test]
fn an_id_or_a_hook_that_is_no_name_is_refused_with_its_line() {
    let read = |id: &str, hook: &str| {
        let text = format!(
            "\n[[rule]]\nid = {id:?}\nat = \"Tool.x\"\ndown = {{ custom = {hook:?} }}\nreason = \"r\"\nsource = \"s\"\nexample = [{{ type = \"Tool\", input = '{{}}', output = '{{}}' }}]\n"
        );
        let read = PairRules::read(RuleFile::new("spec/shims/a..b.toml", text));
        read.map_or_else(|error| error.to_string(), |_| String::new())
    };
    for hook in ["tools::as_text", "tools::as_text?"] {
        assert_eq!(read("tool-x-2", hook), "");
    }
    for id in ["", "a.b", "a/b", "a b", "1a", "A", "a_b", "é", "undecided"] {
        let said = read(id, "as_text");
        assert!(said.starts_with("spec/shims/a..b.toml:2:"), "{id}: {said}");
        assert!(said.contains("the id is not a name"), "{id}: {said}");
    }
    for hook in ["", "1a", "as text", "tools::", "fn", "a.b", "a??", "a?::b"] {
        let said = read("tool-x", hook);
        assert!(
            said.starts_with("spec/shims/a..b.toml:2:"),
            "{hook}: {said}"
        );
        assert!(said.contains("is not a function"), "{hook}: {said}");
    }
}

#[test]
fn a_member_is_renamed_to_a_member() {
    let read = |old: &str, new: &str| {
        let text = format!("\n[[rename]]\nold = {old:?}\nnew = {new:?}\nreason = \"r\"\n");
        let read = PairRules::read(RuleFile::new("spec/shims/a..b.toml", text));
        read.map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(read("Tool.x", "Tool.y"), "");
    assert_eq!(read("Tool", "Instrument"), "");
    for (old, new) in [("Tool.x", "y"), ("x", "Tool.y")] {
        let said = read(old, new);
        assert!(said.starts_with("spec/shims/a..b.toml:2:"), "{said}");
        assert!(said.contains("as `Type.member`"), "{said}");
    }
}

#[test]
fn a_member_that_may_go_by_another_name_is_said_to() {
    let mut files = crate::specs::twin_directory().files().clone();
    let schema = files.get_mut("draft/schema.json").unwrap();
    let steps = "put Resource/properties/mediaType {\"type\": \"string\"}\n\
        take Resource/properties/mimeType";
    *schema = changed(&serde_json::from_str(schema).unwrap(), steps).to_string();
    let open = SpecGaps::of(&SpecDirectory::from_files(files).spec().unwrap());
    let [one] = &open.decisions[..] else {
        panic!("{:#?}", open.decisions);
    };
    says(
        &one.open,
        "`mimeType` of `Resource` is gone, and `mediaType` came",
    );
    says(
        &one.settle.stub,
        "old = \"Resource.mimeType\"\nnew = \"Resource.mediaType\"",
    );
    // Names without a word in common may be of two members.
    let steps = "put Resource/properties/colour {\"type\": \"string\"}\n\
        take Resource/properties/mimeType";
    let mut files = crate::specs::twin_directory().files().clone();
    let schema = files.get_mut("draft/schema.json").unwrap();
    *schema = changed(&serde_json::from_str(schema).unwrap(), steps).to_string();
    let open = SpecGaps::of(&SpecDirectory::from_files(files).spec().unwrap());
    let told: Vec<_> = (open.decisions.iter())
        .map(|one| {
            (
                one.place.as_str(),
                one.open.contains("a [[rename]] if they are one"),
            )
        })
        .collect();
    assert!(told.contains(&("Resource.colour", true)), "{told:?}");
    assert!(told.contains(&("Resource.mimeType", true)), "{told:?}");
}

/// A value that no receiver takes is not given to it.
#[test]
fn a_default_that_its_member_does_not_admit_is_refused() {
    let spec = crate::specs::twin();
    let models = Models::build(&spec).unwrap();
    let pair = RevisionPair::new("2025-11-25", "2026-07-28");
    let file = spec.rules.get(&pair.file());
    let with = |value: &str| {
        let text = (file.text).replacen(
            "up = { default = 0 }",
            &format!("up = {{ default = {value} }}"),
            1,
        );
        assert!(value == "0" || text != file.text);
        let planned =
            mcp_revisions_plans::plan_pair(&models, &pair, RuleFile::new(file.path.as_str(), text));
        planned.map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(with("0"), "");
    let below = with("-5");
    says(&below, "-5 does not keep `minimum: 0`");
    let text = with("\"soon\"");
    says(&text, "\"soon\" is not");
}

/// A proposed row has a text in the place of a value that a person has to choose: the member cannot have that text.
#[test]
fn a_default_that_is_still_to_be_filled_in_is_refused() {
    for (kind, told) in [
        (r#"{"type": "string"}"#, "{} is not a string"),
        (
            r#"{"type": "string", "format": "uri"}"#,
            "{} is not a string",
        ),
        (r#"{"type": ["string", "null"]}"#, "{} is not a string"),
        (r#"{"type": "integer"}"#, "\"\" is not an integer"),
        (
            r#"{"type": "array", "items": {"type": "string"}}"#,
            "\"\" is not",
        ),
        (r#""@Annotations""#, "\"\" is not `Annotations`"),
        (r#"{}"#, "`` is not a function"),
    ] {
        let mut spec = crate::specs::twin();
        let mut all = spec.revisions.iter_mut();
        let draft = all.find(|revision| revision.id == "draft").unwrap();
        let steps = format!("put Tool/properties/made {kind}\nrequire Tool made");
        crate::changes::apply(&mut draft.schema, &steps);
        let open = planned(&spec).open;
        let rows = open.iter().map(|open| open.settle.stub.as_str());
        let rows = rows.collect::<String>();
        // All but the value.
        let rows = (rows.replace("reason = \"\"", "reason = \"x\""))
            .replace("source = \"\"", "source = \"x\"")
            .replace("input = ''", "input = '{}'")
            .replace("output = ''", "output = '{}'");
        let said = planned_by(&spec, &rows).unwrap_err().to_string();
        says(&said, told);
    }
}

/// What is proposed works as it is written, once its reasons are given: of all changes together, each of which is asked about.
#[test]
fn a_proposed_row_settles_what_it_is_proposed_for() {
    let changes = [
        // A member that must be there, with a default, and one that may be there.
        (
            "Tool.rank",
            "put Tool/properties/rank {\"type\": \"integer\", \"default\": 3}\nrequire Tool rank",
        ),
        (
            "Tool.grade",
            "put Tool/properties/grade {\"type\": \"integer\"}",
        ),
        // Two places of one name, and a name that is a number.
        (
            "Tool.orderOf",
            "put Tool/properties/orderOf {\"type\": \"integer\"}\nput Tool/properties/order_of {\"type\": \"integer\"}",
        ),
        ("Tool.1a", "put Tool/properties/1a {\"type\": \"string\"}"),
        ("LoggingLevel|alert", "take LoggingLevel/enum/0"),
        // A `$ref` with another keyword beside it, and a keyword that JSON Schema does not have.
        (
            "Tool.annotations",
            "put Tool/properties/annotations {\"$ref\": \"#/$defs/ToolAnnotations\", \"required\": [\"title\"]}",
        ),
        (
            "/$defs/Tool/properties/title/x-alphabet",
            "put Tool/properties/title/x-alphabet \"latin\"",
        ),
        // Names and values with quotes.
        (
            "Tool.we\"ird",
            "put Tool/properties/we\"ird {\"type\": \"string\"}\nrequire Tool we\"ird",
        ),
        (
            "Tool.back\\slash",
            "put Tool/properties/back\\slash {\"type\": \"string\", \"default\": \"\\\"\"}\nrequire Tool back\\slash",
        ),
        ("Role|say \"x\"", "put Role/enum/- \"say \\\"x\\\"\""),
        (
            "Icon.a\nb\u{7f}",
            "put Icon {\"type\": \"object\", \"properties\": {\"src\": {\"type\": \"string\"}, \"a\\nb\\u007f\": {\"type\": \"string\"}}}",
        ),
        // A choice that is a constant in text.
        (
            "Tool.outputSchema",
            "put Tool/properties/outputSchema {\"anyOf\": [{\"type\": \"object\"}, {\"type\": \"string\", \"const\": \"none\"}]}",
        ),
        // A limit of a member that must be there, too, and of one that may be an object, too.
        (
            "Tool.description",
            "put Tool/properties/description/minLength 1\nrequire Tool description",
        ),
        (
            "Resource.uri",
            "put Resource/properties/uri {\"anyOf\": [{\"type\": \"string\", \"format\": \"iri\"}, {\"type\": \"object\", \"properties\": {\"href\": {\"type\": \"string\"}}, \"required\": [\"href\"]}]}",
        ),
        // A union of two definitions that parts.
        (
            "/$defs/SamplingMessage/properties/content",
            "take SamplingMessage/properties/content/anyOf/0",
        ),
    ];
    let mut files = crate::specs::twin_directory().files().clone();
    let schema = files.get_mut("draft/schema.json").unwrap();
    let steps = changes.map(|(_, steps)| steps).join("\n");
    *schema = changed(&serde_json::from_str(schema).unwrap(), &steps).to_string();
    let open = |files: &SortedMap<String, String>| {
        SpecGaps::of(&SpecDirectory::from_files(files.clone()).spec().unwrap())
    };
    let first = open(&files);
    // One step further is another question, or none; of a change there is one at each place.
    let asked = |open: &SpecGaps| -> BTreeSet<(String, String)> {
        let all = open.decisions.iter();
        all.map(|one| {
            let question = match one.question {
                QuestionKind::Change => String::new(),
                _ => one.open.clone(),
            };
            (format!("{} {}", one.scope, one.place), question)
        })
        .collect()
    };
    for (place, _) in changes {
        let mut places = first.decisions.iter().map(|one| &one.place);
        let is_asked = places.any(|asked| asked.split(", ").any(|one| one == place));
        assert!(is_asked, "{place} is not in {:#?}", asked(&first));
    }
    let mut directory = SpecDirectory::from_files(files);
    directory.scaffold(&first).unwrap();
    files = directory.files().clone();
    let mut number = 0;
    for (file, text) in files.iter_mut() {
        let lines = text.lines().map(|line| {
            number += 1;
            let value = match (file.as_str(), line.split(" = ").next().unwrap_or_default()) {
                ("docs.toml", _) => "Made up.".to_owned(),
                (_, "id" | "reason" | "source") => format!("made-up-{number}"),
                (_, "name") => format!("MadeUp{number}"),
                _ => format!("made_up_{number}"),
            };
            let filled = match file.ends_with("..draft.toml") {
                true => filled(line),
                false => line.to_owned(),
            };
            match filled.ends_with("= \"\"") || filled.contains(" = \"\" }") {
                true => filled.replacen("= \"\"", &format!("= {value:?}"), 1),
                false => filled,
            }
        });
        *text = lines.map(|line| format!("{line}\n")).collect();
    }
    let second = open(&files);
    let problems = second.problems.iter().map(ToString::to_string);
    // The doc line of a name that stood in for a better one goes with it.
    let problems: Vec<String> = problems
        .filter(|problem| !problem.starts_with("spec/docs.toml"))
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    let (first, second) = (asked(&first), asked(&second));
    let still: Vec<_> = first.intersection(&second).collect();
    assert!(still.is_empty(), "{still:#?}");
}

#[test]
fn a_proposed_row_says_what_it_comes_to() {
    let mut files = crate::specs::twin_directory().files().clone();
    let schema = files.get_mut("draft/schema.json").unwrap();
    let steps = "put Tool/properties/rank {\"type\": \"integer\", \"default\": 3}\nrequire Tool rank\n\
        require Prompt description\ntake ClientRequest/anyOf/0\ntake ServerNotification/anyOf/0";
    *schema = changed(&serde_json::from_str(schema).unwrap(), steps).to_string();
    let open = SpecGaps::of(&SpecDirectory::from_files(files).spec().unwrap());
    let stubs = open.decisions.iter().map(|one| one.settle.stub.as_str());
    let stubs = stubs.collect::<String>();
    // What the new revision always has is made anew, and so not carried; the others return no value.
    for said in [
        "down = { implied = 3 }\nseverity = \"semantic\"\ncarry = false\n",
        "at = \"Prompt.description\"\nup = { default = {} }\nseverity = \"semantic\"\ncarry = false\n",
        "input = '', output = 'rejected -32601' }",
        "input = '', output = 'dropped' }",
    ] {
        assert!(stubs.contains(said), "{said}\n{stubs}");
    }
}
