//! One message a line, over any two streams of bytes.

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::task::{AbortHandle, JoinHandle};

use super::incoming::{HEARD_BYTES, Incoming};
use crate::transport::line::read_line;
use crate::transport::queue::{Receiver, Sender, queue};
use crate::transport::spawn::spawn;

/// Two streams, each served by a task of its own: a reader that waits never keeps a writer waiting.
///
/// While a server does not read its input, its output is not read either: it would be answered without end.
pub(crate) struct Lines {
    texts: Sender<String>,
    heard: Receiver<Incoming>,
    reader: AbortHandle,
    writer: JoinHandle<()>,
}

impl Lines {
    pub(super) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        let (texts, outgoing) = queue(limit);
        let (tell, heard) = queue(HEARD_BYTES);
        let reader = spawn(read(input, tell, limit)).abort_handle();
        let writer = spawn(write(outgoing, output));
        Self {
            texts,
            heard,
            reader,
            writer,
        }
    }

    pub(super) fn send(&self, text: String) {
        // That it does not read any more shows at the other stream.
        self.texts.push(text);
    }

    /// Whether the server has taken so much of what it was sent that it may be sent more.
    pub(super) fn has_room(&self) -> bool {
        self.texts.has_room() || self.texts.is_closed()
    }

    pub(super) async fn next(&mut self) -> Incoming {
        drop(self.texts.turn().await);
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

async fn read(input: impl AsyncRead + Unpin, tell: Sender<Incoming>, limit: usize) {
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
        if !tell.send(message).await {
            return;
        }
    }
    tell.send(Incoming::Closed).await;
}

async fn write(mut texts: Receiver<String>, mut output: impl AsyncWrite + Unpin) {
    while let Some(mut text) = texts.recv().await {
        text.push('\n');
        let written = output.write_all(text.as_bytes()).await;
        if written.is_err() || (texts.is_empty() && output.flush().await.is_err()) {
            return;
        }
    }
    let _ = output.shutdown().await;
}
