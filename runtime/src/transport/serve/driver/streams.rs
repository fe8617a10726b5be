//! The places of texts: the response of their exchange, the stream of the session, or aside until there is a reader.

use std::collections::VecDeque;
use std::sync::Arc;

use mcp_revisions_core::{ProtocolHeader, ProtocolRule, Revision};
use mcp_wire::RequestId;
use mcp_wire::envelope::write;

use crate::backplane::{Backplane, KeptEvent, SessionRecord, detach};
use crate::transport::serve::ExchangeFacts;
use crate::transport::serve::budget::Share;
use crate::transport::serve::event::EventId;
use crate::transport::serve::outbox::{Outbox, OutboxItem, cost};
use mcp_revisions_sansio::Exchange;
use mcp_revisions_sansio::driver::Numbered;
use mcp_revisions_sansio::errors;
use mcp_revisions_sansio::server::Outgoing;

/// Number of texts of no exchange that a session keeps while its stream has no reader.
const BACKLOG: usize = 64;
/// Maximum number of bytes of them.
const BACKLOG_BYTES: usize = 256 << 10;

/// The streams of one connection, and what waits for one of them.
#[derive(Default)]
pub(super) struct Streams {
    /// The response of each open exchange, and the facts of its sender.
    open: Numbered<Exchange, OpenResponse>,
    /// The stream of texts that belong to no exchange.
    at_large: Option<Outbox>,
    /// Set if that is the only stream: texts of an exchange go there, too.
    is_only: bool,
    /// Those that wait for a reader.
    backlog: VecDeque<OutboxItem>,
    backlog_bytes: usize,
    /// Those that found no room, until they are reported.
    dropped: Vec<String>,
    /// Number of events of no exchange.
    at_large_events: u64,
    /// The stored part of the session outside of it, once one is open.
    kept: Option<StoredSession>,
    /// Set if its revision has streams that are closed in the middle, and begin with an event that holds nothing.
    polls: bool,
}

struct OpenResponse {
    outbox: Outbox,
    facts: ExchangeFacts,
    /// Number of events of it that were sent.
    events: u64,
    /// Set if its client was asked to reconnect, so that its answer is an event too.
    is_paused: bool,
    /// Set if the event that ends it without its replica is kept.
    has_will: bool,
}

/// The stored part of a session outside of it, and its store.
pub(crate) struct StoredSession {
    pub(crate) session: Arc<str>,
    pub(crate) backplane: Arc<dyn Backplane>,
    /// The share of messages that wait for a reader of its stream.
    pub(crate) share: Share,
    /// The record of it for others, with all that they would need to go on with it; `None` if there are no others.
    pub(crate) record: Option<Box<SessionRecord>>,
    /// Set if its events are kept, so that its client can have them again.
    pub(crate) resumes: bool,
}

impl StoredSession {
    fn append(&self, event: KeptEvent) {
        (self.backplane).append(&self.session, self.share.owner(), event);
    }
}

/// The manner of sending: the sender has waited for room, or has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It has, or it is bounded by something else: an answer, a request.
    InTurn,
    /// It cannot wait: what the application tells a session.
    Unbidden,
}

/// The fate of a text.
pub(super) enum Sent {
    Done,
    /// The client reads the stream of this exchange too slowly: it has to be ended.
    Overflows(Exchange),
}

impl Streams {
    /// A text came in: what belongs to it goes there.
    pub(super) fn begin(&mut self, exchange: Exchange, outbox: Outbox, facts: ExchangeFacts) {
        let open = OpenResponse {
            outbox,
            facts,
            events: 0,
            is_paused: false,
            has_will: false,
        };
        self.open.insert(exchange, open);
    }

    /// Nothing more belongs to an exchange.
    pub(super) fn end(&mut self, exchange: Exchange) {
        self.open.remove(&exchange);
    }

    /// Returns the facts about the sender of an exchange.
    pub(super) fn facts(&self, exchange: Exchange) -> ExchangeFacts {
        let open = self.open.get(&exchange);
        open.map(|open| open.facts.clone()).unwrap_or_default()
    }

