//! The driver as the tasks of a server see it.

use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json, Map};
use tokio::task::AbortHandle;

use super::ServerDriver;
use super::streams::Manner;
use mcp_revisions_sansio::Token;
use mcp_revisions_sansio::driver::server::tasks::{self, StartingTask};
use mcp_revisions_sansio::errors::Refusal;

impl ServerDriver {
    /// Returns the task that a call may become.
    pub(in crate::transport) fn starting(&self, call: Token) -> Option<StartingTask> {
        tasks::starting(&self.state().connection, call)
    }

    /// Answers a call with its task, and returns what works on it: from now on the task alone can give that up. `None` if
    /// the call is over.
    pub(in crate::transport) async fn begin_task(
        &self,
        call: Token,
        task: Json,
    ) -> Option<Option<AbortHandle>> {
        let answer = || {
            let mut state = self.state();
            if !tasks::answer_with_task(&mut state.connection, call, task) {
                return None;
            }
            let work = state.work().tasks.remove(&call).map(|call| call.work);
            self.perform(state, Manner::InTurn);
            Some(work)
        };
        self.in_turn(Some(call), answer).await
    }

    /// Returns the error of a call that is refused; one that may pass goes out beside its status.
    pub(in crate::transport) fn refused(&self, call: Token, refusal: Refusal) -> ErrorObject {
        let error = refusal.error.clone();
        if refusal.may_pass() {
            let mut state = self.state();
            state.connection.refuse(call, refusal);
            self.perform(state, Manner::InTurn);
        }
        error
    }

    pub(in crate::transport) fn notify_of_task(&self, members: &Map<Json>) {
        let mut state = self.state();
        tasks::notify_of_task(&mut state.connection, members);
        self.perform(state, Manner::Unbidden);
    }

    /// Returns the tasks whose notifications a stream is for, and the revision of its client.
    pub(in crate::transport) fn task_ids(&self, stream: Token) -> Option<(Revision, Vec<String>)> {
        tasks::task_ids(&self.state().connection, stream)
    }

    pub(in crate::transport) fn agree_to_tasks(&self, stream: Token, ids: Vec<String>) {
        tasks::agree_to_tasks(&mut self.state().connection, stream, ids);
    }

    /// Tells of a task on a stream, once its reader has room; false if the stream is over.
    pub(in crate::transport) async fn tell_of_task(&self, stream: Token, task: &Map<Json>) -> bool {
        let Some(outbox) = self.outbox(stream) else {
            return false;
        };
        let _turn = outbox.turn().await;
        let mut state = self.state();
        let is_told = tasks::tell_of_task(&mut state.connection, stream, task);
        self.perform(state, Manner::InTurn);
        is_told
    }

    pub(in crate::transport) fn principal_of(&self, request: Token) -> Option<String> {
        tasks::principal_of(&self.state().connection, request)
    }

    /// Returns whether a handshake opened a session.
    pub(in crate::transport) fn has_session(&self) -> bool {
        self.state().connection.session_revision().is_some()
    }
}
