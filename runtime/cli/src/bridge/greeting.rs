//! The one client over standard streams: its first message says who it is, before its server is started.

use anyhow::Context as _;
use mcp_revisions::server::Caller;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Stdin};

use super::identity::{anyone, first_said};

/// How much of what a client says may wait to be read.
const PIPE: usize = 1 << 16;

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
