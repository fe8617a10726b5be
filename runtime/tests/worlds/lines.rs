//! A world of two queues that deliver, lose and end, as over standard streams.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::client::{Ask, Client};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::server::{Call, Connection, Event, Output, Token};
use mcp_revisions::{Server, Spoken};
use serde_json::{Value, json};

use crate::search::World;
use crate::talk::{Ends, SUBSCRIPTION, asks, result};

/// What may happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Move {
    /// The application of the client asks: a call, a list, a subscription.
    Ask(usize),
    /// It gives up its call.
    Cancel,
    ToServer,
    ToClient,
    LoseToServer,
    LoseToClient,
    /// The handler of the oldest call answers, or asks back.
    Handle,
    AskBack,
    /// The application of the client answers the oldest question.
    Reply,
    /// The handlers say that a list has changed.
    Changed,
    /// The time comes for which somebody waits.
    Wake,
    /// The connection ends, and another one begins.
    End,
}

/// A client and a server with two queues between them.
pub(crate) struct Lines<'e, C: Spoken, S: Spoken> {
    ends: &'e Ends<C, S>,
    client: Connection<Client<C>>,
    server: Connection<Server<S>>,
    to_server: VecDeque<String>,
    to_client: VecDeque<String>,
    /// Whether each request on the wire claims a revision, by its id.
    claims: BTreeMap<String, bool>,
    asked: BTreeMap<Token, usize>,
    answered: BTreeMap<Token, usize>,
    calls: Vec<(Call, bool)>,
    questions: Vec<Token>,
    /// What differs from one replay to the next, and means the same.
    names: Vec<String>,
    now: Duration,
    done: Vec<Move>,
    /// Whether everything may happen again and again.
    is_walk: bool,
}

/// How often something may be asked in a walk, and how often something may go wrong.
const MOST: (usize, usize) = (12, 4);

impl<'e, C: Spoken, S: Spoken> Lines<'e, C, S> {
    pub(crate) fn new(ends: &'e Ends<C, S>, is_walk: bool) -> Self {
        Self {
            ends,
            client: Connection::<Client<C>>::new(Arc::clone(&ends.client)),
            server: Connection::<Server<S>>::new(Arc::clone(&ends.server)),
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            claims: BTreeMap::new(),
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
            calls: Vec::new(),
            questions: Vec::new(),
            names: Vec::new(),
            now: Duration::ZERO,
            done: Vec::new(),
            is_walk,
        }
    }

    fn count(&self, is_it: impl Fn(&Move) -> bool) -> usize {
        self.done.iter().filter(|done| is_it(done)).count()
    }

    fn wake_at(&self) -> Option<Duration> {
        let both = [self.client.wake_at(), self.server.wake_at()];
        both.into_iter().flatten().min()
    }

    /// The oldest call that its handler answers: streams it leaves open.
    fn ready(&self) -> Option<usize> {
        (self.calls.iter()).position(|(call, _)| call.method != "subscriptions/listen")
    }

    /// The oldest call whose handler has not asked yet.
    fn curious(&self) -> Option<usize> {
        (self.calls.iter()).position(|(call, asked)| call.method == "tools/call" && !asked)
    }

    fn end(&mut self) {
        self.client.closed(self.now);
        self.restart();
    }

    /// A new process at the other end: what was on the way to and from the old one is lost.
    fn restart(&mut self) {
        self.server = Connection::<Server<S>>::new(Arc::clone(&self.ends.server));
        self.to_server.clear();
        self.to_client.clear();
        self.calls.clear();
    }

