//! A client's connection at work, in JSON: [`drive`] joins a [`Transport`] to an [`Application`], and its [`Handle`] sends
//! requests. The typed [`Client`](crate::service::Client) is made of these, and so is a bridge.

#[cfg(feature = "client-stdio")]
mod child;
mod driver;
mod framing;
mod handle;
#[cfg(feature = "client-http")]
mod http;
mod incoming;
mod lines;

use mcp_wire::Direction;

use crate::transport::spawn::{Boxed, boxed};
use mcp_revisions_sansio::client::{Exchange, Post};

#[cfg(feature = "client-stdio")]
pub use child::Child;
#[cfg(all(feature = "client-auth", feature = "server-http"))]
pub use http::sign_in::Introspection;
#[cfg(feature = "client-auth")]
pub use http::sign_in::{
    FileStore, KeptFile, MemoryStore, OAuth, OAuthBuilder, StoreGuard, TokenStore,
};
#[cfg(feature = "client-http")]
pub use http::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, Http, HttpRequest, RefusalFate, TokenId,
};

pub use driver::{Application, Driver, NOT_WAITED_FOR, OpenCall, drive};
pub use handle::{Handle, HeldRequest, NotConnected, Replies, RequestReply, WeakHandle};
pub use incoming::Incoming;
use lines::Lines;

/// The transport of the messages of one connection.
pub struct Transport {
    kind: TransportKind,
    tap: Option<Tap>,
}

/// Sees each message, with its direction and text.
type Tap = Box<dyn FnMut(Direction, &str) + Send>;

enum TransportKind {
    Lines(Lines),
    #[cfg(feature = "client-stdio")]
    Child(Box<child::ServerProcess>),
    #[cfg(feature = "client-http")]
    Http(http::HttpServer),
}

impl Transport {
    /// Creates a transport over two streams; a message of more than `limit` bytes is cut.
    #[must_use]
    pub fn lines(
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        Self::of(TransportKind::Lines(Lines::new(input, output, limit)))
    }

    /// Creates a transport to the program of a started process.
    ///
    /// # Errors
    /// A process without pipes for its standard input and output.
    #[cfg(feature = "client-stdio")]
    pub fn child(child: Child, limit: usize) -> std::io::Result<Self> {
        let server = child::ServerProcess::start(child, limit)?;
        Ok(Self::of(TransportKind::Child(Box::new(server))))
    }

    /// Creates a transport to a server over HTTP.
    #[cfg(feature = "client-http")]
    #[must_use]
    pub fn http(http: Http, limit: usize) -> Self {
        Self::of(TransportKind::Http(http::HttpServer::new(http, limit)))
    }

    fn of(kind: TransportKind) -> Self {
        Self { kind, tap: None }
    }

    /// Sets what sees each message, with its direction and text.
    #[must_use]
    pub fn with_tap(mut self, tap: impl FnMut(Direction, &str) + Send + 'static) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    /// Sends a text; a failure to deliver it is one of the next inputs.
    pub(crate) fn send(&mut self, post: Post) {
        if let Some(tap) = &mut self.tap {
            tap(Direction::ClientToServer, &post.text);
        }
        match &mut self.kind {
            TransportKind::Lines(lines) => lines.send(post),
            #[cfg(feature = "client-stdio")]
            TransportKind::Child(child) => child.lines.send(post),
            #[cfg(feature = "client-http")]
            TransportKind::Http(http) => http.send(post),
        }
    }

    /// Returns whether the server has taken so much of what it was sent that it may be sent more: who sends it more all the
    /// same keeps that. Over HTTP the connection knows it, by the POSTs that are open.
    pub(crate) fn has_room(&self) -> bool {
        match &self.kind {
            TransportKind::Lines(lines) => lines.has_room(),
            #[cfg(feature = "client-stdio")]
            TransportKind::Child(child) => child.lines.has_room(),
            #[cfg(feature = "client-http")]
            TransportKind::Http(_) => true,
        }
    }

    /// Returns what is ready once the server may be sent more, or takes nothing any more.
    pub(crate) fn room(&self) -> Boxed<'static, ()> {
        match &self.kind {
            TransportKind::Lines(lines) => boxed(lines.room()),
            #[cfg(feature = "client-stdio")]
            TransportKind::Child(child) => boxed(child.lines.room()),
            #[cfg(feature = "client-http")]
            TransportKind::Http(_) => boxed(std::future::ready(())),
        }
    }

    /// Nothing more is wanted in answer to this.
    pub(crate) fn close(&mut self, exchange: Exchange) {
        match &mut self.kind {
            #[cfg(feature = "client-http")]
            TransportKind::Http(http) => http.close(exchange),
            // A line has no response of its own.
            _ => {
                let _ = exchange;
            }
        }
    }

    /// Starts the server again, if it can be; what was not heard of the old one is gone.
    pub(crate) fn restart(&mut self) -> bool {
        match &mut self.kind {
            #[cfg(feature = "client-stdio")]
            TransportKind::Child(child) => child.restart(),
            _ => false,
        }
    }

    /// Returns whether a server that has worked and ended is started again for the next message.
    pub(crate) fn outlives_its_end(&self) -> bool {
        match &self.kind {
            #[cfg(feature = "client-stdio")]
            TransportKind::Child(child) => child.outlives_its_end(),
            _ => false,
        }
    }

    /// Returns the next input.
    #[inline(never)]
    pub(crate) fn next(&mut self) -> Boxed<'_, Incoming> {
        boxed(async {
            let incoming = match &mut self.kind {
                TransportKind::Lines(lines) => lines.next().await,
                #[cfg(feature = "client-stdio")]
                TransportKind::Child(child) => child.lines.next().await,
                #[cfg(feature = "client-http")]
                TransportKind::Http(http) => http.next().await,
            };
            if let (Some(tap), Some(text)) = (&mut self.tap, incoming.text()) {
                tap(Direction::ServerToClient, &String::from_utf8_lossy(text));
            }
            incoming
        })
    }

    /// Waits until the process of the server has ended, for a second at most, and returns how, for people; nothing without a
    /// process.
    #[inline(never)]
    pub(crate) fn exit(&mut self) -> Boxed<'_, String> {
        boxed(async {
            match &mut self.kind {
                #[cfg(feature = "client-stdio")]
                TransportKind::Child(child) => child.exit().await,
                _ => String::new(),
            }
        })
    }

    /// Ends it, and waits until it has ended.
    ///
    /// # Errors
    /// A process that did not end by itself, and was killed.
    #[inline(never)]
    pub(crate) fn end(self) -> Boxed<'static, std::io::Result<()>> {
        boxed(async {
            match self.kind {
                TransportKind::Lines(lines) => lines.end().await,
                #[cfg(feature = "client-stdio")]
                TransportKind::Child(child) => return child.end().await,
                #[cfg(feature = "client-http")]
                TransportKind::Http(http) => http.end().await,
            }
            Ok(())
        })
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}
