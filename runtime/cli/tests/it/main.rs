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

use std::io::Write as _;
use std::process::{Command, Stdio};

/// The exit code and the output of a run.
struct Run {
    code: i32,
    out: String,
    err: String,
}

/// Runs the program with a text on standard input.
fn fed(arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A run that ends before it reads closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
