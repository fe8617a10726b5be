//! `mcp-rev types`: what `check` can be asked to read.

use std::fmt::Write as _;

use clap::Args;

use mcp_registry::Revision;

use crate::Outcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The revision
    #[arg(long, value_name = "ID")]
    revision: Revision,
    /// List the methods instead, with what they carry and what answers them
    #[arg(long)]
    methods: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let revision = arguments.revision;
    let mut text = String::new();
    if arguments.methods {
        let width = revision
            .methods()
            .iter()
            .map(|method| method.name.len())
            .max()
            .unwrap_or(0);
        for method in revision.methods() {
            let _ = writeln!(
                text,
                "{:width$}  {}  {:12}  {} -> {}",
                method.name,
                method.direction,
                method.kind.as_str(),
                method.params.unwrap_or("-"),
                method.result.unwrap_or("-"),
            );
        }
    } else {
        for ty in revision.types().iter().filter(|ty| ty.definition) {
            let _ = writeln!(text, "{}", ty.name);
        }
    }
    Ok(Outcome { text, code: 0 })
}
