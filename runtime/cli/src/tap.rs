//! `mcp-rev tap`: forwards the stdio of a server unchanged, and records or prints the messages.

#[cfg_attr(not(unix), path = "tap/without_signals.rs")]
mod signals;
mod watch;

use std::fs::File;
use std::io::{self, BufWriter, PipeReader, PipeWriter, Read, Write};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Args;
use mcp_wire::Direction;
use tokio::process::{Child, Command};

use crate::transcript::line;
use crate::{OUTPUT_FAILED, Outcome};
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

/// What the writer thread receives.
enum Event {
    /// A line went by.
    Passed(Passed),
    /// The server has ended.
    End,
}

/// A line that went by.
struct Passed {
    direction: Direction,
    at: u64,
    line: String,
}

/// How much of one line is kept to be written down.
const MAX_LINE: usize = 64 << 20;

/// How many lines wait to be written down. The traffic waits too while the printed lines are not read.
const MAX_WAITING: usize = 64;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let record = match &arguments.record {
        Some(file) => match File::create(file) {
            Ok(created) => Some(BufWriter::new(created)),
            Err(error) => {
                crate::colour::print_error(format_args!("cannot write {file}: {error}"));
                return Ok(ended(OUTPUT_FAILED));
            }
        },
        None => None,
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().context("cannot start")?;
    let watch = arguments.watch.then(Watch::new);
    let code = runtime.block_on(tapped(&arguments.command, record, watch));
    // Threads that wait for the client, or for a reader of what they print, are not waited for.
    runtime.shutdown_background();
    Ok(ended(code?))
}

fn ended(code: u8) -> Outcome {
    Outcome {
        text: String::new(),
        code,
    }
}

/// Runs the server, and returns the exit code.
async fn tapped(
    command: &[String],
    record: Option<BufWriter<File>>,
    watch: Option<Watch>,
) -> anyhow::Result<u8> {
    // They come before the server: a signal in between is for it.
    let mut signals = Signals::new().context("cannot listen to signals")?;
    let (mut child, to_server, from_server) = match start(command) {
        Ok(started) => started,
        Err(error) => {
            crate::colour::print_error(&error);
            return Ok(OUTPUT_FAILED);
        }
    };
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
    let status = match signals.forwarded(id, passed).await {
        Some(_) => signals.forwarded(id, child.wait()).await,
        None => None,
    };
    let status = match status {
        Some(status) => status,
        None => {
            signals::kill(id);
            child.wait().await
        }
    };
    let status = status.context("cannot wait for the server")?;
    let written = tokio::task::spawn_blocking(move || {
        let _ = told.send(Event::End);
        writer.join()
    });
    let is_written = match signals.forwarded(None, written).await {
        Some(Ok(Ok(is_written))) => is_written,
        _ => true,
    };
    let code = code(status);
    Ok(if is_written { code } else { OUTPUT_FAILED })
}

/// Returns the exit code of the server; one that was ended by a signal has none, and gets that of shells.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        crate::colour::tell(&format!("tap: the server was ended by signal {signal}\n"));
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
    // What the server starts gets the signals for it as well.
    #[cfg(unix)]
    command.process_group(0);
    let child = command.spawn();
    let child = child.with_context(|| format!("cannot start {program}"))?;
    Ok((child, to_server, from_server))
}

/// Passes bytes on as they come, and tells of each line.
fn pass(direction: Direction, mut from: impl Read, mut to: impl Write, told: &SyncSender<Event>) {
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

fn tell(direction: Direction, line: &mut Vec<u8>, told: &SyncSender<Event>) {
    let bytes = std::mem::take(line);
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end_matches(['\n', '\r']);
    if !text.is_empty() {
        let _ = told.send(Event::Passed(Passed {
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

/// Writes down the messages, and returns whether the record has all of them.
fn write_down(
    heard: &Receiver<Event>,
    mut record: Option<impl Write>,
    mut watch: Option<Watch>,
) -> bool {
    let mut is_whole = true;
    while let Ok(Event::Passed(passed)) = heard.recv() {
        let Passed {
            direction,
            at,
            line,
        } = passed;
        if let Some(file) = &mut record {
            let written = line::write(direction, at, &line);
            // What is tapped goes on in any case.
            if let Err(error) = file
                .write_all(written.as_bytes())
                .and_then(|()| file.flush())
            {
                let end = format!("mcp-rev: the transcript ends here: {error}\n");
                crate::colour::tell(&end);
                record = None;
                is_whole = false;
            }
        }
        if let Some(watch) = &mut watch {
            let seen = watch.sees(direction, at, &line);
            crate::colour::tell(&seen);
        }
    }
    is_whole
}
