//! Standard output that does not keep its process: it is written on a thread of its own, as standard input is read.
//!
//! A write to a pipe that its client does not read ends with the client only, and a runtime waits for its blocking writes.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::sync::oneshot;

/// Bytes to write, and where to report the outcome.
type Chunk = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// Standard output; one chunk is written at a time.
pub(super) struct StandardOutput {
    chunks: mpsc::Sender<Chunk>,
    written: Option<oneshot::Receiver<io::Result<()>>>,
}

impl StandardOutput {
    /// Starts the thread that writes. Fails for a thread that cannot be started.
    pub(super) fn new() -> io::Result<Self> {
        let (chunks, queue) = mpsc::channel::<Chunk>();
        let write = move || {
            for (bytes, report) in queue {
                let mut output = io::stdout().lock();
                let written = output.write_all(&bytes).and_then(|()| output.flush());
                let _ = report.send(written);
            }
        };
        std::thread::Builder::new()
            .name("standard-output".to_owned())
            .spawn(write)?;
        Ok(Self {
            chunks,
            written: None,
        })
    }
}

impl AsyncWrite for StandardOutput {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_flush(cx))?;
        let (report, written) = oneshot::channel();
        let sent = self.chunks.send((bytes.to_vec(), report));
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        self.written = Some(written);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(written) = &mut self.written {
            let outcome = ready!(Pin::new(written).poll(cx));
            self.written = None;
            return Poll::Ready(outcome.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
