//! A made-up revision in which the result of a tool has another shape: members of a result become a list of typed alternatives,
//! a tool says which of them it has, and a call asks for some. Rules carry the content both ways, and hold the laws.

use mcp_revisions_schema::sorted::SortedMap;

use mcp_codegen::generate::{shims_crate, type_crates};
use mcp_revisions_schema::{Models, Spec};

use crate::mutants::compiled::placed;
use crate::specs;
use crate::workspace::Workspace;

const OLD: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Result": {"type": "object", "properties": {"_meta": {"type": "object", "additionalProperties": {}}}, "additionalProperties": {}},
    "ClientRequest": {"anyOf": [{"$ref": "#/$defs/CallToolRequest"}, {"$ref": "#/$defs/ListToolsRequest"}]},
    "CallToolRequest": {"type": "object", "properties": {"method": {"const": "tools/call", "type": "string"}, "params": {"$ref": "#/$defs/CallToolRequestParams"}}, "required": ["method", "params"]},
    "CallToolRequestParams": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "CallToolResult": {"type": "object", "properties": {"content": {"type": "array", "items": {"$ref": "#/$defs/TextContent"}}, "structuredContent": {"type": "object", "additionalProperties": {}}, "isError": {"type": "boolean"}}, "required": ["content"]},
    "TextContent": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "ListToolsRequest": {"type": "object", "properties": {"method": {"const": "tools/list", "type": "string"}}, "required": ["method"]},
    "ListToolsResult": {"type": "object", "properties": {"tools": {"type": "array", "items": {"$ref": "#/$defs/Tool"}}}, "required": ["tools"]},
    "Tool": {"type": "object", "properties": {"name": {"type": "string"}, "outputSchema": {"type": "object", "additionalProperties": {}}}, "required": ["name"]}
  }
}"##;

/// Returns the newer schema: what the older one has, with the changes of the result.
fn new() -> String {
    let mut schema: serde_json::Value = serde_json::from_str(OLD).unwrap();
    let definitions = schema["$defs"].as_object_mut().unwrap();
    let object = || serde_json::json!({"type": "object", "additionalProperties": {}});
    let choice = |kind: &str, member: Option<(&str, serde_json::Value)>| {
        let mut required = vec!["type"];
        let mut properties = serde_json::json!({"type": {"const": kind, "type": "string"}});
        if let Some((name, of)) = member {
            required.push(name);
            properties[name] = of;
        }
        serde_json::json!({"type": "object", "properties": properties, "required": required})
    };
    let content = definitions["CallToolResult"]["properties"]["content"].clone();
    let choices = [
        (
            "ContentOutput",
            choice("content", Some(("content", content))),
        ),
        (
            "StructuredOutput",
            choice("structured", Some(("value", object()))),
        ),
        ("ContentVariant", choice("content", None)),
        (
            "StructuredVariant",
            choice("structured", Some(("schema", object()))),
        ),
    ];
    for (name, of) in choices {
        definitions.insert(name.to_owned(), of);
    }
    let any = |names: [&str; 2]| {
        let refs = names.map(|name| serde_json::json!({"$ref": format!("#/$defs/{name}")}));
        serde_json::json!({"anyOf": refs})
    };
    definitions.insert(
        "Output".to_owned(),
        any(["ContentOutput", "StructuredOutput"]),
    );
    definitions.insert(
        "OutputVariant".to_owned(),
        any(["ContentVariant", "StructuredVariant"]),
    );
    let list = |name: &str| serde_json::json!({"type": "array", "items": {"$ref": format!("#/$defs/{name}")}});
    let result = &mut definitions["CallToolResult"];
    let members = result["properties"].as_object_mut().unwrap();
    members.retain(|name, _| name == "isError");
    members.insert("outputs".to_owned(), list("Output"));
    result["required"] = serde_json::json!(["outputs"]);
    let members = definitions["Tool"]["properties"].as_object_mut().unwrap();
    members.remove("outputSchema");
    members.insert("outputVariants".to_owned(), list("OutputVariant"));
    definitions["CallToolRequestParams"]["properties"]["requestedOutputs"] =
        serde_json::json!({"type": "array", "items": {"type": "string"}});
    schema.to_string()
}

