//! A server that is a process of our own: started, started again when the probe ends it, and ended with grace.
//!
//! On Unix it leads a process group. Wrappers such as `npx` and `sh -c` start the server as a process of their own, and what
//! ends the wrapper has to end that process as well.

use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::BufReader;
use tokio::process::{Child as Process, Command};
use tokio::task::JoinHandle;

use super::incoming::Incoming;
use super::lines::Lines;
use super::{RunningTransport, Transport};
use crate::transport::line::read_line;
use crate::transport::spawn::{Boxed, boxed, spawn};
use mcp_revisions_core::errors::shortened;
use mcp_revisions_sansio::client::Post;

/// Time that a process has to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(2);
/// Time that a process is waited for that has closed its output.
const LAST: Duration = Duration::from_secs(1);
/// Time that the last lines on standard error are waited for.
const LAST_ERRORS: Duration = Duration::from_millis(200);
/// Time between two looks at the members of a process group: the system tells the end of one process only.
#[cfg(unix)]
const LOOK: Duration = Duration::from_millis(20);
/// Maximum number of bytes of a line on standard error that is handed on.
const ERROR_LINE: usize = 8 << 10;
/// Number of last lines on standard error that tell why a process has ended: the very last one may be the foot of a stack trace.
const LAST_LINES: usize = 8;

/// The callback for lines on standard error.
type OnError = Arc<dyn Fn(&str) + Send + Sync>;

/// A program to start.
#[must_use]
pub struct Child {
    command: Command,
    on_error: Option<OnError>,
    grace: Duration,
    restart: Restart,
}

/// The ends after which a program is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restart {
    Never,
    /// Those before it has said which revision it speaks.
    WhileStarting,
    Always,
}

impl Child {
    /// Creates the process of this command, with its arguments, environment and folder; its streams are set here.
    pub fn new(command: Command) -> Self {
        Self {
            command,
            on_error: None,
            grace: GRACE,
            restart: Restart::WhileStarting,
        }
    }

    /// Hands on each line of its standard error, cut where it is very long; without this, they go to this program's own.
    pub fn on_error_line(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(tell));
        self
    }

    /// Sets how long it may take to end after its input is closed; 2 seconds by default.
    ///
    /// On Unix, a server that has not ended by then gets SIGTERM, and is killed by SIGKILL after half as long again. Both signals
    /// are for its process group, which has the processes that it started. On other systems it is killed at once.
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Starts it once only.
    ///
    /// Without this, a server that ends before it has said which revision it speaks is started once more by the call that
    /// found it so, with `initialize` in place of `server/discover`, since a server of a handshake revision may end at a
    /// request that it does not know. Each later call tries both again. A server that has said what it speaks is not
    /// started again, unless [`with_restart`](Self::with_restart) is set: calls after its end fail with its exit status.
    pub fn without_restart(mut self) -> Self {
        self.restart = Restart::Never;
        self
    }

    /// Starts it again after it ended by itself, also if it has worked. The next call starts it.
    ///
    /// Calls that were open at its end fail with its exit status, because whether they ran is not known. The new process gets
    /// the log level and the resource subscriptions that the client had set, and the client hears that all of it may have
    /// changed. Each call starts the server once at most, so a server that ends at once fails call after call.
    pub fn with_restart(mut self) -> Self {
        self.restart = Restart::Always;
        self
    }

    fn spawn(&mut self, limit: usize) -> io::Result<(Group, Lines)> {
        let error = match self.on_error {
            Some(_) => Stdio::piped(),
            None => Stdio::inherit(),
        };
        #[cfg(unix)]
        self.command.process_group(0);
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
        let errors = process
            .stderr
            .take()
            .zip(self.on_error.clone())
            .map(|(error, tell)| {
                // This task reads the error output to its end, also when the client is gone: a full pipe would stop the process.
                spawn(async move {
                    let mut error = BufReader::new(error);
                    let (mut bytes, mut last) = (Vec::new(), VecDeque::with_capacity(LAST_LINES));
                    while let Ok(true) = read_line(&mut error, &mut bytes, ERROR_LINE).await {
                        let line = String::from_utf8_lossy(&bytes);
                        tell(&line);
                        if !line.trim().is_empty() {
                            if last.len() >= LAST_LINES {
                                last.pop_front();
                            }
                            last.push_back(shortened(line.trim()));
                        }
                    }
                    Vec::from(last).join("\n")
                })
            });
        Ok((Group { process, errors }, Lines::new(output, input, limit)))
    }
}

mcp_wire::debug_struct!([] Child, "Child", self, "command": self.command);

/// A process that was started, and on Unix leads a process group.
///
/// The group gets signals as long as its leader was not waited for. Until then the system gives the id of the group to no
/// other process, though the leader may have ended.
struct Group {
    process: Process,
    /// The task that hands on the lines of its standard error, and returns the last ones; `None` if nothing reads them here.
    errors: Option<JoinHandle<String>>,
}

