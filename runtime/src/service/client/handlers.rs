//! The handlers of a client behind its connection: requests of the server each have a task, and notifications come one
//! after the other.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_revisions_core::Spoken;
use mcp_wire::service::{ClientSide, Serves};
use mcp_wire::{Direction, ErrorObject, Json};

use super::listen::is_of_listener;
use super::{CallOptions, ClientContext, Wants};
use crate::layer::LayerMessage;
use crate::service::Error;
use crate::service::custom::Custom;
use crate::service::params::params_meant;
use crate::transport::client::{
    Application, Driver, Handle, OpenCall, Transport, WeakHandle, drive,
};
use crate::transport::observe;
use crate::transport::queue::{QueueReceiver, QueueSender, Queued, queue};
use crate::transport::spawn::{Boxed, boxed, spawn};
use mcp_revisions_core::methods;
use mcp_revisions_sansio::PeerRole;
use mcp_revisions_sansio::client::{
    Client, CustomNotification, Event, Ignored, IncomingRequest, Notification, Token,
};

/// Number of bytes of a notification besides its params and its place in the queue: its task and its context.
const EACH: usize = 768;

/// The direction of what servers send.
const SERVER: Direction = Direction::ServerToClient;

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
    how: CallOptions,
}

impl<App: Spoken, H> Handlers<App, H> {
    fn context(&self, handle: Handle<Wants>) -> ClientContext<App> {
        ClientContext::new(handle, self.how.clone())
    }

    /// Passes a request of the server through the layers, to `last`.
    fn layered<M, A>(
        &self,
        mut call: IncomingRequest<M>,
        last: impl Fn(IncomingRequest<M>) -> A + Send + Sync + 'static,
    ) -> Boxed<'static, Result<Json, ErrorObject>>
    where
        M: Clone + Into<Cow<'static, str>> + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        if self.how.layers.is_empty() {
            return boxed(last(call));
        }
        let (method, params) = (call.method.clone(), std::mem::take(&mut call.params));
        let message = LayerMessage::new(SERVER, true, method, params)
            .with_sender(Some(call.revision), Some(Arc::clone(&call.caller)));
        self.how.layers.run(message, move |message| {
            let mut forwarded = call.clone();
            forwarded.params = message.into_params();
            last(forwarded)
        })
    }
}

impl<App: Spoken, H> Handlers<App, H>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    /// Answers a request. Params that are not of their type are read as they were meant.
    async fn answer(&self, handle: Handle<Wants>, call: IncomingRequest) -> Result<Json, Error> {
        let method = call.method;
        let request = |params, cx| {
            <App::Protocol as Serves<ClientSide, H, _>>::request(&self.typed, method, params, cx)
        };
        let answer = request(&call.params, self.context(handle.clone())).await;
        let is_misread = matches!(&answer, Err(error) if error.may_be_of_params());
        let meant = is_misread.then(|| params_meant::<App>(SERVER, method, &call.params));
        let Some((params, losses)) = meant.flatten() else {
            return answer;
        };
        (self.how.on_loss).tell_losses(
            PeerRole::Server,
            method,
            call.revision,
            call.id.as_ref(),
            &losses,
        );
        request(&params, self.context(handle)).await
    }

    /// Hands a notification on that the layers forward; reports one that cannot be read.
    async fn note(&self, handle: Handle<Wants>, notice: Notification) {
        let Notification {
            method,
            params,
            revision: peer,
            ..
        } = notice;
        let Some(params) = self.how.admit(method, params).await else {
            return;
        };
        let note = |params, cx| {
            <App::Protocol as Serves<ClientSide, H, _>>::notification(
                &self.typed,
                method,
                params,
                cx,
            )
        };
        let Err(error) = note(&params, self.context(handle.clone())).await else {
            return;
        };
        let Some((params, losses)) = params_meant::<App>(SERVER, method, &params) else {
            return handle.leave_out(Ignored::Invalid(method.to_owned(), error.to_string()));
        };
        (self.how.on_loss).tell_losses(PeerRole::Server, method, peer, None, &losses);
        let _ = note(&params, self.context(handle)).await;
    }
}

/// The application of a driven connection.
struct TypedApplication<App: Spoken, H> {
    handlers: Arc<Handlers<App, H>>,
    /// Notifications that wait for the handlers; those of a server that sends them faster are dropped.
    noted: QueueSender<Noted>,
}

