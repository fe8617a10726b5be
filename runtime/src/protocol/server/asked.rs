//! Requests of the server to its peer: sent, and taken back.

use std::time::Duration;

use mcp_registry::Adapter;
use mcp_wire::envelope::write;
use mcp_wire::{Json, Map, RequestId};

use super::Server;
use super::done::{Done, Outgoing};
use super::state::{Asked, AskedBy, State};
use crate::adapters::Occasion;
use crate::methods;
use crate::protocol::revisions::known;
use crate::protocol::{Fate, Token};

impl Server {
    /// Sends the peer a request in its own words; `None` if too many wait for their answer.
    pub(super) fn send_request(
        &self,
        state: &mut State,
        by: AskedBy,
        about: Option<Token>,
        method: &str,
        params: Option<&Json>,
    ) -> Option<Outgoing> {
        if state.asked.len() >= self.limits.pending {
            return None;
        }
        let about = about.and_then(|token| state.get(token));
        let exchange = about.map(|pending| pending.exchange);
        let peer = about
            .map(|pending| pending.peer)
            .or(state.session_revision())?;
        let id = state.next_ask();
        state.asked.insert(
            id,
            Asked {
                method: known(method),
                by,
                peer,
                exchange,
            },
        );
        let method = self.peer_name(method, peer);
        let body = write::request(&RequestId::from(id), method, params.map(Json::text));
        Some(Outgoing {
            exchange,
            last: false,
            status: 200,
            body,
        })
    }

    /// The application does not wait any more for the answer to its request of this key: the peer is told so.
    pub(super) fn forget(
        &self,
        state: &mut State,
        key: u64,
        reason: Option<&str>,
        now: Duration,
    ) -> Done {
        let mut output = Done::of(Fate::Sent);
        output.send_all(self.unask(state, AskedBy::Application(key), reason));
        let adapter = Adapter::MultiRoundTrip;
        if state
            .machines
            .iter()
            .any(|machine| machine.adapter() == adapter)
            && let Some(more) = self.run_machine(state, adapter, Occasion::Forgotten { key }, now)
        {
            output.join(more);
        }
        output
    }

    /// Takes back a request of the server, and tells the peer.
    pub(super) fn unask(
        &self,
        state: &mut State,
        by: AskedBy,
        reason: Option<&str>,
    ) -> Option<Outgoing> {
        let mut all = state.asked.iter();
        let id = all.find(|(_, asked)| asked.by == by).map(|(id, _)| *id)?;
        let asked = state.asked.remove(&id)?;
        let mut params: Map<Json> = Map::new();
        params.insert("requestId", Json::from(id));
        let reason = reason.unwrap_or("the answer is not waited for any more");
        params.insert("reason", Json::of(reason));
        let method = self.peer_name(methods::NOTIFICATIONS_CANCELLED, asked.peer);
        let body = write::notification(method, Some(Json::of(&params).text()));
        Some(Outgoing {
            exchange: asked.exchange,
            last: false,
            status: 200,
            body,
        })
    }
}
