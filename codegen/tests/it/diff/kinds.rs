//! Each kind, provoked by one small change of a real schema, and recognised as just that; `rules` has those of the rule file.

use std::collections::BTreeSet;

use mcp_schema::diff::{Kind, Level, explain};
use serde_json::{Value, json};

use super::{diff_of, kinds_of, only_row, schema};

/// A change of the schema of 2025-11-25, and where the one row has to stand.
struct Case {
    kind: Kind,
    change: fn(&mut Value),
    path: &'static str,
    level: Level,
}

fn definition<'s>(schema: &'s mut Value, name: &str) -> &'s mut Value {
    &mut schema["$defs"][name]
}

fn list<'s>(schema: &'s mut Value, name: &str, keyword: &str) -> &'s mut Vec<Value> {
    definition(schema, name)[keyword].as_array_mut().unwrap()
}

fn cases() -> Vec<Case> {
    let case = |kind, path, level, change: fn(&mut Value)| Case {
        kind,
        change,
        path,
        level,
    };
    vec![
        case(
            Kind::MethodAdded,
            "S2C notifications/initialized",
            Level::Breaking,
            |schema| {
                list(schema, "ServerNotification", "anyOf")
                    .push(json!({"$ref": "#/$defs/InitializedNotification"}));
            },
        ),
        case(Kind::MethodRemoved, "C2S ping", Level::Breaking, |schema| {
            list(schema, "ClientRequest", "anyOf")
                .retain(|one| one["$ref"] != "#/$defs/PingRequest");
        }),
        case(
            Kind::MethodRechanneled,
            "S2C ping",
            Level::Breaking,
            |schema| {
                let requests = schema["$defs"]
                    .as_object_mut()
                    .unwrap()
                    .remove("ServerRequest")
                    .unwrap();
                schema["$defs"]["InputRequest"] = requests;
            },
        ),
        case(
            Kind::Moved,
            "S2C tools/list result $.tools[].annotations.execution",
            Level::Risky,
            |schema| {
                let moved = definition(schema, "Tool")["properties"]
                    .as_object_mut()
                    .unwrap()
                    .remove("execution")
                    .unwrap();
                definition(schema, "ToolAnnotations")["properties"]["execution"] = moved;
            },
        ),
        case(
            Kind::MemberAddedOptional,
            "S2C tools/list result $.tools[].flavour",
            Level::Compatible,
            |schema| {
                definition(schema, "Tool")["properties"]["flavour"] = json!({"type": "string"});
            },
        ),
        case(
            Kind::MemberAddedRequired,
            "S2C tools/list result $.tools[].flavour",
            Level::Breaking,
            |schema| {
                list(schema, "Tool", "required").insert(0, json!("flavour"));
            },
        ),
        case(
            Kind::MemberRemoved,
            "S2C tools/list result $.tools[].icons",
            Level::Risky,
            |schema| {
                definition(schema, "Tool")["properties"]
                    .as_object_mut()
                    .unwrap()
                    .remove("icons");
            },
        ),
        case(
            Kind::BecameRequired,
            "S2C tools/list result $.tools[].description",
            Level::Breaking,
            |schema| {
                list(schema, "Tool", "required").insert(0, json!("description"));
            },
        ),
        case(
            Kind::BecameOptional,
            "S2C tools/list result $.tools[].name",
            Level::Breaking,
            |schema| {
                list(schema, "Tool", "required").retain(|name| name != "name");
            },
        ),
        case(
            Kind::TypeWidened,
            "S2C tools/list result $.tools[].description",
            Level::Breaking,
            |schema| {
                definition(schema, "Tool")["properties"]["description"]["type"] =
                    json!(["null", "string"]);
            },
        ),
        case(
            Kind::TypeNarrowed,
            "C2S notifications/progress params $.progressToken",
            Level::Breaking,
            |schema| {
                definition(schema, "ProgressToken")["type"] = json!("string");
            },
        ),
        case(
            Kind::TypeChanged,
            "S2C tools/list result $.tools[].description",
            Level::Breaking,
            |schema| {
                definition(schema, "Tool")["properties"]["description"]["type"] = json!("integer");
            },
        ),
        case(
            Kind::UnionMemberAdded,
            "S2C prompts/get result $.messages[].content{type=tool_use}",
            Level::Breaking,
            |schema| {
                list(schema, "ContentBlock", "anyOf")
                    .insert(0, json!({"$ref": "#/$defs/ToolUseContent"}));
            },
        ),
        case(
            Kind::UnionMemberRemoved,
            "S2C prompts/get result $.messages[].content{type=audio}",
            Level::Breaking,
            |schema| {
                list(schema, "ContentBlock", "anyOf")
                    .retain(|one| one["$ref"] != "#/$defs/AudioContent");
            },
        ),
        case(
            Kind::EnumValueAdded,
            "C2S logging/setLevel params $.level",
            Level::Breaking,
            |schema| {
                list(schema, "LoggingLevel", "enum").push(json!("whisper"));
            },
        ),
        case(
            Kind::EnumValueRemoved,
            "C2S logging/setLevel params $.level",
            Level::Breaking,
            |schema| {
                list(schema, "LoggingLevel", "enum").retain(|level| level != "notice");
            },
        ),
        case(
            Kind::ConstChanged,
            "S2C tools/list result $.tools[].inputSchema.type",
            Level::Breaking,
            |schema| {
                definition(schema, "Tool")["properties"]["inputSchema"]["properties"]["type"]["const"] =
                    json!("record");
            },
        ),
        case(
            Kind::ConstraintChanged,
            "S2C tools/call result ${content}.content[]{type=audio}.annotations.priority",
            Level::Breaking,
            |schema| {
                definition(schema, "Annotations")["properties"]["priority"]["maximum"] = json!(2);
            },
        ),
        case(
            Kind::OpennessChanged,
            "S2C tools/list result $.tools[]",
            Level::Breaking,
            |schema| {
                definition(schema, "Tool")["additionalProperties"] = json!(false);
            },
        ),
        case(
            Kind::Deprecated,
            "S2C tools/list result $.tools[].title",
            Level::Compatible,
            |schema| {
                definition(schema, "Tool")["properties"]["title"]["deprecated"] = json!(true);
            },
        ),
        case(
            Kind::ErrorCodeRenumbered,
            "S2C * error ${URLElicitationRequired}.code",
            Level::Breaking,
            |schema| {
                let error =
                    &mut definition(schema, "URLElicitationRequiredError")["properties"]["error"];
                error["allOf"][1]["properties"]["code"]["const"] = json!(-32043);
            },
        ),
        case(
            Kind::ErrorCodeRemoved,
            "S2C * error ${URLElicitationRequired}.code",
            Level::Risky,
            |schema| {
                schema["$defs"]
                    .as_object_mut()
                    .unwrap()
                    .remove("URLElicitationRequiredError");
            },
        ),
    ]
}

