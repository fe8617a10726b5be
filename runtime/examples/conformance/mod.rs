//! The handlers that the conformance suite calls, by area.

mod prompts;
mod questions;
mod resources;
mod tools;

use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::serve::{Handler, Peer};
use mcp_revisions::server::{Call, Profile, ProfileError, Server};
use mcp_revisions::{Era, V2026_07_28, errors, v2026_07_28 as mcp};
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// What is told to those who listen.
type Change = (&'static str, Value);

/// The server of these handlers, for every revision.
pub(crate) fn server() -> Result<Server<V2026_07_28>, ProfileError> {
    let info = mcp::Implementation::new("conformance", mcp_revisions::words::Version("1.0.0"));
    let capabilities = json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "completions": {},
        "logging": {},
    });
    Server::new(Profile::new(&info, &Json::from(capabilities)))
}

/// The handlers.
pub(crate) struct Handlers {
    changes: broadcast::Sender<Change>,
}

impl Default for Handlers {
    fn default() -> Self {
        Self {
            changes: broadcast::channel(64).0,
        }
    }
}

impl Handler for Handlers {
    async fn call(&self, call: Call, peer: Peer) -> Result<Json, ErrorObject> {
        let params: Value = call
            .params
            .parse()
            .map_err(|error| invalid(&format!("{error}")))?;
        let result = match call.method {
            "tools/list" => tools::list(),
            "tools/call" => tools::call(&params, &call, &peer, &self.changes).await?,
            "resources/list" => resources::list(),
            "resources/templates/list" => resources::templates(),
            "resources/read" => resources::read(&params)?,
            "prompts/list" => prompts::list(),
            "prompts/get" => prompts::get(&params)?,
            "completion/complete" => {
                json!({"completion": {"values": [], "total": 0, "hasMore": false}})
            }
            "subscriptions/listen" => self.listen(&params, &peer).await,
            other => return Err(errors::method_not_found(other, Era::PerRequest).error),
        };
        Ok(Json::from(complete(result)))
    }
}

impl Handlers {
    /// Tells whoever listens what it asked for, until it does not wait any more.
    async fn listen(&self, params: &Value, peer: &Peer) -> Value {
        let mut changes = self.changes.subscribe();
        let wanted = &params["notifications"];
        let agreed = Json::from(json!({"notifications": wanted}));
        let _ = (peer.notify("notifications/subscriptions/acknowledged", Some(&agreed))).await;
        loop {
            let (method, params) = match changes.recv().await {
                Ok(change) => change,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return json!({}),
            };
            let wants = match method {
                "notifications/tools/list_changed" => wanted["toolsListChanged"] == true,
                "notifications/prompts/list_changed" => wanted["promptsListChanged"] == true,
                _ => (wanted["resourceSubscriptions"].as_array())
                    .is_some_and(|uris| uris.contains(&params["uri"])),
            };
            if wants {
                let _ = peer.notify(method, Some(&Json::from(params))).await;
            }
        }
    }
}

/// A result says of which type it is.
fn complete(mut result: Value) -> Value {
    if result.get("resultType").is_none() {
        result["resultType"] = json!("complete");
    }
    result
}

/// A list that may be kept for a minute.
fn cached(name: &str, items: Value) -> Value {
    json!({name: items, "ttlMs": 60_000, "cacheScope": "public"})
}

fn invalid(why: &str) -> ErrorObject {
    errors::invalid_params(why).error
}

/// One red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
