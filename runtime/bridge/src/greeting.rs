//! The one client over two streams: what it says before its server is started, which is sent the name of its client.

use std::io;
use std::time::Duration;

use mcp_revisions::sansio::client::Profile;
use mcp_revisions::sansio::server::{Caller, Server};
use mcp_revisions::sansio::{Connection, Event, Output};
use mcp_revisions::{Limits, RevisionSet, read_line};
use mcp_revisions_core::Revision;
use mcp_wire::envelope::write;
use mcp_wire::{Json, MessageKind, one_line, peek};
use serde_json::json;
use tokio::io::{
    AsyncBufRead, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, Chain,
    DuplexStream,
};

use crate::Error;
use crate::identity::{anyone_of, first_said};

/// Maximum number of a client's bytes that wait to be read: beyond that its end is not noticed until some of them are.
const PIPE: usize = 1 << 20;

/// Maximum time for a client to read that it is refused.
const READS: Duration = Duration::from_secs(1);

/// A client that has sent its first message for a server.
pub(crate) struct Greeting<R> {
    /// The client, as far as the message names it.
    pub(crate) caller: Caller,
    /// The message, with the end of its line.
    first: Vec<u8>,
    input: BufReader<R>,
}

impl<R: AsyncRead + Unpin> Greeting<R> {
    /// Waits for the message that names the client, or for a request that only the server can answer; `None` if the client
    /// sends neither. Each line before it is answered as a server would answer it: a `ping`, and one that is not a message.
    pub(crate) async fn wait(
        input: R,
        output: &mut (impl AsyncWrite + Unpin),
        served: RevisionSet,
    ) -> io::Result<Option<Self>> {
        let mut input = BufReader::new(input);
        let mut first = Vec::new();
        // Methods that no revision has are for the server, too.
        let mut connection = Connection::new(nameless(served).with_other_methods());
        let limit = Limits::default().max_message_bytes;
        while read_line(&mut input, &mut first, limit).await? {
            if first.trim_ascii().is_empty() {
                continue;
            }
            let mut caller = first_said(&first, served);
            let mut answers = String::new();
            if caller.is_none() {
                connection.receive(None, &first, Duration::ZERO);
            }
            while let Some(output) = connection.poll() {
                match output {
                    Output::Send(text) => {
                        answers.push_str(&one_line(text.body));
                        answers.push('\n');
                    }
                    Output::Event(Event::Request(call)) => caller = Some(anyone_of(call.peer)),
                    Output::Event(Event::CustomRequest(call)) => {
                        caller = Some(anyone_of(call.peer));
                    }
                    _ => {}
                }
            }
            if let Some(caller) = caller {
                first.push(b'\n');
                let greeting = Self {
                    caller,
                    first,
                    input,
                };
                return Ok(Some(greeting));
            }
            output.write_all(answers.as_bytes()).await?;
            output.flush().await?;
        }
        Ok(None)
    }

    /// Answers the first message with an error, if it was a request: there is no server that could answer it.
    pub(crate) async fn refuse(self, mut output: impl AsyncWrite + Unpin, error: &Error) {
        let Some(text) = refusal(&self.first, error) else {
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

    /// Returns all that the client sends, from the first message; and the copying, which ends with it.
    pub(crate) fn input(
        &mut self,
    ) -> (
        Chain<&[u8], DuplexStream>,
        impl Future<Output = ()> + use<'_, R>,
    ) {
        let Self { first, input, .. } = self;
        let (read, copied) = piped(input);
        (first.as_slice().chain(read), copied)
    }
}

/// Returns a pipe with the input of a client, and the copying into it. The pipe ends with the input, and where the copying is
/// dropped.
pub(crate) fn piped<R: AsyncBufRead + Unpin>(
    mut input: R,
) -> (DuplexStream, impl Future<Output = ()> + use<R>) {
    let (mut to, read) = tokio::io::duplex(PIPE);
    let copied = async move {
        let _ = tokio::io::copy_buf(&mut input, &mut to).await;
    };
    (read, copied)
}

/// Returns the error that answers a message which was a request.
pub(crate) fn refusal(message: &[u8], error: &Error) -> Option<String> {
    let seen = peek(message).ok()?;
    let is_request = seen.kind == MessageKind::Request;
    let id = seen.id.filter(|_| is_request)?.to_id()?;
    Some(write::error(Some(&id), &error.to_response()))
}

/// Returns the server that a client meets until the upstream server has started: it offers nothing, and has a name of ours.
pub(crate) fn nameless(served: RevisionSet) -> Server {
    let info = Json::from(json!({ "name": "unstarted", "version": "0" }));
    let profile = Profile::new(&info, &Json::from(json!({})));
    #[expect(
        clippy::expect_used,
        reason = "the texts are ours, and are of the latest revision"
    )]
    let server = Server::new(Revision::LATEST, profile).expect("a profile of ours");
    server.serving(served)
}
