//! Requests that the runtime answers by itself: protocol, and not application.

use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::{Json, Peeked, RequestId};

use super::Server;
use super::reply::MessageReply;
use crate::errors::{self, Refusal};
use crate::{Connection, Event, LogLevel};
use mcp_revisions_core::methods;
use mcp_revisions_core::translate::is_handshake;

/// The result that says nothing.
pub(crate) const EMPTY: &str = "{}";

impl Connection<Server> {
    /// Answers a request of the protocol; `None` if it is one of the application.
    pub(crate) fn protocol_request(
        &mut self,
        message: &Peeked<'_>,
        id: &RequestId,
        method: &str,
        peer: Revision,
    ) -> Option<MessageReply> {
        match method {
            methods::PING => Some(MessageReply::answered(id, EMPTY)),
            methods::SERVER_DISCOVER => {
                let introductions = self.role.introductions.as_ref()?;
                let result = introductions.discover_result(peer, self.role.served)?;
                let translator = &self.role.translator;
                translator.tell_losses(method, peer, Some(id), introductions.losses(peer));
                Some(MessageReply::answered(id, result.text()))
            }
            methods::LOGGING_SET_LEVEL => Some(match self.set_level(message, peer) {
                Ok(()) => MessageReply::answered(id, EMPTY),
                Err(refusal) => MessageReply::refused(Some(id), &refusal),
            }),
            _ => None,
        }
    }

    fn set_level(&mut self, message: &Peeked<'_>, peer: Revision) -> Result<(), Box<Refusal>> {
        let introductions = self.role.introductions.as_ref();
        if !introductions.is_some_and(|it| it.logs(peer)) {
            return Err(errors::method_not_found(
                methods::LOGGING_SET_LEVEL,
                Lifecycle::Handshake,
            ));
        }
        let level = message
            .param("level")
            .ok_or_else(|| errors::invalid_params("`level` is required"))?
            .as_str()
            .and_then(|name| LogLevel::from_name(&name));
        let level = level
            .ok_or_else(|| errors::invalid_params("`level` is none of the eight of RFC 5424"))?;
        if let Some(session) = &mut self.state.session {
            session.log_level = Some(level);
            self.tell(Event::LogLevel(level));
        }
        Ok(())
    }
}

impl Server {
    /// Returns the result of a per-request message, with what each of them says of the server.
    pub(crate) fn signed(&self, result: Json, peer: Revision) -> String {
        match self.introductions.as_ref().and_then(|it| it.info(peer)) {
            Some(info) if !is_handshake(peer) => {
                mcp_wire::meta::with_default(&result, mcp_wire::meta::SERVER_INFO, info).into_text()
            }
            _ => result.into_text(),
        }
    }
}
