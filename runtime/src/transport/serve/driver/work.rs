//! The work on a connection: tasks of handlers, their inputs, and the events for them.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use super::super::Cancellation;
use mcp_revisions_sansio::driver::Numbered;
use mcp_revisions_sansio::{Answered, Event, Token};

#[derive(Default)]
pub(super) struct ConnectionWork {
    pub(super) tasks: Numbered<Token, RunningCall>,
    pub(super) asked: Numbered<Token, oneshot::Sender<Answered>>,
    /// The task that finds the application of a client; a call that waits for it sees the sender go.
    pub(super) introduction: Option<(AbortHandle, watch::Sender<()>)>,
    /// When the connection is woken next, and what does it.
    pub(super) alarm: Option<(Duration, AbortHandle)>,
    /// Tickets of the suspended calls, by which their clients find them.
    pub(super) tickets: Vec<u64>,
    /// Events for the handlers, and whether they are being delivered.
    pub(super) news: VecDeque<Event>,
    pub(super) is_telling: bool,
}

/// A call that a handler works on.
#[derive(Debug)]
pub(super) struct RunningCall {
    pub(super) work: AbortHandle,
    /// The cancellation, which its handler sees.
    pub(super) cancellation: Arc<OnceLock<Cancellation>>,
}

impl ConnectionWork {
    pub(super) fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// Returns the next event for the handlers, unless one is being delivered.
    pub(super) fn begin_telling(&mut self) -> Option<Event> {
        if self.is_telling {
            return None;
        }
        let event = self.news.pop_front()?;
        self.is_telling = true;
        Some(event)
    }

    /// Gives up all of it, because its peer is gone.
    pub(super) fn abandon(&mut self) {
        self.asked = Numbered::default();
        self.end_tasks_of_connection();
        for task in std::mem::take(&mut self.tasks).into_values() {
            task.work.abort();
        }
    }

    /// Ends what wakes the connection, and what finds its application.
    pub(super) fn end_tasks_of_connection(&mut self) {
        let introduction = self.introduction.take().map(|(task, _)| task);
        let alarm = self.alarm.take().map(|(_, task)| task);
        for task in introduction.into_iter().chain(alarm) {
            task.abort();
        }
    }

    /// Returns whether nothing of it is left.
    pub(super) fn is_done(&self) -> bool {
        self.tasks.is_empty()
            && self.asked.is_empty()
            && self.introduction.is_none()
            && self.alarm.is_none()
            && self.tickets.is_empty()
            && self.news.is_empty()
            && !self.is_telling
    }
}