    pub(super) fn outbox(&self, exchange: Exchange) -> Option<Outbox> {
        let open = self.open.get(&exchange).map(|open| open.outbox.clone());
        open.or_else(|| self.at_large.clone())
    }

    /// Sends what belongs to no exchange there; the outbox that it took before, if that is still open.
    pub(super) fn attach(&mut self, outbox: Outbox) -> Result<(), Outbox> {
        match &self.at_large {
            Some(before) if !before.is_closed() => Err(outbox),
            _ => {
                self.replace(outbox);
                Ok(())
            }
        }
    }

    /// Sends what belongs to no exchange there, in place of the outbox before.
    pub(super) fn replace(&mut self, outbox: Outbox) {
        self.at_large = Some(outbox);
        self.flush();
    }

    /// Sends nothing more there but what belongs to exchanges that are open.
    pub(super) fn end_at_large(&mut self) {
        self.at_large = None;
    }

    /// Sends everything there.
    pub(super) fn attach_only(&mut self, outbox: Outbox) {
        (self.at_large, self.is_only) = (Some(outbox), true);
    }

    /// Returns the stream to which everything goes, if there is only one.
    pub(super) fn only(&self) -> Option<Outbox> {
        self.at_large.clone().filter(|_| self.is_only)
    }

    /// Returns whether the stream of the session has a reader.
    pub(super) fn has_reader(&self) -> bool {
        let mut at_large = self.at_large.iter();
        at_large.any(|outbox| !outbox.is_closed())
    }

    /// Returns the way that what waits is waiting for, if there is one.
    pub(super) fn blocked(&self) -> Option<&Outbox> {
        let outbox = self.at_large.as_ref().filter(|outbox| !outbox.is_closed());
        outbox.filter(|_| !self.backlog.is_empty())
    }

    /// Sends on what waits.
    pub(super) fn flush(&mut self) {
        if let Some(outbox) = &self.at_large {
            self.backlog_bytes = 0;
            for item in self.backlog.drain(..) {
                let unsent = outbox.push(item).err();
                self.dropped.extend(unsent.map(|item| item.text.body));
            }
        }
    }

    /// Takes the texts that found no room: they are to be reported once the connection is not locked, for what hears of them
    /// may send its client a message.
    pub(super) fn take_dropped(&mut self) -> Vec<String> {
        std::mem::take(&mut self.dropped)
    }

    /// Ends an exchange in which nothing is said: by a response of this status, where answers are responses.
    pub(super) fn send_empty(&mut self, exchange: Exchange, status: u16, manner: Manner) {
        if self.is_only {
            self.end(exchange);
            return;
        }
        let nothing = Outgoing {
            exchange: Some(exchange),
            last: true,
            status,
            body: String::new(),
        };
        self.send(nothing, manner);
    }

    /// Sends a text where it belongs.
    pub(super) fn send(&mut self, text: Outgoing, manner: Manner) -> Sent {
        // On an only stream, what waits comes before it.
        if self.is_only && (manner == Manner::InTurn || text.last) {
            self.flush();
        }
        let open =
            (text.exchange).and_then(|exchange| Some((exchange, self.open.get_mut(&exchange)?)));
        let Some((exchange, open)) = open else {
            self.send_at_large(text, manner);
            return Sent::Done;
        };
        if manner == Manner::Unbidden && !text.last {
            let is_full = open.outbox.is_full();
            // On an only stream it waits like a text that belongs to no exchange.
            if self.is_only && (is_full || !self.backlog.is_empty()) {
                self.set_aside(OutboxItem::new(text, None));
                return Sent::Done;
            }
            if is_full {
                return Sent::Overflows(exchange);
            }
        }
        // A whole answer is not an event.
        let is_event = !text.last || open.events > 0 || open.is_paused;
        open.events += u64::from(is_event);
        let place = is_event.then_some(open.events);
        let outbox = open.outbox.clone();
        if text.last {
            self.open.remove(&exchange);
        }
        let id = place.and_then(|place| self.keep(exchange, place, &text));
        let item = OutboxItem::new(text, id);
        if item.text.last {
            outbox.push_last(item);
        } else if outbox.push(item).is_err() {
            return Sent::Overflows(exchange);
        }
        Sent::Done
    }

