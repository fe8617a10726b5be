//! Values from the application's revision to the server's and back.

use mcp_registry::{
    Context, Failure as ConvertFailure, Loss, NeedsState, Outcome, Part, Policy, Revision, Session,
    Subject, convert, convert_error,
};
use mcp_wire::{Direction, ErrorObject, Json, JsonObject, Map};

use super::output::{Failure, Question};
use crate::revisions::same;

/// A value that was carried over, and what was lost.
pub(super) type Carried = (Json, Vec<Loss>);

/// Why a value was not carried over.
#[derive(Debug)]
pub(super) enum Stopped {
    Needs(NeedsState),
    Rejected(ErrorObject),
    Swallowed(&'static str),
    Failed(ConvertFailure),
}

impl Stopped {
    /// As the failure of a request that could not be sent.
    pub(super) fn of_params(self) -> Failure {
        match self {
            Self::Needs(needs) => Failure::NeedsAdapter(needs),
            Self::Rejected(error) => Failure::Rejected(error),
            Self::Swallowed(rule) => Failure::UnknownMethod(format!(
                "the server's revision has no such notification ({rule})"
            )),
            Self::Failed(ConvertFailure::Invalid(error)) => Failure::InvalidParams(error),
            Self::Failed(ConvertFailure::Unknown(what)) => Failure::UnknownMethod(what),
        }
    }

    /// As the failure of a request whose answer could not be read.
    pub(super) fn of_result(self) -> Failure {
        match self {
            Self::Failed(failure) => Failure::InvalidResult(failure.to_string()),
            other => other.of_params(),
        }
    }

    /// As the error that answers a request of the server.
    pub(super) fn into_error(self) -> ErrorObject {
        match self {
            Self::Needs(needs) => {
                ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, needs.to_string())
            }
            Self::Rejected(error) => error,
            Self::Swallowed(rule) => ErrorObject::new(
                ErrorObject::METHOD_NOT_FOUND,
                format!("not known here ({rule})"),
            ),
            Self::Failed(ConvertFailure::Invalid(error)) => {
                ErrorObject::new(ErrorObject::INVALID_PARAMS, error.to_string())
            }
            Self::Failed(ConvertFailure::Unknown(what)) => {
                ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, what)
            }
        }
    }
}

/// Two revisions and how to get from one to the other.
#[derive(Debug, Clone)]
pub(super) struct Translator {
    pub(super) app: Revision,
    pub(super) policy: Policy,
    /// The application's client capabilities, in the newest revision: for requests on the way up.
    pub(super) capabilities: Option<Json>,
}

impl Translator {
    fn context(&self, to: Revision) -> Context {
        Context::new(self.policy).with_session(Session {
            protocol_version: Some(to.wire().to_owned()),
            client_capabilities: self.capabilities.clone(),
        })
    }

    fn run(
        &self,
        subject: Subject<'_>,
        from: Revision,
        to: Revision,
        text: &str,
    ) -> Result<Carried, Stopped> {
        if same(from, to) {
            return check(subject, from, text)
                .map(|json| (json, Vec::new()))
                .map_err(Stopped::Failed);
        }
        match convert(subject, from, to, text, self.context(to)) {
            Err(failure) => Err(Stopped::Failed(failure)),
            Ok(Outcome::Exact(json)) => Ok((json, Vec::new())),
            Ok(Outcome::Lossy(json, losses)) => Ok((json, losses)),
            Ok(Outcome::NeedsState(needs)) => Err(Stopped::Needs(needs)),
            Ok(Outcome::Rejected(error)) => Err(Stopped::Rejected(error)),
            Ok(Outcome::Swallowed(rule)) => Err(Stopped::Swallowed(rule)),
        }
    }

    /// Params of a request or notification of the application.
    pub(super) fn params_out(
        &self,
        method: &str,
        params: &Json,
        to: Revision,
    ) -> Result<Carried, Stopped> {
        let subject = Subject::Method(method, Part::Params, Some(Direction::ClientToServer));
        self.run(subject, self.app, to, params.text())
    }

    /// The result of a request of the application.
    pub(super) fn result_in(
        &self,
        method: &str,
        result: &Json,
        from: Revision,
    ) -> Result<Carried, Stopped> {
        let subject = Subject::Method(method, Part::Result, Some(Direction::ClientToServer));
        self.run(subject, from, self.app, result.text())
    }

