//! Handshake handlers, per-request client: `subscriptions/listen` becomes `resources/subscribe` of the handlers, and their
//! notifications for the session go to each stream that asked for them.

use mcp_protocol::Revision;
use mcp_wire::{Json, Map};

use super::{Filter, change};
use crate::errors;
use crate::methods;
use crate::protocol::Token;
use crate::protocol::numbered::Numbered;
use crate::protocol::occasion::{About, Occasion, Step, World};
use crate::protocol::translate::Way;

/// The streams that are open.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Streams {
    streams: Numbered<Token, Stream>,
    last_key: u64,
}

/// What a stream carries.
#[derive(Debug)]
struct Stream {
    peer: Revision,
    filter: Filter,
}

impl Streams {
    pub(in crate::protocol) fn on(
        &mut self,
        occasion: Occasion<'_>,
        world: &World<'_>,
    ) -> Option<Vec<Step>> {
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

impl Streams {
    fn open(&mut self, about: &About, world: &World<'_>) -> Vec<Step> {
        let refused =
            |error: Box<errors::Refusal>| vec![Step::Answer(about.token, Err(error.error))];
        if self.streams.len() >= world.limits.max_change_streams {
            return refused(errors::too_many_subscriptions(
                world.limits.max_change_streams,
            ));
        }
        let declares = |path: &[&str]| world.declares(path);
        let filter = match Filter::read(&about.params, declares, world.limits.max_subscriptions) {
            Ok(filter) => filter,
            Err(refusal) => return refused(refusal),
        };
        let token = about.token;
        let mut steps = vec![Step::Notify {
            about: Some(token),
            method: methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED,
            params: filter.params(),
        }];
        for uri in filter.uris() {
            if !self.subscribes(uri) {
                steps.push(self.own(methods::RESOURCES_SUBSCRIBE, uri, about.peer));
            }
        }
        steps.push(Step::Listens);
        let peer = about.peer;
        self.streams.insert(token, Stream { peer, filter });
        steps
    }

    fn subscribes(&self, uri: &str) -> bool {
        self.streams.values().any(|stream| stream.filter.names(uri))
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
        let method = change(method)?;
        let uri = params.read_member::<String>("uri");
        let mut steps = Vec::new();
        for (&token, stream) in self.streams.iter() {
            if stream.filter.wants(method, uri.as_deref())
                && let Ok((params, _)) =
                    world
                        .translator
                        .params_told(Way::Out, method, params, stream.peer)
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
        let unused: Vec<&String> = (stream.filter.uris())
            .filter(|uri| !self.subscribes(uri))
            .collect();
        let own = |uri: &String| self.own(methods::RESOURCES_UNSUBSCRIBE, uri, stream.peer);
        unused.into_iter().map(own).collect()
    }
}
