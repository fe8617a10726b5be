//! The handlers of a client behind its connection: requests of the server each have a task, and notifications come one
//! after the other.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_revisions_core::Spoken;
use mcp_wire::service::{ClientSide, Serves};
use mcp_wire::{Direction, ErrorObject, Json};

use super::listen::is_of_listener;
use super::{ClientContext, How, Wants};
use crate::layer::LayerMessage;
use crate::methods;
use crate::service::Error;
use crate::service::custom::Custom;
use crate::transport::client::{Application, Driver, Handle, Open, Transport, WeakHandle, drive};
use crate::transport::queue::{Queued, Receiver, Sender, queue};
use crate::transport::spawn::{Boxed, spawn};
use mcp_revisions_sansio::client::{
    Client, CustomNotification, Event, IncomingRequest, Notification, Token,
};

/// Number of bytes of a notification besides its params and its place in the queue: its task and its context.
const EACH: usize = 768;

/// A notification for the handlers.
enum Noted {
    Known(Notification),
    Custom(CustomNotification),
}

impl Queued for Noted {
    fn bytes(&self) -> usize {
        let (Self::Known(Notification { params, .. })
        | Self::Custom(CustomNotification { params, .. })) = self;
        params.text().len().saturating_add(EACH)
    }
}

/// The handlers of a client, and of its custom methods.
struct Handlers<App: Spoken, H> {
    typed: H,
    custom: Custom<ClientContext<App>>,
    /// The options of the calls of handlers.
    how: How,
}

impl<App: Spoken, H> Handlers<App, H> {
    fn context(&self, handle: Handle<Wants>) -> ClientContext<App> {
        ClientContext::new(handle, self.how.clone())
    }

    /// Passes a request of the server through the layers, to `last`.
    fn layered<M, A>(
        &self,
        call: IncomingRequest<M>,
        last: impl FnOnce(Json) -> A + Send + 'static,
    ) -> Boxed<'static, Result<Json, ErrorObject>>
    where
        M: Into<Cow<'static, str>>,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        let direction = Direction::ServerToClient;
        let message = LayerMessage::new(direction, true, call.method, call.params);
        let message = message.from_peer(Some(call.peer), Some(call.caller));
        self.how.layers.run(message, last)
    }
}

/// The application of a driven connection.
struct Typed<App: Spoken, H> {
    handlers: Arc<Handlers<App, H>>,
    /// Notifications that wait for the handlers; those of a server that sends them faster are dropped.
    noted: Sender<Noted>,
}

/// Sets a connection going.
pub(super) fn start<App: Spoken, H>(
    client: Client,
    transport: Transport,
    typed: H,
    (custom, how): (Custom<ClientContext<App>>, How),
) -> Handle<Wants>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    let handlers = Arc::new(Handlers { typed, custom, how });
    let (noted, notices) = queue(client.limits().max_pending_bytes);
    let app = Typed {
        handlers: Arc::clone(&handlers),
        noted,
    };
    let handle = drive(client, transport, app);
    spawn(note(handlers, handle.downgrade(), notices));
    handle
}

impl<App: Spoken, H> Application for Typed<App, H>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    type Call = Wants;

    fn waits_for_room(&self) -> bool {
        true
    }

    fn event(&mut self, driver: &mut Driver<Wants>, event: Event) {
        match event {
            Event::Request(call) => {
                let Some(cx) = driver.handle().map(|it| self.handlers.context(it)) else {
                    return;
                };
                let handlers = Arc::clone(&self.handlers);
                let (token, method) = (call.token, call.method);
                let answer = self.handlers.layered(call, move |params| async move {
                    let answer = <App::Protocol as Serves<ClientSide, H, _>>::request(
                        &handlers.typed,
                        method,
                        &params,
                        cx,
                    );
                    answer
                        .await
                        .map_err(|it: Error| it.into_object(App::REVISION))
                });
                driver.answer_with(token, None, answer);
            }
            Event::CustomRequest(call) => {
                let Some(cx) = driver.handle().map(|it| self.handlers.context(it)) else {
                    return;
                };
                let handlers = Arc::clone(&self.handlers);
                let (token, method) = (call.token, call.method.clone());
                let answer = self.handlers.layered(call, move |params| async move {
                    let answer = match handlers.custom.request(&method, params, cx) {
                        Some(answer) => answer.await,
                        None => Err(Error::MethodNotFound(method)),
                    };
                    answer.map_err(|it| it.into_object(App::REVISION))
                });
                driver.answer_with(token, None, answer);
            }
            Event::Notification(notice) => {
                // Before anything that may drop it.
                if let Some(cache) = &self.handlers.how.cache {
                    cache.forget(notice.method, &notice.params);
                }
                self.notice(driver, notice);
            }
            Event::Reopened(_) => {
                if let Some(cache) = &self.handlers.how.cache {
                    cache.clear();
                }
            }
            Event::CustomNotification(notice) => {
                self.noted.try_push(Noted::Custom(notice));
            }
            _ => {}
        }
    }
}

impl<App: Spoken, H> Typed<App, H> {
    /// Sends a notification to the requests that want it: the one that it is about, or those with a callback for log
    /// messages if it names none; else to the handlers.
    fn notice(&self, driver: &Driver<Wants>, notice: Notification) {
        let wants = |open: &Open<Wants>| match notice.method {
            methods::NOTIFICATIONS_PROGRESS => open.call.progress,
            methods::NOTIFICATIONS_MESSAGE => open.call.log,
            method => open.call.changes.is_some() && is_of_listener(method),
        };
        let is_log = notice.method == methods::NOTIFICATIONS_MESSAGE;
        let is_about = |token: Token| notice.about.map_or(is_log, |about| about == token);
        let mut is_wanted = false;
        for (token, open) in driver.calls() {
            if is_about(*token) && wants(open) {
                is_wanted = true;
                let is_told = driver.tell(*token, notice.method, notice.params.clone());
                if let Some(missed) = open.call.changes.as_ref().filter(|_| !is_told) {
                    missed.store(true, Ordering::Release);
                }
            }
        }
        if !is_wanted {
            self.noted.try_push(Noted::Known(notice));
        }
    }
}

/// Hands notifications to the handlers, in the order in which they came.
async fn note<App: Spoken, H>(
    handlers: Arc<Handlers<App, H>>,
    handle: WeakHandle<Wants>,
    mut notices: Receiver<Noted>,
) where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    while let Some(noted) = notices.recv().await {
        let Some(cx) = handle.upgrade().map(|it| handlers.context(it)) else {
            return;
        };
        let handlers = Arc::clone(&handlers);
        // A task of its own: a handler that panics misses no more than this one.
        let noted = spawn(async move {
            // No one waits for the outcome of a notification, be it that it cannot be read.
            match noted {
                Noted::Known(Notification { method, params, .. }) => {
                    let Some(params) = cx.client.how.admit(method, params).await else {
                        return;
                    };
                    let _ = <App::Protocol as Serves<ClientSide, H, _>>::notification(
                        &handlers.typed,
                        method,
                        &params,
                        cx,
                    )
                    .await;
                }
                Noted::Custom(CustomNotification { method, params, .. }) => {
                    let Some(params) = cx.client.how.admit(&method, params).await else {
                        return;
                    };
                    if let Some(noted) = handlers.custom.notification(&method, params, cx) {
                        let _ = noted.await;
                    }
                }
            }
        });
        let _ = noted.await;
    }
}