/// Sets a connection going.
pub(super) fn start<App: Spoken, H>(
    client: Client,
    transport: Transport,
    typed: H,
    (custom, how): (Custom<ClientContext<App>>, CallOptions),
) -> Handle<Wants>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    let handlers = Arc::new(Handlers { typed, custom, how });
    let (noted, notices) = queue(client.limits().max_pending_bytes);
    let app = TypedApplication {
        handlers: Arc::clone(&handlers),
        noted,
    };
    let handle = drive(client, transport, app);
    spawn(note(handlers, handle.downgrade(), notices));
    handle
}

impl<App: Spoken, H> Application for TypedApplication<App, H>
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
                let Some(handle) = driver.handle() else {
                    return;
                };
                let handlers = Arc::clone(&self.handlers);
                let token = call.token;
                let answer = self.handlers.layered(call, move |call| {
                    let (handlers, handle) = (Arc::clone(&handlers), handle.clone());
                    async move {
                        let answer = handlers.answer(handle, call).await;
                        answer.map_err(|it| it.into_object(App::REVISION))
                    }
                });
                driver.answer_with(token, None, answer);
            }
            Event::CustomRequest(call) => {
                let Some(handle) = driver.handle() else {
                    return;
                };
                let handlers = Arc::clone(&self.handlers);
                let token = call.token;
                let answer = self.handlers.layered(call, move |call| {
                    let (handlers, cx) = (Arc::clone(&handlers), handlers.context(handle.clone()));
                    async move {
                        let answer = match handlers.custom.request(&call.method, call.params, cx) {
                            Some(answer) => answer.await,
                            None => Err(Error::MethodNotFound(call.method)),
                        };
                        answer.map_err(|it| it.into_object(App::REVISION))
                    }
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
                let open = notice.about.and_then(|token| driver.calls().get(&token));
                match (
                    notice.about,
                    open.and_then(|open| open.call.events.as_ref()),
                ) {
                    (Some(token), Some(missed)) => {
                        // Its stream goes back to the event that was lost.
                        if !driver.tell(token, &notice.method, notice.params) {
                            missed.store(true, Ordering::Release);
                        }
                    }
                    _ => {
                        let method = notice.method.clone();
                        self.queue(&method, Noted::Custom(notice));
                    }
                }
            }
            _ => {}
        }
    }
}

impl<App: Spoken, H> TypedApplication<App, H> {
    /// Sends a notification to the requests that want it: the one that it is about, or those with a callback for log
    /// messages if it names none; else to the handlers.
    fn notice(&self, driver: &Driver<Wants>, notice: Notification) {
        let wants = |open: &OpenCall<Wants>| match notice.method {
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
                match &open.call.changes {
                    _ if is_told => {}
                    // Its listener gets each change that its filter names instead.
                    Some(missed) => missed.store(true, Ordering::Release),
                    None => observe::notification_dropped(notice.method),
                }
            }
        }
        if !is_wanted {
            self.queue(notice.method, Noted::Known(notice));
        }
    }

    /// Queues a notification for the handlers, or reports that it was dropped, if the queue has no room.
    fn queue(&self, method: &str, notice: Noted) {
        if !self.noted.try_push(notice) {
            observe::notification_dropped(method);
        }
    }
}

/// Hands notifications to the handlers, in the order in which they came.
async fn note<App: Spoken, H>(
    handlers: Arc<Handlers<App, H>>,
    handle: WeakHandle<Wants>,
    mut notices: QueueReceiver<Noted>,
) where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    while let Some(noted) = notices.recv().await {
        let Some(handle) = handle.upgrade() else {
            return;
        };
        let handlers = Arc::clone(&handlers);
        // A task of its own: a handler that panics misses no more than this one.
        let noted = spawn(async move {
            match noted {
                Noted::Known(notice) => handlers.note(handle, notice).await,
                Noted::Custom(CustomNotification { method, params, .. }) => {
                    let Some(params) = handlers.how.admit(&method, params).await else {
                        return;
                    };
                    let cx = handlers.context(handle);
                    // No one waits for the outcome of a notification.
                    if let Some(noted) = handlers.custom.notification(&method, params, cx) {
                        let _ = noted.await;
                    }
                }
            }
        });
        let _ = noted.await;
    }
}
