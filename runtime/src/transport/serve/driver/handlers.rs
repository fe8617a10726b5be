//! The driver as handlers see it: it notifies and asks their client, in whichever revision they are written.

use std::sync::Arc;

use mcp_wire::Json;
use tokio::sync::oneshot;

use super::ServerDriver;
use super::streams::Manner;
use crate::Limits;
use crate::transport::serve::ExchangeFacts;
use crate::transport::serve::connection::PeerConnection;
use crate::transport::serve::outbox::Outbox;
use mcp_revisions_sansio::server::{Owner, Server};
use mcp_revisions_sansio::{Answered, Caller, Fate, OutgoingRequest, SendOutcome, To, Token};

impl ServerDriver {
    /// Returns the outbox of messages about a request.
    pub(in crate::transport) fn outbox(&self, token: Token) -> Option<Outbox> {
        let state = self.state();
        let exchange = state.connection.exchange_of(token)?;
        state.streams.outbox(exchange)
    }

    /// Does something once the reader of messages about a request has room. The driver is not locked meanwhile, and a reader
    /// that is gone may resume.
    pub(in crate::transport) async fn in_turn<T>(
        &self,
        call: Option<Token>,
        act: impl FnOnce() -> T,
    ) -> T {
        let outbox = call.and_then(|call| self.outbox(call));
        let _turn = match &outbox {
            Some(outbox) => outbox.turn().await,
            None => None,
        };
        act()
    }

    pub(in crate::transport) fn notify(&self, to: To, method: &str, params: Option<&Json>) -> Fate {
        let mut state = self.state();
        let SendOutcome { fate, .. } = state.connection.notify(to, method, params, self.now());
        // About a call it is told in turn.
        let manner = match to {
            To::Request(_) => Manner::InTurn,
            To::Session => Manner::Unbidden,
        };
        self.perform(state, manner);
        fate
    }

    pub(in crate::transport) fn ask(
        &self,
        about: Option<(Token, &ExchangeFacts)>,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(Token, oneshot::Receiver<Answered>), Fate> {
        let mut state = self.state();
        if state.is_silent {
            return Err(Fate::Unknown);
        }
        let mut ask = OutgoingRequest::new(method, params.cloned());
        if let Some((call, _)) = about {
            ask = ask.about(call);
        }
        let facts = about.map(|(_, facts)| facts);
        if let Some(error) = self.refuses_to_suspend(&state, facts) {
            return Err(Fate::Refused(Box::new(error)));
        }
        let asked = state.connection.ask(ask, self.now());
        let (answer, waits) = oneshot::channel();
        if let Ok(token) = asked {
            state.work().asked.insert(token, answer);
        }
        // An adapter may have the answer at once.
        self.perform(state, Manner::InTurn);
        asked.map(|token| (token, waits))
    }

    pub(in crate::transport) fn end(&self) {
        if self.state().connection.session_revision().is_none() {
            return self.end_streams();
        }
        self.close();
    }

    pub(in crate::transport) fn end_after_calls(&self) {
        let mut state = self.state();
        if state.connection.session_revision().is_none() {
            drop(state);
            return self.end_streams();
        }
        state.is_ending = true;
        self.perform(state, Manner::InTurn);
    }

    /// Returns the client that has opened the session, or the stream if there is no session.
    pub(in crate::transport) fn caller(&self) -> Option<Arc<Caller>> {
        self.state().connection.opened_by()
    }

    /// Returns the server whose connection it drives.
    pub(in crate::transport) fn server(&self) -> Arc<Server> {
        Arc::clone(self.state().connection.role())
    }

    pub(in crate::transport) fn limits(&self) -> Limits {
        *self.state().connection.role().limits()
    }

    /// The answer to this request is not waited for any more.
    pub(in crate::transport) fn forget(&self, ask: Token) {
        let mut state = self.state();
        let asked = state.work.as_mut().and_then(|work| work.asked.remove(&ask));
        if asked.is_some() {
            state.connection.cancel(ask, None, self.now());
            self.perform(state, Manner::InTurn);
        }
    }

    /// Ends the streams to which clients of the per-request lifecycle listen, because the server stops.
    pub(crate) fn end_streams(&self) {
        let mut state = self.state();
        state.connection.end_streams(self.now());
        self.perform(state, Manner::InTurn);
    }

    pub(in crate::transport) fn owner(&self) -> Owner {
        self.owner.get().cloned().unwrap_or_default()
    }

    pub(in crate::transport) fn connection(&self) -> Option<PeerConnection> {
        self.connection.get().cloned()
    }

    /// Closes the response of a call in the middle of it; false if its client could not have the rest later.
    pub(in crate::transport) fn pause(&self, token: Token) -> bool {
        let mut state = self.state();
        let exchange = state.connection.exchange_of(token);
        if let Some(exchange) = exchange {
            state.leave_will(exchange);
        }
        exchange.is_some_and(|exchange| state.streams.pause(exchange))
    }
}
