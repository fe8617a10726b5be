//! One channel at work: its state behind a lock that is never held while anybody waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcp_wire::{ErrorObject, Json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::{Handler, Line, Peer, send_all};
use crate::Spoken;
use crate::headers::Headers;
use crate::server::{
    Call, Channel, Event, Exchange, Fate, Outgoing, PeerAnswer, Reply, Server, To, Token,
};

/// The answer that will come, or why none will.
pub(crate) type Asked = Result<oneshot::Receiver<PeerAnswer>, Fate>;

/// A channel, who serves it, and who waits for what on it.
pub(crate) struct Lane<App, H> {
    server: Arc<Server<App>>,
    handler: Arc<H>,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    channel: Channel,
    /// Where the texts of an exchange go.
    routes: HashMap<Exchange, mpsc::Sender<Outgoing>>,
    /// Where texts go that belong to no exchange.
    at_large: Option<mpsc::Sender<Outgoing>>,
    tasks: HashMap<Token, AbortHandle>,
    asked: HashMap<u64, oneshot::Sender<PeerAnswer>>,
    last_key: u64,
    /// Whether the peer will not say anything any more.
    is_silent: bool,
}

/// What became of a text that came in.
pub(crate) struct Taken {
    /// What to send back at once; none while calls are at work.
    pub(crate) reply: Option<Reply>,
    /// The calls at work.
    pub(crate) tokens: Vec<Token>,
    /// Whether they are of a peer that gives them up by hanging up.
    pub(crate) hangs_up: bool,
}

impl<App: Spoken, H: Handler> Lane<App, H> {
    /// A lane on which nothing has been said.
    pub(crate) fn new(server: Arc<Server<App>>, handler: Arc<H>, start: Instant) -> Arc<Self> {
        Arc::new(Self {
            server,
            handler,
            start,
            state: Mutex::default(),
        })
    }

    /// Sends what belongs to no exchange there; the route that it took before, if that is still open.
    pub(crate) fn at_large(
        &self,
        route: mpsc::Sender<Outgoing>,
    ) -> Result<(), mpsc::Sender<Outgoing>> {
        let mut state = self.state();
        match &state.at_large {
            Some(before) if !before.is_closed() => Err(route),
            _ => {
                state.at_large = Some(route);
                Ok(())
            }
        }
    }

    /// Whether anything is being worked on, or anybody listens.
    #[cfg(feature = "http")]
    pub(crate) fn is_idle_since(&self, time: Duration) -> bool {
        let state = self.state();
        let listens = state
            .at_large
            .as_ref()
            .is_some_and(|route| !route.is_closed());
        state.tasks.is_empty() && !listens && state.channel.last_heard() + time < self.now()
    }

    /// Takes a text; calls in it start to work, and what they say goes to `route`.
    pub(crate) async fn take(
        self: &Arc<Self>,
        headers: Option<&Headers<'_>>,
        bytes: &[u8],
        route: &mpsc::Sender<Outgoing>,
    ) -> Taken {
        let (taken, send) = self.take_now(headers, bytes, route);
        for (route, text) in send {
            send_all(&route, [text]).await;
        }
        taken
    }

    fn take_now(
        self: &Arc<Self>,
        headers: Option<&Headers<'_>>,
        bytes: &[u8],
        route: &mpsc::Sender<Outgoing>,
    ) -> (Taken, Vec<(mpsc::Sender<Outgoing>, Outgoing)>) {
        let mut state = self.state();
        let received = self
            .server
            .receive(&mut state.channel, headers, bytes, self.now());
        if received.reply.is_none() {
            state.routes.insert(received.exchange, route.clone());
        }
        let mut taken = Taken {
            reply: received.reply,
            tokens: Vec::new(),
            hangs_up: false,
        };
        let mut send = Vec::new();
        for event in received.events {
            match event {
                Event::Call(call) => {
                    taken.tokens.push(call.token);
                    taken.hangs_up |= call.peer.era() == mcp_registry::Era::PerRequest;
                    self.start(&mut state, call, route);
                }
                other => send.extend(self.settle(&mut state, other)),
            }
        }
        (taken, send)
    }

    /// Does what an event asks for, but for calls; a text to send comes back with its route.
    fn settle(
        &self,
        state: &mut State,
        event: Event,
    ) -> Option<(mpsc::Sender<Outgoing>, Outgoing)> {
        match event {
            Event::Send(text) => return state.routed(text),
            Event::Notice(notice) => self.handler.notice(notice),
            Event::Cancelled(cancelled) => {
                if let Some(task) = state.tasks.remove(&cancelled.token) {
                    task.abort();
                }
                if cancelled.ends_exchange {
                    state.routes.remove(&cancelled.exchange);
                }
            }
            Event::Answered(answer) => {
                if let Some(waits) = state.asked.remove(&answer.key) {
                    // Whoever asked may have been cancelled since.
                    let _ = waits.send(answer);
                }
            }
            _ => {}
        }
        None
    }

