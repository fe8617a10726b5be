//! Services of this revision: handlers of each side, what dispatches to them, and typed calls.

use mcp_wire::{Json, NoParams};

use crate::LogParams;
use mcp_wire::service;

/// What a server answers: a method for each request and each notification.
///
/// A request that is not handled is answered as one whose method is not there; a notification is left alone.
pub trait ServerHandlers<Cx: service::Context>: Sync {}

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

/// Typed calls to a server, for every [`Caller`](service::Caller) of this revision.
pub trait CallServer: service::Caller<Protocol = crate::Protocol> + Sized {}

impl<C: service::Caller<Protocol = crate::Protocol>> CallServer for C {}

/// What a client answers: a method for each request and each notification.
///
/// A request that is not handled is answered as one whose method is not there; a notification is left alone.
pub trait ClientHandlers<Cx: service::Context>: Sync {
    /// `notifications/done`: `DoneNotification`, which has no doc line yet.
    fn done(&self, params: NoParams, cx: Cx) -> impl Future<Output = ()> + Send {
        drop((params, cx));
        std::future::ready(())
    }

    /// `notifications/log`: `LogNotification`, which has no doc line yet.
    fn log(&self, params: LogParams, cx: Cx) -> impl Future<Output = ()> + Send {
        drop((params, cx));
        std::future::ready(())
    }
}

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
        match method {
            "notifications/done" => {
                service::hand_on(params, |params| handlers.done(params, cx)).await
            }
            "notifications/log" => {
                service::hand_on(params, |params| handlers.log(params, cx)).await
            }
            _ => Ok(()),
        }
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
pub trait CallClient: service::Caller<Protocol = crate::Protocol> + Sized {
    /// `notifications/done`: `DoneNotification`, which has no doc line yet.
    ///
    /// # Errors
    /// Those of the [`Caller`](service::Caller).
    fn done(
        &self,
        params: impl Into<Option<NoParams>>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.notification("notifications/done", params.into().as_ref().map(Json::of))
    }

    /// `notifications/log`: `LogNotification`, which has no doc line yet.
    ///
    /// # Errors
    /// Those of the [`Caller`](service::Caller).
    fn log(
        &self,
        params: LogParams,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.notification("notifications/log", Some(Json::of(&params)))
    }
}

impl<C: service::Caller<Protocol = crate::Protocol>> CallClient for C {}
