//! What comes over HTTP: the answer to each POST, with its status, and what a status says by itself.

use std::time::Duration;

use mcp_registry::Era;
use mcp_wire::{Message, Packet};

use super::answer::MOST_SENDS;
use super::era::{Evidence, Finding, judge};
use super::output::{Answer, Failure, Ignored, Post};
use super::send::own_id;
use super::{Channel, Client, Pending, Purpose};
use crate::{RevisionSet, Spoken};

impl<App: Spoken> Client<App> {
    /// The answer to a POST.
    pub(super) fn take_http(
        &mut self,
        post: Post,
        status: u16,
        session: Option<&str>,
        body: Option<&[u8]>,
        now: Duration,
    ) {
        let Some(&id) = self.posts.get(&post) else {
            return;
        };
        let purpose = id
            .and_then(|id| self.pending.get(&id))
            .map(|pending| &pending.purpose);
        if matches!(purpose, Some(Purpose::Initialize)) {
            self.session_to_be = session.map(str::to_owned);
        }
        // Without a body its messages follow one by one.
        let Some(body) = body else { return };
        let success = (200..300).contains(&status);
        if id.is_none() && !success {
            self.ignore(Ignored::Status(status));
        }
        let messages = match self.packet(body) {
            _ if body.is_empty() => Vec::new(),
            Ok(Packet::Single(message)) => vec![message],
            Ok(Packet::Batch(messages)) => messages,
            Err(ignored) => {
                if success {
                    self.ignore(ignored);
                }
                Vec::new()
            }
        };
        for message in messages {
            match message {
                Message::Response(_) | Message::Error(_) if self.answers(&message, id) => {
                    self.take_http_answer(post, status, message, now);
                }
                _ if success => self.take_message(Some(post), message, now),
                _ => {}
            }
        }
        self.unanswered(post, Some(status), now);
    }

    /// Whether a message is the answer to this request, or an error that does not say to which.
    fn answers(&self, message: &Message, id: Option<i64>) -> bool {
        let Some(id) = id else { return false };
        match message.id() {
            Some(found) => own_id(found) == Some(id),
            None => self.pending.contains_key(&id),
        }
    }

    fn take_http_answer(&mut self, post: Post, status: u16, message: Message, now: Duration) {
        // A request that did not reach the server's handlers may be sent again.
        if !(200..300).contains(&status) && self.stale(post, status, Some(&message)) {
            return self.send_again(post, now);
        }
        self.take_answer(Some(post), Some(status), message, now);
    }

    /// The response stream of a POST is over, or there was none.
    pub(super) fn end_of_post(&mut self, post: Post, now: Duration) {
        self.unanswered(post, None, now);
    }

    /// A POST is over: whatever it carried and was not answered ends here.
    fn unanswered(&mut self, post: Post, status: Option<u16>, now: Duration) {
        let Some(Some(id)) = self.posts.get(&post).copied() else {
            self.posts.remove(&post);
            return;
        };
        if let Some(status) = status
            && !(200..300).contains(&status)
            && self.stale(post, status, None)
        {
            return self.send_again(post, now);
        }
        self.posts.remove(&post);
        let Some(Pending { purpose, .. }) = self.pending.remove(&id) else {
            return;
        };
        let failure = status.map_or(Failure::Closed, Failure::Http);
        match purpose {
            Purpose::Probe => match status {
                Some(_) => self.probed(
                    Evidence::Answer {
                        status,
                        message: None,
                    },
                    now,
                ),
                None => self.probed(Evidence::Ended(Channel::Http), now),
            },
            Purpose::Initialize => self.unsettle(&failure),
            Purpose::LogLevel | Purpose::Adapter => {}
            Purpose::Listen => self.listened(id, None, now),
            Purpose::Application {
                request, losses, ..
            } => {
                self.tell_answer(*request, Answer::Failed(failure), losses);
            }
        }
    }

    /// Whether this answer says that what was settled does not hold any more: a session that ended, or a verdict that was handed in.
    fn stale(&self, post: Post, status: u16, message: Option<&Message>) -> bool {
        let id = self.posts.get(&post).copied().flatten();
        let Some(pending) = id.and_then(|id| self.pending.get(&id)) else {
            return false;
        };
        let Purpose::Application { request, .. } = &pending.purpose else {
            return false;
        };
        let Some(settled) = self.state.settled() else {
            return false;
        };
        if request.sent >= MOST_SENDS || settled.revision != pending.revision {
            return false;
        }
        match settled.revision.era() {
            Era::Handshake => status == 404 && settled.session.is_some(),
            Era::PerRequest => {
                !settled.confirmed
                    && judge(Evidence::Answer {
                        status: Some(status),
                        message,
                    }) == Finding::Legacy
            }
        }
    }

    /// Starts over, and sends the request of this POST again.
    fn send_again(&mut self, post: Post, now: Duration) {
        let id = self.posts.remove(&post).flatten();
        let Some(Pending {
            purpose, revision, ..
        }) = id.and_then(|id| self.pending.remove(&id))
        else {
            return;
        };
        if let Purpose::Application { request, .. } = purpose {
            self.waiting.push_back(*request);
            match revision.era() {
                Era::Handshake => self.initialize(revision, RevisionSet::none()),
                Era::PerRequest => self.start_over(now),
            }
        }
    }
}
