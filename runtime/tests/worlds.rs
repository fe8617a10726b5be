//! Small worlds, explored: a client of each kind joined to a server of each kind by two queues that deliver, lose and
//! end; a call that asks back, a list, a cancellation, a subscription. Every state up to a depth is visited once.
//!
//! In each of them: nothing is answered twice, or in another's revision; and from each of them there is a way on, at
//! whose end every request has its one answer, and nothing is left on either side.
//!
//! A state is reached by replaying what led there, since a connection with its adapters is not copied.
//! `WORLDS_DEPTH=10 cargo test -p mcp-revisions --test worlds -- --nocapture` goes deeper, and says how far it went.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::client::{Ask, Channel, Client, Options, Profile};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::server::{Call, Connection, Event, Output, Token};
use mcp_revisions::{Era, RevisionSet, Server, Spoken, V2025_11_25, V2026_07_28};
use serde_json::{Value, json};

/// How deep a run goes unless told otherwise.
const DEPTH: usize = 5;

/// What may happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Move {
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

/// The two ends as they are told once.
struct Ends<C: Spoken, S: Spoken> {
    client: Arc<Client<C>>,
    server: Arc<Server<S>>,
}

struct World<'e, C: Spoken, S: Spoken> {
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

fn asks<C: Spoken>() -> [(&'static str, Value); 3] {
    let subscription = match C::REVISION.era() {
        Era::Handshake => ("resources/subscribe", json!({"uri": "file:///a"})),
        Era::PerRequest => (
            "subscriptions/listen",
            json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]}}),
        ),
    };
    [
        ("tools/call", json!({"name": "t"})),
        ("tools/list", json!({})),
        subscription,
    ]
}

impl<'e, C: Spoken, S: Spoken> World<'e, C, S> {
    fn new(ends: &'e Ends<C, S>) -> Self {
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
            is_walk: false,
        }
    }

    fn count(&self, is_it: impl Fn(&Move) -> bool) -> usize {
        self.done.iter().filter(|done| is_it(done)).count()
    }

    fn wake_at(&self) -> Option<Duration> {
        let both = [self.client.wake_at(), self.server.wake_at()];
        both.into_iter().flatten().min()
    }

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

    /// The oldest call that its handler answers: streams it leaves open.
    fn ready(&self) -> Option<usize> {
        (self.calls.iter()).position(|(call, _)| call.method != "subscriptions/listen")
    }

    /// The oldest call whose handler has not asked yet.
    fn curious(&self) -> Option<usize> {
        (self.calls.iter()).position(|(call, asked)| call.method == "tools/call" && !asked)
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
                let mut result = match call.method {
                    "tools/list" => json!({"tools": []}),
                    "tools/call" => json!({"content": []}),
                    _ => json!({}),
                };
                if S::REVISION.era() == Era::PerRequest {
                    result["resultType"] = json!("complete");
                    if call.method == "tools/list" {
                        result["ttlMs"] = json!(0);
                        result["cacheScope"] = json!("private");
                    }
                }
                let _ = self.server.answer(call.token, Ok(Json::from(result)), now);
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

    /// What tells one state from another.
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

    /// The way on: everything arrives and is answered; then the connection ends, and nothing is left.
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
            lost || probes || open.iter().all(|index| *index == 2),
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

/// A client and a server that are willing to speak these.
fn ends<C: Spoken, S: Spoken>(ours: RevisionSet, theirs: RevisionSet) -> Ends<C, S> {
    let info = Json::from(json!({"name": "w", "version": "1"}));
    let capabilities = Json::from(json!({"roots": {}}));
    let options = Options::new(Channel::Stdio, Profile::new(&info, &capabilities));
    let offered = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}});
    let profile = Profile::new(&info, &Json::from(offered));
    Ends {
        client: Arc::new(Client::new(options.with_revisions(ours))),
        server: Arc::new(Server::new(profile).unwrap().serving(theirs)),
    }
}

