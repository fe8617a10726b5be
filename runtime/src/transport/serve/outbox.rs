//! Texts on their way to a client: a queue between their senders and the writer, bounded by bytes.

use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, Json};

use super::budget::{Full, Permit, Share};
use super::event::EventId;
use crate::transport::queue::{self, Queued, Turn};
use mcp_revisions_sansio::server::Outgoing;

/// Number of bytes that may wait for a slow reader before senders wait too.
const QUEUE_BYTES: usize = 256 << 10;

/// An item of a queue: a text, the place where it may be had again, and a mark of the last one.
pub(crate) struct OutboxItem {
    pub(crate) text: Outgoing,
    /// Its place among the events of its session, if it is kept.
    pub(crate) id: Option<EventId>,
    /// Its part of the bytes that are not read yet, once it is in a queue that counts them.
    pub(crate) unread: Option<Permit>,
}

impl OutboxItem {
    pub(crate) fn new(text: Outgoing, id: Option<EventId>) -> Self {
        Self {
            text,
            id,
            unread: None,
        }
    }
}

/// The next item of a queue.
pub(crate) enum QueueItem {
    /// It is small, because a queue reserves the room of 32 items with the first.
    Item(Box<OutboxItem>),
    /// The connection is to be closed for now; the client resumes after this event.
    Pause(EventId),
}

impl Queued for QueueItem {
    fn bytes(&self) -> usize {
        match self {
            Self::Item(item) => item.text.body.len(),
            Self::Pause(_) => 0,
        }
    }
}

/// The end that texts are put in; clones share the queue.
#[derive(Clone)]
pub(crate) struct Outbox {
    texts: queue::QueueSender<QueueItem>,
    /// The share of the texts until they are written out, where they are counted: an answer may be of any length.
    share: Option<Share>,
}

/// The end that texts are taken out of.
pub(crate) type OutboxQueue = queue::QueueReceiver<QueueItem>;

/// Returns a queue, by both of its ends; the texts in it count against a share, if there is one.
pub(crate) fn outbox(share: Option<Share>) -> (Outbox, OutboxQueue) {
    let (texts, queue) = queue::queue(QUEUE_BYTES);
    (Outbox { texts, share }, queue)
}

impl Outbox {
    /// Waits until there is room; `None` if the reader is gone.
    pub(crate) async fn turn(&self) -> Option<Turn<'_>> {
        self.texts.turn().await
    }

    /// Counts an answer against the share of its reader until what this returns is dropped; in the place of one that
    /// finds no room in it goes an error that says so.
    pub(crate) fn waits_with(
        &self,
        answer: Result<Json, ErrorObject>,
    ) -> (Result<Json, ErrorObject>, Option<Permit>) {
        let bytes = match &answer {
            Ok(result) => result.text().len(),
            Err(error) => error.data.as_ref().map_or(0, |data| data.text().len()),
        };
        let share = self.share.as_ref();
        match share
            .map(|share| share.take(queue::cost(bytes)))
            .transpose()
        {
            Ok(permit) => (answer, permit),
            Err(full) => {
                let refusal = mcp_revisions_sansio::errors::too_much_unread(&full.to_string());
                (Err(refusal.error), None)
            }
        }
    }

    /// Returns whether there is room at the moment.
    pub(crate) fn has_room(&self) -> bool {
        self.texts.has_room()
    }

    /// Puts a text in, whether there is room or not; without a reader it is dropped. Gives it back if its reader has left too
    /// much unread.
    pub(crate) fn push(&self, mut item: OutboxItem) -> Result<(), OutboxItem> {
        // The room that it took up while it was set aside is given back first.
        item.unread = None;
        match self.admit(&item.text) {
            Ok(unread) => item.unread = unread,
            Err(_) => return Err(item),
        }
        self.texts.push(QueueItem::Item(Box::new(item)));
        Ok(())
    }

    /// Puts in what a stream ends with; in the place of an answer that its reader has no share left for, an error that
    /// says so.
    pub(crate) fn push_last(&self, mut item: OutboxItem) {
        match self.admit(&item.text) {
            Ok(unread) => item.unread = unread,
            Err(full) => {
                let request = mcp_wire::peek(item.text.body.as_bytes());
                let id = request.ok().and_then(|message| message.id?.to_id());
                let refusal = mcp_revisions_sansio::errors::too_much_unread(&full.to_string());
                item.text.body = write::error(id.as_ref(), &refusal.error);
            }
        }
        self.texts.push(QueueItem::Item(Box::new(item)));
    }

    /// Counts a text against the share of its reader, where there is one.
    fn admit(&self, text: &Outgoing) -> Result<Option<Permit>, Full> {
        let share = self.share.as_ref();
        share.map(|share| share.take(cost(text))).transpose()
    }

    /// Closes the connection for now.
    pub(crate) fn pause(&self, behind: EventId) {
        self.texts.push(QueueItem::Pause(behind));
    }

    /// Returns whether more waits than should, as only happens to those who do not wait for room.
    pub(crate) fn is_full(&self) -> bool {
        self.texts.is_full()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.texts.is_closed()
    }
}

/// Returns the bytes that a text takes up until it is read.
pub(crate) fn cost(text: &Outgoing) -> usize {
    queue::cost(text.body.len())
}
