//! `cargo xtask shims`: the rules and proofs of the conversions between adjacent revisions.

use std::fmt::Write as _;

use clap::Args;
use mcp_revisions_plans::table;
use mcp_revisions_schema::{Models, Spec};

use crate::workspace::spec_dir;
use mcp_revisions_diff::command::CommandOutcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// OLD..NEW [default: all pairs]
    pair: Option<String>,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let spec = Spec::read(&spec_dir()?)?;
    let models = Models::build(&spec)?;
    let plans = mcp_revisions_plans::plan_shims(&models, &spec)?;
    let names: Vec<String> = plans.iter().map(|plan| plan.pair.to_string()).collect();
    if let Some(pair) = &arguments.pair
        && !names.contains(pair)
    {
        anyhow::bail!("no pair `{pair}`; known: {}", names.join(", "));
    }
    let mut text = String::new();
    for (plan, name) in plans.iter().zip(&names) {
        if arguments.pair.as_ref().is_some_and(|pair| pair != name) {
            continue;
        }
        let _ = writeln!(text, "{}", table::text(plan, &spec)?);
    }
    Ok(CommandOutcome::passed(text))
}