impl Group {
    /// Waits a short time for the last lines on standard error, and returns them: they say why a process has ended.
    async fn read_last_errors(&mut self) -> Option<String> {
        // A process that it started may hold the pipe open.
        let last = tokio::time::timeout(LAST_ERRORS, self.errors.take()?).await;
        last.ok()?.ok().filter(|last| !last.is_empty())
    }

    #[cfg(unix)]
    fn id(&self) -> Option<Pid> {
        // None once the leader was waited for.
        Pid::from_raw(i32::try_from(self.process.id()?).ok()?)
    }

    /// Sends SIGTERM to the group, and SIGKILL to the members that it has after the grace.
    #[cfg(unix)]
    async fn terminate(&mut self, grace: Duration) {
        let Some(id) = self.id() else { return };
        let _ = kill_process_group(id, Signal::TERM);
        let gone = async {
            let _ = self.process.wait().await;
            // A wrapper may end before the server that it started. The id stays that of the group as long as it has a member,
            // and each look but the last finds one: too little time passes after it for the system to use the id again.
            // One that has ended is a member until its parent, which may be the init process, has waited for it.
            while test_kill_process_group(id).is_ok() {
                tokio::time::sleep(LOOK).await;
            }
        };
        if tokio::time::timeout(grace, gone).await.is_err() {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        // A daemon left by a server that has ended by itself is left alone.
        if let (Some(id), Ok(None)) = (self.id(), self.process.try_wait()) {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

/// A process at work.
pub(crate) struct ServerProcess {
    child: Child,
    group: Group,
    pub(super) lines: Lines,
    limit: usize,
}

impl Transport {
    /// Creates a transport to the program of a started process.
    ///
    /// # Errors
    /// A process without pipes for its standard input and output.
    pub fn child(child: Child, limit: usize) -> io::Result<Self> {
        Ok(Self::of(ServerProcess::start(child, limit)?))
    }
}

impl ServerProcess {
    fn start(mut child: Child, limit: usize) -> io::Result<Self> {
        let (group, lines) = child.spawn(limit)?;
        Ok(Self {
            child,
            group,
            lines,
            limit,
        })
    }

    /// Starts it again, if that is wanted, and returns whether it was; the old process is killed if it has not ended.
    pub(super) fn restart(&mut self) -> io::Result<bool> {
        if self.child.restart == Restart::Never {
            return Ok(false);
        }
        // The old process is killed with its handle.
        (self.group, self.lines) = self.child.spawn(self.limit)?;
        Ok(true)
    }

    /// Returns whether a process that has worked is started again.
    pub(super) fn outlives_its_end(&self) -> bool {
        self.child.restart == Restart::Always
    }

    /// Returns the end of the process, for people: its status, and the last lines of its standard error, if that is read here. Empty if it
    /// does not end within [`LAST`].
    pub(super) async fn exit(&mut self) -> String {
        let ended = tokio::time::timeout(LAST, self.group.process.wait()).await;
        let Ok(Ok(status)) = ended else {
            return String::new();
        };
        match self.group.read_last_errors().await {
            Some(last) => format!(" ({status}): {last:?}"),
            None => format!(" ({status})"),
        }
    }

    /// Closes its input, gives it time to end, and ends it by signals if it does not. Returns an error if the process which was
    /// started had to be killed.
    pub(super) async fn end(self) -> io::Result<()> {
        let mut group = self.group;
        self.lines.end().await;
        let grace = self.child.grace;
        if let Ok(ended) = tokio::time::timeout(grace, group.process.wait()).await {
            group.read_last_errors().await;
            return ended.map(|_| ());
        }
        // Half as long, since this may be the server of a host that closes its input, sends SIGTERM after the same grace, and
        // SIGKILL after another.
        #[cfg(unix)]
        {
            group.terminate(grace / 2).await;
            if group.process.id().is_none() {
                return Ok(());
            }
        }
        group.process.kill().await?;
        let why = format!("the server did not end within {grace:?}, and was killed");
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    }
}

impl RunningTransport for ServerProcess {
    fn send(&mut self, post: Post) {
        self.lines.send(post);
    }

    fn has_room(&self) -> bool {
        self.lines.has_room()
    }

    fn room(&self) -> Boxed<'static, ()> {
        boxed(self.lines.room())
    }

    fn restart(&mut self) -> io::Result<bool> {
        self.restart()
    }

    fn outlives_its_end(&self) -> bool {
        self.outlives_its_end()
    }

    fn next(&mut self) -> Boxed<'_, Incoming> {
        boxed(self.lines.next())
    }

    fn exit(&mut self) -> Boxed<'_, String> {
        boxed(self.exit())
    }

    fn end(self: Box<Self>) -> Boxed<'static, io::Result<()>> {
        boxed(Self::end(*self))
    }
}
