//! A server over stdio: one message a line, and nothing else on standard output. Feature `server-stdio`.
//!
//! ```no_run
//! use mcp_revisions::mcp_wire::Json;
//! use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
//! use mcp_revisions::{Revision, serve::Peer, stdio, core::v2025_11_25 as mcp};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let profile = Profile::new(&mcp::Implementation::new("empty", mcp_revisions::args::Version("1.0")), &mcp::ServerCapabilities::new());
//! let server = Server::new(Revision::V2025_11_25, profile)?;
//! stdio::serve(server, |call: IncomingRequest, _: Peer| async move {
//!     Err(mcp_revisions::sansio::errors::invalid_params(call.method).error)
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```

mod standard_input;
mod standard_output;

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_wire::one_line;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::{Instant, sleep_until, timeout};

use crate::serve::{
    AnyHandler, Budget, ExchangeFacts, Handler, OutboxQueue, QueueItem, ServerDriver, outbox,
    started, with_tasks,
};
use crate::transport::line::read_line;
use crate::transport::observe;
use crate::transport::spawn::{Boxed, boxed, later, spawn};
use mcp_revisions_sansio::driver::server::with_loss_counter;
use mcp_revisions_sansio::errors;
use mcp_revisions_sansio::server::{Owner, Server};
use standard_input::StandardInput;
use standard_output::StandardOutput;

/// Maximum number of messages of the greatest length that a client may leave unread; an answer beyond that becomes an error.
const UNREAD: usize = 4;

/// Time that open calls have once the client has closed its end: clients end the process soon after that.
const HUNG_UP: Duration = Duration::from_secs(2);

/// Maximum time to write the errors of calls that are not done.
const LAST_WORD: Duration = Duration::from_secs(1);

/// The output for the lines of a server.
type ServerOutput = Box<dyn AsyncWrite + Unpin + Send>;

/// The signal that ends a server, and the times that open calls have then.
struct LinesEnding<'s> {
    stop: Boxed<'s, ()>,
    stopped: Duration,
    hung_up: Duration,
}

impl LinesEnding<'_> {
    /// Returns the ending by the client, which closes its end.
    fn by_client(hung_up: Duration) -> Self {
        Self {
            stop: boxed(pending()),
            stopped: Duration::ZERO,
            hung_up,
        }
    }
}

/// Serves standard input and output until the input ends. Open calls have 2 seconds from then on, and end with an error after
/// that.
/// Dropping the future ends the server at once: open calls get no response.
///
/// # Errors
/// Input that cannot be read, output that cannot be written, and last answers that the client does not read.
pub async fn serve(server: Server, handler: impl Handler) -> io::Result<()> {
    serve_until(server, handler, pending(), HUNG_UP).await
}

/// Serves standard input and output until `stop` ends, such as [`stop_signal`](crate::stop_signal), or the input does. From
/// then on nothing is read, and open calls have the time of `grace`, or 2 seconds at most if their client has closed its end:
/// a `stop` after that ends them at once. A call that is not done by then is cancelled, and answered with an error.
/// Dropping the future ends the server at once: open calls get no response.
///
/// # Errors
/// As [`serve`].
pub async fn serve_until(
    server: Server,
    handler: impl Handler,
    stop: impl Future<Output = ()> + Send,
    grace: Duration,
) -> io::Result<()> {
    let mut input = StandardInput::new()?;
    let output = Box::new(StandardOutput::new()?);
    let ending = LinesEnding {
        stop: boxed(stop),
        stopped: grace,
        hung_up: grace.min(HUNG_UP),
    };
    serve_any(server, Arc::new(handler), &mut input, output, ending).await
}

/// Serves any two streams of bytes, as [`serve`] does.
/// Dropping the future ends the server at once: open calls get no response.
///
/// # Errors
/// As [`serve`].
pub async fn serve_on(
    server: Server,
    handler: impl Handler,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    serve_on_within(server, handler, input, output, HUNG_UP).await
}

/// Serves any two streams of bytes, as [`serve`] does; open calls have the time of `grace` once the input has ended.
/// Dropping the future ends the server at once: open calls get no response.
///
/// # Errors
/// As [`serve`].
pub async fn serve_on_within(
    server: Server,
    handler: impl Handler,
    mut input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
    grace: Duration,
) -> io::Result<()> {
    let (handler, output) = (Arc::new(handler), Box::new(output));
    let ending = LinesEnding::by_client(grace);
    serve_any(server, handler, &mut input, output, ending).await
}

/// Serves streams that are known by what they do only: the body is compiled once, here, and in no crate that uses it.
#[inline(never)]
fn serve_any<'s>(
    server: Server,
    handler: Arc<dyn AnyHandler>,
    input: &'s mut (dyn AsyncRead + Unpin + Send),
    output: ServerOutput,
    ending: LinesEnding<'s>,
) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + 's>> {
    Box::pin(serve_lines(server, handler, input, output, ending))
}

async fn serve_lines(
    server: Server,
    handler: Arc<dyn AnyHandler>,
    input: &mut (dyn AsyncRead + Unpin + Send),
    output: ServerOutput,
    mut ending: LinesEnding<'_>,
) -> io::Result<()> {
    let limit = server.limits().max_message_bytes;
    let (server, start) = started(with_loss_counter(server, observe::metrics::server::lost));
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
    let read_all = async {
        while read_line(&mut input, &mut bytes, limit).await? {
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            // A client that does not read the answers is not asked more questions.
            let Some(_turn) = texts.turn().await else {
                break;
            };
            let looked = server.look(None, &bytes);
            driver.take(None, looked, &texts, ExchangeFacts::default());
        }
        io::Result::Ok(())
    };
    let is_stopped = tokio::select! {
        read = read_all => {
            // Handlers wait for no answer of a client that cannot be read.
            read.inspect_err(|_| driver.close())?;
            false
        }
        () = &mut ending.stop => true,
        // Nobody reads what this says: there is no one to serve.
        written = &mut writer => {
            driver.close();
            return written.map_err(io::Error::other)?;
        }
    };
    driver.input_ended();
    let open = Arc::downgrade(&driver);
    drop((texts, driver));
    let over = async {
        let grace = if is_stopped {
            ending.stopped
        } else {
            ending.hung_up
        };
        let grace = sleep_until(later(Instant::now(), grace));
        if is_stopped {
            return grace.await;
        }
        tokio::select! {
            () = grace => {}
            () = ending.stop => {}
        }
    };
    tokio::select! {
        // The writer ends with the last call that is still at work.
        written = &mut writer => return written.map_err(io::Error::other)?,
        () = over => {}
    }
    if let Some(driver) = open.upgrade() {
        driver.end_calls(&errors::server_ended().error);
    }
    let Ok(written) = timeout(LAST_WORD, &mut writer).await else {
        writer.abort();
        if let Some(driver) = open.upgrade() {
            driver.close();
        }
        let why = "the client does not read the answers to its last calls";
        return Err(io::Error::new(io::ErrorKind::TimedOut, why));
    };
    written.map_err(io::Error::other)?
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
