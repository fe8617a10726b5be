//! From the endpoint to running handlers: what the adapters to stdio and HTTP share.
//!
//! A [`Handler`] answers calls in the application's revision, each in a task of its own; its [`Peer`] carries what it
//! says meanwhile. Time comes from the clock of tokio here, at the edge, and nowhere below.

mod lane;

use std::future::Future;

use mcp_wire::{ErrorObject, Json};
use tokio::sync::mpsc;

use crate::server::{Call, Fate, Notice, Outgoing, Token};

pub(crate) use lane::Lane;
#[cfg(feature = "http")]
pub(crate) use lane::Taken;

/// How many texts may wait for a slow reader before whoever writes them waits too.
pub(crate) const QUEUE: usize = 64;

/// What serves the calls of clients, in the words of the application's revision.
///
/// Any `async` function from [`Call`] and [`Peer`] to a result is one.
pub trait Handler: Send + Sync + 'static {
    /// Answers a call.
    fn call(
        &self,
        call: Call,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send;

    /// Takes note of a notification.
    fn notice(&self, notice: Notice) {
        drop(notice);
    }
}

impl<F, A> Handler for F
where
    F: Fn(Call, Peer) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Json, ErrorObject>> + Send,
{
    fn call(
        &self,
        call: Call,
        peer: Peer,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send {
        self(call, peer)
    }
}

/// Whoever waits for the answer to a call, to be told things on the way.
#[derive(Clone)]
pub struct Peer {
    token: Token,
    line: std::sync::Arc<dyn Line>,
    route: mpsc::Sender<Outgoing>,
}

/// What a [`Peer`] needs of its lane, whatever the application speaks.
pub(crate) trait Line: Send + Sync {
    fn notify(&self, token: Token, method: &str, params: Option<&Json>) -> (Vec<Outgoing>, Fate);
    fn ask(
        &self,
        token: Token,
        method: &str,
        params: Option<&Json>,
    ) -> (Vec<Outgoing>, lane::Asked);
}

impl Peer {
    /// Sends a notification about the call, such as its progress; over HTTP the answer then becomes a stream.
    ///
    /// What the peer did not ask for, or does not have, is not sent; the fate says so.
    pub async fn notify(&self, method: &str, params: Option<&Json>) -> Fate {
        // Room first: nobody holds the lane while a slow reader is waited for.
        let Ok(room) = self.route.reserve().await else {
            return Fate::Unknown;
        };
        let (texts, fate) = self.line.notify(self.token, method, params);
        let mut texts = texts.into_iter();
        if let Some(text) = texts.next() {
            room.send(text);
        }
        send_all(&self.route, texts).await;
        fate
    }

    /// Asks the client something, and waits for its answer: `sampling/createMessage`, `elicitation/create`, `roots/list`.
    ///
    /// # Errors
    /// The client's own error; that it cannot be asked, as one of the modern era without an adapter; or that it is gone.
    pub async fn ask(&self, method: &str, params: Option<&Json>) -> Result<Json, ErrorObject> {
        let (texts, asked) = self.line.ask(self.token, method, params);
        send_all(&self.route, texts).await;
        let gone = || crate::errors::internal("the client is gone").error;
        match asked {
            Ok(answer) => answer.await.map_err(|_| gone())?.result,
            Err(Fate::Refused(error)) => Err(*error),
            Err(Fate::NeedsAdapter(needs)) => {
                Err(crate::errors::internal(&needs.to_string()).error)
            }
            Err(_) => Err(gone()),
        }
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

/// Sends texts on their route; if nobody reads it any more, they are for nobody.
async fn send_all(route: &mpsc::Sender<Outgoing>, texts: impl IntoIterator<Item = Outgoing>) {
    for text in texts {
        if route.send(text).await.is_err() {
            return;
        }
    }
}

/// A text as one line: line breaks between its tokens become blanks; inside strings they are escaped anyway.
pub(crate) fn line(text: &str) -> std::borrow::Cow<'_, str> {
    match text.contains(['\n', '\r']) {
        true => text.replace(['\n', '\r'], " ").into(),
        false => text.into(),
    }
}
