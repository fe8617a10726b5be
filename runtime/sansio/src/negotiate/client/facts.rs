//! The facts that a server states of itself in its first answer.

use mcp_revisions_core::{Lifecycle, Revision, methods};
use mcp_wire::meta::SERVER_INFO;
use mcp_wire::{Json, MessageKind};

use super::lifecycle::Evidence;
use crate::ask::outcome;
use crate::client::Client;
use crate::client::translate::facts;
use crate::{Connection, Event, ServerFacts};

impl Connection<Client> {
    /// Returns what a `DiscoverResult` says of the server.
    pub(super) fn facts_of(&mut self, evidence: Evidence<'_>, revision: Revision) -> ServerFacts {
        let result = match evidence {
            Evidence::Answer {
                message: Some(message),
                ..
            } if message.kind == MessageKind::Response => outcome(message),
            _ => return ServerFacts::unknown(revision),
        };
        let Ok(result) = result else {
            return ServerFacts::unknown(revision);
        };
        let info = result.get("_meta").and_then(|meta| meta.get(SERVER_INFO));
        self.facts(&result, revision, info)
    }

    /// Returns what a result says of the server, which names itself by `info`.
    pub(super) fn facts(
        &mut self,
        result: &Json,
        revision: Revision,
        info: Option<Json>,
    ) -> ServerFacts {
        self.state.changes.capabilities = result.get("capabilities");
        let method = match revision.lifecycle() {
            Lifecycle::Handshake => methods::INITIALIZE,
            Lifecycle::PerRequest => methods::SERVER_DISCOVER,
        };
        let mut carry = |name, json: Json| {
            let carried = facts(&self.role.translator, method, name, &json, revision);
            if let Err(stopped) = &carried {
                self.tell(Event::stopped(stopped, method, revision));
            }
            carried.ok()
        };
        ServerFacts {
            revision,
            info: info.and_then(|info| carry("Implementation", info)),
            capabilities: result
                .get("capabilities")
                .and_then(|it| carry("ServerCapabilities", it)),
            instructions: result.read_member("instructions"),
            result: Some(result.clone()),
        }
    }
}

impl ServerFacts {
    /// Returns a server of which nothing is known but the revision.
    pub(super) fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            info: None,
            capabilities: None,
            instructions: None,
            result: None,
        }
    }
}