    /// Lets the handler work on a call.
    fn start(self: &Arc<Self>, state: &mut State, call: Call, route: &mpsc::Sender<Outgoing>) {
        let token = call.token;
        let line: Arc<dyn Line> = Arc::<Self>::clone(self);
        let peer = Peer {
            token,
            line,
            route: route.clone(),
        };
        let lane = Arc::clone(self);
        let route = route.clone();
        // A task of its own for the handler: one that panics is answered for.
        let work = tokio::spawn(async move {
            let handler = Arc::clone(&lane.handler);
            let work = tokio::spawn(async move { handler.call(call, peer).await });
            let _abort = AbortOnDrop(work.abort_handle());
            let result = work
                .await
                .unwrap_or_else(|_| Err(crate::errors::internal("the handler failed").error));
            lane.answer(token, result, &route).await;
        });
        state.tasks.insert(token, work.abort_handle());
    }

    async fn answer(
        &self,
        token: Token,
        result: Result<Json, ErrorObject>,
        route: &mpsc::Sender<Outgoing>,
    ) {
        // Room first, as for notifications; if nobody reads any more, the answer is for nobody.
        let room = route.reserve().await;
        let (mut texts, events) = {
            let mut state = self.state();
            state.tasks.remove(&token);
            let output = self
                .server
                .answer(&mut state.channel, token, result, self.now());
            for text in &output.send {
                if let Some(exchange) = text.exchange.filter(|_| text.last) {
                    state.routes.remove(&exchange);
                }
            }
            let routed: Vec<_> = output
                .events
                .into_iter()
                .filter_map(|event| self.settle(&mut state, event))
                .collect();
            (output.send.into_iter(), routed)
        };
        if let Ok(room) = room
            && let Some(text) = texts.next()
        {
            room.send(text);
        }
        send_all(route, texts).await;
        for (route, text) in events {
            send_all(&route, [text]).await;
        }
    }

    /// The peer hung up: calls whose answers nobody would read are given up.
    #[cfg(feature = "http")]
    pub(crate) fn hung_up(&self, tokens: &[Token]) {
        let mut state = self.state();
        for &token in tokens {
            let output = self
                .server
                .cancel(&mut state.channel, token, None, self.now());
            for event in output.events {
                self.settle(&mut state, event);
            }
        }
    }

    /// The peer will not say anything any more: whoever waits for an answer of it waits in vain.
    #[cfg(feature = "stdio")]
    pub(crate) fn input_ended(&self) {
        let mut state = self.state();
        state.is_silent = true;
        state.asked.clear();
    }

    /// The session ended: every call on it is given up.
    #[cfg(feature = "http")]
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.channel.close();
        state.routes.clear();
        state.at_large = None;
        state.asked.clear();
        for (_, task) in state.tasks.drain() {
            task.abort();
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock leaves it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn routed(&mut self, text: Outgoing) -> Option<(mpsc::Sender<Outgoing>, Outgoing)> {
        let route = match text.exchange {
            Some(exchange) if text.last => self.routes.remove(&exchange),
            Some(exchange) => self.routes.get(&exchange).cloned(),
            None => None,
        };
        Some((route.or_else(|| self.at_large.clone())?, text))
    }
}

impl<App: Spoken, H: Handler> Line for Lane<App, H> {
    fn notify(&self, token: Token, method: &str, params: Option<&Json>) -> (Vec<Outgoing>, Fate) {
        let mut state = self.state();
        let output = self.server.notify(
            &mut state.channel,
            To::Request(token),
            method,
            params,
            self.now(),
        );
        (output.send, output.fate)
    }

    fn ask(&self, token: Token, method: &str, params: Option<&Json>) -> (Vec<Outgoing>, Asked) {
        let mut state = self.state();
        if state.is_silent {
            return (Vec::new(), Err(Fate::Unknown));
        }
        state.last_key += 1;
        let key = state.last_key;
        let output = self.server.ask(
            &mut state.channel,
            key,
            Some(token),
            method,
            params,
            self.now(),
        );
        match output.fate {
            Fate::Sent | Fate::Adapted => {
                let (answer, waits) = oneshot::channel();
                state.asked.insert(key, answer);
                (output.send, Ok(waits))
            }
            fate => (output.send, Err(fate)),
        }
    }
}

/// Ends a task with the one that waits for it.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
