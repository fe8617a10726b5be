//! Older handlers, modern client: `subscriptions/listen` becomes `resources/subscribe` of the handlers, and what they
//! tell the session goes to each stream that asked for it.

use std::collections::{BTreeMap, BTreeSet};

use mcp_registry::{Adapter, Revision};
use mcp_wire::{Json, JsonObject, Map};

use super::{About, Occasion, StateMachine, Step, World};
use crate::adapters::LISTS;
use crate::errors;
use crate::protocol::Token;

/// The streams that are open.
#[derive(Debug, Default)]
pub(super) struct Streaming {
    streams: BTreeMap<Token, Stream>,
    last_key: u64,
}

/// What a stream carries.
#[derive(Debug)]
struct Stream {
    peer: Revision,
    lists: Vec<&'static str>,
    uris: BTreeSet<String>,
}

const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

impl StateMachine for Streaming {
    fn adapter(&self) -> Adapter {
        Adapter::Subscription
    }

    fn on(&mut self, occasion: Occasion<'_>, world: &World<'_>) -> Option<Vec<Step>> {
        match occasion {
            Occasion::Request(about) => Some(self.open(about, world)),
            Occasion::Notification { method, params } => self.tell(method, params, world),
            Occasion::Cancelled { token } => Some(self.close(token)),
            Occasion::OwnNotification { method, params, .. } => {
                self.tell(method, params, world).or(Some(Vec::new()))
            }
            Occasion::OwnResult { .. } => Some(Vec::new()),
            _ => None,
        }
    }
}

impl Streaming {
    fn open(&mut self, about: About<'_>, world: &World<'_>) -> Vec<Step> {
        let refused =
            |error: Box<errors::Refusal>| vec![Step::Answer(about.token, Err(error.error))];
        if self.streams.len() >= world.limits.streams {
            return refused(errors::too_many_subscriptions(world.limits.streams));
        }
        let params = JsonObject::try_from(about.params.clone()).unwrap_or_default();
        let Some(filter) = params
            .get("notifications")
            .and_then(|it| JsonObject::try_from(it).ok())
        else {
            return refused(errors::invalid_params(
                "`notifications` is required, and an object",
            ));
        };
        let wants = |word: &str| filter.get(word).is_some_and(|it| it.text() == "true");
        let lists: Vec<_> = (LISTS.iter())
            .filter(|(word, capability, _)| {
                wants(word) && world.declares(&[capability, "listChanged"])
            })
            .collect();
        let uris = filter
            .get("resourceSubscriptions")
            .filter(|it| !it.is_null());
        let uris: BTreeSet<String> = match uris.map(|uris| uris.read::<Vec<String>>()) {
            Some(Ok(uris)) => uris.into_iter().collect(),
            Some(Err(_)) => {
                return refused(errors::invalid_params("`resourceSubscriptions` holds URIs"));
            }
            None => BTreeSet::new(),
        };
        if uris.len() > world.limits.subscriptions {
            return refused(errors::too_many_subscriptions(world.limits.subscriptions));
        }
        let uris = match world.declares(&["resources", "subscribe"]) {
            true => uris,
            false => BTreeSet::new(),
        };
        let mut agreed: Map<Json> = Map::new();
        for (word, _, _) in &lists {
            agreed.insert(*word, Json::from(true));
        }
        if !uris.is_empty() {
            let uris: Vec<String> = uris.iter().cloned().collect();
            agreed.insert("resourceSubscriptions", Json::of(&uris));
        }
        let mut params: Map<Json> = Map::new();
        params.insert("notifications", Json::of(&agreed));
        let (token, params) = (about.token, Json::of(&params));
        let mut steps = vec![Step::Notify {
            about: Some(token),
            method: ACKNOWLEDGED,
            params,
        }];
        for uri in &uris {
            if !self.subscribes(uri) {
                steps.push(self.own("resources/subscribe", uri, about.peer));
            }
        }
        steps.push(Step::Listens);
        let lists = lists.into_iter().map(|(_, _, method)| *method).collect();
        self.streams.insert(
            token,
            Stream {
                peer: about.peer,
                lists,
                uris,
            },
        );
        steps
    }

    fn subscribes(&self, uri: &str) -> bool {
        self.streams
            .values()
            .any(|stream| stream.uris.contains(uri))
    }

    fn own(&mut self, method: &'static str, uri: &str, peer: Revision) -> Step {
        self.last_key += 1;
        let mut params: Map<Json> = Map::new();
        params.insert("uri", Json::of(uri));
        Step::Own {
            key: self.last_key,
            method,
            params: Json::of(&params),
            peer,
        }
    }

    /// What the handlers tell the session, for the streams that want it; `None` if that is no matter of streams.
    fn tell(&mut self, method: &str, params: &Json, world: &World<'_>) -> Option<Vec<Step>> {
        let lists = LISTS.iter().map(|(_, _, method)| *method);
        let method = lists.chain([UPDATED]).find(|known| *known == method)?;
        let object = JsonObject::try_from(params.clone()).unwrap_or_default();
        let uri = object.get("uri").and_then(|uri| uri.read::<String>().ok());
        let wants = |stream: &&Stream| match method {
            UPDATED => uri.as_ref().is_some_and(|uri| stream.wants(uri)),
            _ => stream.lists.contains(&method),
        };
        let mut steps = Vec::new();
        for (&token, stream) in &self.streams {
            if wants(&stream)
                && let Ok((params, _)) = world.params_out(method, params, stream.peer)
            {
                steps.push(Step::Notify {
                    about: Some(token),
                    method,
                    params,
                });
            }
        }
        Some(steps)
    }

    fn close(&mut self, token: Token) -> Vec<Step> {
        let Some(stream) = self.streams.remove(&token) else {
            return Vec::new();
        };
        let unused: Vec<String> = stream
            .uris
            .into_iter()
            .filter(|uri| !self.subscribes(uri))
            .collect();
        let own = |uri: String| self.own("resources/unsubscribe", &uri, stream.peer);
        unused.into_iter().map(own).collect()
    }
}

impl Stream {
    /// Whether the resource is one of those subscribed to, or a part of one.
    fn wants(&self, uri: &str) -> bool {
        self.uris.iter().any(|one| {
            uri.strip_prefix(one.as_str()).is_some_and(|rest| {
                rest.is_empty() || one.ends_with('/') || rest.starts_with(['/', '#', '?'])
            })
        })
    }
}
