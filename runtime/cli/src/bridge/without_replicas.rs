//! The stand-in for state in Redis, without feature `redis`: there is none.

use mcp_bridge::Bridge;
use mcp_revisions::http;

/// Refuses to share the sessions of a listener.
pub(super) async fn shared(
    _: Bridge,
    _: http::Options,
    _: &str,
) -> anyhow::Result<(Bridge, http::Options)> {
    anyhow::bail!("this mcp-rev is built without Redis: build it with `--features redis`")
}
