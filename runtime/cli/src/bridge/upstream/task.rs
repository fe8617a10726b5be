//! The task that drives a connection to a server: what its client asks goes out, and what comes back goes where it belongs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use mcp_registry::{Era, Spoken};
use mcp_revisions::carrier::Incoming;
use mcp_revisions::client::{Answered, Client, Connection, Event, Output, To, Token};
use mcp_revisions::errors;
use mcp_revisions::serve::Session;
use mcp_wire::ErrorObject;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tracing::{debug, warn};

use super::settle::{hand_in, sleep_until};
use super::{Asked, Command};
use crate::bridge::losses::{End, Losses};
use crate::bridge::wire::Line;

/// A call of a client that waits for the server.
pub(super) struct Waiting {
    pub(super) asked: Box<Asked>,
    answer: oneshot::Sender<Result<Answered, ErrorObject>>,
}

pub(super) struct Task<App: Spoken> {
    pub(super) connection: Connection<Client<App>>,
    /// None once the server has ended.
    line: Option<Line>,
    start: Instant,
    /// In the order in which they came.
    pub(super) calls: BTreeMap<Token, Waiting>,
    numbers: HashMap<u64, Token>,
    /// What the server has asked, until a client has answered.
    pub(super) questions: HashMap<Token, AbortHandle>,
    pub(super) sessions: Vec<Session>,
    /// Whether the client can be asked in results alone.
    pub(super) is_modern: bool,
    pub(super) commands: mpsc::WeakSender<Command>,
    pub(super) losses: Arc<Losses>,
}

impl<App: Spoken> Task<App> {
    pub(super) fn new(
        connection: Connection<Client<App>>,
        line: Line,
        start: Instant,
        is_modern: bool,
        commands: &mpsc::Sender<Command>,
        losses: Arc<Losses>,
    ) -> Self {
        Self {
            connection,
            line: Some(line),
            start,
            calls: BTreeMap::new(),
            numbers: HashMap::new(),
            questions: HashMap::new(),
            sessions: Vec::new(),
            is_modern,
            commands: commands.downgrade(),
            losses,
        }
    }

    pub(super) async fn run(
        mut self,
        mut queue: mpsc::Receiver<Command>,
        ending: watch::Sender<bool>,
    ) {
        loop {
            self.outputs().await;
            let wake = sleep_until(self.connection.wake_at(), self.start);
            let line = async {
                match &mut self.line {
                    Some(line) => line.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                command = queue.recv() => match command {
                    Some(Command::End) | None => break,
                    Some(command) => self.told(command),
                },
                came = line => {
                    let is_over = matches!(came, Incoming::Closed);
                    hand_in(&mut self.connection, came, self.start.elapsed());
                    if is_over {
                        warn!("a server has ended by itself");
                        self.line = None;
                        self.outputs().await;
                        let _ = ending.send(true);
                    }
                }
                () = wake => self.connection.wake(self.start.elapsed()),
            }
        }
        for question in self.questions.values() {
            question.abort();
        }
        if let Some(line) = self.line {
            line.end().await;
        }
        let _ = ending.send(true);
    }

    fn told(&mut self, command: Command) {
        let now = self.start.elapsed();
        match command {
            Command::Ask { asked, answer } => {
                let Some(line) = &self.line else {
                    // The one who waits is told by the end of the channel.
                    return;
                };
                if !line.has_room() {
                    let error = errors::internal("the server takes nothing of what it is sent");
                    let _ = answer.send(Err(error.error));
                    return;
                }
                // Whoever calls in a session can be told things, even before word of its opening has come.
                if asked.caller.revision.era() == Era::Handshake {
                    self.listens(asked.peer.session());
                }
                if let Ok(token) = self.connection.ask(asked.ask.clone(), now) {
                    self.numbers.insert(asked.number, token);
                    self.calls.insert(token, Waiting { asked, answer });
                }
            }
            Command::GiveUp(number) => {
                if let Some(token) = self.numbers.remove(&number) {
                    self.calls.remove(&token);
                    self.connection.cancel(token, None, now);
                }
            }
            Command::Notify(method, _) if !self.line.as_ref().is_some_and(Line::has_room) => {
                debug!(method, "not told to a server that takes nothing");
            }
            Command::Notify(method, params) => {
                let said = self
                    .connection
                    .notify(To::Session, &method, params.as_ref(), now);
                debug!(method, fate = ?said.fate, "told the server");
                self.losses
                    .tell(End::Server, &method, App::REVISION, None, &said.losses);
            }
            Command::Answer(token, result) => {
                if self.questions.remove(&token).is_some() {
                    let _ = self.connection.answer(token, result, now);
                }
            }
            Command::Opened(session) => self.listens(session),
            Command::End => {}
        }
    }

    fn listens(&mut self, session: Session) {
        if self.sessions.last() != Some(&session) {
            self.sessions
                .retain(|one| !one.is_over() && *one != session);
            self.sessions.push(session);
        }
    }

    async fn outputs(&mut self) {
        while let Some(output) = self.connection.poll() {
            match output {
                Output::Send(post) => {
                    if let Some(line) = &mut self.line {
                        line.send(post);
                    }
                }
                Output::Restart => {
                    if !self.line.as_mut().is_some_and(Line::restart) {
                        self.line = None;
                        self.connection.closed(self.start.elapsed());
                    }
                }
                Output::Close(exchange) => {
                    if let Some(line) = &mut self.line {
                        line.close(exchange);
                    }
                }
                Output::Event(event) => self.event(event).await,
            }
        }
    }

    async fn event(&mut self, event: Event) {
        match event {
            Event::Answered(answered) => {
                if let Some(Waiting { asked, answer }) = self.calls.remove(&answered.token) {
                    self.numbers.remove(&asked.number);
                    // Whoever asked may be gone.
                    let _ = answer.send(Ok(answered));
                }
            }
            Event::Call(call) => self.question(call),
            Event::OtherCall(call) => self.other_question(call),
            Event::Notice(notice) => self.notice(notice).await,
            Event::OtherNotice(notice) => self.other_notice(notice).await,
            Event::Cancelled(cancelled) => {
                if let Some(question) = self.questions.remove(&cancelled.token) {
                    question.abort();
                }
            }
            Event::Ignored(ignored) => debug!(?ignored, "left out of what the server said"),
            Event::NeedsAdapter(needs) => warn!(%needs, "cannot be handed on"),
            _ => {}
        }
    }
}
