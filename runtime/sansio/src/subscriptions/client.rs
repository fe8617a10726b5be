//! The adapter for subscriptions, and for the log level of an application that sets it once.
//!
//! An application of the per-request lifecycle listens: towards an older server its streams become subscriptions, and a
//! notification goes to each stream that wants it. One of the handshake lifecycle subscribes: towards a per-request server its
//! resources, and the lists that it expects to hear of unasked, are one `subscriptions/listen`.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision, methods};
use mcp_wire::{ErrorObject, Json};

use super::{Backoff, Filter, TAKES_UP, about, covers, declined, is_refusal, unacknowledged};
use crate::client::Client;
use crate::client::requests::{AppRequest, RequestPurpose, ResourceSubscription};
use crate::client::session::TimeLimit;
use crate::json::declares;
use crate::numbered::Numbered;
use crate::translate::no_params;
use crate::{Answer, Connection, Event, Ignored, LogLevel, Notification, Reopened, Token};

/// The changes for which the application wants notifications.
#[derive(Debug, Default)]
pub(crate) struct ChangeStreams {
    /// Of a per-request application: its streams.
    streams: Numbered<Token, ListenStream>,
    /// Resources about which a request of an adapter is on its way: one at a time, so that none overtakes another.
    running: BTreeSet<String>,
    /// Of an older application: the request that carries them, once it is sent.
    listening: Option<i64>,
    /// Set if the server has acknowledged that request: from then on no change is missed.
    is_acknowledged: bool,
    /// The request before: it goes on until the server has acknowledged the new one.
    before: Option<i64>,
    /// Subscriptions that are answered when the server has taken up the request, with their resources.
    subscribing: Vec<(AppRequest, String)>,
    /// The time that they wait.
    waiting: TimeLimit,
    /// When to listen again after the server has ended the request.
    again: Option<Duration>,
    backoff: Backoff,
    /// Set if the server has ever acknowledged a request.
    was_acknowledged: bool,
    /// Set if changes may have been missed.
    has_missed: bool,
    /// `ServerCapabilities`, as the server said them.
    pub(crate) capabilities: Option<Json>,
}

#[derive(Debug)]
struct ListenStream {
    request: AppRequest,
    filter: Filter,
}

impl ChangeStreams {
    /// Returns the time at which [`wake_changes`](Connection::wake_changes) has to be called.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.again.into_iter().chain(self.waiting.deadline()).min()
    }

    pub(crate) fn len(&self) -> usize {
        self.streams.len() + self.subscribing.len()
    }

    pub(crate) fn declares(&self, path: &[&str]) -> bool {
        self.capabilities
            .as_ref()
            .is_some_and(|it| declares(it, path))
    }

    /// Everything that waits, as the server is left.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = AppRequest> + use<> {
        (self.listening, self.before) = (None, None);
        self.is_acknowledged = false;
        self.again = None;
        self.waiting = TimeLimit::None;
        self.running.clear();
        let streams = std::mem::take(&mut self.streams).into_values();
        let waiting = std::mem::take(&mut self.subscribing).into_iter();
        streams
            .map(|stream| stream.request)
            .chain(waiting.map(|(request, _)| request))
    }
}

