//! An extension with several states: each is a schema and a crate of its own, facts hold for a range of them, and messages
//! between them are converted by the rules in its folder.

use crate::says;
use mcp_revisions_schema::sorted::SortedMap;

use mcp_codegen::generate::{Crate, registry_crate, shims_crate, type_crates};
use mcp_codegen::import::{
    ExtensionOptions, ImportedExtension, SpecDirectory, SpecGaps, UpstreamFile,
};
use mcp_revisions_diff::SideSources;
use mcp_revisions_schema::spec::extensions::ExtensionStage;
use mcp_revisions_schema::{Models, Spec};

use crate::mutants::compiled::placed;
use crate::specs;
use crate::workspace::Workspace;

/// The core, which has nothing of dice.
const CORE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"_meta": {"type": "object", "additionalProperties": {}}}, "additionalProperties": {}},
    "Stone": {"type": "object", "properties": {"_meta": {"type": "object", "additionalProperties": {}}, "weight": {"type": "integer"}}},
    "ClientRequest": {"anyOf": [{"$ref": "#/$defs/StayRequest"}]},
    "StayRequest": {"type": "object", "properties": {"method": {"const": "stay", "type": "string"}}, "required": ["method"]},
    "StayResult": {"$ref": "#/$defs/Result"}
  }
}"##;

/// The first state: dice are rolled, and fall.
const FIRST: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Cup": {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
    "RollRequest": {"type": "object", "properties": {"method": {"const": "dice/roll", "type": "string"}, "params": {"type": "object", "properties": {"cup": {"$ref": "#/$defs/Cup"}, "sides": {"type": "integer"}}, "required": ["sides"]}}, "required": ["method", "params"]},
    "RollResult": {"type": "object", "properties": {"face": {"type": "string"}}, "required": ["face"]},
    "FellNotification": {"type": "object", "properties": {"method": {"const": "dice/notifications/fell", "type": "string"}, "params": {"type": "object", "properties": {"cup": {"$ref": "#/$defs/Cup"}}}}, "required": ["method"]}
  }
}"##;

const FACTS: &str = r##"
identifier = "com.example/dice"

[[state]]
id = "2027-01-01"
status = "released"
revision = "2027-01-01"
reference = "https://example.com/dice#{anchor}"

[[method]]
name = "dice/roll"
sender = "client"

[[method]]
name = "dice/notifications/fell"
sender = "server"
kind = "notification"
"##;

/// The next state: a roll may be marked, nothing is told of falls any more, and dice can be thrown.
fn next() -> String {
    let first: serde_json::Value = serde_json::from_str(FIRST).unwrap();
    let mut next = first;
    let definitions = next["$defs"].as_object_mut().unwrap();
    definitions.remove("FellNotification");
    let throw = definitions["RollRequest"].to_string();
    let throw = throw.replace("dice/roll", "dice/throw");
    definitions.insert(
        "ThrowRequest".to_owned(),
        serde_json::from_str(&throw).unwrap(),
    );
    definitions.insert("ThrowResult".to_owned(), definitions["RollResult"].clone());
    let mark = serde_json::json!({"type": "object", "properties": {"ink": {"type": "string"}}});
    definitions.insert("Mark".to_owned(), mark);
    definitions["RollRequest"]["properties"]["params"]["properties"]["mark"] =
        serde_json::json!({"$ref": "#/$defs/Mark"});
    next.to_string()
}

const RULES: &str = r#"
[[rule]]
id = "mark"
at = "RollRequestParams.mark"
down = "drop"
severity = "cosmetic"
reason = "a roll had no mark"
source = "the page"
example = [{ params = "dice/roll", way = "down", input = '{"sides":6,"mark":{"ink":"red"}}', output = '{"sides":6}', loses = ["/mark"] }]

[[method]]
name = "dice/throw"
id = "no-throw"
action = { reject = { code = -32601, message = "dice were rolled only" } }
reason = "dice were rolled only"
source = "the page"
example = [{ params = "dice/throw", way = "down", input = '{"sides":6}', output = 'rejected -32601' }]

