//! What handlers say and ask, whatever the application speaks.

use std::sync::Arc;

use mcp_wire::Json;
use tokio::sync::oneshot;

use super::Lane;
use super::streams::Manner;
#[cfg(feature = "router")]
use crate::Limits;
use crate::protocol::{Answered, Ask, Caller, Fate, Said, To, Token};
#[cfg(feature = "server-http")]
use crate::server::Owner;
use crate::transport::serve::Facts;
use crate::transport::serve::route::Route;

impl Lane {
    /// Returns where what is said about a request goes.
    pub(in crate::transport) fn route(&self, token: Token) -> Option<Route> {
        let state = self.state();
        let exchange = state.connection.exchange_of(token)?;
        state.streams.route(exchange)
    }

    pub(in crate::transport) fn notify(&self, to: To, method: &str, params: Option<&Json>) -> Fate {
        let mut state = self.state();
        let Said { fate, .. } = state.connection.notify(to, method, params, self.now());
        // About a call it is told in turn.
        let manner = match to {
            To::Request(_) => Manner::InTurn,
            To::Session => Manner::Unbidden,
        };
        self.carry(state, manner);
        fate
    }

    pub(in crate::transport) fn ask(
        &self,
        about: Option<(Token, &Facts)>,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(Token, oneshot::Receiver<Answered>), Fate> {
        let mut state = self.state();
        if state.is_silent {
            return Err(Fate::Unknown);
        }
        let mut ask = Ask::new(method, params.cloned());
        if let Some((call, _)) = about {
            ask = ask.about(call);
        }
        let facts = about.map(|(_, facts)| facts);
        if let Some(error) = self.refuses_to_park(&state, facts) {
            return Err(Fate::Refused(Box::new(error)));
        }
        let asked = state.connection.ask(ask, self.now());
        let (answer, waits) = oneshot::channel();
        if let Ok(token) = asked {
            state.work().asked.insert(token, answer);
        }
        // An adapter may have the answer at once.
        self.carry(state, Manner::InTurn);
        asked.map(|token| (token, waits))
    }

    pub(in crate::transport) fn end(&self) {
        #[cfg(feature = "server-http")]
        if self.state().connection.session_revision().is_none() {
            return self.end_streams();
        }
        self.close();
    }

    #[cfg(feature = "server-http")]
    pub(in crate::transport) fn owner(&self) -> Owner {
        self.owner.get().cloned().unwrap_or_default()
    }

    /// Returns who has opened the session, or the stream of one that has none.
    pub(in crate::transport) fn caller(&self) -> Option<Arc<Caller>> {
        self.state().connection.opened_by()
    }

    #[cfg(feature = "router")]
    pub(in crate::transport) fn limits(&self) -> Limits {
        *self.state().connection.role().limits()
    }

    /// Closes the response of a call in the middle of it; false if its client could not have the rest later.
    #[cfg(feature = "server-http")]
    pub(in crate::transport) fn pause(&self, token: Token) -> bool {
        let mut state = self.state();
        let exchange = state.connection.exchange_of(token);
        if let Some(exchange) = exchange {
            state.leave_will(exchange);
        }
        exchange.is_some_and(|exchange| state.streams.pause(exchange))
    }

    /// The answer to this request is not waited for any more.
    pub(in crate::transport) fn forget(&self, ask: Token) {
        let mut state = self.state();
        let asked = state.work.as_mut().and_then(|work| work.asked.remove(&ask));
        if asked.is_some() {
            state.connection.cancel(ask, None, self.now());
            self.carry(state, Manner::InTurn);
        }
    }
}
