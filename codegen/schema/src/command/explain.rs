//! `explain`: what a kind of change means, who breaks, and what to do.

use clap::Args;

use super::Outcome;
use crate::diff::{Kind, explain};

/// What it takes.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The kind, as `diff` prints it; without one, all kinds are listed
    kind: Option<Kind>,
}

/// Explains a kind, or lists them all.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
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
    Outcome::passed(text)
}
