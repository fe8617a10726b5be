//! Typed handlers at work: each call of a client becomes one of theirs, and each notification.

use std::marker::PhantomData;
use std::sync::Arc;

use mcp_revisions_core::Spoken;
use mcp_wire::service::{Context, ServerSide, Serves};
use mcp_wire::{Direction, ErrorObject, Json};

use super::{RequestContext, trace};
use crate::Limits;
use crate::serve::{Budget, Handler, Peer, Permit, Session};
use crate::service::Error;
use crate::service::custom::Custom;
use crate::service::params::params_meant;
use crate::transport::observe;
use crate::transport::spawn::{Boxed, boxed, spawn};
use mcp_revisions_sansio::server::{
    CustomNotification, CustomRequest, Ignored, IncomingRequest, Notification,
};

/// Handlers of any type, compiled where a server is built of them: those of a [`Router`](crate::service::Router) once, in this crate.
trait AnyHandlers<Cx>: Send + Sync {
    /// As [`Serves::request`].
    fn request<'h>(
        &'h self,
        method: &'h str,
        params: &'h Json,
        cx: Cx,
    ) -> Boxed<'h, Result<Json, Error>>;

    /// As [`Serves::notification`].
    fn notification<'h>(
        &'h self,
        method: &'h str,
        params: &'h Json,
        cx: Cx,
    ) -> Boxed<'h, Result<(), mcp_wire::Error>>;
}

/// Handlers of the server's side of a protocol.
struct OfHandlers<P, H>(H, PhantomData<fn() -> P>);

impl<P, H, Cx> AnyHandlers<Cx> for OfHandlers<P, H>
where
    P: Serves<ServerSide, H, Cx>,
    H: Send + Sync,
    Cx: Context<Error = Error> + 'static,
{
    fn request<'h>(
        &'h self,
        method: &'h str,
        params: &'h Json,
        cx: Cx,
    ) -> Boxed<'h, Result<Json, Error>> {
        boxed(P::request(&self.0, method, params, cx))
    }

    fn notification<'h>(
        &'h self,
        method: &'h str,
        params: &'h Json,
        cx: Cx,
    ) -> Boxed<'h, Result<(), mcp_wire::Error>> {
        boxed(P::notification(&self.0, method, params, cx))
    }
}

/// Typed handlers as those of the endpoint, which only knows methods and JSON.
pub(super) struct TypedHandlers<App> {
    handlers: Arc<dyn AnyHandlers<RequestContext<App>>>,
    /// For the notifications that they are at; those of a faster sender are dropped.
    pub(super) room: Arc<Budget>,
    pub(super) custom: Custom<RequestContext<App>>,
}

/// The direction of what clients send.
const CLIENT: Direction = Direction::ClientToServer;

/// Number of bytes of a notification besides its params.
const EACH: usize = 1 << 10;

/// Returns the room for the notifications that handlers are at, as much as for the requests of a peer
/// ([`Limits::max_pending_bytes`]); an owner that is known may take a quarter.
pub(super) fn room(limits: &Limits) -> Arc<Budget> {
    Budget::new(limits.max_pending_bytes, 0)
}

impl<App> TypedHandlers<App> {
    /// Returns the handlers of the server's side of a protocol, with the default limits.
    pub(super) fn of<P, H>(handlers: H) -> Self
    where
        App: Spoken,
        P: Serves<ServerSide, H, RequestContext<App>> + 'static,
        H: Send + Sync + 'static,
    {
        Self {
            handlers: Arc::new(OfHandlers::<P, H>(handlers, PhantomData)),
            room: room(&Limits::default()),
            custom: Custom::default(),
        }
    }

    /// Takes room for a notification, until what this returns is dropped; `None` if there is none, which is reported.
    fn room_for(&self, method: &str, params: &Json, session: &Session) -> Option<Permit> {
        let bytes = params.text().len().saturating_add(EACH);
        let room = self.room.of(session.owner()).take(bytes).ok();
        if room.is_none() {
            observe::notification_dropped(method);
        }
        room
    }
}

impl<App: Spoken> Handler for TypedHandlers<App> {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let span = trace::span(&call, &peer);
        let (method, revision, id) = (call.method, call.revision, call.id.clone());
        // The handler may let go of its own before it is done.
        let mut held = RequestContext::call(call, peer);
        let answer = async {
            let answer = self
                .handlers
                .request(method, held.params(), held.clone())
                .await;
            let is_misread = matches!(&answer, Err(error) if error.may_be_of_params());
            let meant = is_misread.then(|| params_meant::<App>(CLIENT, method, held.params()));
            let Some((params, losses)) = meant.flatten() else {
                return answer;
            };
            (held.session()).tell_losses(method, revision, id.as_ref(), &losses);
            held = held.with_params(params);
            let answer = self.handlers.request(method, held.params(), held.clone());
            answer.await
        };
        let result = trace::within(&span, answer).await;
        match held.question() {
            Some(question) => Ok(question),
            None => {
                let answer = result.map_err(|error: Error| error.into_answer(method, revision));
                if let Err(error) = &answer {
                    trace::record_error(&span, error);
                }
                answer
            }
        }
    }

    fn notice(&self, notice: Notification, session: Session) {
        let Some(room) = self.room_for(notice.method, &notice.params, &session) else {
            return;
        };
        let handlers = Arc::clone(&self.handlers);
        spawn(async move {
            let _room = room;
            let (method, peer) = (notice.method, notice.revision);
            let cx = RequestContext::notice(notice.params, peer, session);
            let held = cx.clone();
            let Err(error) = handlers.notification(method, held.params(), cx).await else {
                return;
            };
            let Some((params, losses)) = params_meant::<App>(CLIENT, method, held.params()) else {
                let invalid = Ignored::Invalid(method.to_owned(), error.to_string());
                return held.session().leave_out(invalid);
            };
            (held.session()).tell_losses(method, peer, None, &losses);
            let again = held.with_params(params);
            let _ = (handlers.notification(method, again.params(), again.clone())).await;
        });
    }

    async fn custom_request(&self, call: CustomRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let (method, revision, params) = (call.method.clone(), call.revision, call.params.clone());
        let span = trace::span(&call, &peer);
        let answer = async {
            match (self.custom).request(&method, params, RequestContext::call(call, peer)) {
                Some(answer) => (answer.await).map_err(|error| error.into_object(revision)),
                None => Err(mcp_revisions_sansio::errors::method_not_found(
                    &method,
                    revision.lifecycle(),
                )
                .error),
            }
        };
        let answer = trace::within(&span, answer).await;
        if let Err(error) = &answer {
            trace::record_error(&span, error);
        }
        answer
    }

    fn custom_notification(&self, notice: CustomNotification, session: Session) {
        let CustomNotification {
            method,
            params,
            revision: peer,
            ..
        } = notice;
        let Some(room) = self.room_for(&method, &params, &session) else {
            return;
        };
        let cx = RequestContext::notice(params.clone(), peer, session);
        if let Some(noted) = self.custom.notification(&method, params, cx) {
            spawn(async move {
                let _room = room;
                let _ = noted.await;
            });
        }
    }
}

mcp_wire::debug_struct!([App] TypedHandlers<App>, "Typed", self);
