//! The tests of `mcp-rev`, as one program: each starts the program as a user does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod bridge;
mod convert;
#[cfg(unix)]
mod lock;
mod pages;
mod probe;
mod program;
mod schemas;
mod tap;
mod transcript;

use std::ffi::OsStr;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// The exit code and the output of a run.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Returns the program with the words of a line as its first arguments, and pipes for its three streams.
fn mcp_rev(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
    command.args(line.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    command
}

/// Runs the program with a text on standard input.
fn fed(arguments: impl IntoIterator<Item: AsRef<OsStr>>, input: &str) -> Run {
    let mut child = mcp_rev("").args(arguments).spawn().unwrap();
    // A run that ends before it reads closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Run::of(child.wait_with_output().unwrap())
}
