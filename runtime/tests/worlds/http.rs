//! A world of POSTs, as over HTTP: each has a response of its own, and all of them may come in any order, break off, or
//! never arrive. A modern request is served by itself; a session lives where it was opened, until the server restarts.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::client::{Ask, Client, Exchange, Post};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::server::{Call, Connection, Event, Outgoing, Output, To, Token};
use mcp_revisions::{Headers, Server, Spoken, headers};
use serde_json::{Value, json};

use crate::search::World;
use crate::talk::{Ends, SUBSCRIPTION, asks, result};

/// What may happen next; where several POSTs are open, to which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// The application of the client asks: a call, a list, a subscription.
    Ask(usize),
    /// It gives up its call.
    Cancel,
    /// A POST reaches the server.
    Arrive(usize),
    /// The next text of a response reaches the client.
    Deliver(usize),
    /// A POST is lost, or its response breaks off.
    Break(usize),
    /// What a session is told outside of any response.
    DeliverAtLarge,
    /// The handler of a call answers, or asks back.
    Handle,
    AskBack,
    /// The application of the client answers the oldest question.
    Reply,
    /// The handlers say that a list has changed, to whoever listens.
    Changed,
    /// The time comes for which somebody waits.
    Wake,
    /// The server starts anew, and knows of nothing.
    Restart,
}

/// A POST, and how far it has come.
struct Open {
    post: Post,
    /// Where the server works on it, once it has arrived.
    at: Option<(usize, Exchange)>,
    response: VecDeque<Outgoing>,
    session: Option<String>,
    /// Whether the response is a stream that has begun.
    is_stream: bool,
}

/// A call that a handler works on.
#[derive(Debug)]
struct Working {
    lane: usize,
    call: Call,
    has_asked: bool,
    /// What it asks back.
    ask: Option<Token>,
}

/// A client, and the connections of a server that its POSTs have opened.
pub(crate) struct Http<'e, C: Spoken, S: Spoken> {
    ends: &'e Ends<C, S>,
    client: Connection<Client<C>>,
    lanes: Vec<Connection<Server<S>>>,
    sessions: BTreeMap<String, usize>,
    parked: BTreeMap<u64, usize>,
    open: Vec<Open>,
    at_large: VecDeque<String>,
    /// Whether each request on the wire claims a revision, by its id.
    claims: BTreeMap<String, bool>,
    asked: BTreeMap<Token, usize>,
    answered: BTreeMap<Token, usize>,
    calls: Vec<Working>,
    questions: Vec<Token>,
    /// What differs from one replay to the next, and means the same.
    names: Vec<String>,
    now: Duration,
    done: Vec<Move>,
    /// How many sessions there were: each has a name of its own.
    opened: usize,
    /// Whether everything may happen again and again.
    is_walk: bool,
}

/// How often something may be asked in a walk, and how often something may go wrong.
const MOST: (usize, usize) = (12, 4);

impl<'e, C: Spoken, S: Spoken> Http<'e, C, S> {
    pub(crate) fn new(ends: &'e Ends<C, S>, is_walk: bool) -> Self {
        Self {
            ends,
            client: Connection::<Client<C>>::new(Arc::clone(&ends.client)),
            lanes: Vec::new(),
            sessions: BTreeMap::new(),
            parked: BTreeMap::new(),
            open: Vec::new(),
            at_large: VecDeque::new(),
            claims: BTreeMap::new(),
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
            calls: Vec::new(),
            questions: Vec::new(),
            names: Vec::new(),
            now: Duration::ZERO,
            done: Vec::new(),
            opened: 0,
            is_walk,
        }
    }

    fn count(&self, is_it: impl Fn(&Move) -> bool) -> usize {
        self.done.iter().filter(|done| is_it(done)).count()
    }

    fn faults(&self) -> usize {
        self.count(|done| matches!(done, Move::Break(_) | Move::Restart))
    }

    fn wake_at(&self) -> Option<Duration> {
        let lanes = self.lanes.iter().filter_map(Connection::wake_at);
        lanes.chain(self.client.wake_at()).min()
    }

    /// The oldest call that its handler answers: streams it leaves open.
    fn ready(&self) -> Option<usize> {
        (self.calls.iter()).position(|it| it.call.method != "subscriptions/listen")
    }

