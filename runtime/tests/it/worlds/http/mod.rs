//! A world of POSTs, as over HTTP: each has a response of its own, and all of them may come in any order, break off, or
//! never arrive. A per-request request is served by itself; a session lives where it was opened, until the server restarts.

mod moves;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::sansio::client::{Exchange, Post};
use mcp_revisions::sansio::server::{Connection, Event, IncomingRequest, Outgoing, Output, Token};
use mcp_revisions::{
    core::{Headers, headers},
    sansio::Server,
};

use crate::worlds::asker::Asker;
use crate::worlds::talk::Ends;
use moves::Move;

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
    connection: usize,
    call: IncomingRequest,
    has_asked: bool,
    /// What it asks back.
    ask: Option<Token>,
}

/// A client, and the connections of a server that its POSTs have opened.
pub(crate) struct Http<'e> {
    ends: &'e Ends,
    asker: Asker<Move>,
    connections: Vec<Connection<Server>>,
    sessions: BTreeMap<String, usize>,
    by_ticket: BTreeMap<u64, usize>,
    open: Vec<Open>,
    at_large: VecDeque<String>,
    calls: Vec<Working>,
    now: Duration,
    /// How many sessions there were: each has a name of its own.
    opened: usize,
    /// Whether a client reads and answers what it gets before the server says the next thing.
    is_quick: bool,
}

impl<'e> Http<'e> {
    pub(crate) fn new(ends: &'e Ends, is_walk: bool) -> Self {
        Self {
            ends,
            asker: Asker::new(ends, is_walk),
            connections: Vec::new(),
            sessions: BTreeMap::new(),
            by_ticket: BTreeMap::new(),
            open: Vec::new(),
            at_large: VecDeque::new(),
            calls: Vec::new(),
            now: Duration::ZERO,
            opened: 0,
            is_quick: false,
        }
    }

    /// The world with a client that reads and answers what it gets before the server says the next thing.
    pub(crate) fn with_quick_client(self) -> Self {
        Self {
            is_quick: true,
            ..self
        }
    }

    fn faults(&self) -> usize {
        (self.asker).count(|done| matches!(done, Move::Break(_) | Move::Restart))
    }

    fn wake_at(&self) -> Option<Duration> {
        let connections = self
            .connections
            .iter()
            .filter_map(|connection| connection.wake_at());
        connections.chain(self.asker.client.wake_at()).min()
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
            .negotiation()
            .is_some_and(|it| it.needs_session(session.is_some()));
        let serves_sessions = server.served().has(mcp_revisions::Lifecycle::Handshake);
        let ticket = looked.message().and_then(|message| {
            let ticket = server.ticket(message, None, self.now)?;
            let connection = self.by_ticket.get(&ticket).copied();
            let has_restarted = self.asker.done.contains(&Move::Restart);
            assert!(
                connection.is_some() || has_restarted,
                "nobody waits for who comes again after {:?}",
                self.asker.done
            );
            connection
        });
        let connection = match (needs_session && serves_sessions, session) {
            (true, None) => return self.refuse(index, 400),
            (true, Some(id)) => match self.sessions.get(&id) {
                Some(connection) => *connection,
                None => return self.refuse(index, 404),
            },
            (false, _) => ticket.unwrap_or_else(|| {
                self.connections.push(Connection::new(Arc::clone(&server)));
                self.connections.len() - 1
            }),
        };
        let exchange = self.connections[connection].take(Some(&told), looked, self.now);
        self.open[index].at = Some((connection, exchange));
    }

    /// A status without a message.
    fn refuse(&mut self, index: usize, status: u16) {
        let open = self.open.remove(index);
        (self.asker.client).answered(open.post.exchange, status, None, Some(b""), self.now);
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
        self.asker.reached_by(&text.body);
        if was_stream || !last {
            if !was_stream {
                self.asker
                    .client
                    .answered(exchange, 200, session, None, now);
            }
            if !text.body.is_empty() {
                (self.asker.client).receive(Some(exchange), text.body.as_bytes(), now);
            }
            if last {
                self.asker.client.ended(exchange, now);
            }
        } else {
            let body = Some(text.body.as_bytes());
            (self.asker.client).answered(exchange, text.status, session, body, now);
        }
    }

    /// The connection of a POST is gone, and both ends hear of it.
    fn break_off(&mut self, index: usize) {
        let open = self.open.remove(index);
        self.asker.client.ended(open.post.exchange, self.now);
        if let Some((connection, exchange)) = open.at {
            self.connections[connection].ended(exchange, self.now);
        }
    }

