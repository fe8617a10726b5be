//! `diff`: what changed between two revisions.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Outcome, Unread};
use crate::diff::{self, Baseline, Diff, Filter, History, Kind, Level, Sources};
use crate::render::text::TextOptions;
use crate::render::{github, html, json, markdown, text};
use crate::{Error, Spec, shims};

/// What it takes.
#[derive(Args, Debug)]
pub struct Arguments {
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
    /// Set this change aside, by the fingerprint that is printed with it; may be given several times
    #[arg(long, value_name = "FINGERPRINT")]
    ignore: Vec<String>,
    /// Set aside what this file knows: a diff of `--format json`, or a fingerprint a line
    #[arg(long, value_name = "FILE")]
    baseline: Vec<PathBuf>,
    /// Text: every wire path of each change
    #[arg(long)]
    paths: bool,
    /// Text: a message that shows each breaking change
    #[arg(long)]
    witnesses: bool,
    /// The spec directory [default: the one that this program comes with]
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
    Github,
    Html,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Direction {
    /// From the client to the server
    C2s,
    /// From the server to the client
    S2c,
}

/// Compares, and prints what is asked for; `own` is the spec that the program comes with.
///
/// # Errors
/// What cannot be read, and what is not known.
pub fn run(
    arguments: &Arguments,
    own: impl FnOnce() -> Result<Spec, Error>,
) -> anyhow::Result<Outcome> {
    let spec = match &arguments.spec {
        Some(dir) => Spec::read(dir),
        None => own(),
    }
    .map_err(Unread)?;
    let sources = Sources::read(&spec).map_err(Unread)?;
    let mut history = match (&arguments.old, &arguments.new) {
        (Some(old), Some(new)) => {
            let names = [old.clone(), new.clone()];
            diff::history(&sources, &names, arguments.raw)
        }
        _ => diff::history(&sources, &[], arguments.raw),
    }
    .map_err(Unread)?;
    shims::cover_all(&spec, &sources, &mut history.diffs);
    let filter = filter(arguments);
    let methods = history.methods.iter().map(|line| line.name.clone());
    filter.check(&sources.methods().into_iter().chain(methods).collect())?;
    baseline(arguments)?.apply(&mut history.diffs)?;
    for diff in &mut history.diffs {
        filter.apply(diff);
    }
    let too_bad = |diff: &Diff| {
        let limit = arguments.fail_on;
        limit.is_some_and(|limit| diff.rows.iter().any(|row| row.level >= limit))
    };
    let passed = !history.diffs.iter().any(too_bad);
    let text = render(arguments, &history)?;
    let text = match &arguments.output {
        Some(file) => {
            crate::files::write_file(file, text.as_bytes())?;
            format!("{}: {} bytes\n", file.display(), text.len())
        }
        None => text,
    };
    Ok(Outcome { text, passed })
}

fn baseline(arguments: &Arguments) -> anyhow::Result<Baseline> {
    let mut baseline = Baseline::default();
    for fingerprint in &arguments.ignore {
        baseline.ignore(fingerprint)?;
    }
    for file in &arguments.baseline {
        let text = std::fs::read_to_string(file)
            .map_err(|cause| Unread(Error::io("read", file, cause)))?;
        baseline.read(&file.display().to_string(), &text)?;
    }
    Ok(baseline)
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
        Format::Github => (diffs.iter())
            .map(|diff| github::render(diff, arguments.fail_on))
            .collect(),
        Format::Html => html::render(history)?,
    })
}