    fn send_at_large(&mut self, text: Outgoing, manner: Manner) {
        self.at_large_events += 1;
        let id = self.keep(Exchange::NONE, self.at_large_events, &text);
        let outbox = self.at_large.as_ref().filter(|outbox| !outbox.is_closed());
        let has_room = |outbox: &&Outbox| {
            manner == Manner::InTurn || (self.backlog.is_empty() && !outbox.is_full())
        };
        match outbox.filter(has_room) {
            Some(outbox) if text.last => outbox.push_last(OutboxItem::new(text, id)),
            Some(outbox) => {
                let unsent = outbox.push(OutboxItem::new(text, id));
                self.dropped.extend(unsent.err().map(|item| item.text.body));
            }
            // The answer to a POST that is gone is for nobody; the rest waits for the session's stream.
            None if text.last => {}
            None => self.set_aside(OutboxItem::new(text, id)),
        }
    }

    fn set_aside(&mut self, mut item: OutboxItem) {
        if let Some(kept) = &self.kept {
            // The oldest of its own session go first; if others of its owner fill the share, this one is not kept.
            item.unread = loop {
                match kept.share.take(cost(&item.text)) {
                    Ok(unread) => break Some(unread),
                    Err(_) => match self.backlog.pop_front() {
                        Some(oldest) => {
                            self.backlog_bytes -= oldest.text.body.len();
                            self.dropped.push(oldest.text.body);
                        }
                        None => return self.dropped.push(item.text.body),
                    },
                }
            };
        }
        self.backlog_bytes += item.text.body.len();
        self.backlog.push_back(item);
        while (self.backlog.len() > BACKLOG || self.backlog_bytes > BACKLOG_BYTES)
            && let Some(oldest) = self.backlog.pop_front()
        {
            self.backlog_bytes -= oldest.text.body.len();
            self.dropped.push(oldest.text.body);
        }
    }

    /// Keeps an event for a client that resumes the stream.
    fn keep(&self, stream: Exchange, place: u64, text: &Outgoing) -> Option<EventId> {
        let kept = self.kept.as_ref().filter(|kept| kept.resumes)?;
        let id = EventId {
            stream: stream.0,
            place,
        };
        let event = KeptEvent {
            id,
            text: text.body.clone(),
            last: text.last,
        };
        kept.append(event);
        Some(id)
    }

    /// Gives back what room for exchanges takes up, while there are none.
    pub(super) fn rest(&mut self) {
        if self.open.is_empty() {
            self.open = Numbered::default();
        }
    }

    /// Ends the session, and drops what was still to be sent.
    pub(super) fn close(&mut self) {
        if let Some(kept) = self.kept.take() {
            detach(kept.backplane.end(&kept.session));
        }
        *self = Self::default();
    }

    /// Keeps the messages of a session from now on, so that its client can have them again, from this replica or another.
    pub(super) fn keep_with(&mut self, mut kept: StoredSession, revision: Option<Revision>) {
        kept.resumes &= revision.is_some_and(|it| it.has_header(ProtocolHeader::LastEventId));
        let polls = revision.is_some_and(|it| it.has_rule(ProtocolRule::PollingStreams));
        self.polls = kept.resumes && polls;
        self.kept = Some(kept);
    }

    /// Returns the record of the session outside of the process.
    pub(super) fn kept(&mut self) -> Option<&mut StoredSession> {
        self.kept.as_mut()
    }

    /// The session goes on elsewhere: what is kept of it stays.
    pub(super) fn leave(&mut self) {
        self.kept = None;
    }

    /// Counts streams and places from where those of a replica that is gone cannot have come to.
    pub(super) fn count_from(&mut self, first: u64) {
        self.at_large_events = first;
    }