[[method]]
name = "dice/notifications/fell"
id = "no-falls"
action = "drop"
reason = "nothing is told of falls any more"
source = "the page"
example = [{ params = "dice/notifications/fell", way = "up", input = '{}', output = 'dropped' }]
"#;

fn files() -> SortedMap<String, String> {
    specs::files(&[
        ("revisions.toml", &specs::released(&["2027-01-01"])),
        ("names.toml", "[types]\nResult = \"AnyResult\"\n"),
        ("2027-01-01/schema.json", CORE),
        ("extensions/dice/2027-01-01/schema.json", FIRST),
        ("extensions/dice/extension.toml", FACTS),
    ])
}

fn imported(directory: &mut SpecDirectory, name: &str, schema: &str) -> ImportedExtension {
    let upstream = UpstreamFile::of_extension_text("dice.json", schema).unwrap();
    let options = ExtensionOptions {
        name: name.to_owned(),
        ..ExtensionOptions::default()
    };
    directory.import_extension(&upstream, &options).unwrap()
}

/// The spec with two released states and a draft that is the second one with one definition more.
fn three_states() -> SortedMap<String, String> {
    let mut directory = SpecDirectory::from_files(files());
    let told = imported(&mut directory, "dice@2028-02-02", &next());
    assert!(told.added && told.stale.is_none(), "{:?}", told.stale);
    assert_eq!(told.ended, ["dice/notifications/fell"]);
    let draft = next().replace(
        "\"Mark\":",
        "\"Spot\":{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}}},\"Mark\":",
    );
    imported(&mut directory, "dice@draft", &draft);
    let mut files = directory.files().clone();
    let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
    *facts = facts.replace(
        "name = \"dice/throw\"\nsender = \"\"",
        "name = \"dice/throw\"\nsender = \"client\"",
    );
    let meta = "\n[[meta]]\ndefinition = \"Mark\"\nname = \"com.example/mark\"\nof = \"Stone\"\nsince = \"2028-02-02\"\n";
    facts.push_str(meta);
    let rules = "extensions/dice/2027-01-01..2028-02-02.toml";
    files.insert(rules.to_owned(), RULES.to_owned());
    files
}

fn made(spec: &Spec) -> Vec<Crate> {
    let models = Models::build(spec).unwrap_or_else(|error| panic!("{error}"));
    let plans =
        mcp_revisions_plans::plan_shims(&models, spec).unwrap_or_else(|error| panic!("{error}"));
    let (mut crates, once) = type_crates(&models);
    crates.push(shims_crate(&models, &plans, &once));
    crates.push(registry_crate(&models, &plans, &once));
    crates.into_iter().map(Result::unwrap).collect()
}

#[test]
fn a_new_state_begins_its_messages_and_ends_those_that_it_has_no_more() {
    let files = three_states();
    let facts = &files["extensions/dice/extension.toml"];
    says(facts, "id = \"2028-02-02\"\nstatus = \"released\"\n");
    says(facts, "id = \"draft\"\nstatus = \"draft\"\n");
    says(
        facts,
        "name = \"dice/throw\"\nsender = \"client\"\nsince = \"2028-02-02\"",
    );
    says(facts, "kind = \"notification\"\nuntil = \"2027-01-01\"");
    let spec = Spec::from_files(files.clone()).unwrap();
    let states: Vec<(&str, Vec<&str>)> = (spec.extensions.iter())
        .map(|of| {
            let methods = of.methods.iter().map(|method| method.name.as_str());
            (of.name.as_str(), methods.collect())
        })
        .collect();
    assert_eq!(
        states,
        [
            (
                "dice@2027-01-01",
                vec!["dice/roll", "dice/notifications/fell"]
            ),
            ("dice", vec!["dice/roll", "dice/throw"]),
            ("dice@draft", vec!["dice/roll", "dice/throw"]),
        ]
    );
    // A row that a released state does not bear out is an error; a draft is passed over.
    for (state, is_refused) in [("2028-02-02", true), ("draft", false)] {
        let mut files = files.clone();
        let schema = files
            .get_mut(&format!("extensions/dice/{state}/schema.json"))
            .unwrap();
        *schema = schema.replace("dice/throw", "dice/toss");
        let refused = Spec::from_files(files).err().map(|error| error.to_string());
        assert_eq!(refused.is_some(), is_refused, "{refused:?}");
        if let Some(refused) = refused {
            says(
                &refused,
                "`dice/throw`: the schema has no message of that method (state 2028-02-02)",
            );
        }
    }
}

