//! Handshake handlers, per-request client: `subscriptions/listen` becomes `resources/subscribe` of the handlers, and their
//! notifications for the session go to each stream that asked for them.

use std::sync::Arc;

use mcp_revisions_core::{Revision, methods};
use mcp_wire::{ErrorObject, Json};

use super::change;
use crate::errors;
use crate::server::Server;
use crate::server::requests::About;
use crate::subscriptions::{Filter, about as about_resource};
use crate::translate::{TextDirection, no_params};
use crate::{Caller, Connection, Event, Ignored, Token};

/// A call that subscribes the handlers to a resource, or ends that, for the streams that carry it.
#[derive(Debug)]
pub(crate) struct SubscriptionCall {
    method: &'static str,
    uri: String,
    /// The client on whose behalf it is made.
    caller: Arc<Caller>,
}

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
        let About {
            token,
            revision: peer,
            ..
        } = *about;
        let caller = Arc::clone(&about.caller);
        let limits = &self.role.limits;
        let declares = |path: &[&str]| self.role.declares(path);
        let most = limits.max_change_streams;
        let filter = if self.state.streams.len() >= most {
            Err(errors::too_many_subscriptions(most))
        } else if self.state.own.len() >= limits.max_pending_requests {
            Err(errors::too_many_pending(limits.max_pending_requests))
        } else {
            Filter::read(&about.params, declares, limits)
        };
        let filter = match filter {
            Ok(filter) => filter,
            Err(refusal) => return self.answer_as_is(token, Err(refusal.error)),
        };
        let method = methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED;
        self.send_notification(Some(token), method, filter.params());
        for uri in filter.uris() {
            if self.subscriber(uri).is_none() {
                self.change_subscription(methods::RESOURCES_SUBSCRIBE, uri, &caller);
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

    /// Returns the client of a stream that carries a resource, if there is one.
    fn subscriber(&self, uri: &str) -> Option<Arc<Caller>> {
        let mut streams = self.state.streams.values();
        let stream = streams.find(|stream| stream.filter.names(uri))?;
        Some(Arc::clone(&stream.caller))
    }

    /// Calls the handlers about a resource, unless a call about it runs, whose end says what follows.
    fn change_subscription(&mut self, method: &'static str, uri: &str, caller: &Arc<Caller>) {
        if !self.state.running.insert(uri.to_owned()) {
            return;
        }
        let subscription = SubscriptionCall {
            method,
            uri: uri.to_owned(),
            caller: Arc::clone(caller),
        };
        let params = about_resource(Some(uri)).unwrap_or_else(no_params);
        let token = self.own_call_of(caller, method, params);
        self.state.own.insert(token, Some(Box::new(subscription)));
    }

    /// Takes the end of a call about a resource: the next one follows if the streams want something else by now. No stream
    /// carries a resource whose subscription the handlers refused.
    pub(crate) fn end_subscription_call(
        &mut self,
        subscription: SubscriptionCall,
        result: Result<&Json, &ErrorObject>,
    ) {
        let SubscriptionCall {
            method,
            uri,
            caller,
        } = subscription;
        self.state.running.remove(&uri);
        let subscribes = method == methods::RESOURCES_SUBSCRIBE;
        if let Err(error) = result {
            self.tell(Event::Ignored(Ignored::Refused(method, error.clone())));
            if subscribes {
                (self.state.streams.values_mut()).for_each(|stream| stream.filter.remove(&uri));
            }
        }
        let is_subscribed = subscribes && result.is_ok();
        match self.subscriber(&uri) {
            Some(caller) if !is_subscribed => {
                self.change_subscription(methods::RESOURCES_SUBSCRIBE, &uri, &caller);
            }
            None if is_subscribed => {
                self.change_subscription(methods::RESOURCES_UNSUBSCRIBE, &uri, &caller);
            }
            _ => {}
        }
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
            if self.subscriber(uri).is_none() {
                self.change_subscription(methods::RESOURCES_UNSUBSCRIBE, uri, &caller);
            }
        }
    }
}
