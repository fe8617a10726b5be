//! The adapter for subscriptions, and for the log level of an application that sets it once.
//!
//! An application of the per-request lifecycle listens: towards an older server its streams become subscriptions, and a
//! notification goes to each stream that wants it. One of the handshake lifecycle subscribes: towards a per-request server its
//! resources, and the lists that it expects to hear of unasked, are one `subscriptions/listen`.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::{ErrorObject, Json};

use super::{Backoff, Filter, TAKES_UP, about, covers, declined, is_refusal, unacknowledged};
use crate::client::Client;
use crate::client::requests::{RequestPurpose, Waiting};
use crate::client::session::TimeLimit;
use crate::json::declares;
use crate::numbered::Numbered;
use crate::translate::no_params;
use crate::{Answer, Connection, Event, LogLevel, Notification, Reopened, Token};
use mcp_revisions_core::methods;

/// The changes for which the application wants notifications.
#[derive(Debug, Default)]
pub(crate) struct ChangeStreams {
    /// Of a per-request application: its streams.
    streams: Numbered<Token, ListenStream>,
    /// Of an older application: the request that carries them, once it is sent.
    listening: Option<i64>,
    /// Subscriptions that are answered when the server has taken up the request.
    subscribing: Vec<Waiting>,
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
    request: Waiting,
    filter: Filter,
}

impl ChangeStreams {
    /// Returns when [`wake_changes`](Connection::wake_changes) has something to do.
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
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Waiting> + use<> {
        self.listening = None;
        self.again = None;
        self.waiting = TimeLimit::None;
        let streams = std::mem::take(&mut self.streams).into_values();
        let waiting = std::mem::take(&mut self.subscribing);
        streams.map(|stream| stream.request).chain(waiting)
    }
}

impl Connection<Client> {
    /// Takes a request that the server's lifecycle has in another form; it comes back if it is none of these.
    pub(crate) fn adapted(&mut self, request: Waiting, revision: Revision) -> Option<Waiting> {
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

    fn open_stream(&mut self, request: Waiting, revision: Revision) {
        let params = request.ask.params.clone().unwrap_or_else(no_params);
        let limits = &self.role.options.limits;
        let declares = |path: &[&str]| self.state.changes.declares(path);
        let filter = match Filter::read(&params, declares, limits.max_subscriptions) {
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
            peer: revision,
            about: Some(token),
            losses: Vec::new(),
        }));
        let new: Vec<String> = (filter.uris())
            .filter(|uri| !self.is_subscribed(uri))
            .cloned()
            .collect();
        for uri in new {
            self.post_subscription(methods::RESOURCES_SUBSCRIBE, &uri, revision);
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

    fn post_subscription(&mut self, method: &str, uri: &str, revision: Revision) {
        self.post_request(method, about(Some(uri)), revision, RequestPurpose::Adapter);
    }

    /// Gives up a stream, or a subscription that waits; its request comes back.
    pub(crate) fn close_stream(&mut self, token: Token) -> Option<Waiting> {
        if let Some(index) = self
            .state
            .changes
            .subscribing
            .iter()
            .position(|it| it.token == token)
        {
            return Some(self.state.changes.subscribing.remove(index));
        }
        let stream = self.state.changes.streams.remove(&token)?;
        if let Some(revision) = self.state.stage.revision() {
            for uri in stream.filter.uris() {
                if !self.is_subscribed(uri) {
                    self.post_subscription(methods::RESOURCES_UNSUBSCRIBE, uri, revision);
                }
            }
        }
        Some(stream.request)
    }

    /// Returns the streams of a per-request application that want a notification of an older server.
    pub(crate) fn streams_for(&self, method: &str, params: &Json) -> Vec<Token> {
        let uri = uri_of(Some(params));
        let wants = |stream: &ListenStream| stream.filter.wants(method, uri.as_deref());
        let streams = (self.state.changes.streams.iter()).filter(|(_, stream)| wants(stream));
        streams.map(|(token, _)| *token).collect()
    }

    fn subscribe(&mut self, request: Waiting) {
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
                let is_new = self.state.session.uris.insert(uri);
                if is_new || self.state.changes.listening.is_none() {
                    self.state.changes.subscribing.push(request);
                    self.state.changes.waiting = TimeLimit::Begins;
                    return self.listen();
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
        let before = self.state.changes.listening.take();
        if !filter.is_empty() {
            let (method, purpose) = (methods::SUBSCRIPTIONS_LISTEN, RequestPurpose::Listen);
            let params = self.stamped(Some(filter.params()), revision, None);
            let id = self.post_request(method, params, revision, purpose);
            self.state.changes.listening = Some(id);
        }
        if let Some(id) = before {
            self.withdraw(id, None);
        }
    }

    /// Returns what an older application listens to.
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
        self.state.changes.was_acknowledged = true;
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
        for request in std::mem::take(&mut self.state.changes.subscribing) {
            let uri = uri_of(request.ask.params.as_ref()).unwrap_or_default();
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
        if changes.listening != Some(id) {
            return;
        }
        changes.listening = None;
        let waits = !changes.subscribing.is_empty();
        let is_refused = !changes.was_acknowledged && error.as_ref().is_some_and(is_refusal);
        let reason = error.unwrap_or_else(unacknowledged);
        self.answer_subscriptions(|_| Err(reason.clone()));
        if is_refused && !waits {
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
