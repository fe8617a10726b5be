//! The socket of a connection: a client that stops reading is given up after a time, and one that hangs up is noticed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::watch;
use tokio::time::Sleep;

/// A socket whose other end has to read.
pub(super) struct Socket {
    /// Reading through it waits after less than what there was room for, where reading the stream would ask once more.
    stream: OwnedReadHalf,
    write_time: Duration,
    /// Those that are at work on the connection each keep a receiver of it.
    at_work: watch::Sender<()>,
    /// When the client is given up, while it reads nothing.
    stalled: Option<(Pin<Box<Sleep>>, watch::Receiver<()>)>,
}

impl Socket {
    pub(super) fn new(
        stream: OwnedReadHalf,
        write_time: Duration,
        at_work: watch::Sender<()>,
    ) -> Self {
        Self {
            stream,
            write_time,
            at_work,
            stalled: None,
        }
    }

    /// Writes what can be written; fails if nothing could for too long.
    fn poll_written(
        &mut self,
        context: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream: &TcpStream = self.stream.as_ref();
        while let Poll::Ready(ready) = stream.poll_write_ready(context) {
            ready?;
            match write(stream) {
                // It was not ready after all.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => {
                    self.stalled = None;
                    return Poll::Ready(written);
                }
            }
        }
        let time = self.write_time;
        let at_work = &self.at_work;
        let begin = || (Box::pin(tokio::time::sleep(time)), at_work.subscribe());
        let (stalled, _) = self.stalled.get_or_insert_with(begin);
        ready!(stalled.as_mut().poll(context));
        let why = format!("the client read nothing for {time:?}");
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(context, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(context, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nothing is held back here.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The socket is closed as soon as the connection is dropped.
        Poll::Ready(Ok(()))
    }
}

/// Time that requests of a client that hung up may still run, and the interval of the check if a client hung up
/// behind bytes that are not read yet.
const NOTICE: Duration = Duration::from_secs(1);

/// Waits until the client has hung up, even if there are bytes before that which are not read while a call is at work.
pub(super) async fn hung_up(stream: &TcpStream) {
    while let Ok(ready) = stream.ready(Interest::READABLE).await {
        tokio::time::sleep(NOTICE).await;
        if ready.is_read_closed() {
            return;
        }
    }
}