const RULES: &str = r#"
[[rule]]
id = "outputs"
at = "CallToolResult.outputs"
up = "gather"
down = "spread"
severity = "semantic"
alternatives = [
  { type = "ContentOutput", value = "content", member = "content", absent = [] },
  { type = "StructuredOutput", value = "value", member = "structuredContent" },
]
reason = "content and structured content are the first outputs of their types"
source = "the proposal"
example = [
  { result = "tools/call", way = "up", input = '{"content":[{"text":"5"}],"structuredContent":{"n":5}}', output = '{"outputs":[{"type":"content","content":[{"text":"5"}]},{"type":"structured","value":{"n":5}}]}' },
  { result = "tools/call", way = "down", input = '{"outputs":[{"type":"structured","value":{"n":5}}]}', output = '{"content":[],"structuredContent":{"n":5}}', loses = ["/outputs"] },
]

[[rule]]
id = "output-variants"
at = "Tool.outputVariants"
up = "gather"
down = "spread"
severity = "semantic"
alternatives = [
  { type = "ContentVariant" },
  { type = "StructuredVariant", value = "schema", member = "outputSchema" },
]
reason = "a tool with an output schema has both outputs"
source = "the proposal"
example = [
  { type = "Tool", way = "up", input = '{"name":"add","outputSchema":{"x":1}}', output = '{"name":"add","outputVariants":[{"type":"content"},{"type":"structured","schema":{"x":1}}]}' },
  { type = "Tool", way = "down", input = '{"name":"add","outputVariants":[{"type":"content"}]}', output = '{"name":"add"}', loses = ["/outputVariants"] },
]

[[rule]]
id = "requested-outputs"
at = "CallToolRequestParams.requestedOutputs"
down = "drop"
severity = "semantic"
reason = "an older server sends all that it has"
source = "the proposal"
example = [{ params = "tools/call", input = '{"name":"add","requestedOutputs":["content"]}', output = '{"name":"add"}', loses = ["/requestedOutputs"] }]
"#;

/// Values of both revisions, sent there and back.
const LAWS: &str = r##"#![cfg(test)]
use mcp_2027_01_01 as old;
use mcp_2028_02_02 as new;
use mcp_shims::{Context, Outcome, PAIRS, TypeStep};
use mcp_wire::{AnyValue, Decode, Encode};

fn converted<A: Decode + Encode + 'static, B: Decode + 'static>(steps: &[TypeStep], name: &str, value: A) -> (B, Vec<String>) {
    let step = steps.iter().find(|step| step.from == name && step.to == name).expect(name);
    let mut cx = Context::default();
    let result = step.convert(AnyValue::new(value), &mut cx);
    let outcome: Outcome<B> = cx.finish(result.map(|mut value| value.take::<B>().expect(name)));
    let lost = outcome.losses().iter().map(|loss| loss.pointer().to_string()).collect();
    (outcome.value().expect(name), lost)
}

