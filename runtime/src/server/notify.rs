//! What a server says unasked: notifications, and requests to clients of the handshake era.

use std::time::Duration;

use mcp_registry::{Adapter, NeedsState, Revision};
use mcp_wire::{Direction, Json, JsonObject, MethodKind};

use super::Server;
use super::adapter::{NeedsAdapter, Occasion};
use super::answer::{LISTEN, capability_of};
use super::call::{Fate, LogLevel, Outgoing, Output, Token};
use super::channel::{AskedBy, Channel};
use super::machines::notification_text;
use super::translate::Translated;
use crate::ladder::find_method;
use crate::revisions::{Spoken, is_legacy};
use crate::{errors, meta};

/// Whom a notification is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Who waits for the answer to this request: progress, logs, and what a `subscriptions/listen` is told.
    Request(Token),
    /// Whoever is at the other end of the channel.
    Session,
}

impl<App: Spoken> Server<App> {
    /// Sends a notification, in the words of the application's revision.
    ///
    /// What the peer did not ask for is swallowed: logs below its level, or any if a modern request names no level;
    /// progress of a request without a token; anything but logs before the client is initialized.
    pub fn notify(
        &self,
        channel: &mut Channel,
        to: To,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> Output {
        if find_method(
            App::REVISION,
            method,
            Direction::ServerToClient,
            MethodKind::Notification,
        )
        .is_none()
        {
            let error =
                errors::internal("the application's revision has no such notification of a server");
            return Output::of(Fate::Refused(Box::new(error.error)));
        }
        let peer = match self.peer_of(channel, to, method, params) {
            Ok(peer) => peer,
            Err(Fate::NeedsAdapter(needs)) => {
                let empty = super::translate::no_params();
                let occasion = Occasion::Notification {
                    method,
                    params: params.unwrap_or(&empty),
                };
                let adapted = self.run_machine(channel, needs.adapter, occasion, now);
                return adapted.unwrap_or_else(|| Output::of(Fate::NeedsAdapter(needs)));
            }
            Err(fate) => return Output::of(fate),
        };
        let (text, losses) = match self.params_out(method, params, peer) {
            Translated::Done(text, losses) => (text, losses),
            Translated::Swallowed(rule) => return Output::of(Fate::Swallowed(rule)),
            Translated::Rejected(error) => return Output::of(Fate::Refused(error)),
            Translated::NeedsState(needs) => {
                let empty = super::translate::no_params();
                let occasion = Occasion::Notification {
                    method,
                    params: params.unwrap_or(&empty),
                };
                let adapted = self.run_machine(channel, needs.adapter, occasion, now);
                let needs = NeedsAdapter::new(&needs, method, peer);
                return adapted.unwrap_or_else(|| Output::of(Fate::NeedsAdapter(needs)));
            }
        };
        self.report(method, peer, &losses);
        let mut exchange = None;
        let mut given = params.is_some().then_some(text);
        if let To::Request(token) = to
            && let Some(pending) = channel.get(token)
        {
            exchange = Some(pending.exchange);
            // Only the runtime knows the id that ties a notification to its stream.
            if pending.method == LISTEN {
                let text = given.as_ref().map_or("{}", Json::text);
                given = Json::from_text(&meta::with(
                    text,
                    meta::SUBSCRIPTION_ID,
                    &Json::of(&pending.id),
                ))
                .ok();
            }
        }
        let body = notification_text(method, given.as_ref());
        let send = vec![Outgoing {
            exchange,
            last: false,
            status: 200,
            body,
        }];
        Output {
            send,
            events: Vec::new(),
            losses,
            fate: Fate::Sent,
        }
    }

    /// The revision of whom a notification is for, if it is to be sent at all.
    fn peer_of(
        &self,
        channel: &Channel,
        to: To,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Revision, Fate> {
        let is_log = method == "notifications/message";
        match to {
            To::Request(token) => {
                let pending = channel.get(token).ok_or(Fate::Unknown)?;
                if method == "notifications/progress" && pending.progress_token.is_none() {
                    return Err(Fate::Swallowed("progress-token"));
                }
                let unasked = pending.log_level.is_none() && !is_legacy(pending.peer);
                if is_log && (unasked || is_below(pending.log_level, params)) {
                    return Err(Fate::Swallowed("log-opt-in"));
                }
                Ok(pending.peer)
            }
            To::Session => match &channel.session {
                Some(session) if is_log && is_below(session.log_level, params) => {
                    Err(Fate::Swallowed("log-level"))
                }
                Some(session) if !is_log && !session.is_initialized => {
                    Err(Fate::Swallowed("initialize-first"))
                }
                Some(session) => Ok(session.revision),
                None if is_log => Err(Fate::Swallowed("log-opt-in")),
                // A modern client hears of changes on the stream that it asked for, and there alone.
                None => Err(self.needs(Adapter::Subscription, "subscription", method)),
            },
        }
    }

    /// Sends the peer a request, in the words of the application's revision; `key` comes back with its answer, in
    /// [`Event::Answered`](super::Event::Answered).
    ///
    /// A client of the modern era takes none: it is asked in results, which is the business of an adapter.
    /// `about` is the request of the peer for whose sake it is asked.
    pub fn ask(
        &self,
        channel: &mut Channel,
        key: u64,
        about: Option<Token>,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> Output {
        let Some(row) = find_method(
            App::REVISION,
            method,
            Direction::ServerToClient,
            MethodKind::Request,
        ) else {
            let error =
                errors::internal("the application's revision has no such request of a server");
            return Output::of(Fate::Refused(Box::new(error.error)));
        };
        let about_peer = match about.map(|token| channel.get(token)) {
            Some(None) => return Output::of(Fate::Unknown),
            Some(Some(pending)) => Some(pending.peer),
            None => None,
        };
        let peer = about_peer.or(channel.session_revision());
        let empty = super::translate::no_params();
        let given = params.unwrap_or(&empty);
        let Some(peer) = peer.filter(|&peer| is_legacy(peer)) else {
            let occasion = Occasion::ServerRequest {
                key,
                method: row.name,
                params: given,
            };
            let adapted = self.run_machine(channel, Adapter::MultiRoundTrip, occasion, now);
            return adapted.unwrap_or_else(|| {
                Output::of(self.needs(Adapter::MultiRoundTrip, "input-required", method))
            });
        };
        if let Some(capability) = capability_of(method)
            && !channel
                .session
                .as_ref()
                .is_some_and(|session| session.client.can(capability))
        {
            let required =
                Json::from_text(&format!("{{\"{capability}\":{{}}}}")).unwrap_or_default();
            return Output::of(Fate::Refused(Box::new(
                errors::missing_capability(&required).error,
            )));
        }
        match self.params_out(row.name, params, peer) {
            Translated::Done(text, losses) => {
                self.report(row.name, peer, &losses);
                let send =
                    self.send_request(channel, AskedBy::Application(key), about, row.name, &text);
                match send {
                    Some(send) => Output {
                        send: vec![send],
                        events: Vec::new(),
                        losses,
                        fate: Fate::Sent,
                    },
                    None => {
                        let error = errors::too_many_pending(self.limits.pending).error;
                        Output::of(Fate::Refused(Box::new(error)))
                    }
                }
            }
            Translated::Swallowed(rule) => Output::of(Fate::Swallowed(rule)),
            Translated::Rejected(error) => Output::of(Fate::Refused(error)),
            Translated::NeedsState(needs) => {
                let occasion = Occasion::ServerRequest {
                    key,
                    method: row.name,
                    params: given,
                };
                let adapted = self.run_machine(channel, needs.adapter, occasion, now);
                let needs = NeedsAdapter::new(&needs, method, peer);
                adapted.unwrap_or_else(|| Output::of(Fate::NeedsAdapter(needs)))
            }
        }
    }

    fn needs(&self, adapter: Adapter, rule: &'static str, method: &str) -> Fate {
        let needs = NeedsState {
            adapter,
            rule,
            hop: "2025-11-25..2026-07-28",
        };
        Fate::NeedsAdapter(NeedsAdapter::new(&needs, method, Revision::V2026_07_28))
    }
}

/// Whether a log notification is less severe than what was asked for.
fn is_below(wanted: Option<LogLevel>, params: Option<&Json>) -> bool {
    let Some(wanted) = wanted else { return false };
    let params = params.and_then(|params| JsonObject::try_from(params.clone()).ok());
    let level = params.and_then(|params| LogLevel::from_name(&params.get("level")?.as_str()?));
    level.is_some_and(|level| level < wanted)
}
