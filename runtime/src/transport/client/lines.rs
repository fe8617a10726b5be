//! One message a line, over any two streams of bytes.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use super::RunningTransport;
use super::framing::Framing;
use super::incoming::{HEARD_BYTES, Incoming};
use crate::transport::queue::{QueueReceiver, QueueSender, Queued, cost, queue};
use crate::transport::spawn::{Boxed, boxed, spawn};
use mcp_revisions_core::MessageKind;
use mcp_revisions_sansio::client::Post;

/// Maximum number of messages of the greatest length that a server may leave unread of the answers to its own requests.
const OWED: usize = 4;
/// Time that the output of a server is read after the end of its connection: longer than a process has to end by default.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Two streams, each served by a task of its own: a reader that waits never keeps a writer waiting.
///
/// A server may stop reading until its own output is read. So its output is read whether it reads or not: answers are
/// bounded by the calls that wait for them. Only a server that does not read the answers to its own requests is not read
/// either, because it would be answered without end.
pub(crate) struct Lines {
    texts: QueueSender<QueuedLine>,
    /// The bytes that the answers to the requests of the server may still take up.
    owed: Arc<Semaphore>,
    heard: QueueReceiver<Incoming>,
    writer: JoinHandle<()>,
}

/// A text for the server, and its part of the bytes of answers, if it is an answer.
struct QueuedLine(String, Option<OwnedSemaphorePermit>);

impl Queued for QueuedLine {
    fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl Lines {
    pub(super) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        let (texts, outgoing) = queue(limit);
        let (tell, heard) = queue(HEARD_BYTES);
        spawn(read(input, tell, limit));
        let writer = spawn(write(outgoing, output));
        let owed = limit.saturating_mul(OWED).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            texts,
            owed: Arc::new(Semaphore::new(owed)),
            heard,
            writer,
        }
    }

    pub(super) fn send(&self, Post { kind, text, .. }: Post) {
        let is_answer = kind == MessageKind::Response;
        let owed = is_answer.then(|| self.owe(text.len())).flatten();
        // The other stream shows that it does not read any more.
        self.texts.push(QueuedLine(text, owed));
    }

    /// Counts an answer until it is written. One that is too long takes all that is left.
    fn owe(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let owed = cost(bytes).min(self.owed.available_permits());
        let owed = u32::try_from(owed).unwrap_or(u32::MAX);
        Arc::clone(&self.owed).try_acquire_many_owned(owed).ok()
    }

    /// Returns whether the server has taken so much of what it was sent that it may be sent more.
    pub(super) fn has_room(&self) -> bool {
        self.texts.has_room() || self.texts.is_closed()
    }

    /// Returns once the server may be sent more, or takes nothing any more.
    pub(super) fn room(&self) -> impl Future<Output = ()> + Send + use<> {
        let texts = self.texts.clone();
        async move { drop(texts.turn().await) }
    }

    pub(super) async fn next(&mut self) -> Incoming {
        drop(self.owed.acquire().await);
        self.heard.recv().await.unwrap_or(Incoming::Closed)
    }

    /// Writes the queued texts, and closes the output. The input is read for at most [`LAST_WORDS`] more: a server that still
    /// writes must not fail.
    pub(super) async fn end(self) {
        let Self {
            texts,
            heard,
            mut writer,
            ..
        } = self;
        drop((texts, heard));
        // One who reads nothing is not waited for.
        let patience = Duration::from_secs(1);
        if tokio::time::timeout(patience, &mut writer).await.is_err() {
            writer.abort();
        }
    }
}

async fn read(input: impl AsyncRead + Unpin, tell: QueueSender<Incoming>, limit: usize) {
    let mut messages = Framing::new(BufReader::new(input), limit);
    tokio::select! {
        () = hear(&mut messages, &tell) => {}
        () = tell.closed() => {}
    }
    let mut nowhere = tokio::io::sink();
    let last_words = tokio::io::copy_buf(messages.input(), &mut nowhere);
    let _ = tokio::time::timeout(LAST_WORDS, last_words).await;
}

async fn hear(messages: &mut Framing<impl AsyncBufRead + Unpin>, tell: &QueueSender<Incoming>) {
    while let Some(message) = messages.next().await {
        if !tell.send(message).await {
            return;
        }
    }
    tell.send(Incoming::Closed).await;
}

async fn write(mut texts: QueueReceiver<QueuedLine>, mut output: impl AsyncWrite + Unpin) {
    while let Some(QueuedLine(mut text, _owed)) = texts.recv().await {
        text.push('\n');
        let written = output.write_all(text.as_bytes()).await;
        if written.is_err() || (texts.is_empty() && output.flush().await.is_err()) {
            return;
        }
    }
    let _ = output.shutdown().await;
}

impl RunningTransport for Lines {
    fn send(&mut self, post: Post) {
        Self::send(self, post);
    }

    fn has_room(&self) -> bool {
        self.has_room()
    }

    fn room(&self) -> Boxed<'static, ()> {
        boxed(self.room())
    }

    fn next(&mut self) -> Boxed<'_, Incoming> {
        boxed(self.next())
    }

    fn end(self: Box<Self>) -> Boxed<'static, std::io::Result<()>> {
        boxed(async move {
            Self::end(*self).await;
            Ok(())
        })
    }
}
