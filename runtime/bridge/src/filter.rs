//! The layer that hides tools: they are left out of lists, and calls of them are refused.

use std::sync::Arc;

use mcp_revisions::layer::LayerMessage;
use mcp_revisions::serve::Peer;
use mcp_revisions::{errors, methods};
use mcp_revisions_core::errors::shortened;
use mcp_wire::{Direction, ErrorObject, Json, JsonObject, Map};

/// Tells whether a client sees a tool.
pub(crate) type ToolFilter = dyn Fn(&str, &Peer) -> bool + Send + Sync;

/// Passes a message on, unless it calls a tool that its client does not see; leaves such tools out of the result of
/// `tools/list`.
pub(crate) async fn filter_tools(
    admits: Arc<ToolFilter>,
    message: LayerMessage,
) -> Result<Json, ErrorObject> {
    let is_call = message.is_request() && message.direction() == Direction::ClientToServer;
    let Some(peer) = message.peer().filter(|_| is_call).cloned() else {
        return message.forward().await;
    };
    match message.method() {
        methods::TOOLS_CALL => {
            // A call without a name is the upstream server's to refuse.
            let name = message.params().get("name");
            if let Some(name) = name.and_then(|name| name.read::<String>().ok())
                && !admits(&name, &peer)
            {
                // The error of a tool that does not exist.
                let why = format!("no tool `{}`", shortened(&name));
                return Err(errors::invalid_params(&why).error);
            }
            message.forward().await
        }
        methods::TOOLS_LIST => {
            let result = message.forward().await?;
            Ok(without_hidden(result, |tool| admits(tool, &peer)))
        }
        _ => message.forward().await,
    }
}

/// Returns the result of `tools/list` without the tools that are not admitted.
fn without_hidden(result: Json, admits: impl Fn(&str) -> bool) -> Json {
    let Ok(mut page) = result.read::<Map<Json>>() else {
        return result;
    };
    let Some(mut tools) = page.get("tools").and_then(|it| it.read::<Vec<Json>>().ok()) else {
        return result;
    };
    tools.retain(|tool| {
        let name = JsonObject::try_from(tool.clone())
            .ok()
            .and_then(|tool| tool.get("name")?.read::<String>().ok());
        name.is_some_and(|name| admits(&name))
    });
    page.insert("tools", Json::of(&tools));
    Json::of(&page)
}
