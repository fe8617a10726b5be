//! The tools of a server that each of its callers sees, and the time to list them again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::request::Parts;
use tokio::time::Instant;

use super::Principal;
use crate::transport::panics::lock;
use mcp_revisions_sansio::driver::params::Learned;

/// Time that a list of tools holds.
const KEPT: Duration = Duration::from_secs(60);
/// Time after which handlers that did not answer are asked again.
const AGAIN: Duration = Duration::from_secs(1);
/// Maximum number of remembered callers for whom tools were listed.
const CALLERS: usize = 1_000;

/// Marks a `tools/list` of the server's own, which no client has sent: it is about this tool, and tools of its group.
#[derive(Debug, Clone)]
pub struct ListedTool(pub String);

/// The parameters that headers repeat, for each client that can be distinguished.
#[derive(Debug, Default)]
pub(super) struct CallerTools(Mutex<HashMap<Identity, CachedTools>>);

/// The caller for whom the handlers list their tools: they may list others for another. It is the principal that a layer has
/// found out, and what the request shows in order to be let in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    /// The group of the tool, where tools have groups.
    group: Option<String>,
    principal: Option<Principal>,
    /// The digest of its `Authorization`: the value itself would keep the whole head of the request.
    authorization: Option<[u8; 32]>,
}

impl Identity {
    pub(super) fn of(parts: &Parts, group: Option<String>) -> Self {
        let authorization = parts.headers.get(AUTHORIZATION);
        Self {
            group,
            principal: parts.extensions.get().cloned(),
            authorization: authorization.map(|value| hmac_sha256::Hash::hash(value.as_bytes())),
        }
    }
}

/// The last list of tools, and the time to list them again.
#[derive(Debug)]
struct CachedTools {
    until: Instant,
    tools: Arc<Learned>,
}

impl CallerTools {
    /// Returns the tools that were listed for a caller; as an error, an old or empty list, so that the handlers are asked.
    pub(super) fn of(&self, identity: &Identity) -> Result<Arc<Learned>, Arc<Learned>> {
        let all = lock(&self.0);
        let known = all.get(identity).ok_or_else(Arc::default)?;
        let tools = Arc::clone(&known.tools);
        if Instant::now() < known.until {
            Ok(tools)
        } else {
            Err(tools)
        }
    }

    /// Remembers what was learned, or what was known before until the handlers can be asked again; where too many callers
    /// are remembered, the one whose list is oldest goes.
    pub(super) fn remember(
        &self,
        identity: Identity,
        learned: Option<Learned>,
        before: Arc<Learned>,
    ) -> Arc<Learned> {
        let (tools, kept) = match learned {
            Some(learned) => (Arc::new(learned), KEPT),
            None => (before, AGAIN),
        };
        let now = Instant::now();
        let known = CachedTools {
            until: now + kept,
            tools: Arc::clone(&tools),
        };
        let mut all = lock(&self.0);
        if all.len() >= CALLERS && !all.contains_key(&identity) {
            all.retain(|_, known| now < known.until);
            if all.len() >= CALLERS {
                let oldest = all.iter().min_by_key(|(_, known)| known.until);
                if let Some(oldest) = oldest.map(|(identity, _)| identity.clone()) {
                    all.remove(&oldest);
                }
            }
        }
        all.insert(identity, known);
        tools
    }
}
