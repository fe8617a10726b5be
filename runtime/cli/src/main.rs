//! `mcp-rev`: check messages of the Model Context Protocol, revision by revision.
//!
//! Each subcommand is a file of its own. Exit codes: 0 all is well, 1 something is not, 2 usage,
//! 3 an input cannot be read; of `convert` also 4 lossy, 5 needs state, 6 rejected.

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod check;
mod compare;
mod convert;
mod message;
mod report;
mod revisions;
mod types;
mod whole;

#[derive(Parser)]
#[command(
    name = "mcp-rev",
    version,
    about = "Check MCP messages against any revision of the protocol"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Read files as messages or types of a revision, write them back, and say what was lost
    Check(check::Arguments),
    /// Convert a file to another revision, and say what was lost
    Convert(convert::Arguments),
    /// List what --type and --method can name
    Types(types::Arguments),
}

/// What a subcommand prints, and its exit code.
struct Outcome {
    text: String,
    code: u8,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Types(arguments) => types::run(&arguments),
    };
    match outcome {
        Ok(Outcome { text, code }) => {
            // A reader that has seen enough, as `head` does, is no failure.
            let _ = std::io::stdout().write_all(text.as_bytes());
            code.into()
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            2.into()
        }
    }
}
