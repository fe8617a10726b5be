//! What a server says that no call waits for: the handlers take note of it.

use std::marker::PhantomData;
use std::sync::Arc;

use mcp_protocol::Spoken;
use mcp_wire::service::{ClientSide, Serves};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use super::driver::Command;
use super::{Client, ClientContext, How};
use crate::client::{Notice, ServerFacts};

/// What handlers have of their connection.
#[derive(Clone)]
pub(super) struct Around {
    /// Only handles keep the connection.
    pub(super) commands: mpsc::WeakUnboundedSender<Command>,
    pub(super) facts: watch::Receiver<Option<ServerFacts>>,
}

impl Around {
    /// Creates the context of a handler, or `None` if the last handle is gone.
    pub(super) fn cx<App: Spoken>(&self) -> Option<ClientContext<App>> {
        let client = Client {
            commands: self.commands.upgrade()?,
            facts: self.facts.clone(),
            how: How::default(),
            app: PhantomData,
        };
        Some(ClientContext { client })
    }
}

/// Lets the handlers take note of what the server says, in the order in which it does.
pub(super) async fn note<App: Spoken, H>(
    handlers: Arc<H>,
    around: Around,
    mut notices: mpsc::UnboundedReceiver<(Notice, OwnedSemaphorePermit)>,
) where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    while let Some((notice, _room)) = notices.recv().await {
        let Some(cx) = around.cx() else { return };
        let handlers = Arc::clone(&handlers);
        // A task of its own: a handler that panics misses no more than this one.
        let noted = tokio::spawn(async move {
            let (method, params) = (notice.method, &notice.params);
            // Nobody waits for what becomes of a notification that cannot be read.
            let _ = <App::Protocol as Serves<ClientSide, H, _>>::notification(
                &handlers, method, params, cx,
            )
            .await;
        });
        let _ = noted.await;
    }
}