    /// Params of a message of the server.
    pub(super) fn params_in(
        &self,
        method: &str,
        params: &Json,
        from: Revision,
    ) -> Result<Carried, Stopped> {
        let subject = Subject::Method(method, Part::Params, Some(Direction::ServerToClient));
        self.run(subject, from, self.app, params.text())
    }

    /// The application's answer to a request of the server.
    pub(super) fn result_out(
        &self,
        method: &str,
        result: &Json,
        to: Revision,
    ) -> Result<Carried, Stopped> {
        let subject = Subject::Method(method, Part::Result, Some(Direction::ServerToClient));
        self.run(subject, self.app, to, result.text())
    }

    /// A definition, where no method names it.
    pub(super) fn definition(
        &self,
        name: &str,
        from: Revision,
        to: Revision,
        text: &str,
    ) -> Option<Json> {
        self.run(Subject::Type(name), from, to, text)
            .ok()
            .map(|carried| carried.0)
    }

    /// An error that the server answered a request with.
    pub(super) fn error_in(
        &self,
        method: &str,
        error: ErrorObject,
        from: Revision,
    ) -> Result<(ErrorObject, Vec<Loss>), Stopped> {
        error_of(convert_error(
            method,
            from,
            self.app,
            error,
            self.context(self.app),
        ))
    }

    /// An error that the application answers a request of the server with.
    pub(super) fn error_out(&self, method: &str, error: ErrorObject, to: Revision) -> ErrorObject {
        let outcome = convert_error(method, self.app, to, error, self.context(to));
        error_of(outcome).map_or_else(Stopped::into_error, |carried| carried.0)
    }

    /// The questions of an `input_required` result.
    pub(super) fn questions(
        &self,
        result: &JsonObject,
        from: Revision,
    ) -> Result<Vec<Question>, String> {
        let Some(requests) = result.get("inputRequests") else {
            return Ok(Vec::new());
        };
        let requests: Map<JsonObject> = requests
            .read()
            .map_err(|error| format!("inputRequests: {error}"))?;
        requests
            .into_iter()
            .map(|(key, request)| self.question(key, &request, from))
            .collect()
    }

    fn question(
        &self,
        key: String,
        request: &JsonObject,
        from: Revision,
    ) -> Result<Question, String> {
        let method = request
            .get("method")
            .and_then(|method| method.read::<String>().ok());
        let method = method.ok_or_else(|| format!("inputRequests: `{key}` names no method"))?;
        let params = request.get("params").unwrap_or_else(empty_object);
        let (params, losses) = match self.params_in(&method, &params, from) {
            Ok((params, losses)) => (Ok(params), losses),
            Err(stopped) => (Err(stopped.into_error()), Vec::new()),
        };
        Ok(Question {
            key,
            method,
            params,
            losses,
        })
    }
}

/// A text that needs no conversion, if it is of its type.
fn check(subject: Subject<'_>, revision: Revision, text: &str) -> Result<Json, ConvertFailure> {
    let name = match subject {
        Subject::Type(name) => Some(name),
        Subject::Method(method, part, direction) => {
            let mut rows = revision.methods().iter().filter(|row| row.name == method);
            let row = rows.find(|row| direction.is_none_or(|direction| row.direction == direction));
            let unknown =
                || ConvertFailure::Unknown(format!("revision {revision} has no method `{method}`"));
            part.of(row.ok_or_else(unknown)?)
        }
    };
    if let Some(ty) = name.and_then(|name| revision.type_named(name)) {
        ty.round_trip(text).map_err(ConvertFailure::Invalid)?;
    }
    Json::from_text(text).map_err(ConvertFailure::Invalid)
}

fn error_of(outcome: Outcome<ErrorObject>) -> Result<(ErrorObject, Vec<Loss>), Stopped> {
    match outcome {
        Outcome::Exact(error) => Ok((error, Vec::new())),
        Outcome::Lossy(error, losses) => Ok((error, losses)),
        Outcome::NeedsState(needs) => Err(Stopped::Needs(needs)),
        Outcome::Rejected(error) => Err(Stopped::Rejected(error)),
        Outcome::Swallowed(rule) => Err(Stopped::Swallowed(rule)),
    }
}

/// `{}`
pub(super) fn empty_object() -> Json {
    JsonObject::new().into()
}