#[test]
fn one_change_of_a_schema_is_one_kind() {
    for Case {
        kind,
        change,
        path,
        level,
    } in cases()
    {
        let old = schema("2025-11-25");
        let mut new = old.clone();
        change(&mut new);
        let diff = diff_of(&old, &new);
        let row = only_row(&diff, kind, path);
        assert_eq!(row.level, level, "{kind}");
        // A change in a shared definition is told once; messages and values have a row each.
        if !matches!(kind, Kind::MethodRechanneled) {
            assert_eq!(diff.rows.len(), 1, "{kind}: {:#?}", diff.rows);
        }
        let undone = diff_of(&new, &old);
        assert!(
            undone.rows.iter().all(|row| kind.is_undone_by(row.kind)),
            "{kind} undone: {:?}",
            kinds_of(&undone)
        );
    }
}

#[test]
fn a_shared_definition_is_told_once_with_all_its_paths() {
    let old = schema("2025-11-25");
    let mut new = old.clone();
    definition(&mut new, "Annotations")["properties"]["colour"] = json!({"type": "string"});
    let diff = diff_of(&old, &new);
    assert_eq!(diff.rows.len(), 1);
    let paths: BTreeSet<String> = diff.rows[0].paths.iter().map(ToString::to_string).collect();
    for path in [
        "S2C resources/list result $.resources[].annotations.colour",
        "S2C prompts/get result $.messages[].content{type=text}.annotations.colour",
        "C2S sampling/createMessage result ${content}.content{type=image}.annotations.colour",
    ] {
        assert!(paths.contains(path), "{path} in {paths:#?}");
    }
    assert!(paths.len() > 20);
}

