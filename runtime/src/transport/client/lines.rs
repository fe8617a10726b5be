//! One message a line, over any two streams of bytes.

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

use super::{Incoming, QUEUE};
use crate::transport::line::read_line;

/// Two streams, each served by a task of its own: a reader that waits never keeps a writer waiting.
pub(crate) struct Lines {
    texts: mpsc::UnboundedSender<String>,
    heard: mpsc::Receiver<Incoming>,
    reader: AbortHandle,
    writer: JoinHandle<()>,
}

impl Lines {
    pub(super) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        // Bounded by the requests that a connection lets wait for their answers.
        let (texts, outgoing) = mpsc::unbounded_channel();
        let (tell, heard) = mpsc::channel(QUEUE);
        let reader = tokio::spawn(read(input, tell, limit)).abort_handle();
        let writer = tokio::spawn(write(outgoing, output));
        Self {
            texts,
            heard,
            reader,
            writer,
        }
    }

    pub(super) fn send(&self, text: String) {
        // Whoever does not read any more shows at the other stream.
        let _ = self.texts.send(text);
    }

    pub(super) async fn next(&mut self) -> Incoming {
        self.heard.recv().await.unwrap_or(Incoming::Closed)
    }

    /// Says what is left to say, and closes the stream.
    pub(super) async fn end(self) {
        let Self {
            texts,
            heard: _heard,
            reader,
            mut writer,
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

async fn write(mut texts: mpsc::UnboundedReceiver<String>, mut output: impl AsyncWrite + Unpin) {
    while let Some(mut text) = texts.recv().await {
        text.push('\n');
        let written = output.write_all(text.as_bytes()).await;
        if written.is_err() || (texts.is_empty() && output.flush().await.is_err()) {
            return;
        }
    }
    let _ = output.shutdown().await;
}
