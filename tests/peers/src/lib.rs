//! The messages of the benches as types of each library, all of revision 2025-11-25.
//!
//! A request and a notification are read twice: as the type that they are,
//! and as any that the other side may send, which is how a server or client meets them.

#[path = "../../benches/contest.rs"]
pub mod contest;
#[path = "../../benches/messages.rs"]
pub mod messages;

use contest::Subject;
use mcp_2025_11_25 as ours;
use mcp_wire::{Decode, Encode};
use messages::{Lifecycle, Messages};
use rmcp::model as rmcp_model;
use rust_mcp_schema as rms;
use rust_mcp_schema::schema_utils as rms_any;
use serde::Serialize;
use serde::de::DeserializeOwned;
use turbomcp_protocol::v2025_11_25::types as turbo;

/// The libraries, in the order of the subjects of a row.
pub const LIBRARIES: [&str; 4] = ["ours", "rmcp", "rust-mcp-schema", "turbomcp-protocol"];

/// A message, and what each library does with it.
pub struct Row {
    /// What is read, and as what.
    pub name: &'static str,
    /// Its text.
    pub text: String,
    subjects: [Make; 4],
}

type Made<'a> = Result<Subject<'a>, String>;
type Make = for<'a> fn(&'a str) -> Made<'a>;

impl Row {
    /// The libraries' subjects, or why a library cannot read the message.
    pub fn subjects(&self) -> [Made<'_>; 4] {
        self.subjects.map(|make| make(&self.text))
    }
}

fn own<T: Decode + Encode + 'static>(text: &str) -> Made<'_> {
    Subject::new(text, mcp_wire::from_str::<T>, mcp_wire::to_string)
        .map_err(|error| error.to_string())
}

fn serde<T: DeserializeOwned + Serialize + 'static>(text: &str) -> Made<'_> {
    let write = |value: &T| serde_json::to_string(value).unwrap_or_default();
    Subject::new(text, serde_json::from_str::<T>, write).map_err(|error| error.to_string())
}

/// All rows.
pub fn rows() -> Vec<Row> {
    let texts = Messages::new(Lifecycle::Handshake);
    let row = |name, text: &str, subjects| Row {
        name,
        text: text.to_owned(),
        subjects,
    };
    vec![
        row(
            "tools/call",
            &texts.call_tool,
            [
                own::<ours::CallToolRequest>,
                serde::<rmcp_model::JsonRpcRequest<rmcp_model::CallToolRequest>>,
                serde::<rms::CallToolRequest>,
                serde::<turbo::CallToolRequest>,
            ],
        ),
        row(
            "tools/call, any request",
            &texts.call_tool,
            [
                own::<ours::ClientRequest>,
                serde::<rmcp_model::ClientJsonRpcMessage>,
                serde::<rms_any::ClientMessage>,
                serde::<turbo::ClientRequest>,
            ],
        ),
        row(
            "initialize",
            &texts.first_request,
            [
                own::<ours::InitializeRequest>,
                serde::<rmcp_model::JsonRpcRequest<rmcp_model::InitializeRequest>>,
                serde::<rms::InitializeRequest>,
                serde::<turbo::InitializeRequest>,
            ],
        ),
        row(
            "initialize, any request",
            &texts.first_request,
            [
                own::<ours::ClientRequest>,
                serde::<rmcp_model::ClientJsonRpcMessage>,
                serde::<rms_any::ClientMessage>,
                serde::<turbo::ClientRequest>,
            ],
        ),
        row(
            "progress",
            &texts.progress,
            [
                own::<ours::ProgressNotification>,
                serde::<rmcp_model::JsonRpcNotification<rmcp_model::ProgressNotification>>,
                serde::<rms::ProgressNotification>,
                serde::<turbo::ProgressNotification>,
            ],
        ),
        row(
            "progress, any notification",
            &texts.progress,
            [
                own::<ours::ServerNotification>,
                serde::<rmcp_model::ServerJsonRpcMessage>,
                serde::<rms_any::ServerMessage>,
                serde::<turbo::ServerNotification>,
            ],
        ),
        row(
            "tools/list result",
            &texts.list_tools,
            [
                own::<ours::ListToolsResult>,
                serde::<rmcp_model::ListToolsResult>,
                serde::<rms::ListToolsResult>,
                serde::<turbo::ListToolsResult>,
            ],
        ),
        row(
            "resources/read result",
            &texts.read_resource,
            [
                own::<ours::ReadResourceResult>,
                serde::<rmcp_model::ReadResourceResult>,
                serde::<rms::ReadResourceResult>,
                serde::<turbo::ReadResourceResult>,
            ],
        ),
        row(
            "prompts/get result",
            &texts.get_prompt,
            [
                own::<ours::GetPromptResult>,
                serde::<rmcp_model::GetPromptResult>,
                serde::<rms::GetPromptResult>,
                serde::<turbo::GetPromptResult>,
            ],
        ),
        row(
            "tools/call result",
            &texts.tool_result,
            [
                own::<ours::CallToolResult>,
                serde::<rmcp_model::CallToolResult>,
                serde::<rms::CallToolResult>,
                serde::<turbo::CallToolResult>,
            ],
        ),
    ]
}

/// What a library fails to do with a message, for the notes under a table.
pub fn defect(text: &str, subject: &Made<'_>) -> Option<String> {
    let written = match subject {
        Ok(subject) => &subject.written,
        Err(error) => return Some(format!("cannot read it: {error}")),
    };
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let (before, after) = (parse(text)?, parse(written));
    if after.as_ref() == Some(&before) {
        return None;
    }
    let change = after.and_then(|after| first_change(&before, &after, String::new()));
    Some(format!(
        "writes back something else, first at {}",
        change.unwrap_or_default()
    ))
}

fn first_change(
    before: &serde_json::Value,
    after: &serde_json::Value,
    at: String,
) -> Option<String> {
    use serde_json::Value::{Array, Object};
    match (before, after) {
        (Object(a), Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let mut keys = keys.map(|key| (key, a.get(key), b.get(key)));
            keys.find_map(|(key, a, b)| match (a, b) {
                (Some(a), Some(b)) => first_change(a, b, format!("{at}/{key}")),
                (Some(_), None) => Some(format!("{at}/{key}, which is missing")),
                _ => Some(format!("{at}/{key}, which is new")),
            })
        }
        (Array(a), Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(index, (a, b))| first_change(a, b, format!("{at}/{index}"))),
        (a, b) if a == b => None,
        (a, b) => Some(format!(
            "{at}: {:.40} became {:.40}",
            a.to_string(),
            b.to_string()
        )),
    }
}
