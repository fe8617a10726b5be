//! The handlers of a server that runs no tasks: no call becomes one.

use std::sync::Arc;

use mcp_wire::{ErrorObject, Json};

use super::{AnyHandler, Peer, Replicas};
use crate::transport::spawn::Boxed;
use mcp_revisions_sansio::Fate;
use mcp_revisions_sansio::server::Server;

/// A call whose handler may answer it with a task: there is none.
#[derive(Clone)]
pub(super) enum Taskable {}

/// A task whose handler is at work in this process: there is none.
pub(crate) enum Running {}

impl Taskable {
    /// Returns the task that the call has become.
    pub(super) fn running(&self) -> Option<&Arc<Running>> {
        match *self {}
    }

    /// Answers the call of this peer with a task.
    pub(super) async fn start(&self, _peer: &Peer) -> Result<bool, ErrorObject> {
        match *self {}
    }

    /// Acknowledges the stream that a call opens.
    pub(super) async fn acknowledge(&self, _peer: &Peer, _params: Option<&Json>) -> Fate {
        match *self {}
    }
}

impl Running {
    /// Asks the client of the task.
    pub(super) async fn ask(
        &self,
        _method: &str,
        _params: Option<&Json>,
    ) -> Result<Json, ErrorObject> {
        match *self {}
    }

    /// Notifies the client of the task.
    pub(super) async fn notify(&self, _method: &str, _params: Option<&Json>) -> Fate {
        match *self {}
    }

    /// Sets the status message of the task.
    pub(super) fn describe(&self, _message: String) -> Boxed<'_, ()> {
        match *self {}
    }
}

/// Returns the handlers of a server as they are.
pub(crate) fn with_tasks(
    handler: Arc<dyn AnyHandler>,
    _server: &Arc<Server>,
    _replicas: Option<Replicas>,
) -> Arc<dyn AnyHandler> {
    handler
}
