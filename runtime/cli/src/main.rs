//! `mcp-rev`: bridges, records, validates, converts and compares MCP messages, in every protocol revision.
//!
//! Each subcommand is a file of its own. [`manual`] lists the exit codes.

use std::io::{IsTerminal as _, Write};
use std::process::ExitCode;
use std::time::Instant;

use background::FLUSH;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use mcp_revisions_core::Rule;
use mcp_revisions_diff::command::{self, diff, explain, is_colour};
use mcp_wire::harmless;

mod background;
mod bridge;
mod check;
mod colour;
mod compare;
mod convert;
mod embedded;
mod list;
mod lock;
mod loss;
mod manual;
mod message;
mod probe;
mod report;
mod revisions;
mod sign_in;
mod stderr;
mod tap;
mod transcript;

#[derive(Parser)]
#[command(
    name = "mcp-rev",
    version = manual::version(),
    about = "Bridge, record, validate, convert and compare Model Context Protocol messages, in every protocol revision",
    after_long_help = manual::examples()
)]
struct Arguments {
    /// When to use colors, in `diff`, `tap --watch` and the log of `bridge`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: clap::ColorChoice,
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Subcommand)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one, and it is read once"
)]
enum CliCommand {
    /// Connect a client and a server that speak different protocol revisions
    Bridge(bridge::Arguments),
    /// Sign in to a server at a URL, for `bridge`
    Login(sign_in::Login),
    /// Forget the tokens of a server
    Logout(sign_in::Logout),
    /// Show what is kept of sign-ins
    Auth(sign_in::Auth),
    /// Validate messages, or values of a type, against a protocol revision
    Check(check::Arguments),
    /// Convert a message or a value to another protocol revision, and report losses
    Convert(convert::Arguments),
    /// Show what changed between two revisions, or between a revision and a schema.json
    Diff(diff::Arguments),
    /// Write what servers offer to a lock file, or check it against them
    Lock(lock::Arguments),
    /// Examine a server: its way, its revisions, and where it breaks their rules
    Probe(probe::Arguments),
    /// Explain a kind of change or a conversion rule
    Explain(explain::Arguments),
    /// Record or print the traffic of a stdio server, without changing it
    Tap(tap::Arguments),
    /// Validate a recorded session
    Transcript(transcript::Arguments),
    /// List the revisions, or the types or methods of one
    List(list::Arguments),
    /// Print completions for a shell
    Completions(manual::Completions),
    /// Print the manual page, or write one page per subcommand
    Man(manual::Pages),
}

/// The output of a subcommand, and its exit code.
struct SubcommandOutcome {
    text: String,
    code: u8,
}

impl SubcommandOutcome {
    /// Returns the outcome of a command that prints lines for people: nothing in them acts on a terminal.
    fn for_people(text: &str, code: u8) -> Self {
        let text = harmless(text, |_| false).into_owned();
        Self { text, code }
    }
}

/// The exit code if the output cannot be written, such as on a full disk.
const OUTPUT_FAILED: u8 = 3;

fn main() -> ExitCode {
    let mut program = Arguments::command();
    program.build();
    let words = bridge::with_separator(std::env::args_os().collect(), &program);
    let given = program.get_matches_from(words);
    let arguments = Arguments::from_arg_matches(&given).unwrap_or_else(|why| why.exit());
    colour::choose(arguments.color);
    stderr::tell_panics();
    let code = run(arguments.command, &given);
    stderr::finish(Instant::now() + FLUSH);
    code
}

fn run(command: CliCommand, given: &ArgMatches) -> ExitCode {
    let outcome = match command {
        CliCommand::Bridge(arguments) => {
            let own = given.subcommand_matches("bridge").unwrap_or(given);
            bridge::run(&arguments, own)
        }
        CliCommand::Login(arguments) => sign_in::login(&arguments),
        CliCommand::Logout(arguments) => sign_in::logout(&arguments),
        CliCommand::Auth(arguments) => sign_in::auth(&arguments),
        CliCommand::Check(arguments) => check::run(&arguments),
        CliCommand::Convert(arguments) => convert::run(&arguments),
        CliCommand::Diff(arguments) => {
            let colours = colour::is_on(std::io::stdout());
            return shared(diff::run(
                &arguments,
                embedded::spec,
                mcp_revisions_plans::cover_all,
                lock::of_url,
                colours,
            ));
        }
        CliCommand::Lock(arguments) => {
            return match lock::run(&arguments) {
                Ok((text, code)) => printed(&text, code, colour::is_on(std::io::stdout())),
                Err(error) => {
                    stderr::print_error(&error);
                    match command::failure_code(&error) {
                        // Code 1 says that the check found a change, so usage errors get 2.
                        1 => 2,
                        code => code,
                    }
                    .into()
                }
            };
        }
        CliCommand::Explain(arguments) => {
            let built_in = Rule::BUILT_IN.map(|rule| (rule.id(), rule.reason()));
            return shared(explain::run(&arguments, embedded::spec, &built_in));
        }
        CliCommand::Probe(arguments) => probe::run(&arguments),
        CliCommand::Tap(arguments) => tap::run(&arguments),
        CliCommand::Transcript(arguments) => transcript::run(&arguments),
        CliCommand::List(arguments) => list::run(&arguments),
        CliCommand::Completions(arguments) => Ok(manual::completions(&arguments)),
        CliCommand::Man(arguments) => manual::pages(&arguments),
    };
    match outcome {
        Ok(SubcommandOutcome { text, code }) => printed(&text, code, false),
        Err(error) => {
            stderr::print_error(&error);
            2.into()
        }
    }
}

/// Prints the outcome of a subcommand that `cargo xtask` has as well.
fn shared(outcome: anyhow::Result<command::CommandOutcome>) -> ExitCode {
    match outcome {
        Ok(command::CommandOutcome { text, passed }) => {
            let has_colours = colour::is_on(std::io::stdout());
            printed(&text, u8::from(!passed), has_colours)
        }
        Err(error) => {
            stderr::print_error(&error);
            command::failure_code(&error).into()
        }
    }
}

/// Prints the output of a subcommand: programs get it as it is, and terminals without what they would act on.
fn printed(text: &str, code: u8, has_colours: bool) -> ExitCode {
    // The bridge prints nothing: a client that does not read keeps it from taking standard output.
    if text.is_empty() {
        return code.into();
    }
    let mut stdout = std::io::stdout();
    let text = if stdout.is_terminal() {
        harmless(text, |rest| has_colours && is_colour(rest))
    } else {
        text.into()
    };
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        // A reader that has seen enough, as `head` does, is not a failure.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            stderr::print_error(format_args!("cannot write the output: {error}"));
            OUTPUT_FAILED.into()
        }
        _ => code.into(),
    }
}
