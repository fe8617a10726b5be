//! A queue between the tasks that put values in and the one that takes them out, bounded by bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::{Mutex, MutexGuard, Notify, mpsc};

/// Number of bytes of a value beside its own, so that a bound in bytes is one in number, too.
const EACH: usize = 256;

/// A value of a queue.
pub(crate) trait Queued {
    /// Returns the bytes that the value holds.
    fn bytes(&self) -> usize;
}

impl Queued for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

/// Returns the cost of a queued value of so many bytes.
pub(crate) fn cost(bytes: usize) -> usize {
    bytes.saturating_add(EACH)
}

/// The end that values are put in; clones share the queue.
#[derive(Debug)]
pub(crate) struct QueueSender<T> {
    values: mpsc::UnboundedSender<T>,
    room: Arc<QueueRoom>,
}

/// The end that values are put in, of a queue that it does not keep open.
#[derive(Debug)]
pub(crate) struct WeakSender<T> {
    values: mpsc::WeakUnboundedSender<T>,
    room: Arc<QueueRoom>,
}

/// The receiving end of a queue. The value that it returned last counts as queued until the next call.
#[derive(Debug)]
pub(crate) struct QueueReceiver<T> {
    values: mpsc::UnboundedReceiver<T>,
    room: Arc<QueueRoom>,
    last: usize,
}

#[derive(Debug)]
struct QueueRoom {
    limit: usize,
    queued: AtomicUsize,
    freed: Notify,
    /// Held by the sender that waits for room, so that the queue exceeds its limit by one value at most.
    gate: Mutex<()>,
}

/// Permission to queue a value.
pub(crate) type Turn<'a> = MutexGuard<'a, ()>;

/// Creates a queue that holds `limit` bytes before senders wait, and returns both of its ends.
pub(crate) fn queue<T: Queued>(limit: usize) -> (QueueSender<T>, QueueReceiver<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let room = Arc::new(QueueRoom {
        limit,
        queued: AtomicUsize::new(0),
        freed: Notify::new(),
        gate: Mutex::new(()),
    });
    let sender = QueueSender {
        values: sender,
        room: Arc::clone(&room),
    };
    let receiver = QueueReceiver {
        values: receiver,
        room,
        last: 0,
    };
    (sender, receiver)
}

impl<T: Queued> QueueSender<T> {
    /// Waits until there is room; `None` if no one takes values any more.
    pub(crate) async fn turn(&self) -> Option<Turn<'_>> {
        let gate = self.room.gate.lock().await;
        loop {
            let freed = self.room.freed.notified();
            if self.values.is_closed() {
                return None;
            }
            if self.has_room() {
                return Some(gate);
            }
            tokio::select! {
                () = freed => {}
                () = self.values.closed() => return None,
            }
        }
    }

    /// Puts a value in once there is room; false if no one takes values any more.
    pub(crate) async fn send(&self, value: T) -> bool {
        let turn = self.turn().await;
        let is_taken = turn.is_some();
        if is_taken {
            self.push(value);
        }
        is_taken
    }

    /// Puts a value in, whether there is room or not.
    pub(crate) fn push(&self, value: T) {
        let bytes = cost(value.bytes());
        self.room.queued.fetch_add(bytes, Ordering::AcqRel);
        let _ = self.values.send(value);
    }

    /// Puts a value in, if there is room for it; false if there is none.
    pub(crate) fn try_push(&self, value: T) -> bool {
        let queued = self.room.queued.load(Ordering::Acquire);
        let has_room = queued.saturating_add(cost(value.bytes())) <= self.room.limit;
        if has_room {
            self.push(value);
        }
        has_room
    }

    /// Returns whether there is room at the moment.
    pub(crate) fn has_room(&self) -> bool {
        self.room.queued.load(Ordering::Acquire) < self.room.limit
    }

    /// Returns whether twice as much waits as should, which is possible if values are put in without a turn.
    pub(crate) fn is_full(&self) -> bool {
        self.room.queued.load(Ordering::Acquire) >= self.room.limit.saturating_mul(2)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.values.is_closed()
    }

    /// Waits until no one takes values any more.
    pub(crate) async fn closed(&self) {
        self.values.closed().await;
    }

    pub(crate) fn downgrade(&self) -> WeakSender<T> {
        WeakSender {
            values: self.values.downgrade(),
            room: Arc::clone(&self.room),
        }
    }
}

impl<T> WeakSender<T> {
    /// Returns the sender; `None` if there is none any more.
    pub(crate) fn upgrade(&self) -> Option<QueueSender<T>> {
        Some(QueueSender {
            values: self.values.upgrade()?,
            room: Arc::clone(&self.room),
        })
    }
}

impl<T: Queued> QueueReceiver<T> {
    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.free();
        let next = self.values.poll_recv(context);
        if let Poll::Ready(Some(value)) = &next {
            self.last = cost(value.bytes());
        }
        next
    }

    /// Waits for the next value; `None` once all senders are gone.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        std::future::poll_fn(|context| self.poll_recv(context)).await
    }

    /// Takes no more values.
    pub(crate) fn close(&mut self) {
        self.values.close();
    }

    /// Returns whether nothing waits at the moment.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn free(&mut self) {
        let last = std::mem::take(&mut self.last);
        if last > 0 {
            self.room.queued.fetch_sub(last, Ordering::AcqRel);
            // The task that holds the gate is the only one that waits.
            self.room.freed.notify_one();
        }
    }
}

impl<T> Clone for QueueSender<T> {
    fn clone(&self) -> Self {
        Self {
            values: self.values.clone(),
            room: Arc::clone(&self.room),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Queued for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    #[tokio::test]
    async fn as_many_bytes_wait_as_there_is_room_for() {
        let (sender, mut receiver) = queue(3 * EACH);
        assert!(sender.try_push(0) && sender.try_push(EACH));
        assert!(!sender.try_push(0), "it is full");
        let waits = tokio::spawn({
            let sender = sender.clone();
            async move { sender.send(0).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(receiver.recv().await, Some(0));
        // The first counts until the next is asked for.
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        assert_eq!(receiver.recv().await, Some(EACH));
        assert!(matches!(waits.await, Ok(true)));
        assert_eq!(receiver.recv().await, Some(0));
        // A value without a turn is put in anyway.
        sender.push(9 * EACH);
        assert!(sender.is_full() && !sender.has_room());
        drop(receiver);
        assert!(!sender.send(0).await && sender.is_closed());
    }
}
