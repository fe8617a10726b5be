//! Per-request handlers, handshake client: its subscriptions, and the list changes that it expects unasked, become one
//! `subscriptions/listen` of the handlers, whose notifications go to the session.
//!
//! A call that ends is made again after a pause. What changed meanwhile is not reported again, so the client then hears that
//! everything may have changed.

pub(crate) mod streams;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{Revision, methods, translate::is_handshake};
use mcp_wire::{ErrorObject, Json};

use super::{Backoff, Filter, LISTS, TAKES_UP, covers, declined, is_refusal, unacknowledged};
use crate::errors;
use crate::server::Server;
use crate::server::requests::About;
use crate::translate::{TextDirection, no_params};
use crate::{Caller, Cancelled, Connection, Event, IncomingRequest, Token};

/// The notifications for which the client of a session is registered.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    revision: Option<Revision>,
    uris: BTreeSet<String>,
    /// Set if the lists are listened to: from the moment that the client is initialized.
    lists: bool,
    /// The call in which the handlers tell of changes.
    current: Option<Token>,
    /// Set if the handlers have said something in it: from then on no change is missed.
    is_taken_up: bool,
    /// Set if changes may have been missed: once the call is taken up, the client hears that all of it may be another.
    has_missed: bool,
    /// The call before: it goes on until the handlers have taken up the new one.
    before: Option<Token>,
    /// Subscriptions that are answered once the current call is taken up, with their resources.
    waiting: Vec<(Token, String)>,
    /// Until when they wait.
    until: Option<Duration>,
    /// When the call is made again that the handlers have ended.
    again: Option<Duration>,
    backoff: Backoff,
    /// Set if the handlers have ever taken up a call.
    was_taken_up: bool,
}

impl Listening {
    /// Returns the time at which [`wake_listening`](Connection::wake_listening) has to be called.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.until.into_iter().chain(self.again).min()
    }
}

impl Connection<Server> {
    /// Listens to the lists, too: the client of a session is initialized.
    pub(crate) fn listen_to_lists(&mut self, peer: Revision) {
        let listening = self.state.listening.get_or_insert_default();
        listening.revision = Some(peer);
        listening.lists = true;
        self.listen();
    }

    /// Takes a subscription of the client, or the end of one.
    pub(crate) fn subscribe(&mut self, about: &About, now: Duration) {
        match self.take_subscription(about) {
            Err(refusal) => return self.answer_as_is(about.token, Err(refusal.error)),
            Ok(true) => self.listen(),
            Ok(false) => {}
        }
        let Some(listening) = &mut self.state.listening else {
            return;
        };
        // A change right after the answer is not missed.
        if listening.current.is_some() && listening.is_taken_up {
            self.answer_subscriptions(|_| Ok(()));
        } else if !listening.waiting.is_empty() {
            listening.until.get_or_insert(now + TAKES_UP);
        }
    }

    /// Notes what the client subscribes to. Returns whether that is another than before.
    fn take_subscription(&mut self, about: &About) -> Result<bool, Box<errors::Refusal>> {
        let limits = &self.role.limits;
        // Without a session there is no client to notify of changes.
        if self.state.session.is_none() || !self.role.declares(&["resources", "subscribe"]) {
            let lifecycle = about.revision.lifecycle();
            return Err(errors::method_not_found(about.method, lifecycle));
        }
        let uri = about
            .params
            .read_member::<String>("uri")
            .filter(|uri| uri.len() <= limits.max_identifier_bytes)
            .ok_or_else(|| {
                errors::invalid_params("`uri` is required, a string and not too long")
            })?;
        let listening = self.state.listening.get_or_insert_default();
        listening.revision = Some(about.revision);
        if about.method == methods::RESOURCES_UNSUBSCRIBE {
            let changed = listening.uris.remove(&uri);
            self.answer_as_is(about.token, Ok(no_params()));
            return Ok(changed);
        }
        if listening.uris.len() >= limits.max_subscriptions {
            return Err(errors::too_many_subscriptions(limits.max_subscriptions));
        }
        listening.waiting.push((about.token, uri.clone()));
        Ok(listening.uris.insert(uri) || listening.current.is_none())
    }

