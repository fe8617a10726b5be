//! `initialize` at a server: which revision the session speaks, and who its client is.

use std::sync::Arc;

use mcp_protocol::{Context, Failure, Lifecycle, Outcome, Part, Revision, Subject};
use mcp_wire::{Direction, ErrorObject, Json, Peeked, Raw, RequestId};

use crate::errors::{self, Refusal};
use crate::methods;
use crate::protocol::negotiate::is_handshake;
use crate::protocol::server::Server;
use crate::protocol::server::protocol::EMPTY;
use crate::protocol::server::reply::Reply;
use crate::protocol::server::requests::Opened;
use crate::protocol::{Caller, Connection, Event};

impl Connection<Server> {
    /// Answers `initialize`: the revision that was asked for, else the latest that has a handshake.
    pub(in crate::protocol) fn initialize(
        &mut self,
        message: &Peeked<'_>,
        id: &RequestId,
    ) -> Reply {
        let asked = message.param("protocolVersion");
        let asked = asked.and_then(|version| version.read::<String>().ok());
        let Some(asked) = asked else {
            return Reply::refused(
                Some(id),
                &errors::invalid_params("`protocolVersion` is required, and a string"),
            );
        };
        let is_served =
            |revision: &Revision| is_handshake(*revision) && self.role.served.contains(*revision);
        let settled = Revision::from_protocol_version(&asked)
            .filter(is_served)
            .or_else(|| self.role.served.latest(Lifecycle::Handshake));
        let Some(revision) = settled else {
            return Reply::refused(
                Some(id),
                &errors::unsupported_version(&asked, self.role.served),
            );
        };
        let caller = match introduced(message, revision) {
            Ok(caller) => caller,
            Err(refusal) => return Reply::refused(Some(id), &refusal),
        };
        let (bytes, limit) = (caller.bytes(), self.role.limits.max_client_info_bytes);
        if bytes > limit {
            return Reply::refused(Some(id), &errors::introduction_too_large(bytes, limit));
        }
        let Some(result) = self.role.introductions.handshake(revision) else {
            return Reply::refused(Some(id), &errors::internal("no profile for this revision"));
        };
        let lost = self.role.introductions.losses(revision);
        let on_loss = &self.role.translator.on_loss;
        on_loss.tell_losses(methods::INITIALIZE, revision, Some(id), lost);
        self.state.session = Some(Box::new(self.role.opened(revision, caller)));
        self.tell(Event::Opened(revision));
        Reply::answered(id, result.text())
    }
}

impl Server {
    fn opened(&self, revision: Revision, caller: Caller) -> Opened {
        let mut opened = Opened {
            revision,
            caller: Arc::new(caller),
            log_level: None,
            is_initialized: false,
            upgraded: Arc::default(),
        };
        if self.is_per_request {
            let capabilities = opened.caller.capabilities_in(self.app());
            opened.upgraded = Arc::new(mcp_protocol::Session {
                client_capabilities: said(capabilities).or_else(|| Json::from_text(EMPTY).ok()),
                client_info: said(opened.caller.info_in(self.app())),
                subscription_id: None,
            });
        }
        opened
    }
}

fn said(part: Result<Option<Outcome<Json>>, Failure>) -> Option<Json> {
    part.ok()??.value()
}

/// Who the client says it is, once its params prove to be those of the revision.
fn introduced(message: &Peeked<'_>, revision: Revision) -> Result<Caller, Box<Refusal>> {
    let text = message.params.map_or(EMPTY, Raw::text);
    let subject = Subject::Method(
        methods::INITIALIZE,
        Part::Params,
        Some(Direction::ClientToServer),
    );
    let cx = Context::new(mcp_protocol::UnknownFields::Drop);
    if let Err(Failure::Invalid(error)) =
        mcp_protocol::convert(subject, revision, revision, text, cx)
    {
        return Err(Box::new(Refusal {
            error: ErrorObject::new(ErrorObject::INVALID_PARAMS, error.to_string()),
            status: 200,
        }));
    }
    Ok(Caller {
        revision,
        info: message.param("clientInfo"),
        capabilities: message.param("capabilities"),
    })
}