#[test]
fn a_released_state_begins_what_its_draft_began_and_leaves_the_rest_to_the_draft() {
    let mut directory = SpecDirectory::from_files(files());
    let told = imported(&mut directory, "dice@draft", &next());
    assert_eq!(told.ended, ["dice/notifications/fell"]);
    // Without a throw, which stays the draft's.
    let roll = FIRST.replace("dice/notifications/fell", "dice/notifications/lay");
    let mut lacks = directory.clone();
    let told = imported(&mut lacks, "dice@2028-02-02", &roll);
    assert!(told.stale.is_none(), "{:?}", told.stale);
    assert!(told.begun.is_empty() && told.ended.is_empty(), "{told:?}");
    let facts = &lacks.files()["extensions/dice/extension.toml"];
    says(
        facts,
        "name = \"dice/throw\"\nsender = \"\"\nsince = \"draft\"\n",
    );
    let told = imported(&mut directory, "dice@2028-02-02", &next());
    assert!(told.stale.is_none(), "{:?}", told.stale);
    assert_eq!(told.begun, ["dice/throw"]);
    let facts = &directory.files()["extensions/dice/extension.toml"];
    says(
        facts,
        "name = \"dice/throw\"\nsender = \"\"\nsince = \"2028-02-02\"\n",
    );
    let named = facts.matches("name = \"dice/throw\"").count();
    assert_eq!(named, 1, "{facts}");
}

#[test]
fn a_state_that_is_released_after_a_lone_draft_stands_before_it() {
    let mut files = files();
    let draft = FACTS
        .replacen("2027-01-01", "draft", 1)
        .replacen("released", "draft", 1);
    files.insert("extensions/dice/extension.toml".to_owned(), draft);
    let schema = files.remove("extensions/dice/2027-01-01/schema.json");
    files.insert(
        "extensions/dice/draft/schema.json".to_owned(),
        schema.unwrap(),
    );
    let mut directory = SpecDirectory::from_files(files);
    let told = imported(&mut directory, "dice@2027-01-01", FIRST);
    assert!(told.stale.is_none(), "{:?}", told.stale);
    let spec = directory.spec().unwrap();
    let states: Vec<&str> = (spec.extensions.iter())
        .map(|of| of.state.as_str())
        .collect();
    assert_eq!(states, ["2027-01-01", "draft"]);
}

#[test]
fn released_states_have_types_once_and_a_draft_has_its_own() {
    let spec = Spec::from_files(three_states()).unwrap();
    let crates = made(&spec);
    let sources = |package: &str| -> String {
        let one = crates.iter().find(|one| one.package == package).unwrap();
        let sources = one.files.iter().filter(|(path, _)| path.ends_with(".rs"));
        sources.map(|(_, text)| text.as_str()).collect()
    };
    let [first, second, draft] = [
        "mcp-ext-dice-2027-01-01",
        "mcp-ext-dice",
        "mcp-ext-dice-draft",
    ];
    for (package, owns) in [(first, true), (second, false), (draft, true)] {
        let text = sources(package);
        assert_eq!(text.contains("pub struct Cup "), owns, "{package}");
    }
    says(&sources(second), "pub use mcp_ext_dice_2027_01_01::{");
    // What is alike is a message of the state all the same.
    says(&sources(second), "\"dice/roll\" ClientToServer Request");
    says(&sources(draft), "pub struct Spot ");
    says(
        &sources(second),
        "pub const META_NAME: &'static str = \"com.example/mark\"",
    );
    assert!(!sources(first).contains("META_NAME"));
}

