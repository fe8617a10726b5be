//! The notifications of a server, and their receivers.
//!
//! A notification about a call goes with the call. A client of the handshake lifecycle gets the rest at any time; one
//! of the per-request lifecycle only in its calls, and on streams for what those name.

use std::sync::atomic::Ordering;

use mcp_revisions::core::methods;
use mcp_revisions::sansio::client::{Fate, Ignored, Notification, Token};
use mcp_wire::{Json, Map};
use tracing::warn;

use super::asked::UpstreamDriver;
use super::listeners::Told;
use super::proxied::Proxied;
use crate::identity::is_per_request;

impl Proxied {
    pub(super) fn notice<M: AsRef<str>>(
        &mut self,
        server: &mut UpstreamDriver,
        notice: Notification<M>,
    ) {
        let (method, about) = (notice.method.as_ref(), notice.about);
        let mut params = notice.params;
        if let Some(cache) = &self.settings.cache {
            cache.forget(method, &params);
        }
        if method == methods::NOTIFICATIONS_CANCELLED {
            // The question was called off by another event; the ids are the server's, which nobody else knows.
            return;
        }
        if method == methods::NOTIFICATIONS_PROGRESS {
            // The client named its request in its own words.
            let of = about.and_then(|token| server.calls().get(&token));
            let named = of.and_then(|open| open.call.progress_token.clone());
            let Some(named) = named else {
                return server.leave_out_progress(&params);
            };
            let Ok(mut members) = params.read::<Map<Json>>() else {
                return;
            };
            members.insert("progressToken", named);
            params = Json::of(&members);
        }
        let of = about.or_else(|| whose(server, method));
        self.pass_on(server, method, params, of);
    }

    /// Sends a notification with a call, or to the sessions that take it without one; no reader is waited for.
    fn pass_on(&self, server: &mut UpstreamDriver, method: &str, params: Json, of: Option<Token>) {
        match of.filter(|token| server.calls().contains_key(token)) {
            Some(token) => {
                let is_told = server.tell(token, method, params);
                let open = server.call_mut(token).filter(|_| !is_told);
                // It is told once per call: there may be many more.
                if let Some(open) = open
                    && !open.call.loses.swap(true, Ordering::AcqRel)
                {
                    let call = &open.call.method;
                    warn!(
                        server = self.settings.label(),
                        call, method, "notifications are lost: the client does not read its call"
                    );
                }
            }
            None => match self.listeners.tell(method, params) {
                Told::To(fates) => {
                    for fate in fates {
                        if let Some(ignored) = not_valid(method, &fate) {
                            server.leave_out(ignored);
                        }
                    }
                }
                // A client without a session gets changes on the streams that it opens for them, and nothing else.
                Told::Nobody if !is_change(server, method) => self.lost(method, NO_CALL),
                Told::Nobody | Told::Kept => {}
            },
        }
    }
}

/// The rule of a notification of no call, for a client that gets notifications only in calls.
const NO_CALL: &str = "no-call";

/// Returns whether a notification is one that clients subscribe to.
fn is_change(server: &UpstreamDriver, method: &str) -> bool {
    let is_known = (server.app().methods().iter()).any(|row| row.name == method);
    is_known && method != methods::NOTIFICATIONS_MESSAGE
}

/// Returns the report of a server's notification that could not be converted for a client.
pub(super) fn not_valid(method: &str, fate: &Fate) -> Option<Ignored> {
    match fate {
        Fate::Refused(error) => Some(Ignored::Invalid(method.to_owned(), error.message.clone())),
        _ => None,
    }
}

/// Returns the open call in which a per-request client gets notifications of no call; `None` if none is open.
fn whose(server: &UpstreamDriver, method: &str) -> Option<Token> {
    let mut calls = server
        .calls()
        .iter()
        .filter(|(_, open)| is_per_request(&open.call.caller));
    let of = match method {
        // Any that wants to hear what is logged meanwhile.
        methods::NOTIFICATIONS_MESSAGE => calls.find(|(_, open)| open.call.wants_logs),
        // A change goes to the streams that ask for it, which name themselves.
        _ if is_change(server, method) => None,
        // A notification that no revision has cannot name its receiver: it goes in the only call that it can be meant for.
        _ => {
            let mut calls =
                calls.filter(|(_, open)| open.call.method != methods::SUBSCRIPTIONS_LISTEN);
            calls.next().filter(|_| calls.next().is_none())
        }
    };
    of.map(|(token, _)| *token)
}
