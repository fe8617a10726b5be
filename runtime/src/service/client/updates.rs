//! What a call tells on its way: how far it is, and the log messages of its server.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_wire::{Json, Map};

use crate::transport::queue::{Queued, Receiver, Sender, queue};
use mcp_revisions_sansio::LogLevel;

/// How many bytes of updates wait to be taken before those that come are left out.
const ROOM: usize = 1 << 20;

/// How far a call is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// How much there is to do, if anybody knows.
    pub total: Option<f64>,
    /// A line for people.
    pub message: Option<String>,
}

impl Progress {
    pub(super) fn read(params: &Json) -> Option<Self> {
        let params: Map<Json> = params.read().ok()?;
        let number = |name: &str| Some(params.get(name)?.as_number()?.as_f64());
        Some(Self {
            done: number("progress")?,
            total: number("total"),
            message: params
                .get("message")
                .and_then(|it| it.as_str().map(Into::into)),
        })
    }
}

/// A log message of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// How severe it is.
    pub level: LogLevel,
    /// What part of the server it is of, if it says.
    pub logger: Option<String>,
    /// What it says: a text, or any JSON.
    pub data: Json,
}

impl Log {
    pub(super) fn read(params: &Json) -> Option<Self> {
        let params: Map<Json> = params.read().ok()?;
        Some(Self {
            level: LogLevel::from_name(&params.get("level")?.as_str()?)?,
            logger: params
                .get("logger")
                .and_then(|it| it.as_str().map(Into::into)),
            data: params.get("data").cloned().unwrap_or_default(),
        })
    }
}

/// What a call tells on its way.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// How far it is.
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
pub struct Updates(Receiver<Update>);

impl Updates {
    /// Waits for the next update; `None` once the client and its calls are gone.
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

pub(super) fn channel() -> (Sender<Update>, Updates) {
    let (tell, updates) = queue(ROOM);
    (tell, Updates(updates))
}
