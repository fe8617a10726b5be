//! A server over stdio: one message a line, and nothing else on standard output. Feature `server-stdio`.
//!
//! ```no_run
//! use mcp_revisions::mcp_wire::Json;
//! use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
//! use mcp_revisions::{Revision, serve::Peer, stdio, v2025_11_25 as mcp};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let profile = Profile::new(&mcp::Implementation::new("empty", mcp_revisions::args::Version("1.0")), &mcp::ServerCapabilities::new());
//! let server = Server::new(Revision::V2025_11_25, profile)?;
//! stdio::serve(server, |call: IncomingRequest, _: Peer| async move {
//!     Err(mcp_revisions::errors::invalid_params(call.method).error)
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```

mod standard_input;

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use mcp_wire::one_line;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use crate::serve::{
    AnyHandler, Budget, ExchangeFacts, Handler, OutboxQueue, QueueItem, ServerDriver, outbox,
    started, with_tasks,
};
use crate::transport::line::read_line;
use crate::transport::observe;
use crate::transport::spawn::spawn;
use mcp_revisions_sansio::server::{Owner, Server};
use standard_input::StandardInput;

/// Maximum number of messages of the greatest length that a client may leave unread; an answer beyond that becomes an error.
const UNREAD: usize = 4;

/// The output for the lines of a server.
type ServerOutput = Box<dyn AsyncWrite + Unpin + Send>;

/// Serves standard input and output until the input ends and what came is answered.
///
/// # Errors
/// Input that cannot be read, output that cannot be written.
pub async fn serve(server: Server, handler: impl Handler) -> io::Result<()> {
    serve_until(server, handler, std::future::pending()).await
}

/// Serves standard input and output until the input or `stop` ends, and what came before is answered.
///
/// # Errors
/// As [`serve`].
pub async fn serve_until(
    server: Server,
    handler: impl Handler,
    stop: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let input = StandardInput::until(stop)?;
    serve_on(server, handler, input, tokio::io::stdout()).await
}

/// Serves any two streams of bytes, as [`serve`] does.
///
/// # Errors
/// As [`serve`].
pub async fn serve_on(
    server: Server,
    handler: impl Handler,
    mut input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    serve_any(server, Arc::new(handler), &mut input, Box::new(output)).await
}

/// Serves streams that are known by what they do only: the body is compiled once, here, and in no crate that uses it.
#[inline(never)]
fn serve_any<'s>(
    server: Server,
    handler: Arc<dyn AnyHandler>,
    input: &'s mut (dyn AsyncRead + Unpin + Send),
    output: ServerOutput,
) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + 's>> {
    Box::pin(serve_lines(server, handler, input, output))
}

async fn serve_lines(
    server: Server,
    handler: Arc<dyn AnyHandler>,
    input: &mut (dyn AsyncRead + Unpin + Send),
    output: ServerOutput,
) -> io::Result<()> {
    let limit = server.limits().max_message_bytes;
    let (server, start) = started(server.with_loss_counter(observe::metrics::server::lost));
    let handler = observe::metrics::server::observed(handler, "pipe");
    let handler = with_tasks(handler, &server, None);
    let driver = ServerDriver::new(Arc::clone(&server), handler, start, None);
    let unread = limit.saturating_mul(UNREAD);
    let unread = Budget::new(unread, unread).of(Owner::Unknown);
    let (texts, queue) = outbox(Some(unread));
    let mut writer = spawn(write(queue, output));
    driver.send_all_to(texts.clone());
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    loop {
        let read = tokio::select! {
            read = read_line(&mut input, &mut bytes, limit) => {
                // Handlers wait for no answer of a client that cannot be read.
                read.inspect_err(|_| driver.close())?
            }
            // Nobody reads what this says: there is no one to serve.
            written = &mut writer => {
                driver.close();
                return written.map_err(io::Error::other)?;
            }
        };
        if !read {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        // A client that does not read the answers is not asked more questions.
        let Some(_turn) = texts.turn().await else {
            break;
        };
        driver.take(
            None,
            server.look(None, &bytes),
            &texts,
            ExchangeFacts::default(),
        );
    }
    driver.input_ended();
    drop((texts, driver));
    // The writer ends with the last call that is still at work.
    writer.await.map_err(io::Error::other)?
}

async fn write(mut queue: OutboxQueue, mut output: ServerOutput) -> io::Result<()> {
    while let Some(next) = queue.recv().await {
        let QueueItem::Item(item) = next else {
            continue;
        };
        // Standard output hands each write to another thread: the line and its end are one.
        let mut line = one_line(item.text.body).into_owned();
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        if queue.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}