    /// Answers the subscriptions that have waited, each by its resource; one that is refused is none.
    fn answer_subscriptions(&mut self, answer: impl Fn(&str) -> Result<(), ErrorObject>) {
        let Some(listening) = &mut self.state.listening else {
            return;
        };
        listening.until = None;
        for (token, uri) in std::mem::take(&mut listening.waiting) {
            let answered = answer(&uri);
            if let (Err(_), Some(listening)) = (&answered, &mut self.state.listening) {
                listening.uris.remove(&uri);
            }
            self.answer_as_is(token, answered.map(|()| no_params()));
        }
    }

    /// Refuses the subscriptions that have waited long enough, and makes the call again that has ended.
    pub(crate) fn wake_listening(&mut self, now: Duration) {
        let Some(listening) = &mut self.state.listening else {
            return;
        };
        let is_due = |time: &mut Option<Duration>| time.take_if(|time| *time <= now).is_some();
        if is_due(&mut listening.until) {
            let why =
                format!("the server has not acknowledged the subscription within {TAKES_UP:?}");
            self.answer_subscriptions(|_| Err(errors::internal(&why).error));
        }
        if let Some(listening) = &mut self.state.listening
            && is_due(&mut listening.again)
        {
            self.listen();
        }
    }

    /// A subscription is not waited for any more.
    pub(crate) fn end_subscription(&mut self, token: Token) {
        if let Some(listening) = &mut self.state.listening {
            listening.waiting.retain(|(waiting, _)| *waiting != token);
        }
    }

    /// Takes the end of a call on behalf of the session: no notification follows in it.
    pub(crate) fn own_ended(
        &mut self,
        call: Token,
        result: Result<&Json, &ErrorObject>,
        now: Duration,
    ) {
        let Some(listening) = &mut self.state.listening else {
            return;
        };
        listening.before = listening.before.filter(|before| *before != call);
        if listening.current != Some(call) {
            return;
        }
        // The call before goes on, with all but the subscriptions that are refused here.
        listening.current = listening.before.take();
        listening.is_taken_up = listening.current.is_some();
        let (goes_on, waits) = (listening.is_taken_up, !listening.waiting.is_empty());
        let is_refused = result.is_err_and(is_refusal) && !listening.was_taken_up;
        let error = result.err().cloned().unwrap_or_else(unacknowledged);
        let error = match listening.revision {
            Some(peer) => {
                let method = methods::SUBSCRIPTIONS_LISTEN;
                (self.role.translator).error_out(method, error, peer)
            }
            None => error,
        };
        self.answer_subscriptions(|_| Err(error.clone()));
        let Some(listening) = &mut self.state.listening else {
            return;
        };
        if goes_on {
            return;
        }
        if is_refused && !waits {
            return;
        }
        listening.has_missed = true;
        listening.again = Some(if waits && is_refused {
            // The rest of it may be taken up.
            now
        } else {
            listening.backoff.next_try(now)
        });
    }

    /// Listens to what is wanted now, in place of what was wanted before.
    fn listen(&mut self) {
        let filter = self.session_filter();
        let Some(listening) = &mut self.state.listening else {
            return;
        };
        let Some(peer) = listening.revision else {
            return;
        };
        listening.again = None;
        // Of two calls the one goes on that is taken up.
        let over = if listening.is_taken_up {
            std::mem::replace(&mut listening.before, listening.current.take())
        } else {
            listening.current.take()
        };
        listening.is_taken_up = false;
        let is_over = filter.is_empty();
        let before = is_over.then(|| listening.before.take()).flatten();
        for call in over.into_iter().chain(before) {
            self.cancel_own(call);
        }
        if !is_over {
            let call = self.own_call(methods::SUBSCRIPTIONS_LISTEN, filter.params(), peer);
            self.state.listening.get_or_insert_default().current = Some(call);
        }
    }

