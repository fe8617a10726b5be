//! The client's end of a transport: texts go out, and what comes back is handed on as it is.

#[cfg(feature = "client-stdio")]
mod child;
#[cfg(feature = "client-http")]
mod http;
mod lines;

use crate::client::{Exchange, Post};

#[cfg(feature = "client-stdio")]
pub use child::Child;
#[cfg(feature = "client-http")]
pub use http::{Authorize, Http, Pending};

use lines::Lines;

/// How many messages wait to be heard before whoever sends more has to wait.
const QUEUE: usize = 64;

/// What came from the server.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message, and what it came in answer to, if the transport can tell.
    Message {
        exchange: Option<Exchange>,
        text: Vec<u8>,
    },
    /// The head of an answer over HTTP, and its body, if that is no stream of events.
    #[cfg(feature = "client-http")]
    Answered {
        exchange: Exchange,
        status: u16,
        session: Option<String>,
        body: Option<Vec<u8>>,
    },
    /// Nothing more comes in answer to this.
    #[cfg(feature = "client-http")]
    Ended(Exchange),
    /// Nothing more comes at all.
    Closed,
}

/// What carries the messages of one connection.
pub(crate) enum Carrier {
    Lines(Lines),
    #[cfg(feature = "client-stdio")]
    Child(Box<child::Running>),
    #[cfg(feature = "client-http")]
    Http(http::Running),
}

impl Carrier {
    pub(crate) fn lines(
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> Self {
        Self::Lines(Lines::new(input, output, limit))
    }

    #[cfg(feature = "client-stdio")]
    pub(crate) fn child(child: Child, limit: usize) -> std::io::Result<Self> {
        Ok(Self::Child(Box::new(child::Running::start(child, limit)?)))
    }

    #[cfg(feature = "client-http")]
    pub(crate) fn http(http: Http, limit: usize) -> Self {
        Self::Http(http::Running::new(http, limit))
    }

    /// Sends a text; what keeps it from arriving shows in what comes.
    pub(crate) fn send(&mut self, post: Post) {
        match self {
            Self::Lines(lines) => lines.send(post.text),
            #[cfg(feature = "client-stdio")]
            Self::Child(child) => child.lines.send(post.text),
            #[cfg(feature = "client-http")]
            Self::Http(http) => http.send(post),
        }
    }

    /// Nothing more is wanted in answer to this.
    pub(crate) fn close(&mut self, exchange: Exchange) {
        match self {
            #[cfg(feature = "client-http")]
            Self::Http(http) => http.close(exchange),
            // A line has no response of its own.
            _ => {
                let _ = exchange;
            }
        }
    }

    /// Starts the server again, if it can be; what was not heard of the old one is gone.
    pub(crate) fn restart(&mut self) -> bool {
        match self {
            #[cfg(feature = "client-stdio")]
            Self::Child(child) => child.restart(),
            _ => false,
        }
    }

    /// What comes next.
    pub(crate) async fn next(&mut self) -> Incoming {
        match self {
            Self::Lines(lines) => lines.next().await,
            #[cfg(feature = "client-stdio")]
            Self::Child(child) => child.lines.next().await,
            #[cfg(feature = "client-http")]
            Self::Http(http) => http.next().await,
        }
    }

    /// Ends it, and waits until it has ended.
    pub(crate) async fn end(self) {
        match self {
            Self::Lines(lines) => lines.end().await,
            #[cfg(feature = "client-stdio")]
            Self::Child(child) => child.end().await,
            #[cfg(feature = "client-http")]
            Self::Http(http) => http.end().await,
        }
    }
}
