//! An extension without any code of its own: a folder of `spec/extensions` is read, typed and generated.

use crate::says;
use mcp_revisions_schema::sorted::SortedMap;

use mcp_codegen::generate::{Alone, Crate, alone, type_crates};
use mcp_codegen::import::{
    ExtensionOptions, ImportedExtension, SpecDirectory, SpecGaps, UpstreamFile,
};
use mcp_revisions_diff::SideSources;
use mcp_revisions_diff::render::text::{self, TextOptions};
use mcp_revisions_schema::{Models, Spec};

use crate::specs;
use crate::workspace::Workspace;

/// The core: a revision whose schema has a defect.
const CORE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"resultType": {"type": "string"}}, "required": ["resultType"], "additionalProperties": {}},
    "JSONRPCRequest": {"type": "object", "properties": {"jsonrpc": {"const": "2.0", "type": "string"}, "id": {"$ref": "#/$defs/RequestId"}, "method": {"type": "string"}, "params": {"type": "object"}}, "required": ["id", "jsonrpc", "method"]},
    "JSONRPCNotification": {"type": "object", "properties": {"jsonrpc": {"const": "2.0", "type": "string"}, "method": {"type": "string"}, "params": {"type": "object"}}, "required": ["jsonrpc", "method"]},
    "RequestId": {"type": ["integer", "string"]},
    "Level": {"type": "object", "properties": {"height": {"type": "integer"}}, "required": ["height"]},
    "Word": {"type": "object", "properties": {"kind": {"const": "word", "type": "string"}, "word": {"type": "string"}}, "required": ["kind", "word"]},
    "Note": {"type": "object", "properties": {"sound": {"type": "number"}}},
    "Pin": {"type": "object", "properties": {"kind": {"const": "note", "type": "string"}, "said": {"type": "string"}}, "required": ["kind"]},
    "Nail": {"type": "object", "properties": {"kind": {"const": "nail", "type": "string"}}, "required": ["kind"]},
    "Piece": {"anyOf": [{"$ref": "#/$defs/Pin"}, {"$ref": "#/$defs/Nail"}]}
  }
}"##;

/// Heights are no whole numbers, and the extension repeats the defect.
const ERRATA: &str = r#"
[[erratum]]
id = "height"
reason = "A height may be any number."
source = "the page"
since = "2027-01-01"
at = "/$defs/Level/properties/height/type"
expect = "integer"
replace = "number"
"#;

/// An extension as zod would write it: the dialect in each definition, `propertyNames`, and what it uses inlined.
const DICE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"resultType": {"type": "string"}}, "required": ["resultType"], "additionalProperties": {}},
    "JSONRPCRequest": {"type": "object", "properties": {"jsonrpc": {"const": "2.0", "type": "string"}, "id": {"$ref": "#/$defs/RequestId"}, "method": {"type": "string"}, "params": {"type": "object"}}, "required": ["id", "jsonrpc", "method"]},
    "JSONRPCNotification": {"type": "object", "properties": {"jsonrpc": {"const": "2.0", "type": "string"}, "method": {"type": "string"}, "params": {"type": "object"}}, "required": ["jsonrpc", "method"]},
    "RequestId": {"type": ["string", "integer"]},
    "Level": {"type": "object", "description": "How high.", "properties": {"height": {"type": "integer"}}, "required": ["height"]},
    "Word": {"type": "object", "properties": {"kind": {"const": "word", "type": "string"}, "word": {"type": "string"}, "tongue": {"type": "string"}}, "required": ["kind", "word"]},
    "Pin": {"type": "object", "properties": {"kind": {"const": "note", "type": "string"}, "said": {"type": "string"}}, "required": ["kind"]},
    "Nail": {"type": "object", "properties": {"kind": {"const": "nail", "type": "string"}}, "required": ["kind"]},
    "Piece": {"anyOf": [{"$ref": "#/$defs/Pin"}, {"$ref": "#/$defs/Nail"}]},
    "Throw": {"$schema": "https://json-schema.org/draft/2020-12/schema", "anyOf": [
      {"type": "object", "properties": {"face": {"type": "string", "const": "six"}, "at": {"type": "object", "properties": {"height": {"type": "integer"}}, "required": ["height"]}}, "required": ["face"]},
      {"type": "object", "properties": {"face": {"type": "string", "const": "one"}}, "required": ["face"]}
    ]},
    "RollRequest": {"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [
      {"$ref": "#/$defs/JSONRPCRequest"},
      {"type": "object", "properties": {"method": {"type": "string", "const": "dice/roll"}, "params": {"type": "object", "properties": {"sides": {"type": "integer"}, "names": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}}}, "required": ["sides"]}}, "required": ["method", "params"]}
    ]},
    "RollResult": {"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [
      {"$ref": "#/$defs/Result"},
      {"anyOf": [
        {"type": "object", "properties": {"face": {"type": "string", "const": "six"}, "at": {"type": "object", "properties": {"height": {"type": "integer"}}, "required": ["height"]}}, "required": ["face"]},
        {"type": "object", "properties": {"face": {"type": "string", "const": "one"}}, "required": ["face"]}
      ]}
    ]},
    "FellNotification": {"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [
      {"$ref": "#/$defs/JSONRPCNotification"},
      {"type": "object", "properties": {"method": {"type": "string", "const": "notifications/dice/fell"}, "params": {"type": "object", "properties": {"said": {"$ref": "#/$defs/Word"}}, "required": ["said"]}}, "required": ["method", "params"]}
    ]},
    "DiceCapability": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {"not": {}}}
  }
}"##;

