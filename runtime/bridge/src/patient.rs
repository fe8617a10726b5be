//! A writer whose reader may be slow, but not for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::time::Sleep;

/// Maximum time for a reader to take none of the bytes written.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fails once its reader has taken nothing for [`PATIENCE`].
pub(crate) struct Patient<W> {
    writer: W,
    /// Until when it is waited for a reader that takes nothing.
    until: Option<Pin<Box<Sleep>>>,
}

impl<W> Patient<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self {
            writer,
            until: None,
        }
    }

    /// Returns the outcome of an attempt, or the error that there were enough of them.
    fn waited<T>(
        &mut self,
        context: &mut Context<'_>,
        came: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if came.is_ready() {
            self.until = None;
            return came;
        }
        let until = (self.until).get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
        until.as_mut().poll(context).map(|()| {
            let why = format!("nothing of what is written was read for {PATIENCE:?}");
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        })
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Patient<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let came = Pin::new(&mut self.writer).poll_write(context, bytes);
        self.waited(context, came)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came = Pin::new(&mut self.writer).poll_flush(context);
        self.waited(context, came)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came = Pin::new(&mut self.writer).poll_shutdown(context);
        self.waited(context, came)
    }
}
