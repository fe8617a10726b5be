//! Signals that end a tap are for its server.

use std::io;
use std::pin::pin;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::signal::unix::{self, SignalKind};
use tokio::time::{Instant, sleep_until};

/// Time that a server has to end after a signal. Hosts kill the tap 2 seconds after SIGTERM, and cannot reach its server.
const GRACE: Duration = Duration::from_millis(1500);

/// The signals that end a program, from when on they are for the server.
pub(super) struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    /// The terminal is gone.
    hangup: unix::Signal,
    /// When the server is killed, once there was a signal.
    until: Option<Instant>,
    /// Set if SIGTERM was forwarded.
    is_terminated: bool,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            hangup: unix::signal(SignalKind::hangup())?,
            until: None,
            is_terminated: false,
        })
    }

    /// Does work, and forwards signals to the process group meanwhile. Returns `None` if the server is to be killed first: at
    /// the second SIGTERM, or after the grace.
    pub(super) async fn forwarded<T>(
        &mut self,
        id: Option<u32>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        loop {
            let until = self.until;
            let over = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            let signal = tokio::select! {
                biased;
                done = &mut work => return Some(done),
                () = over => return None,
                _ = self.terminate.recv() => Signal::TERM,
                _ = self.interrupt.recv() => Signal::INT,
                _ = self.hangup.recv() => Signal::HUP,
            };
            // Not so the other signals: a terminal that goes may hang up twice.
            if signal == Signal::TERM && std::mem::replace(&mut self.is_terminated, true) {
                return None;
            }
            self.until.get_or_insert_with(|| Instant::now() + GRACE);
            send(id, signal);
        }
    }
}

/// Kills the server, and the processes that it started.
pub(super) fn kill(id: Option<u32>) {
    send(id, Signal::KILL);
}

/// Sends a signal to a process group whose leader was not waited for: its id is not that of another.
fn send(id: Option<u32>, signal: Signal) {
    let group = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(group) = group {
        let _ = kill_process_group(group, signal);
    }
}
