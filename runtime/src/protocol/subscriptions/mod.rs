//! Subscriptions: what a stream of changes is asked for, whichever end keeps it, and the adapters of both ends.
//!
//! At a server [`listen`] and [`streams`] are the adapters, at a client [`client`].

#[cfg(feature = "sansio-client")]
pub(super) mod client;
#[cfg(feature = "sansio-server")]
pub(crate) mod listen;
#[cfg(feature = "sansio-server")]
pub(super) mod streams;

use std::collections::BTreeSet;

use mcp_wire::{Json, Kind};

use crate::errors::{self, Refusal};
use crate::methods;
use crate::protocol::json::object;

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

/// The changes that a stream reports.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// Of each list the word and the notification.
    lists: Vec<(&'static str, &'static str)>,
    uris: BTreeSet<String>,
}

impl Filter {
    /// Reads what is wanted from the params of `subscriptions/listen`, without what the server does not declare;
    /// `most` is how many resources may be among it.
    pub(crate) fn read(
        params: &Json,
        declares: impl Fn(&[&str]) -> bool,
        most: usize,
    ) -> Result<Self, Box<Refusal>> {
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
        let uris = match uris.map(|uris| uris.read::<Vec<String>>()) {
            Some(Ok(uris)) if uris.len() > most => {
                return Err(errors::too_many_subscriptions(most));
            }
            Some(Ok(uris)) if declares(&["resources", "subscribe"]) => uris.into_iter().collect(),
            Some(Ok(_)) | None => BTreeSet::new(),
            Some(Err(_)) => {
                return Err(errors::invalid_params("`resourceSubscriptions` holds URIs"));
            }
        };
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

    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.uris.is_empty()
    }

    /// The resources.
    pub(crate) fn uris(&self) -> impl Iterator<Item = &String> {
        self.uris.iter()
    }

    /// Whether this resource is asked for by this very name.
    pub(crate) fn names(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    /// The params of `subscriptions/listen`, and of its acknowledgement.
    pub(crate) fn params(&self) -> Json {
        let lists = self.lists.iter().map(|(word, _)| (*word, Json::from(true)));
        let uris: Vec<&String> = self.uris.iter().collect();
        let uris = (!uris.is_empty()).then(|| ("resourceSubscriptions", Json::of(&uris)));
        object([("notifications", object(lists.chain(uris)))])
    }

    /// Returns whether it reports this change; a part of a resource counts as the resource.
    pub(crate) fn wants(&self, method: &str, uri: Option<&str>) -> bool {
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
pub(crate) fn about(uri: Option<&str>) -> Option<Json> {
    uri.map(|uri| object([("uri", Json::of(uri))]))
}
