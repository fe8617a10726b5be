//! A cache of results that a server lets its clients keep (`ttlMs`, `cacheScope`): lists and resources, until their time is over or
//! the server notifies of a change.
//!
//! A cache of several users has only results of the scope `public`, since a `private` one is for a user that it does not know. A
//! cache of one user has both.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_revisions_core::{Revision, methods};
use mcp_wire::{Json, Map};
use tokio::time::Instant;

/// Maximum time that a result is kept.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The methods whose results may be kept.
const METHODS: [&str; 5] = [
    methods::TOOLS_LIST,
    methods::PROMPTS_LIST,
    methods::RESOURCES_LIST,
    methods::RESOURCES_TEMPLATES_LIST,
    methods::RESOURCES_READ,
];

/// The params that tell one result of a method from another.
const KEYS: [&str; 2] = ["cursor", "uri"];

/// Params of a request that continues a suspended one, and is never cached.
const OWN: [&str; 2] = ["inputResponses", "requestState"];

/// The request that a result answers: its revision, its method, and the params that matter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheKey {
    revision: Revision,
    method: &'static str,
    params: [Option<String>; 2],
}

impl CacheKey {
    /// Returns the key of a request whose result may be kept; `None` if it may not.
    pub fn of(revision: Revision, method: &str, params: &Json) -> Option<Self> {
        let method = METHODS.into_iter().find(|it| *it == method)?;
        if OWN.iter().any(|name| params.get(name).is_some()) {
            return None;
        }
        let params = KEYS.map(|name| params.get(name).map(spelled));
        Some(Self {
            revision,
            method,
            params,
        })
    }
}

/// The users of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheUsers {
    /// One principal, for whom private results are, too.
    One,
    /// Several, who share public results.
    Several,
}

struct CachedResult {
    result: Json,
    until: Instant,
    is_public: bool,
    /// Set if the time is that of the server: users get the rest of it in the result.
    says_time: bool,
}

/// The results of a server that are kept.
pub struct Cache {
    /// Maximum number of bytes of results that are kept.
    room: usize,
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    kept: HashMap<CacheKey, CachedResult>,
    bytes: usize,
    /// Number of changes at the server: a result of a request from before the last one is not kept.
    changes: u64,
}

mcp_wire::debug_struct!([] Cache, "Cache", self, "results": self.state().kept.len());

impl Cache {
    /// Creates a cache of so many bytes of results.
    pub fn new(room: usize) -> Self {
        Self {
            room,
            state: Mutex::default(),
        }
    }

    /// Returns a result that is kept for these users, with the rest of its time. Returns the count of changes if there is none,
    /// for [`keep`](Self::keep).
    pub fn get(&self, key: &CacheKey, users: CacheUsers) -> Result<Json, u64> {
        let mut state = self.state();
        let now = Instant::now();
        let is_for = |kept: &&CachedResult| kept.is_public || users == CacheUsers::One;
        let Some(kept) = state.kept.get(key).filter(is_for) else {
            return Err(state.changes);
        };
        if now < kept.until {
            if !kept.says_time {
                return Ok(kept.result.clone());
            }
            let rest = kept.until.duration_since(now).as_millis();
            return Ok(with_ttl(
                &kept.result,
                i64::try_from(rest).unwrap_or(i64::MAX),
            ));
        }
        state.remove(key);
        Err(state.changes)
    }

