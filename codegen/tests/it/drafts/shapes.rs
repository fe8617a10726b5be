//! Changes of members and of kinds of values, and what the generator makes of each.

use serde_json::json;

use crate::drafts::changes::Change;
use crate::drafts::changes::Outcome::{Crate, Open, Refusal};
use crate::drafts::draft::reference;

fn nullable(schema: &serde_json::Value) -> serde_json::Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

/// Members and kinds of values.
pub(crate) const SHAPES: &[Change] = &[
    (
        "add a required member",
        |draft| {
            draft.put("Tool/properties", "version", json!({"type": "string"}));
            draft.push("Tool/required", json!("version"));
        },
        Crate(&["version: impl Into<String>,"]),
    ),
    (
        "add an optional member",
        |draft| draft.put("Tool/properties", "version", json!({"type": "integer"})),
        Crate(&["pub fn with_version(mut self, version: impl Into<Integer>) -> Self {"]),
    ),
    (
        "add a member that is an inline object",
        |draft| {
            let owner = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            draft.put("Tool/properties", "owner", owner);
        },
        Crate(&["pub owner: Option<ToolOwner>,", "pub struct ToolOwner {"]),
    ),
    (
        "add a member called like a word of Rust",
        |draft| draft.put("Tool/properties", "async", json!({"type": "boolean"})),
        Crate(&["pub async_: Option<bool>,", "pub fn with_async("]),
    ),
    (
        "add a member called like the field for the rest",
        |draft| draft.put("Tool/properties", "extra", json!({"type": "boolean"})),
        Open(&[
            "#/$defs/Tool/properties/extra: ",
            "it is called `extra_2`",
            "add to spec/names.toml:\n    [members]\n    \"Tool.extra\" = \"\"",
        ]),
    ),
    (
        "spell a member another way beside the old one",
        |draft| draft.put("Tool/properties", "input_schema", json!({"type": "object"})),
        Open(&[
            "#/$defs/Tool/properties/input_schema: ",
            "is what `inputSchema` has",
        ]),
    ),
    (
        "require a member that is not described",
        |draft| draft.push("Tool/required", json!("serial")),
        Crate(&["serial: impl Into<Json>,"]),
    ),
    (
        "require nothing",
        |draft| drop(draft.take("Tool", "required")),
        Crate(&["pub input_schema: Option<JsonObject>,"]),
    ),
    (
        "two hundred members",
        |draft| (0..200).for_each(|at| draft.put("Tool/properties", &format!("m{at}"), json!({}))),
        Open(&["#/$defs/Tool: ", "at most 128 named members", "[[shape]]"]),
    ),
    (
        "close an object",
        |draft| draft.put("Tool", "additionalProperties", json!(false)),
        Crate(&["Tool closed {"]),
    ),
    (
        "type the rest of an object",
        |draft| {
            draft.put(
                "Annotations",
                "additionalProperties",
                json!({"type": "string"}),
            )
        },
        Crate(&["pub extra: Map<String>,"]),
    ),
    (
        "a nullable required member",
        |draft| {
            draft.put(
                "PromptMessage/properties/role",
                "$ref",
                json!("#/$defs/NullableRole"),
            )
        },
        Refusal(&[
            "#/$defs/PromptMessage/properties/role/$ref: ",
            "NullableRole",
        ]),
    ),
    (
        "a nullable required member of another definition",
        |draft| {
            let role = nullable(&reference("Role"));
            draft.put("PromptMessage/properties", "role", role);
        },
        Crate(&["role: Option<Role>"]),
    ),
    (
        "a nullable optional member",
        |draft| {
            let null = json!({"type": ["boolean", "null"]});
            draft.put("CallToolResult/properties", "isError", null);
        },
        Crate(&["pub is_error: Option<bool>,"]),
    ),
    (
        "a nullable definition",
        |draft| {
            draft.put(
                "ProgressToken",
                "type",
                json!(["integer", "null", "string"]),
            )
        },
        Crate(&["pub type ProgressToken = Option<ProgressTokenValue>;"]),
    ),
    (
        "whole numbers become any numbers",
        |draft| draft.put("ListToolsResult/properties/ttlMs", "type", json!("number")),
        Crate(&["ttl_ms: impl Into<Number>"]),
    ),
    (
        "one value becomes one or many",
        |draft| {
            let content = draft.at("PromptMessage/properties/content");
            let one = content.clone();
            *content = json!({"anyOf": [one, {"type": "array", "items": one}]});
        },
        // The rule for 2024-11-05 calls what stands there `ContentBlock`.
        Open(&[
            "`ContentBlock` is the name of a schema that says something else, at ContentBlock",
            "it is called `PromptMessageContent`",
            "[[inline]]\n    at = \"PromptMessage.content\"",
        ]),
    ),
    (
        "one value becomes one or many, where no rule names it",
        |draft| {
            let one = draft.at("Tool/properties/icons/items").clone();
            draft.put(
                "Tool/properties",
                "icons",
                json!({"anyOf": [one, {"type": "array", "items": one}]}),
            );
        },
        Crate(&["pub enum ToolIcons {", "Icon(Icon),", "List(Vec<Icon>),"]),
    ),
    (
        "an object that holds itself",
        |draft| {
            draft.put("Tool/properties", "parent", reference("Tool"));
            draft.put(
                "Tool/properties",
                "children",
                json!({"type": "array", "items": reference("Tool")}),
            );
        },
        Crate(&[
            "pub parent: Option<Box<Tool>>,",
            "pub children: Option<Vec<Tool>>,",
        ]),
    ),
    (
        "compose with allOf",
        |draft| {
            let tool = draft.drop("Tool");
            draft.define("Tool", json!({"allOf": [reference("BaseMetadata"), tool]}));
        },
        Crate(&["pub struct Tool {", "pub input_schema: JsonObject,"]),
    ),
    (
        "compose what contradicts itself",
        |draft| {
            let tool = draft.drop("Tool");
            let other = json!({"type": "object", "properties": {"name": {"type": "integer"}}});
            draft.define("Tool", json!({"allOf": [tool, other]}));
        },
        Open(&[
            "#/$defs/Tool/allOf/0/properties/name: ",
            "`Tool` is any JSON, kept as text",
        ]),
    ),
    (
        "say more beside a reference",
        |draft| draft.put("Tool/properties/annotations", "required", json!(["title"])),
        Open(&[
            "#/$defs/Tool/properties/annotations: ",
            "`$ref` alone",
            "`Tool.annotations` is any JSON, kept as text",
        ]),
    ),
    (
        "describe beside a reference, and deprecate",
        |draft| {
            draft.put(
                "Tool/properties/annotations",
                "description",
                json!("Of the [old] kind."),
            );
            draft.put("Tool/properties/annotations", "deprecated", json!(true));
        },
        Crate(&["pub annotations: Option<ToolAnnotations>,"]),
    ),
];
