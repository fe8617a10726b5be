//! A client's connection at work, in JSON: [`drive`] joins a [`Transport`] to an [`Application`], and its [`Handle`] sends
//! requests. The typed [`Client`](crate::service::Client) is made of these, and so is a bridge.

#[cfg(feature = "client-stdio")]
mod child;
mod driver;
mod framing;
mod handle;
#[cfg(feature = "client-http")]
pub(in crate::transport) mod http;
mod incoming;
mod lines;
pub(crate) mod servers;

use mcp_wire::Direction;

use crate::transport::spawn::{Boxed, boxed};
use mcp_revisions_sansio::client::{Exchange, Post};

pub use crate::transport::observe::ClientOperation;
pub use driver::{Application, Driver, NOT_WAITED_FOR, drive};
pub use handle::{Handle, OpenCall, Replies, RequestReply, WeakHandle};
pub use incoming::Incoming;
use lines::Lines;

/// The transport of the messages of one connection.
#[must_use]
pub struct Transport {
    running: Box<dyn RunningTransport>,
    tap: Option<Tap>,
}

/// Sees each message, with its direction and text.
type Tap = Box<dyn FnMut(Direction, &str) + Send>;

/// The streams, process or HTTP client of a transport at work.
trait RunningTransport: Send {
    /// Sends a text; a failure to deliver it is one of the next inputs.
    fn send(&mut self, post: Post);

    /// Returns whether the server has taken so much of what it was sent that it may be sent more: who sends it more all the
    /// same keeps that. Over HTTP the connection knows it, by the POSTs that are open.
    fn has_room(&self) -> bool {
        true
    }

    /// Returns a future that is ready once the server may be sent more, or takes nothing any more.
    fn room(&self) -> Boxed<'static, ()> {
        boxed(std::future::ready(()))
    }

    /// Ends an exchange: nothing more is wanted in answer to it. A line has no response of its own.
    fn close(&mut self, _: Exchange) {}

    /// Starts the server again, if that is possible and wanted, and returns whether it was; what was not heard of the old one is
    /// gone.
    fn restart(&mut self) -> std::io::Result<bool> {
        Ok(false)
    }

    /// Returns whether a server that has worked and ended is started again for the next message.
    fn outlives_its_end(&self) -> bool {
        false
    }

    /// Returns the next input.
    fn next(&mut self) -> Boxed<'_, Incoming>;

    /// Waits until the process of the server has ended, for a second at most, and returns how, for people; nothing without a
    /// process.
    fn exit(&mut self) -> Boxed<'_, String> {
        boxed(std::future::ready(String::new()))
    }

    /// Ends it, and waits until it has ended. Fails for a process that did not end by itself, and was killed.
    fn end(self: Box<Self>) -> Boxed<'static, std::io::Result<()>>;
}

impl Transport {
    /// Creates a transport over two streams; a message of more than `limit` bytes is cut.
    pub fn lines(
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        Self::of(Lines::new(input, output, limit))
    }

    fn of(running: impl RunningTransport + 'static) -> Self {
        Self {
            running: Box::new(running),
            tap: None,
        }
    }

    /// Sets what sees each message, with its direction and text.
    pub fn with_tap(mut self, tap: impl FnMut(Direction, &str) + Send + 'static) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    /// Sends a text.
    #[doc(hidden)]
    pub fn send(&mut self, post: Post) {
        if let Some(tap) = &mut self.tap {
            tap(Direction::ClientToServer, &post.text);
        }
        self.running.send(post);
    }

    pub(crate) fn has_room(&self) -> bool {
        self.running.has_room()
    }

    pub(crate) fn room(&self) -> Boxed<'static, ()> {
        self.running.room()
    }

    pub(crate) fn close(&mut self, exchange: Exchange) {
        self.running.close(exchange);
    }

    pub(crate) fn restart(&mut self) -> std::io::Result<bool> {
        self.running.restart()
    }

    pub(crate) fn outlives_its_end(&self) -> bool {
        self.running.outlives_its_end()
    }

    /// Returns the next message or event of the server.
    #[doc(hidden)]
    pub fn receive(&mut self) -> Boxed<'_, Incoming> {
        let Some(tap) = &mut self.tap else {
            return self.running.next();
        };
        let next = self.running.next();
        boxed(async move {
            let incoming = next.await;
            if let Some(text) = incoming.text() {
                tap(Direction::ServerToClient, &String::from_utf8_lossy(text));
            }
            incoming
        })
    }

    /// Waits a second for the end of the server's process, and returns how it ended; empty if it did not.
    #[doc(hidden)]
    pub fn exit(&mut self) -> Boxed<'_, String> {
        self.running.exit()
    }

    /// Ends it, and waits until it has ended. Fails for a process that did not end by itself, and was killed.
    #[doc(hidden)]
    pub fn end(self) -> Boxed<'static, std::io::Result<()>> {
        self.running.end()
    }
}

mcp_wire::debug_struct!([] Transport, "Transport", self);
