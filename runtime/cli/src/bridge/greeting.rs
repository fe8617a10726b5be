//! The one client over standard streams: its first message says who it is, before its server is started.

use std::time::Duration;

use anyhow::Context as _;
use mcp_revisions::errors;
use mcp_revisions::server::Caller;
use mcp_wire::envelope::write;
use mcp_wire::{MessageKind, peek};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Stdin};

use super::identity::{anyone, first_said};

/// How much of what a client says may wait to be read: beyond that its end is not noticed until some of it is.
const PIPE: usize = 1 << 20;

/// How long a client may take to read that it is refused.
const READS: Duration = Duration::from_secs(1);

/// A client that has said something.
pub(super) struct Greeting {
    first: Vec<u8>,
    stdin: BufReader<Stdin>,
}

impl Greeting {
    /// Waits for what the client says first; none if it says nothing.
    ///
    /// # Errors
    /// Standard input that cannot be read.
    pub(super) async fn wait() -> anyhow::Result<Option<Self>> {
        let mut stdin = BufReader::new(tokio::io::stdin());
        let mut first = Vec::new();
        while first.trim_ascii().is_empty() {
            first.clear();
            let read = stdin.read_until(b'\n', &mut first).await;
            if read.context("cannot read standard input")? == 0 {
                return Ok(None);
            }
        }
        Ok(Some(Self { first, stdin }))
    }

    /// Who it is.
    pub(super) fn caller(&self) -> Caller {
        first_said(&self.first).unwrap_or_else(anyone)
    }

    /// Answers what it said first with an error, if it was a request: there is nobody who could do better.
    pub(super) async fn refuse(self, why: &str) {
        let request = peek(&self.first).ok();
        let id = request
            .filter(|seen| seen.kind == MessageKind::Request)
            .and_then(|seen| seen.id?.to_id());
        if let Some(id) = id {
            let error = errors::internal(why).error;
            let text = format!("{}\n", write::error(Some(&id), &error));
            let mut stdout = tokio::io::stdout();
            let written = async {
                stdout.write_all(text.as_bytes()).await?;
                stdout.flush().await
            };
            // A client that does not read is not waited for.
            let _ = tokio::time::timeout(READS, written).await;
        }
    }

    /// All that it says, from the start; and what ends with it, once it is driven.
    pub(super) fn input(self) -> (DuplexStream, impl Future<Output = ()>) {
        let Self { first, mut stdin } = self;
        let (mut to, input) = tokio::io::duplex(PIPE);
        let copied = async move {
            if to.write_all(&first).await.is_ok() {
                let _ = tokio::io::copy_buf(&mut stdin, &mut to).await;
            }
        };
        (input, copied)
    }
}
