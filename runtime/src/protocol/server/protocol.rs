//! What the runtime answers by itself: protocol, and not application.

use std::sync::Arc;

use mcp_registry::{Context, Era, Failure, Outcome, Part, Revision, Subject};
use mcp_wire::{Direction, ErrorObject, Json, JsonObject, RequestId};

use super::Server;
use super::done::Handled;
use super::state::{Opened, State};
use crate::errors::{self, Refusal};
use crate::methods;
use crate::protocol::revisions::is_legacy;
use crate::protocol::{Caller, Event, LogLevel, Output};
use mcp_wire::{Peeked, Raw};

/// The result that says nothing.
const EMPTY: &str = "{}";

impl Server {
    /// Answers a request of the protocol; `None` if it is one of the application.
    pub(super) fn protocol_request(
        &self,
        state: &mut State,
        message: &Peeked<'_>,
        id: &RequestId,
        method: &str,
        peer: Revision,
    ) -> Option<Handled> {
        match method {
            methods::PING => Some(Handled::answered(id, EMPTY)),
            methods::SERVER_DISCOVER => {
                let result = self.introductions.discovery(peer, self.served)?;
                Some(Handled::answered(id, &result))
            }
            methods::LOGGING_SET_LEVEL => Some(match self.set_level(state, message, peer) {
                Ok(()) => Handled::answered(id, EMPTY),
                Err(refusal) => Handled::refused(Some(id), &refusal),
            }),
            _ => None,
        }
    }

    fn set_level(
        &self,
        state: &mut State,
        message: &Peeked<'_>,
        peer: Revision,
    ) -> Result<(), Box<Refusal>> {
        if !self.introductions.logs(peer) {
            return Err(errors::method_not_found(
                methods::LOGGING_SET_LEVEL,
                Era::Handshake,
            ));
        }
        let level = member(message, "level")
            .ok_or_else(|| errors::invalid_params("`level` is required"))?;
        let level = level.as_str().and_then(|name| LogLevel::from_name(&name));
        let level = level
            .ok_or_else(|| errors::invalid_params("`level` is none of the eight of RFC 5424"))?;
        if let Some(session) = &mut state.session {
            session.log_level = Some(level);
        }
        Ok(())
    }

    /// Answers `initialize`: the revision that was asked for, else the newest that has a handshake.
    pub(super) fn initialize(
        &self,
        state: &mut State,
        message: &Peeked<'_>,
        id: &RequestId,
    ) -> Handled {
        let asked = member(message, "protocolVersion")
            .and_then(|version| version.as_str().map(String::from));
        let Some(asked) = asked else {
            return Handled::refused(
                Some(id),
                &errors::invalid_params("`protocolVersion` is required, and a string"),
            );
        };
        let legacy = |revision: &Revision| is_legacy(*revision) && self.served.contains(*revision);
        let settled = Revision::from_wire(&asked)
            .filter(legacy)
            .or_else(|| self.served.newest(Era::Handshake));
        let Some(revision) = settled else {
            return Handled::refused(Some(id), &errors::unsupported_version(&asked, self.served));
        };
        let caller = match introduced(message, revision) {
            Ok(caller) => caller,
            Err(refusal) => return Handled::refused(Some(id), &refusal),
        };
        let (bytes, limit) = (caller.bytes(), self.limits.introduction_bytes);
        if bytes > limit {
            return Handled::refused(Some(id), &errors::introduction_too_large(bytes, limit));
        }
        let Some(result) = self.introductions.handshake(revision) else {
            return Handled::refused(Some(id), &errors::internal("no profile for this revision"));
        };
        state.session = Some(Box::new(self.opened(revision, caller)));
        let mut handled = Handled::answered(id, &result);
        (handled.outputs).push(Output::Event(Event::Opened(revision)));
        handled
    }

    fn opened(&self, revision: Revision, caller: Caller) -> Opened {
        let mut opened = Opened {
            revision,
            caller: Arc::new(caller),
            log_level: None,
            is_initialized: false,
            upgraded: mcp_registry::Session::default(),
            client_info: None,
        };
        if self.modern {
            let capabilities = opened.caller.capabilities_in(self.app);
            opened.upgraded = mcp_registry::Session {
                client_capabilities: said(capabilities).or_else(|| Json::from_text(EMPTY).ok()),
                ..mcp_registry::Session::default()
            };
            opened.client_info = said(opened.caller.info_in(self.app));
        }
        opened
    }

    /// The result of a modern request, with what every one of them says of the server.
    pub(super) fn signed(&self, result: Json, peer: Revision) -> String {
        match self.introductions.info(peer) {
            Some(info) if !is_legacy(peer) => {
                crate::meta::with_default(result.text(), crate::meta::SERVER_INFO, info)
            }
            _ => result.into_text(),
        }
    }
}

fn said(part: Result<Option<Outcome<Json>>, Failure>) -> Option<Json> {
    part.ok()??.value()
}

/// A member of the params.
fn member(message: &Peeked<'_>, name: &str) -> Option<Json> {
    let params: JsonObject = mcp_wire::from_str(message.params.map(Raw::text)?).ok()?;
    params.get(name)
}

/// Who the client says it is, once its params prove to be those of the revision.
fn introduced(message: &Peeked<'_>, revision: Revision) -> Result<Caller, Box<Refusal>> {
    let text = message.params.map_or(EMPTY, Raw::text);
    let subject = Subject::Method(
        methods::INITIALIZE,
        Part::Params,
        Some(Direction::ClientToServer),
    );
    let cx = Context::new(mcp_registry::Policy::Strict);
    if let Err(Failure::Invalid(error)) =
        mcp_registry::convert(subject, revision, revision, text, cx)
    {
        return Err(Box::new(Refusal {
            error: ErrorObject::new(ErrorObject::INVALID_PARAMS, error.to_string()),
            status: 200,
        }));
    }
    Ok(Caller {
        revision,
        info: member(message, "clientInfo"),
        capabilities: member(message, "capabilities"),
    })
}