#[test]
fn a_word_in_the_message_of_a_rule_imports_nothing() {
    let mut files = three_states();
    let rules = files.get_mut("extensions/dice/2027-01-01..2028-02-02.toml");
    let rules = rules.unwrap();
    *rules = rules.replace("dice were rolled only", "no Adapter throws dice");
    let crates = made(&Spec::from_files(files).unwrap());
    let shims = crates
        .iter()
        .find(|one| one.package == "mcp-shims")
        .unwrap();
    let modules = shims
        .files
        .iter()
        .filter(|(path, _)| path.ends_with("/mod.rs"));
    let text: String = modules.map(|(_, text)| text.as_str()).collect();
    says(&text, "\"no Adapter throws dice\"");
    assert!(!text.contains("use mcp_convert::Adapter"), "{text}");
}

/// What its users would run: a roll from the first state to the last one, and back.
const USE: &str = r##"#![cfg(test)]
use mcp_revisions_tables::{Context, Extension, Part, Revision, Subject};

fn came_to(method: &str, ends: [&str; 2], text: &str) -> Result<(String, Vec<String>), String> {
    let tables = Extension::ALL[0].core.expect("states are converted");
    let place = |name| tables.revisions.iter().position(|row| row.id == name).unwrap();
    let [from, to] = ends.map(place);
    let mut cx = Context::default();
    let result = tables.convert(Subject::Method(method, Part::Params, None), from, to, text, &mut cx).unwrap();
    let outcome = cx.finish(result);
    let lost = outcome.losses().iter().map(|loss| loss.pointer().to_string()).collect();
    match outcome.value() {
        Some(value) => Ok((value.into_text(), lost)),
        None => Err("refused".to_owned()),
    }
}

