//! The signals that end a process.

use std::io;

use crate::transport::spawn::{Boxed, boxed};

/// Returns a future that is ready once a signal ends the process: Ctrl-C, or on Unix SIGTERM, which service managers,
/// containers and orchestrators send. From this call on, the signal does not end the process by itself; a process with the id 1
/// ignores it otherwise.
///
/// # Errors
/// Returns an error if the system does not take a handler for the signal.
pub fn stop_signal() -> io::Result<Boxed<'static, ()>> {
    let interrupted = async {
        // Without a handler there is no such signal.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    };
    #[cfg(unix)]
    let interrupted = {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate())?;
        async move {
            tokio::select! {
                () = interrupted => {}
                _ = terminated.recv() => {}
            }
        }
    };
    Ok(boxed(interrupted))
}
