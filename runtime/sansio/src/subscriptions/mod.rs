//! Subscriptions: what a stream of changes is asked for, whichever end keeps it, and the adapters of both ends.
//!
//! At a server [`listen`] and its `streams` are the adapters, at a client `client`.

#[cfg(feature = "client")]
pub(super) mod client;
#[cfg(feature = "server")]
pub(crate) mod listen;

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_wire::{ErrorObject, Json, Kind, meta};

use crate::Limits;
use crate::errors::{self, Refusal};
use crate::json::object;
use mcp_revisions_core::methods;

/// The word of a list in the filter, the capability behind it, and the notification of its changes.
const LISTS: [(&str, &str, &str); 3] = [
    (
        "promptsListChanged",
        "prompts",
        methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED,
    ),
    (
        "resourcesListChanged",
        "resources",
        methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED,
    ),
    (
        "toolsListChanged",
        "tools",
        methods::NOTIFICATIONS_TOOLS_LIST_CHANGED,
    ),
];

/// Returns whether `_meta` of params names a stream.
#[must_use]
pub fn names_stream(params: &Json) -> bool {
    let meta = params.get("_meta");
    meta.is_some_and(|meta| meta.get(meta::SUBSCRIPTION_ID).is_some())
}

/// The first pause before a stream or a session that broke is opened again.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest such pause. One that was open for as long begins with the first pause again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Pauses before a stream or a session that broke is opened again; each is twice as long as the one before.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
    last_try: Option<Duration>,
}

impl Backoff {
    /// Returns the time at which to open the stream again, which broke now.
    pub(crate) fn next_try(&mut self, now: Duration) -> Duration {
        let was_open = |since: Duration| now.saturating_sub(since) >= LONGEST_PAUSE;
        if self.last_try.is_some_and(was_open) {
            self.tries = 0;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.tries.min(16));
        self.tries += 1;
        let next = now + pause.min(LONGEST_PAUSE);
        self.last_try = Some(next);
        next
    }
}

/// Returns whether an error says that the peer does not take the request, however often it is sent.
fn is_refusal(error: &ErrorObject) -> bool {
    let code = error.code.as_i64();
    code.is_some_and(|code| REFUSALS.contains(&code))
}

/// Codes of errors that a request gets each time that it is sent.
const REFUSALS: [i64; 3] = [
    ErrorObject::METHOD_NOT_FOUND,
    ErrorObject::INVALID_PARAMS,
    ErrorObject::INVALID_REQUEST,
];

/// Time that a subscription waits until it is acknowledged; after that it is refused.
const TAKES_UP: Duration = Duration::from_secs(10);

/// Returns whether an acknowledgement with these params covers a resource. One without a filter, which the specification
/// requires, covers all.
fn covers(params: Option<&Json>, uri: &str) -> bool {
    let Some(agreed) = params.and_then(|params| params.get("notifications")) else {
        return true;
    };
    let uris: Option<Vec<String>> = agreed.read_member("resourceSubscriptions");
    uris.is_some_and(|uris| uris.iter().any(|one| one == uri))
}

/// Returns the error for a subscription that an acknowledgement does not name.
fn declined(uri: &str) -> ErrorObject {
    let uri = mcp_revisions_core::errors::shortened(uri);
    errors::internal(&format!(
        "the server has declined the subscription to {uri}"
    ))
    .error
}

/// Returns the error for a subscription that no acknowledgement came for.
fn unacknowledged() -> ErrorObject {
    errors::internal("the server has not acknowledged the subscription").error
}

/// The changes that a stream reports.
#[derive(Debug, Default)]
pub struct Filter {
    /// Of each list the word and the notification.
    lists: Vec<(&'static str, &'static str)>,
    uris: BTreeSet<String>,
}

