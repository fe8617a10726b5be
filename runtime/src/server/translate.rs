//! Texts on their way between the application's revision and a peer's.

use mcp_registry::{Context, Failure, Loss, NeedsState, Outcome, Part, Revision, Subject};
use mcp_wire::{Direction, ErrorObject, Json};

use super::Server;
use super::channel::Opened;
use crate::revisions::{Spoken, is_legacy, same};
use crate::{errors, meta};

/// What a translation came to.
pub(super) enum Translated<T> {
    Done(T, Vec<Loss>),
    NeedsState(NeedsState),
    Rejected(Box<ErrorObject>),
    Swallowed(&'static str),
}

impl<T> From<Outcome<T>> for Translated<T> {
    fn from(outcome: Outcome<T>) -> Self {
        match outcome {
            Outcome::Exact(value) => Self::Done(value, Vec::new()),
            Outcome::Lossy(value, losses) => Self::Done(value, losses),
            Outcome::NeedsState(needs) => Self::NeedsState(needs),
            Outcome::Rejected(error) => Self::Rejected(Box::new(error)),
            Outcome::Swallowed(rule) => Self::Swallowed(rule),
        }
    }
}

/// The params that a message without any stands for.
const NO_PARAMS: &str = "{}";

impl<App: Spoken> Server<App> {
    /// Params of a peer, for the application. Invalid ones are rejected with -32602.
    pub(super) fn params_in(
        &self,
        method: &'static str,
        params: Option<&str>,
        peer: Revision,
        session: Option<&Opened>,
    ) -> Translated<Json> {
        let subject = Subject::Method(method, Part::Params, Some(Direction::ClientToServer));
        let text = params.unwrap_or(NO_PARAMS);
        if same(peer, App::REVISION) {
            return match check(subject, peer, text) {
                Ok(()) => Translated::Done(Json::from_text(text).unwrap_or_default(), Vec::new()),
                Err(error) => Translated::Rejected(error),
            };
        }
        let cx = Context::new(self.policy);
        let converted = match (is_legacy(peer), self.modern) {
            (true, true) => {
                let cx = cx.with_session(self.upgraded(session));
                mcp_registry::convert(subject, peer, App::REVISION, text, cx)
            }
            // The level is told to the handlers beside the params.
            (false, false) if text.contains(meta::LOG_LEVEL) => {
                let text = meta::without(text, meta::LOG_LEVEL);
                mcp_registry::convert(subject, peer, App::REVISION, &text, cx)
            }
            _ => mcp_registry::convert(subject, peer, App::REVISION, text, cx),
        };
        match translated(converted, ErrorObject::INVALID_PARAMS) {
            Translated::Done(json, losses) if is_legacy(peer) && self.modern => {
                Translated::Done(stamped(json, session), losses)
            }
            other => other,
        }
    }

    /// What a session says in place of a modern client.
    fn upgraded(&self, session: Option<&Opened>) -> mcp_registry::Session {
        match session {
            Some(session) => session.upgraded.clone(),
            None => mcp_registry::Session {
                protocol_version: Some(App::REVISION.wire().to_owned()),
                client_capabilities: Json::from_text("{}").ok(),
            },
        }
    }

    /// The answer of the application, for a peer.
    pub(super) fn result_out(
        &self,
        method: &'static str,
        result: Json,
        peer: Revision,
    ) -> Translated<Json> {
        if same(peer, App::REVISION) {
            return Translated::Done(result, Vec::new());
        }
        let subject = Subject::Method(method, Part::Result, Some(Direction::ClientToServer));
        let cx = Context::new(self.policy);
        let converted = mcp_registry::convert(subject, App::REVISION, peer, result.text(), cx);
        translated(converted, ErrorObject::INTERNAL_ERROR)
    }

    /// The error of the application, for a peer.
    pub(super) fn error_out(
        &self,
        method: &'static str,
        error: ErrorObject,
        peer: Revision,
    ) -> Translated<ErrorObject> {
        if same(peer, App::REVISION) {
            return Translated::Done(error, Vec::new());
        }
        mcp_registry::convert_error(
            method,
            App::REVISION,
            peer,
            error,
            Context::new(self.policy),
        )
        .into()
    }

    /// Params of the application, for a peer.
    pub(super) fn params_out(
        &self,
        method: &str,
        params: Option<&Json>,
        peer: Revision,
    ) -> Translated<Json> {
        let text = params.map_or(NO_PARAMS, Json::text);
        if same(peer, App::REVISION) {
            return Translated::Done(params.cloned().unwrap_or_else(no_params), Vec::new());
        }
        let subject = Subject::Method(method, Part::Params, Some(Direction::ServerToClient));
        let cx = Context::new(self.policy);
        let converted = mcp_registry::convert(subject, App::REVISION, peer, text, cx);
        translated(converted, ErrorObject::INTERNAL_ERROR)
    }

    /// The answer of a peer to a request of the server, for the application.
    pub(super) fn answer_in(
        &self,
        method: &'static str,
        result: &str,
        peer: Revision,
    ) -> Translated<Json> {
        let subject = Subject::Method(method, Part::Result, Some(Direction::ServerToClient));
        if same(peer, App::REVISION) {
            return match check(subject, peer, result) {
                Ok(()) => Translated::Done(Json::from_text(result).unwrap_or_default(), Vec::new()),
                Err(error) => Translated::Rejected(error),
            };
        }
        let cx = Context::new(self.policy);
        let converted = mcp_registry::convert(subject, peer, App::REVISION, result, cx);
        translated(converted, ErrorObject::INTERNAL_ERROR)
    }
}

/// `{}`
pub(super) fn no_params() -> Json {
    Json::from_text(NO_PARAMS).unwrap_or_default()
}

fn translated(converted: Result<Outcome<Json>, Failure>, invalid: i64) -> Translated<Json> {
    match converted {
        Ok(outcome) => outcome.into(),
        Err(Failure::Invalid(error)) => {
            Translated::Rejected(Box::new(ErrorObject::new(invalid, error.to_string())))
        }
        Err(Failure::Unknown(what)) => Translated::Rejected(errors::internal(&what).error.into()),
    }
}

/// Refuses a text that is not of its type.
fn check(subject: Subject<'_>, revision: Revision, text: &str) -> Result<(), Box<ErrorObject>> {
    let Subject::Method(method, part, direction) = subject else {
        return Ok(());
    };
    let rows = revision.methods().iter();
    let row = rows
        .filter(|row| row.name == method)
        .find(|row| direction.is_none_or(|way| row.direction == way));
    let name = row.and_then(|row| part.of(row));
    match name
        .and_then(|name| revision.type_named(name))
        .map(|ty| ty.read(text))
    {
        Some(Err(error)) => Err(Box::new(ErrorObject::new(
            ErrorObject::INVALID_PARAMS,
            error.to_string(),
        ))),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// Params of a legacy peer, with what its session knows and a modern request says by itself.
fn stamped(params: Json, session: Option<&Opened>) -> Json {
    let Some(session) = session else {
        return params;
    };
    let mut text = None;
    if let Some(info) = &session.client_info {
        text = Some(meta::with_default(params.text(), meta::CLIENT_INFO, info));
    }
    if let Some(level) = session.log_level {
        let before = text.as_deref().unwrap_or(params.text());
        text = Some(meta::with_default(
            before,
            meta::LOG_LEVEL,
            &Json::of(level.name()),
        ));
    }
    text.and_then(|text| Json::from_text(&text).ok())
        .unwrap_or(params)
}
