//! Conversions between an application's revision and that of its peer, in both directions, for the connections of
//! `mcp-revisions-sansio`. Other programs use [`Front`](crate::Front) and [`convert_message`](crate::convert_message).
//!
//! A text of the application's own revision is not converted: its reader checks it.
//!
//! Inside an endpoint each method has its name in the application's revision, and on the wire that of the peer's.
//! [`Translator::app_name`] and [`Translator::peer_name`] convert the names.

use std::sync::Arc;

use mcp_revisions_tables::{
    Adapter, Context, Loss, Part, Revision, Session, Severity, Subject, UnknownFields, methods,
};
use mcp_wire::{Direction, ErrorObject, Json, MethodKind, RequestId};

use crate::diagnostic::{Conversion, ConversionError, conversion};
use crate::errors;
pub use crate::front::other_spelling;
use crate::losses::{LossHook, MessageLosses, PeerRole, refused};
pub use crate::negotiate::{is_handshake, takes_session_operations};
use crate::profile::Profile;
use crate::route::Route;
use crate::rows::extension_of_others;
pub use crate::rows::{find_method, has_method, known_method};

/// The conversions of an endpoint. It holds the revision of the application, the policies for losses, and the facts of the session.
#[derive(Debug, Clone)]
pub struct Translator {
    /// The revision of the application.
    pub app: Revision,
    /// The direction of this end's requests.
    pub own: Direction,
    /// The policy for fields that an older revision does not name.
    pub policy: UnknownFields,
    /// The client's identity and capabilities, in the latest revision, for its requests on the way up.
    pub session: Option<Arc<Session>>,
    /// The hook for messages that lost something.
    pub on_loss: LossHook,
    /// The least severity of a loss that refuses a request or a response; `None` refuses none.
    pub rejected: Option<Severity>,
    /// The source of ids that no later message names; it may have none.
    pub fresh_id: fn() -> Option<Arc<str>>,
}

/// The direction of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextDirection {
    /// From the peer to the application.
    In,
    /// From the application to the peer.
    Out,
}

/// The params of a message that has none.
pub const NO_PARAMS: &str = "{}";

impl Translator {
    /// Creates the conversions of an endpoint whose requests have this direction.
    pub fn new(app: Revision, own: Direction) -> Self {
        Self {
            app,
            own,
            policy: UnknownFields::Drop,
            session: None,
            on_loss: LossHook::default(),
            rejected: None,
            fresh_id: || None,
        }
    }

    /// Returns whether messages of a method pass between the application and this peer as they are: no revision has the
    /// method, or the peer speaks the revision of the application and that revision lacks it. Without a peer, the revision of
    /// the application decides. Those of an extension do not pass to a peer whose lifecycle does not have it.
    pub fn passes_as_is(&self, method: &str, peer: Option<Revision>) -> bool {
        let speaks_as_app = || peer.is_none_or(|peer| peer.same_types(self.app));
        let is_of_app = || !has_method(self.app, method) && speaks_as_app();
        (known_method(method).is_none() || is_of_app())
            && extension_of_others(peer.unwrap_or(self.app), method).is_none()
    }

