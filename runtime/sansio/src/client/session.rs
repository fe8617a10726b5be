//! The parts of a session with a server at the application's end, and its restoration once the server has lost it.
//!
//! A server that restarts, or has forgotten a session, knows neither its subscriptions nor its log level. They are kept
//! here, whichever way the application asked for them, and go to the session that takes the place of the lost one. What
//! changed meanwhile is not reported again, so the application then hears that everything may have changed.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision, methods};
use mcp_wire::{ErrorObject, Json};

use super::Client;
use super::requests::RequestPurpose;
use crate::json::object;
use crate::negotiate::client::stage::NegotiationStage;
use crate::subscriptions::{Backoff, Filter};
use crate::translate::no_params;
use crate::{Connection, Event, Ignored, LogLevel, Notification, OutgoingRequest, Reopened};

/// Time that requests wait for the answer to `logging/setLevel`.
const LEVEL_TIME: Duration = Duration::from_secs(5);

/// The application's requests in its session.
#[derive(Debug, Default)]
pub(crate) struct SessionRequests {
    /// The least level of log notifications.
    pub(crate) log_level: Option<String>,
    /// The resources that an application of the handshake lifecycle has subscribed to.
    pub(crate) uris: BTreeSet<String>,
    /// Set if the server has lost the session.
    pub(crate) is_lost: bool,
    /// When to open it again.
    again: Option<Duration>,
    backoff: Backoff,
    /// The time that requests wait for a `logging/setLevel` on its way.
    level: TimeLimit,
}

impl SessionRequests {
    /// Returns the time at which [`wake_session`](Connection::wake_session) has to be called.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.again.into_iter().chain(self.level.deadline()).min()
    }

    /// Returns whether requests wait for the answer to `logging/setLevel`.
    pub(crate) fn waits_for_level(&self) -> bool {
        self.level.deadline().is_some()
    }

    /// Forgets that it was lost: the connection has ended, and the next one has another session.
    pub(crate) fn end(&mut self) {
        self.is_lost = false;
        self.again = None;
        self.level = TimeLimit::None;
    }
}

/// A time limit that begins with the next wake, for what begins without a clock.
#[derive(Debug, Default)]
pub(crate) enum TimeLimit {
    #[default]
    None,
    Begins,
    Until(Duration),
}

impl TimeLimit {
    /// Returns the time at which [`is_over`](Self::is_over) has to be called.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::Begins => Some(Duration::ZERO),
            Self::Until(until) => Some(*until),
        }
    }

    /// Returns whether it is over, and ends it then; one that begins is over after `length`.
    pub(crate) fn is_over(&mut self, now: Duration, length: Duration) -> bool {
        match self {
            Self::Begins => *self = Self::Until(now + length),
            Self::Until(until) if *until <= now => {
                *self = Self::None;
                return true;
            }
            Self::None | Self::Until(_) => {}
        }
        false
    }
}

impl Connection<Client> {
    /// Notes what a request that the server has answered with a result changes about the session.
    pub(crate) fn note_session_request(&mut self, request: &OutgoingRequest, revision: Revision) {
        if revision.lifecycle() == Lifecycle::PerRequest {
            return;
        }
        let most = self.role.options.limits.max_subscriptions;
        let session = &mut self.state.session;
        let member = |name| request.params.as_ref()?.read_member::<String>(name);
        match request.method.as_str() {
            methods::RESOURCES_SUBSCRIBE if session.uris.len() < most => {
                session.uris.extend(member("uri"));
            }
            methods::RESOURCES_UNSUBSCRIBE => {
                session.uris.remove(&member("uri").unwrap_or_default());
            }
            methods::LOGGING_SET_LEVEL => {
                if let Some(level) = member("level") {
                    let _ = self.state.stage.new_log_level(&level);
                    session.log_level = Some(level);
                }
            }
            _ => {}
        }
    }

    /// Sends `logging/setLevel` if the session has another level; returns whether it is on its way, so that requests wait.
    pub(crate) fn apply_log_level(&mut self, level: Option<&str>) -> bool {
        let Some(level) = level else { return false };
        let Some(revision) = self.state.stage.new_log_level(level) else {
            return false;
        };
        let params = Some(object([("level", Json::of(level))]));
        let method = methods::LOGGING_SET_LEVEL;
        self.post_request(method, params, revision, RequestPurpose::LogLevel);
        self.state.session.level = TimeLimit::Begins;
        true
    }

