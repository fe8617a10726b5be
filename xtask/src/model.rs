//! `cargo xtask model`: the model of a revision, as JSON.

use std::path::PathBuf;

use clap::Args;
use mcp_revisions_schema::{Models, Spec};

use crate::workspace::spec_dir;
use mcp_revisions_diff::command::CommandOutcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The revision
    revision: String,
    /// The spec directory [default: spec/ of this workspace]
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let spec = Spec::read(&arguments.spec.map_or_else(spec_dir, Ok)?)?;
    let models = Models::build(&spec)?;
    let mut text = serde_json::to_string_pretty(&models.get(&arguments.revision)?.model)?;
    text.push('\n');
    Ok(CommandOutcome::passed(text))
}
