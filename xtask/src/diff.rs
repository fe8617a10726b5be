//! `cargo xtask diff`: what changed between two revisions.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mcp_codegen::diff::{self, Diff, Filter, History, Kind, Level, Sources};
use mcp_codegen::generate::Models;
use mcp_codegen::render::text::TextOptions;
use mcp_codegen::render::{github, html, json, markdown, text};
use mcp_codegen::shims::rules::PairRules;
use mcp_codegen::{Error, Spec, shims};

use crate::outcome::Outcome;
use crate::spec::default_dir;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The old state: a revision, or the path of a schema.json as the specification publishes it
    #[arg(required_unless_present = "all")]
    old: Option<String>,
    /// The new state, likewise
    #[arg(required_unless_present = "all")]
    new: Option<String>,
    /// The whole history: every neighbouring pair of revisions
    #[arg(long, conflicts_with_all = ["old", "new"])]
    all: bool,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to a file instead
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only changes that reach this method; `tools/*` for several
    #[arg(long, value_name = "METHOD")]
    method: Vec<String>,
    /// Only what is sent that way
    #[arg(long, value_enum, ignore_case = true)]
    direction: Vec<Direction>,
    /// Only changes of this kind
    #[arg(long)]
    kind: Vec<Kind>,
    /// Only changes of this level: breaking, risky, compatible or representation
    #[arg(long)]
    level: Vec<Level>,
    /// Only changes that no shim rule covers
    #[arg(long)]
    uncovered: bool,
    /// Compare the schemas as upstream has them, without errata
    #[arg(long)]
    raw: bool,
    /// Exit with 1 if there is a change of this level or worse
    #[arg(long, value_name = "LEVEL")]
    fail_on: Option<Level>,
    /// Text: every wire path of each change
    #[arg(long)]
    paths: bool,
    /// Text: a message that shows each breaking change
    #[arg(long)]
    witnesses: bool,
    /// The spec directory [default: spec/ of this workspace]
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
    Github,
    Html,
}

#[derive(Clone, Copy, ValueEnum)]
enum Direction {
    /// From the client to the server
    C2s,
    /// From the server to the client
    S2c,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let spec = Spec::read(&arguments.spec.clone().unwrap_or_else(default_dir)).map_err(Unread)?;
    let sources = Sources::read(&spec).map_err(Unread)?;
    let mut history = match (&arguments.old, &arguments.new) {
        (Some(old), Some(new)) => {
            let names = [old.clone(), new.clone()];
            diff::history(&sources, &names, arguments.raw)
        }
        _ => diff::history(&sources, &[], arguments.raw),
    }
    .map_err(Unread)?;
    if !arguments.raw {
        cover(&spec, &mut history.diffs);
    }
    let filter = filter(&arguments);
    for diff in &mut history.diffs {
        filter.apply(diff);
    }
    let too_bad = |diff: &Diff| {
        let limit = arguments.fail_on;
        limit.is_some_and(|limit| diff.rows.iter().any(|row| row.level >= limit))
    };
    let passed = !history.diffs.iter().any(too_bad);
    let text = render(&arguments, &history)?;
    let text = match &arguments.output {
        Some(file) => {
            mcp_codegen::files::write_file(file, text.as_bytes())?;
            format!("{}: {} bytes\n", file.display(), text.len())
        }
        None => text,
    };
    Ok(Outcome { text, passed })
}

/// Fills in the rules of the conversions, for pairs of neighbours; a pair that cannot be planned yet has none.
fn cover(spec: &Spec, diffs: &mut [Diff]) {
    let Ok(models) = Models::build(spec) else {
        return;
    };
    for pair in models.shim_pairs() {
        let mut wanted = diffs
            .iter_mut()
            .filter(|diff| diff.old == pair.old && diff.new == pair.new);
        let Some(diff) = wanted.next() else { continue };
        let file = spec.rules.get(&pair.file());
        if let (Ok(plan), Ok(rules)) = (
            models.plan_pair(spec, &pair, file.clone()),
            PairRules::read(file),
        ) {
            diff.cover(|row| shims::cover(row, &plan, &rules));
        }
    }
}

fn filter(arguments: &Arguments) -> Filter {
    let directions = arguments.direction.iter().map(|direction| match direction {
        Direction::C2s => "C2S".to_owned(),
        Direction::S2c => "S2C".to_owned(),
    });
    Filter {
        methods: arguments.method.clone(),
        directions: directions.collect(),
        kinds: arguments.kind.clone(),
        levels: arguments.level.clone(),
        uncovered: arguments.uncovered,
    }
}

fn render(arguments: &Arguments, history: &History) -> anyhow::Result<String> {
    let diffs = &history.diffs;
    Ok(match arguments.format {
        Format::Text => {
            let options = TextOptions {
                colour: arguments.output.is_none()
                    && std::env::var_os("NO_COLOR").is_none()
                    && std::io::stdout().is_terminal(),
                paths: arguments.paths,
                witnesses: arguments.witnesses,
            };
            let texts: Vec<String> = diffs
                .iter()
                .map(|diff| text::render(diff, options))
                .collect();
            texts.join("\n")
        }
        Format::Markdown => {
            let texts: Vec<String> = diffs.iter().map(markdown::render).collect();
            texts.join("\n")
        }
        Format::Json => match (arguments.all, diffs.as_slice()) {
            (false, [only]) => json::diff(only)?,
            _ => json::history(history)?,
        },
        Format::Github => diffs.iter().map(github::render).collect(),
        Format::Html => html::render(history)?,
    })
}

/// An input that could not be read, whatever stands against it: never to be taken for "no change".
#[derive(Debug)]
pub(crate) struct Unread(pub(crate) Error);

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Unread {}