    /// The oldest call whose handler has not asked yet.
    fn curious(&self) -> Option<usize> {
        (self.calls.iter()).position(|it| it.call.method == "tools/call" && !it.has_asked)
    }

    /// A POST reaches the server: a message of a session goes where that is, all else stands alone.
    fn arrive(&mut self, index: usize) {
        let post = self.open[index].post.clone();
        let pairs = post.headers.iter();
        let told = Headers::from_pairs(pairs.map(|(name, value)| (name.as_str(), value.as_str())));
        let session = post.headers.iter();
        let session = session
            .filter(|(name, _)| name.eq_ignore_ascii_case(headers::SESSION_ID))
            .map(|(_, id)| id.clone())
            .next();
        let server = Arc::clone(&self.ends.server);
        let looked = server.look(Some(&told), post.text.as_bytes());
        let needs_session = looked
            .settlement()
            .is_some_and(|it| it.needs_session(session.is_some()));
        let serves_sessions = server.served().has(mcp_revisions::Era::Handshake);
        let ticket = looked.message().and_then(|message| {
            let ticket = server.ticket(message, None, self.now)?;
            self.parked.get(&ticket).copied()
        });
        let lane = match (needs_session && serves_sessions, session) {
            (true, None) => return self.refuse(index, 400),
            (true, Some(id)) => match self.sessions.get(&id) {
                Some(lane) => *lane,
                None => return self.refuse(index, 404),
            },
            (false, _) => ticket.unwrap_or_else(|| {
                self.lanes.push(Connection::new(Arc::clone(&server)));
                self.lanes.len() - 1
            }),
        };
        let exchange = self.lanes[lane].take(Some(&told), looked, self.now);
        self.open[index].at = Some((lane, exchange));
    }

    /// A status without a message.
    fn refuse(&mut self, index: usize, status: u16) {
        let open = self.open.remove(index);
        (self.client).answered(open.post.exchange, status, None, Some(b""), self.now);
    }

    fn deliver(&mut self, index: usize) {
        let now = self.now;
        let open = &mut self.open[index];
        let text = open.response.pop_front().unwrap();
        let (exchange, session) = (open.post.exchange, open.session.clone());
        let session = session.as_deref();
        let (was_stream, last) = (open.is_stream, text.last);
        open.is_stream = true;
        if last {
            self.open.remove(index);
        }
        self.check(&text.body);
        if was_stream || !last {
            if !was_stream {
                self.client.answered(exchange, 200, session, None, now);
            }
            if !text.body.is_empty() {
                (self.client).receive(Some(exchange), text.body.as_bytes(), now);
            }
            if last {
                self.client.ended(exchange, now);
            }
        } else {
            let body = Some(text.body.as_bytes());
            (self.client).answered(exchange, text.status, session, body, now);
        }
    }

    /// The connection of a POST is gone, and both ends hear of it.
    fn break_off(&mut self, index: usize) {
        let open = self.open.remove(index);
        self.client.ended(open.post.exchange, self.now);
        if let Some((lane, exchange)) = open.at {
            self.lanes[lane].ended(exchange, self.now);
        }
    }

    fn restart(&mut self) {
        self.lanes.clear();
        self.sessions.clear();
        self.parked.clear();
        self.calls.clear();
        self.at_large.clear();
        for open in std::mem::take(&mut self.open) {
            match open.at {
                Some(_) => self.client.ended(open.post.exchange, self.now),
                // It finds the new one.
                None => self.open.push(open),
            }
        }
    }

