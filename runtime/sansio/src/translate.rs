//! Texts on their way between the application's revision and a peer's, for both ends and both directions.
//!
//! A text of the application's own revision is handed on as it is: who reads it, checks it.
//!
//! Inside an endpoint each method has the name that the application's revision has for it; a peer's name for it stands
//! on the wire alone, and [`Translator::app_name`] and [`Translator::peer_name`] lead from the one to the other.

use std::sync::Arc;

use mcp_revisions_core::{
    Adapter, Context, Failure, Outcome, Part, Revision, Session, Subject, UnknownFields,
};
use mcp_wire::{Direction, ErrorObject, Json, MethodKind, RequestId};

use crate::errors;
use crate::lost::{LossHook, MessageMistake, Stopped, Translated};
use mcp_revisions_core::methods;
use mcp_revisions_core::{find_method, has_method, known_method};

/// The translations of one end: between its application and its peers.
#[derive(Debug, Clone)]
pub(crate) struct Translator {
    pub(crate) app: Revision,
    pub(crate) policy: UnknownFields,
    /// The direction of this end's requests.
    pub(crate) own: Direction,
    /// The client's description of itself, in the latest revision: for its requests on the way up.
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) on_loss: LossHook,
}

/// The direction of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextDirection {
    /// From the peer to the application.
    In,
    /// From the application to the peer.
    Out,
}

/// The params that a message without any stands for.
pub(crate) const NO_PARAMS: &str = "{}";

/// Returns `{}`.
pub fn no_params() -> Json {
    Json::from_text(NO_PARAMS).unwrap_or_default()
}

impl Translator {
    /// Creates the translations of an end whose requests go this way.
    pub(crate) fn new(app: Revision, own: Direction) -> Self {
        Self {
            app,
            policy: UnknownFields::Drop,
            own,
            session: None,
            on_loss: LossHook::default(),
        }
    }

    /// Returns whether messages of a method pass between the application and this peer as they are: no revision has the
    /// method, or the peer speaks the revision of the application and that revision lacks it. Without a peer, the revision of
    /// the application decides.
    pub(crate) fn passes_as_is(&self, method: &str, peer: Option<Revision>) -> bool {
        let speaks_as_app = || peer.is_none_or(|peer| peer.same_types(self.app));
        known_method(method).is_none() || (!has_method(self.app, method) && speaks_as_app())
    }

