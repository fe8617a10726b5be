//! One replica's view of the others: the requests that it has passed to them, and theirs that it works on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::frame::{self, BodyPiece, ResponsePart};
use super::homes::Homes;
use super::turns::ReplicaTurns;
use super::ways::ReplicaWindows;
use crate::backplane::{Backplane, ReplicaTarget, Unavailable, detach};
use crate::transport::panics::lock;
use mcp_revisions_sansio::errors::Refusal;

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
    /// The signs of life of the replicas to which requests were passed.
    pub(super) lives: Mutex<HashMap<String, ReplicaLife>>,
    /// The searches for records that are not found, at a time.
    pub(super) searches: Semaphore,
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

pub(super) struct PassedRequest {
    pub(super) home: String,
    pub(super) parts: mpsc::UnboundedSender<ResponsePart>,
    /// Set if its response is the stream of a session, which has no end of its own.
    pub(super) is_stream: bool,
    /// Set once its replica has it.
    pub(super) has_arrived: bool,
    /// Number of bytes of its response that were read.
    pub(super) read: u64,
}

/// The last sign of life of a replica, and whether it answers when it is asked for one.
pub(super) struct ReplicaLife {
    pub(super) at: Instant,
    pub(super) answers: bool,
}

impl ReplicaLife {
    /// Returns whether the replica has been silent for too long.
    fn is_over(&self) -> bool {
        let longest = if self.answers { SILENT } else { SILENT_OLD };
        self.at.elapsed() > longest
    }
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
            lives: Mutex::default(),
            searches: Semaphore::new(SEARCHES),
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
        self.backplane.available().is_ok() && !*self.is_doubtful.borrow()
    }

    /// Waits until it is settled which sessions run here: a connection that is cut may be back soon. The error is the reason
    /// why it is not settled.
    pub(super) async fn settled(&self) -> Result<(), Unavailable> {
        let settled = async {
            while self.backplane.available().is_err() {
                tokio::time::sleep(SHORTLY).await;
            }
            let mut doubts = self.is_doubtful.subscribe();
            drop(doubts.wait_for(|is_doubtful| !is_doubtful).await);
        };
        match tokio::time::timeout(DOUBT, settled).await {
            Ok(()) => Ok(()),
            Err(_) => {
                self.backplane.available()?;
                let why = "it was away, and which replica runs the session is not settled yet";
                Err(Unavailable(why.to_owned()))
            }
        }
    }

    /// Takes note of a sign of life.
    pub(super) fn lives(&self, home: &str, answers: bool) {
        if let Some(life) = lock(&self.lives).get_mut(home) {
            life.at = Instant::now();
            life.answers |= answers;
        }
    }

    /// Returns the requests that were passed to each replica and have arrived there, each with the bytes of its response that
    /// were read. The lives of other replicas are forgotten.
    pub(super) fn waits(&self) -> HashMap<String, Vec<(u64, u64)>> {
        let mut waits: HashMap<String, Vec<(u64, u64)>> = HashMap::new();
        for (number, passed) in &*lock(&self.passed) {
            let requests = waits.entry(passed.home.clone()).or_default();
            requests.extend(passed.has_arrived.then_some((*number, passed.read)));
        }
        let mut lives = lock(&self.lives);
        lives.retain(|home, _| waits.contains_key(home));
        for home in waits.keys() {
            lives.entry(home.clone()).or_insert_with(|| ReplicaLife {
                at: Instant::now(),
                answers: false,
            });
        }
        waits
    }

    /// Returns whether a replica that is there has said nothing for too long.
    pub(super) fn is_silent(&self, home: &str) -> bool {
        (lock(&self.lives).get(home)).is_some_and(ReplicaLife::is_over)
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
        self.end_with(|| ResponsePart::Lost(Box::new(why.clone())), is_gone);
    }

    /// Ends what waits for replicas that are there, and could not be reached for a while.
    pub(super) fn broken(&self, is_broken: impl Fn(&str) -> bool) {
        self.end_with(|| ResponsePart::Broken, is_broken);
    }

    fn end_with(&self, part: impl Fn() -> ResponsePart, is_gone: impl Fn(&str) -> bool) {
        let mut passed = lock(&self.passed);
        for (_, one) in passed.extract_if(|_, passed| is_gone(&passed.home)) {
            // The client may have hung up, too.
            let _ = one.parts.send(part());
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

/// Time between two looks at a backplane that is away.
const SHORTLY: Duration = Duration::from_millis(50);

/// Maximum time without a sign of life of a replica that answers when it is asked for one.
const SILENT: Duration = Duration::from_secs(10);

/// Maximum time without a sign of life of a replica that is not known to answer, as builds without a version do not.
const SILENT_OLD: Duration = Duration::from_secs(600);

/// Maximum number of searches for records that are not found, at a time.
const SEARCHES: usize = 64;

/// Maximum number of bytes of a response on their way before its reader has taken some.
pub(super) const WINDOW: usize = 256 << 10;

/// Number of bytes of a body sent at a time.
pub(super) const PIECE: usize = 64 << 10;

/// A request that another replica has passed here.
pub(super) struct Working {
    pub(super) task: AbortHandle,
    /// The bytes of its response that its reader has read.
    pub(super) read: watch::Sender<u64>,
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
    /// All bytes that were read.
    all: u64,
    is_over: bool,
}

impl ReplicaExchange {
    pub(super) fn new(replica: Arc<Replica>, home: &str, number: u64) -> Self {
        Self {
            replica,
            home: home.to_owned(),
            number,
            read: 0,
            all: 0,
            is_over: false,
        }
    }

    /// The replica has the request: it is asked about it from now on.
    pub(super) fn has_arrived(&self) {
        if let Some(passed) = lock(&self.replica.passed).get_mut(&self.number) {
            passed.has_arrived = true;
        }
    }

    /// All of the response has come, or none will.
    pub(in crate::transport::http) fn finish(&mut self) {
        self.is_over = true;
    }

    /// So many bytes were read: its replica may send more.
    pub(in crate::transport::http) fn read(&mut self, bytes: usize) {
        self.read += bytes;
        self.all += bytes as u64;
        if let Some(passed) = lock(&self.replica.passed).get_mut(&self.number) {
            passed.read = self.all;
        }
        if self.read >= WINDOW / 2 {
            let (number, all) = (self.number, self.all);
            self.tell(frame::read(&self.replica.address, number, self.read, all));
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