fn read<T: Decode>(text: &str) -> T {
    mcp_wire::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What an older peer sends comes back from a newer one as it was.
fn comes_back<A, B>(name: &str, text: &str)
where
    A: Decode + Encode + Clone + PartialEq + std::fmt::Debug + 'static,
    B: Decode + Encode + 'static,
{
    let value: A = read(text);
    let (there, lost) = converted::<A, B>(PAIRS[0].up, name, value.clone());
    assert_eq!(lost, [""; 0], "{text}");
    let valid: B = read(&mcp_wire::to_string(&there));
    let (back, lost) = converted::<B, A>(PAIRS[0].down, name, valid);
    assert_eq!((back, lost.len()), (value, 0), "{text}");
}

/// What a newer peer sends comes back as it was, or the loss is recorded at these places.
fn comes_back_or_is_lost<A, B>(name: &str, text: &str, losses: &[&str])
where
    A: Decode + Encode + 'static,
    B: Decode + Encode + Clone + PartialEq + std::fmt::Debug + 'static,
{
    let value: B = read(text);
    let (there, lost) = converted::<B, A>(PAIRS[0].down, name, value.clone());
    assert_eq!(lost, losses, "{text}");
    let valid: A = read(&mcp_wire::to_string(&there));
    let (back, lost) = converted::<A, B>(PAIRS[0].up, name, valid);
    assert_eq!(lost, [""; 0], "{text}");
    assert_eq!(back == value, losses.is_empty(), "{text}: {back:?}");
}

#[test]
fn results_keep_their_content_in_both_directions() {
    for text in [
        r#"{"content":[]}"#,
        r#"{"content":[{"text":"a"},{"text":"b","later":1}],"isError":true,"vendor":{"x":1.0}}"#,
        r#"{"content":[{"text":"a"}],"structuredContent":{"n":1.50}}"#,
        r#"{"content":[],"structuredContent":{}}"#,
    ] {
        comes_back::<old::CallToolResult, new::CallToolResult>("CallToolResult", text);
    }
    let content = r#"{"type":"content","content":[{"text":"a"}]}"#;
    let structured = r#"{"type":"structured","value":{"n":1}}"#;
    for (outputs, losses) in [
        (content.to_owned(), &[][..]),
        (format!("{content},{structured}"), &[]),
        (structured.to_owned(), &["/outputs"]),
        (format!("{structured},{content}"), &["/outputs"]),
        (format!("{content},{structured},{structured}"), &["/outputs"]),
        (content.replace("}]}", "}],\"later\":1}"), &["/outputs"]),
        (String::new(), &["/outputs"]),
    ] {
        let text = format!(r#"{{"outputs":[{outputs}],"isError":false,"vendor":1}}"#);
        comes_back_or_is_lost::<old::CallToolResult, new::CallToolResult>("CallToolResult", &text, losses);
    }
}

#[test]
fn tools_say_which_outputs_they_have() {
    for text in [r#"{"name":"add"}"#, r#"{"name":"add","outputSchema":{"type":"object","x":[1,2]}}"#] {
        comes_back::<old::Tool, new::Tool>("Tool", text);
    }
    let content = r#"{"type":"content"}"#;
    let structured = r#"{"type":"structured","schema":{"type":"object"}}"#;
    comes_back_or_is_lost::<old::Tool, new::Tool>("Tool", r#"{"name":"add"}"#, &[]);
    for (variants, losses) in [
        (format!("{content},{structured}"), &[][..]),
        (content.to_owned(), &["/outputVariants"]),
        (structured.to_owned(), &["/outputVariants"]),
        (format!("{content},{structured},{structured}"), &["/outputVariants"]),
        (String::new(), &["/outputVariants"]),
    ] {
        let text = format!(r#"{{"name":"add","outputVariants":[{variants}]}}"#);
        comes_back_or_is_lost::<old::Tool, new::Tool>("Tool", &text, losses);
    }
}

#[test]
fn a_request_for_some_outputs_is_recorded_where_a_server_sends_all() {
    let text = r#"{"name":"add","requestedOutputs":["structured"]}"#;
    comes_back_or_is_lost::<old::CallToolRequestParams, new::CallToolRequestParams>("CallToolRequestParams", text, &["/requestedOutputs"]);
    comes_back::<old::CallToolRequestParams, new::CallToolRequestParams>("CallToolRequestParams", r#"{"name":"add"}"#);
}
"##;

const NAMES: &str = r#"[types]
Result = "AnyResult"
"#;

fn files() -> SortedMap<String, String> {
    specs::files(&[
        (
            "revisions.toml",
            &specs::released(&["2027-01-01", "2028-02-02"]),
        ),
        ("names.toml", NAMES),
        ("2027-01-01/schema.json", OLD),
        ("2028-02-02/schema.json", &new()),
        ("shims/2027-01-01..2028-02-02.toml", RULES),
    ])
}

#[test]
fn results_in_another_shape_are_carried_both_ways_by_rules_alone() {
    holds_laws("result-variants", files(), LAWS);
}

/// Returns a text with each of some words in the place of the other one of its pair.
fn swapped(text: &str, pairs: &[(&str, &str)]) -> String {
    let swap = |text: String, (one, other): &(&str, &str)| {
        let parts: Vec<String> = text
            .split(one)
            .map(|part| part.replace(other, one))
            .collect();
        parts.join(other)
    };
    pairs.iter().fold(text.to_owned(), swap)
}

/// The same pair with the list in the older revision: what is the way up there is the way down here.
fn mirrored() -> (SortedMap<String, String>, String) {
    let rules = swapped(RULES, &[("up = ", "down = "), ("\"up\"", "\"down\"")]);
    let files = specs::files(&[
        (
            "revisions.toml",
            &specs::released(&["2027-01-01", "2028-02-02"]),
        ),
        ("names.toml", NAMES),
        ("2027-01-01/schema.json", &new()),
        ("2028-02-02/schema.json", OLD),
        ("shims/2027-01-01..2028-02-02.toml", &rules),
    ]);
    let laws = swapped(
        LAWS,
        &[
            ("PAIRS[0].up", "PAIRS[0].down"),
            ("mcp_2027_01_01", "mcp_2028_02_02"),
        ],
    );
    (files, laws)
}

#[test]
fn a_list_that_becomes_members_in_the_newer_revision_is_carried_both_ways_by_rules_alone() {
    let (files, laws) = mirrored();
    holds_laws("result-variants-of-the-older", files, &laws);
}

/// What a list of the older revision lacks in its row is told as it is told of one of the newer.
#[test]
fn a_list_of_the_older_revision_has_its_mistakes_told_on_its_own_way() {
    for (found, put, told) in [
        ("up = \"spread\"", "up = \"drop\"", "the way up"),
        (
            "down = \"gather\"\nup = \"spread\"",
            "up = \"gather\"\ndown = \"spread\"",
            "outputs",
        ),
        (
            ", absent = []",
            "",
            "`content` must be there, and no `absent` says what it is",
        ),
    ] {
        let (mut files, _) = mirrored();
        let rules = files.get_mut("shims/2027-01-01..2028-02-02.toml").unwrap();
        assert!(rules.contains(found), "{found}: {rules}");
        *rules = rules.replacen(found, put, 1);
        let spec = Spec::from_files(files).unwrap();
        let models = Models::build(&spec).unwrap();
        let refused = mcp_revisions_plans::plan_shims(&models, &spec)
            .unwrap_err()
            .to_string();
        assert!(refused.contains(told), "{found} -> {put}: {refused}");
    }
}

/// Generates and compiles a spec, and runs the laws in it.
fn holds_laws(workspace: &str, files: SortedMap<String, String>, laws: &str) {
    let spec = Spec::from_files(files).unwrap();
    let models = Models::build(&spec).unwrap_or_else(|error| panic!("{error}"));
    let plans =
        mcp_revisions_plans::plan_shims(&models, &spec).unwrap_or_else(|error| panic!("{error}"));
    let (mut crates, once) = type_crates(&models);
    crates.push(shims_crate(&models, &plans, &once));
    let mut workspace = Workspace::new(workspace);
    let mut uses = Vec::new();
    for one in crates {
        let one = placed(one.unwrap());
        let folder = format!("generated/{}", one.package);
        workspace.add(&folder, &one);
        uses.push((one.package, folder));
    }
    workspace.add_user("laws", &uses, laws);
    if let Err(said) = workspace.cargo(&["test", "--package", "laws"]) {
        panic!("{said}");
    }
}

/// A list that no rule can make, or take apart, has a mistake that names the row, and what to do.
#[test]
fn a_list_of_alternatives_that_says_too_little_or_too_much_is_refused() {
    for (found, put, told) in [
        (
            ", absent = []",
            "",
            "`content` must be there, and no `absent` says what it is",
        ),
        ("absent = []", "absent = 7", "7 is not"),
        (
            "member = \"structuredContent\" }",
            "member = \"structuredContent\", absent = {} }",
            "`structuredContent` may be absent",
        ),
        (
            "member = \"structuredContent\"",
            "member = \"structure\"",
            "the other revision has no member `structure`",
        ),
        (
            "type = \"StructuredOutput\"",
            "type = \"Tool\"",
            "`Tool` is not an object that an item",
        ),
        (
            "type = \"StructuredOutput\", value = \"value\", member = \"structuredContent\"",
            "type = \"StructuredOutput\"",
            "`StructuredOutput.value` must be there",
        ),
        (
            "value = \"value\", ",
            "",
            "has both `value` and `member`, or neither",
        ),
        (
            "value = \"schema\", member = \"outputSchema\"",
            "",
            "none of its `alternatives` holds a value",
        ),
        ("down = \"spread\"", "down = \"drop\"", "the way down"),
        (
            "severity = \"semantic\"\nalternatives",
            "alternatives",
            "what kind of loss",
        ),
    ] {
        let mut files = files();
        let rules = files.get_mut("shims/2027-01-01..2028-02-02.toml").unwrap();
        assert!(rules.contains(found), "{found}");
        *rules = rules.replacen(found, put, 1);
        let spec = Spec::from_files(files).unwrap();
        let models = Models::build(&spec).unwrap();
        let refused = mcp_revisions_plans::plan_shims(&models, &spec)
            .err()
            .map(|error| error.to_string());
        let refused = refused.unwrap_or_else(|| panic!("{found} -> {put}: no error"));
        assert!(refused.contains(told), "{found} -> {put}: {refused}");
    }
}
