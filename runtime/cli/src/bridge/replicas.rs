//! The state that bridges share in Redis. Feature `redis`.

use mcp_bridge::Bridge;
use mcp_revisions::http;

/// Shares the sessions of a listener with other bridges, and the key of `requestState`.
pub(super) async fn shared(
    bridge: Bridge,
    options: http::Options,
    url: &str,
) -> anyhow::Result<(Bridge, http::Options)> {
    // The URL may hold a password, which no error repeats.
    let redis = mcp_revisions::backplane::Redis::connect(url).await?;
    let keyed = bridge.with_request_state_key(redis.request_state_key().await?);
    // The server of a session ends with its bridge.
    Ok((keyed, options.with_backplane(redis).without_takeover()))
}
