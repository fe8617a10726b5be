//! Events of sessions in Redis: a stream per session, within bounds, written as many as have come at a time.

use std::collections::{HashMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Pipeline;
use tokio::sync::mpsc;

use super::{PATIENCE, SharedRedis};
use crate::backplane::KeptEvent;
use crate::serve::{Budget, Permit};
use crate::transport::panics::lock;
use mcp_revisions_sansio::server::Owner;

/// The events of a session that are kept, the oldest first, each by what it takes of the budget.
pub(super) struct Sizes {
    events: VecDeque<Permit>,
    bytes: usize,
    /// Set if events have gone that Redis may still have.
    is_cut: bool,
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
/// Bytes of the events that all replicas keep, each as many as any other; those of one client may take a quarter.
const ALL_BYTES: usize = 256 << 20;
/// Bytes of the events that one replica keeps at least, however many there are, and at most, however few.
const REPLICA_BYTES: RangeInclusive<usize> = 4 * SESSION_BYTES..=64 << 20;
/// Time that the events of a stream are kept after the last one.
pub(super) const EVENTS_KEPT: Duration = Duration::from_secs(3600);
/// Events that wait to be written, and how many are written at a time.
pub(super) const APPENDS: usize = 4_096;
const BATCH: usize = 128;
/// Number of bytes of an event beside its own.
const EVENT_BYTES: usize = 128;

/// The fields of an event in its stream.
pub(super) type EventFields = HashMap<String, String>;

/// Returns the budget of the events that a process keeps, until it knows how many replicas there are.
pub(super) fn event_bytes() -> Arc<Budget> {
    Budget::new(replica_bytes(1), SESSION_BYTES)
}

/// Returns the number of bytes of events that each of so many replicas keeps.
fn replica_bytes(replicas: usize) -> usize {
    let part = ALL_BYTES / replicas.max(1);
    part.clamp(*REPLICA_BYTES.start(), *REPLICA_BYTES.end())
}

/// Reads an event; `None` if it is none.
pub(super) fn of_fields(mut fields: EventFields) -> Option<KeptEvent> {
    Some(KeptEvent {
        id: fields.get("id")?.parse().ok()?,
        last: fields.get("last")? == "1",
        text: fields.remove("text")?,
    })
}

impl SharedRedis {
    /// Keeps an event, if its session, its owner and all of them have room for it.
    pub(super) fn append(&self, session: &str, owner: &Owner, event: KeptEvent) {
        let size = event.text.len() + EVENT_BYTES;
        // An event that is not kept leaves a gap, or a stream that nothing ends: who resumes it notices.
        let Some(most) = self.admit(session, owner, size) else {
            return;
        };
        let append = Append {
            most,
            session: session.to_owned(),
            event,
        };
        let _ = self.appends.try_send(append);
    }

    /// Divides what all replicas may keep among those that are there, each of which listens to the channel of all.
    pub(super) async fn divide_event_bytes(&self) {
        let channel = self.channel_of_all();
        let mut command = redis::cmd("PUBSUB");
        command.arg("NUMSUB").arg(&channel);
        // Without an answer it stays as it was.
        let listeners = self.run::<HashMap<String, usize>>(&command).await;
        let replicas = listeners.ok().and_then(|it| it.get(&channel).copied());
        if let Some(replicas) = replicas {
            self.event_bytes.resize(replica_bytes(replicas));
        }
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
            // What is not written is missing as what is not kept.
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

    /// Takes an event of this size into the budget. If the oldest events of its session have to go, returns the number of those that
    /// stay. Returns `None` if other sessions fill the room.
    fn admit(&self, session: &str, owner: &Owner, size: usize) -> Option<Option<usize>> {
        if size > SESSION_BYTES {
            return None;
        }
        let mut sizes = lock(&self.sizes);
        let of_it = sizes.entry(session.to_owned()).or_insert_with(|| Sizes {
            events: VecDeque::new(),
            bytes: 0,
            is_cut: false,
            last: Instant::now(),
        });
        of_it.last = Instant::now();
        let share = self.event_bytes.of(owner.clone());
        let event = loop {
            let has_room =
                of_it.bytes + size <= SESSION_BYTES && of_it.events.len() < SESSION_EVENTS;
            let permit = has_room.then(|| share.take(size).ok()).flatten();
            if permit.is_some() {
                break permit;
            }
            let Some(oldest) = of_it.events.pop_front() else {
                break None;
            };
            of_it.bytes -= oldest.amount();
            of_it.is_cut = true;
        };
        of_it.events.push_back(event?);
        of_it.bytes += size;
        Some(of_it.is_cut.then_some(of_it.events.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_divide_what_all_of_them_may_keep() {
        let megabytes = |replicas| replica_bytes(replicas) >> 20;
        for replicas in 0..=256 {
            let all = replicas * replica_bytes(replicas);
            assert!(all <= ALL_BYTES, "{replicas} replicas keep {all}");
        }
        assert_eq!([0, 1, 4, 8, 64].map(megabytes), [64, 64, 64, 32, 4]);
        // A share holds the events of one session.
        assert!(replica_bytes(100_000) / 4 >= SESSION_BYTES);
    }
}
