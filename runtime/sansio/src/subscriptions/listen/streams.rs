//! Handshake handlers, per-request client: `subscriptions/listen` becomes `resources/subscribe` of the handlers, and their
//! notifications for the session go to each stream that asked for them.

use std::sync::Arc;

use mcp_revisions_core::Revision;
use mcp_wire::Json;

use super::change;
use crate::errors;
use crate::server::Server;
use crate::server::requests::About;
use crate::subscriptions::{Filter, about as about_resource};
use crate::translate::{TextDirection, no_params};
use crate::{Caller, Connection, Event, Token};
use mcp_revisions_core::methods;

/// A stream, with the changes that it carries.
#[derive(Debug)]
pub(crate) struct SubscriptionStream {
    peer: Revision,
    /// The client: what it subscribed to for it, its handlers end for it, too.
    caller: Arc<Caller>,
    filter: Filter,
}

impl Connection<Server> {
    /// Opens a stream of a client, and subscribes to what no other stream carries.
    pub(crate) fn open_stream(&mut self, about: &About) {
        let About { token, peer, .. } = *about;
        let caller = Arc::clone(&about.caller);
        let limits = &self.role.limits;
        let declares = |path: &[&str]| self.role.declares(path);
        let most = limits.max_change_streams;
        let filter = if self.state.streams.len() >= most {
            Err(errors::too_many_subscriptions(most))
        } else {
            Filter::read(&about.params, declares, limits.max_subscriptions)
        };
        let filter = match filter {
            Ok(filter) => filter,
            Err(refusal) => return self.answer_as_is(token, Err(refusal.error)),
        };
        let method = methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED;
        self.send_notification(Some(token), method, filter.params());
        for uri in filter.uris() {
            if !self.is_subscribed(uri) {
                self.call_about(methods::RESOURCES_SUBSCRIBE, uri, &caller);
            }
        }
        self.tell(Event::Listens);
        let stream = SubscriptionStream {
            peer,
            caller,
            filter,
        };
        self.state.streams.insert(token, stream);
    }

    fn is_subscribed(&self, uri: &str) -> bool {
        let mut streams = self.state.streams.values();
        streams.any(|stream| stream.filter.names(uri))
    }

    fn call_about(&mut self, method: &'static str, uri: &str, caller: &Arc<Caller>) {
        let params = about_resource(Some(uri)).unwrap_or_else(no_params);
        self.own_call_of(caller, method, params);
    }

    /// Sends a notification of the handlers for the session to the streams that subscribe to it. Returns false if streams
    /// carry no notification of this method.
    pub(crate) fn tell_streams(&mut self, method: &str, params: &Json) -> bool {
        let method = change(method).filter(|_| !self.state.is_bare && !self.role.is_per_request);
        let Some(method) = method else { return false };
        let uri = params.read_member::<String>("uri");
        let wants = |stream: &SubscriptionStream| stream.filter.wants(method, uri.as_deref());
        let streams = (self.state.streams.iter()).filter(|(_, stream)| wants(stream));
        let streams: Vec<(Token, Revision)> = streams
            .map(|(token, stream)| (*token, stream.peer))
            .collect();
        for (token, peer) in streams {
            let told =
                (self.role.translator).params_told(TextDirection::Out, method, params, peer, None);
            if let Ok((params, _)) = told {
                self.send_notification(Some(token), method, params);
            }
        }
        true
    }

    /// Closes a stream, and ends the subscriptions that no other stream carries.
    pub(crate) fn close_stream(&mut self, token: Token) {
        let Some(SubscriptionStream { caller, filter, .. }) = self.state.streams.remove(&token)
        else {
            return;
        };
        for uri in filter.uris() {
            if !self.is_subscribed(uri) {
                self.call_about(methods::RESOURCES_UNSUBSCRIBE, uri, &caller);
            }
        }
    }
}
