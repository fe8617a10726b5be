//! An extension whose feature was in the core before, or is in a later core again: the messages are converted by rules, without
//! any code.

use crate::says;
use mcp_revisions_schema::sorted::SortedMap;

use mcp_codegen::generate::{registry_crate, shims_crate, type_crates};
use mcp_codegen::import::{SpecDirectory, SpecGaps};
use mcp_revisions_schema::decision::Scope;
use mcp_revisions_schema::{Models, Spec};

use crate::mutants::compiled::placed;
use crate::specs;
use crate::workspace::Workspace;

/// The core that had the feature: one type of result for all faces.
const BEFORE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"_meta": {"type": "object", "additionalProperties": {}}}, "additionalProperties": {}},
    "Face": {"enum": ["one", "six"], "type": "string"},
    "ClientRequest": {"anyOf": [{"$ref": "#/$defs/RollRequest"}, {"$ref": "#/$defs/StayRequest"}]},
    "RollRequest": {"type": "object", "properties": {"method": {"const": "dice/roll", "type": "string"}, "params": {"type": "object", "properties": {"corners": {"type": "integer"}}, "required": ["corners"]}}, "required": ["method", "params"]},
    "RollResult": {"type": "object", "properties": {"face": {"$ref": "#/$defs/Face"}, "luck": {"type": "string"}}, "required": ["face"]},
    "StayRequest": {"type": "object", "properties": {"method": {"const": "stay", "type": "string"}}, "required": ["method"]},
    "Capabilities": {"type": "object", "properties": {"extensions": {"type": "object", "additionalProperties": {"$ref": "#/$defs/JSONObject"}}}},
    "JSONObject": {"type": "object", "additionalProperties": {}},
    "StayResult": {"type": "object", "properties": {"capabilities": {"$ref": "#/$defs/Capabilities"}}}
  }
}"##;

/// The core without it.
const CORE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"_meta": {"type": "object", "additionalProperties": {}}}, "additionalProperties": {}},
    "ClientRequest": {"anyOf": [{"$ref": "#/$defs/StayRequest"}]},
    "StayRequest": {"type": "object", "properties": {"method": {"const": "stay", "type": "string"}}, "required": ["method"]},
    "Capabilities": {"type": "object", "properties": {"extensions": {"type": "object", "additionalProperties": {"$ref": "#/$defs/JSONObject"}}}},
    "JSONObject": {"type": "object", "additionalProperties": {}},
    "StayResult": {"type": "object", "properties": {"capabilities": {"$ref": "#/$defs/Capabilities"}}}
  }
}"##;

/// The extension: a type for each face, another name for the corners, and a constant that tells its results.
const DICE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "RollRequest": {"type": "object", "properties": {"method": {"const": "dice/roll", "type": "string"}, "params": {"type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"]}}, "required": ["method", "params"]},
    "RollResult": {"anyOf": [
      {"type": "object", "properties": {"face": {"type": "string", "const": "six"}, "kind": {"type": "string", "const": "roll"}, "prize": {"type": "string"}, "luck": {"type": "string"}}, "required": ["face", "kind", "prize"]},
      {"type": "object", "properties": {"face": {"type": "string", "const": "one"}, "kind": {"type": "string", "const": "roll"}}, "required": ["face", "kind"]}
    ]}
  }
}"##;

const FACTS: &str = r#"
identifier = "com.example/dice"

[[state]]
id = "2027-01-01"
status = "released"
revision = "2027-01-01"
reference = "https://example.com/dice#{anchor}"

[[method]]
name = "dice/roll"
sender = "client"

[core]
revision = "2026-12-12"
methods = ["dice/roll"]
"#;

const GONE: &str = r#"
[[method]]
name = "dice/roll"
id = "dice-unknown"
action = { reject = { code = -32601, message = "dice left the core" } }
reason = "dice left the core"
source = "the page"
example = [{ params = "dice/roll", way = "up", input = '{"corners":6}', output = 'rejected -32601' }]
"#;

const RULES: &str = r#"
[[rename]]
old = "RollRequestParams.corners"
new = "RollRequestParams.sides"
reason = "a die has as many"

[[rename]]
old = "RollResult"
new = ["RollResultOne", "RollResultSix"]
reason = "each face brings something else"

