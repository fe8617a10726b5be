//! Tools that ask nothing: content of every kind, progress and logs, and changes of what the server has.

use std::time::Duration;

use mcp_revisions::args::MimeType;
use mcp_revisions::mcp_wire::JsonObject;
use mcp_revisions::sansio::server::LogLevel;
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{RequestContext, Router};
use mcp_revisions::{Latest, latest as mcp};
use tokio::time::sleep;

use super::resources::WATCHED;
use super::{WHAT, embedded, image};

/// How long there is between two things that a tool says.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn register(router: Router, changes: &Changes) -> Router {
    let simple = || async { "This is a simple text response for testing." };
    let changed = |change: fn(&Changes)| {
        let changes = changes.clone();
        move || {
            change(&changes);
            async { "changed" }
        }
    };
    router
        .tool("test_simple_text", WHAT, simple)
        .tool("test_watched", WHAT, simple)
        .tool_of(tool("json_schema_2020_12_tool", SCHEMA), simple)
        .tool_of(tool("test_headers", HEADERS), simple)
        .tool("test_image_content", WHAT, || async {
            mcp::ContentBlock::from(image())
        })
        .tool("test_audio_content", WHAT, || async {
            mcp::ContentBlock::from(mcp::AudioContent::new(SILENCE, MimeType("audio/wav")))
        })
        .tool("test_embedded_resource", WHAT, || async {
            let text = "This is an embedded resource content.";
            let resource = embedded("test://embedded-resource", "text/plain", text);
            mcp::ContentBlock::from(resource)
        })
        .tool("test_multiple_content_types", WHAT, || async {
            let (uri, text) = ("test://mixed-content-resource", MIXED);
            vec![
                mcp::TextContent::new("Multiple content types test:").into(),
                image().into(),
                mcp::ContentBlock::from(embedded(uri, "application/json", text)),
            ]
        })
        .tool("test_error_handling", WHAT, || async {
            Err::<String, _>("This tool intentionally returns an error for testing")
        })
        .tool("test_tool_with_logging", WHAT, logs)
        .tool("test_logging_tool", WHAT, logs)
        .tool("test_tool_with_progress", WHAT, progresses)
        .tool("test_reconnection", WHAT, sends_away)
        .tool("test_trigger_tool_change", WHAT, changed(Changes::tools))
        .tool(
            "test_trigger_prompt_change",
            WHAT,
            changed(Changes::prompts),
        )
        .tool(
            "test_trigger_resource_change",
            WHAT,
            changed(|changes| changes.resource(WATCHED)),
        )
}

async fn logs(cx: RequestContext<Latest>) -> &'static str {
    for text in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        cx.log(LogLevel::Info, text).await;
        sleep(PAUSE).await;
    }
    "logged"
}

async fn progresses(cx: RequestContext<Latest>) -> &'static str {
    for done in [0, 50, 100] {
        cx.progress(done, 100).await;
        sleep(PAUSE).await;
    }
    "progressed"
}

/// Its client reconnects for the answer, if its revision has that.
async fn sends_away(cx: RequestContext<Latest>) -> &'static str {
    if let Some(peer) = cx.peer() {
        peer.close_stream();
    }
    sleep(PAUSE).await;
    "taken up again"
}

/// A tool of this schema.
fn tool(name: &str, schema: &str) -> mcp::Tool {
    let schema = JsonObject::from_text(schema).unwrap_or_default();
    mcp::Tool::new(name, schema).with_description(WHAT)
}

/// A schema with the words of JSON Schema 2020-12.
const SCHEMA: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
        "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"##;

/// An argument that a header repeats.
const HEADERS: &str =
    r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}"#;

/// A text of JSON.
const MIXED: &str = r#"{"test":"data","value":123}"#;

/// A sound of no length.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
