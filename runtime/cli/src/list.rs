//! `mcp-rev list`: the types and the methods that the other subcommands can name.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};

use mcp_protocol::{Extension, Revision};

use crate::Outcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// What to list
    what: What,
    /// Protocol revision [default: the latest release]
    #[arg(value_name = "ID", default_value_t = Revision::LATEST, hide_default_value = true)]
    revision: Revision,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Definitions of the schema and of its extensions, for --type
    Types,
    /// Methods with sender, kind, params and result, for --method
    Methods,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let revision = arguments.revision;
    let mut text = String::new();
    match arguments.what {
        What::Types => {
            let added = Extension::of(revision).flat_map(|extension| extension.types);
            let types = revision.types().iter().chain(added);
            for ty in types.filter(|ty| ty.definition) {
                let _ = writeln!(text, "{}", ty.name);
            }
        }
        What::Methods => {
            let added = Extension::of(revision).flat_map(|extension| extension.methods);
            let methods: Vec<_> = revision.methods().iter().chain(added).collect();
            let width = methods.iter().map(|method| method.name.len()).max();
            let width = width.unwrap_or(0);
            for method in methods {
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
        }
    }
    Ok(Outcome { text, code: 0 })
}
