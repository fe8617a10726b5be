//! How the server is reached: as a process of our own or at a URL, with what goes by written down.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use mcp_revisions::Limits;
use mcp_revisions::carrier::{Carrier, Incoming};
use mcp_revisions::client::{Channel, Exchange, Post};
use mcp_revisions::service::client::{Child, Http};
use mcp_wire::Direction;
use tokio::process::Command;

use crate::tap::now;
use crate::transcript::line;

/// Where the server is.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// A program to start, with its arguments.
    Command(Vec<String>),
    /// A server over HTTP, and headers of each request.
    Url(String, Vec<(String, String)>),
}

/// How a server is reached, as often as it has to be.
#[derive(Clone)]
pub(super) struct Wire {
    target: Target,
    record: Option<Arc<Record>>,
    /// Whether what is said is kept until it is known in which talk it belongs.
    is_aside: bool,
}

/// Where talks are written down: the first in the file that was named, each other in one beside it.
struct Record {
    file: PathBuf,
    first: Mutex<Option<File>>,
    others: AtomicUsize,
}

impl Record {
    fn new(file: &str) -> anyhow::Result<Self> {
        let first = File::create(file).with_context(|| format!("cannot write {file}"))?;
        Ok(Self {
            file: file.into(),
            first: Mutex::new(Some(first)),
            others: AtomicUsize::new(1),
        })
    }

    /// The file of one more talk.
    fn next(&self) -> anyhow::Result<File> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = first.take() {
            return Ok(first);
        }
        let number = self.others.fetch_add(1, Ordering::Relaxed) + 1;
        let end = match self.file.extension() {
            Some(extension) => format!("{number}.{}", extension.to_string_lossy()),
            None => number.to_string(),
        };
        let file = self.file.with_extension(end);
        File::create(&file).with_context(|| format!("cannot write {}", file.display()))
    }
}

impl Wire {
    /// A server there; what is said is written down in `record`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn new(target: Target, record: Option<&str>) -> anyhow::Result<Self> {
        let record = record.map(Record::new).transpose()?;
        Ok(Self {
            target,
            record: record.map(Arc::new),
            is_aside: false,
        })
    }

    /// The same server on a line that is not written down yet: it may become a talk of its own.
    pub(super) fn aside(&self) -> Self {
        Self {
            is_aside: true,
            ..self.clone()
        }
    }

    /// What the server is called, for people.
    pub(super) fn name(&self) -> String {
        match &self.target {
            Target::Command(command) => command.join(" "),
            Target::Url(url, _) => url.clone(),
        }
    }

    /// What carries the messages.
    pub(super) fn channel(&self) -> Channel {
        match self.target {
            Target::Command(_) => Channel::Stdio,
            Target::Url(..) => Channel::Http,
        }
    }

    /// Starts the server, or gets ready to reach it.
    ///
    /// # Errors
    /// A command that cannot be started, a URL that is none.
    pub(super) fn start(&self) -> anyhow::Result<Line> {
        let limit = Limits::default().message_bytes;
        let carrier = match &self.target {
            Target::Command(command) => {
                let (program, arguments) = command.split_first().context("no command")?;
                let mut command = Command::new(program);
                command.args(arguments);
                Carrier::child(Child::new(command), limit)
                    .with_context(|| format!("cannot start {program}"))?
            }
            Target::Url(url, headers) => {
                let reached = Http::new(url).with_context(|| format!("cannot reach {url}"))?;
                let headers = headers.iter().cloned();
                let http =
                    headers.fold(reached, |http, (name, value)| http.with_header(name, value));
                Carrier::http(http, limit)
            }
        };
        let record = match &self.record {
            None => Written::Nowhere,
            Some(_) if self.is_aside => Written::Kept(Vec::new()),
            Some(record) => Written::To(record.next()?),
        };
        Ok(Line { carrier, record })
    }
}

/// A server that is talked to.
pub(super) struct Line {
    carrier: Carrier,
    record: Written,
}

/// Where what is said is written down.
enum Written {
    Nowhere,
    /// Here, until it is known where: the first words with a server, and no more.
    Kept(Vec<u8>),
    To(File),
}

impl Line {
    /// Sends a text; what keeps it from arriving shows in what comes.
    pub(super) fn send(&mut self, post: Post) {
        self.write_down(Direction::ClientToServer, &post.text);
        self.carrier.send(post);
    }

    /// Whether the server has taken so much of what it was sent that it may be sent more.
    pub(super) fn has_room(&self) -> bool {
        self.carrier.has_room()
    }

    /// What comes next. It may be given up at any point.
    pub(super) async fn next(&mut self) -> Incoming {
        let came = self.carrier.next().await;
        let text = match &came {
            Incoming::Message { text, .. } => Some(text),
            Incoming::Answered { body, .. } => body.as_ref(),
            Incoming::Ended(_) | Incoming::Failed { .. } | Incoming::Closed => None,
        };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let text = String::from_utf8_lossy(text).into_owned();
            self.write_down(Direction::ServerToClient, &text);
        }
        came
    }

    /// Nothing more is wanted in answer to this.
    pub(super) fn close(&mut self, exchange: Exchange) {
        self.carrier.close(exchange);
    }

    /// Starts the server again; false if that cannot be.
    pub(super) fn restart(&mut self) -> bool {
        self.carrier.restart()
    }

    /// How the process ended, if the server is one, and has.
    pub(super) async fn exit(&mut self) -> Option<std::process::ExitStatus> {
        self.carrier.exit().await
    }

    /// Writes down what was said aside, and what is said from now on.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn record_as(&mut self, wire: &Wire) -> anyhow::Result<()> {
        if let (Written::Kept(kept), Some(record)) = (&self.record, &wire.record) {
            let mut file = record.next()?;
            file.write_all(kept).context("cannot write the record")?;
            self.record = Written::To(file);
        }
        Ok(())
    }

    /// Ends the server: its input first, itself if it does not go.
    pub(super) async fn end(self) {
        // However it ended.
        let _ = self.carrier.end().await;
    }

    fn write_down(&mut self, direction: Direction, text: &str) {
        let line = |text| line::write(direction, now(), text);
        match &mut self.record {
            Written::Nowhere => {}
            Written::Kept(kept) => kept.extend_from_slice(line(text).as_bytes()),
            // A record that cannot be written stops no message.
            Written::To(file) => drop(file.write_all(line(text).as_bytes())),
        }
    }
}
