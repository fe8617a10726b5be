//! The help of the whole program: version, examples, exit codes, completions and manual pages.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use mcp_revisions_core::Revision;

use crate::{Arguments, SubcommandOutcome};

/// Returns the examples and the exit codes, for the end of `--help`.
pub(crate) fn examples() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut released = Revision::NEGOTIATED.iter().rev();
        let latest = Revision::LATEST;
        let (_, before) = (released.next(), released.next().unwrap_or(&latest));
        let older = released.next().unwrap_or(before);
        format!(
            "\
Examples:
  mcp-rev check --revision {before} call.json
  mcp-rev convert --from {latest} --to {older} call.json
  mcp-rev diff {before} {latest}
  mcp-rev diff {latest} schema.json --baseline known.json --fail-on breaking
  mcp-rev tap --record session.jsonl --watch -- my-server --its-option
  mcp-rev transcript session.jsonl --as {older}
  mcp-rev probe https://example.com/mcp
  mcp-rev bridge --loss-log losses.jsonl -- my-server
  mcp-rev bridge --listen http://127.0.0.1:8000/mcp -- my-server
  mcp-rev bridge --header-env Authorization=MCP_AUTHORIZATION https://example.com/mcp

Exit codes:
  0  success
  1  a check failed: an invalid message, a change or a finding of --fail-on; the server of a bridge cannot be used, or ended first
  2  usage error; a server that does not answer (probe)
  3  an input cannot be read, an output not be written, an address not be listened on, or tap cannot start its command
  4  a conversion loses something (convert, transcript --as)
  5  a conversion requires session state (convert)
  6  the target revision has no equivalent (convert)
  tap exits with the exit code of its server, or with 128+n if signal n ended it; 3 if --record cannot be written."
        )
    });
    &TEXT
}

/// Returns the version and the known revisions.
pub(crate) fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let revisions: Vec<&str> = Revision::ALL.iter().map(|revision| revision.id()).collect();
        format!(
            "{}\nrevisions: {}",
            env!("CARGO_PKG_VERSION"),
            revisions.join(", ")
        )
    });
    &TEXT
}

#[derive(Args)]
pub(crate) struct Completions {
    /// Shell to complete for
    shell: Shell,
}

/// Renders the completion script of a shell.
pub(crate) fn completions(arguments: &Completions) -> SubcommandOutcome {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "mcp-rev",
        &mut script,
    );
    // The script for bash names its states without the `-` of the program, and looks them up with it.
    let script = String::from_utf8_lossy(&script).replace("mcp__subcmd__rev", "mcp__rev");
    SubcommandOutcome {
        text: script,
        code: 0,
    }
}

#[derive(Args)]
pub(crate) struct Pages {
    /// Write one page per subcommand to this directory: mcp-rev.1, mcp-rev-bridge.1, ... [default: print mcp-rev.1]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Renders the manual in roff: one page for the program, and one for each subcommand.
pub(crate) fn pages(arguments: &Pages) -> anyhow::Result<SubcommandOutcome> {
    let mut command = Arguments::command();
    // Subcommands get their full names only when the command is built.
    command.build();
    // The version of a page is one line, without the list of revisions.
    let source = concat!("mcp-rev ", env!("CARGO_PKG_VERSION"));
    let page = |command: &clap::Command| -> anyhow::Result<Vec<u8>> {
        let mut roff = Vec::new();
        clap_mangen::Man::new(command.clone())
            .source(source)
            .render(&mut roff)?;
        Ok(roff)
    };
    let Some(dir) = &arguments.output else {
        let text = String::from_utf8_lossy(&page(&command)?).into_owned();
        return Ok(SubcommandOutcome { text, code: 0 });
    };
    let subcommands = command
        .get_subcommands()
        .filter(|subcommand| subcommand.get_name() != "help");
    let mut text = String::new();
    for command in std::iter::once(&command).chain(subcommands) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let file = dir.join(format!("{name}.1"));
        if let Err(error) = std::fs::write(&file, page(command)?) {
            crate::stderr::print_error(format_args!("cannot write {}: {error}", file.display()));
            let code = crate::OUTPUT_FAILED;
            return Ok(SubcommandOutcome { text, code });
        }
        let _ = writeln!(text, "{}", file.display());
    }
    Ok(SubcommandOutcome { text, code: 0 })
}