const FACTS: &str = r#"
identifier = "com.example/dice"
settings = "DiceCapability"

[[state]]
id = "2027-01-01"
status = "released"
revision = "2027-01-01"
reference = "https://example.com/dice#{anchor}"

[[method]]
name = "dice/roll"
sender = "client"

[[method]]
name = "notifications/dice/fell"
sender = "server"
"#;

fn files() -> SortedMap<String, String> {
    specs::files(&[
        ("revisions.toml", &specs::released(&["2027-01-01"])),
        ("names.toml", "[types]\nResult = \"AnyResult\"\n"),
        ("2027-01-01/schema.json", CORE),
        ("errata.toml", ERRATA),
        ("extensions/dice/2027-01-01/schema.json", DICE),
        ("extensions/dice/extension.toml", FACTS),
    ])
}

fn crates(files: SortedMap<String, String>) -> Vec<Crate> {
    let spec = Spec::from_files(files).unwrap();
    let models = Models::build(&spec).unwrap();
    let (crates, _) = type_crates(&models);
    crates.into_iter().map(Result::unwrap).collect()
}

/// All sources of a crate, as one text without line breaks.
fn sources(of: &Crate) -> String {
    let sources = of.files.iter().filter(|(path, _)| path.ends_with(".rs"));
    let text: Vec<&str> = sources
        .flat_map(|(_, text)| text.split_whitespace())
        .collect();
    text.join(" ")
}

