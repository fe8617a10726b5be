//! What one replica knows of the others: the requests that it has passed to them, and theirs that it works on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use super::frame::{self, Part};
use super::homes::Homes;
use crate::backplane::{Backplane, To, detach};
use crate::transport::panics::lock;

/// What one replica knows of the others.
pub(in crate::transport::http) struct Replica {
    pub(in crate::transport::http) backplane: Arc<dyn Backplane>,
    /// Where others send messages.
    pub(in crate::transport::http) address: Arc<str>,
    pub(super) last: AtomicU64,
    /// Requests that were passed on, by their number.
    pub(super) passed: Mutex<HashMap<u64, Passed>>,
    /// Where the sessions run whose requests were passed on.
    pub(super) homes: Mutex<Homes>,
    /// Requests that others have passed here, by who did and their number.
    pub(super) working: Mutex<HashMap<(String, u64), Working>>,
    /// One session at a time is taken over, and one record written that has changed.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// Whether sessions may have been taken over by others while the backplane could not be reached.
    pub(super) is_doubtful: AtomicBool,
    pub(super) is_looked_after: AtomicBool,
}

/// A request that was passed on.
pub(super) struct Passed {
    pub(super) home: String,
    pub(super) parts: mpsc::UnboundedSender<Part>,
}

impl Replica {
    pub(in crate::transport::http) fn new(
        backplane: Arc<dyn Backplane>,
        address: Arc<str>,
    ) -> Self {
        Self {
            backplane,
            address,
            last: AtomicU64::new(0),
            passed: Mutex::default(),
            homes: Mutex::default(),
            working: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            is_doubtful: AtomicBool::new(false),
            is_looked_after: AtomicBool::new(false),
        }
    }

    /// Whether sessions can be served: no other replica can have taken them over.
    pub(in crate::transport::http) fn is_reachable(&self) -> bool {
        self.backplane.is_available() && !self.is_doubtful.load(Ordering::Acquire)
    }

    /// Ends what waits for a replica that is gone.
    pub(super) fn lost(&self, is_gone: impl Fn(&str) -> bool) {
        let mut passed = lock(&self.passed);
        for (_, one) in passed.extract_if(|_, passed| is_gone(&passed.home)) {
            // The client may have hung up, too.
            let _ = one.parts.send(Part::Lost);
        }
    }
}

/// How many bytes of a response are on their way before its reader has taken some.
pub(super) const WINDOW: usize = 256 << 10;

/// A request that another replica has passed here.
pub(super) struct Working {
    pub(super) task: AbortHandle,
    /// The bytes of its response that are on their way, and have not been read.
    pub(super) unread: watch::Sender<usize>,
}

/// A request that was passed on, until its response has been read; its replica is notified if that does not happen.
pub(in crate::transport::http) struct Exchange {
    replica: Arc<Replica>,
    home: String,
    number: u64,
    /// Bytes that were read since its replica was last notified.
    read: usize,
    is_over: bool,
}

impl Exchange {
    pub(super) fn new(replica: Arc<Replica>, home: &str, number: u64) -> Self {
        Self {
            replica,
            home: home.to_owned(),
            number,
            read: 0,
            is_over: false,
        }
    }

    /// All of the response has come, or none will.
    pub(in crate::transport::http) fn finish(&mut self) {
        self.is_over = true;
    }

    /// So many bytes were read: its replica may send more.
    pub(in crate::transport::http) fn read(&mut self, bytes: usize) {
        self.read += bytes;
        if self.read >= WINDOW / 2 {
            self.tell(frame::read(&self.replica.address, self.number, self.read));
            self.read = 0;
        }
    }

    fn tell(&self, frame: Vec<u8>) {
        detach(self.replica.backplane.send(To::One(&self.home), frame));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        lock(&self.replica.passed).remove(&self.number);
        if !self.is_over {
            self.tell(frame::hung_up(&self.replica.address, self.number));
        }
    }
}