    /// Both ends say what they have to say.
    fn pump(&mut self) {
        while let Some(output) = self.client.poll() {
            match output {
                Output::Send(post) => self.send(post),
                Output::Close(exchange) => {
                    let is_it = |open: &Open| open.post.exchange == exchange;
                    if let Some(index) = self.open.iter().position(is_it) {
                        let open = self.open.remove(index);
                        if let Some((lane, exchange)) = open.at {
                            self.lanes[lane].ended(exchange, self.now);
                        }
                    }
                }
                Output::Restart => panic!("nobody starts a server over HTTP"),
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
        }
        for lane in 0..self.lanes.len() {
            while let Some(output) = self.lanes[lane].poll() {
                self.heed(lane, output);
            }
        }
    }

    fn send(&mut self, post: Post) {
        let message: Value = serde_json::from_str(&post.text).unwrap();
        if message.get("method").is_some() && message.get("id").is_some() {
            let meta = &message["params"]["_meta"];
            let claims = !meta["io.modelcontextprotocol/protocolVersion"].is_null();
            self.claims.insert(message["id"].to_string(), claims);
        }
        self.open.push(Open {
            post,
            at: None,
            response: VecDeque::new(),
            session: None,
            is_stream: false,
        });
    }

    fn heed(&mut self, lane: usize, output: Output<Outgoing>) {
        let in_lane = |it: &Working, token: Token| it.lane == lane && it.call.token == token;
        match output {
            Output::Send(text) => {
                let at = text.exchange.map(|exchange| (lane, exchange));
                let open = self
                    .open
                    .iter_mut()
                    .find(|open| at.is_some() && open.at == at);
                match open {
                    Some(open) => open.response.push_back(text),
                    // The answer to a POST that is gone is for nobody.
                    None if text.last => {}
                    None => self.at_large.push_back(text.body),
                }
            }
            Output::Event(Event::Opened(_)) => {
                self.opened += 1;
                let id = format!("session-{}", self.opened);
                self.sessions.insert(id.clone(), lane);
                let is_it = |open: &&mut Open| open.at.is_none_or(|(at, _)| at == lane);
                if let Some(open) = self
                    .open
                    .iter_mut()
                    .filter(|open| open.at.is_some())
                    .find(is_it)
                {
                    open.session = Some(id);
                }
            }
            Output::Event(Event::Call(call)) => {
                // Made again, it takes the place of the one before.
                self.calls.retain(|before| !in_lane(before, call.token));
                self.calls.push(Working {
                    lane,
                    call,
                    has_asked: false,
                    ask: None,
                });
            }
            Output::Event(Event::Cancelled(cancelled)) => {
                let gone = self.calls.extract_if(.., |it| in_lane(it, cancelled.token));
                // A handler that is stopped waits for nothing any more.
                let asks: Vec<Token> = gone.filter_map(|working| working.ask).collect();
                for ask in asks {
                    self.lanes[lane].cancel(ask, None, self.now);
                }
            }
            Output::Event(Event::Parked { ticket, .. }) => {
                self.names.push(ticket.to_string());
                self.parked.insert(ticket, lane);
            }
            _ => {}
        }
    }

    /// An answer is in the revision of its request.
    fn check(&mut self, text: &str) {
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return assert!(text.is_empty(), "{text}");
        };
        if let Some(state) = message["result"]["requestState"].as_str() {
            self.names.push(state.to_owned());
        }
        let claims = self.claims.get(&message["id"].to_string());
        if let (Some(result), Some(claims)) = (message.get("result"), claims) {
            let is_modern = result.get("resultType").is_some();
            assert_eq!(is_modern, *claims, "{text} after {:?}", self.done);
        }
    }
}

