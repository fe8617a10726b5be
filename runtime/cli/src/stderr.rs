//! Standard error, for people: a broken or unread pipe changes nothing else that the program does.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use mcp_revisions_diff::command::is_colour;
use mcp_wire::harmless;

use crate::background::{Background, Destination};
use crate::colour;

/// Most bytes that wait for the reader of standard error.
const WAITING: usize = 1 << 20;

/// The thread that writes standard error, once [`begin`] has started it.
static THREAD: OnceLock<(Background, Arc<Destination>)> = OnceLock::new();

/// Leaves standard error to a thread from now on, for a program that passes messages on: texts that its reader leaves no room
/// for are dropped and counted. Other programs wait for the reader.
pub(crate) fn begin() {
    if let Ok(thread) = Background::start(WAITING) {
        let gap = |count| {
            format!("mcp-rev: {count} log lines are missing here: standard error was not read\n")
        };
        let stderr = Destination::new("standard error", io::stderr(), gap);
        let _ = THREAD.set((thread, Arc::new(stderr)));
    }
}

/// Waits for the thread, if there is one, until `deadline`.
pub(crate) fn finish(deadline: Instant) {
    if let Some((thread, _)) = THREAD.get() {
        thread.flush(deadline);
    }
}

/// Prints a text for people, without what would act on a terminal.
pub(crate) fn tell(text: &str) {
    print(harmless(text, |_| false).into_owned());
}

/// Prints a text for people that may have colours; texts of peers in it are printable.
pub(crate) fn tell_coloured(text: &str) {
    let has_colours = colour::is_on(io::stderr());
    print(harmless(text, |rest| has_colours && is_colour(rest)).into_owned());
}

/// Prints an error for people.
pub(crate) fn print_error(error: impl std::fmt::Display) {
    tell(&format!("error: {error:#}\n"));
}

/// Prints lines of JSON for programs, as they are unless a terminal would act on them.
pub(crate) fn tell_json(lines: String) {
    if io::stderr().is_terminal() {
        tell(&lines);
    } else {
        print(lines);
    }
}

/// Prints a panic as any other text: the hook of the standard library waits for the reader.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let trace = Backtrace::capture();
        let trace = match trace.status() {
            BacktraceStatus::Captured => format!("{trace}"),
            _ => String::new(),
        };
        tell(&format!("mcp-rev: {panic}\n{trace}"));
    }));
}

/// Passes on a line of a server's standard error, as it is.
pub(crate) fn tell_of_server(line: &str) {
    print(format!("{line}\n"));
}

fn print(text: String) {
    match THREAD.get() {
        Some((thread, stderr)) => thread.write(stderr, text),
        // A reader that has left has no use for it.
        None => drop(io::stderr().write_all(text.as_bytes())),
    }
}

/// A stream of lines, each written at once, as `tracing` writes its events.
pub(crate) struct StderrLines;

impl Write for StderrLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        print(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
