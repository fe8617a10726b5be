//! The messages as types of this workspace.

use mcp_revisions_core::{v2025_11_25, v2026_07_28};
use mcp_wire::{Decode, Encode};

use crate::contest::Subject;
use crate::messages::{Lifecycle, Messages};

/// A message, and how it is read and written.
pub struct Message {
    /// Of which revision it is, what it is, and whether it is read as one of many.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Reads and writes it.
    pub subject: fn(&str) -> Subject<'_>,
}

fn subject<T: Decode + Encode + 'static>(text: &str) -> Subject<'_> {
    Subject::new(text, mcp_wire::from_str::<T>, mcp_wire::to_string)
        .expect("our own messages are valid")
}

/// The messages of a revision; `$first` is the request that a client sends first.
macro_rules! messages_of {
    ($revision:ident, $lifecycle:ident, $first:literal, $First:ident) => {{
        use $revision as r;
        let texts = Messages::new(Lifecycle::$lifecycle);
        let row = |name: &str, text: &str, subject| Message {
            name: format!("{} {name}", r::REVISION),
            text: text.to_owned(),
            subject,
        };
        let any_first = concat!($first, ", any request");
        [
            row(
                "tools/call",
                &texts.call_tool,
                subject::<r::CallToolRequest>,
            ),
            row(
                "tools/call, any request",
                &texts.call_tool,
                subject::<r::ClientRequest>,
            ),
            row($first, &texts.first_request, subject::<r::$First>),
            row(any_first, &texts.first_request, subject::<r::ClientRequest>),
            row(
                "progress",
                &texts.progress,
                subject::<r::ProgressNotification>,
            ),
            row(
                "progress, any notification",
                &texts.progress,
                subject::<r::ServerNotification>,
            ),
            row(
                "tools/list result",
                &texts.list_tools,
                subject::<r::ListToolsResult>,
            ),
            row(
                "resources/read result",
                &texts.read_resource,
                subject::<r::ReadResourceResult>,
            ),
            row(
                "prompts/get result",
                &texts.get_prompt,
                subject::<r::GetPromptResult>,
            ),
            row(
                "tools/call result",
                &texts.tool_result,
                subject::<r::CallToolResult>,
            ),
        ]
    }};
}

/// The messages in the latest revision of each lifecycle.
pub fn messages() -> Vec<Message> {
    let handshake = messages_of!(v2025_11_25, Handshake, "initialize", InitializeRequest);
    let per_request = messages_of!(v2026_07_28, PerRequest, "server/discover", DiscoverRequest);
    handshake.into_iter().chain(per_request).collect()
}
