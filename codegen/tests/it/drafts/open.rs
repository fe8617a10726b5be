//! What drafts left open: one made-up change for each class that published drafts had.

use serde_json::json;

use crate::drafts::changes::Outcome::{Crate, Open};
use crate::drafts::changes::{Change, request};
use crate::drafts::draft::reference;

/// Each by itself here, and all of them in one schema where crates are compiled.
pub(crate) const OPEN: &[Change] = &[
    (
        "a request that nothing answers",
        |draft| {
            draft.define("WatchRequest", request("watch/start"));
            draft.push("ClientRequest/anyOf", reference("WatchRequest"));
        },
        Open(&[
            "#/$defs/WatchRequest: nothing says what answers `watch/start`",
            "[[result]]\n    method = \"watch/start\"\n    result = \"\"",
        ]),
    ),
    (
        "an embedded request without a result",
        |draft| {
            draft.define("AskRequest", request("ask/person"));
            draft.push("InputRequest/anyOf", reference("AskRequest"));
        },
        Open(&["#/$defs/AskRequest: nothing says what answers `ask/person`"]),
    ),
    (
        "a question that is asked by a request, and in a result, too",
        |draft| {
            let asked = json!({"anyOf": [reference("ListRootsRequest")]});
            draft.define("ServerRequest", asked);
        },
        Crate(&["impl mcp_wire::Request for ListRootsRequest {"]),
    ),
    (
        "a request that no union lists",
        |draft| draft.define("LostRequest", request("lost/found")),
        Open(&[
            "#/$defs/LostRequest: ",
            "none that lists `lost/found`: nothing says who sends it",
        ]),
    ),
    (
        "an inline `_meta` that differs from the others",
        |draft| {
            let meta = json!({"type": "object", "properties": {"cost": {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"]}}});
            draft.put("Tool/properties", "_meta", meta);
        },
        Open(&[
            "#/$defs/Tool/properties/_meta: `RequestMetaObject` is the name of a schema",
            "it is called `ToolMeta`",
            "[[inline]]\n    at = \"Tool._meta\"",
        ]),
    ),
    (
        "an inline schema under the name of a definition",
        |draft| {
            draft.define(
                "ToolOrigin",
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            );
            let origin = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
            draft.put("Tool/properties", "origin", origin);
        },
        Open(&[
            "it is called `ToolOrigin2`",
            "[[inline]]\n    at = \"Tool.origin\"",
        ]),
    ),
    (
        "a scalar and its range",
        |draft| {
            let rank = json!({"allOf": [{"type": "number"}, {"type": "integer", "minimum": 1}, {"maximum": 9}]});
            draft.put("Tool/properties", "rank", rank);
        },
        Crate(&["pub rank: Option<Integer>,"]),
    ),
    (
        "a range that was taken for members",
        |draft| {
            let range = json!({"type": "object", "properties": {"minimum": {"type": "integer", "const": 0}}, "required": ["minimum"]});
            let ttl = json!({"allOf": [range, {"type": "number"}]});
            draft.put("Tool/properties", "ttl", ttl);
        },
        Open(&[
            "#/$defs/Tool/properties/ttl: expected schemas of `allOf`",
            "`Tool.ttl` is any JSON, kept as text",
            "[[shape]]\n    at = \"Tool.ttl\"",
        ]),
    ),
    (
        "a boolean constant",
        |draft| {
            draft.put(
                "Tool/properties",
                "final",
                json!({"const": true, "type": "boolean"}),
            );
            draft.put(
                "Tool/properties",
                "beta",
                json!({"const": true, "type": "boolean"}),
            );
            draft.push("Tool/required", json!("final"));
        },
        Crate(&[
            "\"final\": constant_boolean(true);",
            "pub beta: Option<bool>,",
        ]),
    ),
    (
        "limits on the names of members",
        |draft| {
            let labels = json!({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": {"type": "string"}});
            draft.put("Tool/properties", "labels", labels);
        },
        Crate(&["pub labels: Option<Map<String>>,"]),
    ),
    (
        "a union that nothing decides, and one that holds it",
        |draft| {
            let note = json!({"type": "object", "properties": {"note": {"type": "string"}}});
            draft.define("OneNote", note.clone());
            draft.define("OtherNote", note);
            draft.define(
                "Note",
                json!({"anyOf": [reference("OneNote"), reference("OtherNote")]}),
            );
            draft.define(
                "NoteOrText",
                json!({"anyOf": [reference("Note"), {"type": "string"}]}),
            );
        },
        Open(&[
            "#/$defs/Note: expected a union whose variants can be told apart",
            "#/$defs/NoteOrText: ",
            "decide = { present = [{ variant = \"OneNote\", member = \"\" }, ",
        ]),
    ),
    (
        "a name in `required` that is a member in other letters",
        |draft| draft.push("Tool/required", json!("input_schema")),
        Open(&[
            "#/$defs/Tool: `input_schema` is what `inputSchema` has as the name of its field",
            "it is called `input_schema_2`",
            "\"Tool.input_schema\" = \"\"",
        ]),
    ),
    (
        "a definition by a name of Rust's",
        |draft| {
            draft.define(
                "Vec",
                json!({"type": "object", "properties": {"x": {"type": "number"}}}),
            )
        },
        Open(&["#/$defs/Vec: ", "it is called `VecType`"]),
    ),
    (
        "choices that Rust cannot tell apart",
        |draft| {
            draft.put(
                "Tool/properties",
                "sign",
                json!({"enum": ["<", ">"], "type": "string"}),
            )
        },
        Open(&["#/$defs/Tool/properties/sign: ", "it is any string"]),
    ),
    (
        "a list of itself",
        |draft| {
            draft.define("Nest", json!({"type": "array", "items": reference("Nest")}));
            draft.put("Tool/properties", "nest", reference("Nest"));
        },
        Open(&[
            "#/$defs/Nest: ",
            "an alias cycle: Nest -> Nest",
            "`Nest` is any JSON",
        ]),
    ),
    (
        "a type that no finite value has",
        |draft| {
            let next = json!({"type": "object", "properties": {"next": reference("Endless")}, "required": ["next"]});
            draft.define("Endless", next);
            draft.put("Tool/properties", "endless", reference("Endless"));
        },
        Open(&[
            "#/$defs/Endless: ",
            "some finite JSON",
            "`Endless` is any JSON",
        ]),
    ),
    (
        "two notifications of one method",
        |draft| {
            let mut told = request("notifications/twice");
            told["properties"].as_object_mut().unwrap().remove("id");
            told["required"] = json!(["jsonrpc", "method"]);
            draft.define("OnceNotification", told.clone());
            told["properties"]["params"] = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
            draft.define("TwiceNotification", told);
            draft.push("ServerNotification/anyOf", reference("OnceNotification"));
            draft.push("ServerNotification/anyOf", reference("TwiceNotification"));
        },
        Open(&[
            "#/$defs/TwiceNotification: ",
            "found `notifications/twice` for `OnceNotification` and `TwiceNotification`",
            "`notifications/twice` is no method that is known",
        ]),
    ),
    (
        "a variant called like what is unknown",
        |draft| {
            let mut told = request("notifications/odd");
            told["required"] = json!(["jsonrpc", "method"]);
            draft.define("UnknownNotification", told);
            draft.push("ServerNotification/anyOf", reference("UnknownNotification"));
        },
        Open(&[
            "#/$defs/ServerNotification: ",
            "found `Unknown`",
            "the variant of `UnknownNotification` is called `Unknown2`",
        ]),
    ),
    (
        "what is no message among messages",
        |draft| {
            draft.define("Telegram", json!({"type": "string"}));
            draft.push("InputRequest/anyOf", reference("Telegram"));
        },
        Open(&[
            "#/$defs/InputRequest: ",
            "and `InputRequest` lists it",
            "`InputRequest` is any JSON, kept as text",
        ]),
    ),
    (
        "a request and a notification of one name",
        |draft| {
            draft.define("ShoutRequest", request("shout"));
            draft.define("ShoutResult", json!({"type": "object"}));
            let mut told = request("notifications/shout");
            told["required"] = json!(["jsonrpc", "method"]);
            draft.define("ShoutNotification", told);
            draft.push("InputRequest/anyOf", reference("ShoutRequest"));
            draft.push("ServerNotification/anyOf", reference("ShoutNotification"));
        },
        Crate(&["fn shout(", "fn shout_request("]),
    ),
    (
        "a method whose area is no file",
        |draft| {
            draft.define("OddRequest", request("Odd-ones/out"));
            draft.define("OddResult", json!({"type": "object"}));
            draft.push("ClientRequest/anyOf", reference("OddRequest"));
        },
        Open(&["#/$defs/OddRequest: `Odd-ones`", "are in `odd_ones`"]),
    ),
];
