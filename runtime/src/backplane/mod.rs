//! The state that replicas share: records of sessions, events of their streams, tasks, and messages. Any feature of a server.
//!
//! A session runs on one replica, its home. Any replica takes its requests: one that arrives elsewhere is passed to the
//! home, and its response comes back the same way. If the home is gone, the replica that notices takes the session over,
//! from its [`SessionRecord`]. Clients of per-request revisions have no sessions: their requests are served anywhere.
//!
//! A task is worked on by the replica that began it, and served by each: what is known of it is in the [store](Backplane::tasks)
//! that they share. If its replica is gone before it has ended, it has failed, and says so to the client that looks next.
//!
//! [`Memory`] is the backplane of one process, and the default; `Redis`, of feature `redis`, is that of several.
//!
//! ```
//! use mcp_revisions::backplane::Memory;
//! use mcp_revisions::http::Options;
//!
//! // Two services of one process that serve each other's sessions.
//! let backplane = Memory::new();
//! let options = [0, 1].map(|_| Options::new().with_backplane(backplane.clone()));
//! # drop(options);
//! ```

mod memory;
mod noted;
mod receivers;
mod record;
#[cfg(feature = "redis")]
mod redis;

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

pub use crate::transport::serve::event::{EventId, KeptEvent, NoEventId};
use mcp_revisions_sansio::server::{MemoryTasks, Owner, TaskStore};
pub use memory::Memory;
pub(crate) use noted::may_be_noted;
pub use record::{BrokenRecord, SessionRecord};
#[cfg(feature = "redis")]
pub use redis::{Redis, RedisError};

/// The work of a backplane, on its way.
pub type Reply<T> = Pin<Box<dyn Future<Output = Result<T, Unavailable>> + Send>>;

/// The backplane cannot be used; what was asked of it may or may not have been done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the backplane cannot be used: {0}")]
pub struct Unavailable(pub String);

/// The receiver of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaTarget<'a> {
    /// The receiver at this address.
    One(&'a str),
    /// Every receiver of every replica.
    All,
}

/// The receiver of messages from other replicas.
pub trait Receiver: Send + Sync {
    /// Receives a message. It must not block.
    fn receive(&self, message: &[u8]);

    /// Reports that the backplane could not be reached for a while: messages may have been lost, and sessions taken over.
    fn reconnected(&self) {}

    /// Reports that other replicas may have taken over the sessions of this receiver.
    fn missed(&self) {
        self.reconnected();
    }

    /// Reports that the backplane has lost its records: the receiver saves its own again.
    fn emptied(&self) {
        self.reconnected();
    }
}

/// The state that replicas share. It holds records of sessions, events of their streams and tasks, and carries messages between
/// replicas.
///
/// Its functions return at once, and their result is a future that does the work. They may be called outside of a runtime. An
/// implementation bounds its memory: [`append`](Self::append) drops events beyond that, and [`after`](Self::after) says so.
pub trait Backplane: Send + Sync + 'static {
    /// Adds a receiver. Returns its address, which no other receiver ever has: eight lower-case hexadecimal digits.
    fn join(&self, receiver: Weak<dyn Receiver>) -> Arc<str>;

    /// Removes the receiver at an address. Messages that were sent there before have arrived when this is done.
    fn leave(&self, address: &str) -> Reply<()> {
        let _ = address;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Sends a message. Returns whether its receiver is there; messages from one sender to one receiver stay in order, if each
    /// waits for the one before.
    fn send(&self, to: ReplicaTarget<'_>, message: Vec<u8>) -> Reply<bool>;

    /// Saves the record of a session for `keep`, if its home is still `of`; `None` for a session that is opened. Returns
    /// whether it was saved.
    fn save(
        &self,
        session: &str,
        record: &SessionRecord,
        of: Option<&str>,
        keep: Duration,
    ) -> Reply<bool>;

    /// Returns the record of a session, if there is one.
    fn find(&self, session: &str) -> Reply<Option<SessionRecord>>;

    /// Removes the record of a session, and its events.
    fn end(&self, session: &str) -> Reply<()>;

    /// Appends an event to those of a session of this owner.
    fn append(&self, session: &str, owner: &Owner, event: KeptEvent);

    /// Returns the events of a stream after this one, in order of their places; `None` if some are gone before others that are
    /// there. Events that were appended before are among them, but for the last ones, which may not be kept either.
    fn after(&self, session: &str, event: EventId) -> Reply<Option<Vec<KeptEvent>>>;

    /// Returns the store of the tasks that replicas share; without feature `ext-tasks` there are none. Default: a new one in
    /// memory, which no other replica has.
    fn tasks(&self) -> Arc<dyn TaskStore> {
        Arc::new(MemoryTasks::default())
    }

    /// Returns whether other replicas may use it; otherwise records of sessions are not saved.
    fn is_shared(&self) -> bool {
        true
    }

    /// Returns whether the store can be reached, as far as is known.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn available(&self) -> Result<(), Unavailable> {
        Ok(())
    }
}

/// Does the rest of a work whose result is not used.
pub(crate) fn detach<T: Send + 'static>(mut reply: Reply<T>) {
    // Outside of a runtime nothing more can be done of it than was done at once.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return;
    };
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    if reply.as_mut().poll(&mut context).is_pending() {
        runtime.spawn(reply);
    }
}
