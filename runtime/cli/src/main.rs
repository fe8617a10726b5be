//! `mcp-rev`: a day's work with the Model Context Protocol, in whatever revision.
//!
//! Each subcommand is a file of its own. Exit codes: 0 all is well, 1 something is not, 2 usage,
//! 3 an input cannot be read, or the output not written; of `convert` and `transcript --as` also 4 lossy, of `convert` 5 needs state, 6 rejected.

use std::io::{IsTerminal as _, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mcp_schema::command::{self, diff, explain};

mod bridge;
mod check;
mod colour;
mod compare;
mod convert;
mod embedded;
mod loss;
mod manual;
mod message;
mod report;
mod revisions;
mod tap;
mod transcript;
mod types;
mod whole;

#[derive(Parser)]
#[command(
    name = "mcp-rev",
    version = manual::version(),
    about = "Check, convert, compare, tap and bridge MCP, in any revision of the protocol",
    after_help = manual::examples(),
    after_long_help = manual::examples()
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Put any client in front of any server, each spoken to in its own revision
    Bridge(bridge::Arguments),
    /// Read files as messages or types of a revision, write them back, and say what was lost
    Check(check::Arguments),
    /// Convert a file to another revision, and say what was lost
    Convert(convert::Arguments),
    /// Show what changed between two revisions, or between a revision and a schema.json
    Diff(diff::Arguments),
    /// Explain a kind of change that `diff` tells of
    Explain(explain::Arguments),
    /// Pass a server's stdio through untouched, and write down or show what goes by
    Tap(tap::Arguments),
    /// Say what is wrong in a talk that was written down
    Transcript(transcript::Arguments),
    /// List what --type and --method can name
    Types(types::Arguments),
    /// Print completions for a shell
    Completions(manual::Completions),
    /// Print the manual page
    Man,
}

/// What a subcommand prints, and its exit code.
struct Outcome {
    text: String,
    code: u8,
}

/// What is printed is lost, as on a disk that is full: nothing is known to be well.
const OUTPUT_FAILED: u8 = 3;

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bridge(arguments) => bridge::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Diff(arguments) => return shared(diff::run(&arguments, embedded::spec)),
        Command::Explain(arguments) => return shared(Ok(explain::run(&arguments))),
        Command::Tap(arguments) => tap::run(&arguments),
        Command::Transcript(arguments) => transcript::run(&arguments),
        Command::Types(arguments) => types::run(&arguments),
        Command::Completions(arguments) => Ok(manual::completions(&arguments)),
        Command::Man => manual::page(),
    };
    match outcome {
        Ok(Outcome { text, code }) => printed(&text, code),
        Err(error) => {
            colour::print_error(&error);
            2.into()
        }
    }
}

/// A subcommand that `cargo xtask` has, too.
fn shared(outcome: anyhow::Result<command::Outcome>) -> ExitCode {
    match outcome {
        Ok(command::Outcome { text, passed }) => printed(&text, u8::from(!passed)),
        Err(error) => {
            colour::print_error(&error);
            command::failure_code(&error).into()
        }
    }
}

fn printed(text: &str, code: u8) -> ExitCode {
    // The bridge prints nothing: a client that does not read keeps it from taking standard output.
    if text.is_empty() {
        return code.into();
    }
    let mut stdout = std::io::stdout();
    let text = colour::harmless(text, stdout.is_terminal());
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        // A reader that has seen enough, as `head` does, is no failure.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write the output: {error}");
            OUTPUT_FAILED.into()
        }
        _ => code.into(),
    }
}
