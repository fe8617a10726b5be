//! The layers around the requests of clients: those of the application and of the operator, and within them those of the bridge.
//!
//! The first one sees a request first, and its result last. Losses are not a layer: messages between layers are of one revision, so
//! that the connections on both sides record them, and [`Losses`](crate::losses::Losses) has their hook.

use std::sync::Arc;
use std::time::Instant;

use mcp_revisions::client_transport::ClientOperation;
use mcp_revisions::layer::{LayerMessage, Layers};
use mcp_revisions::sansio::client::Channel;
use mcp_revisions::service::client::cache::{CacheKey, CacheUsers};
use mcp_revisions_core::Lifecycle;
use mcp_wire::{ErrorObject, Json};
use tracing::debug;

use crate::settings::BridgeSettings;
use crate::{measures, sign_in};

/// Returns the layers around the requests of the clients of a bridge.
pub(crate) fn around_requests(settings: &Arc<BridgeSettings>) -> Layers {
    let mut layers = settings.layers.clone();
    // A result that may be rejected for what a client would lose is asked for each time.
    if settings.cache.is_some() && settings.clients.losses.rejected.is_none() {
        let shared = Arc::clone(settings);
        layers.add(move |message| share(Arc::clone(&shared), message));
    }
    settings.clients.ending.add_layer(&mut layers);
    if settings.upstream.channel() == Channel::Http {
        let shared = Arc::clone(settings);
        layers.add(move |message| sign_in::sign_in(Arc::clone(&shared), message));
    }
    let shared = Arc::clone(settings);
    layers.add(move |message| measure(Arc::clone(&shared), message));
    layers
}

/// Answers a request by a result that clients share, or keeps the result for them if the server lets it.
async fn share(settings: Arc<BridgeSettings>, message: LayerMessage) -> Result<Json, ErrorObject> {
    let key = message
        .peer()
        .and_then(|peer| CacheKey::of(peer.app(), message.method(), message.params()));
    let (Some(key), Some(cache)) = (key, &settings.cache) else {
        return message.forward().await;
    };
    let changes = match cache.get(&key, CacheUsers::Several) {
        Ok(result) => {
            measures::answered_from_cache(&settings.name);
            return Ok(result);
        }
        Err(changes) => changes,
    };
    let outcome = message.outcome();
    let result = message.forward().await?;
    // A time in the result of an older server is that of the conversion.
    let says_none = (outcome.revision()).is_some_and(|it| it.lifecycle() == Lifecycle::Handshake);
    match settings.list_ttl.filter(|_| says_none) {
        Some(ttl) => cache.keep_list(key, &result, ttl, changes),
        None => cache.keep(key, CacheUsers::Several, &result, changes),
    }
    Ok(result)
}

/// Measures the time that the server takes for a request, and counts its outcome.
async fn measure(
    settings: Arc<BridgeSettings>,
    message: LayerMessage,
) -> Result<Json, ErrorObject> {
    let (outcome, began) = (message.outcome(), Instant::now());
    let operation = ClientOperation::begin(message.method(), settings.label());
    let method = message.method().to_owned();
    let result = message.forward().await;
    let has_failed = outcome.failure().is_some();
    let answer = (result.as_ref()).map_err(|error| Some(error).filter(|_| !has_failed));
    operation.end(answer, outcome.revision());
    debug!(server = settings.label(), method, took = ?began.elapsed(), "answered");
    result
}