    /// Keeps a result if its server lets these users, and nothing has changed since the request was sent.
    pub fn keep(&self, key: CacheKey, users: CacheUsers, result: &Json, changes: u64) {
        let is_public = result
            .get("cacheScope")
            .is_some_and(|it| it.text() == r#""public""#);
        let ttl = result.get("ttlMs").and_then(|it| it.parse::<f64>().ok());
        let is_for = is_public || users == CacheUsers::One;
        let Some(ttl) = ttl.filter(|ttl| is_for && *ttl >= 1.0) else {
            return;
        };
        let ttl = Duration::from_millis(ttl.min(LONGEST.as_millis() as f64) as u64);
        let kept = CachedResult {
            result: result.clone(),
            until: Instant::now() + ttl,
            is_public,
            says_time: true,
        };
        self.store(key, kept, changes);
    }

    /// Keeps the result of a list of a server whose revision says no time, for all users and for so long, at most 24 hours, if
    /// nothing has changed since the request was sent. A time in it, which a conversion has added, stays.
    pub fn keep_list(&self, key: CacheKey, result: &Json, ttl: Duration, changes: u64) {
        if key.method == methods::RESOURCES_READ {
            return;
        }
        let kept = CachedResult {
            result: result.clone(),
            until: Instant::now() + ttl.min(LONGEST),
            is_public: true,
            says_time: false,
        };
        self.store(key, kept, changes);
    }

    fn store(&self, key: CacheKey, kept: CachedResult, changes: u64) {
        let mut state = self.state();
        let kind = kept.result.read_member::<String>("resultType");
        // A question is for the client that it was sent to.
        if state.changes != changes || kind.is_some_and(|kind| kind != "complete") {
            return;
        }
        state.remove(&key);
        let (now, bytes) = (Instant::now(), size(&key, &kept.result));
        if state.bytes + bytes > self.room {
            let over: Vec<CacheKey> = (state.kept.iter())
                .filter(|(_, kept)| kept.until <= now)
                .map(|(key, _)| key.clone())
                .collect();
            over.iter().for_each(|key| state.remove(key));
        }
        if state.bytes + bytes <= self.room {
            state.bytes += bytes;
            state.kept.insert(key, kept);
        }
    }

    /// Forgets what a notification of the server says has changed.
    pub fn forget(&self, notification: &str, params: &Json) {
        let is_over = |key: &CacheKey| match notification {
            methods::NOTIFICATIONS_TOOLS_LIST_CHANGED => key.method == methods::TOOLS_LIST,
            methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED => key.method == methods::PROMPTS_LIST,
            methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED => {
                matches!(
                    key.method,
                    methods::RESOURCES_LIST | methods::RESOURCES_TEMPLATES_LIST
                )
            }
            _ => {
                let uri = params.get("uri").map(spelled);
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
        let over: Vec<CacheKey> = state
            .kept
            .keys()
            .filter(|key| is_over(key))
            .cloned()
            .collect();
        over.iter().for_each(|key| state.remove(key));
    }

    /// Forgets all results: changes may have been missed.
    pub fn clear(&self) {
        let mut state = self.state();
        *state = CacheState {
            changes: state.changes + 1,
            ..CacheState::default()
        };
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        // Nothing that is done under the lock leaves it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheState {
    fn remove(&mut self, key: &CacheKey) {
        if let Some(kept) = self.kept.remove(key) {
            self.bytes -= size(key, &kept.result);
        }
    }
}

/// Returns the one spelling of a value, so that values that are equal are equal texts.
fn spelled(value: Json) -> String {
    match value.as_str() {
        Some(text) => Json::of(&*text).into_text(),
        None => value.into_text(),
    }
}

/// Returns the number of bytes of a result.
fn size(key: &CacheKey, result: &Json) -> usize {
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

    fn key(method: &'static str, params: serde_json::Value) -> CacheKey {
        CacheKey::of(Revision::LATEST, method, &Json::from(params)).unwrap()
    }

    fn result(scope: &str) -> Json {
        Json::from(json!({ "tools": [], "ttlMs": 5_000, "cacheScope": scope }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_public_result_is_kept_for_its_time_and_no_longer() {
        let cache = Cache::new(1 << 20);
        let list = key(
            methods::TOOLS_LIST,
            json!({ "_meta": { "traceparent": "1" } }),
        );
        let changes = cache.get(&list, CacheUsers::Several).unwrap_err();
        cache.keep(
            list.clone(),
            CacheUsers::Several,
            &result("private"),
            changes,
        );
        assert!(cache.get(&list, CacheUsers::Several).is_err());
        cache.keep(list.clone(), CacheUsers::One, &result("private"), changes);
        assert!(cache.get(&list, CacheUsers::One).is_ok());
        assert!(cache.get(&list, CacheUsers::Several).is_err());
        cache.keep(
            list.clone(),
            CacheUsers::Several,
            &result("public"),
            changes,
        );
        tokio::time::advance(Duration::from_millis(4_000)).await;
        // Other `_meta` asks for the same.
        let kept = cache
            .get(&key(methods::TOOLS_LIST, json!({})), CacheUsers::Several)
            .unwrap();
        assert_eq!(kept.get("ttlMs").unwrap().text(), "1000");
        assert!(
            cache
                .get(
                    &key(methods::TOOLS_LIST, json!({ "cursor": "2" })),
                    CacheUsers::Several
                )
                .is_err()
        );
        tokio::time::advance(Duration::from_millis(1_000)).await;
        assert!(cache.get(&list, CacheUsers::Several).is_err());
        assert_eq!(cache.state().bytes, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_for_one_client_whatever_its_server_says_of_it() {
        let cache = Cache::new(1 << 20);
        let read = key(methods::RESOURCES_READ, json!({ "uri": "a:b" }));
        for (kind, is_kept) in [("input_required", false), ("complete", true)] {
            let asks =
                Json::from(json!({ "resultType": kind, "ttlMs": 5_000, "cacheScope": "public" }));
            let changes = cache.get(&read, CacheUsers::Several).unwrap_err();
            cache.keep(read.clone(), CacheUsers::Several, &asks, changes);
            assert_eq!(cache.get(&read, CacheUsers::Several).is_ok(), is_kept);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_says_no_time_is_kept_for_that_of_the_configuration_and_unchanged() {
        let cache = Cache::new(1 << 20);
        let list = key(methods::TOOLS_LIST, json!({}));
        let read = key(methods::RESOURCES_READ, json!({ "uri": "a:b" }));
        // The second page is as a conversion to a revision with times has it.
        for page in [
            json!({ "tools": [] }),
            json!({ "tools": [], "ttlMs": 0, "cacheScope": "private" }),
        ] {
            let page = Json::from(page);
            let changes = cache.get(&list, CacheUsers::Several).unwrap_err();
            for key in [&list, &read] {
                cache.keep_list(key.clone(), &page, Duration::from_secs(5), changes);
            }
            tokio::time::advance(Duration::from_millis(4_999)).await;
            assert_eq!(cache.get(&list, CacheUsers::Several), Ok(page));
            assert!(cache.get(&read, CacheUsers::Several).is_err());
            tokio::time::advance(Duration::from_millis(1)).await;
            assert!(cache.get(&list, CacheUsers::Several).is_err());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_ends_what_is_kept_and_what_is_on_its_way() {
        let cache = Cache::new(1 << 20);
        let (list, read) = (
            key(methods::TOOLS_LIST, json!({})),
            key(methods::RESOURCES_READ, json!({ "uri": "a:b" })),
        );
        let changes = cache.get(&list, CacheUsers::Several).unwrap_err();
        cache.keep(
            list.clone(),
            CacheUsers::Several,
            &result("public"),
            changes,
        );
        cache.keep(
            read.clone(),
            CacheUsers::Several,
            &result("public"),
            changes,
        );
        cache.forget(
            methods::NOTIFICATIONS_RESOURCES_UPDATED,
            &Json::from(json!({ "uri": "a:c" })),
        );
        assert!(
            cache.get(&list, CacheUsers::Several).is_ok()
                && cache.get(&read, CacheUsers::Several).is_ok()
        );
        // The same URI, as PHP spells it.
        let updated = Json::from_text(r#"{ "uri": "a:\u0062" }"#).unwrap();
        cache.forget(methods::NOTIFICATIONS_RESOURCES_UPDATED, &updated);
        assert!(
            cache.get(&list, CacheUsers::Several).is_ok()
                && cache.get(&read, CacheUsers::Several).is_err()
        );
        cache.forget(
            methods::NOTIFICATIONS_TOOLS_LIST_CHANGED,
            &Json::from(json!({})),
        );
        cache.keep(
            list.clone(),
            CacheUsers::Several,
            &result("public"),
            changes,
        );
        assert!(cache.get(&list, CacheUsers::Several).is_err());
        assert!(
            CacheKey::of(
                Revision::LATEST,
                methods::TOOLS_CALL,
                &Json::from(json!({}))
            )
            .is_none()
        );
        assert!(
            CacheKey::of(
                Revision::LATEST,
                methods::RESOURCES_READ,
                &Json::from(json!({ "uri": "a", "requestState": "s" }))
            )
            .is_none()
        );
    }
}
