//! The client's end of a transport: texts go out, and what comes back is handed on as it is.
//!
//! For those who drive a [`Connection`](crate::client::Connection) of their own, as a bridge does.

#[cfg(feature = "client-stdio")]
mod child;
#[cfg(feature = "client-http")]
mod http;
mod lines;

use crate::client::{Exchange, Post};

#[cfg(feature = "client-stdio")]
pub use child::Child;
#[cfg(feature = "client-http")]
pub use http::{AuthProvider, Http, Pending};

use lines::Lines;

/// How many messages wait to be heard before whoever sends more has to wait.
const QUEUE: usize = 64;

/// What came from the server.
#[derive(Debug)]
pub enum Incoming {
    /// A message, and what it came in answer to, if the transport can tell.
    Message {
        /// What it answers.
        exchange: Option<Exchange>,
        /// Its bytes.
        text: Vec<u8>,
    },
    /// The head of an answer over HTTP, and its body, if that is no stream of events.
    #[cfg(feature = "client-http")]
    Answered {
        /// What it answers.
        exchange: Exchange,
        /// Its status.
        status: u16,
        /// Its `Mcp-Session-Id`.
        session: Option<String>,
        /// Its body; none if that is a stream, whose messages follow.
        body: Option<Vec<u8>>,
    },
    /// Nothing more comes in answer to this.
    #[cfg(feature = "client-http")]
    Ended(Exchange),
    /// The request did not reach the server, or its answer broke off: nothing comes in answer to this.
    #[cfg(feature = "client-http")]
    Failed {
        /// What it was to be the answer to.
        exchange: Exchange,
        /// Why, for people.
        why: String,
    },
    /// Nothing more comes at all.
    Closed,
}

/// What carries the messages of one connection.
pub struct Transport(Kind);

enum Kind {
    Lines(Lines),
    #[cfg(feature = "client-stdio")]
    Child(Box<child::McpServer>),
    #[cfg(feature = "client-http")]
    Http(http::McpServer),
}

impl Transport {
    /// A server at the other end of two streams; a message of more than `limit` bytes is cut.
    #[must_use]
    pub fn lines(
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        Self(Kind::Lines(Lines::new(input, output, limit)))
    }

    /// A program that is started.
    ///
    /// # Errors
    /// A program that cannot be started.
    #[cfg(feature = "client-stdio")]
    pub fn child(child: Child, limit: usize) -> std::io::Result<Self> {
        Ok(Self(Kind::Child(Box::new(child::McpServer::start(
            child, limit,
        )?))))
    }

    /// A server over HTTP.
    #[cfg(feature = "client-http")]
    #[must_use]
    pub fn http(http: Http, limit: usize) -> Self {
        Self(Kind::Http(http::McpServer::new(http, limit)))
    }

    /// Sends a text; what keeps it from arriving shows in what comes.
    pub fn send(&mut self, post: Post) {
        match &mut self.0 {
            Kind::Lines(lines) => lines.send(post.text),
            #[cfg(feature = "client-stdio")]
            Kind::Child(child) => child.lines.send(post.text),
            #[cfg(feature = "client-http")]
            Kind::Http(http) => http.send(post),
        }
    }

    /// Whether the server has taken so much of what it was sent that it may be sent more: who sends it more all the
    /// same keeps that. Over HTTP the connection knows it, by the POSTs that are open.
    #[must_use]
    pub fn has_room(&self) -> bool {
        match &self.0 {
            Kind::Lines(lines) => lines.has_room(),
            #[cfg(feature = "client-stdio")]
            Kind::Child(child) => child.lines.has_room(),
            #[cfg(feature = "client-http")]
            Kind::Http(_) => true,
        }
    }

    /// Nothing more is wanted in answer to this.
    pub fn close(&mut self, exchange: Exchange) {
        match &mut self.0 {
            #[cfg(feature = "client-http")]
            Kind::Http(http) => http.close(exchange),
            // A line has no response of its own.
            _ => {
                let _ = exchange;
            }
        }
    }

    /// Starts the server again, if it can be; what was not heard of the old one is gone.
    pub fn restart(&mut self) -> bool {
        match &mut self.0 {
            #[cfg(feature = "client-stdio")]
            Kind::Child(child) => child.restart(),
            _ => false,
        }
    }

    /// What comes next.
    pub async fn next(&mut self) -> Incoming {
        match &mut self.0 {
            Kind::Lines(lines) => lines.next().await,
            #[cfg(feature = "client-stdio")]
            Kind::Child(child) => child.lines.next().await,
            #[cfg(feature = "client-http")]
            Kind::Http(http) => http.next().await,
        }
    }

    /// Waits until the process of the server has ended, for a second at most, and returns how; none without a process.
    #[cfg(feature = "client-stdio")]
    pub async fn exit(&mut self) -> Option<std::process::ExitStatus> {
        match &mut self.0 {
            Kind::Child(child) => child.exit().await,
            _ => None,
        }
    }

    /// Ends it, and waits until it has ended.
    ///
    /// # Errors
    /// A process that did not end by itself, and was killed.
    pub async fn end(self) -> std::io::Result<()> {
        match self.0 {
            Kind::Lines(lines) => lines.end().await,
            #[cfg(feature = "client-stdio")]
            Kind::Child(child) => return child.end().await,
            #[cfg(feature = "client-http")]
            Kind::Http(http) => http.end().await,
        }
        Ok(())
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}
