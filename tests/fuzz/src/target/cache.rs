//! Results that clients share: no one gets what was kept for another request, for another user, or before a change.

use mcp_revisions::Revision;
use mcp_revisions::core::methods;
use mcp_revisions::service::client::cache::{Cache, CacheKey, CacheUsers};
use mcp_wire::Json;
use serde_json::Value;

use super::{Signature, Target, digest};

pub(super) const CACHE: Target = Target {
    name: "cache",
    corpus,
    run,
};

/// Lines: an act, the method or the notification, and the params; a result behind a tab.
fn corpus() -> Vec<Vec<u8>> {
    let kept = r#"{"resultType":"complete","contents":[],"ttlMs":60000,"cacheScope":"public"}"#;
    let own = kept.replace("public", "private");
    let asks = kept.replace("complete", "input_required");
    let read = |uri: &str| format!("one resources/read {{\"uri\":{uri}}}\t");
    [
        format!("{0}{kept}\n{0}{kept}\nchange notifications/resources/updated {{\"uri\":\"file:\\/\\/\\/a\"}}\n{0}{kept}", read(r#""file:///a""#)),
        format!("{}{own}\nall resources/read {{\"uri\":\"file:///a\"}}\t{asks}", read(r#""file:///a""#)),
        format!("all tools/list {{}}\t{kept}\nall tools/list {{\"cursor\":\"2\"}}\t{own}\nchange notifications/tools/list_changed {{}}\nall tools/list {{}}\t{kept}"),
        format!("all prompts/list {{\"cursor\":\"\\u0061\"}}\t{kept}\none prompts/list {{\"cursor\":\"a\",\"requestState\":\"s\"}}\t{kept}\nall resources/templates/list null\t{own}"),
        format!("{}{}\nchange notifications/resources/list_changed null", read(r#"{"a":1}"#), kept.replace("60000", "1e9")),
    ]
    .map(String::into_bytes)
    .into()
}

/// A result that may be answered from the cache.
struct Allowed {
    method: &'static str,
    params: [Option<Value>; 2],
    is_public: bool,
}

const METHODS: [&str; 5] = [
    methods::TOOLS_LIST,
    methods::PROMPTS_LIST,
    methods::RESOURCES_LIST,
    methods::RESOURCES_TEMPLATES_LIST,
    methods::RESOURCES_READ,
];

fn run(input: &[u8]) -> Result<Signature, String> {
    let text = String::from_utf8_lossy(input);
    let cache = Cache::new(4 << 10);
    let mut allowed: Vec<Allowed> = Vec::new();
    let mut behaviour = String::new();
    for line in text.lines().take(60) {
        let mut words = line.splitn(3, ' ');
        let (act, name) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let rest = words.next().unwrap_or_default();
        let (params, result) = rest.split_once('\t').unwrap_or((rest, "null"));
        let (Ok(params), Ok(result)) = (Json::from_text(params), Json::from_text(result)) else {
            continue;
        };
        let value = |name: &str| {
            let value = params.get(name)?;
            // Half of a surrogate pair is a text to no other reader.
            let read = serde_json::from_str(value.text());
            Some(read.unwrap_or_else(|_| Value::String(value.text().to_owned())))
        };
        let asked = [value("cursor"), value("uri")];
        if act == "change" {
            cache.forget(name, &params);
            allowed.retain(|kept| !is_over(kept, name, &asked[1]));
            continue;
        }
        let users = if act == "one" {
            CacheUsers::One
        } else {
            CacheUsers::Several
        };
        let method = METHODS.into_iter().find(|method| *method == name);
        let Some(method) = method else { continue };
        let Some(key) = CacheKey::of(Revision::LATEST, method, &params) else {
            behaviour.push('-');
            continue;
        };
        match cache.get(&key, users) {
            Ok(found) => {
                behaviour.push('!');
                let is_for = |kept: &&Allowed| {
                    let is_same = kept.method == method && kept.params == asked;
                    is_same && (kept.is_public || users == CacheUsers::One)
                };
                if !allowed.iter().any(|kept| is_for(&kept)) {
                    return Err(format!(
                        "{name} {params:?} gets a result that is not for it: {found:?}"
                    ));
                }
            }
            Err(changes) => {
                behaviour.push('?');
                cache.keep(key, users, &result, changes);
                let says = |name: &str, text: &str| {
                    result
                        .get(name)
                        .and_then(|it| it.as_str().map(|it| it == text))
                };
                if says("resultType", "complete").unwrap_or(true) {
                    let is_public = says("cacheScope", "public") == Some(true);
                    allowed.push(Allowed {
                        method,
                        params: asked,
                        is_public,
                    });
                }
            }
        }
    }
    Ok(digest(behaviour.as_bytes()))
}

/// Returns whether a notification says that a result is over.
fn is_over(kept: &Allowed, notification: &str, uri: &Option<Value>) -> bool {
    match notification {
        methods::NOTIFICATIONS_TOOLS_LIST_CHANGED => kept.method == methods::TOOLS_LIST,
        methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED => kept.method == methods::PROMPTS_LIST,
        methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED => {
            kept.method == methods::RESOURCES_LIST
                || kept.method == methods::RESOURCES_TEMPLATES_LIST
        }
        methods::NOTIFICATIONS_RESOURCES_UPDATED => {
            kept.method == methods::RESOURCES_READ && (uri.is_none() || kept.params[1] == *uri)
        }
        _ => false,
    }
}