/// Visits every state of a world; how many there are.
fn explore<C: Spoken, S: Spoken>(ours: RevisionSet, theirs: RevisionSet, depth: usize) -> usize {
    let ends = ends::<C, S>(ours, theirs);
    let mut seen = HashSet::new();
    let mut paths = VecDeque::from([Vec::new()]);
    while let Some(path) = paths.pop_front() {
        let reached = || {
            let mut world = World::new(&ends);
            for one in &path {
                world.make(*one);
            }
            world
        };
        let world = reached();
        if !seen.insert(world.print()) {
            continue;
        }
        if path.len() < depth {
            for one in world.moves() {
                let mut longer = path.clone();
                longer.push(one);
                paths.push_back(longer);
            }
        }
        world.run_out();
    }
    seen.len()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) % end as u64) as usize
    }
}

/// Walks at random, far deeper than every state can be visited; a failure names what was done.
fn walk<C: Spoken, S: Spoken>(ends: &Ends<C, S>, seed: u64, length: usize) -> usize {
    let mut random = Random(seed);
    let mut world = World::new(ends);
    world.is_walk = true;
    for _ in 0..length {
        let moves = world.moves();
        let Some(one) = (!moves.is_empty()).then(|| moves[random.below(moves.len())]) else {
            break;
        };
        world.make(one);
    }
    let steps = world.done.len();
    world.run_out();
    steps
}

/// Steps of all walks of two applications: `WORLDS_STEPS=1000000` walks as far as that.
fn walks<C: Spoken, S: Spoken>() {
    let said = std::env::var("WORLDS_STEPS").ok();
    let wanted = said.and_then(|steps| steps.parse().ok()).unwrap_or(25_000);
    let kinds = [
        RevisionSet::legacy(),
        RevisionSet::all(),
        RevisionSet::modern(),
    ];
    let pairs: Vec<_> = kinds
        .iter()
        .flat_map(|ours| kinds.map(|theirs| (*ours, theirs)))
        .collect();
    let all: Vec<Ends<C, S>> = pairs
        .into_iter()
        .map(|(ours, theirs)| ends(ours, theirs))
        .collect();
    let (mut steps, mut seed) = (0, 0);
    while steps < wanted {
        for ends in &all {
            seed += 1;
            steps += walk(ends, seed, 100);
        }
    }
    println!("{steps} steps of {} with {}", C::REVISION, S::REVISION);
}

#[test]
fn walks_of_older_applications() {
    walks::<V2025_11_25, V2025_11_25>();
}

#[test]
fn walks_of_an_older_client_and_a_modern_server() {
    walks::<V2025_11_25, V2026_07_28>();
}

#[test]
fn walks_of_a_modern_client_and_an_older_server() {
    walks::<V2026_07_28, V2025_11_25>();
}

#[test]
fn walks_of_modern_applications() {
    walks::<V2026_07_28, V2026_07_28>();
}

fn depth() -> usize {
    let said = std::env::var("WORLDS_DEPTH").ok();
    said.and_then(|depth| depth.parse().ok()).unwrap_or(DEPTH)
}

fn worlds<C: Spoken, S: Spoken>() {
    let kinds = [
        RevisionSet::legacy(),
        RevisionSet::all(),
        RevisionSet::modern(),
    ];
    let mut states = 0;
    for ours in kinds {
        for theirs in kinds {
            states += explore::<C, S>(ours, theirs, depth());
        }
    }
    let (client, server) = (C::REVISION, S::REVISION);
    println!(
        "{states} states of {client} with {server} to a depth of {}",
        depth()
    );
    assert!(states > 1_000, "{states} states are no exploration");
}

#[test]
fn older_applications_on_both_ends() {
    worlds::<V2025_11_25, V2025_11_25>();
}

#[test]
fn an_older_client_and_a_modern_server() {
    worlds::<V2025_11_25, V2026_07_28>();
}

#[test]
fn a_modern_client_and_an_older_server() {
    worlds::<V2026_07_28, V2025_11_25>();
}

#[test]
fn modern_applications_on_both_ends() {
    worlds::<V2026_07_28, V2026_07_28>();
}
