//! `cargo xtask model`: the model of a revision, as JSON.

use clap::Args;
use mcp_revisions_schema::{Models, Spec};

use crate::workspace::spec_dir;
use mcp_revisions_diff::command::CommandOutcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The revision
    revision: String,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let spec = Spec::read(&spec_dir()?)?;
    let models = Models::build(&spec)?;
    let mut text = serde_json::to_string_pretty(&models.get(&arguments.revision)?.model)?;
    text.push('\n');
    Ok(CommandOutcome::passed(text))
}
