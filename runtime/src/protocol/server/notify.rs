//! What a server says unasked: notifications, and requests to clients of the handshake era.

use std::time::Duration;

use mcp_registry::{Adapter, Era, Revision};
use mcp_wire::envelope::write;
use mcp_wire::{Direction, ErrorObject, Json, JsonObject, Map, MethodKind, RequestId};

use super::Server;
use super::done::{Done, Outgoing};
use super::needs::needs;
use super::state::{AskedBy, Pending, State};
use super::told::Told;
use super::translate::Stopped;
use crate::adapters::Occasion;
use crate::adapters::questions::allowed;
use crate::adapters::seal::subject;
use crate::methods;
use crate::protocol::revisions::{is_legacy, known};
use crate::protocol::rows::find_method;
use crate::protocol::{Ask, Caller, Fate, LogLevel, NeedsAdapter, To, Token};
use crate::{errors, meta};

impl Server {
    /// Sends a notification; see [`Connection::notify`](crate::protocol::Connection::notify).
    pub(super) fn notify(
        &self,
        state: &mut State,
        to: To,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> Done {
        // A client may have both: a session, and streams of the other era beside it.
        let is_both = matches!(to, To::Session) && state.session.is_some() && !self.modern;
        let mut streams = None;
        if is_both && state.has_streams() {
            let empty = super::translate::no_params();
            let occasion = Occasion::Notification {
                method,
                params: params.unwrap_or(&empty),
            };
            streams = self.run_machine(state, Adapter::Subscription, occasion, now);
        }
        let mut done = self.notify_one(state, to, method, params, now);
        if let Some(streams) = streams {
            done.outputs.extend(streams.outputs);
        }
        done
    }

    fn notify_one(
        &self,
        state: &mut State,
        to: To,
        method: &str,
        params: Option<&Json>,
        now: Duration,
    ) -> Done {
        if self.takes_others && known(method).is_none() {
            return notify_other(state, to, method, params);
        }
        if find_method(
            self.app,
            method,
            Direction::ServerToClient,
            MethodKind::Notification,
        )
        .is_none()
        {
            let error =
                errors::internal("the application's revision has no such notification of a server");
            return Done::of(Fate::Refused(Box::new(error.error)));
        }
        if let To::Request(token) = to
            && let Some(own) = state.own.get(&token).copied()
        {
            let empty = super::translate::no_params();
            let (key, params) = (own.key, params.unwrap_or(&empty));
            let occasion = Occasion::OwnNotification {
                key,
                method,
                params,
            };
            let output = self.run_machine(state, own.adapter, occasion, now);
            return output.unwrap_or_else(|| Done::of(Fate::Swallowed("own-call")));
        }
        let peer = match self.peer_of(state, to, method, params) {
            Ok(peer) => peer,
            Err(Fate::NeedsAdapter(needs)) => {
                let empty = super::translate::no_params();
                let occasion = Occasion::Notification {
                    method,
                    params: params.unwrap_or(&empty),
                };
                let adapted = self.run_machine(state, needs.adapter, occasion, now);
                return adapted.unwrap_or_else(|| Done::of(Fate::NeedsAdapter(needs)));
            }
            Err(fate) => return Done::of(fate),
        };
        let about = match to {
            To::Request(token) => state.get(token).map(|pending| &pending.id),
            To::Session => None,
        };
        let carried = self.params_out(method, params, peer);
        self.on_loss.tell(method, peer, about, &carried);
        let (text, losses) = match carried {
            Ok((text, losses)) => (text, losses),
            Err(Stopped::Swallowed(rule)) => return Done::of(Fate::Swallowed(rule)),
            Err(Stopped::NeedsState(needs)) => {
                let empty = super::translate::no_params();
                let occasion = Occasion::Notification {
                    method,
                    params: params.unwrap_or(&empty),
                };
                let adapted = self.run_machine(state, needs.adapter, occasion, now);
                let needs = NeedsAdapter::new(&needs, method, peer);
                return adapted.unwrap_or_else(|| Done::of(Fate::NeedsAdapter(needs)));
            }
            Err(stopped) => return refused(stopped),
        };
        let mut exchange = None;
        let mut done = Done::of(Fate::Sent);
        done.losses = losses;
        let mut given = params.is_some().then_some(text);
        if let To::Request(token) = to
            && let Some(pending) = state.get_mut(token)
        {
            exchange = Some(pending.exchange);
            // Only the runtime knows the id that ties a notification to its stream.
            if pending.method == methods::SUBSCRIPTIONS_LISTEN {
                done.send_all(acknowledgement(pending, method, |method| {
                    self.peer_name(method, peer)
                }));
                let text = given.as_ref().map_or("{}", Json::text);
                given = Json::from_text(&meta::with(
                    text,
                    meta::SUBSCRIPTION_ID,
                    &Json::of(&pending.id),
                ))
                .ok();
            }
        }
        let method = self.peer_name(method, peer);
        let body = write::notification(method, given.as_ref().map(Json::text));
        done.send(Outgoing {
            exchange,
            last: false,
            status: 200,
            body,
        });
        done
    }

    /// The revision of whom a notification is for, if it is to be sent at all.
    fn peer_of(
        &self,
        state: &State,
        to: To,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Revision, Fate> {
        let is_log = method == methods::NOTIFICATIONS_MESSAGE;
        match to {
            To::Request(token) => {
                let pending = state.get(token).ok_or(Fate::Unknown)?;
                if pending.is_parked {
                    return Err(Fate::Swallowed("parked"));
                }
                if method == methods::NOTIFICATIONS_PROGRESS && pending.progress_token.is_none() {
                    return Err(Fate::Swallowed("progress-token"));
                }
                let unasked = pending.log_level.is_none() && !is_legacy(pending.peer);
                if is_log && (unasked || is_below(pending.log_level, params)) {
                    return Err(Fate::Swallowed("log-opt-in"));
                }
                Ok(pending.peer)
            }
            To::Session => match &state.session {
                Some(session) if is_log && is_below(session.log_level, params) => {
                    Err(Fate::Swallowed("log-level"))
                }
                Some(session) if !is_log && !session.is_initialized => {
                    Err(Fate::Swallowed("initialize-first"))
                }
                Some(session) => Ok(session.revision),
                None if is_log => Err(Fate::Swallowed("log-opt-in")),
                // A modern client hears of changes on the stream that it asked for, and there alone.
                None => Err(needs(Adapter::Subscription, method)),
            },
        }
    }

    /// Sends the peer a request, in the words of the application's revision; `key` comes back with its answer.
    ///
    /// A client of the modern era takes none: it is asked in results, which is the business of an adapter.
    /// `about` is the request of the peer for whose sake it is asked.
    pub(super) fn ask(&self, state: &mut State, key: u64, ask: &Ask, now: Duration) -> Done {
        let Ask {
            method,
            params,
            about,
            ..
        } = ask;
        let (about, params) = (*about, params.as_ref());
        if self.takes_others && known(method).is_none() {
            return self.ask_other(state, key, about, method, params);
        }
        let row = |kind| find_method(self.app, method, Direction::ServerToClient, kind);
        let Some(row) = row(MethodKind::Request).or_else(|| row(MethodKind::Input)) else {
            let error =
                errors::internal("the application's revision has no such request of a server");
            return Done::of(Fate::Refused(Box::new(error.error)));
        };
        let about = about.filter(|token| !state.own.contains_key(token));
        if let Some(pending) = about.and_then(|token| state.get_mut(token))
            && pending.subject.is_none()
            && !is_legacy(pending.peer)
        {
            pending.subject = pending.params.as_ref().map(subject);
        }
        let told = match about.map(|token| Told::of(state, token, None)) {
            Some(None) => return Done::of(Fate::Unknown),
            Some(told) => told,
            None => None,
        };
        let about_peer = told.as_ref().map(|told| told.about().peer);
        let peer = about_peer.or(state.session_revision());
        let empty = super::translate::no_params();
        let given = params.unwrap_or(&empty);
        let Some(peer) = peer.filter(|&peer| is_legacy(peer)) else {
            let occasion = Occasion::ServerRequest {
                key,
                about: told.as_ref().map(Told::about),
                method: row.name,
                params: given,
            };
            let adapted = self.run_machine(state, Adapter::MultiRoundTrip, occasion, now);
            return adapted.unwrap_or_else(|| Done::of(needs(Adapter::MultiRoundTrip, method)));
        };
        let caller = state.session.as_ref().map(|session| &session.caller);
        let unknown = Caller::unknown(peer);
        if let Err(error) = allowed(caller.map_or(&unknown, |caller| caller), method, given) {
            return Done::of(Fate::Refused(Box::new(error)));
        }
        let carried = self.params_out(row.name, params, peer);
        // Only what is sent gets an id.
        let id = (carried.is_ok()).then(|| RequestId::from(state.last_ask.wrapping_add(1)));
        self.on_loss.tell(row.name, peer, id.as_ref(), &carried);
        match carried {
            Ok((text, losses)) => {
                let send = self.send_request(
                    state,
                    AskedBy::Application(key),
                    about,
                    row.name,
                    Some(&text),
                );
                match send {
                    Some(send) => {
                        let mut done = Done::of(Fate::Sent);
                        done.losses = losses;
                        done.send(send);
                        done
                    }
                    None => {
                        let error = errors::too_many_pending(self.limits.pending).error;
                        Done::of(Fate::Refused(Box::new(error)))
                    }
                }
            }
            Err(Stopped::Swallowed(rule)) => Done::of(Fate::Swallowed(rule)),
            Err(Stopped::NeedsState(needs)) => {
                let occasion = Occasion::ServerRequest {
                    key,
                    about: told.as_ref().map(Told::about),
                    method: row.name,
                    params: given,
                };
                let adapted = self.run_machine(state, needs.adapter, occasion, now);
                let needs = NeedsAdapter::new(&needs, method, peer);
                adapted.unwrap_or_else(|| Done::of(Fate::NeedsAdapter(needs)))
            }
            Err(stopped) => refused(stopped),
        }
    }

    /// Sends the peer a request that no revision has, as it is; no client of the modern era takes one.
    fn ask_other(
        &self,
        state: &mut State,
        key: u64,
        about: Option<Token>,
        method: &str,
        params: Option<&Json>,
    ) -> Done {
        let about_peer = match about.map(|token| state.get(token)) {
            Some(None) => return Done::of(Fate::Unknown),
            Some(Some(pending)) => Some(pending.peer),
            None => None,
        };
        let peer = about_peer.or(state.session_revision());
        let era = peer.map_or(Era::PerRequest, Revision::era);
        if era == Era::PerRequest {
            let refusal = errors::method_not_found(method, era);
            return Done::of(Fate::Refused(Box::new(refusal.error)));
        }
        match self.send_request(state, AskedBy::Application(key), about, method, params) {
            Some(send) => {
                let mut done = Done::of(Fate::Sent);
                done.send(send);
                done
            }
            None => {
                let error = errors::too_many_pending(self.limits.pending).error;
                Done::of(Fate::Refused(Box::new(error)))
            }
        }
    }
}

/// Sends a notification that no revision has, as it is: with the call that it is about, or to a session.
fn notify_other(state: &State, to: To, method: &str, params: Option<&Json>) -> Done {
    let exchange = match to {
        To::Request(token) => match state.get(token) {
            Some(pending) if pending.is_parked => return Done::of(Fate::Swallowed("parked")),
            Some(pending) => Some(pending.exchange),
            None => return Done::of(Fate::Unknown),
        },
        To::Session if state.session.is_some() => None,
        To::Session => return Done::of(Fate::Swallowed("no-session")),
    };
    let mut done = Done::of(Fate::Sent);
    done.send(Outgoing {
        exchange,
        last: false,
        status: 200,
        body: write::notification(method, params.map(Json::text)),
    });
    done
}

/// What has to be said first on a stream, if the handler says something else first: that it is open for all of it.
fn acknowledgement(
    pending: &mut Pending,
    method: &str,
    peer_name: impl Fn(&'static str) -> &'static str,
) -> Option<Outgoing> {
    if std::mem::replace(&mut pending.is_acknowledged, true)
        || method == methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED
    {
        return None;
    }
    let params = JsonObject::try_from(pending.params.clone()?).ok()?;
    let mut agreed: Map<Json> = Map::new();
    agreed.insert("notifications", params.get("notifications")?);
    let params = Json::of(&agreed).into_text();
    let params = meta::with(&params, meta::SUBSCRIPTION_ID, &Json::of(&pending.id));
    Some(Outgoing {
        exchange: Some(pending.exchange),
        last: false,
        status: 200,
        body: write::notification(
            peer_name(methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED),
            Some(&params),
        ),
    })
}

fn refused(stopped: Stopped) -> Done {
    let error = stopped.into_error(ErrorObject::INTERNAL_ERROR);
    Done::of(Fate::Refused(Box::new(error)))
}

/// Whether a log notification is less severe than what was asked for.
fn is_below(wanted: Option<LogLevel>, params: Option<&Json>) -> bool {
    let Some(wanted) = wanted else { return false };
    let params = params.and_then(|params| JsonObject::try_from(params.clone()).ok());
    let level = params.and_then(|params| LogLevel::from_name(&params.get("level")?.as_str()?));
    level.is_some_and(|level| level < wanted)
}
