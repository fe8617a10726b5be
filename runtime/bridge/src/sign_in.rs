//! The sign-in that the upstream server wants: what clients learn of it, and the page that a client with URL elicitation opens.
//!
//! A client is never sent the server's own 401 or 403: it would sign in with its own authorization server, for ever.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use mcp_revisions::core::methods;
use mcp_revisions::layer::LayerMessage;
use mcp_revisions::sansio::client::{Failure, NeededSignIn};
use mcp_revisions::serve::Peer;
use mcp_revisions::service::Error;
use mcp_revisions::service::client::without_secrets;
use mcp_wire::{ErrorObject, Json};
use serde_json::json;
use tracing::{debug, warn};

use crate::settings::BridgeSettings;

/// Returns the sign-in that a failed request needs, without the secrets of the server's URL, since clients get it, and with what
/// the operator can do. Returns `None` if the request failed for another reason.
pub(crate) fn needed(failure: &Failure, advice: Option<&str>) -> Option<NeededSignIn> {
    let Failure::SignIn(needed) = failure else {
        return None;
    };
    let mut needed = NeededSignIn::clone(needed);
    if !needed.resource.is_empty() {
        let resource = without_secrets(&needed.resource);
        needed.why = needed.why.replace(&needed.resource, &resource);
        needed.resource = resource;
    }
    if let Some(advice) = advice {
        needed.why = format!("{}; {advice}", needed.why);
    }
    Some(needed)
}

/// Passes a request on. If its sign-in waits for a person, the client is offered the page, and the request is sent again once it
/// was accepted: the server has refused it before it began.
pub(crate) async fn sign_in(
    settings: Arc<BridgeSettings>,
    message: LayerMessage,
) -> Result<Json, ErrorObject> {
    let again = message.clone();
    let mut result = message.forward().await;
    if let Some(page) = needed_of(&again, &settings).and_then(|needed| needed.page)
        && let Some(peer) = again.peer()
    {
        let peer = settings.layers.around_peer(peer.clone());
        if offer(&peer, &page, settings.server_name()).await {
            result = again.clone().forward().await;
        }
    }
    match needed_of(&again, &settings) {
        Some(needed) => {
            let (method, server) = (again.method(), settings.server_name());
            warn!(method, "{server} wants a sign-in");
            Err(needed.to_error())
        }
        None => result,
    }
}

/// Returns the sign-in that the server wanted for a request that was forwarded.
fn needed_of(message: &LayerMessage, settings: &BridgeSettings) -> Option<NeededSignIn> {
    match message.outcome().failure()? {
        Error::RequestFailed(failure) => needed(&failure, settings.sign_in_advice.as_deref()),
        _ => None,
    }
}

/// Offers the page of a sign-in to the person behind a client. Returns false if the client cannot open pages, or its user
/// declines.
async fn offer(peer: &Peer, page: &str, upstream: &str) -> bool {
    let mut id = DefaultHasher::new();
    page.hash(&mut id);
    let params = Json::from(json!({
        "mode": "url",
        "url": page,
        "elicitationId": format!("sign-in-{:016x}", id.finish()),
        "message": format!("Sign in to {upstream}"),
    }));
    match peer.ask(methods::ELICITATION_CREATE, Some(&params)).await {
        Ok(answer) => answer
            .get("action")
            .is_some_and(|action| action.text() == "\"accept\""),
        Err(error) => {
            debug!("the page of the sign-in is not offered: {}", error.message);
            false
        }
    }
}
