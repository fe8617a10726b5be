//! The task that drives a connection to a server: requests of its clients go out, and each answer to its client.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_protocol::{Lifecycle, Loss, Revision};
use mcp_revisions::carrier::Incoming;
use mcp_revisions::client::{Answer, Client, Connection, Event, Output, To, Token};
use mcp_revisions::errors;
use mcp_wire::{Json, RequestId};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tracing::{debug, error, warn};

use super::listeners::Listeners;
use super::settle::{hand_in, sleep_until};
use super::turns::Turns;
use super::{Asked, Command, News};
use crate::bridge::Settings;
use crate::losses::{About, End};
use crate::upstream::Line;

/// A call of a client that waits for the server.
pub(super) struct Waiting {
    pub(super) asked: Box<Asked>,
    pub(super) news: News,
    /// How many questions are open in it.
    pub(super) questions: usize,
    /// Whether it was asked anything.
    pub(super) has_asked: bool,
    /// Whether it is said already that notifications are lost.
    pub(super) loses: bool,
}

/// What the server asks.
pub(super) struct Question {
    pub(super) token: Token,
    pub(super) method: String,
    pub(super) params: Json,
    /// Whether a revision has its method.
    pub(super) is_known: bool,
}

pub(super) struct Task {
    pub(super) connection: Connection<Client>,
    /// The connection to the server; `None` once it has ended.
    line: Option<Line>,
    start: Instant,
    /// The revision that the server speaks.
    spoken: Revision,
    /// In the order in which they came.
    pub(super) calls: BTreeMap<Token, Waiting>,
    numbers: HashMap<u64, Token>,
    /// What the server has asked, until a client has answered.
    pub(super) questions: HashMap<Token, (AbortHandle, Option<Token>)>,
    pub(super) turns: Turns,
    pub(super) listeners: Listeners,
    /// Whether the client can be asked in results alone.
    pub(super) is_modern: bool,
    pub(super) commands: mpsc::WeakSender<Command>,
    pub(super) settings: Arc<Settings>,
}

impl Task {
    pub(super) fn new(
        (connection, line, start, spoken): (Connection<Client>, Line, Instant, Revision),
        is_modern: bool,
        commands: &mpsc::Sender<Command>,
        listeners: Listeners,
        settings: Arc<Settings>,
    ) -> Self {
        Self {
            connection,
            line: Some(line),
            start,
            spoken,
            calls: BTreeMap::new(),
            numbers: HashMap::new(),
            questions: HashMap::new(),
            turns: Turns::default(),
            listeners,
            is_modern,
            commands: commands.downgrade(),
            settings,
        }
    }

    pub(super) async fn run(
        mut self,
        mut queue: mpsc::Receiver<Command>,
        ending: watch::Sender<bool>,
    ) {
        loop {
            self.outputs();
            self.take_turns();
            self.outputs();
            let wake = [self.connection.wake_at(), self.turns.wake_at()];
            let wake = sleep_until(wake.into_iter().flatten().min(), self.start);
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
                    if let Incoming::Failed { why, .. } = &came {
                        warn!("a request did not reach the server: {why}");
                    }
                    let now = self.now();
                    hand_in(&mut self.connection, came, now);
                    if is_over {
                        self.lost().await;
                        let _ = ending.send(true);
                    }
                }
                () = wake => self.connection.wake(self.start.elapsed()),
            }
        }
        for (question, _) in self.questions.values() {
            question.abort();
        }
        if let Some(line) = self.line {
            line.end().await;
        }
        let _ = ending.send(true);
    }

    /// The revision that the bridge speaks with the server.
    pub(super) fn app(&self) -> Revision {
        self.connection.role().app()
    }

    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Reports what a message of the server, or one for it, has lost.
    pub(super) fn tell(&self, method: &str, request: Option<&RequestId>, losses: &[Loss]) {
        let about = About {
            end: End::Server,
            revision: self.spoken,
            method,
            request,
        };
        self.settings.losses.tell(about, losses);
    }

    /// The server has ended by itself, and with it the subscriptions of its clients.
    async fn lost(&mut self) {
        let status = match &mut self.line {
            Some(line) => line.exit().await,
            None => None,
        };
        let status = status.map_or(String::new(), |status| format!(": {status}"));
        error!("a server has ended by itself{status}");
        self.line = None;
        self.outputs();
        for session in self.listeners.all() {
            session.end();
        }
    }

    fn told(&mut self, command: Command) {
        let now = self.now();
        match command {
            Command::Ask { asked, news } => {
                let Some(line) = &self.line else {
                    // The one who waits is told by the end of the channel.
                    return;
                };
                if !line.has_room() {
                    let error = errors::internal("the server takes nothing of what it is sent");
                    return news.answer(Err(error.error));
                }
                // Whoever calls in a session can be told things, even before word of its opening has come.
                if asked.caller.revision.lifecycle() == Lifecycle::Handshake {
                    self.listeners.add(asked.peer.session());
                }
                if self.turns.admits(&asked, &self.calls) {
                    return self.begin(asked, news, now);
                }
                if let Err(news) = self.turns.hold(asked, news, now) {
                    let error =
                        errors::internal("too many calls wait for a question of the server");
                    news.answer(Err(error.error));
                }
            }
            Command::GiveUp(number) => {
                self.turns.give_up(number);
                if let Some(token) = self.numbers.remove(&number) {
                    self.calls.remove(&token);
                    self.connection.cancel(token, None, now);
                }
            }
            Command::Notify(method, _) if !self.line.as_ref().is_some_and(Line::has_room) => {
                debug!(method, "not sent to a server that takes nothing");
            }
            Command::Notify(method, params) => {
                let said = self
                    .connection
                    .notify(To::Session, &method, params.as_ref(), now);
                debug!(method, fate = ?said.fate, "sent to the server");
                self.tell(&method, None, &said.losses);
            }
            Command::Answer(token, result) => {
                if self.end_question(token) {
                    let _ = self.connection.answer(token, result, now);
                }
            }
            Command::Opened(session) => self.listeners.add(session),
            Command::End => {}
        }
    }

    /// Sends a call to the server.
    pub(super) fn begin(&mut self, asked: Box<Asked>, news: News, now: Duration) {
        match self.connection.ask(asked.ask.clone(), now) {
            Ok(token) => {
                self.numbers.insert(asked.number, token);
                let waiting = Waiting {
                    asked,
                    news,
                    questions: 0,
                    has_asked: false,
                    loses: false,
                };
                self.calls.insert(token, waiting);
            }
            Err(refused) => news.answer(Err(errors::internal(&refused.to_string()).error)),
        }
    }

    fn outputs(&mut self) {
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
                Output::Event(event) => self.event(event),
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Answered(answered) => {
                if let Some(waiting) = self.calls.remove(&answered.token) {
                    self.numbers.remove(&waiting.asked.number);
                    if matches!(answered.answer, Answer::Result(_)) {
                        self.turns.answered(&waiting);
                    }
                    waiting.news.answer(Ok(answered));
                }
            }
            Event::Call(call) => self.question(call),
            Event::OtherCall(call) => self.other_question(call),
            Event::Notice(notice) => self.notice(notice),
            Event::OtherNotice(notice) => self.other_notice(notice),
            Event::Cancelled(cancelled) => {
                self.end_question(cancelled.token);
            }
            Event::Ignored(ignored) => debug!(?ignored, "left out of what the server said"),
            Event::NeedsAdapter(needs) => warn!(%needs, "cannot be handed on"),
            _ => {}
        }
    }
}
