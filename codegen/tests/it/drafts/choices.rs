//! Changes of constants, enums, unions and of the language itself, and what the generator makes of each.

use serde_json::json;

use crate::drafts::changes::Change;
use crate::drafts::changes::Outcome::{Crate, Open, Refusal};
use crate::drafts::draft::{every, reference};

/// Choices: constants, enums and unions.
pub(crate) const CHOICES: &[Change] = &[
    (
        "change a tag",
        |draft| draft.put("TextContent/properties/type", "const", json!("plain")),
        Crate(&[
            "Plain(TextContent),",
            "Tag::new(\n            \"ContentBlock\",\n            \"type\",\n            &[\"audio\", \"image\", \"plain\",",
        ]),
    ),
    (
        "two tags of one value",
        |draft| draft.put("ImageContent/properties/type", "const", json!("text")),
        Crate(&["reader.first_present(&PATHS)?"]),
    ),
    (
        "a tag becomes any string",
        |draft| drop(draft.take("TextContent/properties/type", "const")),
        Crate(&["reader.tag_or_other(&TAG)?"]),
    ),
    (
        "a tag becomes optional",
        |draft| draft.put("TextContent", "required", json!(["text"])),
        Crate(&["Tag::optional("]),
    ),
    (
        "a constant that is a number",
        |draft| {
            draft.put(
                "Tool/properties",
                "version",
                json!({"type": "integer", "const": 2}),
            );
            draft.push("Tool/required", json!("version"));
        },
        Crate(&["\"version\": constant_integer(2);"]),
    ),
    (
        "a constant number that may be absent",
        |draft| {
            draft.put(
                "Tool/properties",
                "version",
                json!({"type": "integer", "const": 2}),
            )
        },
        Crate(&["pub version: Option<Integer>,"]),
    ),
    (
        "add a choice to an enum",
        |draft| draft.push("LoggingLevel/enum", json!("trace")),
        Crate(&["pub const ALL: [Self; 9] = ["]),
    ),
    (
        "add a choice that is another one in capitals",
        |draft| draft.push("LoggingLevel/enum", json!("Error")),
        Open(&["#/$defs/LoggingLevel: ", "choices whose Rust names differ"]),
    ),
    (
        "an enum of numbers",
        |draft| *draft.at("LoggingLevel") = json!({"enum": [1, 2, 3], "type": "integer"}),
        Open(&[
            "#/$defs/LoggingLevel: ",
            "an `enum` of strings, found [1,2,3]",
        ]),
    ),
    (
        "an enum becomes any string",
        |draft| *draft.at("LoggingLevel") = json!({"type": "string"}),
        Crate(&["pub struct LoggingLevel(pub String);"]),
    ),
    (
        "an enum of one",
        |draft| *draft.at("Role") = json!({"enum": ["user"], "type": "string"}),
        Crate(&["pub const ALL: [Self; 1] = [Self::User];"]),
    ),
    (
        "reorder a union",
        |draft| {
            draft
                .at("ContentBlock/anyOf")
                .as_array_mut()
                .unwrap()
                .reverse()
        },
        Crate(&["pub enum ContentBlock {"]),
    ),
    (
        "a union of one",
        |draft| *draft.at("ContentBlock/anyOf") = json!([reference("TextContent")]),
        Crate(&[
            "pub enum ContentBlock {",
            "Self::TextContent(Decode::blank())",
        ]),
    ),
    (
        "a union of none",
        |draft| *draft.at("ContentBlock/anyOf") = json!([]),
        Refusal(&[
            "#/$defs/ContentBlock/anyOf: ",
            "a list of schemas, not empty",
        ]),
    ),
    (
        "a union with the same twice",
        |draft| draft.push("ContentBlock/anyOf", reference("TextContent")),
        Crate(&["pub enum ContentBlock {"]),
    ),
    (
        "a union that no one can tell apart",
        |draft| {
            let text = draft.at("TextContent").clone();
            draft.define("NoteContent", text);
            draft.push("ContentBlock/anyOf", reference("NoteContent"));
        },
        Open(&[
            "#/$defs/ContentBlock: ",
            "`TextContent`, `NoteContent`",
            "`ContentBlock` is any JSON, kept as text",
            "add to spec/unions.toml:\n    [[union]]\n    at = \"ContentBlock\"",
        ]),
    ),
    (
        "an object becomes a union",
        |draft| {
            let old = draft.drop("Annotations");
            draft.define("OldAnnotations", old);
            draft.define("NewAnnotations", json!({"type": "object", "properties": {"for": {"type": "string"}}, "required": ["for"]}));
            draft.define(
                "Annotations",
                json!({"anyOf": [reference("OldAnnotations"), reference("NewAnnotations")]}),
            );
        },
        Crate(&["pub enum Annotations {", "New(NewAnnotations),"]),
    ),
    (
        "choices of which each takes the same words",
        |draft| {
            let kind = json!({"enum": ["big", "small"], "type": "string"});
            let box_of = |member: &str| {
                json!({
                    "type": "object",
                    "properties": {"kind": kind, member: {"type": "string"}},
                    "required": ["kind", member],
                })
            };
            draft.define("FirstBox", box_of("first"));
            draft.define("SecondBox", box_of("second"));
            let boxes = json!({"anyOf": [reference("FirstBox"), reference("SecondBox")]});
            draft.put("Tool/properties", "box", boxes);
        },
        Crate(&["reader.first_present(&PATHS)?"]),
    ),
    (
        "choices that hold another one of themselves",
        |draft| {
            let node = |kind: &str| {
                json!({
                    "type": "object",
                    "properties": {"of": {"const": kind, "type": "string"}, "inner": reference("Node")},
                    "required": ["of"],
                })
            };
            draft.define("Leaf", node("leaf"));
            let mut branch = node("branch");
            branch["properties"]["left"] = reference("Branch");
            draft.define("Branch", branch);
            let both = json!({"anyOf": [reference("Leaf"), reference("Branch")]});
            draft.define("Node", both);
            draft.put("Tool/properties", "node", reference("Node"));
        },
        Crate(&["pub left: Option<Box<Branch>>,", "&[\"branch\", \"leaf\"]"]),
    ),
    (
        "a union within a union",
        |draft| {
            draft.define(
                "MediaContent",
                json!({"anyOf": [reference("ImageContent"), reference("AudioContent")]}),
            );
            *draft.at("ContentBlock/anyOf") =
                json!([reference("TextContent"), reference("MediaContent")]);
        },
        Crate(&["TagFound::Other => *self = Self::Media(Decode::blank()),"]),
    ),
    (
        "members beside a union",
        |draft| {
            draft.put(
                "ContentBlock",
                "properties",
                json!({"id": {"type": "string"}}),
            )
        },
        Open(&[
            "#/$defs/ContentBlock: ",
            "`anyOf` or `oneOf` alone",
            "`ContentBlock` is any JSON, kept as text",
        ]),
    ),
    (
        "a keyword that is new",
        |draft| draft.put("Tool/properties/name", "wibble", json!("base64")),
        Open(&[
            "#/$defs/Tool/properties/name/wibble: ",
            "the keyword `wibble`",
            "`wibble` says nothing of what is valid",
            "teach codegen/src/schema/parse.rs what it means",
            "expect-json = '''\"base64\"'''\n    remove = true",
        ]),
    ),
    (
        "keywords that limit a value, or say what it is for",
        |draft| {
            draft.put("Tool/properties/name", "contentEncoding", json!("base64"));
            draft.put("Tool", "not", json!({"required": ["never"]}));
        },
        Crate(&["pub struct Tool {", "pub name: String,"]),
    ),
    (
        "a tuple",
        |draft| {
            draft.put(
                "Annotations/properties",
                "range",
                json!({"type": "array", "prefixItems": [{"type": "number"}]}),
            )
        },
        Open(&[
            "#/$defs/JSONArray: ",
            "`JSONArray` is any list, kept as text",
        ]),
    ),
    (
        "a tuple with more behind it",
        |draft| {
            draft.put(
                "Annotations/properties",
                "range",
                json!({"type": "array", "prefixItems": [{"type": "number"}], "items": {"type": "string"}}),
            )
        },
        Open(&[
            "#/$defs/Annotations/properties/range/prefixItems: ",
            "`Annotations.range` is any JSON, kept as text",
        ]),
    ),
    (
        "a reference to a part of a definition",
        |draft| {
            let part = json!({"$ref": "#/$defs/Tool/properties/name"});
            draft.put("Annotations/properties", "tool", part);
        },
        Open(&[
            "#/$defs/Annotations/properties/tool/$ref: ",
            "the name of a definition under `$defs`",
        ]),
    ),
    (
        "never valid",
        |draft| draft.put("Tool/properties", "never", json!(false)),
        Open(&[
            "#/$defs/Tool/properties/never: ",
            "found `false`",
            "`Tool.never` is any JSON, kept as text",
        ]),
    ),
    (
        "a dialect that is new",
        |draft| draft.0["$schema"] = json!("https://json-schema.org/draft/2030-01/schema"),
        Refusal(&["#/$schema: ", "a new dialect needs a look"]),
    ),
    (
        "every reference into another file",
        |draft| {
            every(&mut draft.0, &mut |node| {
                if let Some(name) = node.get("$ref").and_then(|target| target.as_str()) {
                    let target = format!("common.json{name}");
                    *node = json!({"$ref": target});
                }
            });
        },
        Refusal(&["/$ref: ", "a reference within this file"]),
    ),
];
