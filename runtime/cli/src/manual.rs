//! What the program says of itself: version, examples, completions and the manual page.

use std::sync::LazyLock;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use mcp_registry::Revision;

use crate::{Arguments, Outcome};

/// Below the list of subcommands.
pub(crate) fn examples() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut released = Revision::NEGOTIATED.iter().rev();
        let newest = Revision::NEWEST;
        let (_, before) = (released.next(), released.next().unwrap_or(&newest));
        let older = released.next().unwrap_or(before);
        format!(
            "\
Examples:
  mcp-rev check --revision {before} call.json
  mcp-rev convert --from {newest} --to {older} call.json
  mcp-rev diff {before} {newest}
  mcp-rev diff {newest} schema.json --baseline known.json --fail-on breaking
  mcp-rev tap --record talk.jsonl --watch -- my-server --its-option
  mcp-rev transcript talk.jsonl --as {older}
  mcp-rev bridge --losses losses.jsonl -- my-server
  mcp-rev bridge --listen http://127.0.0.1:8000/mcp -- my-server
  mcp-rev bridge --header 'Authorization: Bearer TOKEN' https://example.com/mcp

Exit codes:
  0  all is well
  1  something is not: a message, a finding, a change that --fail-on names, a server that cannot be bridged
  2  the command was not put right
  3  an input cannot be read, or the output not be written
  4  something would be lost (convert, transcript --as)
  5  an adapter has to do it (convert)
  6  the other revision has no such thing (convert)
  tap ends with the code of the server that it taps."
        )
    });
    &TEXT
}

/// The version, and the revisions that it knows.
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
    /// The shell
    shell: Shell,
}

/// A script that the shell reads.
pub(crate) fn completions(arguments: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "mcp-rev",
        &mut script,
    );
    Outcome {
        text: String::from_utf8_lossy(&script).into_owned(),
        code: 0,
    }
}

/// The manual page, in roff, with a section for each subcommand.
pub(crate) fn page() -> anyhow::Result<Outcome> {
    let mut roff = Vec::new();
    let mut command = Arguments::command();
    // Subcommands learn what they are called in full.
    command.build();
    // What stands in the headings is one line; the revisions stand below.
    let source = concat!("mcp-rev ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command.clone())
        .source(source)
        .render(&mut roff)?;
    for subcommand in command.get_subcommands() {
        if subcommand.get_name() == "help" {
            continue;
        }
        clap_mangen::Man::new(subcommand.clone())
            .source(source)
            .render(&mut roff)?;
    }
    Ok(Outcome {
        text: String::from_utf8_lossy(&roff).into_owned(),
        code: 0,
    })
}
