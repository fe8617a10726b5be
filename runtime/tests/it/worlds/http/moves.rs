//! What may happen in a world of POSTs, and what must be true once nothing more does.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use mcp_revisions::sansio::client::OutgoingRequest;
use mcp_revisions::sansio::server::To;

use super::{Http, Working};
use crate::worlds::search::World;
use crate::worlds::talk::result;

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

impl World for Http<'_> {
    type Move = Move;

    fn moves(&self) -> Vec<Move> {
        let never = |one: Move| self.asker.never(&one);
        let may_fail = self.faults() < self.asker.most_faults();
        let mut moves: Vec<Move> = self.asker.may_ask(Move::Ask).collect();
        for (index, open) in self.open.iter().enumerate() {
            moves.extend(open.at.is_none().then_some(Move::Arrive(index)));
            moves.extend((!open.response.is_empty()).then_some(Move::Deliver(index)));
            moves.extend(may_fail.then_some(Move::Break(index)));
        }
        let mut add = |one, may: bool| moves.extend(may.then_some(one));
        add(Move::DeliverAtLarge, !self.at_large.is_empty());
        let has_called = self.asker.done.contains(&Move::Ask(0));
        add(Move::Cancel, has_called && never(Move::Cancel));
        add(Move::Handle, self.ready().is_some());
        add(Move::AskBack, self.curious().is_some());
        add(Move::Reply, !self.asker.questions.is_empty());
        let is_heard = !self.connections.is_empty();
        add(Move::Changed, is_heard && never(Move::Changed));
        let wakes = self.asker.count(|done| *done == Move::Wake);
        add(Move::Wake, self.wake_at().is_some() && wakes < 2);
        add(Move::Restart, is_heard && may_fail);
        moves
    }

    fn make(&mut self, one: Move) {
        self.asker.done.push(one);
        let now = self.now;
        match one {
            Move::Ask(index) => self.asker.ask(index, now),
            Move::Cancel => self.asker.cancel(now),
            Move::Arrive(index) => self.arrive(index),
            Move::Deliver(index) => self.deliver(index),
            Move::Break(index) => self.break_off(index),
            Move::DeliverAtLarge => {
                let text = self.at_large.pop_front().unwrap();
                self.asker.client.receive(None, text.as_bytes(), now);
            }
            Move::Handle => {
                let Working {
                    connection,
                    call,
                    ask,
                    ..
                } = self.calls.remove(self.ready().unwrap());
                // A handler that is done waits for nothing any more.
                if let Some(ask) = ask {
                    self.connections[connection].cancel(ask, None, now);
                }
                let _ = self.connections[connection].answer(
                    call.token,
                    Ok(result(self.ends.apps.1, &call)),
                    now,
                );
            }
            Move::AskBack => {
                let index = self.curious().unwrap();
                let working = &mut self.calls[index];
                working.has_asked = true;
                let ask = OutgoingRequest::new("roots/list", None).about(working.call.token);
                // Whether it can be asked is not the point here.
                working.ask = self.connections[working.connection].ask(ask, now).ok();
            }
            Move::Reply => self.asker.reply(now),
            Move::Changed => {
                for connection in &mut self.connections {
                    let method = "notifications/tools/list_changed";
                    let _ = connection.notify(To::Session, method, None, now);
                }
            }
            Move::Wake => {
                self.now = self.wake_at().unwrap();
                self.asker.client.wake(self.now);
                for connection in &mut self.connections {
                    connection.wake(self.now);
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
        let text = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            self.asker.client,
            self.connections,
            self.sessions,
            open.collect::<Vec<_>>(),
            self.at_large,
            self.asker.answered,
            self.calls,
            self.asker.questions,
            self.asker.asked,
            self.now,
        );
        let text = self.asker.without_names(text);
        let once = |one: Move| self.asker.done.contains(&one);
        let wakes = self.asker.count(|done| *done == Move::Wake);
        let mut hasher = DefaultHasher::new();
        (text, self.faults(), wakes).hash(&mut hasher);
        (once(Move::Cancel), once(Move::Changed)).hash(&mut hasher);
        hasher.finish()
    }

    fn run_out(mut self) {
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(
                steps < 1_000,
                "it goes on and on after {:?}",
                self.asker.done
            );
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
            } else if !self.asker.questions.is_empty() {
                Move::Reply
            } else {
                break;
            };
            self.make(next);
        }
        // Whatever broke.
        self.asker.has_its_answers();
        // Everybody hangs up.
        while !self.open.is_empty() {
            self.break_off(0);
            self.pump();
        }
        self.asker.client.closed(self.now);
        self.pump();
        self.asker.is_done();
        // What is suspended waits for its client for a while, and a session ends when its time has come.
        let late = self.now + self.ends.server.limits().client_response_timeout;
        for connection in &mut self.connections {
            connection.wake(late);
            connection.closed(late);
            let left = (connection.unanswered(), connection.pending());
            assert_eq!(left, (0, 0), "{:?}\n{connection:?}", self.asker.done);
        }
    }
}
