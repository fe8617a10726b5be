//! The one client over two streams: its first message names it, before its server is started.

use std::io;
use std::time::Duration;

use mcp_revisions::sansio::server::Caller;
use mcp_revisions::{Limits, errors};
use mcp_wire::envelope::write;
use mcp_wire::{MessageKind, peek};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    DuplexStream,
};

use crate::identity::{anyone, first_said};

/// How many bytes of a client may wait to be read: beyond that its end is not noticed until some of them are.
const PIPE: usize = 1 << 20;

/// How long a client may take to read that it is refused.
const READS: Duration = Duration::from_secs(1);

/// A client that has sent its first message.
pub(crate) struct Greeting<R> {
    first: Vec<u8>,
    input: BufReader<R>,
}

impl<R: AsyncRead + Unpin> Greeting<R> {
    /// Waits for the first message of the client, or for as much of it as a message may have; `None` if it sends none.
    pub(crate) async fn wait(input: R) -> io::Result<Option<Self>> {
        let mut input = BufReader::new(input);
        let mut first = Vec::new();
        let most = (Limits::default().max_message_bytes as u64).saturating_add(1);
        while first.trim_ascii().is_empty() {
            first.clear();
            let mut line = (&mut input).take(most);
            if line.read_until(b'\n', &mut first).await? == 0 {
                return Ok(None);
            }
        }
        Ok(Some(Self { first, input }))
    }

    /// The client, as far as its first message names it.
    pub(crate) fn caller(&self) -> Caller {
        first_said(&self.first).unwrap_or_else(anyone)
    }

    /// Answers the first message with an error, if it was a request: there is no server that could answer it.
    pub(crate) async fn refuse(self, mut output: impl AsyncWrite + Unpin, why: &str) {
        let Some(text) = refusal(&self.first, why) else {
            return;
        };
        let text = format!("{text}\n");
        let written = async {
            output.write_all(text.as_bytes()).await?;
            output.flush().await
        };
        // A client that does not read is not waited for.
        let _ = tokio::time::timeout(READS, written).await;
    }

    /// Returns all that the client sends, from the start; and the copying, which ends with it.
    pub(crate) fn input(self) -> (DuplexStream, impl Future<Output = ()>) {
        let Self { first, mut input } = self;
        let (mut to, read) = tokio::io::duplex(PIPE);
        let copied = async move {
            if to.write_all(&first).await.is_ok() {
                let _ = tokio::io::copy_buf(&mut input, &mut to).await;
            }
        };
        (read, copied)
    }
}

/// The error that answers a message which was a request.
pub(crate) fn refusal(message: &[u8], why: &str) -> Option<String> {
    let seen = peek(message).ok()?;
    let is_request = seen.kind == MessageKind::Request;
    let id = seen.id.filter(|_| is_request)?.to_id()?;
    Some(write::error(Some(&id), &errors::internal(why).error))
}
