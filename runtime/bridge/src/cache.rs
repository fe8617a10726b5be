//! Results that the upstream server lets clients share: they are kept for as long as it says, and answered without it.
//!
//! A result is kept if its `cacheScope` is `public` and its `ttlMs` is above zero. Results for one client only are not: a server
//! that 2026-07-28 clients share cannot tell which of them is meant.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_revisions::methods;
use mcp_revisions_core::Revision;
use mcp_wire::{Json, Map};
use tokio::time::Instant;

/// Most bytes of results that are kept.
const ROOM: usize = 16 << 20;

/// Maximum time that a result is kept.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The params that tell one result of a method from another.
const KEYS: [&str; 2] = ["cursor", "uri"];

/// Params that make a request one of its own: it goes on with a suspended one.
const OWN: [&str; 2] = ["inputResponses", "requestState"];

/// The request that a result answers: its revision, its method, and the params that matter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    revision: Revision,
    method: &'static str,
    params: [Option<String>; 2],
}

impl Key {
    /// Returns the key of a request whose result may be kept; `None` if it may not.
    pub(crate) fn of(revision: Revision, method: &'static str, params: &Json) -> Option<Self> {
        match method {
            methods::TOOLS_LIST
            | methods::PROMPTS_LIST
            | methods::RESOURCES_LIST
            | methods::RESOURCES_TEMPLATES_LIST
            | methods::RESOURCES_READ => {}
            _ => return None,
        }
        if OWN.iter().any(|name| params.get(name).is_some()) {
            return None;
        }
        let params = KEYS.map(|name| params.get(name).map(Json::into_text));
        Some(Self {
            revision,
            method,
            params,
        })
    }
}

struct Kept {
    result: Json,
    until: Instant,
}

/// The results that are kept.
#[derive(Default)]
pub(crate) struct Cache(Mutex<State>);

#[derive(Default)]
struct State {
    kept: HashMap<Key, Kept>,
    bytes: usize,
    /// Number of changes at the server: a result of a request from before the last one is not kept.
    changes: u64,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("results", &self.state().kept.len())
            .finish()
    }
}

impl Cache {
    /// Returns a result that is kept, with the rest of its time; else the count of changes, for [`keep`](Self::keep).
    pub(crate) fn get(&self, key: &Key) -> Result<Json, u64> {
        let mut state = self.state();
        let now = Instant::now();
        let Some(kept) = state.kept.get(key) else {
            return Err(state.changes);
        };
        if now < kept.until {
            let rest = kept.until.duration_since(now).as_millis();
            return Ok(with_ttl(
                &kept.result,
                i64::try_from(rest).unwrap_or(i64::MAX),
            ));
        }
        state.remove(key);
        Err(state.changes)
    }

