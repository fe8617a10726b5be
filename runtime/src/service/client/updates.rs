//! Updates on the way of a call: its progress, and the log messages of its server.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_wire::{Json, Map};

use crate::transport::queue::{QueueReceiver, QueueSender, Queued, queue};
use mcp_revisions_sansio::LogLevel;

/// Maximum number of bytes of updates that wait to be taken; further ones are left out.
const ROOM: usize = 1 << 20;

/// The progress of a call.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The part that is done.
    pub done: f64,
    /// The whole, if it is known.
    pub total: Option<f64>,
    /// A line for people.
    pub message: Option<String>,
}

impl Progress {
    pub(super) fn read(params: &Json) -> Option<Self> {
        let members: Map<Json> = params.read().ok()?;
        let number = |name: &str| Some(members.get(name)?.as_number()?.as_f64());
        Some(Self {
            done: number("progress")?,
            total: number("total"),
            message: members
                .get("message")
                .and_then(|it| it.as_str().map(Into::into)),
        })
    }
}

/// A log message of a server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Log {
    /// The severity.
    pub level: LogLevel,
    /// The part of the server that it is of, if it names one.
    pub logger: Option<String>,
    /// The message: a text, or any JSON.
    pub data: Json,
}

impl Log {
    pub(super) fn read(params: &Json) -> Option<Self> {
        let members: Map<Json> = params.read().ok()?;
        Some(Self {
            level: LogLevel::from_name(&members.get("level")?.as_str()?)?,
            logger: members
                .get("logger")
                .and_then(|it| it.as_str().map(Into::into)),
            data: members.get("data").cloned().unwrap_or_default(),
        })
    }
}

/// An update on the way of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// Its progress.
    Progress(Progress),
    /// A log message of its server.
    Log(Log),
}

impl Queued for Update {
    fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::Progress(progress) => text(&progress.message),
            Self::Log(log) => log.data.text().len() + text(&log.logger),
        }
    }
}

/// The updates of the calls of one handle, as a stream. Updates that are not taken in time are dropped.
#[derive(Debug)]
pub struct Updates(QueueReceiver<Update>);

impl Updates {
    /// Waits for the next update; `None` once the client and its calls are gone. Cancel safe: in `tokio::select!`, no update is
    /// lost.
    pub async fn next(&mut self) -> Option<Update> {
        self.0.recv().await
    }
}

impl Stream for Updates {
    type Item = Update;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Update>> {
        self.0.poll_recv(cx)
    }
}

pub(super) fn channel() -> (QueueSender<Update>, Updates) {
    let (tell, updates) = queue(ROOM);
    (tell, Updates(updates))
}
