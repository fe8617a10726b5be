//! Per-request handlers, handshake client: its subscriptions, and the list changes that it expects unasked, become one
//! `subscriptions/listen` of the handlers, whose notifications go to the session.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_protocol::Revision;
use mcp_wire::{ErrorObject, Json};

use super::{Filter, change};
use crate::errors;
use crate::methods;
use crate::protocol::Token;
use crate::protocol::occasion::{About, Occasion, Step, World};
use crate::protocol::translate::{Way, no_params};

/// How long a subscription waits until the handlers have taken it up; after that it is answered all the same.
const TAKES_UP: Duration = Duration::from_secs(10);

/// The notifications for which the client of a session is registered.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Listening {
    peer: Option<Revision>,
    uris: BTreeSet<String>,
    /// Whether the lists are listened to: from the moment that the client is initialized.
    lists: bool,
    current: Option<u64>,
    /// Whether the handlers have said something in it: from then on no change is missed.
    is_taken_up: bool,
    /// Whether changes may have been missed: once the call is taken up, the client hears that all of it may be another.
    has_missed: bool,
    /// The call before: it goes on until the handlers have taken up the new one.
    before: Option<u64>,
    last_key: u64,
    /// Subscriptions that are answered once the current call is taken up, with their resources.
    waiting: Vec<(Token, String)>,
    /// Until when they wait.
    until: Option<Duration>,
}

impl Listening {
    pub(in crate::protocol) fn on(
        &mut self,
        occasion: Occasion<'_>,
        world: &World<'_>,
    ) -> Option<Vec<Step>> {
        match occasion {
            Occasion::Initialized { peer } => {
                self.peer = Some(peer);
                self.lists = true;
                Some(self.listen(world))
            }
            Occasion::Request(about) => Some(self.subscribe(about, world)),
            Occasion::MissedChanges => {
                self.has_missed = true;
                Some(self.tell_missed(world))
            }
            Occasion::OwnNotification {
                key,
                method,
                params,
            } => Some(self.told(key, method, params, world)),
            Occasion::OwnResult { key, result } => Some(self.ended(key, result, world)),
            Occasion::Cancelled { token } => {
                self.waiting.retain(|(waiting, _)| *waiting != token);
                Some(Vec::new())
            }
            Occasion::Time => {
                let is_over = self.until.is_some_and(|until| until <= world.now);
                Some(match is_over {
                    true => self.answer(),
                    false => Vec::new(),
                })
            }
            _ => None,
        }
    }

    pub(in crate::protocol) fn wake_at(&self) -> Option<Duration> {
        self.until
    }
}

impl Listening {
    fn subscribe(&mut self, about: &About, world: &World<'_>) -> Vec<Step> {
        let refused =
            |error: Box<errors::Refusal>| vec![Step::Answer(about.token, Err(error.error))];
        if !world.declares(&["resources", "subscribe"]) {
            return refused(errors::method_not_found(
                about.method,
                about.peer.lifecycle(),
            ));
        }
        let uri = about.params.read_member::<String>("uri");
        let Some(uri) = uri.filter(|uri| uri.len() <= world.limits.max_identifier_bytes) else {
            return refused(errors::invalid_params(
                "`uri` is required, a string and not too long",
            ));
        };
        self.peer = Some(about.peer);
        let changed = match about.method {
            methods::RESOURCES_UNSUBSCRIBE => self.uris.remove(&uri),
            _ if self.uris.len() >= world.limits.max_subscriptions => {
                return refused(errors::too_many_subscriptions(
                    world.limits.max_subscriptions,
                ));
            }
            _ => {
                self.waiting.push((about.token, uri.clone()));
                self.uris.insert(uri) || self.current.is_none()
            }
        };
        let mut steps = Vec::new();
        if about.method == methods::RESOURCES_UNSUBSCRIBE {
            steps.push(Step::Answer(about.token, Ok(no_params())));
        }
        if changed {
            steps.extend(self.listen(world));
        }
        // A change right after the answer is not missed.
        if self.current.is_none() || self.is_taken_up {
            steps.extend(self.answer());
        } else if !self.waiting.is_empty() {
            self.until.get_or_insert(world.now + TAKES_UP);
        }
        steps
    }

    /// Answers the subscriptions that have waited.
    fn answer(&mut self) -> Vec<Step> {
        self.until = None;
        let waiting = std::mem::take(&mut self.waiting);
        let answers = waiting.into_iter();
        answers
            .map(|(token, _)| Step::Answer(token, Ok(no_params())))
            .collect()
    }

    /// Ends a call that the handlers have answered: no notification follows in it.
    fn ended(
        &mut self,
        key: u64,
        result: Result<&Json, &ErrorObject>,
        world: &World<'_>,
    ) -> Vec<Step> {
        self.before = self.before.filter(|before| *before != key);
        if self.current != Some(key) {
            return Vec::new();
        }
        self.current = None;
        let (Err(error), Some(peer)) = (result, self.peer) else {
            return self.answer();
        };
        self.until = None;
        let mut steps = Vec::new();
        for (token, uri) in std::mem::take(&mut self.waiting) {
            self.uris.remove(&uri);
            let method = methods::SUBSCRIPTIONS_LISTEN;
            let error = world.translator.error_out(method, error.clone(), peer);
            steps.push(Step::Answer(token, Err(error)));
        }
        steps
    }

    /// Listens to what is wanted now, in place of what was wanted before.
    fn listen(&mut self, world: &World<'_>) -> Vec<Step> {
        let Some(peer) = self.peer else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        // Of two calls the one goes on that is taken up.
        let over = match self.is_taken_up {
            true => std::mem::replace(&mut self.before, self.current.take()),
            false => self.current.take(),
        };
        steps.extend(over.map(|key| Step::CancelOwn { key }));
        self.is_taken_up = false;
        let filter = self.filter(world);
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
            self.is_taken_up = true;
            steps.extend(self.before.take().map(|key| Step::CancelOwn { key }));
            steps.extend(self.answer());
            steps.extend(self.tell_missed(world));
        }
        if let Some(method) = change(method) {
            steps.extend(self.tell(method, params, world));
        }
        steps
    }

    /// Tells of all that the client listens to, if changes may have been missed and the handlers tell of those to come.
    fn tell_missed(&mut self, world: &World<'_>) -> Vec<Step> {
        if !self.is_taken_up || !std::mem::take(&mut self.has_missed) {
            return Vec::new();
        }
        let filter = self.filter(world);
        let all = filter.all();
        all.filter_map(|(method, params)| {
            self.tell(method, &params.unwrap_or_else(no_params), world)
        })
        .collect()
    }

    fn tell(&self, method: &'static str, params: &Json, world: &World<'_>) -> Option<Step> {
        let told = (world.translator).params_told(Way::Out, method, params, self.peer?);
        let (params, _) = told.ok()?;
        Some(Step::Notify {
            about: None,
            method,
            params,
        })
    }

    /// What the client listens to.
    fn filter(&self, world: &World<'_>) -> Filter {
        Filter::of_session(self.lists, &self.uris, |path| world.declares(path))
    }
}
