//! The call that a question belongs to, where the server does not say.
//!
//! A server of the handshake lifecycle asks by a request of its own. Over HTTP that comes in the stream of its call. Over
//! standard streams, and on the stream of a session, nothing ties it to a call. So calls that may ask go one at a time;
//! those of tools that were called before, and did not ask, go beside them. A question belongs to one of the calls that
//! are at work when it comes and have no question open: it is kept until the others are answered, and what cannot be
//! distinguished in [`PATIENCE`] is refused. A call whose client is being asked holds up no other, however long that takes.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use mcp_revisions::client_transport::OpenCall;
use mcp_revisions::sansio::client::{Failure, OutgoingRequest, Token};

use super::asked::{BridgedRequest, ServerQuestion, UpstreamDriver};

/// Time that a question, and a call that waits for one, is kept until it is clear whose it is.
const PATIENCE: Duration = Duration::from_secs(5);
/// Of how many tools it is known whether they ask.
const KINDS: usize = 1_000;
/// Maximum number of waiting calls.
const HELD: usize = 1_000;
/// Maximum number of questions that wait for the next call, and of their bytes.
const KEPT_QUESTIONS: usize = 16;
const KEPT_BYTES: usize = 256 << 10;
/// Time that a question waits for the next call.
const NEXT_CALL: Duration = Duration::from_secs(600);

/// The calls and questions that wait until it is clear which belong together.
#[derive(Default)]
pub(super) struct QuestionTurns {
    /// Set for each kind of call, by [`BridgedRequest::kind`], that was answered after the server had asked in it.
    asks: HashMap<String, bool>,
    /// Calls that have not begun, and how long each waits at most.
    held: VecDeque<HeldCall>,
    undecided: Option<Undecided>,
    /// Questions of no call, of which the next call is asked, and how long each waits at most.
    for_next_call: VecDeque<(ServerQuestion, Duration)>,
}

/// A call that has not begun, and when it has waited long enough.
type HeldCall = (OutgoingRequest, OpenCall<BridgedRequest>, Duration);

type WaitingCalls = BTreeMap<Token, OpenCall<BridgedRequest>>;

/// A question, and the calls that it may belong to.
struct Undecided {
    question: ServerQuestion,
    among: BTreeSet<Token>,
    until: Duration,
}

/// The decision about a question.
pub(super) enum Decided {
    /// It belongs to this call.
    Of(Token, ServerQuestion),
    /// It does not become clear.
    Refused(ServerQuestion),
}

impl QuestionTurns {
    /// Returns whether a call may begin beside those that are at work.
    pub(super) fn admits(&self, asked: &BridgedRequest, calls: &WaitingCalls) -> bool {
        if !asked.may_be_asked {
            return true;
        }
        let may_ask = |asked: &BridgedRequest| self.asks.get(&asked.kind) != Some(&false);
        let is_about_to_ask = |open: &OpenCall<BridgedRequest>| {
            open.call.may_be_asked && open.questions == 0 && may_ask(&open.call)
        };
        self.undecided.is_none() && !(may_ask(asked) && calls.values().any(is_about_to_ask))
    }

    /// Keeps a call until it may begin, unless too many wait.
    pub(super) fn hold(
        &mut self,
        ask: OutgoingRequest,
        open: OpenCall<BridgedRequest>,
        now: Duration,
    ) {
        if self.held.len() >= HELD {
            open.refuse(Box::new(Failure::TooManyPending))
        } else {
            self.held.push_back((ask, open, now + PATIENCE))
        }
    }

    /// Returns the next call that may begin, or has waited long enough; those that no client waits for any more are forgotten.
    pub(super) fn next_held(&mut self, server: &UpstreamDriver) -> Option<HeldCall> {
        self.held.retain(|(_, open, _)| !open.is_cancelled());
        let begins = |(_, open, until): &HeldCall| {
            *until <= server.now() || self.admits(&open.call, server.calls())
        };
        let place = self.held.iter().position(begins)?;
        self.held.remove(place)
    }

    /// Keeps a question of one of these calls; it comes back, to be refused, if another one is kept already.
    pub(super) fn keep(
        &mut self,
        question: ServerQuestion,
        among: BTreeSet<Token>,
        server: &UpstreamDriver,
    ) -> Result<(), ServerQuestion> {
        if self.undecided.is_some() {
            self.learn(among.iter(), server.calls());
            return Err(question);
        }
        self.undecided = Some(Undecided {
            question,
            among,
            until: server.now() + PATIENCE,
        });
        Ok(())
    }

