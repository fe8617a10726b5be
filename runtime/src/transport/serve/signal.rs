//! The signals that end a process.

use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::transport::spawn::{Boxed, boxed};

/// Time in which a signal that is repeated is the same one: a terminal and a parent process may both pass it on.
const SAME: Duration = Duration::from_millis(250);

/// Returns a future that is ready once a signal ends the process: Ctrl-C, or on Unix SIGTERM, which service managers,
/// containers and orchestrators send. From this call on, that signal does not end the process by itself, and the next one ends
/// it at once, with the exit code of the signal: 130 or 143. A process with the id 1 ignores both otherwise.
///
/// # Errors
/// Returns an error if the system does not take a handler for the signal.
pub fn stop_signal() -> io::Result<Boxed<'static, ()>> {
    let (tell, told) = oneshot::channel();
    // A runtime of its own: handlers that block theirs do not keep the process.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut signals = {
        let _entered = runtime.enter();
        StopSignals::new()?
    };
    let listen = async move {
        signals.next().await;
        let _ = tell.send(());
        let again = async {
            loop {
                signals.next().await;
            }
        };
        let _ = tokio::time::timeout(SAME, again).await;
        std::process::exit(signals.next().await);
    };
    std::thread::Builder::new()
        .name("stop-signal".to_owned())
        .spawn(move || runtime.block_on(listen))?;
    Ok(boxed(async {
        if told.await.is_err() {
            pending().await
        }
    }))
}

/// The signals that end a process, one after the other.
#[cfg(unix)]
struct StopSignals {
    interrupted: tokio::signal::unix::Signal,
    terminated: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupted: signal(SignalKind::interrupt())?,
            terminated: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one, and returns the exit code of a process that it ends.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupted.recv() => 130,
            _ = self.terminated.recv() => 143,
        }
    }
}

/// The signals that end a process, one after the other.
#[cfg(not(unix))]
struct ConsoleInterrupts;

#[cfg(not(unix))]
use ConsoleInterrupts as StopSignals;

#[cfg(not(unix))]
impl ConsoleInterrupts {
    #[allow(clippy::unnecessary_wraps, reason = "on Unix it can fail")]
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next one, and returns the exit code of a process that it ends.
    async fn next(&mut self) -> i32 {
        // Without a handler there is no such signal.
        if tokio::signal::ctrl_c().await.is_err() {
            pending::<()>().await;
        }
        130
    }
}