impl<C: Spoken, S: Spoken> World for Http<'_, C, S> {
    type Move = Move;

    fn moves(&self) -> Vec<Move> {
        let never = |one: Move| self.is_walk || self.count(|done| *done == one) == 0;
        let asks = self.count(|done| matches!(done, Move::Ask(_)));
        let may_fail = self.faults() < if self.is_walk { MOST.1 } else { 1 };
        let mut moves = Vec::new();
        if asks < MOST.0 {
            moves.extend((0..3).map(Move::Ask).filter(|one| never(*one)));
        }
        for (index, open) in self.open.iter().enumerate() {
            moves.extend(open.at.is_none().then_some(Move::Arrive(index)));
            moves.extend((!open.response.is_empty()).then_some(Move::Deliver(index)));
            moves.extend(may_fail.then_some(Move::Break(index)));
        }
        let mut add = |one, may: bool| moves.extend(may.then_some(one));
        add(Move::DeliverAtLarge, !self.at_large.is_empty());
        let has_called = self.done.contains(&Move::Ask(0));
        add(Move::Cancel, has_called && never(Move::Cancel));
        add(Move::Handle, self.ready().is_some());
        add(Move::AskBack, self.curious().is_some());
        add(Move::Reply, !self.questions.is_empty());
        let is_heard = !self.lanes.is_empty();
        add(Move::Changed, is_heard && never(Move::Changed));
        let wakes = self.count(|done| *done == Move::Wake);
        add(Move::Wake, self.wake_at().is_some() && wakes < 2);
        add(Move::Restart, is_heard && may_fail);
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
            Move::Arrive(index) => self.arrive(index),
            Move::Deliver(index) => self.deliver(index),
            Move::Break(index) => self.break_off(index),
            Move::DeliverAtLarge => {
                let text = self.at_large.pop_front().unwrap();
                self.client.receive(None, text.as_bytes(), now);
            }
            Move::Handle => {
                let Working {
                    lane, call, ask, ..
                } = self.calls.remove(self.ready().unwrap());
                // A handler that is done waits for nothing any more.
                if let Some(ask) = ask {
                    self.lanes[lane].cancel(ask, None, now);
                }
                let _ = self.lanes[lane].answer(call.token, Ok(result::<S>(&call)), now);
            }
            Move::AskBack => {
                let index = self.curious().unwrap();
                let working = &mut self.calls[index];
                working.has_asked = true;
                let ask = Ask::new("roots/list", None).about(working.call.token);
                // Whether it can be asked is not the point here.
                working.ask = self.lanes[working.lane].ask(ask, now).ok();
            }
            Move::Reply => {
                let question = self.questions.remove(0);
                let roots = Json::from(json!({"roots": []}));
                let _ = self.client.answer(question, Ok(roots), now);
            }
            Move::Changed => {
                for lane in &mut self.lanes {
                    let method = "notifications/tools/list_changed";
                    let _ = lane.notify(To::Session, method, None, now);
                }
            }
            Move::Wake => {
                self.now = self.wake_at().unwrap();
                self.client.wake(self.now);
                for lane in &mut self.lanes {
                    lane.wake(self.now);
                }
            }
            Move::Restart => self.restart(),
        }
        self.pump();
    }

    fn print(&self) -> u64 {
        let open = self.open.iter().map(|open| {
            (
                &open.post,
                open.at,
                &open.response,
                &open.session,
                open.is_stream,
            )
        });
        let mut text = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            self.client,
            self.lanes,
            self.sessions,
            open.collect::<Vec<_>>(),
            self.at_large,
            self.answered,
            self.calls,
            self.questions,
            self.asked,
            self.now,
        );
        for (index, name) in self.names.iter().enumerate() {
            text = text.replace(name, &format!("name {index}"));
        }
        let once = |one: Move| self.done.contains(&one);
        let wakes = self.count(|done| *done == Move::Wake);
        let mut hasher = DefaultHasher::new();
        (text, self.faults(), wakes).hash(&mut hasher);
        (once(Move::Cancel), once(Move::Changed)).hash(&mut hasher);
        hasher.finish()
    }

    fn run_out(mut self) {
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 1_000, "it goes on and on after {:?}", self.done);
            let arrives = self.open.iter().position(|open| open.at.is_none());
            let says = (self.open.iter()).position(|open| !open.response.is_empty());
            let next = if let Some(index) = arrives {
                Move::Arrive(index)
            } else if let Some(index) = says {
                Move::Deliver(index)
            } else if !self.at_large.is_empty() {
                Move::DeliverAtLarge
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
        // Streams stay open; all else has its answer, whatever broke.
        assert!(
            open.iter().all(|index| *index == SUBSCRIPTION),
            "no answer to {open:?} after {:?}\n{:?}",
            self.done,
            self.client,
        );
        // Everybody hangs up.
        while !self.open.is_empty() {
            self.break_off(0);
            self.pump();
        }
        self.client.closed(self.now);
        self.pump();
        let tokens: Vec<_> = self.asked.keys().collect();
        let answered: Vec<_> = self.answered.keys().collect();
        assert_eq!(tokens, answered, "{:?}", self.done);
        assert_eq!(self.client.pending(), 0, "{:?}", self.done);
        // What is parked waits for its client for a while, and a session ends when its time has come.
        let late = self.now + self.ends.server.limits().ask_time;
        for lane in &mut self.lanes {
            lane.wake(late);
            lane.closed(late);
            let left = (lane.pending(), lane.asked());
            assert_eq!(left, (0, 0), "{:?}\n{lane:?}", self.done);
        }
    }
}
