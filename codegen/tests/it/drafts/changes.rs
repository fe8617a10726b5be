//! The changes, and what the generator makes of each.

use serde_json::{Value, json};

use crate::drafts::draft::{Draft, reference};

/// What a change leads to.
pub(crate) enum Outcome {
    /// A crate whose text has all of these.
    Crate(&'static [&'static str]),
    /// A crate that rests on decisions whose text has all of these.
    Open(&'static [&'static str]),
    /// A refusal whose text has all of these.
    Refusal(&'static [&'static str]),
}

use Outcome::{Crate, Open, Refusal};

/// What is done to the schema, how, and what comes of it.
pub(crate) type Change = (&'static str, fn(&mut Draft), Outcome);

pub(crate) fn request(method: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": reference("RequestId"),
            "jsonrpc": {"const": "2.0", "type": "string"},
            "method": {"const": method, "type": "string"},
            "params": reference("RequestParams"),
        },
        "required": ["id", "jsonrpc", "method", "params"],
    })
}

/// Names: definitions that come, go, move and meet.
pub(crate) const NAMES: &[Change] = &[
    (
        "nothing",
        |_| {},
        Crate(&["pub struct Tool {", "pub enum ContentBlock {"]),
    ),
    (
        "rename a definition",
        |draft| draft.rename("Tool", "ToolDefinition"),
        Crate(&[
            "pub struct ToolDefinition {",
            "pub tools: Vec<ToolDefinition>,",
        ]),
    ),
    (
        "rename a result that its response names",
        |draft| draft.rename("CallToolResult", "ToolOutput"),
        Crate(&["ToolOutput(ToolOutput)"]),
    ),
    (
        "rename a request that the rules pair with its result",
        |draft| draft.rename("ListToolsRequest", "ToolListRequest"),
        Crate(&["impl mcp_wire::Request for ToolListRequest {"]),
    ),
    (
        "rename a request away from its response",
        |draft| draft.rename("CallToolRequest", "InvokeToolRequest"),
        Crate(&["impl mcp_wire::Request for InvokeToolRequest {"]),
    ),
    (
        "rename a definition, but not what refers to it",
        |draft| {
            let icon = draft.drop("Icon");
            draft.define("Picture", icon);
        },
        Refusal(&[
            "/icons/items/$ref: ",
            "`#/$defs/Icon`, which is not there",
            "was a definition renamed or dropped?",
        ]),
    ),
    (
        "rename a definition to a name of Rust's prelude",
        |draft| draft.rename("Icon", "Box"),
        Open(&[
            "#/$defs/Box: `Box` is a name that generated code has for something else",
            "it is called `BoxType`",
            "add to spec/names.toml:\n    [types]\n    \"Box\" = \"\"",
        ]),
    ),
    (
        "rename a definition to a name of the runtime",
        |draft| draft.rename("Icon", "Tag"),
        Open(&["#/$defs/Tag: ", "it is called `TagType`"]),
    ),
    (
        "inline a struct that stands at several places",
        |draft| draft.inline("Implementation"),
        Crate(&["pub struct "]),
    ),
    (
        "inline a struct that a rule names again",
        |draft| draft.inline("Annotations"),
        Crate(&[
            "pub struct Annotations {",
            "pub annotations: Option<Annotations>,",
        ]),
    ),
    (
        "inline a union",
        |draft| draft.inline("ElicitRequestParams"),
        Crate(&["pub enum ElicitRequestParams {"]),
    ),
    (
        "inline an enum",
        |draft| draft.inline("Role"),
        Crate(&[
            "pub enum PromptMessageRole {",
            "pub enum AnnotationsAudience {",
        ]),
    ),
    (
        "extract an inline schema",
        |draft| draft.extract("ListToolsResult/properties/cacheScope", "CacheScope"),
        Crate(&["pub enum CacheScope {"]),
    ),
    (
        "extract an opaque schema, which its rule no longer meets",
        |draft| draft.extract("Tool/properties/inputSchema", "ToolInputSchema"),
        Crate(&[
            "pub struct ToolInputSchema {",
            "pub input_schema: ToolInputSchema,",
        ]),
    ),
    (
        "extract a schema under the name of another one",
        |draft| {
            let capabilities = json!({"type": "object", "properties": {"x": {"type": "string"}}});
            draft.define("ServerCapabilitiesTools", capabilities);
        },
        Open(&[
            "#/$defs/ServerCapabilities/properties/tools: `ServerCapabilitiesTools` is the name of a schema",
            "it is called `ServerCapabilitiesTools2`",
            "[[inline]]\n    at = \"ServerCapabilities.tools\"",
        ]),
    ),
    (
        "merge two definitions",
        |draft| {
            draft.merge(
                "TextResourceContents",
                "BlobResourceContents",
                "AnyResourceContents",
            )
        },
        Crate(&[
            "pub struct AnyResourceContents {",
            "pub blob: Option<String>,",
        ]),
    ),
    (
        "drop a definition that is in use",
        |draft| drop(draft.drop("Annotations")),
        Refusal(&[
            "/properties/annotations/$ref: ",
            "`#/$defs/Annotations`, which is not there",
        ]),
    ),
    (
        "drop a definition and what refers to it",
        |draft| {
            drop(draft.drop("Annotations"));
            for of in [
                "TextContent",
                "ImageContent",
                "AudioContent",
                "EmbeddedResource",
                "Resource",
                "ResourceLink",
                "ResourceTemplate",
            ] {
                draft.take(&format!("{of}/properties"), "annotations");
            }
        },
        Crate(&["pub struct TextContent {"]),
    ),
    (
        "drop the list of requests",
        |draft| drop(draft.drop("ClientRequest")),
        Open(&["#/$defs/CallToolRequest: ", "none that lists `tools/call`"]),
    ),
    (
        "drop a request from the list, but not its definition",
        |draft| {
            let requests = draft.at("ClientRequest/anyOf").as_array_mut().unwrap();
            requests.retain(|request| *request != reference("CompleteRequest"));
        },
        Open(&[
            "#/$defs/CompleteRequest: ",
            "none that lists `completion/complete`",
            "`CompleteRequest` is a type, and no method of either side",
        ]),
    ),
    (
        "drop all responses",
        |draft| {
            let definitions = draft.0["$defs"].as_object_mut().unwrap();
            definitions
                .retain(|name, _| !name.ends_with("ResultResponse") || name.starts_with("JSONRPC"));
        },
        Crate(&["type Result = ListToolsResult;"]),
    ),
];

