//! The ways to an upstream server: as a process, at a URL, over two streams, or within this process.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use mcp_revisions::client_transport::Transport;
use mcp_revisions::sansio::client::Channel;
use mcp_revisions::service::client::{Child, Http};
use mcp_revisions::{Limits, RevisionSet, service::lock};
use mcp_wire::Direction;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;

/// Boxed, so that upstreams of every kind are one type.
type BoxedStream<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Makes a connection to the server.
type Connect = dyn Fn(usize) -> BoxedStream<io::Result<Transport>> + Send + Sync;

/// Sees each message of one connection, with its direction and text.
type MessageTap = Box<dyn FnMut(Direction, &str) + Send>;

/// Makes the tap of one more connection.
type Tapped = dyn Fn() -> io::Result<MessageTap> + Send + Sync;

/// A server that a bridge connects to, as often as its clients need connections of their own; clones are the same server.
#[derive(Clone)]
#[must_use]
pub struct Upstream {
    name: Arc<str>,
    channel: Channel,
    connect: Arc<Connect>,
    tapped: Option<Arc<Tapped>>,
    /// The revisions that its card names.
    pub(crate) likely: RevisionSet,
    /// Set if no connection to it can ever be made.
    pub(crate) is_unusable: bool,
}

mcp_wire::debug_struct!([] Upstream, "Upstream", self, "name": self.name);

impl Upstream {
    /// Returns a server that is a program, which is started for each connection. Its standard error is that of this process.
    pub fn command(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let program = program.into();
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let name = program.to_string_lossy().into_owned();
        Self::child(&name, move || {
            let mut command = Command::new(&program);
            command.args(&arguments);
            Child::new(command)
        })
    }

    /// Returns a server that is a program as `child` sets it up for each connection, with its environment, its folder, and what
    /// gets the lines of its standard error. Errors for clients have its `name`.
    pub fn child(name: &str, child: impl Fn() -> Child + Send + Sync + 'static) -> Self {
        Self::new(name, Channel::Stdio, move |limit| {
            let started = Transport::child(child(), limit);
            Box::pin(std::future::ready(started))
        })
    }

    /// Returns a server over streamable HTTP, or over HTTP+SSE if it speaks nothing newer.
    pub fn url(http: Http) -> Self {
        let (name, likely) = (http.shown(), http.likely_revisions());
        let upstream = Self::new(&name, Channel::Http, move |limit| {
            Box::pin(std::future::ready(Ok(Transport::http(http.clone(), limit))))
        });
        Self { likely, ..upstream }
    }

    /// Returns a server that is an HTTP service in this process, such as one that another SDK made; no socket is opened.
    ///
    /// Requests are for `http://localhost/` with the path `/mcp`.
    pub fn service<S, B>(service: S) -> Self
    where
        S: tower_service::Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self::url(Http::in_process(service))
    }

    /// Returns a server over two streams of bytes, one message per line, that `connect` opens for each connection: what
    /// the bridge reads, and what it writes.
    pub fn streams<C, F, R, W>(name: &str, connect: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self::new(name, Channel::Stdio, move |limit| {
            let connected = connect();
            Box::pin(async move {
                let (input, output) = connected.await?;
                Ok(Transport::lines(input, output, limit))
            })
        })
    }

    /// Returns a server over these two streams, for one client over stdio: the bridge can connect once.
    pub fn pair<R, W>(name: &str, input: R, output: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let pair = Mutex::new(Some((input, output)));
        Self::streams(name, move || {
            let ends = lock(&pair).take();
            let why = "these streams have been used: they serve one connection";
            std::future::ready(ends.ok_or_else(|| io::Error::other(why)))
        })
    }

    /// Returns a server that cannot be used for this reason, which its clients get: it stands for a wrong definition, so that what
    /// is defined beside it is served.
    pub fn unusable(name: &str, why: &str) -> Self {
        let reason: Arc<str> = why.into();
        let unusable = Self::new(name, Channel::Stdio, move |_| {
            let reason = Arc::clone(&reason);
            Box::pin(async move { Err(io::Error::other(&*reason)) })
        });
        Self {
            is_unusable: true,
            ..unusable
        }
    }

    fn new(
        name: &str,
        channel: Channel,
        connect: impl Fn(usize) -> BoxedStream<io::Result<Transport>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            channel,
            connect: Arc::new(connect),
            tapped: None,
            likely: RevisionSet::none(),
            is_unusable: false,
        }
    }

    /// Sets what sees the messages of each connection, in both directions: `tap` is called once per connection, and what
    /// it returns with each message.
    pub fn with_tap<T>(mut self, tap: impl Fn() -> io::Result<T> + Send + Sync + 'static) -> Self
    where
        T: FnMut(Direction, &str) + Send + 'static,
    {
        self.tapped = Some(Arc::new(move || {
            tap().map(|tap| Box::new(tap) as MessageTap)
        }));
        self
    }

    /// Returns the name of the server, for people: the name that it was given, its program, or its URL without user and query.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel
    }

    /// Starts the server, or gets ready to reach it.
    pub(crate) async fn connect(&self) -> io::Result<Transport> {
        let limit = Limits::default().max_message_bytes;
        let transport = (self.connect)(limit).await?;
        Ok(match &self.tapped {
            Some(tapped) => transport.with_tap(tapped()?),
            None => transport,
        })
    }
}