    /// Returns the event that a stream of this exchange begins with, if its client can have the rest again.
    pub(super) fn prime(&self, exchange: Exchange) -> Option<EventId> {
        self.polls.then_some(EventId {
            stream: exchange.0,
            place: 0,
        })
    }

    /// Returns whether a stream begins that others would have to end if this replica were gone, and cannot yet.
    pub(super) fn lacks_will(&self, exchange: Exchange) -> bool {
        let open = self.open.get(&exchange);
        open.is_some_and(|open| !open.has_will)
            && (self.kept.as_ref()).is_some_and(|kept| kept.resumes && kept.backplane.is_shared())
    }

    /// Keeps what ends a stream if this replica is gone before it has answered these requests.
    pub(super) fn leave_will(&mut self, exchange: Exchange, requests: &[RequestId]) {
        let (Some(kept), Some(open)) = (&self.kept, self.open.get_mut(&exchange)) else {
            return;
        };
        open.has_will = true;
        let gone = errors::replica_gone();
        let errors: Vec<_> = (requests.iter())
            .map(|id| write::error(Some(id), &gone.error))
            .collect();
        let text = match errors.as_slice() {
            [one] => one.clone(),
            _ => write::batch(&errors),
        };
        let id = EventId {
            stream: exchange.0,
            place: EventId::WILL,
        };
        let last = true;
        kept.append(KeptEvent { id, text, last });
    }

    /// Sends what followed an event on its stream there, as it was read from what is kept, and what follows from now on.
    /// Gives the outbox back if more has been said since it was read, or if what ended the stream is not among it. Says whether
    /// the stream ends with a last text, rather than with the session.
    pub(super) fn resume(
        &mut self,
        behind: EventId,
        mut events: Vec<KeptEvent>,
        outbox: Outbox,
    ) -> Result<bool, Outbox> {
        let open = self.open.get(&Exchange(behind.stream));
        let said = match behind.stream {
            0 => Some(self.at_large_events),
            _ => open.map(|open| open.events),
        };
        let will = events.pop_if(|event| event.id.place == EventId::WILL);
        let read = events.last().map_or(behind.place, |event| event.id.place);
        let begins = self.generation() << 32;
        if said.is_some_and(|said| read < said && said > begins) {
            return Err(outbox);
        }
        let is_over = events.last().is_some_and(|event| event.last);
        // No handler is left that could send more on it.
        let is_orphan = open.is_none() && behind.stream != 0 && behind.stream < begins;
        events.extend(will.filter(|_| is_orphan && !is_over));
        let has_end = events.last().is_some_and(|event| event.last);
        if behind.stream != 0 && open.is_none() && !has_end {
            return Err(outbox);
        }
        for KeptEvent { id, text, last } in events {
            let text = Outgoing {
                exchange: None,
                last,
                status: 200,
                body: text,
            };
            let item = OutboxItem::new(text, Some(id));
            if last {
                outbox.push_last(item);
            } else if outbox.push(item).is_err() {
                // The client comes again for the rest, behind the last event that it got.
                return Ok(behind.stream != 0);
            }
        }
        if behind.stream == 0 {
            // They are kept, too.
            self.backlog.clear();
            self.backlog_bytes = 0;
            self.at_large = Some(outbox);
            return Ok(false);
        }
        if let Some(open) = self.open.get_mut(&Exchange(behind.stream)) {
            open.outbox = outbox;
        }
        Ok(true)
    }

    /// Returns the number of times that the session was taken over.
    fn generation(&self) -> u64 {
        let kept = self.kept.as_ref();
        let record = kept.and_then(|kept| kept.record.as_ref());
        record.map_or(0, |record| u64::from(record.generation))
    }

    /// Closes the connection of an exchange for now. Returns whether its client can resume.
    pub(super) fn pause(&mut self, exchange: Exchange) -> bool {
        if !self.polls {
            return false;
        }
        let Some(open) = self.open.get_mut(&exchange) else {
            return false;
        };
        open.is_paused = true;
        open.outbox.pause(EventId {
            stream: exchange.0,
            place: open.events,
        });
        true
    }
}
