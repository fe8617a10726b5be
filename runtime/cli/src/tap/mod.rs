//! `mcp-rev tap`: forwards the stdio of a server unchanged, and records or prints the messages.

#[cfg_attr(not(unix), path = "without_signals.rs")]
mod signals;
mod watch;

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Args;
use mcp_wire::Direction;
use tokio::process::{Child, Command};

use crate::background::{Background, Destination, FLUSH};
use crate::transcript::line;
use crate::{OUTPUT_FAILED, SubcommandOutcome, stderr};
use signals::Signals;
use watch::Watch;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Record each message to this file, for `mcp-rev transcript`
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// Print each message to standard error, with the time until its response
    #[arg(long)]
    watch: bool,
    /// Command that starts the server, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A message to the writer thread.
enum TapEvent {
    /// A line went by.
    Passed(PassedLine),
    /// The server has ended.
    End,
}

/// A line that went by.
struct PassedLine {
    direction: Direction,
    at: u64,
    line: String,
}

/// Maximum number of bytes of one line kept to be written down.
const MAX_LINE: usize = 64 << 20;

/// Maximum number of lines that wait for the watch. The traffic waits for that, and for no reader or disk.
const MAX_WAITING: usize = 64;

/// Most bytes of a record that wait for the disk: a few messages of the greatest length.
pub(crate) const RECORD_WAITING: usize = 64 << 20;

/// The file of a record, and the thread that writes it.
struct TapRecord {
    thread: Background,
    file: Arc<Destination>,
}

impl TapRecord {
    fn create(file: &str) -> io::Result<Self> {
        let failed =
            |why: &str| stderr::tell(&format!("mcp-rev: the transcript has gaps: {why}\n"));
        Ok(Self {
            file: Arc::new(Destination::file(file, line::write_gap, failed)?),
            thread: Background::start(RECORD_WAITING)?,
        })
    }

    /// Waits for the disk, tells how many messages are not written, and returns whether all of them are.
    fn finish(&self) -> bool {
        let missing = self.thread.flush(Instant::now() + FLUSH);
        if missing > 0 {
            let told = format!("mcp-rev: messages that are missing in the transcript: {missing}\n");
            stderr::tell(&told);
        }
        missing == 0
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
    let record = match &arguments.record {
        Some(file) => match TapRecord::create(file) {
            Ok(created) => Some(created),
            Err(error) => {
                stderr::print_error(format_args!("cannot write {file}: {error}"));
                return Ok(ended(OUTPUT_FAILED));
            }
        },
        None => None,
    };
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().context("cannot start")?;
    let watch = arguments.watch.then(Watch::new);
    stderr::begin();
    let code = runtime.block_on(tapped(&arguments.command, record, watch));
    // Threads that wait for the client, or for a reader of what they print, are not waited for.
    runtime.shutdown_background();
    Ok(ended(code?))
}

fn ended(code: u8) -> SubcommandOutcome {
    SubcommandOutcome {
        text: String::new(),
        code,
    }
}

/// Runs the server, and returns the exit code.
async fn tapped(
    command: &[String],
    record: Option<TapRecord>,
    watch: Option<Watch>,
) -> anyhow::Result<u8> {
    // They come before the server: a signal in between is for it.
    let mut signals = Signals::new().context("cannot listen to signals")?;
    let (mut child, to_server, from_server) = match start(command) {
        Ok(started) => started,
        Err(error) => {
            stderr::print_error(&error);
            return Ok(OUTPUT_FAILED);
        }
    };
    let has_record = record.is_some();
    let (told, heard) = sync_channel(MAX_WAITING);
    let writer = thread::spawn(move || write_down(&heard, record, watch));
    let asked = told.clone();
    // It ends with the client's last line; if the server ends first, nobody waits for it.
    thread::spawn(move || pass(Direction::ClientToServer, io::stdin(), to_server, &asked));
    let answered = told.clone();
    let passed = tokio::task::spawn_blocking(move || {
        pass(
            Direction::ServerToClient,
            from_server,
            io::stdout(),
            &answered,
        );
    });
    let id = child.id();
    let status = match signals.forward_during(id, passed).await {
        Some(_) => signals.forward_during(id, child.wait()).await,
        None => None,
    };
    let status = match status {
        Some(status) => status,
        None => {
            signals::kill(id);
            child.wait().await
        }
    }
    .context("cannot wait for the server")?;
    let written = tokio::task::spawn_blocking(move || {
        let _ = told.send(TapEvent::End);
        writer.join()
    });
    // The thread waits for the disk no longer than that; a signal is for the server, which has ended.
    let is_written = match tokio::time::timeout(2 * FLUSH, written).await {
        Ok(Ok(Ok(is_written))) => is_written,
        // A line that it was kept from looking at is not in the record either.
        _ => !has_record,
    };
    let code = code(status);
    Ok(if is_written { code } else { OUTPUT_FAILED })
}

/// Returns the exit code of the server; one that was ended by a signal has none, and gets that of shells.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        stderr::tell(&format!("tap: the server was ended by signal {signal}\n"));
        return u8::try_from(128 + signal).unwrap_or(1);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(1)
}

/// Starts the server, and returns it with its standard input and output.
fn start(command: &[String]) -> anyhow::Result<(Child, PipeWriter, PipeReader)> {
    let (program, arguments) = command.split_first().context("no command")?;
    let (its_input, to_server) = io::pipe().context("cannot make a pipe")?;
    let (from_server, its_output) = io::pipe().context("cannot make a pipe")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(its_input).stdout(its_output);
    // Processes that the server starts get the signals for it as well.
    #[cfg(unix)]
    command.process_group(0);
    let child = command
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    Ok((child, to_server, from_server))
}

/// Passes bytes on as they come, and tells of each line.
fn pass(
    direction: Direction,
    mut from: impl Read,
    mut to: impl Write,
    told: &SyncSender<TapEvent>,
) {
    let mut chunk = vec![0; 1 << 16];
    let mut line = Vec::new();
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let bytes = chunk.get(..count).unwrap_or_default();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if line.len() < MAX_LINE {
                line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                tell(direction, &mut line, told);
            }
        }
        // After it was told: whatever answers it is told later.
        if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            break;
        }
    }
    tell(direction, &mut line, told);
}

fn tell(direction: Direction, line: &mut Vec<u8>, told: &SyncSender<TapEvent>) {
    let bytes = std::mem::take(line);
    let decoded = String::from_utf8_lossy(&bytes);
    let text = decoded.trim_end_matches(['\n', '\r']);
    if !text.is_empty() {
        let _ = told.send(TapEvent::Passed(PassedLine {
            direction,
            at: now(),
            line: text.to_owned(),
        }));
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Records and prints the messages, and returns whether the record has all of them.
fn write_down(
    heard: &Receiver<TapEvent>,
    record: Option<TapRecord>,
    mut watch: Option<Watch>,
) -> bool {
    while let Ok(TapEvent::Passed(passed)) = heard.recv() {
        let PassedLine {
            direction,
            at,
            line,
        } = passed;
        if let Some(TapRecord { thread, file }) = &record {
            thread.write(file, line::write(direction, at, &line));
        }
        if let Some(watch) = &mut watch {
            stderr::tell_coloured(&watch.sees(direction, at, &line));
        }
    }
    record.is_none_or(|record| record.finish())
}
