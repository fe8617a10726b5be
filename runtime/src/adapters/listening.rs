//! Modern handlers, older client: what it subscribes to, and the list changes that it expects unasked, become one
//! `subscriptions/listen` of the handlers, whose notifications go to the session.

use std::collections::BTreeSet;

use mcp_registry::{Adapter, Revision};
use mcp_wire::{Json, JsonObject};

use super::{About, Occasion, StateMachine, Step, World};
use crate::adapters::filter::{self, Filter};
use crate::errors;
use crate::methods;

/// What the client of a session is told.
#[derive(Debug, Default)]
pub(super) struct Listening {
    peer: Option<Revision>,
    uris: BTreeSet<String>,
    /// Whether the lists are listened to: from the moment that the client is initialized.
    lists: bool,
    current: Option<u64>,
    /// The call before: it goes on until the handlers have taken up the new one.
    before: Option<u64>,
    last_key: u64,
}

impl StateMachine for Listening {
    fn adapter(&self) -> Adapter {
        Adapter::Subscription
    }

    fn on(&mut self, occasion: Occasion<'_>, world: &World<'_>) -> Option<Vec<Step>> {
        match occasion {
            Occasion::Initialized { peer } => {
                self.peer = Some(peer);
                self.lists = true;
                Some(self.listen(world))
            }
            Occasion::Request(about) => Some(self.subscribe(about, world)),
            Occasion::OwnNotification {
                key,
                method,
                params,
            } => Some(self.told(key, method, params, world)),
            Occasion::OwnResult { key, .. } => {
                self.current = self.current.filter(|current| *current != key);
                self.before = self.before.filter(|before| *before != key);
                Some(Vec::new())
            }
            _ => None,
        }
    }
}

impl Listening {
    fn subscribe(&mut self, about: About<'_>, world: &World<'_>) -> Vec<Step> {
        let refused =
            |error: Box<errors::Refusal>| vec![Step::Answer(about.token, Err(error.error))];
        if !world.declares(&["resources", "subscribe"]) {
            return refused(errors::method_not_found(about.method, about.peer.era()));
        }
        let object = JsonObject::try_from(about.params.clone()).ok();
        let uri = object.and_then(|object| object.get("uri")?.read::<String>().ok());
        let Some(uri) = uri.filter(|uri| uri.len() <= world.limits.name_bytes) else {
            return refused(errors::invalid_params(
                "`uri` is required, a string and not too long",
            ));
        };
        self.peer = Some(about.peer);
        let changed = match about.method {
            methods::RESOURCES_UNSUBSCRIBE => self.uris.remove(&uri),
            _ if self.uris.len() >= world.limits.subscriptions => {
                return refused(errors::too_many_subscriptions(world.limits.subscriptions));
            }
            _ => self.uris.insert(uri) || self.current.is_none(),
        };
        let mut steps = vec![Step::Answer(
            about.token,
            Ok(crate::protocol::translate::no_params()),
        )];
        if changed {
            steps.extend(self.listen(world));
        }
        steps
    }

    /// Listens to what is wanted now, in place of what was wanted before.
    fn listen(&mut self, world: &World<'_>) -> Vec<Step> {
        let Some(peer) = self.peer else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        if let Some(before) = self.before.take() {
            steps.push(Step::CancelOwn { key: before });
        }
        let filter = Filter::of_session(self.lists, &self.uris, |path| world.declares(path));
        self.before = self.current.take();
        if filter.is_empty() {
            steps.extend(self.before.take().map(|key| Step::CancelOwn { key }));
            return steps;
        }
        self.last_key += 1;
        self.current = Some(self.last_key);
        let (method, params) = (methods::SUBSCRIPTIONS_LISTEN, filter.params());
        steps.push(Step::Own {
            key: self.last_key,
            method,
            params,
            peer,
        });
        steps
    }

    fn told(&mut self, key: u64, method: &str, params: &Json, world: &World<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.current == Some(key) {
            // The new call is taken up, so that nothing is missed without the old one.
            steps.extend(self.before.take().map(|key| Step::CancelOwn { key }));
        }
        let Some(method) = filter::change(method) else {
            return steps;
        };
        if let Some(peer) = self.peer
            && let Ok((params, _)) = world.params_out(method, params, peer)
        {
            steps.push(Step::Notify {
                about: None,
                method,
                params,
            });
        }
        steps
    }
}
