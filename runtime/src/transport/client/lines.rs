//! One message a line, over any two streams of bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc};
use tokio::task::{AbortHandle, JoinHandle};

use super::{Incoming, QUEUE};
use crate::transport::line::read_line;

/// Two streams, each served by a task of its own: a reader that waits never keeps a writer waiting.
///
/// A server that takes nothing of what it is told is not listened to meanwhile: it would be answered without end.
pub(crate) struct Lines {
    texts: mpsc::UnboundedSender<String>,
    untaken: Arc<Untaken>,
    limit: usize,
    heard: mpsc::Receiver<Incoming>,
    reader: AbortHandle,
    writer: JoinHandle<()>,
}

/// The texts that the server has not taken yet.
#[derive(Default)]
struct Untaken {
    bytes: AtomicUsize,
    less: Notify,
}

impl Untaken {
    fn taken(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.less.notify_one();
    }
}

impl Lines {
    pub(super) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        let (texts, outgoing) = mpsc::unbounded_channel();
        let untaken = Arc::<Untaken>::default();
        let (tell, heard) = mpsc::channel(QUEUE);
        let reader = tokio::spawn(read(input, tell, limit)).abort_handle();
        let writer = tokio::spawn(write(outgoing, Arc::clone(&untaken), output));
        Self {
            texts,
            untaken,
            limit,
            heard,
            reader,
            writer,
        }
    }

    pub(super) fn send(&self, text: String) {
        self.untaken.bytes.fetch_add(text.len(), Ordering::Relaxed);
        // Whoever does not read any more shows at the other stream.
        let _ = self.texts.send(text);
    }

    /// Whether the server has taken so much of what it was sent that it may be sent more.
    pub(super) fn has_room(&self) -> bool {
        self.untaken.bytes.load(Ordering::Relaxed) <= self.limit || self.texts.is_closed()
    }

    pub(super) async fn next(&mut self) -> Incoming {
        while !self.has_room() {
            self.untaken.less.notified().await;
        }
        self.heard.recv().await.unwrap_or(Incoming::Closed)
    }

    /// Says what is left to say, and closes the stream.
    pub(super) async fn end(self) {
        let Self {
            texts,
            heard: _heard,
            reader,
            mut writer,
            ..
        } = self;
        drop(texts);
        // One who reads nothing is not waited for.
        let patience = std::time::Duration::from_secs(1);
        if tokio::time::timeout(patience, &mut writer).await.is_err() {
            writer.abort();
        }
        reader.abort();
    }
}

async fn read(input: impl AsyncRead + Unpin, tell: mpsc::Sender<Incoming>, limit: usize) {
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    while let Ok(true) = read_line(&mut input, &mut bytes, limit).await {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let text = std::mem::take(&mut bytes);
        let message = Incoming::Message {
            exchange: None,
            text,
        };
        if tell.send(message).await.is_err() {
            return;
        }
    }
    let _ = tell.send(Incoming::Closed).await;
}

async fn write(
    mut texts: mpsc::UnboundedReceiver<String>,
    untaken: Arc<Untaken>,
    mut output: impl AsyncWrite + Unpin,
) {
    while let Some(mut text) = texts.recv().await {
        let bytes = text.len();
        text.push('\n');
        let written = output.write_all(text.as_bytes()).await;
        let is_gone = written.is_err() || (texts.is_empty() && output.flush().await.is_err());
        if is_gone {
            texts.close();
        }
        untaken.taken(bytes);
        if is_gone {
            return;
        }
    }
    let _ = output.shutdown().await;
}
