//! Standard input that does not keep its process: it is read on a thread of its own, which nothing waits for.
//!
//! A runtime waits for its blocking reads when it ends, and a read of standard input ends only with the next line or with
//! the input: a server that has to stop would stay until its client sends something.

use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// Number of bytes read at a time.
const CHUNK: usize = 64 << 10;

/// Standard input, until it ends.
pub(super) struct StandardInput {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// Number of bytes of the chunk that are read.
    position: usize,
}

impl StandardInput {
    /// Starts to read. Only the first caller in a process gets all of its input. Fails for a thread that cannot be started.
    pub(super) fn new() -> io::Result<Self> {
        // One chunk waits and one is read: the reader is never further ahead.
        let (sender, chunks) = mpsc::channel(1);
        let read = move || {
            let mut input = io::stdin().lock();
            let mut buffer = vec![0; CHUNK];
            loop {
                let chunk = match input.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => Ok(buffer.get(..length).unwrap_or_default().to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = chunk.is_err();
                if sender.blocking_send(chunk).is_err() || is_last {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("standard-input".to_owned())
            .spawn(read)?;
        Ok(Self {
            chunks,
            chunk: Vec::new(),
            position: 0,
        })
    }
}

impl AsyncRead for StandardInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.position == this.chunk.len() {
            match ready!(this.chunks.poll_recv(cx)) {
                Some(chunk) => (this.chunk, this.position) = (chunk?, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = this.chunk.get(this.position..).unwrap_or_default();
        let length = rest.len().min(into.remaining());
        into.put_slice(rest.get(..length).unwrap_or_default());
        this.position += length;
        Poll::Ready(Ok(()))
    }
}
