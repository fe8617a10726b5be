//! Translations of a client beside its messages: its identity, and the reasons why a request or its response got no further.

use mcp_revisions_core::{Loss, Revision, Severity, Subject};
use mcp_wire::Json;

use crate::lost::Stopped;
use crate::translate::{TextDirection, Translator};
use crate::{Failure, Profile};
use mcp_wire::meta;

/// The members about the sender, in each request of a client of the per-request lifecycle.
const CLAIMS: [&str; 3] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
];

/// Returns the losses without what a request of the per-request lifecycle says of its sender: the receiver learns that once, by
/// the handshake, or beside the params.
pub(crate) fn without_claims(mut losses: Vec<Loss>) -> Vec<Loss> {
    losses.retain(|loss| !CLAIMS.iter().any(|claim| loss.is_at(&["_meta", claim])));
    losses
}

impl Translator {
    /// Translates who an end is.
    pub(crate) fn info_of(&self, profile: &Profile, peer: Revision) -> Option<Json> {
        self.part_of(profile, "Implementation", profile.info(), peer)
    }

    /// Translates what a client can do.
    pub(crate) fn capabilities_of(&self, profile: &Profile, peer: Revision) -> Option<Json> {
        self.part_of(profile, "ClientCapabilities", profile.capabilities(), peer)
    }

    fn part_of(&self, profile: &Profile, name: &str, part: &Json, peer: Revision) -> Option<Json> {
        let translator = Self {
            app: profile.revision().unwrap_or(self.app),
            ..self.clone()
        };
        translator.definition(name, part, peer)
    }

    /// Translates a value of a definition that stands in what a server says of itself, and tells what was not valid in it.
    pub(crate) fn facts(
        &self,
        method: &str,
        name: &str,
        value: &Json,
        peer: Revision,
    ) -> Result<Json, Stopped> {
        if peer.same_types(self.app) {
            return Ok(value.clone());
        }
        let context = self.context(self.session.as_ref());
        let carried = self.convert(
            context,
            TextDirection::In,
            Subject::Type(name),
            value.text(),
            peer,
        );
        let (json, mut losses) = carried?;
        losses.retain(|loss| loss.severity() == Severity::Invalid);
        self.on_loss.tell_losses(method, peer, None, &losses);
        Ok(json)
    }

    /// Translates a value of a definition that no method names, for a peer.
    fn definition(&self, name: &str, value: &Json, peer: Revision) -> Option<Json> {
        if peer.same_types(self.app) {
            return Some(value.clone());
        }
        let context = self.context(self.session.as_ref());
        let carried = self.convert(
            context,
            TextDirection::Out,
            Subject::Type(name),
            value.text(),
            peer,
        );
        carried.ok().map(|(json, _)| json)
    }
}

impl Failure {
    /// Returns why a request could not be sent.
    pub(super) fn of_params(stopped: Stopped) -> Self {
        match stopped {
            Stopped::RequiresState(needs) => Self::NeedsAdapter(needs),
            Stopped::Rejected(rejected) => Self::Rejected(rejected.error),
            Stopped::Dropped(rule) => Self::UnknownMethod(format!(
                "the server's revision has no such notification ({rule})"
            )),
            Stopped::Invalid(mistake) => Self::InvalidParams(mistake.error),
            Stopped::Unknown(what) => Self::UnknownMethod(what),
        }
    }

    /// Returns why the answer to a request could not be read.
    pub(super) fn of_result(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Invalid(mistake) => Self::InvalidResult(mistake.error.to_string()),
            Stopped::Unknown(what) => Self::InvalidResult(what),
            other => Self::of_params(other),
        }
    }
}