    /// Keeps a result if its server lets clients share it, and nothing has changed since the request was sent.
    pub(crate) fn keep(&self, key: Key, result: &Json, changes: u64) {
        let is_public = result
            .get("cacheScope")
            .is_some_and(|it| it.text() == r#""public""#);
        let ttl = result.get("ttlMs").and_then(|it| it.parse::<f64>().ok());
        let Some(ttl) = ttl.filter(|ttl| is_public && *ttl >= 1.0) else {
            return;
        };
        let ttl = Duration::from_millis(ttl.min(LONGEST.as_millis() as f64) as u64);
        let mut state = self.state();
        if state.changes != changes {
            return;
        }
        state.remove(&key);
        let (now, bytes) = (Instant::now(), size(&key, result));
        if state.bytes + bytes > ROOM {
            let over: Vec<Key> = (state.kept.iter())
                .filter(|(_, kept)| kept.until <= now)
                .map(|(key, _)| key.clone())
                .collect();
            over.iter().for_each(|key| state.remove(key));
        }
        if state.bytes + bytes <= ROOM {
            state.bytes += bytes;
            state.kept.insert(
                key,
                Kept {
                    result: result.clone(),
                    until: now + ttl,
                },
            );
        }
    }

    /// Forgets what a notification of the server says has changed.
    pub(crate) fn forget(&self, notification: &str, params: &Json) {
        let is_over = |key: &Key| match notification {
            methods::NOTIFICATIONS_TOOLS_LIST_CHANGED => key.method == methods::TOOLS_LIST,
            methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED => key.method == methods::PROMPTS_LIST,
            methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED => {
                matches!(
                    key.method,
                    methods::RESOURCES_LIST | methods::RESOURCES_TEMPLATES_LIST
                )
            }
            _ => {
                let uri = params.get("uri").map(Json::into_text);
                key.method == methods::RESOURCES_READ && (uri.is_none() || key.params[1] == uri)
            }
        };
        let is_change = notification.ends_with("list_changed")
            || notification == methods::NOTIFICATIONS_RESOURCES_UPDATED;
        if !is_change {
            return;
        }
        let mut state = self.state();
        state.changes += 1;
        let over: Vec<Key> = state
            .kept
            .keys()
            .filter(|key| is_over(key))
            .cloned()
            .collect();
        over.iter().for_each(|key| state.remove(key));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock leaves it half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, key: &Key) {
        if let Some(kept) = self.kept.remove(key) {
            self.bytes -= size(key, &kept.result);
        }
    }
}

/// Returns what a result takes up.
fn size(key: &Key, result: &Json) -> usize {
    let params = key.params.iter().flatten().map(String::len).sum::<usize>();
    result.text().len() + params + 128
}

/// Returns a result that may be kept for so many milliseconds.
fn with_ttl(result: &Json, ttl: i64) -> Json {
    let Ok(mut members) = result.read::<Map<Json>>() else {
        return result.clone();
    };
    members.insert("ttlMs", Json::of(&ttl));
    Json::of(&members)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use serde_json::json;

    use super::*;

    fn key(method: &'static str, params: serde_json::Value) -> Key {
        Key::of(Revision::LATEST, method, &Json::from(params)).unwrap()
    }

    fn result(scope: &str) -> Json {
        Json::from(json!({ "tools": [], "ttlMs": 5_000, "cacheScope": scope }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_public_result_is_kept_for_its_time_and_no_longer() {
        let cache = Cache::default();
        let list = key(
            methods::TOOLS_LIST,
            json!({ "_meta": { "traceparent": "1" } }),
        );
        let changes = cache.get(&list).unwrap_err();
        cache.keep(list.clone(), &result("private"), changes);
        assert!(cache.get(&list).is_err());
        cache.keep(list.clone(), &result("public"), changes);
        tokio::time::advance(Duration::from_millis(4_000)).await;
        // Other `_meta` asks for the same.
        let kept = cache.get(&key(methods::TOOLS_LIST, json!({}))).unwrap();
        assert_eq!(kept.get("ttlMs").unwrap().text(), "1000");
        assert!(
            cache
                .get(&key(methods::TOOLS_LIST, json!({ "cursor": "2" })))
                .is_err()
        );
        tokio::time::advance(Duration::from_millis(1_000)).await;
        assert!(cache.get(&list).is_err());
        assert_eq!(cache.state().bytes, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_ends_what_is_kept_and_what_is_on_its_way() {
        let cache = Cache::default();
        let (list, read) = (
            key(methods::TOOLS_LIST, json!({})),
            key(methods::RESOURCES_READ, json!({ "uri": "a:b" })),
        );
        let changes = cache.get(&list).unwrap_err();
        cache.keep(list.clone(), &result("public"), changes);
        cache.keep(read.clone(), &result("public"), changes);
        cache.forget(
            methods::NOTIFICATIONS_RESOURCES_UPDATED,
            &Json::from(json!({ "uri": "a:c" })),
        );
        assert!(cache.get(&list).is_ok() && cache.get(&read).is_ok());
        cache.forget(
            methods::NOTIFICATIONS_RESOURCES_UPDATED,
            &Json::from(json!({ "uri": "a:b" })),
        );
        assert!(cache.get(&list).is_ok() && cache.get(&read).is_err());
        cache.forget(
            methods::NOTIFICATIONS_TOOLS_LIST_CHANGED,
            &Json::from(json!({})),
        );
        cache.keep(list.clone(), &result("public"), changes);
        assert!(cache.get(&list).is_err());
        assert!(
            Key::of(
                Revision::LATEST,
                methods::TOOLS_CALL,
                &Json::from(json!({}))
            )
            .is_none()
        );
        assert!(
            Key::of(
                Revision::LATEST,
                methods::RESOURCES_READ,
                &Json::from(json!({ "uri": "a", "requestState": "s" }))
            )
            .is_none()
        );
    }
}
