//! The sign-in that the upstream server wants: what clients learn of it, and the page that a client with URL elicitation opens.
//!
//! A client is never sent the server's own 401 or 403: it would sign in with its own authorization server, for ever.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use mcp_revisions::core::methods;
use mcp_revisions::sansio::client::{Failure, NeededSignIn};
use mcp_revisions::serve::Peer;
use mcp_wire::Json;
use serde_json::json;
use tracing::debug;

use crate::upstream::without_secrets;

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

/// Offers the page of a sign-in to the person behind a client. Returns false if the client cannot open pages, or its user
/// declines.
pub(crate) async fn offer(peer: &Peer, page: &str, upstream: &str) -> bool {
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
