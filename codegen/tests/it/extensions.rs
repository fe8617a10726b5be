//! An extension that nobody has written code for: a folder of `spec/extensions` is read, typed and generated.

use std::collections::BTreeMap;

use mcp_codegen::generate::{Crate, type_crates};
use mcp_schema::spec::Directory;
use mcp_schema::{Models, Spec};

const REVISIONS: &str = r#"
[[revision]]
id = "2027-01-01"
lifecycle = "per-request"
status = "released"
reference = "https://example.com/core#{anchor}"
"#;

/// The core: a revision whose schema has a defect.
const CORE: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"resultType": {"type": "string"}}, "required": ["resultType"]},
    "JSONRPCRequest": {"type": "object", "properties": {"jsonrpc": {"const": "2.0", "type": "string"}, "id": {"$ref": "#/$defs/RequestId"}, "method": {"type": "string"}, "params": {"type": "object"}}, "required": ["id", "jsonrpc", "method"]},
    "JSONRPCNotification": {"type": "object", "properties": {"jsonrpc": {"const": "2.0", "type": "string"}, "method": {"type": "string"}, "params": {"type": "object"}}, "required": ["jsonrpc", "method"]},
    "RequestId": {"type": ["integer", "string"]},
    "Level": {"type": "object", "properties": {"height": {"type": "integer"}}, "required": ["height"]},
    "Word": {"type": "object", "properties": {"kind": {"const": "word", "type": "string"}, "word": {"type": "string"}}, "required": ["kind", "word"]},
    "WordBlock": {"type": "object", "properties": {"kind": {"const": "block", "type": "string"}, "size": {"type": "number"}}, "required": ["kind"]},
    "Block": {"anyOf": [{"$ref": "#/$defs/Word"}, {"$ref": "#/$defs/WordBlock"}]}
  }
}"##;

/// Heights are no whole numbers, and the extension repeats the defect.
const ERRATA: &str = r#"
[[erratum]]
id = "height"
reason = "A height may be any number."
source = "the page"
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
revision = "2027-01-01"
reference = "https://example.com/dice#{anchor}"
settings = "DiceCapability"

[[method]]
name = "dice/roll"
sender = "client"

[[method]]
name = "notifications/dice/fell"
sender = "server"
"#;

fn files() -> BTreeMap<String, String> {
    let files = [
        ("revisions.toml", REVISIONS),
        ("names.toml", "[types]\nResult = \"AnyResult\"\n"),
        ("2027-01-01/schema.json", CORE),
        ("2027-01-01/errata.toml", ERRATA),
        ("extensions/dice/schema.json", DICE),
        ("extensions/dice/extension.toml", FACTS),
    ];
    files
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into()
}

fn crates(files: BTreeMap<String, String>) -> Vec<Crate> {
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
    for name in ["AnyResult", "JSONRPCRequest", "Level", "RequestId"] {
        assert!(repeated.contains(&format!("{name},")), "{name}: {repeated}");
    }
    // A copy that differs is a type of its own.
    assert!(text.contains("pub struct Word "));
    assert!(text.contains("pub tongue: Option<String>"));
    assert!(text.contains("pub at: Option<Level>"));
    assert!(text.contains(r#"pub const IDENTIFIER: &str = "com.example/dice""#));
}

#[test]
fn a_revision_that_an_extension_rests_on_is_not_removed() {
    let mut directory = Directory::from_files(files());
    let refused = directory.remove("2027-01-01").unwrap_err().to_string();
    assert!(
        refused.contains("the extension `dice` rests on revision `2027-01-01`"),
        "{refused}"
    );
    assert_eq!(*directory.files(), files());
}
