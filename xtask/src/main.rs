//! `cargo xtask`: the command line over `mcp-revisions-schema` and `mcp-codegen`.
//!
//! Each subcommand is one file: it takes its arguments, calls the library, and returns the text to print.
//! To add one: write the file, name it in [`Command`], run it in [`main`].

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mcp_revisions_diff::command::{self, CommandOutcome, diff, explain};
use mcp_revisions_schema::Spec;

mod conformance;
mod generate;
mod interop;
mod model;
mod process;
mod progress;
mod replay;
mod replicas;
mod shims;
mod site;
mod spec;
mod tally;
mod workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "From versioned MCP schemas to Rust")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Import, verify and list the schemas in spec/
    Spec(spec::Arguments),
    /// Generate the crates in generated/
    Generate(generate::Arguments),
    /// Print the conversion rules of pairs of adjacent revisions
    Shims(shims::Arguments),
    /// Show what changed between two revisions
    Diff(diff::Arguments),
    /// Build a static site: any two revisions compared, the rules, the errata, and the guides
    Site(site::Arguments),
    /// Import each dated schema of a draft in turn, and generate
    Replay(replay::Arguments),
    /// Explain a kind of change or a conversion rule
    Explain(explain::Arguments),
    /// Print the model of a revision as JSON
    Model(model::Arguments),
    /// Test the examples with other implementations, which are installed from the public registries
    Interop(interop::Arguments),
    /// Run the official conformance suite against the example server and the example client
    Conformance(conformance::Arguments),
}

fn own_spec() -> Result<Spec, mcp_revisions_schema::Error> {
    Spec::read(&workspace::spec_dir()?)
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Spec(arguments) => spec::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Shims(arguments) => shims::run(arguments),
        Command::Diff(arguments) => {
            let colours = command::is_coloured(clap::ColorChoice::Auto, std::io::stdout());
            diff::run(
                &arguments,
                own_spec,
                mcp_revisions_plans::cover_all,
                |_| None,
                colours,
            )
        }
        Command::Site(arguments) => site::run(&arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Explain(arguments) => explain::run(&arguments, own_spec, &[]),
        Command::Model(arguments) => model::run(arguments),
        Command::Interop(arguments) => interop::run(arguments),
        Command::Conformance(arguments) => conformance::run(arguments),
    };
    let (text, code) = match outcome {
        Ok(CommandOutcome { text, passed }) => (text, u8::from(!passed)),
        Err(error) => {
            eprintln!("error: {error:#}");
            return command::failure_code(&error).into();
        }
    };
    // A reader that has seen enough, as `head` does, is not a failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    code.into()
}
