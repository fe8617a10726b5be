//! Services of this revision: handlers of each side, what dispatches to them, and typed calls.

use mcp_wire::{Json, NoParams};

use crate::RunOutcome;
use mcp_wire::service;

/// What a server answers: a method for each request and each notification.
///
/// A request that is not handled is answered as one whose method is not there; a notification is left alone.
pub trait ServerHandlers<Cx: service::Context>: Sync {
    /// `run/now`: `RunRequest`, which has no doc line yet.
    fn run(
        &self,
        params: NoParams,
        cx: Cx,
    ) -> impl Future<Output = Result<RunOutcome, Cx::Error>> + Send {
        drop((params, cx));
        service::absent("run/now")
    }
}

/// Handles nothing.
impl<Cx: service::Context> ServerHandlers<Cx> for () {}

impl<
    H: ServerHandlers<Cx> + ?Sized,
    Cx: service::Context,
> service::Serves<service::ServerSide, H, Cx> for crate::Protocol {
    async fn request(
        handlers: &H,
        method: &str,
        params: &Json,
        cx: Cx,
    ) -> Result<Json, Cx::Error> {
        match method {
            "run/now" => service::answer(params, |params| handlers.run(params, cx)).await,
            _ => service::absent(method).await,
        }
    }

    async fn notification(
        handlers: &H,
        method: &str,
        params: &Json,
        cx: Cx,
    ) -> Result<(), mcp_wire::Error> {
        drop((handlers, method, params, cx));
        Ok(())
    }

    fn implemented() -> Vec<&'static str>
    where
        H: Sized + 'static,
        Cx: 'static,
    {
        [service::implemented("run/now", H::run)].into_iter().flatten().collect()
    }
}

/// Typed calls to a server, for every [`Caller`](service::Caller) of this revision.
pub trait CallServer: service::Caller<Protocol = crate::Protocol> + Sized {
    /// `run/now`: `RunRequest`, which has no doc line yet.
    ///
    /// # Errors
    /// The peer's own, those of the [`Caller`](service::Caller), and a result that is not of the type.
    fn run(
        &self,
        params: impl Into<Option<NoParams>>,
    ) -> impl Future<Output = Result<RunOutcome, Self::Error>> + Send {
        service::call(self, "run/now", params.into().as_ref().map(Json::of))
    }
}

impl<C: service::Caller<Protocol = crate::Protocol>> CallServer for C {}

/// What a client answers: a method for each request and each notification.
///
/// A request that is not handled is answered as one whose method is not there; a notification is left alone.
pub trait ClientHandlers<Cx: service::Context>: Sync {}

/// Handles nothing.
impl<Cx: service::Context> ClientHandlers<Cx> for () {}

impl<
    H: ClientHandlers<Cx> + ?Sized,
    Cx: service::Context,
> service::Serves<service::ClientSide, H, Cx> for crate::Protocol {
    async fn request(
        handlers: &H,
        method: &str,
        params: &Json,
        cx: Cx,
    ) -> Result<Json, Cx::Error> {
        drop((handlers, params, cx));
        service::absent(method).await
    }

    async fn notification(
        handlers: &H,
        method: &str,
        params: &Json,
        cx: Cx,
    ) -> Result<(), mcp_wire::Error> {
        drop((handlers, method, params, cx));
        Ok(())
    }

    fn implemented() -> Vec<&'static str>
    where
        H: Sized + 'static,
        Cx: 'static,
    {
        Vec::new()
    }
}

/// Typed calls to a client, for every [`Caller`](service::Caller) of this revision.
pub trait CallClient: service::Caller<Protocol = crate::Protocol> + Sized {}

impl<C: service::Caller<Protocol = crate::Protocol>> CallClient for C {}