[[rule]]
id = "luck"
at = "RollResult.luck"
up = "drop"
severity = "cosmetic"
reason = "who throws a one has none"
source = "the page"
example = [{ result = "dice/roll", input = '{"face":"one","luck":"none"}', output = '{"face":"one","kind":"roll"}', loses = ["/luck"] }]

[[rule]]
id = "prize"
at = "RollResultSix.prize"
up = { default = "a throw" }
down = { implied = "a throw" }
severity = "semantic"
reason = "the core had one prize"
source = "the page"
example = [
  { result = "dice/roll", way = "up", input = '{"face":"six"}', output = '{"face":"six","kind":"roll","prize":"a throw"}' },
  { result = "dice/roll", way = "down", input = '{"face":"six","kind":"roll","prize":"a car"}', output = '{"face":"six"}', loses = ["/prize"] },
]
"#;

fn files() -> SortedMap<String, String> {
    specs::files(&[
        (
            "revisions.toml",
            &specs::released(&["2026-12-12", "2027-01-01"]),
        ),
        (
            "names.toml",
            "[types]\nResult = \"AnyResult\"\nJSONObject = \"JsonObject\"\n",
        ),
        (
            "shapes.toml",
            "[[shape]]\nat = \"JSONObject\"\nas = \"object\"\nreason = \"any object\"\n",
        ),
        ("2026-12-12/schema.json", BEFORE),
        ("2027-01-01/schema.json", CORE),
        ("extensions/dice/2027-01-01/schema.json", DICE),
        ("extensions/dice/extension.toml", FACTS),
        ("shims/2026-12-12..2027-01-01.toml", GONE),
        ("extensions/dice/core..2027-01-01.toml", RULES),
    ])
}

/// What its users would run: throws on both ways, by the table of the extension.
const USE: &str = r##"#![cfg(test)]
use mcp_revisions_tables::{Context, Extension, Part, Subject};

fn came_to(part: Part, [from, to]: [usize; 2], text: &str) -> (String, Vec<String>) {
    let tables = Extension::ALL[0].core.expect("dice were in a core");
    let mut cx = Context::default();
    let result = tables.convert(Subject::Method("dice/roll", part, None), from, to, text, &mut cx);
    let outcome = cx.finish(result.expect(text));
    let lost = outcome.losses().iter().map(|loss| loss.pointer().to_string()).collect();
    let value = outcome.value().expect(text);
    (value.into_text(), lost)
}

const UP: [usize; 2] = [0, 1];
const DOWN: [usize; 2] = [1, 0];