/// Messages: requests, notifications and what answers them.
pub(crate) const MESSAGES: &[Change] = &[
    (
        "add a request with its result",
        |draft| {
            draft.define("EchoRequest", request("echo/say"));
            draft.define(
                "EchoResult",
                json!({"type": "object", "properties": {"said": {"type": "string"}}}),
            );
            draft.push("ClientRequest/anyOf", reference("EchoRequest"));
        },
        Crate(&[
            "impl mcp_wire::Request for EchoRequest {",
            "type Result = EchoResult;",
            "//! Types of echo.",
        ]),
    ),
    (
        "add a request without a result",
        |draft| {
            draft.define("EchoRequest", request("echo/say"));
            draft.push("ClientRequest/anyOf", reference("EchoRequest"));
        },
        Open(&[
            "#/$defs/EchoRequest: nothing says what answers `echo/say`",
            "taken: `Result`, the result of the generic kind",
            "add to spec/methods.toml:\n    [[result]]\n    method = \"echo/say\"",
        ]),
    ),
    (
        "add a notification",
        |draft| {
            let mut notification = request("notifications/echo/said");
            notification["required"] = json!(["jsonrpc", "method"]);
            draft.define("SaidNotification", notification);
            draft.push("ServerNotification/anyOf", reference("SaidNotification"));
        },
        Crate(&["impl mcp_wire::Notification for SaidNotification {"]),
    ),
    (
        "add a notification, and a result that seems to be its own",
        |draft| {
            let mut notification = request("notifications/echo/said");
            notification["required"] = json!(["jsonrpc", "method"]);
            draft.define("SaidNotification", notification);
            draft.push("ServerNotification/anyOf", reference("SaidNotification"));
            draft.define("SaidNotificationResult", json!({"type": "object"}));
        },
        Crate(&[
            "message: \"SaidNotification\",\n        params: Some(\"RequestParams\"),\n        params_required: false,\n        result: None,",
        ]),
    ),
    (
        "rename a method",
        |draft| {
            draft.put(
                "CallToolRequest/properties/method",
                "const",
                json!("tools/invoke"),
            )
        },
        Crate(&["const METHOD: &'static str = \"tools/invoke\";"]),
    ),
    (
        "rename a method to one that has no file",
        |draft| {
            draft.put(
                "CallToolRequest/properties/method",
                "const",
                json!("tools-v2/call"),
            )
        },
        Open(&[
            "#/$defs/CallToolRequest: `tools-v2`",
            "are in `tools_v2`",
            "add to spec/methods.toml:\n    [areas]\n    \"tools-v2/call\"",
        ]),
    ),
    (
        "two requests of one method",
        |draft| {
            draft.put(
                "CallToolRequest/properties/method",
                "const",
                json!("tools/list"),
            )
        },
        Open(&[
            "#/$defs/ListToolsRequest: ",
            "found `tools/list` for `CallToolRequest` and `ListToolsRequest`",
            "`tools/list` is no method that is known",
            "[[erratum]]",
        ]),
    ),
    (
        "a method that is any string",
        |draft| drop(draft.take("CallToolRequest/properties/method", "const")),
        Open(&[
            "#/$defs/CallToolRequest: ",
            "a message whose `method` is one constant",
            "`ClientRequest` is any JSON, kept as text",
        ]),
    ),
    (
        "another kind of id",
        |draft| *draft.at("RequestId") = json!({"type": "string"}),
        Refusal(&[
            "spec/names.toml:",
            "runtime type `RequestId`",
            "says a string",
        ]),
    ),
];
