//! One replica's view of the others: the requests that it has passed to them, and theirs that it works on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use super::frame::{self, BodyPiece, ResponsePart};
use super::homes::Homes;
use super::turns::ReplicaTurns;
use super::ways::ReplicaWindows;
use crate::backplane::{Backplane, ReplicaTarget, Unavailable, detach};
use crate::errors::Refusal;
use crate::transport::panics::lock;

/// One replica's view of the others.
pub(in crate::transport::http) struct Replica {
    pub(in crate::transport::http) backplane: Arc<dyn Backplane>,
    /// The address for messages of others.
    pub(in crate::transport::http) address: Arc<str>,
    pub(super) last: AtomicU64,
    /// Requests that were passed on, by their number.
    pub(super) passed: Mutex<HashMap<u64, PassedRequest>>,
    /// The bytes on their way to the others.
    pub(super) ways: ReplicaWindows,
    /// The homes of the sessions whose requests were passed on.
    pub(super) homes: Mutex<Homes>,
    /// Requests that others have passed here, by who did and their number.
    pub(super) working: Mutex<HashMap<(String, u64), Working>>,
    /// The sessions that are taken over, or whose record is written.
    pub(in crate::transport::http) turns: ReplicaTurns,
    /// Set if sessions may have been taken over by others while the backplane could not be reached.
    pub(super) is_doubtful: watch::Sender<bool>,
    /// Set if the backplane has lost its records, and sessions that run here are to be saved again.
    pub(super) is_emptied: AtomicBool,
    pub(super) is_looked_after: AtomicBool,
    /// Set once the service is over: requests that others have passed here end.
    pub(super) is_over: watch::Sender<bool>,
}

/// A request that was passed on.
pub(super) struct PassedRequest {
    pub(super) home: String,
    pub(super) parts: mpsc::UnboundedSender<ResponsePart>,
    /// Set if its response is the stream of a session, which has no end of its own.
    pub(super) is_stream: bool,
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
            ways: ReplicaWindows::default(),
            homes: Mutex::default(),
            working: Mutex::default(),
            turns: ReplicaTurns::default(),
            is_doubtful: watch::Sender::new(false),
            is_emptied: AtomicBool::new(false),
            is_looked_after: AtomicBool::new(false),
            is_over: watch::Sender::new(false),
        }
    }

    /// Returns whether sessions can be served: no other replica can have taken them over.
    pub(in crate::transport::http) fn is_reachable(&self) -> bool {
        self.backplane.is_available() && !*self.is_doubtful.borrow()
    }

    /// Waits until it is settled which sessions run here. Returns whether it is.
    pub(super) async fn is_settled(&self) -> bool {
        if !self.backplane.is_available() {
            return false;
        }
        let mut doubts = self.is_doubtful.subscribe();
        let settled = doubts.wait_for(|is_doubtful| !is_doubtful);
        tokio::time::timeout(DOUBT, settled).await.is_ok()
    }

    /// Returns whether requests are at work that others have passed here, and wait for their answer.
    pub(in crate::transport::http) fn has_calls(&self) -> bool {
        let working = lock(&self.working);
        working.values().any(|working| working.is_call)
    }

    /// Ends the streams of sessions that run at other replicas: their clients open them again elsewhere.
    pub(in crate::transport::http) fn end_streams(&self) {
        lock(&self.passed).retain(|_, passed| !passed.is_stream);
    }

    /// Sees to it that what others have passed here ends, because the service is over.
    pub(in crate::transport::http) fn end(&self) {
        self.is_over.send_replace(true);
    }

    /// Ends what waits for replicas with this error.
    pub(in crate::transport::http) fn lost(&self, why: &Refusal, is_gone: impl Fn(&str) -> bool) {
        let mut passed = lock(&self.passed);
        for (_, one) in passed.extract_if(|_, passed| is_gone(&passed.home)) {
            // The client may have hung up, too.
            let _ = one.parts.send(ResponsePart::Lost(Box::new(why.clone())));
        }
        drop(passed);
        self.ways.end(is_gone);
    }

    /// Sends a frame with a piece of a body, once there is room on the way. Returns whether its receiver is there.
    pub(super) async fn send_piece(&self, to: &str, frame: Vec<u8>) -> Result<bool, Unavailable> {
        self.ways.take_room(to, frame.len()).await;
        self.backplane.send(ReplicaTarget::One(to), frame).await
    }

    /// Takes note of a frame with a piece of a body, for whose bytes its sender has room again.
    pub(super) fn arrived(&self, from: &str, bytes: usize) {
        if let Some(bytes) = self.ways.arrived(from, bytes) {
            let arrived = frame::arrived(&self.address, bytes);
            detach(self.backplane.send(ReplicaTarget::One(from), arrived));
        }
    }
}

/// Maximum time that a request waits until it is settled which sessions run here.
const DOUBT: Duration = Duration::from_secs(2);

/// Maximum number of bytes of a response on their way before its reader has taken some.
pub(super) const WINDOW: usize = 256 << 10;

/// Number of bytes of a body sent at a time.
pub(super) const PIECE: usize = 64 << 10;

/// A request that another replica has passed here.
pub(super) struct Working {
    pub(super) task: AbortHandle,
    /// The bytes of its response that are on their way, and have not been read.
    pub(super) unread: watch::Sender<usize>,
    /// The queue for the rest of its body, if some of it is still to come.
    pub(super) body: Option<mpsc::UnboundedSender<BodyPiece>>,
    /// Set if it is answered: a stream of its session is not.
    pub(super) is_call: bool,
}

/// A request that was passed on, until its response has been read; its replica is notified if that does not happen.
pub(in crate::transport::http) struct ReplicaExchange {
    replica: Arc<Replica>,
    home: String,
    number: u64,
    /// Bytes that were read since its replica was last notified.
    read: usize,
    is_over: bool,
}

impl ReplicaExchange {
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
        detach(
            self.replica
                .backplane
                .send(ReplicaTarget::One(&self.home), frame),
        );
    }
}

impl Drop for ReplicaExchange {
    fn drop(&mut self) {
        lock(&self.replica.passed).remove(&self.number);
        if !self.is_over {
            self.tell(frame::hung_up(&self.replica.address, self.number));
        }
    }
}