#[test]
fn a_choice_that_is_put_in_front_is_one_added_choice() {
    let old = schema("2025-11-25");
    let mut new = old.clone();
    let blocks = list(&mut new, "ContentBlock", "anyOf");
    blocks.reverse();
    assert_eq!(
        diff_of(&old, &new).rows,
        [],
        "the order of choices says nothing"
    );
}

#[test]
fn fixed_values_that_become_any_text_are_wider_and_the_other_way_round_narrower() {
    let old = schema("2025-11-25");
    let mut new = old.clone();
    let level = definition(&mut new, "LoggingLevel").as_object_mut();
    level.unwrap().remove("enum");
    let path = "C2S logging/setLevel params $.level";
    only_row(&diff_of(&old, &new), Kind::TypeWidened, path);
    only_row(&diff_of(&new, &old), Kind::TypeNarrowed, path);
}

#[test]
fn a_choice_with_another_tag_is_another_choice_however_alike_the_rest() {
    let old = schema("2025-11-25");
    let mut new = old.clone();
    // All that is left of images is called video: the same members, the same name, one constant.
    definition(&mut new, "ImageContent")["properties"]["type"]["const"] = json!("video");
    let diff = diff_of(&old, &new);
    assert_eq!(
        kinds_of(&diff).into_iter().collect::<BTreeSet<_>>(),
        BTreeSet::from([Kind::UnionMemberAdded, Kind::UnionMemberRemoved]),
        "{:#?}",
        diff.rows
    );
    let said: BTreeSet<String> = (diff.rows.iter().flat_map(|row| &row.paths))
        .map(ToString::to_string)
        .collect();
    for tag in ["image", "video"] {
        let path = format!("S2C prompts/get result $.messages[].content{{type={tag}}}");
        assert!(said.contains(&path), "{path} in {said:#?}");
    }
}

#[test]
fn a_renamed_definition_is_a_rename() {
    let old = schema("2025-11-25");
    let new: Value =
        serde_json::from_str(&old.to_string().replace("ToolAnnotations", "ToolHints")).unwrap();
    let diff = diff_of(&old, &new);
    assert_eq!(kinds_of(&diff), [Kind::DefinitionRenamed]);
    assert_eq!(diff.rows[0].level, Level::Representation);
    assert_eq!(
        diff.rows[0].subject.as_deref(),
        Some("ToolAnnotations -> ToolHints")
    );
}

#[test]
fn every_kind_is_provoked_and_explained() {
    let mut provoked: BTreeSet<Kind> = cases().iter().map(|case| case.kind).collect();
    provoked.extend([
        Kind::ErrorCodeAdded,
        Kind::ErrorCodeChanged,
        Kind::HeaderAdded,
        Kind::HeaderRemoved,
        Kind::HeaderChanged,
        Kind::RuleAdded,
        Kind::RuleRemoved,
        Kind::RuleChanged,
        Kind::Undeprecated,
        Kind::DefinitionRenamed,
    ]);
    for kind in Kind::ALL {
        assert!(provoked.contains(kind), "{kind} is not provoked");
        let told = explain(*kind);
        for text in [told.means, told.breaks, told.todo, told.example] {
            assert!(!text.is_empty(), "{kind}");
        }
        assert_eq!(kind.id().parse::<Kind>().unwrap(), *kind);
    }
}
