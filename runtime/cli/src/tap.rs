//! `mcp-rev tap`: forwards the stdio of a server unchanged, and records or prints the messages.

mod watch;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Args;
use mcp_wire::Direction;

use crate::Outcome;
use crate::transcript::line;
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
                return Ok(ended(3));
            }
        },
        None => None,
    };
    let mut child = match start(&arguments.command) {
        Ok(child) => child,
        Err(error) => {
            crate::colour::print_error(&error);
            return Ok(ended(3));
        }
    };
    let (told, heard) = sync_channel(MAX_WAITING);
    let watch = arguments.watch.then(Watch::new);
    let writer = thread::spawn(move || write_down(&heard, record, watch));
    let to_server = (child.stdin.take()).context("the server has no standard input")?;
    let from_server = (child.stdout.take()).context("the server has no standard output")?;
    let asked = told.clone();
    // It ends with the client's last line; if the server ends first, nobody waits for it.
    thread::spawn(move || pass(Direction::ClientToServer, io::stdin(), to_server, &asked));
    pass(Direction::ServerToClient, from_server, io::stdout(), &told);
    let status = child.wait().context("cannot wait for the server")?;
    let _ = told.send(Event::End);
    let _ = writer.join();
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    // One that was ended by a signal has no code.
    Ok(ended(code.unwrap_or(1)))
}

fn ended(code: u8) -> Outcome {
    Outcome {
        text: String::new(),
        code,
    }
}

fn start(command: &[String]) -> anyhow::Result<Child> {
    let (program, arguments) = command.split_first().context("no command")?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}"))
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

fn write_down(heard: &Receiver<Event>, mut record: Option<impl Write>, mut watch: Option<Watch>) {
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
            }
        }
        if let Some(watch) = &mut watch {
            let seen = watch.sees(direction, at, &line);
            crate::colour::tell(&seen);
        }
    }
}