    /// Keeps a question of no call until a call begins that can be asked; it comes back if too many are kept.
    pub(super) fn keep_for_next_call(
        &mut self,
        question: ServerQuestion,
        now: Duration,
    ) -> Result<(), ServerQuestion> {
        let kept = self.for_next_call.iter();
        let bytes: usize = kept.map(|(kept, _)| kept.params.text().len()).sum();
        if self.for_next_call.len() >= KEPT_QUESTIONS
            || bytes + question.params.text().len() > KEPT_BYTES
        {
            return Err(question);
        }
        self.for_next_call.push_back((question, now + NEXT_CALL));
        Ok(())
    }

    /// Returns a question that waits for a call, if one is at work that can be asked and is not being asked, or if it has waited
    /// long enough.
    fn next_question(&mut self, server: &UpstreamDriver) -> Option<Decided> {
        let (_, until) = self.for_next_call.front()?;
        let can_be_asked =
            |open: &OpenCall<BridgedRequest>| open.call.may_be_asked && open.questions == 0;
        let mut calls = server.calls().iter();
        let of = calls.find(|(_, open)| can_be_asked(open));
        if of.is_none() && server.now() < *until {
            return None;
        }
        let (question, _) = self.for_next_call.pop_front()?;
        Some(match of {
            Some((of, _)) => Decided::Of(*of, question),
            None => Decided::Refused(question),
        })
    }

    /// The server does not want an answer any more.
    pub(super) fn forget(&mut self, question: Token) {
        (self.for_next_call).retain(|(kept, _)| kept.token != question);
        self.undecided
            .take_if(|undecided| undecided.question.token == question);
    }

    /// Returns the question that is kept, once it is clear whose it is, or that it will not be.
    pub(super) fn decide(&mut self, server: &UpstreamDriver) -> Option<Decided> {
        if let Some(decided) = self.next_question(server) {
            return Some(decided);
        }
        let calls = server.calls();
        let undecided = self.undecided.as_mut()?;
        undecided.among.retain(|token| calls.contains_key(token));
        let is_clear = undecided.among.len() <= 1;
        if !is_clear && server.now() < undecided.until {
            return None;
        }
        let Undecided {
            question, among, ..
        } = self.undecided.take()?;
        self.learn(among.iter(), calls);
        match among.first() {
            Some(of) if is_clear => Some(Decided::Of(*of, question)),
            _ => Some(Decided::Refused(question)),
        }
    }

    /// When something here has waited long enough.
    pub(super) fn wake_at(&self) -> Option<Duration> {
        let question = self.undecided.iter().map(|undecided| undecided.until);
        let waiting = self.for_next_call.iter().map(|(_, until)| *until);
        question
            .chain(waiting)
            .chain(self.held.iter().map(|(.., until)| *until))
            .min()
    }

    /// A call was answered: calls of its kind ask, or did not this time.
    pub(super) fn answered(&mut self, asked: &BridgedRequest) {
        if asked.may_be_asked {
            self.note(&asked.kind, asked.was_asked);
        }
    }

    /// The server has asked in one of these calls.
    fn learn<'t>(&mut self, tokens: impl Iterator<Item = &'t Token>, calls: &WaitingCalls) {
        for open in tokens.filter_map(|token| calls.get(token)) {
            self.note(&open.call.kind, true);
        }
    }

    fn note(&mut self, kind: &str, asks: bool) {
        if let Some(known) = self.asks.get_mut(kind) {
            *known |= asks;
            return;
        }
        if self.asks.len() >= KINDS {
            self.asks.retain(|_, asks| *asks);
        }
        if self.asks.len() < KINDS {
            self.asks.insert(kind.to_owned(), asks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, QuestionTurns};

    #[test]
    fn a_kind_of_calls_that_asks_is_known_however_many_were_met_that_do_not() {
        let mut turns = QuestionTurns::default();
        for number in 0..KINDS {
            turns.note(&format!("plain {number}"), false);
        }
        turns.note("asks", true);
        assert_eq!(turns.asks.get("asks"), Some(&true));
    }
}
