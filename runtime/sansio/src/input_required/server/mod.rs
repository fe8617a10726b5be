//! Questions of a server's handlers: which a client may be asked, and the result that asks them.
//!
//! [`by_requests`] and [`suspend`] are the adapters, and [`signed`] keeps what handlers ask by results of their own from
//! being forged.

pub(crate) mod by_requests;
pub(crate) mod seal;
mod signed;
mod spent;
pub(crate) mod suspend;

use mcp_revisions_core::Revision;
use mcp_wire::{CapabilityPart, Direction, ErrorObject, Json, MethodInfo};

use super::{EmbeddedQuestion, read};
use crate::Caller;
use crate::errors;
use crate::json::{declares, object};
use crate::server::Server;
use crate::server::requests::About;
use crate::translate::{TextDirection, Translator, no_params};

/// Returns the rows of a method in the tables of all revisions, latest first.
fn rows(method: &str) -> impl Iterator<Item = &'static MethodInfo> {
    let tables = Revision::NEGOTIATED
        .iter()
        .rev()
        .map(|revision| revision.methods());
    tables.flatten().filter(move |row| row.name == method)
}

/// Returns the row of what a server may ask a client who has said that it can be asked.
fn question(method: &str) -> Option<&'static MethodInfo> {
    rows(method).find(|row| row.direction == Direction::ServerToClient && row.capability.is_some())
}

/// Returns the result that asks the peer these, and wants the state back.
fn write<'q>(
    questions: impl IntoIterator<Item = &'q EmbeddedQuestion>,
    state: &str,
    translator: &Translator,
    peer: Revision,
) -> Json {
    let request = |question: &'q EmbeddedQuestion| {
        let method = Json::of(translator.peer_name(question.method, peer));
        let request = object([("method", method), ("params", question.params.clone())]);
        (question.name.as_str(), request)
    };
    object([
        ("resultType", Json::of("input_required")),
        ("inputRequests", object(questions.into_iter().map(request))),
        ("requestState", Json::of(state)),
    ])
}

/// Returns the method of a question.
pub(crate) fn question_method(method: &str) -> Option<&'static str> {
    question(method).map(|row| row.name)
}

impl Server {
    /// Returns the params of a question in the revision of the client that is asked. Fails for a client that did not say that
    /// it can be asked, and a question that its revision does not have.
    fn question(&self, about: &About, method: &str, params: &Json) -> Result<Json, ErrorObject> {
        allowed(&about.caller, method, params)?;
        let carried =
            (self.translator).params_told(TextDirection::Out, method, params, about.revision, None);
        carried
            .map(|(params, _)| params)
            .map_err(|stopped| stopped.into_error(ErrorObject::INVALID_PARAMS))
    }
}

/// Refuses a question that the client did not say it can be asked.
pub fn allowed(caller: &Caller, method: &str, params: &Json) -> Result<(), ErrorObject> {
    let Some(row) = question(method) else {
        return Ok(());
    };
    let part = row
        .capability_parts
        .iter()
        .find(|part| is_asked_for(params, part));
    let path: Vec<&str> = row
        .capability
        .into_iter()
        .chain(part.map(|part| part.name))
        .collect();
    if caller
        .capabilities
        .as_ref()
        .is_some_and(|it| declares(it, &path))
    {
        Ok(())
    } else {
        let required = path
            .iter()
            .rev()
            .fold(no_params(), |within, name| object([(*name, within)]));
        Err(errors::missing_capability(&required).error)
    }
}

/// Returns whether the params are of those that need a part of a capability.
fn is_asked_for(params: &Json, part: &CapabilityPart) -> bool {
    let Some(value) = params.get(part.member) else {
        return false;
    };
    match part.value {
        Some(wanted) => value.read::<String>().is_ok_and(|value| value == wanted),
        None => !value.is_null(),
    }
}