#[test]
fn a_throw_goes_to_the_extension_and_back() {
    for (part, way, text, expected, lost) in [
        (Part::Params, UP, r#"{"corners":6}"#, r#"{"sides":6}"#, None),
        (Part::Params, DOWN, r#"{"sides":6}"#, r#"{"corners":6}"#, None),
        // A member that is unknown here is not what the other side calls by that name.
        (Part::Params, UP, r#"{"corners":6,"sides":7}"#, r#"{"sides":6}"#, Some("/sides")),
        (Part::Result, UP, r#"{"face":"six","luck":"much"}"#, r#"{"face":"six","kind":"roll","luck":"much","prize":"a throw"}"#, None),
        (Part::Result, UP, r#"{"face":"one","luck":"none"}"#, r#"{"face":"one","kind":"roll"}"#, Some("/luck")),
        (Part::Result, UP, r#"{"face":"one","kind":"fall"}"#, r#"{"face":"one","kind":"roll"}"#, Some("/kind")),
        (Part::Result, DOWN, r#"{"face":"six","kind":"roll","prize":"a car"}"#, r#"{"face":"six"}"#, Some("/prize")),
        (Part::Result, DOWN, r#"{"face":"one","kind":"roll"}"#, r#"{"face":"one"}"#, None),
    ] {
        let (value, losses) = came_to(part, way, text);
        assert_eq!(value, expected, "{text}");
        assert_eq!(losses.first().map(String::as_str), lost, "{text}");
    }
}

#[test]
fn an_object_is_no_value_of_a_type_for_another_face() {
    let tables = Extension::ALL[0].core.expect("dice were in a core");
    let six = mcp_2026_12_12::RollResult::new(mcp_2026_12_12::Face::Six);
    let mut cx = Context::default();
    let one: Result<mcp_ext_dice::RollResultOne, _> =
        tables.convert_value((0, "RollResult"), (1, "RollResultOne"), six, &mut cx);
    assert!(one.is_err(), "{one:?}");
}
"##;

#[test]
fn messages_of_a_core_and_of_its_extension_are_converted_by_rules_alone() {
    let spec = Spec::from_files(files()).unwrap();
    compiles("extension-of-core", &spec, USE);
}

/// Generates and compiles what a spec comes to, in a workspace of this name, with these tests of a user.
fn compiles(workspace: &str, spec: &Spec, user: &str) {
    let models = Models::build(spec).unwrap();
    let plans =
        mcp_revisions_plans::plan_shims(&models, spec).unwrap_or_else(|error| panic!("{error}"));
    let (mut crates, once) = type_crates(&models);
    crates.push(shims_crate(&models, &plans, &once));
    crates.push(registry_crate(&models, &plans, &once));
    let mut workspace = Workspace::new(workspace);
    let mut uses = Vec::new();
    for one in crates {
        let one = placed(one.unwrap());
        let folder = format!("generated/{}", one.package);
        workspace.add(&folder, &one);
        uses.push((one.package, folder));
    }
    workspace.add_user("throws", &uses, user);
    if let Err(said) = workspace.cargo(&["test", "--package", "throws"]) {
        panic!("{said}");
    }
}

/// Without its rules the pair is not planned: each question has the file that answers it, and the row.
#[test]
fn a_difference_from_the_core_that_no_rule_answers_stops_the_generator_and_is_asked() {
    let mut files = files();
    let file = "extensions/dice/core..2027-01-01.toml";
    files.remove(file);
    let mut directory = SpecDirectory::from_files(files);
    let spec = directory.spec().unwrap();
    let models = Models::build(&spec).unwrap();
    let refused = mcp_revisions_plans::plan_shims(&models, &spec)
        .unwrap_err()
        .to_string();
    for told in [
        "extensions/dice/core..2027-01-01.toml: RollRequestParams.sides",
        "[[rule]]",
        "RollResult",
    ] {
        assert!(refused.contains(told), "{told}: {refused}");
    }
    let open = SpecGaps::of(&spec);
    let pair = Scope::Pair(models.extension_pairs()[0].clone());
    let asked = open.decisions.iter().filter(|one| one.scope == pair);
    assert!(asked.clone().count() > 0, "{:?}", open.decisions);
    directory.scaffold(&open).unwrap();
    let written = &directory.files()[file];
    says(written, "at = \"RollRequestParams.sides\"");
}

#[test]
fn rules_for_an_extension_that_was_in_no_core_are_an_error() {
    let mut files = files();
    let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
    let (without, _) = facts.split_once("[core]").unwrap();
    *facts = without.to_owned();
    let spec = Spec::from_files(files).unwrap();
    let models = Models::build(&spec).unwrap();
    let refused = mcp_revisions_plans::plan_shims(&models, &spec)
        .unwrap_err()
        .to_string();
    says(&refused, "core..2027-01-01.toml");
}

#[test]
fn an_extension_that_is_called_like_a_revision_is_an_error() {
    let mut files = files();
    for file in ["2027-01-01/schema.json", "extension.toml"] {
        let text = files.remove(&format!("extensions/dice/{file}")).unwrap();
        files.insert(format!("extensions/2026-12-12/{file}"), text);
    }
    let refused = Spec::from_files(files).unwrap_err().to_string();
    says(&refused, "a revision has that id");
}

/// The later core: it has the dice of the extension and a capability for them, and says in other words how many sides they have.
fn later() -> String {
    let mut schema: serde_json::Value = serde_json::from_str(CORE).unwrap();
    let dice: serde_json::Value = serde_json::from_str(&DICE.replace("sides", "faces")).unwrap();
    let definitions = schema["$defs"].as_object_mut().unwrap();
    definitions.extend(dice["$defs"].as_object().unwrap().clone());
    let requests = definitions["ClientRequest"]["anyOf"]
        .as_array_mut()
        .unwrap();
    requests.push(serde_json::json!({"$ref": "#/$defs/RollRequest"}));
    definitions["Capabilities"]["properties"]["dice"] = serde_json::json!({
        "type": "object", "properties": {"luck": {"type": "boolean"}}
    });
    schema.to_string()
}

const TAKEN_BACK: &str = r#"
[[method]]
name = "dice/roll"
id = "dice-of-extension"
action = { reject = { code = -32601, message = "dice are an extension of 2027-01-01" } }
reason = "dice are those of the extension"
source = "the page"
example = [{ params = "dice/roll", way = "down", input = '{"faces":6}', output = 'rejected -32601' }]
"#;

const CAPABILITY: &str = r#"
[[rule]]
id = "dice-capability"
at = "Capabilities.dice"
up = { entry = { of = "extensions", name = "com.example/dice" } }
down = { entry = { of = "extensions", name = "com.example/dice" } }
severity = "semantic"
reason = "peers of 2027-01-01 declare dice as an extension"
source = "the page"
example = [
  { type = "Capabilities", way = "up", input = '{"extensions":{"com.example/dice":{"luck":true}}}', output = '{"dice":{"luck":true}}' },
  { type = "Capabilities", way = "down", input = '{"dice":{}}', output = '{"extensions":{"com.example/dice":{}}}' },
]
"#;

const SIDES: &str = r#"
[[rename]]
old = "RollRequestParams.sides"
new = "RollRequestParams.faces"
reason = "both count the same"
"#;

/// The files of a spec whose latest core has the dice again.
fn taken_back() -> SortedMap<String, String> {
    let mut files = files();
    let mut put = |name: &str, text: String| drop(files.insert(name.to_owned(), text));
    let ids = ["2026-12-12", "2027-01-01", "2028-02-02"];
    put("revisions.toml", specs::released(&ids));
    put("2028-02-02/schema.json", later());
    put(
        "shims/2027-01-01..2028-02-02.toml",
        format!("{TAKEN_BACK}{CAPABILITY}"),
    );
    put("extensions/dice/2027-01-01..core.toml", SIDES.to_owned());
    let facts = format!("{FACTS}\n[later-core]\nrevision = \"2028-02-02\"\n");
    put("extensions/dice/extension.toml", facts);
    files
}

/// What its users would run: throws between a peer that has dice in its core and one that has them as an extension.
const USE_LATER: &str = r##"#![cfg(test)]
use mcp_revisions_tables::{Context, Extension, Part, Subject};

const BEFORE: usize = 0;
const DICE: usize = 1;
const LATER: usize = 2;

fn came_to(part: Part, [from, to]: [usize; 2], text: &str) -> (String, Vec<String>) {
    let tables = Extension::ALL[0].later_core.expect("dice are in a later core");
    let ids: Vec<&str> = tables.revisions.iter().map(|row| row.id).collect();
    assert_eq!(ids, ["2026-12-12", "dice", "2028-02-02"]);
    let mut cx = Context::default();
    let result = tables.convert(Subject::Method("dice/roll", part, None), from, to, text, &mut cx);
    let outcome = cx.finish(result.expect(text));
    let lost = outcome.losses().iter().map(|loss| loss.pointer().to_string()).collect();
    (outcome.value().expect(text).into_text(), lost)
}

#[test]
fn a_throw_goes_to_the_later_core_and_back() {
    for (part, way, text, expected) in [
        (Part::Params, [DICE, LATER], r#"{"sides":6,"wish":1.0}"#, r#"{"faces":6,"wish":1.0}"#),
        (Part::Params, [LATER, DICE], r#"{"faces":6}"#, r#"{"sides":6}"#),
        (Part::Result, [DICE, LATER], r#"{"face":"six","kind":"roll","prize":"a car"}"#, r#"{"face":"six","kind":"roll","prize":"a car"}"#),
        (Part::Result, [LATER, DICE], r#"{"face":"one","kind":"roll"}"#, r#"{"face":"one","kind":"roll"}"#),
    ] {
        let (value, lost) = came_to(part, way, text);
        assert_eq!((value.as_str(), lost.len()), (expected, 0), "{text}");
    }
    let (value, lost) = came_to(Part::Params, [DICE, LATER], r#"{"sides":6,"faces":7}"#);
    assert_eq!((value.as_str(), &lost[..]), (r#"{"faces":6}"#, &["/faces".to_owned()][..]));
}

/// What a peer declares in the words of the one revision is what the other one looks for.
#[test]
fn a_capability_of_the_core_is_an_entry_of_the_extensions_before() {
    let came_to = |[from, to]: [usize; 2], text: &str| {
        let mut cx = Context::default();
        let subject = Subject::Method("stay", Part::Result, None);
        let outcome = mcp_revisions_tables::values::TABLES.convert(subject, from, to, text, &mut cx);
        let outcome = cx.finish(outcome.expect(text));
        let lost: Vec<String> = outcome.losses().iter().map(|loss| loss.pointer().to_string()).collect();
        (outcome.value().expect(text).into_text(), lost)
    };
    for (text, expected) in [
        (r#"{"capabilities":{"extensions":{"com.example/dice":{"luck":true}}}}"#, r#"{"capabilities":{"dice":{"luck":true}}}"#),
        (r#"{"capabilities":{"extensions":{"com.example/cards":{"n":1.0},"com.example/dice":{}}}}"#, r#"{"capabilities":{"dice":{},"extensions":{"com.example/cards":{"n":1.0}}}}"#),
        (r#"{"capabilities":{"extensions":{}}}"#, r#"{"capabilities":{"extensions":{}}}"#),
        (r#"{"capabilities":{}}"#, r#"{"capabilities":{}}"#),
    ] {
        let (there, lost) = came_to([1, 2], text);
        assert_eq!((there.as_str(), lost.len()), (expected, 0), "{text}");
        let (back, lost) = came_to([2, 1], &there);
        assert_eq!((back.as_str(), lost.len()), (text, 0), "{text}");
    }
    // What does not come back as it was is told.
    for (way, text, expected, lost) in [
        ([1, 2], r#"{"capabilities":{"dice":{"luck":true}}}"#, r#"{"capabilities":{}}"#, "/capabilities/dice"),
        ([1, 2], r#"{"capabilities":{"extensions":{"com.example/dice":{"luck":"much"}}}}"#, r#"{"capabilities":{}}"#, "/capabilities/extensions/com.example~1dice"),
        ([2, 1], r#"{"capabilities":{"dice":{},"extensions":{"com.example/dice":{"luck":true}}}}"#, r#"{"capabilities":{"extensions":{"com.example/dice":{"luck":true}}}}"#, "/capabilities/dice"),
        ([2, 1], r#"{"capabilities":{"dice":{},"extensions":{}}}"#, r#"{"capabilities":{"extensions":{"com.example/dice":{}}}}"#, "/capabilities/extensions"),
    ] {
        let (value, losses) = came_to(way, text);
        assert_eq!((value.as_str(), &losses[..]), (expected, &[lost.to_owned()][..]), "{text}");
    }
}

/// A peer of the core before and one of the core after understand each other as well as the rules of both steps say.
#[test]
fn a_throw_goes_from_the_earlier_core_to_the_later_one_and_back() {
    let (up, down) = ([BEFORE, LATER], [LATER, BEFORE]);
    for (part, way, text, expected, losses) in [
        (Part::Params, up, r#"{"corners":6}"#, r#"{"faces":6}"#, None),
        (Part::Params, down, r#"{"faces":6}"#, r#"{"corners":6}"#, None),
        (Part::Result, up, r#"{"face":"six","luck":"much"}"#, r#"{"face":"six","kind":"roll","luck":"much","prize":"a throw"}"#, None),
        (Part::Result, down, r#"{"face":"six","kind":"roll","luck":"much","prize":"a throw"}"#, r#"{"face":"six","luck":"much"}"#, None),
        (Part::Result, up, r#"{"face":"one","luck":"none"}"#, r#"{"face":"one","kind":"roll"}"#, Some("/luck")),
        (Part::Result, down, r#"{"face":"six","kind":"roll","prize":"a car"}"#, r#"{"face":"six"}"#, Some("/prize")),
    ] {
        let (value, lost) = came_to(part, way, text);
        assert_eq!(value, expected, "{text}");
        assert_eq!(lost.iter().map(String::as_str).collect::<Vec<_>>(), losses.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn the_earlier_core_is_found_beside_the_later_one() {
    let tables = Extension::ALL[0].core.expect("dice were in a core");
    let ids: Vec<&str> = tables.revisions.iter().map(|row| row.id).collect();
    assert_eq!(ids, ["2026-12-12", "dice"]);
}
"##;

#[test]
fn messages_of_an_extension_and_of_the_later_core_that_took_it_back_are_converted_by_rules_alone() {
    let spec = Spec::from_files(taken_back()).unwrap();
    compiles("extension-in-later-core", &spec, USE_LATER);
}

/// Without its rules the pair is asked about like any other, in the folder of the extension.
#[test]
fn a_difference_from_the_later_core_that_no_rule_answers_stops_the_generator() {
    let mut files = taken_back();
    files.remove("extensions/dice/2027-01-01..core.toml");
    let spec = Spec::from_files(files).unwrap();
    let models = Models::build(&spec).unwrap();
    let refused = mcp_revisions_plans::plan_shims(&models, &spec)
        .unwrap_err()
        .to_string();
    says(
        &refused,
        "extensions/dice/2027-01-01..core.toml: RollRequestParams.",
    );
}

#[test]
fn a_later_core_that_is_unknown_earlier_or_without_the_feature_is_an_error() {
    for (revision, told) in [
        ("2029-01-01", "no revision `2029-01-01`"),
        ("2026-12-12", "`2026-12-12` is not later than 2027-01-01"),
        ("2027-01-01", "`2027-01-01` is not later than 2027-01-01"),
    ] {
        let mut files = taken_back();
        let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
        *facts = facts.replace("\"2028-02-02\"", &format!("{revision:?}"));
        says(&Spec::from_files(files).unwrap_err().to_string(), told);
    }
    let mut files = taken_back();
    files.insert("2028-02-02/schema.json".to_owned(), CORE.to_owned());
    let refused = Spec::from_files(files.clone()).unwrap_err().to_string();
    says(
        &refused,
        "revision `2028-02-02` has no method of the extension",
    );
    // A draft moves, and is passed over where it does not have the feature (yet).
    let revisions = files.get_mut("revisions.toml").unwrap();
    let (released, draft) = revisions.rsplit_once("\"released\"").unwrap();
    *revisions = format!("{released}\"draft\"{draft}");
    for file in [
        "shims/2027-01-01..2028-02-02.toml",
        "extensions/dice/2027-01-01..core.toml",
    ] {
        files.remove(file);
    }
    let spec = Spec::from_files(files).unwrap();
    assert!(spec.extensions[0].later_core.is_none());
}

/// A definition that the later core has as the extension has it needs no doc line of its own.
#[test]
fn a_core_that_takes_definitions_back_has_their_doc_lines() {
    let mut files = taken_back();
    let docs = "[RollRequest]\ndoc = \"Asks for a throw.\"\n\n[RollRequestParams]\ndoc = \"A throw.\"\n\n[RollRequestParams.members]\nsides = \"How many sides the die has.\"\n\n[RollResultSix]\ndoc = \"A six.\"\n\n[RollResultSix.members]\nprize = \"What it wins.\"\n";
    files.insert("extensions/dice/docs.toml".to_owned(), docs.to_owned());
    let spec = Spec::from_files(files).unwrap();
    let models = Models::build(&spec).unwrap();
    let of_later = models.undocumented();
    let open: Vec<String> = (of_later.iter().filter(|one| one.of == "2028-02-02"))
        .flat_map(|one| one.names())
        .collect();
    for known in ["RollResultSix", "RollResultSix.prize"] {
        assert!(!open.iter().any(|name| name == known), "{known}: {open:?}");
    }
    // This one differs by a name, so nothing says that the line holds for it.
    for asked in [
        "RollRequestParams",
        "RollRequestParams.faces",
        "RollResultSix.luck",
    ] {
        assert!(open.iter().any(|name| name == asked), "{asked}: {open:?}");
    }
}

#[test]
fn an_entry_of_what_is_no_map_is_refused() {
    for (found, put, told) in [
        (
            "of = \"extensions\"",
            "of = \"dice\"",
            "`dice` is not an optional map of JSON in both revisions",
        ),
        ("severity = \"semantic\"\n", "", "what kind of loss"),
    ] {
        let mut files = taken_back();
        let rules = files.get_mut("shims/2027-01-01..2028-02-02.toml").unwrap();
        *rules = rules.replace(found, put);
        let spec = Spec::from_files(files).unwrap();
        let models = Models::build(&spec).unwrap();
        says(
            &mcp_revisions_plans::plan_shims(&models, &spec)
                .unwrap_err()
                .to_string(),
            told,
        );
    }
}