    fn pump(&mut self) {
        loop {
            if let Some(output) = self.client.poll() {
                match output {
                    Output::Send(post) => {
                        let message: Value = serde_json::from_str(&post.text).unwrap();
                        if message.get("method").is_some() && message.get("id").is_some() {
                            let meta = &message["params"]["_meta"];
                            let claims = !meta["io.modelcontextprotocol/protocolVersion"].is_null();
                            self.claims.insert(message["id"].to_string(), claims);
                        }
                        self.to_server.push_back(post.text);
                    }
                    Output::Restart => self.restart(),
                    Output::Close(_) => {}
                    Output::Event(Event::Answered(answered)) => {
                        *self.answered.entry(answered.token).or_default() += 1;
                        assert_eq!(self.answered[&answered.token], 1, "{:?}", self.done);
                        assert!(self.asked.contains_key(&answered.token), "{:?}", self.done);
                    }
                    Output::Event(Event::Call(call)) => self.questions.push(call.token),
                    Output::Event(Event::Cancelled(cancelled)) => {
                        self.questions.retain(|token| *token != cancelled.token);
                    }
                    Output::Event(_) => {}
                }
                continue;
            }
            let Some(output) = self.server.poll() else {
                return;
            };
            match output {
                Output::Send(text) if text.body.is_empty() => {}
                Output::Send(text) => self.to_client.push_back(text.body),
                Output::Event(Event::Call(call)) => {
                    // Made again, it takes the place of the one before.
                    self.calls.retain(|(before, _)| before.token != call.token);
                    self.calls.push((call, false));
                }
                Output::Event(Event::Cancelled(cancelled)) => {
                    self.calls.retain(|(call, _)| call.token != cancelled.token);
                }
                Output::Event(Event::Parked { ticket, .. }) => self.names.push(ticket.to_string()),
                _ => {}
            }
        }
    }

    /// An answer is in the revision of its request.
    fn check(&mut self, text: &str) {
        let message: Value = serde_json::from_str(text).unwrap();
        if let Some(state) = message["result"]["requestState"].as_str() {
            self.names.push(state.to_owned());
        }
        if let (Some(result), Some(claims)) = (
            message.get("result"),
            self.claims.get(&message["id"].to_string()),
        ) {
            let is_modern = result.get("resultType").is_some();
            assert_eq!(is_modern, *claims, "{text} after {:?}", self.done);
        }
    }
}