#[test]
fn a_roll_goes_through_all_states_and_back() {
    let marked = r#"{"sides":6,"cup":{"size":2},"mark":{"ink":"red"}}"#;
    let (text, lost) = came_to("dice/roll", ["dice@draft", "dice@2027-01-01"], marked).unwrap();
    assert_eq!((text.as_str(), &lost[..]), (r#"{"cup":{"size":2},"sides":6}"#, &["/mark".to_owned()][..]));
    let (text, lost) = came_to("dice/roll", ["dice@2027-01-01", "dice"], &text).unwrap();
    assert_eq!((text.as_str(), lost.len()), (r#"{"cup":{"size":2},"sides":6}"#, 0));
    assert!(came_to("dice/throw", ["dice", "dice@2027-01-01"], r#"{"sides":6}"#).is_err());
}

#[test]
fn a_peer_gets_the_latest_release_and_the_others_by_their_names() {
    let spoken: Vec<&str> = Extension::of(Revision::LATEST).map(|one| one.name).collect();
    assert_eq!(spoken, ["dice"]);
    let called = |name: &str| Extension::ALL.iter().find(|one| one.is_called(name)).unwrap().state;
    assert_eq!(called("dice"), "2028-02-02");
    assert_eq!(called("dice@2028-02-02"), "2028-02-02");
    assert_eq!(called("com.example/dice"), "2028-02-02");
    assert_eq!(called("dice@draft"), "draft");
}

#[test]
fn what_a_meta_holds_is_read_and_written() {
    let mut meta = mcp_wire::Map::new();
    assert!(mcp_ext_dice::Mark::from_meta(&meta).unwrap().is_none());
    mcp_ext_dice::Mark::new().with_ink("red").put_into_meta(&mut meta);
    let mark = mcp_ext_dice::Mark::from_meta(&meta).unwrap().unwrap();
    assert_eq!(mark.ink.as_deref(), Some("red"));
    meta.insert("com.example/mark", mcp_wire::Json::from_text(r#"{"ink":7}"#).unwrap());
    let refused = mcp_ext_dice::Mark::from_meta(&meta).unwrap_err().to_string();
    assert!(refused.contains("/ink"), "{refused}");
}
"##;

#[test]
fn messages_of_the_states_of_an_extension_are_converted_step_by_step() {
    let spec = Spec::from_files(three_states()).unwrap();
    let mut workspace = Workspace::new("extension-states");
    let mut uses = Vec::new();
    for one in made(&spec) {
        let one = placed(one);
        let folder = format!("generated/{}", one.package);
        workspace.add(&folder, &one);
        uses.push((one.package, folder));
    }
    workspace.add_user("rolls", &uses, USE);
    if let Err(said) = workspace.cargo(&["test", "--package", "rolls"]) {
        panic!("{said}");
    }
}

#[test]
fn two_states_of_an_extension_are_compared_by_their_ids() {
    let spec = Spec::from_files(three_states()).unwrap();
    let sources = SideSources::read(&spec).unwrap();
    let diff =
        mcp_revisions_diff::between(&sources, "dice@2027-01-01", "dice@2028-02-02", false).unwrap();
    let paths: Vec<String> = (diff.rows.iter().flat_map(|row| &row.paths))
        .map(ToString::to_string)
        .collect();
    for part in ["dice/throw", "dice/notifications/fell", "dice/roll params"] {
        assert!(
            paths.iter().any(|path| path.contains(part)),
            "{part}: {paths:?}"
        );
    }
    assert_eq!(
        (diff.old.as_str(), diff.new.as_str()),
        ("dice@2027-01-01", "dice@2028-02-02")
    );
}

/// Dice between a view and its host, written by a generator that leaves what is shared within another definition.
const VIEWS: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "ShowRequest": {"type": "object", "$defs": {"Inner": {"type": "object", "properties": {"depth": {"type": "integer"}}}}, "properties": {"method": {"const": "ui/dice/show", "type": "string"}, "params": {"type": "object", "properties": {"one": {"$ref": "#/$defs/Inner"}, "two": {"$ref": "#/$defs/Inner"}, "three": {"$ref": "#/$defs/Gone"}}}}, "required": ["method"]},
    "ShowResult": {"type": "object", "properties": {"face": {"type": "string"}}},
    "ShownNotification": {"type": "object", "properties": {"method": {"const": "ui/notifications/shown", "type": "string"}}, "required": ["method"]},
    "ListeningNotification": {"type": "object", "properties": {"method": {"const": "mod/listening", "type": "string"}}, "required": ["method"]},
    "MutedNotification": {"type": "object", "properties": {"method": {"const": "mod/muted", "type": "string"}}, "required": ["method"]}
  }
}"##;

#[test]
fn an_import_proposes_errata_for_references_to_nothing_and_knows_notifications() {
    let mut files = files();
    files.retain(|name, _| !name.starts_with("extensions/"));
    let mut directory = SpecDirectory::from_files(files);
    let before = directory.files().clone();
    let upstream = UpstreamFile::of_extension_text("views.json", VIEWS).unwrap();
    let options = ExtensionOptions {
        name: "views@2027-05-05".to_owned(),
        identifier: Some("com.example/views".to_owned()),
        ..ExtensionOptions::default()
    };
    let told = directory.import_extension(&upstream, &options).unwrap();
    assert!(told.stale.is_none(), "{:?}", told.stale);
    let facts = directory.files()["extensions/views/extension.toml"].clone();
    says(
        &facts,
        "name = \"ui/notifications/shown\"\nsender = \"\"\nkind = \"notification\"",
    );
    says(
        &facts,
        "name = \"mod/listening\"\nsender = \"\"\nkind = \"notification\"",
    );
    says(&facts, "name = \"ui/dice/show\"\nsender = \"\"\n\n");
    let open = SpecGaps::of(&directory.spec().unwrap());
    for decision in &open.decisions {
        let file = &decision.settle.file;
        assert!(
            file.starts_with("extensions/views/"),
            "{file}: {}",
            decision.open
        );
    }
    let mut opens = open.decisions.iter().map(|one| one.open.as_str());
    assert!(opens.any(|open| open.contains("client, server or a word of [roles] as `sender`")));
    let dangling = |name: &str| {
        let of = format!("found `#/$defs/{name}` in ");
        let found = open.decisions.iter().find(|one| one.open.contains(&of));
        found.unwrap_or_else(|| panic!("{name}: {:?}", open.decisions))
    };
    says(&dangling("Inner").open, "in 2 places");
    says(
        &dangling("Inner").settle.stub,
        "at = \"/$defs/Inner\"\nexpect-absent = true\n",
    );
    says(&dangling("Gone").settle.stub, "/properties/three/$ref\"");
    directory.scaffold(&open.of_extension("views")).unwrap();
    // What it writes lies in the folder of the extension alone.
    let others = |files: &SortedMap<String, String>| {
        let mut files = files.clone();
        files.retain(|name, _| !name.starts_with("extensions/"));
        files
    };
    assert_eq!(others(directory.files()), others(&before));
    let mut files = directory.files().clone();
    for name in ["errata.toml", "extension.toml"] {
        let text = files.get_mut(&format!("extensions/views/{name}")).unwrap();
        *text = specs::filled(text).replace("sender = \"\"", "sender = \"view\"");
    }
    let facts = files.get_mut("extensions/views/extension.toml").unwrap();
    *facts = facts.replacen(
        "[[state]]",
        "[roles]\nclient = \"view\"\nserver = \"host\"\n\n[[state]]",
        1,
    );
    // The module of `mod/listening` cannot be called `mod`: that is asked of each message once its side is known.
    let mut directory = SpecDirectory::from_files(files);
    let open = SpecGaps::of(&directory.spec().unwrap()).of_extension("views");
    let asked: Vec<&str> = open
        .decisions
        .iter()
        .map(|one| one.settle.stub.as_str())
        .collect();
    assert_eq!(
        asked,
        [
            "name = \"mod/listening\"\narea = \"mod_\"\n",
            "name = \"mod/muted\"\narea = \"mod_\"\n"
        ]
    );
    directory.scaffold(&open).unwrap();
    let spec = directory.spec().unwrap();
    let open = SpecGaps::of(&spec);
    assert!(open.decisions.is_empty(), "{:?}", open.decisions);
    let crates = made(&spec);
    let views = crates
        .iter()
        .find(|one| one.package == "mcp-ext-views")
        .unwrap();
    let text: String = views.files.values().map(String::as_str).collect();
    for part in [
        "\"ui/notifications/shown\" ClientToServer Notification",
        "\"ui/dice/show\" ClientToServer Request",
        "pub trait HostHandlers",
        "pub trait CallHost",
        "What a host answers",
        "pub struct Inner",
    ] {
        says(&text, part);
    }
    let table = crates
        .iter()
        .find(|one| one.package == "mcp-revisions-tables")
        .unwrap();
    says(
        &table.files["src/extensions.rs"],
        "roles: [\"view\", \"host\"]",
    );
}

#[test]
fn a_side_that_an_extension_does_not_have_sends_nothing() {
    let mut files = files();
    let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
    *facts = facts.replace("sender = \"server\"", "sender = \"host\"");
    let refused = Spec::from_files(files).unwrap_err().to_string();
    says(&refused, "`host` is neither side");
    says(&refused, "client or server");
}

#[test]
fn a_schema_of_ours_names_the_statement_that_each_definition_rests_on() {
    let page = "revision = \"2027-01-01\"\nwritten-from = \"example/dice@0123456789abcdef0123456789abcdef01234567\"\n";
    let ours = FACTS.replace("revision = \"2027-01-01\"\n", page);
    let rows = |definitions: &[&str]| -> String {
        let row = |name: &&str| {
            format!("\n[[statement]]\ndefinition = \"{name}\"\nsection = \"Dice\"\nsays = \"so\"\n")
        };
        definitions.iter().map(row).collect()
    };
    let read = |facts: String| {
        let mut files = files();
        files.insert("extensions/dice/extension.toml".to_owned(), facts);
        Spec::from_files(files)
    };
    let refused = |facts: String| read(facts).unwrap_err().to_string();
    let all = ["Cup", "RollRequest", "RollResult", "FellNotification"];
    let spec = read(ours.clone() + &rows(&all)).unwrap();
    let page = spec.extensions[0].written_from.as_deref();
    assert!(
        page.is_some_and(|page| page.starts_with("example/dice@")),
        "{page:?}"
    );
    let lacks = refused(ours.clone() + &rows(&all[1..]));
    says(&lacks, "no `[[statement]]` says what `Cup` rests on");
    let member = rows(&all)
        + "\n[[statement]]\ndefinition = \"Cup\"\nmembers = [\"hue\"]\nsection = \"Dice\"\nsays = \"so\"\n";
    says(
        &refused(ours.clone() + &member),
        "`Cup` has no member `hue`",
    );
    says(
        &refused(ours.clone() + &rows(&["Lid"])),
        "the schema has no definition `Lid`",
    );
    says(
        &refused(FACTS.to_owned() + &rows(&all)),
        "the schema of the state 2027-01-01 is upstream's",
    );
    says(&refused(ours.replace("4567", "")), "names no commit");
    // Upstream publishes a schema: it takes the place of ours, which no page has to bear out any more.
    let mut published = files();
    let facts = "extensions/dice/extension.toml";
    published.insert(facts.to_owned(), ours + &rows(&all));
    let mut directory = SpecDirectory::from_files(published);
    let upstream = UpstreamFile::of_extension_text("dice.json", FIRST).unwrap();
    let options = ExtensionOptions {
        name: "dice".to_owned(),
        source: Some("schema/schema.json".to_owned()),
        ..ExtensionOptions::default()
    };
    let told = directory.import_extension(&upstream, &options).unwrap();
    assert!(told.superseded == 4 && told.stale.is_none(), "{told:?}");
    let text = &directory.files()[facts];
    assert!(
        !text.contains("written-from") && !text.contains("statement"),
        "{text}"
    );
    says(text, "source = \"schema/schema.json\"");
    says(text, &format!("sha256 = \"{}\"", told.sha256));
}

#[test]
fn a_state_has_the_stage_of_the_folder_in_which_its_page_lies() {
    let mut directory = SpecDirectory::from_files(files());
    let upstream = UpstreamFile::of_extension_text("dice.json", &next()).unwrap();
    let mut options = ExtensionOptions {
        name: "dice@2028-02-02".to_owned(),
        source: Some("specification/beta/dice/schema.json".to_owned()),
        ..ExtensionOptions::default()
    };
    let told = directory.import_extension(&upstream, &options).unwrap();
    assert_eq!(told.stage, Some(ExtensionStage::Beta));
    let again = directory.import_extension(&upstream, &options).unwrap();
    assert!(!again.added && again.stage == told.stage);
    options.stage = Some(ExtensionStage::Stable);
    let refused = directory.import_extension(&upstream, &options).unwrap_err();
    says(&refused.to_string(), "--stage says something else of it");
    let read = |of: &dyn Fn(&str) -> String| {
        let mut files = directory.files().clone();
        let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
        *facts = of(facts);
        Spec::from_files(files)
    };
    let dated = read(&|text| {
        text.replace(
            "stage = \"beta\"\n",
            "stage = \"beta\"\nstage-since = \"2028-02-03\"\n",
        )
    });
    let [first, second] = &dated.unwrap().extensions[..] else {
        panic!("two states");
    };
    assert_eq!(
        (first.stage, second.stage),
        (None, Some(ExtensionStage::Beta))
    );
    assert_eq!(second.stage_since.as_deref(), Some("2028-02-03"));
    for (wrong, problem) in [
        (
            "stage = \"alpha\"\n",
            "no stage of an extension is called so",
        ),
        ("stage-since = \"2028-02-03\"\n", "the state names no stage"),
        (
            "stage = \"beta\"\nstage-since = \"in May\"\n",
            "`in May` is not a day",
        ),
    ] {
        let refused = read(&|text| text.replace("stage = \"beta\"\n", wrong));
        says(&refused.unwrap_err().to_string(), problem);
    }
}

/// An extension may give a type of the core one more member: that is its own type from there on, and the core stays as it is.
#[test]
fn an_extension_that_widens_a_type_of_the_core_leaves_the_crates_of_the_core_as_they_are() {
    let wants = r##""Wish": {"type": "object", "properties": {"stones": {"type": "boolean"}}},
    "StayRequest": {"type": "object", "properties": {"method": {"const": "stay", "type": "string"}, "params": {"type": "object", "properties": {"wish": {"$ref": "#/$defs/Wish"}}}}, "required": ["method"]},"##;
    let stay = r##""StayRequest": {"type": "object", "properties": {"method": {"const": "stay", "type": "string"}}, "required": ["method"]},"##;
    let core = CORE.replace(stay, wants);
    assert_ne!(core, CORE);
    let mut files = files();
    files.retain(|name, _| !name.starts_with("extensions/"));
    files.insert("2027-01-01/schema.json".to_owned(), core);
    let before = made(&Spec::from_files(files.clone()).unwrap());
    let mut directory = SpecDirectory::from_files(files);
    let widened = FIRST.replace(
        "\"Cup\":",
        "\"Wish\": {\"type\": \"object\", \"properties\": {\"dice\": {\"type\": \"boolean\"}, \"stones\": {\"type\": \"boolean\"}}},\n    \"Cup\":",
    );
    let upstream = UpstreamFile::of_extension_text("dice.json", &widened).unwrap();
    let options = ExtensionOptions {
        name: "dice@2027-05-05".to_owned(),
        identifier: Some("com.example/dice".to_owned()),
        ..ExtensionOptions::default()
    };
    let told = directory.import_extension(&upstream, &options).unwrap();
    assert_eq!(told.drifted.len(), 1, "{:?}", told.drifted);
    let (name, lines) = &told.drifted[0];
    assert_eq!(name, "Wish");
    says(lines, "dice");
    let mut files = directory.files().clone();
    let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
    *facts = facts.replace("sender = \"\"", "sender = \"client\"");
    let after = made(&Spec::from_files(files).unwrap());
    let of = |crates: &[Crate], package: &str| -> Option<String> {
        let one = crates.iter().find(|one| one.package == package)?;
        let sources = one.files.iter().filter(|(path, _)| path.ends_with(".rs"));
        Some(sources.map(|(_, text)| text.as_str()).collect())
    };
    for package in ["mcp-2027-01-01", "mcp-shared", "mcp-shims"] {
        assert_eq!(of(&before, package), of(&after, package), "{package}");
    }
    let own = of(&after, "mcp-ext-dice").unwrap();
    says(&own, "pub struct Wish ");
    says(&own, "pub dice: Option<bool>");
    assert!(!of(&after, "mcp-2027-01-01").unwrap().contains("pub dice"));
}

#[test]
fn a_published_state_of_a_stable_extension_never_changes_and_the_next_one_stands_beside_it() {
    let mut directory = SpecDirectory::from_files(files());
    imported(&mut directory, "dice@2027-01-01", FIRST);
    let mut files = directory.files().clone();
    let facts = files.get_mut("extensions/dice/extension.toml").unwrap();
    *facts = facts.replace(
        "status = \"released\"\n",
        "status = \"released\"\nstage = \"stable\"\n",
    );
    directory = SpecDirectory::from_files(files);
    // Prose is none of what it says.
    let prose = FIRST.replace("\"Cup\": {", "\"Cup\": {\"description\": \"A cup.\", ");
    imported(&mut directory, "dice@2027-01-01", &prose);
    let before = directory.files().clone();
    let upstream = UpstreamFile::of_extension_text("dice.json", &next()).unwrap();
    let mut options = ExtensionOptions {
        name: "dice@2027-01-01".to_owned(),
        ..ExtensionOptions::default()
    };
    let refused = directory.import_extension(&upstream, &options).unwrap_err();
    says(&refused.to_string(), "is stable and published");
    says(&refused.to_string(), "--extension dice@ID");
    assert_eq!(*directory.files(), before);
    options.name = "dice@2028-02-02".to_owned();
    let told = directory.import_extension(&upstream, &options).unwrap();
    assert!(told.added && told.stale.is_none(), "{:?}", told.stale);
    let first = "extensions/dice/2027-01-01/schema.json";
    assert_eq!(directory.files()[first], before[first]);
}
