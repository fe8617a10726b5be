//! What the two directions of a client are to the translator, and what their failures are to the application.

use std::sync::Arc;

use mcp_protocol::{Loss, Revision, Session};
use mcp_wire::{Direction, ErrorObject, Json};

use crate::protocol::Failure;
use crate::protocol::Profile;
pub(in crate::protocol) use crate::protocol::translate::{Stopped, no_params};
use crate::protocol::translate::{Translated, Way};

/// The application's end of a translation.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Translator {
    pub(in crate::protocol) inner: crate::protocol::translate::Translator,
    /// The application's client capabilities, in the latest revision: for requests on the way up.
    pub(in crate::protocol) session: Arc<Session>,
}

impl Stopped {
    /// As the failure of a request that could not be sent.
    pub(in crate::protocol) fn of_params(self) -> Failure {
        match self {
            Self::RequiresState(needs) => Failure::NeedsAdapter(needs),
            Self::Rejected(rejected) => Failure::Rejected(rejected.error),
            Self::Dropped(rule) => Failure::UnknownMethod(format!(
                "the server's revision has no such notification ({rule})"
            )),
            Self::Invalid(error) => Failure::InvalidParams(*error),
            Self::Unknown(what) => Failure::UnknownMethod(what),
        }
    }

    /// As the failure of a request whose answer could not be read.
    pub(in crate::protocol) fn of_result(self) -> Failure {
        match self {
            Self::Invalid(error) => Failure::InvalidResult(error.to_string()),
            Self::Unknown(what) => Failure::InvalidResult(what),
            other => other.of_params(),
        }
    }
}

impl Translator {
    /// Returns what the application's revision calls a method that the server names, of those that a server sends.
    pub(in crate::protocol) fn app_name<'m>(&self, method: &'m str, from: Revision) -> &'m str {
        (self.inner).app_name(method, Direction::ServerToClient, from)
    }

    /// Returns what the server's revision calls a method that the client sends.
    pub(in crate::protocol) fn peer_name<'m>(&self, method: &'m str, to: Revision) -> &'m str {
        (self.inner).peer_name(method, Direction::ClientToServer, to)
    }

    fn session(&self) -> Option<&Arc<Session>> {
        Some(&self.session)
    }

    /// Params of a request or notification of the application.
    pub(in crate::protocol) fn params_out(
        &self,
        method: &str,
        params: &Json,
        to: Revision,
    ) -> Translated<Json> {
        let sender = Direction::ClientToServer;
        (self.inner).params(Way::Out, sender, method, params.text(), to, self.session())
    }

    /// The result of a request of the application.
    pub(in crate::protocol) fn result_in(
        &self,
        method: &str,
        result: &Json,
        from: Revision,
    ) -> Translated<Json> {
        let (sender, session) = (Direction::ClientToServer, self.session());
        (self.inner).result(Way::In, sender, method, result.text(), from, session)
    }

    /// Params of a message of the server.
    pub(in crate::protocol) fn params_in(
        &self,
        method: &str,
        params: &Json,
        from: Revision,
    ) -> Translated<Json> {
        let (sender, session) = (Direction::ServerToClient, self.session());
        (self.inner).params(Way::In, sender, method, params.text(), from, session)
    }

    /// The application's answer to a request of the server.
    pub(in crate::protocol) fn result_out(
        &self,
        method: &str,
        result: &Json,
        to: Revision,
    ) -> Translated<Json> {
        let sender = Direction::ServerToClient;
        (self.inner).result(Way::Out, sender, method, result.text(), to, self.session())
    }

    /// Who a client is, in the words of the server.
    pub(in crate::protocol) fn info_of(&self, profile: &Profile, to: Revision) -> Option<Json> {
        self.of_profile(profile, "Implementation", &profile.info, to)
    }

    /// What a client can do, in the words of the server.
    pub(in crate::protocol) fn capabilities_of(
        &self,
        profile: &Profile,
        to: Revision,
    ) -> Option<Json> {
        self.of_profile(profile, "ClientCapabilities", &profile.capabilities, to)
    }

    fn of_profile(&self, profile: &Profile, name: &str, part: &Json, to: Revision) -> Option<Json> {
        let translator = crate::protocol::translate::Translator {
            app: profile.revision.unwrap_or(self.inner.app),
            ..self.inner
        };
        translator.definition(Way::Out, name, part.text(), to, self.session())
    }

    /// A definition of the server, for the application.
    pub(in crate::protocol) fn definition_in(
        &self,
        name: &str,
        from: Revision,
        text: &str,
    ) -> Option<Json> {
        let session = self.session();
        self.inner.definition(Way::In, name, text, from, session)
    }

    /// An error that the server answered a request with.
    pub(in crate::protocol) fn error_in(
        &self,
        method: &str,
        error: ErrorObject,
        from: Revision,
    ) -> Result<(ErrorObject, Vec<Loss>), Stopped> {
        let sender = Direction::ClientToServer;
        self.inner.error(Way::In, sender, method, error, from)
    }

    /// An error that the application answers a request of the server with.
    pub(in crate::protocol) fn error_out(
        &self,
        method: &str,
        error: ErrorObject,
        to: Revision,
    ) -> ErrorObject {
        let sender = Direction::ServerToClient;
        let carried = self.inner.error(Way::Out, sender, method, error, to);
        carried.map_or_else(
            |stopped| stopped.into_error(ErrorObject::INTERNAL_ERROR),
            |(error, _)| error,
        )
    }
}