    /// Returns the name in the application's revision of a method that a peer names, of those that the peer sends.
    pub fn app_name<'m>(&self, method: &'m str, peer: Revision) -> &'m str {
        mcp_revisions_tables::values::method_name(method, self.own.back(), peer, self.app)
    }

    /// Returns the name in a peer's revision of a method of the application, of those that this end sends.
    pub fn peer_name<'m>(&self, method: &'m str, peer: Revision) -> &'m str {
        self.name_in(peer, method, self.own)
    }

    /// Returns the name in a peer's revision of a method of the application; `sender` sends its requests.
    pub fn name_in<'m>(&self, peer: Revision, method: &'m str, sender: Direction) -> &'m str {
        mcp_revisions_tables::values::method_name(method, sender, self.app, peer)
    }

    /// Returns whether a server of a revision may answer a request of that method with `input_required`.
    pub fn may_ask_back(&self, revision: Revision, method: &str) -> bool {
        let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
        let name = self.name_in(revision, method, sender);
        find_method(revision, name, sender, kind).is_some_and(|row| row.input_required)
    }

    /// Converts the params of a request or a notification. Returns an error for params that are not valid, and for a message
    /// that the other revision does not have.
    pub fn params(
        &self,
        way: TextDirection,
        method: &str,
        params: &Json,
        peer: Revision,
    ) -> Conversion<Json> {
        if peer.same_types(self.app) {
            return Ok((params.clone(), Vec::new()));
        }
        let context = || self.context(self.session.as_ref());
        self.convert_params(way, method, params.text(), peer, &context)
    }

    /// Converts params between revisions that differ, in this context. Fails as [`params`](Self::params).
    pub fn convert_params(
        &self,
        way: TextDirection,
        method: &str,
        text: &str,
        peer: Revision,
        context: &dyn Fn() -> Context,
    ) -> Conversion<Json> {
        if known_method(method).is_none()
            && let Some(extension) = extension_of_others(peer, method)
        {
            return Err(ConversionError::Unknown(format!(
                "`{method}` is of the extension `{extension}`, which peers of {peer} do not have"
            )));
        }
        let (from, to) = self.ends(way, peer);
        let sender = self.requester(way).back();
        let called = |revision| self.name_in(revision, method, sender);
        let subject = Subject::Method(called(from), Part::Params, Some(sender));
        let route = Route::between(from, to)?;
        let converted = route.convert(subject, text, context());
        let Err(ConversionError::RequiresState(needs)) = &converted else {
            return converted;
        };
        // The sender has no id, so that no later message names it: any unique one will do.
        if needs.adapter == Adapter::UrlElicitationId
            && let Some(id) = (self.fresh_id)()
        {
            let context = context().with_supplied(needs.adapter, Json::of(&*id));
            return route.convert(subject, text, context);
        }
        // The endpoint chooses the stream of an older server's notification.
        let unasked = matches!(needs.adapter, Adapter::Subscription | Adapter::LogLevel)
            && needs.pointer.is_empty()
            && method != methods::NOTIFICATIONS_CANCELLED;
        let kind = MethodKind::Notification;
        let named = |revision| find_method(revision, called(revision), sender, kind);
        let both = named(from).filter(|_| named(to).is_some());
        match both.and_then(|row| row.params) {
            Some(ty) if unasked => route.convert(Subject::Type(ty), text, context()),
            _ => converted,
        }
    }

    /// Converts the result of a request: one that goes out answers a request of the peer. Returns an error for a result that is
    /// not valid, and for one that the other revision does not have.
    pub fn result(
        &self,
        way: TextDirection,
        method: &str,
        result: &Json,
        peer: Revision,
    ) -> Conversion<Json> {
        if peer.same_types(self.app) {
            return Ok((result.clone(), Vec::new()));
        }
        let sender = self.requester(way);
        let (from, to) = self.ends(way, peer);
        let called = self.name_in(from, method, sender);
        let subject = Subject::Method(called, Part::Result, Some(sender));
        let context = self.context(self.session.as_ref());
        Route::between(from, to)?.convert(subject, result.text(), context)
    }

    /// Converts the error that answers a request. Returns an error if an adapter has to convert it.
    pub fn error(
        &self,
        way: TextDirection,
        method: &str,
        error: ErrorObject,
        peer: Revision,
    ) -> Conversion<ErrorObject> {
        let (mut from, to) = self.ends(way, peer);
        // The endpoint itself writes this error, in the latest revision.
        let code = error.code.as_i64();
        if way == TextDirection::Out
            && code == Some(errors::MISSING_CLIENT_CAPABILITY)
            && (error.data.as_ref())
                .is_some_and(|it| it.text().contains("\"requiredCapabilities\""))
        {
            from = Revision::LATEST;
        }
        if from.same_types(to) {
            return Ok((error, Vec::new()));
        }
        let method = self.name_in(from, method, self.requester(way));
        Route::between(from, to)?.convert_error(method, error, Context::new(self.policy))
    }

    /// Converts the error of the application that answers a request of the peer. If it cannot be converted, returns the error that says so.
    pub fn error_out(&self, method: &str, error: ErrorObject, peer: Revision) -> ErrorObject {
        let converted = self.error(TextDirection::Out, method, error, peer);
        converted.map_or_else(
            |why| why.into_error(ErrorObject::INTERNAL_ERROR),
            |(error, _)| error,
        )
    }

    /// Converts [params](Self::params), and [reports](Self::report) the losses of the message, which is `request` or belongs to
    /// it. Fails as [`params`](Self::params), and a loss that is not accepted.
    pub fn params_told(
        &self,
        way: TextDirection,
        method: &str,
        params: &Json,
        peer: Revision,
        request: Option<&RequestId>,
    ) -> Conversion<Json> {
        let converted = self.params(way, method, params, peer);
        self.report(method, peer, request, converted)
    }

    /// Converts a [result](Self::result), and [reports](Self::report) the losses of the response to `request`. Fails as
    /// [`result`](Self::result), and a loss that is not accepted.
    pub fn result_told(
        &self,
        way: TextDirection,
        method: &str,
        result: &Json,
        peer: Revision,
        request: Option<&RequestId>,
    ) -> Conversion<Json> {
        let converted = self.result(way, method, result, peer);
        self.report(method, peer, request, converted)
    }

    /// Converts the result of the peer for a request of this endpoint. It is read even if it need not be converted. Fails as
    /// [`result_told`](Self::result_told).
    pub fn answer_told(&self, method: &str, answer: &Json, peer: Revision) -> Conversion<Json> {
        if peer.same_types(self.app) {
            let subject = Subject::Method(method, Part::Result, Some(self.own));
            read_part(subject, peer, answer.text())?;
        }
        self.result_told(TextDirection::In, method, answer, peer, None)
    }

    /// Converts a value of a definition, such as the capabilities of a peer, without the policy for losses. Returns an error
    /// for a value that is not valid.
    pub fn definition(
        &self,
        way: TextDirection,
        name: &str,
        value: &Json,
        peer: Revision,
    ) -> Conversion<Json> {
        if peer.same_types(self.app) {
            return Ok((value.clone(), Vec::new()));
        }
        let (from, to) = self.ends(way, peer);
        let context = self.context(self.session.as_ref());
        Route::between(from, to)?.convert(Subject::Type(name), value.text(), context)
    }

    /// Converts the `Implementation` of a profile for a peer.
    pub fn info_of(&self, profile: &Profile, peer: Revision) -> Option<Json> {
        self.part_of(profile, "Implementation", profile.info(), peer)
    }

    /// Converts the `ClientCapabilities` of a profile for a peer.
    pub fn capabilities_of(&self, profile: &Profile, peer: Revision) -> Option<Json> {
        self.part_of(profile, "ClientCapabilities", profile.capabilities(), peer)
    }

    fn part_of(&self, profile: &Profile, name: &str, part: &Json, peer: Revision) -> Option<Json> {
        let of = profile.revision().unwrap_or(self.app);
        if of.same_types(peer) {
            return Some(part.clone());
        }
        let context = self.context(self.session.as_ref());
        let route = Route::between(of, peer).ok()?;
        let (json, _) = (route.convert(Subject::Type(name), part.text(), context)).ok()?;
        Some(json)
    }

    /// Returns the conversion of a request or a response. Returns its error, or an error for a loss that is not accepted.
    pub fn checked<T>(&self, method: &str, converted: Conversion<T>) -> Conversion<T> {
        let least = self
            .rejected
            .filter(|_| !method.starts_with("notifications/"));
        if let (Ok((_, losses)), Some(least)) = (&converted, least)
            && let Some(rejected) = refused(losses, least)
        {
            return Err(ConversionError::Rejected(Box::new(rejected)));
        }
        converted
    }

    /// Calls the hook with the losses of a message, and returns its conversion. Fails as [`checked`](Self::checked).
    #[inline]
    pub fn report<T>(
        &self,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        converted: Conversion<T>,
    ) -> Conversion<T> {
        // Most messages lose nothing: their way is short.
        if matches!(&converted, Ok((_, losses)) if losses.is_empty()) {
            return converted;
        }
        let converted = self.checked(method, converted);
        self.tell(method, peer, request, &converted);
        converted
    }

    /// Calls the hook with the losses of a message, or with a message that the other revision does not have. An adapter takes over
    /// one that requires state, and one that is not valid is a mistake of its sender, and no loss.
    pub fn tell<T>(
        &self,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        checked: &Conversion<T>,
    ) {
        let (losses, undelivered): (&[Loss], _) = match checked {
            Ok((_, losses)) => (losses, None),
            Err(error @ (ConversionError::Rejected(_) | ConversionError::Dropped(_))) => {
                (&[], Some(error))
            }
            Err(_) => return,
        };
        self.on_loss.call(&MessageLosses {
            peer: self.peer(),
            revision: peer,
            method,
            request,
            losses,
            undelivered,
        });
    }

    /// Calls the hook with the losses of a message.
    pub fn tell_losses(
        &self,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        losses: &[Loss],
    ) {
        (self.on_loss).tell_losses(self.peer(), method, peer, request, losses);
    }

    fn peer(&self) -> PeerRole {
        match self.own {
            Direction::ClientToServer => PeerRole::Server,
            Direction::ServerToClient => PeerRole::Client,
        }
    }

    /// Returns the sender of the requests whose answers have this direction.
    fn requester(&self, way: TextDirection) -> Direction {
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

    /// Returns the context of a conversion.
    pub fn context(&self, session: Option<&Arc<Session>>) -> Context {
        let context = Context::new(self.policy);
        match session {
            Some(session) => context.with_session(Arc::clone(session)),
            None => context,
        }
    }
}

/// Reads a part of a message of a revision as a conversion does, and mends its mistakes, which are among the losses. Returns an
/// error for a text that is not valid.
pub fn read_part(subject: Subject<'_>, of: Revision, text: &str) -> Conversion<Json> {
    let read = mcp_revisions_tables::values::convert(subject, of, of, text, Context::default());
    conversion(read.map_err(|failure| ConversionError::of_subject(subject, failure))?)
}
