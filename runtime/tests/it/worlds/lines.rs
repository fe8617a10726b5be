//! A world of two queues that deliver, lose and end, as over standard streams.

use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::client::OutgoingRequest;
use mcp_revisions::sansio::server::{Connection, Event, IncomingRequest, Output};
use mcp_revisions::{Lifecycle, sansio::Server};
use serde_json::json;

use crate::worlds::asker::Asker;
use crate::worlds::search::World;
use crate::worlds::talk::{Ends, result};

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
    /// The handler of the oldest stream that it has not taken up yet acknowledges it.
    TakeUp,
    /// The handlers say that a list has changed.
    Changed,
    /// The time comes for which somebody waits.
    Wake,
    /// The connection ends, and another one begins.
    End,
}

/// A client and a server with two queues between them.
pub(crate) struct Lines<'e> {
    ends: &'e Ends,
    asker: Asker<Move>,
    server: Connection<Server>,
    to_server: VecDeque<String>,
    to_client: VecDeque<String>,
    calls: Vec<(IncomingRequest, bool)>,
    /// Whether changes of the resource are told to somebody.
    is_told: bool,
    now: Duration,
}

impl<'e> Lines<'e> {
    pub(crate) fn new(ends: &'e Ends, is_walk: bool) -> Self {
        Self {
            ends,
            asker: Asker::new(ends, is_walk),
            server: Connection::<Server>::new(Arc::clone(&ends.server)),
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            calls: Vec::new(),
            is_told: false,
            now: Duration::ZERO,
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        let both = [self.asker.client.wake_at(), self.server.wake_at()];
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

    /// The oldest stream that its handler has not taken up.
    fn untaken(&self) -> Option<usize> {
        (self.calls.iter())
            .position(|(call, taken)| call.method == "subscriptions/listen" && !taken)
    }

    /// A subscription is answered when changes are told, or when that was waited for in vain.
    fn leaves(&self, text: &str) {
        let is_adapted = self.ends.apps.1.lifecycle() == Lifecycle::PerRequest;
        let has_waited = self.asker.done.contains(&Move::Wake);
        assert!(
            !is_adapted || self.is_told || has_waited || !self.asker.is_subscribed_by(text),
            "{text} after {:?}",
            self.asker.done
        );
    }

    fn end(&mut self) {
        self.asker.client.closed(self.now);
        self.restart();
    }

    /// A new process at the other end: what was on the way to and from the old one is lost.
    fn restart(&mut self) {
        self.server = Connection::<Server>::new(Arc::clone(&self.ends.server));
        self.to_server.clear();
        self.to_client.clear();
        self.calls.clear();
        self.is_told = false;
    }

    fn pump(&mut self) {
        loop {
            if let Some(output) = self.asker.client.poll() {
                match output {
                    Output::Send(post) => {
                        self.asker.sends(&post);
                        self.to_server.push_back(post.text);
                    }
                    Output::Restart => self.restart(),
                    Output::Close(_) | Output::Empty(..) => {}
                    Output::Event(event) => self.asker.hears(event),
                }
                continue;
            }
            let Some(output) = self.server.poll() else {
                return;
            };
            match output {
                Output::Send(text) => {
                    self.leaves(&text.body);
                    self.to_client.push_back(text.body);
                }
                Output::Event(Event::Request(call)) => {
                    // Made again, it takes the place of the one before.
                    self.calls.retain(|(before, _)| before.token != call.token);
                    self.calls.push((call, false));
                }
                Output::Event(Event::Cancelled(cancelled)) => {
                    self.calls.retain(|(call, _)| call.token != cancelled.token);
                }
                Output::Event(Event::Suspended { ticket, .. }) => self.asker.is_named(ticket),
                _ => {}
            }
        }
    }
}

impl World for Lines<'_> {
    type Move = Move;

    /// What may happen now: faults are few, so that there is something to go wrong.
    fn moves(&self) -> Vec<Move> {
        let never = |one: Move| self.asker.never(&one);
        let mut moves: Vec<Move> = self.asker.may_ask(Move::Ask).collect();
        let faults = self
            .asker
            .count(|done| matches!(done, Move::LoseToServer | Move::LoseToClient | Move::End));
        let most = self.asker.most_faults();
        let mut add = |one, may: bool| moves.extend(may.then_some(one));
        add(
            Move::Cancel,
            self.asker.done.contains(&Move::Ask(0)) && never(Move::Cancel),
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
        add(Move::TakeUp, self.untaken().is_some());
        add(Move::Reply, !self.asker.questions.is_empty());
        add(
            Move::Changed,
            !self.asker.done.is_empty() && never(Move::Changed),
        );
        add(
            Move::Wake,
            self.wake_at().is_some() && self.asker.count(|done| *done == Move::Wake) < 2,
        );
        add(Move::End, !self.asker.done.is_empty() && faults < most);
        moves
    }

    fn make(&mut self, one: Move) {
        self.asker.done.push(one);
        let now = self.now;
        match one {
            Move::Ask(index) => self.asker.ask(index, now),
            Move::Cancel => self.asker.cancel(now),
            Move::ToServer => {
                let text = self.to_server.pop_front().unwrap();
                self.server.receive(None, text.as_bytes(), now);
            }
            Move::ToClient => {
                let text = self.to_client.pop_front().unwrap();
                self.asker.reached_by(&text);
                self.asker.client.receive(None, text.as_bytes(), now);
            }
            Move::LoseToServer => drop(self.to_server.pop_front()),
            Move::LoseToClient => drop(self.to_client.pop_front()),
            Move::Handle => {
                let (call, _) = self.calls.remove(self.ready().unwrap());
                let result = result(self.ends.apps.1, &call);
                let _ = self.server.answer(call.token, Ok(result), now);
            }
            Move::AskBack => {
                let index = self.curious().unwrap();
                self.calls[index].1 = true;
                let ask = OutgoingRequest::new("roots/list", None).about(self.calls[index].0.token);
                // Whether it can be asked is not the point here.
                let _ = self.server.ask(ask, now);
            }
            Move::TakeUp => {
                let index = self.untaken().unwrap();
                let (call, taken) = &mut self.calls[index];
                *taken = true;
                self.is_told |= call.params.text().contains("file:///a");
                let to = mcp_revisions::sansio::server::To::Request(call.token);
                let method = "notifications/subscriptions/acknowledged";
                let agreed = Json::from(json!({ "notifications": {} }));
                let _ = self.server.notify(to, method, Some(&agreed), now);
            }
            Move::Reply => self.asker.reply(now),
            Move::Changed => {
                let to = mcp_revisions::sansio::server::To::Session;
                let _ = self
                    .server
                    .notify(to, "notifications/tools/list_changed", None, now);
            }
            Move::Wake => {
                self.now = self.wake_at().unwrap();
                self.asker.client.wake(self.now);
                self.server.wake(self.now);
            }
            Move::End => self.end(),
        }
        self.pump();
    }

    fn print(&self) -> u64 {
        let text = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            self.asker.client,
            self.server,
            self.to_server,
            self.to_client,
            self.asker.answered,
            self.calls,
            self.asker.questions,
            self.is_told,
            self.now,
        );
        let text = self.asker.without_names(text);
        let once = |one: Move| self.asker.done.contains(&one);
        let faults = once(Move::LoseToServer) || once(Move::LoseToClient) || once(Move::End);
        let wakes = self.asker.count(|done| *done == Move::Wake);
        let mut hasher = DefaultHasher::new();
        (text, faults, wakes, once(Move::Cancel), once(Move::Changed)).hash(&mut hasher);
        for one in 0..3 {
            self.asker
                .asked
                .values()
                .any(|index| *index == one)
                .hash(&mut hasher);
        }
        hasher.finish()
    }

    fn run_out(mut self) {
        let lost = self
            .asker
            .count(|done| matches!(done, Move::LoseToServer | Move::LoseToClient))
            > 0;
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(
                steps < 1_000,
                "it goes on and on after {:?}",
                self.asker.done
            );
            let next = if !self.to_server.is_empty() {
                Move::ToServer
            } else if !self.to_client.is_empty() {
                Move::ToClient
            } else if self.ready().is_some() {
                Move::Handle
            } else if self.untaken().is_some() {
                Move::TakeUp
            } else if !self.asker.questions.is_empty() {
                Move::Reply
            } else {
                break;
            };
            self.make(next);
        }
        // What was lost may be waited for.
        let probes = self.asker.client.verdict().is_none();
        if !lost && !probes {
            self.asker.has_its_answers();
        }
        self.server.closed(self.now);
        self.pump();
        self.asker.client.closed(self.now);
        self.pump();
        while self.asker.client.pending() > 0 && steps < 2_000 {
            // It was about to ask a server that has ended by now.
            steps += 1;
            self.asker.client.closed(self.now);
            self.pump();
        }
        self.asker.is_done();
        let left = (self.server.unanswered(), self.server.pending());
        // What it asked a client that lost it is dropped with the connection.
        assert!(
            left == (0, 0) || lost,
            "{left:?} after {:?}",
            self.asker.done
        );
    }
}
