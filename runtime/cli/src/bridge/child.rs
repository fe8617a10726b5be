//! A server as a child process: one message a line, both ways.

use std::fs::File;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use mcp_wire::Direction;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::tap::now;
use crate::transcript::line;

/// How a server is reached, as often as it has to be started.
#[derive(Clone)]
pub(super) struct Wire {
    command: Vec<String>,
    record: Option<Arc<Mutex<File>>>,
}

/// How long a server may take to end once its input has.
const GRACE: Duration = Duration::from_secs(2);

impl Wire {
    /// A server of this command; what is said is written down in `record`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn new(command: Vec<String>, record: Option<&str>) -> anyhow::Result<Self> {
        let create = |file: &str| {
            let created = File::create(file).with_context(|| format!("cannot write {file}"))?;
            Ok::<_, anyhow::Error>(Arc::new(Mutex::new(created)))
        };
        Ok(Self {
            command,
            record: record.map(create).transpose()?,
        })
    }

    /// Starts the server.
    ///
    /// # Errors
    /// A command that cannot be started.
    pub(super) fn start(&self) -> anyhow::Result<Line> {
        let (program, arguments) = self.command.split_first().context("no command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let input = child
            .stdin
            .take()
            .context("the server has no standard input")?;
        let output = child
            .stdout
            .take()
            .context("the server has no standard output")?;
        Ok(Line {
            child,
            input: Some(input),
            output: BufReader::new(output).lines(),
            record: self.record.clone(),
        })
    }
}

/// A server that runs.
pub(super) struct Line {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    record: Option<Arc<Mutex<File>>>,
}

impl Line {
    /// Sends a message; false if the server takes none any more.
    pub(super) async fn send(&mut self, text: &str) -> bool {
        self.write_down(Direction::ClientToServer, text);
        let Some(input) = &mut self.input else {
            return false;
        };
        let line = format!("{text}\n");
        let written = input.write_all(line.as_bytes()).await;
        written.is_ok() && input.flush().await.is_ok()
    }

    /// The next line; none if the server has ended. It may be given up at any point.
    pub(super) async fn next(&mut self) -> Option<String> {
        let line = self.output.next_line().await.ok().flatten()?;
        self.write_down(Direction::ServerToClient, &line);
        Some(line)
    }

    /// Ends the server: its input first, itself if it does not go.
    pub(super) async fn end(mut self) {
        drop(self.input.take());
        if tokio::time::timeout(GRACE, self.child.wait())
            .await
            .is_err()
        {
            let _ = self.child.kill().await;
        }
    }

    fn write_down(&self, direction: Direction, text: &str) {
        if let Some(record) = &self.record {
            let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
            // A record that cannot be written stops no message.
            let _ = record.write_all(line::write(direction, now(), text).as_bytes());
        }
    }
}