    /// Returns what the application's revision calls a method that a peer names, of those that the peer sends.
    pub(crate) fn app_name<'m>(&self, method: &'m str, peer: Revision) -> &'m str {
        mcp_revisions_core::method_name(method, self.own.back(), peer, self.app)
    }

    /// Returns what a peer's revision calls a method of the application, of those that this end sends.
    pub(crate) fn peer_name<'m>(&self, method: &'m str, peer: Revision) -> &'m str {
        self.name_in(peer, method, self.own)
    }

    /// Returns what a peer's revision calls a method of the application; `sender` is who sends its requests.
    pub(crate) fn name_in<'m>(
        &self,
        peer: Revision,
        method: &'m str,
        sender: Direction,
    ) -> &'m str {
        mcp_revisions_core::method_name(method, sender, self.app, peer)
    }

    /// Returns whether a revision answers a client's request of that method with `input_required` where it wants to know more.
    pub(crate) fn may_ask_back(&self, revision: Revision, method: &str) -> bool {
        let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
        let name = self.name_in(revision, method, sender);
        find_method(revision, name, sender, kind).is_some_and(|row| row.input_required)
    }

    /// Translates the params of a request or a notification.
    pub(crate) fn params(
        &self,
        way: TextDirection,
        method: &str,
        params: &Json,
        peer: Revision,
    ) -> Translated<Json> {
        if peer.same_types(self.app) {
            return Ok((params.clone(), Vec::new()));
        }
        let context = || self.context(self.session.as_ref());
        self.convert_params(way, method, params.text(), peer, &context)
    }

    /// Converts params between revisions that differ, in a context of this kind.
    pub(crate) fn convert_params(
        &self,
        way: TextDirection,
        method: &str,
        text: &str,
        peer: Revision,
        context: &dyn Fn() -> Context,
    ) -> Translated<Json> {
        let (from, to) = self.ends(way, peer);
        let sender = match way {
            TextDirection::In => self.own.back(),
            TextDirection::Out => self.own,
        };
        let called = |revision| self.name_in(revision, method, sender);
        let subject = Subject::Method(called(from), Part::Params, Some(sender));
        let carried = self.convert(context(), way, subject, text, peer);
        let Err(Stopped::RequiresState(needs)) = &carried else {
            return carried;
        };
        // No later message names the id, for the sender has none: any id that is unique will do.
        if needs.adapter == Adapter::UrlElicitationId
            && let Some(id) = unguessable()
        {
            let context = context().with_supplied(needs.adapter, Json::of(&*id));
            return self.convert(context, way, subject, text, peer);
        }
        // An unasked message of an older server goes to the receiver that the endpoint chooses: it keeps the streams.
        let unasked = matches!(needs.adapter, Adapter::Subscription | Adapter::LogLevel)
            && needs.pointer.is_empty()
            && method != methods::NOTIFICATIONS_CANCELLED;
        let kind = MethodKind::Notification;
        let named = |revision| find_method(revision, called(revision), sender, kind);
        let both = named(from).filter(|_| named(to).is_some());
        match both.and_then(|row| row.params) {
            Some(ty) if unasked => self.convert(context(), way, Subject::Type(ty), text, peer),
            _ => carried,
        }
    }

    /// Translates the result of a request: one that goes out answers a request of the peer.
    pub(crate) fn result(
        &self,
        way: TextDirection,
        method: &str,
        result: &Json,
        peer: Revision,
    ) -> Translated<Json> {
        if peer.same_types(self.app) {
            return Ok((result.clone(), Vec::new()));
        }
        let sender = self.asker(way);
        let called = self.name_in(self.ends(way, peer).0, method, sender);
        let subject = Subject::Method(called, Part::Result, Some(sender));
        let context = self.context(self.session.as_ref());
        self.convert(context, way, subject, result.text(), peer)
    }

    /// Translates the error that answers a request.
    pub(crate) fn error(
        &self,
        way: TextDirection,
        method: &str,
        error: ErrorObject,
        peer: Revision,
    ) -> Translated<ErrorObject> {
        let (mut from, to) = self.ends(way, peer);
        // The endpoint says it so, whatever the application speaks.
        if way == TextDirection::Out && is_missing_capability(&error) {
            from = Revision::LATEST;
        }
        if from.same_types(to) {
            return Ok((error, Vec::new()));
        }
        carried(mcp_revisions_core::convert_error(
            self.name_in(from, method, self.asker(way)),
            from,
            to,
            error,
            Context::new(self.policy),
        ))
    }

    /// Returns the error of the application that answers a request of the peer, in the peer's revision, or why it has none.
    pub(crate) fn error_out(
        &self,
        method: &str,
        error: ErrorObject,
        peer: Revision,
    ) -> ErrorObject {
        let carried = self.error(TextDirection::Out, method, error, peer);
        carried.map_or_else(
            |stopped| stopped.into_error(ErrorObject::INTERNAL_ERROR),
            |(error, _)| error,
        )
    }

    /// Does the same as [`params`](Self::params), and tells what was lost of the message, which is or belongs to `request`.
    pub(crate) fn params_told(
        &self,
        way: TextDirection,
        method: &str,
        params: &Json,
        peer: Revision,
        request: Option<&RequestId>,
    ) -> Translated<Json> {
        let carried = self.params(way, method, params, peer);
        self.on_loss.tell(method, peer, request, &carried);
        carried
    }

    /// Does the same as [`result`](Self::result), and tells what was lost in the answer to `request`.
    pub(crate) fn result_told(
        &self,
        way: TextDirection,
        method: &str,
        result: &Json,
        peer: Revision,
        request: Option<&RequestId>,
    ) -> Translated<Json> {
        let carried = self.result(way, method, result, peer);
        self.on_loss.tell(method, peer, request, &carried);
        carried
    }

    /// Translates what the peer answers to a request of this end, which is read even where it need not be converted.
    pub(crate) fn answer_told(
        &self,
        method: &str,
        answer: &Json,
        peer: Revision,
    ) -> Translated<Json> {
        if peer.same_types(self.app) {
            let subject = Subject::Method(method, Part::Result, Some(self.own));
            self.convert(
                self.context(None),
                TextDirection::In,
                subject,
                answer.text(),
                peer,
            )?;
        }
        self.result_told(TextDirection::In, method, answer, peer, None)
    }

    /// Returns who sends the requests that are answered this way.
    fn asker(&self, way: TextDirection) -> Direction {
        match way {
            TextDirection::In => self.own,
            TextDirection::Out => self.own.back(),
        }
    }

    fn ends(&self, way: TextDirection, peer: Revision) -> (Revision, Revision) {
        match way {
            TextDirection::In => (peer, self.app),
            TextDirection::Out => (self.app, peer),
        }
    }

    /// Returns what a conversion works in.
    pub(crate) fn context(&self, session: Option<&Arc<Session>>) -> Context {
        let context = Context::new(self.policy);
        match session {
            Some(session) => context.with_session(Arc::clone(session)),
            None => context,
        }
    }

    pub(super) fn convert(
        &self,
        context: Context,
        way: TextDirection,
        subject: Subject<'_>,
        text: &str,
        peer: Revision,
    ) -> Translated<Json> {
        let (from, to) = self.ends(way, peer);
        match mcp_revisions_core::convert(subject, from, to, text, context) {
            Ok(outcome) => carried(outcome),
            Err(Failure::Invalid(error)) => Err(Stopped::Invalid(Box::new(MessageMistake::new(
                subject, error,
            )))),
            Err(Failure::Unknown(what)) => Err(Stopped::Unknown(what)),
        }
    }
}

/// Returns 128 random bits as visible ASCII, which cannot be guessed; `None` if the system gives no randomness.
pub fn unguessable() -> Option<Arc<str>> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
    Some(hex.collect::<String>().into())
}

fn carried<T>(outcome: Outcome<T>) -> Translated<T> {
    Err(match outcome {
        Outcome::Exact(value) => return Ok((value, Vec::new())),
        Outcome::Reversible(value, losses) | Outcome::Lossy(value, losses) => {
            return Ok((value, losses));
        }
        Outcome::RequiresState(needs) => Stopped::RequiresState(needs),
        Outcome::Rejected(rejected) => Stopped::Rejected(Box::new(rejected)),
        Outcome::Dropped(dropped) => Stopped::Dropped(dropped.rule),
    })
}

/// Returns whether an error says which capabilities a request needs of its client, in the words of the latest revision.
fn is_missing_capability(error: &ErrorObject) -> bool {
    let required = |data: &Json| data.text().contains("\"requiredCapabilities\"");
    error.code.as_i64() == Some(errors::MISSING_CLIENT_CAPABILITY)
        && error.data.as_ref().is_some_and(required)
}
