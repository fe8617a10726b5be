//! Forwards the signals that end a program to the server of a tap.

use std::io;
use std::pin::pin;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::signal::unix::{self, SignalKind};
use tokio::time::{Instant, sleep_until};

/// Time that a server has to end after a signal. Hosts kill the tap 2 seconds after SIGTERM, and cannot reach its server.
const GRACE: Duration = Duration::from_millis(1500);

/// The signals that end a program. From its creation on, they go to the server.
pub(super) struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    /// Sent when the terminal is gone.
    hangup: unix::Signal,
    /// The time at which the server is killed; `None` before the first signal.
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

    /// Waits for `work`, and forwards signals to the process group meanwhile. Returns `None` if the server is to be killed first:
    /// at the second SIGTERM, or after the grace.
    pub(super) async fn forward_during<T>(
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
            // Only SIGTERM counts twice: a terminal that closes may send several SIGHUP.
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

/// Sends a signal to a process group. Nothing has waited for its leader, so that its id cannot be that of another process.
fn send(id: Option<u32>, signal: Signal) {
    let group = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(group) = group {
        let _ = kill_process_group(group, signal);
    }
}