    /// Does the same for a request, towards a server that has sessions.
    pub(crate) fn applies_log_level(&mut self, level: Option<&str>, revision: Revision) -> bool {
        revision.lifecycle() == Lifecycle::Handshake && self.apply_log_level(level)
    }

    /// Returns the level that a server of this revision is asked for where the application leaves it to the server.
    pub(crate) fn default_log_level(&self, revision: Revision) -> Option<String> {
        let lifecycles = (self.role.app().lifecycle(), revision.lifecycle());
        let is_left_to_server = lifecycles == (Lifecycle::Handshake, Lifecycle::PerRequest);
        let logs = is_left_to_server && self.state.changes.declares(&["logging"]);
        logs.then(|| LogLevel::DEFAULT.as_str().to_owned())
    }

    /// The server has answered `logging/setLevel`, or never will: requests go on.
    pub(crate) fn end_level_wait(&mut self, error: Option<ErrorObject>) {
        if let Some(error) = error {
            self.ignore(Ignored::Refused(methods::LOGGING_SET_LEVEL, error));
        }
        self.state.session.level = TimeLimit::None;
        self.send_waiting();
    }

    /// Takes note that the server has lost the session of this id, which is opened again, with what the application had
    /// asked for in it.
    pub fn session_lost(&mut self, id: &str, now: Duration) {
        let settled = self.state.stage.settled();
        if settled.is_some_and(|it| it.session.as_deref() == Some(id))
            && !self.state.session.is_lost
        {
            self.lose_session(now);
        }
    }

    /// Notes that the session is lost; it is opened again after a pause, unless something else does that before.
    pub(crate) fn lose_session(&mut self, now: Duration) {
        let session = &mut self.state.session;
        session.is_lost = true;
        session.again = Some(session.backoff.next_try(now));
    }

    /// Opens a session that is lost, and ends the wait for a level, if it is time.
    pub(crate) fn wake_session(&mut self, now: Duration) {
        let session = &mut self.state.session;
        if session.level.is_over(now, LEVEL_TIME) {
            self.send_waiting();
        }
        let session = &mut self.state.session;
        if session.again.take_if(|again| *again <= now).is_none() {
            return;
        }
        // Until it is open; the server may be away for longer.
        self.lose_session(now);
        match &self.state.stage {
            NegotiationStage::Settled(settled) => self.begin(settled.revision, now),
            NegotiationStage::Unknown(_) => self.start(now),
            NegotiationStage::Starting(_) => {}
        }
    }

    /// Restores what the application had asked for in a session that takes the place of another one.
    pub(crate) fn restore_session(&mut self, revision: Revision) {
        let session = &mut self.state.session;
        session.again = None;
        if !std::mem::take(&mut session.is_lost) {
            return;
        }
        self.tell(Event::Reopened(Reopened::Session));
        if revision.lifecycle() == Lifecycle::PerRequest {
            return;
        }
        for uri in self.subscribed_uris() {
            self.post_subscription(methods::RESOURCES_SUBSCRIBE, uri, true, revision);
        }
        let declares = |path: &[&str]| self.state.changes.declares(path);
        let lists = Filter::of_session(true, &BTreeSet::new(), declares);
        self.tell_missed(&lists, revision);
    }

    /// Tells the application that all of this may have changed.
    pub(crate) fn tell_missed(&mut self, filter: &Filter, revision: Revision) {
        for (method, params) in filter.all() {
            self.tell_notice(Notification {
                method,
                params: params.unwrap_or_else(no_params),
                revision,
                about: None,
                losses: Vec::new(),
            });
        }
    }

    /// Tells the application of a change, in each of its streams that report it, or in none.
    pub(crate) fn tell_notice(&mut self, notice: Notification) {
        let streams = match notice.about {
            Some(_) => Vec::new(),
            None => self.streams_for(notice.method, &notice.params),
        };
        for token in &streams {
            let about = Some(*token);
            self.tell(Event::Notification(Notification {
                about,
                ..notice.clone()
            }));
        }
        if streams.is_empty() {
            self.tell(Event::Notification(notice));
        }
    }
}