impl<C: Spoken, S: Spoken> World for Lines<'_, C, S> {
    type Move = Move;

    /// What may happen now: faults are few, so that there is something to go wrong.
    fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        let never = |one: Move| self.is_walk || self.count(|done| *done == one) == 0;
        let asks = self.count(|done| matches!(done, Move::Ask(_)));
        if asks < MOST.0 {
            moves.extend((0..3).map(Move::Ask).filter(|one| never(*one)));
        }
        let faults =
            self.count(|done| matches!(done, Move::LoseToServer | Move::LoseToClient | Move::End));
        let most = if self.is_walk { MOST.1 } else { 1 };
        let mut add = |one, may: bool| moves.extend(may.then_some(one));
        add(
            Move::Cancel,
            self.done.contains(&Move::Ask(0)) && never(Move::Cancel),
        );
        add(Move::ToServer, !self.to_server.is_empty());
        add(Move::ToClient, !self.to_client.is_empty());
        add(
            Move::LoseToServer,
            !self.to_server.is_empty() && faults < most,
        );
        add(
            Move::LoseToClient,
            !self.to_client.is_empty() && faults < most,
        );
        add(Move::Handle, self.ready().is_some());
        add(Move::AskBack, self.curious().is_some());
        add(Move::Reply, !self.questions.is_empty());
        add(Move::Changed, !self.done.is_empty() && never(Move::Changed));
        add(
            Move::Wake,
            self.wake_at().is_some() && self.count(|done| *done == Move::Wake) < 2,
        );
        add(Move::End, !self.done.is_empty() && faults < most);
        moves
    }

    fn make(&mut self, one: Move) {
        self.done.push(one);
        let now = self.now;
        match one {
            Move::Ask(index) => {
                let (method, params) = asks::<C>()[index].clone();
                let ask = Ask::new(method, Some(Json::from(params)));
                let token = self.client.ask(ask, now).unwrap();
                assert!(self.asked.insert(token, index).is_none());
            }
            Move::Cancel => {
                let call = self.asked.iter().rfind(|(_, index)| **index == 0);
                self.client.cancel(*call.unwrap().0, None, now);
            }
            Move::ToServer => {
                let text = self.to_server.pop_front().unwrap();
                self.server.receive(None, text.as_bytes(), now);
            }
            Move::ToClient => {
                let text = self.to_client.pop_front().unwrap();
                self.check(&text);
                self.client.receive(None, text.as_bytes(), now);
            }
            Move::LoseToServer => drop(self.to_server.pop_front()),
            Move::LoseToClient => drop(self.to_client.pop_front()),
            Move::Handle => {
                let (call, _) = self.calls.remove(self.ready().unwrap());
                let result = result::<S>(&call);
                let _ = self.server.answer(call.token, Ok(result), now);
            }
            Move::AskBack => {
                let index = self.curious().unwrap();
                self.calls[index].1 = true;
                let ask = Ask::new("roots/list", None).about(self.calls[index].0.token);
                // Whether it can be asked is not the point here.
                let _ = self.server.ask(ask, now);
            }
            Move::Reply => {
                let question = self.questions.remove(0);
                let _ = self
                    .client
                    .answer(question, Ok(Json::from(json!({"roots": []}))), now);
            }
            Move::Changed => {
                let to = mcp_revisions::server::To::Session;
                let _ = self
                    .server
                    .notify(to, "notifications/tools/list_changed", None, now);
            }
            Move::Wake => {
                self.now = self.wake_at().unwrap();
                self.client.wake(self.now);
                self.server.wake(self.now);
            }
            Move::End => self.end(),
        }
        self.pump();
    }

    fn print(&self) -> u64 {
        let mut text = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            self.client,
            self.server,
            self.to_server,
            self.to_client,
            self.answered,
            self.calls,
            self.questions,
            self.now,
        );
        for (index, name) in self.names.iter().enumerate() {
            text = text.replace(name, &format!("name {index}"));
        }
        let once = |one: Move| self.done.contains(&one);
        let faults = once(Move::LoseToServer) || once(Move::LoseToClient) || once(Move::End);
        let wakes = self.count(|done| *done == Move::Wake);
        let mut hasher = DefaultHasher::new();
        (text, faults, wakes, once(Move::Cancel), once(Move::Changed)).hash(&mut hasher);
        for one in 0..3 {
            self.asked
                .values()
                .any(|index| *index == one)
                .hash(&mut hasher);
        }
        hasher.finish()
    }

    fn run_out(mut self) {
        let lost = self.count(|done| matches!(done, Move::LoseToServer | Move::LoseToClient)) > 0;
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 1_000, "it goes on and on after {:?}", self.done);
            let next = if !self.to_server.is_empty() {
                Move::ToServer
            } else if !self.to_client.is_empty() {
                Move::ToClient
            } else if self.ready().is_some() {
                Move::Handle
            } else if !self.questions.is_empty() {
                Move::Reply
            } else {
                break;
            };
            self.make(next);
        }
        let open: Vec<usize> = (self.asked.iter())
            .filter(|(token, _)| !self.answered.contains_key(token))
            .map(|(_, index)| *index)
            .collect();
        // Streams stay open, and what was lost may be waited for; all else has its answer.
        let probes = self.client.verdict().is_none();
        assert!(
            lost || probes || open.iter().all(|index| *index == SUBSCRIPTION),
            "no answer to {open:?} after {:?}\n{:?}",
            self.done,
            self.client,
        );
        self.server.closed(self.now);
        self.pump();
        self.client.closed(self.now);
        self.pump();
        while self.client.pending() > 0 && steps < 2_000 {
            // It was about to ask a server that has ended by now.
            steps += 1;
            self.client.closed(self.now);
            self.pump();
        }
        let tokens: Vec<_> = self.asked.keys().collect();
        assert_eq!(
            tokens,
            self.answered.keys().collect::<Vec<_>>(),
            "{:?}",
            self.done
        );
        assert_eq!(self.client.pending(), 0, "{:?}", self.done);
        let left = (self.server.pending(), self.server.asked());
        // What it asked a client that lost it is dropped with the connection.
        assert!(left == (0, 0) || lost, "{left:?} after {:?}", self.done);
    }
}
