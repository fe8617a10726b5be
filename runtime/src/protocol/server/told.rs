//! The facts about a request that a machine gets, taken out of the connection that the machine is in.

use std::sync::Arc;

use mcp_protocol::Revision;
use mcp_wire::Json;

use super::state::State;
use crate::protocol::input_required::seal::subject;
use crate::protocol::occasion::About;
use crate::protocol::translate::no_params;
use crate::protocol::{Caller, Token};

/// A request as a machine sees it.
pub(in crate::protocol) struct Told {
    token: Token,
    method: &'static str,
    params: Json,
    peer: Revision,
    caller: Arc<Caller>,
    principal: Option<String>,
    subject: Option<String>,
    rounds: u32,
}

impl Told {
    /// What is known of a request; `params` are those that the application was called with, if none are given.
    pub(in crate::protocol) fn of(
        state: &State,
        token: Token,
        params: Option<Json>,
    ) -> Option<Self> {
        let pending = state.get(token)?;
        let params = params.or_else(|| pending.params.clone());
        Some(Self {
            token,
            method: pending.method,
            params: params.unwrap_or_else(no_params),
            peer: pending.peer,
            caller: Arc::clone(&pending.caller),
            principal: pending.principal.clone(),
            subject: pending.subject.as_ref().map(subject),
            rounds: pending.rounds,
        })
    }

    pub(in crate::protocol) fn about(&self) -> About<'_> {
        About {
            token: self.token,
            method: self.method,
            params: &self.params,
            peer: self.peer,
            caller: &self.caller,
            principal: self.principal.as_deref(),
            subject: self.subject.as_deref(),
            rounds: self.rounds,
        }
    }
}