impl Connection<Client> {
    /// Takes a request that the server's lifecycle has in another form; it comes back if it is none of these.
    pub(crate) fn adapted(
        &mut self,
        request: AppRequest,
        revision: Revision,
    ) -> Option<AppRequest> {
        let lifecycles = (self.role.app().lifecycle(), revision.lifecycle());
        match (lifecycles, request.ask.method.as_str()) {
            ((Lifecycle::PerRequest, Lifecycle::Handshake), methods::SUBSCRIPTIONS_LISTEN) => {
                self.open_stream(request, revision)
            }
            ((Lifecycle::Handshake, Lifecycle::PerRequest), methods::RESOURCES_SUBSCRIBE) => {
                self.subscribe(request)
            }
            ((Lifecycle::Handshake, Lifecycle::PerRequest), methods::RESOURCES_UNSUBSCRIBE) => {
                if let Some(uri) = uri_of(request.ask.params.as_ref()) {
                    self.state.session.uris.remove(&uri);
                }
                self.tell_answer(request, Answer::Result(no_params()));
                self.listen();
            }
            ((Lifecycle::Handshake, Lifecycle::PerRequest), methods::LOGGING_SET_LEVEL) => {
                let level = request
                    .ask
                    .params
                    .as_ref()
                    .and_then(|params| params.get("level"))
                    .and_then(|level| level.read::<String>().ok());
                let answer = match level.filter(|level| LogLevel::from_name(level).is_some()) {
                    Some(level) => {
                        self.state.session.log_level = Some(level);
                        Answer::Result(no_params())
                    }
                    None => Answer::Error(
                        crate::errors::invalid_params("`level` is none of the eight of RFC 5424")
                            .error,
                    ),
                };
                self.tell_answer(request, answer);
            }
            _ => return Some(request),
        }
        None
    }

    fn open_stream(&mut self, request: AppRequest, revision: Revision) {
        let params = request.ask.params.clone().unwrap_or_else(no_params);
        let limits = &self.role.options.limits;
        let declares = |path: &[&str]| self.state.changes.declares(path);
        let filter = match Filter::read(&params, declares, limits) {
            Ok(_) if self.state.changes.streams.len() >= limits.max_change_streams => Err(
                crate::errors::too_many_subscriptions(limits.max_change_streams),
            ),
            read => read,
        };
        let filter = match filter {
            Ok(filter) => filter,
            Err(refusal) => {
                return self.tell_answer(request, Answer::Error(refusal.error));
            }
        };
        let token = request.token;
        self.tell(Event::Notification(Notification {
            method: methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED,
            params: filter.params(),
            revision,
            about: Some(token),
            losses: Vec::new(),
        }));
        let new: Vec<String> = (filter.uris())
            .filter(|uri| !self.is_subscribed(uri))
            .cloned()
            .collect();
        for uri in new {
            self.change_subscription(methods::RESOURCES_SUBSCRIBE, uri, revision);
        }
        let stream = ListenStream { request, filter };
        self.state.changes.streams.insert(token, stream);
    }

    fn is_subscribed(&self, uri: &str) -> bool {
        self.state
            .changes
            .streams
            .values()
            .any(|stream| stream.filter.names(uri))
    }

    /// Sends what the streams want of a resource, unless a request about it is on its way, whose end says what follows.
    fn change_subscription(&mut self, method: &'static str, uri: String, revision: Revision) {
        if !self.state.changes.running.contains(&uri) {
            self.post_subscription(method, uri, false, revision);
        }
    }

    /// Sends a subscription to a resource, or the end of one.
    pub(crate) fn post_subscription(
        &mut self,
        method: &'static str,
        uri: String,
        is_restored: bool,
        revision: Revision,
    ) {
        self.state.changes.running.insert(uri.clone());
        let params = about(Some(&uri));
        let subscription = ResourceSubscription {
            method,
            uri,
            is_restored,
        };
        let purpose = RequestPurpose::Subscription(subscription);
        self.post_request(method, params, revision, purpose);
    }

    /// Takes the end of a request about a resource: the next one follows if the streams want something else by now. Nothing
    /// listens to a resource whose subscription the server refused.
    pub(crate) fn end_subscription(
        &mut self,
        subscription: ResourceSubscription,
        error: Option<ErrorObject>,
        revision: Revision,
    ) {
        let ResourceSubscription {
            method,
            uri,
            is_restored,
        } = subscription;
        self.state.changes.running.remove(&uri);
        if is_restored {
            let one = Filter::of_session(false, &BTreeSet::from([uri.clone()]), |_| false);
            self.tell_missed(&one, revision);
        }
        let (is_refused, subscribes) = (error.is_some(), method == methods::RESOURCES_SUBSCRIBE);
        if let Some(error) = error {
            self.ignore(Ignored::Refused(method, error));
        }
        if is_refused && subscribes {
            self.state.session.uris.remove(&uri);
            for stream in self.state.changes.streams.values_mut() {
                stream.filter.remove(&uri);
            }
        }
        // An older application ends its subscriptions itself, and those of a session that is lost are over.
        let is_over = self.role.app().lifecycle() == Lifecycle::Handshake
            || self.state.stage.revision() != Some(revision);
        if is_over || (is_refused && subscribes) || self.is_subscribed(&uri) == subscribes {
            return;
        }
        let next = if subscribes {
            methods::RESOURCES_UNSUBSCRIBE
        } else {
            methods::RESOURCES_SUBSCRIBE
        };
        self.post_subscription(next, uri, false, revision);
    }

