//! `initialize` at a server: which revision the session speaks, and who its client is.

pub(crate) mod late;

use std::sync::Arc;

use mcp_revisions_core::{
    ConversionError, Loss, Outcome, Part, Revision, Subject, methods, negotiate_initialize,
    translate::read_part,
};
use mcp_wire::{Direction, Json, Peeked, Raw, RequestId};

use crate::errors::{self, Refusal};
use crate::server::Server;
use crate::server::reply::MessageReply;
use crate::server::requests::OpenSession;
use crate::translate::{NO_PARAMS, no_params};
use crate::{Caller, Connection, Event};

impl Connection<Server> {
    /// Answers `initialize`: the revision that was asked for, else the latest that has a handshake.
    pub(crate) fn initialize(&mut self, message: &Peeked<'_>, id: &RequestId) -> MessageReply {
        let (caller, losses) = match self.role.client_of_initialize(message) {
            Ok(introduced) => introduced,
            Err(refusal) => return MessageReply::refused(Some(id), &refusal),
        };
        let revision = caller.revision;
        let introductions = self.role.introductions.as_ref();
        let introduced = introductions.and_then(|it| Some((it.initialize_result(revision)?, it)));
        let Some((result, introductions)) = introduced else {
            return MessageReply::refused(
                Some(id),
                &errors::internal("no profile for this revision"),
            );
        };
        let lost = introductions.losses(revision);
        let translator = &self.role.translator;
        for losses in [&losses, lost] {
            translator.tell_losses(methods::INITIALIZE, revision, Some(id), losses);
        }
        self.state.session = Some(Box::new(self.role.opened(revision, caller)));
        self.tell(Event::Opened(revision));
        MessageReply::answered(id, result.text())
    }
}

impl Server {
    /// Returns the client that `initialize` names, in the revision that its session speaks, and what was mended in it. Returns
    /// the refusal of `initialize` if no session can be opened for it.
    pub(crate) fn client_of_initialize(
        &self,
        message: &Peeked<'_>,
    ) -> Result<(Caller, Vec<Loss>), Box<Refusal>> {
        let revision = negotiate_initialize(message, self.served)?;
        let (caller, losses) = introduced(message, revision)?;
        self.check_introduction(&caller)?;
        Ok((caller, losses))
    }

    /// Checks that a client says no more of itself than is kept. Returns the refusal of its request if it does.
    pub(crate) fn check_introduction(&self, caller: &Caller) -> Result<(), Box<Refusal>> {
        let (bytes, limit) = (caller.bytes(), self.limits.max_client_info_bytes);
        if bytes > limit {
            return Err(errors::introduction_too_large(bytes, limit));
        }
        Ok(())
    }

    fn opened(&self, revision: Revision, caller: Caller) -> OpenSession {
        let mut opened = OpenSession {
            revision,
            caller: Arc::new(caller),
            log_level: None,
            is_initialized: false,
            upgraded: Arc::default(),
        };
        if self.is_per_request {
            let capabilities = opened.caller.capabilities_in(self.app());
            opened.upgraded = Arc::new(mcp_revisions_core::Session {
                client_capabilities: converted_part(capabilities).or_else(|| Some(no_params())),
                client_info: converted_part(opened.caller.info_in(self.app())),
                subscription_id: None,
            });
        }
        opened
    }
}

fn converted_part(
    part: Result<Option<Outcome<Json>>, mcp_revisions_core::Failure>,
) -> Option<Json> {
    part.ok()??.value()
}

/// Returns the client's identity and capabilities, once its params prove to be those of the revision, and the mends in them.
fn introduced(
    message: &Peeked<'_>,
    revision: Revision,
) -> Result<(Caller, Vec<Loss>), Box<Refusal>> {
    let text = message.params.map_or(NO_PARAMS, Raw::text);
    let subject = Subject::Method(
        methods::INITIALIZE,
        Part::Params,
        Some(Direction::ClientToServer),
    );
    let losses = match read_part(subject, revision, text) {
        Ok((_, losses)) => losses,
        Err(why @ ConversionError::Invalid(_)) => {
            return Err(errors::invalid_params(&why.to_string()));
        }
        Err(_) => Vec::new(),
    };
    let caller = Caller {
        revision,
        info: message.param("clientInfo"),
        capabilities: message.param("capabilities"),
    };
    Ok((caller, losses))
}