#[test]
fn what_an_extension_repeats_of_its_revision_is_that_revisions_type() {
    let crates = crates(files());
    let dice = crates
        .iter()
        .find(|one| one.package == "mcp-ext-dice")
        .unwrap();
    let text = sources(dice);
    // The copy of `Level` has the defect of the original, and is the original without it.
    assert!(!text.contains("pub struct Level "));
    let lib = &dice.files["src/lib.rs"];
    let (_, repeated) = lib.split_once("pub use mcp_2027_01_01::{").unwrap();
    let (repeated, _) = repeated.split_once("};").unwrap();
    // A choice that is called like a type of the revision, `Piece::Note`, keeps nothing apart.
    for name in ["AnyResult", "JSONRPCRequest", "Level", "Piece", "RequestId"] {
        assert!(repeated.contains(&format!("{name},")), "{name}: {repeated}");
    }
    // A copy that differs is a type of its own.
    assert!(text.contains("pub struct Word "));
    assert!(text.contains("pub tongue: Option<String>"));
    assert!(text.contains("pub at: Option<Level>"));
    assert!(text.contains(r#"pub const IDENTIFIER: &str = "com.example/dice""#));
}

/// Imports the schema as an extension into a spec that has the core alone.
fn imported(
    directory: &mut SpecDirectory,
    schema: &str,
    identifier: Option<&str>,
) -> ImportedExtension {
    let upstream = UpstreamFile::of_text("dice.json", schema).unwrap();
    let options = ExtensionOptions {
        name: "dice".to_owned(),
        identifier: identifier.map(str::to_owned),
        ..ExtensionOptions::default()
    };
    directory.import_extension(&upstream, &options).unwrap()
}

fn core() -> SpecDirectory {
    let mut files = files();
    files.retain(|name, _| !name.starts_with("extensions/"));
    SpecDirectory::from_files(files)
}

#[test]
fn an_import_asks_who_sends_what_and_names_a_copy_that_differs() {
    let mut directory = core();
    let first = imported(&mut directory, DICE, Some("com.example/dice"));
    assert!(first.stale.is_none(), "{:?}", first.stale);
    assert_eq!((first.own, first.repeated), (5, 8));
    let [(name, lines)] = &first.drifted[..] else {
        panic!("{:?}", first.drifted);
    };
    assert_eq!(name, "Word");
    says(lines, "+     \"tongue\": {");
    let facts = &directory.files()["extensions/dice/extension.toml"];
    for line in [
        "identifier = \"com.example/dice\"",
        "revision = \"2027-01-01\"",
        "settings = \"DiceCapability\"",
        "name = \"dice/roll\"\nsender = \"\"",
    ] {
        assert!(facts.contains(line), "{line}: {facts}");
    }
    let open = SpecGaps::of(&directory.spec().unwrap());
    let asked: Vec<&str> = open
        .decisions
        .iter()
        .map(|one| one.place.as_str())
        .collect();
    for message in ["/$defs/RollRequest", "/$defs/FellNotification"] {
        assert!(asked.contains(&message), "{asked:?}");
    }
    // The import asks nothing twice, and keeps the answers that the file has.
    let before = directory.files().clone();
    directory.scaffold(&open).unwrap();
    let again = imported(&mut directory, DICE, None);
    assert!(!again.added && !again.schema_changed);
    let facts = |files: &SortedMap<String, String>| files["extensions/dice/extension.toml"].clone();
    assert_eq!(facts(directory.files()), facts(&before));
    let mut files = directory.files().clone();
    let answered = facts(&files).replace(
        "name = \"dice/roll\"\nsender = \"\"",
        "name = \"dice/roll\"\nsender = \"client\"",
    );
    files.insert(
        "extensions/dice/extension.toml".to_owned(),
        answered.clone(),
    );
    let mut directory = SpecDirectory::from_files(files);
    imported(&mut directory, DICE, None);
    assert_eq!(facts(directory.files()), answered);
    // The digest is written, too, where none was recorded.
    let mut files = directory.files().clone();
    let digest = answered
        .lines()
        .find(|line| line.starts_with("sha256 = "))
        .unwrap();
    let without = answered.replace(&format!("{digest}\n"), "");
    files.insert("extensions/dice/extension.toml".to_owned(), without);
    let mut directory = SpecDirectory::from_files(files);
    imported(&mut directory, DICE, None);
    says(&facts(directory.files()), digest);
}

#[test]
fn a_new_extension_has_to_be_called_by_its_identifier() {
    let mut directory = core();
    let upstream = UpstreamFile::of_text("dice.json", DICE).unwrap();
    for (identifier, says) in [(None, "--identifier"), (Some("dice"), "not the identifier")] {
        let options = ExtensionOptions {
            name: "dice".to_owned(),
            identifier: identifier.map(str::to_owned),
            ..ExtensionOptions::default()
        };
        let refused = directory.import_extension(&upstream, &options).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
}

#[test]
fn an_extension_that_is_there_keeps_its_facts() {
    let upstream = UpstreamFile::of_text("dice.json", DICE).unwrap();
    let other = || Some("https://example.com/other".to_owned());
    let mut all: [ExtensionOptions; 4] = Default::default();
    all[0].identifier = other();
    all[1].revision = other();
    all[2].source = other();
    all[3].reference = other();
    let names = ["--identifier", "--revision", "--source", "--reference"];
    for (option, options) in names.into_iter().zip(all) {
        let mut directory = SpecDirectory::from_files(files());
        let options = ExtensionOptions {
            name: "dice".to_owned(),
            ..options
        };
        let refused = directory.import_extension(&upstream, &options).unwrap_err();
        assert!(refused.is_of_the_request(), "{refused}");
        assert!(refused.to_string().contains(option), "{refused}");
        assert_eq!(*directory.files(), files());
    }
}

#[test]
fn a_message_that_the_schema_has_no_more_is_told_by_the_import() {
    let mut directory = SpecDirectory::from_files(files());
    let schema = DICE.replace("dice/roll", "dice/throw");
    let imported = imported(&mut directory, &schema, None);
    let stale = imported.stale.unwrap().to_string();
    says(
        &stale,
        "method `dice/roll`: the schema has no message of that method",
    );
}

#[test]
fn a_message_whose_method_another_one_has_is_refused_by_its_place() {
    let core = r##""PaintRequest": {"type": "object", "properties": {"method": {"const": "wall/paint", "type": "string"}}, "required": ["method"]},
    "Level""##;
    let taken = DICE.replace("dice/roll", "wall/paint");
    let again = r##""AgainRequest": {"type": "object", "properties": {"method": {"const": "dice/roll", "type": "string"}}, "required": ["method"]},
    "RollRequest""##;
    let twice = DICE.replace("\"RollRequest\"", again);
    for (schema, says) in [
        (
            taken,
            "found `wall/paint`, which is that of `PaintRequest` of 2027-01-01",
        ),
        (twice, "found `dice/roll`, which is that of `AgainRequest`"),
    ] {
        let mut files = self::core().files().clone();
        let mended = CORE.replace("\"Level\"", core);
        files.insert("2027-01-01/schema.json".to_owned(), mended);
        let mut directory = SpecDirectory::from_files(files);
        let imported = imported(&mut directory, &schema, Some("com.example/dice"));
        let stale = imported.stale.unwrap().to_string();
        let start = "spec/extensions/dice/2027-01-01/schema.json#/$defs/RollRequest: expected a method that no other message has, ";
        assert!(stale.contains(&format!("{start}{says}")), "{stale}");
        assert!(
            stale.contains("spec/extensions/dice/errata.toml"),
            "{stale}"
        );
        assert!(!stale.contains("another row"), "{stale}");
    }
}

#[test]
fn a_request_without_a_result_of_its_name_gets_one_in_its_row() {
    let mut files = files();
    let schema = files
        .get_mut("extensions/dice/2027-01-01/schema.json")
        .unwrap();
    *schema = schema.replace("RollResult", "Rolled");
    let mut directory = SpecDirectory::from_files(files);
    let asked = |directory: &SpecDirectory| {
        let open = SpecGaps::of(&directory.spec().unwrap());
        let problems = open.problems.iter().map(ToString::to_string);
        let all = open.decisions.iter().map(|one| one.open.clone());
        (all.chain(problems).collect::<Vec<String>>(), open)
    };
    let (questions, open) = asked(&directory);
    assert_eq!(
        questions,
        ["nothing says what answers `dice/roll`: its row has no `result`"]
    );
    directory.scaffold(&open).unwrap();
    let (questions, _) = asked(&directory);
    assert_eq!(questions, [""; 0]);
}

#[test]
fn an_extension_that_nobody_has_written_code_for_compiles() {
    let mut workspace = Workspace::new("extensions");
    for one in crates(files()) {
        if one.package != "mcp-shared" {
            workspace.add(&one.package.clone(), &one);
        }
    }
    if let Err(said) = workspace.cargo(&["clippy"]) {
        panic!("{said}");
    }
}

/// A spec in which dice were in the core of the revision before.
fn with_dice_in_the_core() -> SortedMap<String, String> {
    let mut files = files();
    let list = specs::released(&["2026-12-12", "2027-01-01"]);
    files.insert("revisions.toml".to_owned(), list);
    let lists = r##""ClientRequest": {"anyOf": [{"$ref": "#/$defs/RollRequest"}, {"$ref": "#/$defs/StayRequest"}]},
    "RollRequest": {"type": "object", "properties": {"method": {"const": "dice/roll", "type": "string"}}, "required": ["method"]},
    "StayRequest": {"type": "object", "properties": {"method": {"const": "stay", "type": "string"}}, "required": ["method"]},
    "RollResult": {"$ref": "#/$defs/Result"},
    "StayResult": {"$ref": "#/$defs/Result"},
    "Level""##;
    let older = CORE.replace("\"Level\"", lists);
    let newer = older.replace("{\"$ref\": \"#/$defs/RollRequest\"}, ", "");
    files.insert("2026-12-12/schema.json".to_owned(), older);
    files.insert("2027-01-01/schema.json".to_owned(), newer);
    let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
    facts.push_str("[core]\nrevision = \"2026-12-12\"\nmethods = [\"dice/roll\"]\n");
    files
}

#[test]
fn what_left_the_core_for_an_extension_is_told_to_have_moved_there() {
    let spec = Spec::from_files(with_dice_in_the_core()).unwrap();
    let sources = SideSources::read(&spec).unwrap();
    let diff = mcp_revisions_diff::between(&sources, "2026-12-12", "2027-01-01", false).unwrap();
    let [moved] = &diff.extensions[..] else {
        panic!("{:?}", diff.extensions);
    };
    assert_eq!(
        (moved.extension.as_str(), &moved.methods[..]),
        ("com.example/dice", &["dice/roll".to_owned()][..])
    );
    let text = text::render(&diff, TextOptions::default());
    says(
        &text,
        "dice/roll from the core to the extension com.example/dice",
    );
    assert!(!text.contains("Removed"), "{text}");
    let back = mcp_revisions_diff::between(&sources, "2027-01-01", "2026-12-12", false).unwrap();
    assert!(back.extensions.is_empty());
}

#[test]
fn what_a_core_takes_back_from_an_extension_is_told_to_have_moved_there() {
    let mut files = with_dice_in_the_core();
    files.insert(
        "revisions.toml".to_owned(),
        specs::released(&["2026-12-12", "2027-01-01", "2027-02-02"]),
    );
    files.insert(
        "2027-02-02/schema.json".to_owned(),
        files["2026-12-12/schema.json"].clone(),
    );
    let spec = Spec::from_files(files).unwrap();
    let sources = SideSources::read(&spec).unwrap();
    let diff = mcp_revisions_diff::between(&sources, "2027-01-01", "2027-02-02", false).unwrap();
    let [moved] = &diff.taken_back[..] else {
        panic!("{:?}", diff.taken_back);
    };
    assert_eq!(moved.methods, ["dice/roll"]);
    let text = text::render(&diff, TextOptions::default());
    says(
        &text,
        "dice/roll to the core from the extension com.example/dice",
    );
    assert!(!text.contains("New "), "{text}");
    // Before the revision that the extension rests on there is none to take it from.
    let first = mcp_revisions_diff::between(&sources, "2026-12-12", "2027-02-02", false).unwrap();
    assert_eq!(first.taken_back, []);
}

#[test]
fn a_core_that_the_extension_was_never_in_is_an_error() {
    let mut files = with_dice_in_the_core();
    let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
    *facts = facts.replace("[\"dice/roll\"]", "[\"dice/throw\"]");
    let refused = Spec::from_files(files).unwrap_err().to_string();
    says(&refused, "revision `2026-12-12` has no method `dice/throw`");
}

#[test]
fn another_state_of_an_extension_is_compared_with_it() {
    let spec = Spec::from_files(files()).unwrap();
    let sources = SideSources::read(&spec).unwrap();
    let path = std::env::temp_dir().join(format!("mcp-dice-{}.json", std::process::id()));
    let compared = |schema: &str| {
        std::fs::write(&path, schema).unwrap();
        let diff = mcp_revisions_diff::between(&sources, "dice", path.to_str().unwrap(), false);
        std::fs::remove_file(&path).unwrap();
        diff.unwrap()
    };
    // The file repeats the defects of its revision, and so the errata of that one hold for it.
    assert_eq!(compared(DICE).rows, []);
    let unknown = compared(&DICE.replace("dice/roll", "dice/toss"))
        .uncompared
        .concat();
    says(&unknown, "`dice/toss`: nothing says who sends it");
    for (was, is, expected) in [
        ("\"sides\"", "\"corners\"", "C2S dice/roll params"),
        // A list of one request does not hide what answers it.
        ("\"six\"", "\"seven\"", "S2C dice/roll result"),
    ] {
        let other = compared(&DICE.replace(was, is));
        let paths = other.rows.iter().flat_map(|row| &row.paths);
        let paths: Vec<String> = paths.map(ToString::to_string).collect();
        assert!(
            !paths.is_empty() && paths.iter().all(|path| path.starts_with(expected)),
            "{expected}: {paths:?}"
        );
    }
}

/// A protocol that has a method, or definitions, that are called like those of an extension, and some that are alike.
#[test]
fn a_protocol_of_its_own_is_not_taken_for_an_extension() {
    let request = |method: &str| {
        let method = serde_json::json!({"type": "string", "const": method});
        serde_json::json!({"type": "object", "properties": {"method": method}, "required": ["method"]})
    };
    let dice: serde_json::Value = serde_json::from_str(DICE).unwrap();
    let other = serde_json::json!({"type": "object", "properties": {"other": {"type": "string"}}});
    for spec in [Spec::from_files(files()).unwrap(), core().spec().unwrap()] {
        let mut foreign = serde_json::json!({
            "$schema": dice["$schema"],
            "$defs": {
                "RequestId": dice["$defs"]["RequestId"],
                "Result": other, "Level": other, "Word": other,
                "RollRequest": request("dice/roll"),
                "SendRequest": request("message/send"),
                "StreamRequest": request("message/stream"),
            },
        });
        for _ in 0..2 {
            let text = foreign.to_string();
            let file = Alone {
                text: &text,
                file: "foreign.json",
                package: "foreign",
                wire: "../wire",
                sha256: "",
            };
            let made = alone(&spec, &file).unwrap();
            assert!(!made.files["src/lib.rs"].contains("xtension"), "{text}");
            says(&sources(&made), "pub struct Word ");
            // With no other method than the one that is shared.
            let all = foreign["$defs"].as_object_mut().unwrap();
            all.retain(|name, _| !matches!(name.as_str(), "SendRequest" | "StreamRequest"));
        }
    }
}

/// The crate that `generate --schema FILE` makes of the extension.
fn made(spec: &Spec, package: &str, wire: &str) -> Crate {
    let file = Alone {
        text: DICE,
        file: "dice.json",
        package,
        wire,
        sha256: "",
    };
    alone(spec, &file).unwrap()
}

/// Of one that the spec knows, and of one that it has never seen: who sends its messages is left open there.
#[test]
fn a_crate_from_the_file_of_an_extension_uses_the_types_of_its_revision() {
    let wire = "../../runtime/wire";
    let mut workspace = Workspace::new("extension-files");
    for one in crates(files()) {
        if one.package == "mcp-2027-01-01" {
            workspace.add("generated/mcp-2027-01-01", &one);
        }
    }
    let known = Spec::from_files(files()).unwrap();
    let unknown = core().spec().unwrap();
    for (spec, package) in [(known, "known-dice"), (unknown, "unknown-dice")] {
        let dice = made(&spec, package, wire);
        let text = sources(&dice);
        assert!(
            !text.contains("pub struct Level "),
            "{}",
            dice.files["src/lib.rs"]
        );
        assert!(text.contains("pub at: Option<Level>"), "{package}");
        assert!(text.contains("pub struct Word "), "{package}");
        let has_name = text.contains("pub const IDENTIFIER: &str = \"com.example/dice\"");
        assert_eq!(has_name, package == "known-dice", "{package}");
        let open = (dice.decisions.iter()).any(|one| one.place == "/$defs/RollRequest");
        assert_eq!(open, package == "unknown-dice", "{:?}", dice.decisions);
        let manifest = &dice.files["Cargo.toml"];
        let base = "mcp-2027-01-01 = { path = \"../../generated/mcp-2027-01-01\" }";
        says(manifest, base);
        workspace.add(&format!("made/{package}"), &dice);
    }
    if let Err(said) = workspace.cargo(&["clippy"]) {
        panic!("{said}");
    }
}
