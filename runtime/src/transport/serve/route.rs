//! Where texts go: a queue between whoever says them and whoever writes them out, bounded by bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use mcp_wire::envelope::write;
use mcp_wire::{ErrorObject, Json};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, mpsc};

use super::budget::{Full, Permit, Share};
use super::event::EventId;
use crate::server::Outgoing;

/// How many bytes may wait for a slow reader before whoever writes more waits too.
const QUEUE_BYTES: usize = 256 << 10;
/// How many there are at most of what does not wait for room.
const FULL_BYTES: usize = 2 * QUEUE_BYTES;
/// What a text costs beside its bytes.
const TEXT_BYTES: usize = 256;

/// What is on its way: a text, where it may be had again, and whether the way is closed behind it.
pub(crate) struct Item {
    pub(crate) text: Outgoing,
    /// Its place among the events of its session, if it is kept.
    pub(crate) id: Option<EventId>,
    /// What it takes up of the bytes that nobody has read yet, once it is in a queue that counts them.
    pub(crate) unread: Option<Permit>,
}

impl Item {
    pub(crate) fn new(text: Outgoing, id: Option<EventId>) -> Self {
        Self {
            text,
            id,
            unread: None,
        }
    }
}

/// What comes out of a queue.
pub(crate) enum Next {
    Item(Item),
    /// The connection is to be closed for now; the client comes again for what follows this event.
    Pause(EventId),
}

/// The end that texts are put in; clones share the queue.
#[derive(Clone)]
pub(crate) struct Route {
    texts: mpsc::UnboundedSender<Next>,
    state: Arc<State>,
}

/// The end that texts are taken out of.
pub(crate) struct Queue {
    texts: mpsc::UnboundedReceiver<Next>,
    state: Arc<State>,
    /// The bytes of the text that was taken last: it counts until the next one is asked for.
    last: usize,
}

struct State {
    queued: AtomicUsize,
    freed: Notify,
    /// One writer at a time waits for room, so that at most one text more than there is room for is put in.
    gate: Arc<Mutex<()>>,
    /// What the texts count against until they are written out, where that is counted: an answer may be of any length.
    share: Option<Share>,
}

/// Leave to put a text in.
pub(crate) struct Turn {
    _gate: OwnedMutexGuard<()>,
}

/// A queue, by both of its ends; the texts in it count against a share, if there is one.
pub(crate) fn route(share: Option<Share>) -> (Route, Queue) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let state = Arc::new(State {
        queued: AtomicUsize::new(0),
        freed: Notify::new(),
        gate: Arc::default(),
        share,
    });
    let route = Route {
        texts: sender,
        state: Arc::clone(&state),
    };
    let queue = Queue {
        texts: receiver,
        state,
        last: 0,
    };
    (route, queue)
}

impl Route {
    /// Waits until there is room; `None` if nobody reads any more.
    pub(crate) async fn turn(&self) -> Option<Turn> {
        let gate = Arc::clone(&self.state.gate).lock_owned().await;
        loop {
            let freed = self.state.freed.notified();
            if self.texts.is_closed() {
                return None;
            }
            if self.state.queued.load(Ordering::Acquire) < QUEUE_BYTES {
                return Some(Turn { _gate: gate });
            }
            tokio::select! {
                () = freed => {}
                () = self.texts.closed() => return None,
            }
        }
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
        let share = self.state.share.as_ref();
        match share
            .map(|share| share.take(bytes + TEXT_BYTES))
            .transpose()
        {
            Ok(permit) => (answer, permit),
            Err(full) => {
                let refusal = crate::errors::too_much_unread(&full.to_string());
                (Err(refusal.error), None)
            }
        }
    }

    /// Whether there is room at the moment.
    #[cfg(feature = "tracing")]
    pub(crate) fn has_room(&self) -> bool {
        self.state.queued.load(Ordering::Acquire) < QUEUE_BYTES
    }

    /// Puts a text in, whether there is room or not; if nobody reads any more, it is for nobody. It is not put in if its
    /// reader has left too much unread.
    pub(crate) fn push(&self, mut item: Item) -> Result<(), Full> {
        // What it took up while it was set aside is given back first.
        item.unread = None;
        item.unread = self.admit(&item.text)?;
        self.put(item);
        Ok(())
    }

    /// Puts in what a stream ends with; in the place of an answer that its reader has no share left for, an error that
    /// says so.
    pub(crate) fn push_last(&self, mut item: Item) {
        match self.admit(&item.text) {
            Ok(unread) => item.unread = unread,
            Err(full) => {
                let request = mcp_wire::peek(item.text.body.as_bytes());
                let id = request.ok().and_then(|message| message.id?.to_id());
                let refusal = crate::errors::too_much_unread(&full.to_string());
                item.text.body = write::error(id.as_ref(), &refusal.error);
            }
        }
        self.put(item);
    }

    /// Counts a text against the share of its reader, where there is one.
    fn admit(&self, text: &Outgoing) -> Result<Option<Permit>, Full> {
        let share = self.state.share.as_ref();
        share.map(|share| share.take(cost(text))).transpose()
    }

    fn put(&self, item: Item) {
        let bytes = cost(&item.text);
        self.state.queued.fetch_add(bytes, Ordering::AcqRel);
        let _ = self.texts.send(Next::Item(item));
    }

    /// Closes the connection for now.
    #[cfg(feature = "server-http")]
    pub(crate) fn pause(&self, behind: EventId) {
        let _ = self.texts.send(Next::Pause(behind));
    }

    /// Whether more waits than should, as only happens to those who do not wait for room.
    pub(crate) fn is_full(&self) -> bool {
        self.state.queued.load(Ordering::Acquire) >= FULL_BYTES
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.texts.is_closed()
    }
}

impl Queue {
    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Next>> {
        self.free();
        let next = self.texts.poll_recv(context);
        if let Poll::Ready(Some(Next::Item(item))) = &next {
            self.last = cost(&item.text);
        }
        next
    }

    pub(crate) async fn recv(&mut self) -> Option<Next> {
        std::future::poll_fn(|context| self.poll_recv(context)).await
    }

    /// Whether there is nothing to write at the moment.
    #[cfg(feature = "server-stdio")]
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    fn free(&mut self) {
        let last = std::mem::take(&mut self.last);
        if last > 0 {
            self.state.queued.fetch_sub(last, Ordering::AcqRel);
            // Whoever holds the gate is the only one that waits.
            self.state.freed.notify_one();
        }
    }
}

/// What a text takes up while nobody reads it.
pub(crate) fn cost(text: &Outgoing) -> usize {
    text.body.len() + TEXT_BYTES
}
