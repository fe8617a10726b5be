//! The state that an application's requests of earlier rounds left with their client: signed on the way out, and verified
//! when the request is made again.

use std::time::Duration;

use mcp_revisions_core::{Revision, translate::is_handshake};
use mcp_wire::{ErrorObject, Json, Peeked, Raw};

use super::seal::{Bound, IssuedState, StateFault, subject};
use crate::Token;
use crate::errors;
use crate::json::with_members;
use crate::limits::deadline;
use crate::server::Server;
use crate::server::state::ServerState;

impl Server {
    /// Returns the ticket of a retried request, if this server signed it: over HTTP the request belongs
    /// to the connection whose [`Event::Suspended`](crate::Event::Suspended) named that ticket.
    #[must_use]
    pub fn ticket(
        &self,
        message: &Peeked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Option<u64> {
        match self.issued(message, principal, now)? {
            Ok(IssuedState::Suspended(ticket)) => Some(ticket),
            // No request has the number behind it, so that the replica goes on as with any other.
            Ok(IssuedState::Own(_, Some(home)) | IssuedState::Once(_, _, Some(home))) => {
                Some(u64::from(home) << 32 | u64::from(u32::MAX))
            }
            _ => None,
        }
    }

    /// Returns the state of a request's `requestState`; `None` if it has none.
    pub(crate) fn issued(
        &self,
        message: &Peeked<'_>,
        principal: Option<&str>,
        now: Duration,
    ) -> Option<Result<IssuedState, StateFault>> {
        let state = message.request_state?;
        let subject = message.params.map(Raw::to_json).as_ref().map(subject);
        let claim = message.meta.protocol_version.and_then(Raw::as_str);
        let peer = claim.and_then(|claim| Revision::from_protocol_version(&claim));
        let bound = Bound {
            method: self
                .translator
                .app_name(message.method.as_deref()?, peer.unwrap_or(self.app())),
            subject: &subject.unwrap_or_default(),
            principal,
        };
        Some(match state.as_str() {
            Some(state) => self.seal.open(&state, now, bound),
            None => Err(StateFault::Forged),
        })
    }

    /// Returns a result of the application with its state signed: for this request, its principal, and the time that a
    /// client may take to answer. Without adapters it is as the application has it.
    pub(crate) fn with_signed_state(
        &self,
        state: &ServerState,
        token: Token,
        result: Json,
        now: Duration,
    ) -> Result<Json, ErrorObject> {
        let Some(pending) = state.get(token).filter(|_| !state.is_bare) else {
            return Ok(result);
        };
        if is_handshake(pending.revision)
            || !result.text().contains("\"requestState\"")
            || !(self.translator).may_ask_back(pending.revision, pending.method)
        {
            return Ok(result);
        }
        let own = result.get("requestState");
        let Some(own) = own.as_ref().and_then(Json::as_str) else {
            return Ok(result);
        };
        let asked_for = pending.subject.as_ref().or(pending.params.as_ref());
        let bound = Bound {
            method: pending.method,
            subject: &asked_for.map(subject).unwrap_or_default(),
            principal: pending.principal.as_deref(),
        };
        let until = deadline(now, self.limits.client_response_timeout);
        let issued = self.seal.own(own.into_owned());
        let Some(signed) = self.seal.sign(&issued, until, bound) else {
            let why = "the system gave no randomness to sign with";
            return Err(errors::internal(why).error);
        };
        let signed = ("requestState", Some(Json::of(signed.as_str())));
        Ok(with_members(&result, &[signed]))
    }
}
