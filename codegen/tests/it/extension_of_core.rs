//! An extension whose feature was in the core before: the messages of the two are converted by rules, without any code.

use crate::says;
use mcp_revisions_schema::sorted::SortedMap;

use mcp_codegen::generate::{registry_crate, shims_crate, type_crates};
use mcp_revisions_schema::decision::Scope;
use mcp_revisions_schema::open::SpecGaps;
use mcp_revisions_schema::spec::SpecDirectory;
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
    "StayResult": {"$ref": "#/$defs/Result"}
  }
}"##;

/// The core without it.
const CORE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"_meta": {"type": "object", "additionalProperties": {}}}, "additionalProperties": {}},
    "ClientRequest": {"anyOf": [{"$ref": "#/$defs/StayRequest"}]},
    "StayRequest": {"type": "object", "properties": {"method": {"const": "stay", "type": "string"}}, "required": ["method"]},
    "StayResult": {"$ref": "#/$defs/Result"}
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
loss = "cosmetic"
reason = "who throws a one has none"
source = "the page"
example = [{ result = "dice/roll", input = '{"face":"one","luck":"none"}', output = '{"face":"one","kind":"roll"}', loses = ["/luck"] }]

[[rule]]
id = "prize"
at = "RollResultSix.prize"
up = { default = "a throw" }
down = { implied = "a throw" }
loss = "semantic"
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
        ("names.toml", "[types]\nResult = \"AnyResult\"\n"),
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
    let models = Models::build(&spec).unwrap();
    let plans = models
        .plan_shims(&spec)
        .unwrap_or_else(|error| panic!("{error}"));
    let (mut crates, once) = type_crates(&models);
    crates.push(shims_crate(&models, &plans, &once));
    crates.push(registry_crate(&models, &plans, &once));
    let mut workspace = Workspace::new("extension-of-core");
    let mut uses = Vec::new();
    for one in crates {
        let one = placed(one.unwrap());
        let folder = format!("generated/{}", one.package);
        workspace.add(&folder, &one);
        uses.push((one.package, folder));
    }
    workspace.add_user("throws", &uses, USE);
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
    let refused = models.plan_shims(&spec).unwrap_err().to_string();
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
    let refused = models.plan_shims(&spec).unwrap_err().to_string();
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
