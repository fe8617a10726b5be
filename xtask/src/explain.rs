//! `cargo xtask explain`: what a kind of change means, who breaks, and what to do.

use clap::Args;
use mcp_codegen::diff::{Kind, explain};

use crate::outcome::Outcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The kind, as `cargo xtask diff` prints it; without one, all kinds are listed
    kind: Option<Kind>,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let text = match arguments.kind {
        Some(kind) => {
            let told = explain(kind);
            format!(
                "{kind}\n\nWhat it means: {}\nWho breaks:    {}\nWhat to do:    {}\nFor example:   {}\n",
                told.means, told.breaks, told.todo, told.example
            )
        }
        None => {
            let lines = Kind::ALL
                .iter()
                .map(|kind| format!("{:<22}  {}\n", kind.id(), explain(*kind).means));
            lines.collect()
        }
    };
    Ok(Outcome::passed(text))
}