    /// Gives up a stream, or a subscription that waits; its request comes back.
    pub(crate) fn close_stream(&mut self, token: Token) -> Option<AppRequest> {
        let subscribing = &mut self.state.changes.subscribing;
        let mut waiting = subscribing.iter();
        if let Some(index) = waiting.position(|(request, _)| request.token == token) {
            let (request, uri) = subscribing.remove(index);
            // The server has not decided on it, and a later one is to wait for that.
            if !subscribing.iter().any(|(_, other)| *other == uri) {
                self.state.session.uris.remove(&uri);
            }
            return Some(request);
        }
        let stream = self.state.changes.streams.remove(&token)?;
        if let Some(revision) = self.state.stage.revision() {
            for uri in stream.filter.uris() {
                if !self.is_subscribed(uri) {
                    let method = methods::RESOURCES_UNSUBSCRIBE;
                    self.change_subscription(method, uri.clone(), revision);
                }
            }
        }
        Some(stream.request)
    }

    /// Returns the streams of a per-request application that want a notification of an older server.
    pub(crate) fn streams_for(&self, method: &str, params: &Json) -> Vec<Token> {
        let uri = uri_of(Some(params));
        let streams = &self.state.changes.streams;
        streams.find_all(|stream| stream.filter.wants(method, uri.as_deref()))
    }

    fn subscribe(&mut self, request: AppRequest) {
        let refused = |error: Box<crate::errors::Refusal>| Answer::Error(error.error);
        let answer = match uri_of(request.ask.params.as_ref()) {
            None => refused(crate::errors::invalid_params(
                "`uri` is required, and a string",
            )),
            Some(_)
                if self.state.session.uris.len() >= self.role.options.limits.max_subscriptions =>
            {
                refused(crate::errors::too_many_subscriptions(
                    self.role.options.limits.max_subscriptions,
                ))
            }
            Some(uri) => {
                let changes = &mut self.state.changes;
                let is_new = self.state.session.uris.insert(uri.clone());
                let listens = !is_new && changes.listening.is_some();
                let mut undecided = changes.subscribing.iter();
                if !listens || undecided.any(|(_, other)| *other == uri) {
                    changes.subscribing.push((request, uri));
                    changes.waiting = TimeLimit::Begins;
                    if !listens {
                        self.listen();
                    }
                    return;
                }
                Answer::Result(no_params())
            }
        };
        self.tell_answer(request, answer);
    }

    /// Listens to what an older application wants to hear, in place of what it wanted before.
    pub(crate) fn listen(&mut self) {
        self.state.changes.again = None;
        let Some(revision) = self.state.stage.revision() else {
            return;
        };
        let lifecycles = (self.role.app().lifecycle(), revision.lifecycle());
        if lifecycles != (Lifecycle::Handshake, Lifecycle::PerRequest) {
            return;
        }
        let filter = self.session_filter();
        let changes = &mut self.state.changes;
        let mut over = changes.listening.take();
        if std::mem::take(&mut changes.is_acknowledged) {
            changes.before = over.take();
        }
        if filter.is_empty() {
            self.end_before();
        } else {
            let (method, purpose) = (methods::SUBSCRIPTIONS_LISTEN, RequestPurpose::Listen);
            let params = self.stamped(Some(filter.params()), revision, None);
            let id = self.post_request(method, params, revision, purpose);
            self.state.changes.listening = Some(id);
        }
        if let Some(id) = over {
            self.withdraw(id, None);
        }
    }