impl Filter {
    /// Reads what is wanted from the params of `subscriptions/listen`, without what the server does not declare.
    ///
    /// # Errors
    /// Params that are not valid, and more or longer URIs than the limits allow.
    pub fn read(
        params: &Json,
        declares: impl Fn(&[&str]) -> bool,
        limits: &Limits,
    ) -> Result<Self, Box<Refusal>> {
        let (most, longest) = (limits.max_subscriptions, limits.max_identifier_bytes);
        let filter = params
            .get("notifications")
            .filter(|it| it.kind() == Kind::Object);
        let filter = filter
            .ok_or_else(|| errors::invalid_params("`notifications` is required, and an object"))?;
        let wants = |word: &str| filter.get(word).is_some_and(|it| it.text() == "true");
        let lists = LISTS
            .into_iter()
            .filter(|(word, capability, _)| wants(word) && declares(&[capability, "listChanged"]));
        let uris = (filter.get("resourceSubscriptions")).filter(|it| !it.is_null());
        let invalid = |_| errors::invalid_params("`resourceSubscriptions` holds URIs");
        let uris: Vec<String> = match uris {
            Some(uris) => uris.read().map_err(invalid)?,
            None => Vec::new(),
        };
        let mut uris = BTreeSet::from_iter(uris);
        if uris.len() > most {
            return Err(errors::too_many_subscriptions(most));
        }
        if let Some(long) = uris.iter().find(|uri| uri.len() > longest) {
            let bytes = long.len();
            let why = format!(
                "`resourceSubscriptions` holds a URI of {bytes} bytes; at most {longest} are taken"
            );
            return Err(errors::invalid_params(&why));
        }
        if !declares(&["resources", "subscribe"]) {
            uris.clear();
        }
        Ok(Self {
            lists: lists.map(|(word, _, method)| (word, method)).collect(),
            uris,
        })
    }

    /// Returns the changes that a client of the handshake lifecycle hears of: its subscriptions, and lists where it gets those unasked.
    pub(crate) fn of_session(
        lists: bool,
        uris: &BTreeSet<String>,
        declares: impl Fn(&[&str]) -> bool,
    ) -> Self {
        let declared = LISTS
            .into_iter()
            .filter(|(_, capability, _)| lists && declares(&[capability, "listChanged"]));
        Self {
            lists: declared.map(|(word, _, method)| (word, method)).collect(),
            uris: uris.clone(),
        }
    }

    /// Returns the notification of each change that it reports, with its params.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, Option<Json>)> {
        let lists = self.lists.iter().map(|(_, told)| (*told, None));
        lists.chain(self.uris.iter().map(|uri| {
            let method = methods::NOTIFICATIONS_RESOURCES_UPDATED;
            (method, about(Some(uri)))
        }))
    }

    /// Returns whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.uris.is_empty()
    }

    /// Returns the resources.
    pub(crate) fn uris(&self) -> impl Iterator<Item = &String> {
        self.uris.iter()
    }

    /// Takes a resource out.
    pub(crate) fn remove(&mut self, uri: &str) {
        self.uris.remove(uri);
    }

    /// Returns whether this resource is asked for by this very name.
    pub(crate) fn names(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    /// Returns the params of `subscriptions/listen`, and of its acknowledgement.
    pub fn params(&self) -> Json {
        let lists = self.lists.iter().map(|(word, _)| (*word, Json::from(true)));
        let uris: Vec<&String> = self.uris.iter().collect();
        let uris = (!uris.is_empty()).then(|| ("resourceSubscriptions", Json::of(&uris)));
        object([("notifications", object(lists.chain(uris)))])
    }

    /// Returns whether it reports this change; a part of a resource counts as the resource.
    pub fn wants(&self, method: &str, uri: Option<&str>) -> bool {
        let is_part = |uri: &str, whole: &String| {
            uri.strip_prefix(whole.as_str()).is_some_and(|rest| {
                rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '#', '?'])
            })
        };
        match method {
            methods::NOTIFICATIONS_RESOURCES_UPDATED => {
                uri.is_some_and(|uri| self.uris.iter().any(|one| is_part(uri, one)))
            }
            _ => self.lists.iter().any(|(_, told)| *told == method),
        }
    }
}

/// Returns the params of the notification of a change, of a resource or of a list.
pub fn about(uri: Option<&str>) -> Option<Json> {
    uri.map(|uri| object([("uri", Json::of(uri))]))
}