    fn restart(&mut self) {
        self.connections.clear();
        self.sessions.clear();
        self.by_ticket.clear();
        self.calls.clear();
        self.at_large.clear();
        for open in std::mem::take(&mut self.open) {
            match open.at {
                Some(_) => self.asker.client.ended(open.post.exchange, self.now),
                // It finds the new one.
                None => self.open.push(open),
            }
        }
    }

    /// Both ends say what they have to say.
    fn pump(&mut self) {
        self.pump_client();
        let mut connection = 0;
        // There are more once a quick client has answered.
        while connection < self.connections.len() {
            match self.connections[connection].poll() {
                Some(output) => {
                    self.heed(connection, output);
                    connection = 0;
                }
                None => connection += 1,
            }
        }
    }

    /// A text has just been put out: a quick client reads it, answers it, and comes again.
    fn hurry(&mut self, index: usize) {
        self.deliver(index);
        self.pump_client();
        while !self.asker.questions.is_empty() {
            self.asker.reply(self.now);
            self.pump_client();
        }
        while let Some(index) = self.open.iter().position(|open| open.at.is_none()) {
            self.arrive(index);
            self.pump_client();
        }
    }

    fn pump_client(&mut self) {
        while let Some(output) = self.asker.client.poll() {
            match output {
                Output::Send(post) => self.send(post),
                Output::Close(exchange) => {
                    let is_it = |open: &Open| open.post.exchange == exchange;
                    if let Some(index) = self.open.iter().position(is_it) {
                        let open = self.open.remove(index);
                        if let Some((connection, exchange)) = open.at {
                            self.connections[connection].ended(exchange, self.now);
                        }
                    }
                }
                Output::Empty(..) => panic!("a server's alone"),
                Output::Restart => panic!("nobody starts a server over HTTP"),
                Output::Event(event) => self.asker.hears(event),
            }
        }
    }

    fn send(&mut self, post: Post) {
        self.asker.sends(&post);
        self.open.push(Open {
            post,
            at: None,
            response: VecDeque::new(),
            session: None,
            is_stream: false,
        });
    }

    fn heed(&mut self, connection: usize, output: Output<Outgoing>) {
        let on_connection =
            |it: &Working, token: Token| it.connection == connection && it.call.token == token;
        let output = match output {
            Output::Empty(exchange, status) => Output::Send(Outgoing {
                exchange: Some(exchange),
                last: true,
                status,
                body: String::new(),
            }),
            output => output,
        };
        match output {
            Output::Send(text) => {
                let at = text.exchange.map(|exchange| (connection, exchange));
                let is_it = |open: &Open| at.is_some() && open.at == at;
                match self.open.iter().position(is_it) {
                    Some(index) => {
                        self.open[index].response.push_back(text);
                        if self.is_quick {
                            self.hurry(index);
                        }
                    }
                    // The answer to a POST that is gone is for nobody.
                    None if text.last => {}
                    None => self.at_large.push_back(text.body),
                }
            }
            Output::Event(Event::Opened(_)) => {
                self.opened += 1;
                let id = format!("session-{}", self.opened);
                self.sessions.insert(id.clone(), connection);
                let is_it = |open: &&mut Open| open.at.is_none_or(|(at, _)| at == connection);
                if let Some(open) = self
                    .open
                    .iter_mut()
                    .filter(|open| open.at.is_some())
                    .find(is_it)
                {
                    open.session = Some(id);
                }
            }
            Output::Event(Event::Request(call)) => {
                // Made again, it takes the place of the one before.
                self.calls
                    .retain(|before| !on_connection(before, call.token));
                self.calls.push(Working {
                    connection,
                    call,
                    has_asked: false,
                    ask: None,
                });
            }
            Output::Event(Event::Cancelled(cancelled)) => {
                let gone = self
                    .calls
                    .extract_if(.., |it| on_connection(it, cancelled.token));
                // A handler that is stopped waits for nothing any more.
                let asks: Vec<Token> = gone.filter_map(|working| working.ask).collect();
                for ask in asks {
                    self.connections[connection].cancel(ask, None, self.now);
                }
            }
            Output::Event(Event::Suspended { ticket, .. }) => {
                self.asker.is_named(ticket);
                self.by_ticket.insert(ticket, connection);
            }
            _ => {}
        }
    }
}