    /// Takes what the handlers say in a call on behalf of the session.
    pub(crate) fn own_told(&mut self, call: Token, method: &str, params: &Json) {
        let Some(listening) = &mut self.state.listening else {
            self.tell_streams(method, params);
            return;
        };
        if listening.current == Some(call) {
            // The new call is taken up, so that nothing is missed without the old one.
            (listening.is_taken_up, listening.was_taken_up) = (true, true);
            if let Some(before) = listening.before.take() {
                self.cancel_own(before);
            }
            let is_acknowledged = method == methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED;
            self.answer_subscriptions(|uri| {
                if is_acknowledged && !covers(Some(params), uri) {
                    Err(declined(uri))
                } else {
                    Ok(())
                }
            });
            self.tell_missed();
        }
        if let Some(method) = change(method) {
            self.tell_session(method, params);
        }
    }

    /// Notes that changes may have been missed.
    pub(crate) fn miss_changes(&mut self) {
        self.state.listening.get_or_insert_default().has_missed = true;
        self.tell_missed();
    }

    /// Tells of all that the client listens to, if changes may have been missed and the handlers tell of those to come.
    fn tell_missed(&mut self) {
        let Some(listening) = &mut self.state.listening else {
            return;
        };
        if !listening.is_taken_up || !std::mem::take(&mut listening.has_missed) {
            return;
        }
        for (method, params) in self.session_filter().all() {
            self.tell_session(method, &params.unwrap_or_else(no_params));
        }
    }

    /// Tells the client of a session of a change.
    fn tell_session(&mut self, method: &'static str, params: &Json) {
        let Some(peer) = self.state.listening.as_ref().and_then(|it| it.revision) else {
            return;
        };
        let told =
            (self.role.translator).params_told(TextDirection::Out, method, params, peer, None);
        if let Ok((params, _)) = told {
            self.send_notification(None, method, params);
        }
    }

    /// Returns the filter of a session's client.
    fn session_filter(&self) -> Filter {
        match &self.state.listening {
            Some(it) => Filter::of_session(it.lists, &it.uris, |path| self.role.declares(path)),
            None => Filter::default(),
        }
    }

    /// Calls the application on behalf of the session, with what a request of its own lifecycle says.
    pub(crate) fn own_call(&mut self, method: &'static str, params: Json, peer: Revision) -> Token {
        let caller = self
            .opened_by()
            .filter(|caller| caller.revision == peer)
            .unwrap_or_else(|| Arc::new(Caller::unknown(peer)));
        self.own_call_of(&caller, method, params)
    }

    /// Calls the application on behalf of this client.
    pub(crate) fn own_call_of(
        &mut self,
        caller: &Arc<Caller>,
        method: &'static str,
        params: Json,
    ) -> Token {
        let peer = caller.revision;
        let session = self.state.session.as_deref().filter(|_| is_handshake(peer));
        let params = match session.filter(|_| self.role.is_per_request) {
            Some(session) => session.caller.stated_in(&params, self.role.app()),
            None => params,
        };
        let token = self.state.new_token();
        self.state.own.insert(token, None);
        let call =
            IncomingRequest::without_message(token, method, params, peer, Arc::clone(caller));
        self.tell(Event::Request(call));
        token
    }

    /// A call on behalf of the session need not be answered any more.
    pub(crate) fn cancel_own(&mut self, token: Token) {
        if self.state.own.remove(&token).is_some() {
            let reason = None;
            self.tell(Event::Cancelled(Cancelled { token, reason }));
        }
    }
}

/// Returns the notification of a change that a stream may carry, by its name.
pub fn change(method: &str) -> Option<&'static str> {
    let lists = LISTS.into_iter().map(|(_, _, method)| method);
    lists
        .chain([methods::NOTIFICATIONS_RESOURCES_UPDATED])
        .find(|known| *known == method)
}