    /// Withdraws the request before, which is not needed any more.
    fn end_before(&mut self) {
        if let Some(id) = self.state.changes.before.take() {
            self.withdraw(id, None);
        }
    }

    /// Returns the filter of an older application.
    fn session_filter(&self) -> Filter {
        let declares = |path: &[&str]| self.state.changes.declares(path);
        Filter::of_session(true, &self.state.session.uris, declares)
    }

    /// Returns the resources that a session of the handshake lifecycle is subscribed to on behalf of the application.
    pub(crate) fn subscribed_uris(&self) -> Vec<String> {
        match self.role.app().lifecycle() {
            Lifecycle::Handshake => self.state.session.uris.iter().cloned().collect(),
            Lifecycle::PerRequest => {
                let streams = self.state.changes.streams.values();
                let uris = streams.flat_map(|stream| stream.filter.uris().cloned());
                uris.collect::<BTreeSet<String>>().into_iter().collect()
            }
        }
    }

    /// Returns whether a notification belongs to the request by which the adapter listens, and to no other.
    pub(crate) fn is_acknowledgement(
        &mut self,
        method: &str,
        id: Option<i64>,
        params: Option<&Json>,
        revision: Revision,
    ) -> bool {
        if method != methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED
            || id.is_none()
            || id != self.state.changes.listening
        {
            return false;
        }
        let changes = &mut self.state.changes;
        (changes.is_acknowledged, changes.was_acknowledged) = (true, true);
        // Nothing is missed without the old one from now on.
        self.end_before();
        self.answer_subscriptions(|uri| {
            if covers(params, uri) {
                Ok(())
            } else {
                Err(declined(uri))
            }
        });
        if std::mem::take(&mut self.state.changes.has_missed) {
            self.tell(Event::Reopened(Reopened::Changes));
            self.tell_missed(&self.session_filter(), revision);
        }
        true
    }

    /// Answers the subscriptions that have waited, each by its resource; one that is refused is none.
    fn answer_subscriptions(&mut self, answer: impl Fn(&str) -> Result<(), ErrorObject>) {
        self.state.changes.waiting = TimeLimit::None;
        for (request, uri) in std::mem::take(&mut self.state.changes.subscribing) {
            let answer = answer(&uri);
            if answer.is_err() {
                self.state.session.uris.remove(&uri);
            }
            self.tell_answer(request, answer.map(|()| no_params()).into());
        }
    }

    /// Takes the end of the request that the adapter listens by.
    pub(crate) fn listened(&mut self, id: i64, error: Option<ErrorObject>, now: Duration) {
        let changes = &mut self.state.changes;
        if changes.before.take_if(|before| *before == id).is_some() {
            changes.has_missed = true;
        }
        if changes.listening != Some(id) {
            return;
        }
        // The request before goes on, with all but the subscriptions that are refused here.
        changes.listening = changes.before.take();
        changes.is_acknowledged = changes.listening.is_some();
        let (goes_on, waits) = (changes.is_acknowledged, !changes.subscribing.is_empty());
        let is_refused = !changes.was_acknowledged && error.as_ref().is_some_and(is_refusal);
        let reason = error.unwrap_or_else(unacknowledged);
        self.answer_subscriptions(|_| Err(reason.clone()));
        if goes_on || (is_refused && !waits) {
            return;
        }
        let changes = &mut self.state.changes;
        changes.has_missed = true;
        changes.again = Some(if waits && is_refused {
            // The rest of it may be taken up.
            now
        } else {
            changes.backoff.next_try(now)
        });
    }

    /// Listens again, and refuses the subscriptions that have waited long enough, if it is time.
    pub(crate) fn wake_changes(&mut self, now: Duration) {
        if self.state.changes.waiting.is_over(now, TAKES_UP) {
            self.answer_subscriptions(|_| Err(unacknowledged()));
        }
        if self.state.changes.again.is_some_and(|again| again <= now) {
            self.listen();
        }
    }
}

fn uri_of(params: Option<&Json>) -> Option<String> {
    params?.read_member("uri")
}
