//! Events of sessions in Redis: a stream per session, within bounds, written as many as have come at a time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Pipeline;
use tokio::sync::mpsc;

use super::{PATIENCE, Shared};
use crate::backplane::{EventId, KeptEvent};
use crate::transport::panics::lock;

/// The sizes of events, the oldest first.
pub(super) struct Sizes {
    sizes: VecDeque<usize>,
    bytes: usize,
    last: Instant,
}

/// An event that is to be written, and how many stay of its session then, if some have to go.
pub(super) struct Append {
    session: String,
    event: KeptEvent,
    most: Option<usize>,
}

/// Bytes of the events of a session, and how many at most.
const SESSION_BYTES: usize = 256 << 10;
const SESSION_EVENTS: usize = 1_000;
/// How long events are kept of which no more come.
const EVENTS_KEPT: Duration = Duration::from_secs(3600);
/// Events that wait to be written, and how many are written at a time.
pub(super) const APPENDS: usize = 4_096;
const BATCH: usize = 128;
/// What an event costs beside its bytes.
const EVENT_BYTES: usize = 128;

/// The fields of an event in its stream.
pub(super) type Fields = HashMap<String, String>;

/// Reads an event; `None` if it is none.
pub(super) fn of_fields(mut fields: Fields) -> Option<KeptEvent> {
    Some(KeptEvent {
        id: fields.get("id")?.parse().ok()?,
        last: fields.get("last")? == "1",
        text: fields.remove("text")?,
    })
}

impl Shared {
    /// Keeps an event, if it is not longer than all of them may be.
    pub(super) fn append(&self, session: &str, event: KeptEvent) {
        let size = event.text.len() + EVENT_BYTES;
        if size > SESSION_BYTES {
            return;
        }
        let append = Append {
            most: self.most(session, size),
            session: session.to_owned(),
            event,
        };
        // An event that is not kept leaves a gap, which the reader notices.
        let _ = self.appends.try_send(append);
    }

    /// Forgets the sizes of sessions of which nothing comes any more: another replica runs them.
    pub(super) fn forget_sizes(&self) {
        lock(&self.sizes).retain(|_, sizes| sizes.last.elapsed() < EVENTS_KEPT);
    }

    /// Writes events, as many as have come at a time.
    pub(super) async fn write(self: Arc<Self>, mut appended: mpsc::Receiver<Append>) {
        let mut batch = Vec::with_capacity(BATCH);
        while appended.recv_many(&mut batch, BATCH).await > 0 {
            let mut writes = redis::pipe();
            for append in batch.drain(..) {
                self.add(&mut writes, append);
            }
            // An event that is not written leaves a gap, which the reader notices.
            let mut connection = self.connection.clone();
            let _ = tokio::time::timeout(PATIENCE, writes.exec_async(&mut connection)).await;
        }
    }

    fn add(&self, writes: &mut Pipeline, append: Append) {
        let Append {
            session,
            event,
            most,
        } = append;
        let key = self.key("events", &session);
        writes.cmd("XADD").arg(&key);
        if let Some(most) = most {
            writes.arg("MAXLEN").arg(most);
        }
        writes.arg("*");
        writes.arg("id").arg(event.id.to_string());
        writes.arg("last").arg(i32::from(event.last));
        writes.arg("text").arg(event.text).ignore();
        let kept = EVENTS_KEPT.as_millis().to_string();
        writes.cmd("PEXPIRE").arg(&key).arg(kept).ignore();
    }

    /// How many events of a session stay with one of this size that comes, if some have to go.
    fn most(&self, session: &str, size: usize) -> Option<usize> {
        let mut sizes = lock(&self.sizes);
        let of_it = sizes.entry(session.to_owned()).or_insert_with(|| Sizes {
            sizes: VecDeque::new(),
            bytes: 0,
            last: Instant::now(),
        });
        of_it.sizes.push_back(size);
        of_it.bytes += size;
        of_it.last = Instant::now();
        let mut is_full = false;
        while (of_it.bytes > SESSION_BYTES || of_it.sizes.len() > SESSION_EVENTS)
            && let Some(oldest) = of_it.sizes.pop_front()
        {
            of_it.bytes -= oldest;
            is_full = true;
        }
        is_full.then_some(of_it.sizes.len())
    }
}

/// Returns the events of a stream behind one, in order, or `None` if some are missing between them.
pub(super) fn without_gaps(
    behind: EventId,
    events: impl Iterator<Item = KeptEvent>,
) -> Option<Vec<KeptEvent>> {
    let is_behind =
        |event: &KeptEvent| event.id.stream == behind.stream && event.id.place > behind.place;
    let mut events: Vec<_> = events.filter(is_behind).collect();
    events.sort_by_key(|event| event.id.place);
    let mut place = behind.place;
    for event in &events {
        let next = event.id.place;
        // A replica that takes a session over counts from where no place is taken.
        let begins = next >> 32 > place >> 32 && next & 0xffff_ffff == 1;
        if next != EventId::WILL && Some(next) != place.checked_add(1) && !begins {
            return None;
        }
        place = next;
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_among_events_is_noticed_and_where_another_replica_goes_on_is_none() {
        let event = |place| KeptEvent {
            id: EventId { stream: 1, place },
            text: String::new(),
            last: false,
        };
        let read = |behind: u64, places: &[u64]| {
            let behind = EventId {
                stream: 1,
                place: behind,
            };
            let events = without_gaps(behind, places.iter().copied().map(event));
            events.map(|events| {
                events
                    .iter()
                    .map(|event| event.id.place)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(read(1, &[1, 3, 2]), Some(vec![2, 3]));
        assert_eq!(read(1, &[3]), None);
        assert_eq!(read(0, &[2, 3]), None);
        let taken_over = (1 << 32) + 1;
        assert_eq!(
            read(2, &[3, taken_over, taken_over + 1]),
            Some(vec![3, taken_over, taken_over + 1])
        );
        assert_eq!(read(2, &[taken_over + 1]), None);
        let will = EventId::WILL;
        assert_eq!(read(1, &[will]), Some(vec![will]));
    }
}
