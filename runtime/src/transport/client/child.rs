//! A server that is a process of our own: started, started again when the probe ends it, and ended with grace.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::BufReader;
use tokio::process::{Child as Process, Command};

use super::lines::Lines;
use crate::transport::line::read_line;
use crate::transport::spawn::spawn;

/// How long a process may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(2);
/// How long a process is waited for that has closed its output.
const LAST: Duration = Duration::from_secs(1);
/// How much of a line on standard error is handed on.
const ERROR_LINE: usize = 8 << 10;

/// The callback for lines on standard error.
type OnError = Arc<dyn Fn(&str) + Send + Sync>;

/// A program to start.
pub struct Child {
    command: Command,
    on_error: Option<OnError>,
    grace: Duration,
}

impl Child {
    /// Creates the process of this command, with its arguments, environment and folder; its streams are set here.
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self {
            command,
            on_error: None,
            grace: GRACE,
        }
    }

    /// Hands on each line of its standard error, cut where it is very long; without this, they go to this program's own.
    #[must_use]
    pub fn on_error_line(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(tell));
        self
    }

    /// Sets how long it may take to end after its input is closed, before it is killed; 2 seconds by default.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    fn spawn(&mut self, limit: usize) -> io::Result<(Process, Lines)> {
        let error = match self.on_error {
            Some(_) => Stdio::piped(),
            None => Stdio::inherit(),
        };
        let mut process = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(error)
            .kill_on_drop(true)
            .spawn()
            .map_err(|why| {
                let program = self.command.as_std().get_program();
                let what = format!("cannot start {}: {why}", program.to_string_lossy());
                io::Error::new(why.kind(), what)
            })?;
        let streams = process.stdin.take().zip(process.stdout.take());
        let (input, output) = streams.ok_or_else(|| io::Error::other("a process without pipes"))?;
        if let (Some(error), Some(tell)) = (process.stderr.take(), self.on_error.clone()) {
            // It is read to its end, whatever becomes of the rest: a full pipe would stop the process.
            spawn(async move {
                let mut error = BufReader::new(error);
                let mut bytes = Vec::new();
                while let Ok(true) = read_line(&mut error, &mut bytes, ERROR_LINE).await {
                    tell(&String::from_utf8_lossy(&bytes));
                }
            });
        }
        Ok((process, Lines::new(output, input, limit)))
    }
}

impl std::fmt::Debug for Child {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Child")
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

/// A process at work.
pub(crate) struct McpServer {
    child: Child,
    process: Process,
    pub(super) lines: Lines,
    limit: usize,
}

impl McpServer {
    pub(super) fn start(mut child: Child, limit: usize) -> io::Result<Self> {
        let (process, lines) = child.spawn(limit)?;
        Ok(Self {
            child,
            process,
            lines,
            limit,
        })
    }

    /// Starts it again; the old process is killed if it has not ended.
    pub(super) fn restart(&mut self) -> bool {
        match self.child.spawn(self.limit) {
            Ok((process, lines)) => {
                // The old process is killed with its handle.
                (self.process, self.lines) = (process, lines);
                true
            }
            Err(_) => false,
        }
    }

    /// How it ended, if it does so within [`LAST`].
    pub(super) async fn exit(&mut self) -> Option<std::process::ExitStatus> {
        let ended = tokio::time::timeout(LAST, self.process.wait());
        ended.await.ok()?.ok()
    }

    /// Closes its input, gives it time to end, and kills it if it does not.
    ///
    /// # Errors
    /// That it had to be killed.
    pub(super) async fn end(mut self) -> io::Result<()> {
        self.lines.end().await;
        let grace = self.child.grace;
        match tokio::time::timeout(grace, self.process.wait()).await {
            Ok(ended) => ended.map(|_| ()),
            Err(_) => {
                self.process.kill().await?;
                let why = format!("the server did not end within {grace:?}, and was killed");
                Err(io::Error::new(io::ErrorKind::TimedOut, why))
            }
        }
    }
}
