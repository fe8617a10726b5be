//! `diff`: compares two revisions.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use mcp_wire::harmless;

use super::{CommandOutcome, UnreadOption, is_colour};
use crate::render::text::TextOptions;
use crate::render::{github, html, json, markdown, text};
use crate::{Baseline, ChangeKind, ChangeLevel, Diff, RowFilter, SchemaHistory, SideSources};
use mcp_revisions_schema::spec::RevisionStage;
use mcp_revisions_schema::{Error, Spec};

/// Options of `diff`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Old revision: an id, the path of a schema.json, or `git:REF:PATH`
    ///
    /// Ids: `mcp-rev --version` lists them. A schema.json is one that the specification publishes. `git:REF:PATH` is a
    /// file of a commit in the repository of the current directory, such as `git:main:schema/draft/schema.json`.
    ///
    /// Two servers are compared by their lock files, as `lock` writes them, in either way, or by their URLs.
    #[arg(required_unless_present = "all")]
    old: Option<String>,
    /// New revision, named in the same ways
    #[arg(required_unless_present = "all")]
    new: Option<String>,
    /// Compare every pair of adjacent revisions
    #[arg(long, conflicts_with_all = ["old", "new"])]
    all: bool,
    /// With --all: compare released revisions only, without candidates and the draft
    #[arg(long, requires = "all")]
    released: bool,
    #[command(flatten)]
    report: ReportArguments,
    /// Write the output to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show only changes that no conversion rule handles
    #[arg(long)]
    unhandled: bool,
    /// Compare the schemas as published, without the corrections of `spec/`
    #[arg(long)]
    raw: bool,
    /// Directory of schemas and rules [default: the ones in this program]
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

/// Options of a report: its changes, its format, and the level that fails a check.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Output format [default: that of the name of --output: .html, .json or .md; else text]
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    /// Show only changes of this method, or of `tools/*`
    #[arg(long, value_name = "METHOD")]
    method: Vec<String>,
    /// Show only changes of messages in this direction
    #[arg(long, value_enum, ignore_case = true)]
    direction: Vec<DiffDirection>,
    /// Show only changes of this kind; `mcp-rev explain` lists the kinds
    #[arg(long, value_parser = kinds(), hide_possible_values = true)]
    kind: Vec<ChangeKind>,
    /// Show only changes of this level
    #[arg(long, value_parser = levels())]
    level: Vec<ChangeLevel>,
    /// Exit with 1 if there is a change of this level or worse, or a part that cannot be compared
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    fail_on: Option<ChangeLevel>,
    /// Text format: print all changes, not only the summary and the breaking ones
    ///
    /// Changes that --method, --direction, --kind, --level or --unhandled select are always printed.
    #[arg(short, long)]
    verbose: bool,
    /// Text format: print the fingerprint of each change, for --ignore and --baseline
    #[arg(long)]
    fingerprints: bool,
    /// Ignore the change with this fingerprint; repeatable
    #[arg(long, value_name = "FINGERPRINT")]
    ignore: Vec<String>,
    /// Ignore the changes of this file: a diff in `--format json`, or one fingerprint per line
    #[arg(long, value_name = "FILE")]
    baseline: Vec<PathBuf>,
    /// Text format: print every wire path of each change
    #[arg(long)]
    paths: bool,
    /// Text format: print a message that shows each breaking change
    #[arg(long)]
    examples: bool,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReportFormat {
    Text,
    Markdown,
    Json,
    Github,
    Html,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DiffDirection {
    /// From the client to the server
    C2s,
    /// From the server to the client
    S2c,
}

fn kinds() -> impl TypedValueParser<Value = ChangeKind> {
    PossibleValuesParser::new(ChangeKind::ALL.iter().map(|kind| kind.id()))
        .try_map(|id| id.parse::<ChangeKind>())
}

fn levels() -> impl TypedValueParser<Value = ChangeLevel> {
    PossibleValuesParser::new(ChangeLevel::ALL.map(ChangeLevel::as_str))
        .try_map(|id| id.parse::<ChangeLevel>())
}

/// Compares two revisions and renders the changes; `own` reads the spec of the program, `cover` fills in the conversion rules
/// that each change meets, `server` returns the lock of a server that a name stands for, `colour` is for text. Fails for an
/// input that cannot be read, and a name that is not known.
pub fn run(
    arguments: &Arguments,
    own: impl FnOnce() -> Result<Spec, Error>,
    cover: fn(&Spec, &SideSources<'_>, &mut [Diff]),
    server: impl Fn(&str) -> Option<anyhow::Result<String>>,
    colour: bool,
) -> anyhow::Result<CommandOutcome> {
    let spec = match &arguments.spec {
        Some(dir) => Spec::read(dir),
        None => own(),
    }
    .map_err(UnreadOption)?;
    let mut sources = SideSources::read(&spec).map_err(UnreadOption)?;
    // Both, or none of them for all pairs.
    let mut names: Vec<String> = arguments
        .old
        .iter()
        .chain(&arguments.new)
        .cloned()
        .collect();
    if arguments.released {
        let revisions = spec.revisions.iter();
        let released = revisions.filter(|revision| revision.status == RevisionStage::Released);
        names.extend(released.map(|revision| revision.id.clone()));
    }
    for name in &names {
        if let Some(lock) = server(name) {
            sources = sources.with_lock(name, lock?);
        }
    }
    let mut history = crate::history(&sources, &names, arguments.raw).map_err(UnreadOption)?;
    cover(&spec, &sources, &mut history.diffs);
    let filter = RowFilter {
        uncovered: arguments.unhandled,
        ..arguments.report.filter()
    };
    let report = DiffReport {
        arguments: &arguments.report,
        filter,
        output: arguments.output.as_deref(),
        is_whole: arguments.all,
    };
    report.outcome(&sources, history, arguments.report.fail_on, colour)
}

/// Compares two locks, given as texts under their names. Any change fails the check, unless `--fail-on` sets a level. `own` reads
/// the spec of the program, `colour` is for text. Fails for a text that is not a lock, and an option that cannot be read.
pub fn run_locks(
    arguments: &ReportArguments,
    own: impl FnOnce() -> Result<Spec, Error>,
    [(old, before), (new, after)]: [(&str, String); 2],
    colour: bool,
) -> anyhow::Result<CommandOutcome> {
    let spec = own().map_err(UnreadOption)?;
    let sources = SideSources::read(&spec)
        .map_err(UnreadOption)?
        .with_lock(old, before)
        .with_lock(new, after);
    let names = [old, new].map(str::to_owned);
    let history = crate::history(&sources, &names, false).map_err(UnreadOption)?;
    let report = DiffReport {
        arguments,
        filter: arguments.filter(),
        output: None,
        is_whole: false,
    };
    let fails = arguments.fail_on.unwrap_or(ChangeLevel::Representation);
    report.outcome(&sources, history, Some(fails), colour)
}

/// A report of changes, with its options.
struct DiffReport<'a> {
    arguments: &'a ReportArguments,
    filter: RowFilter,
    output: Option<&'a Path>,
    /// Set for the report of all pairs.
    is_whole: bool,
}

impl DiffReport<'_> {
    /// Writes or returns the changes that are asked for; the check fails from the level `fails` on.
    fn outcome(
        &self,
        sources: &SideSources<'_>,
        mut history: SchemaHistory,
        fails: Option<ChangeLevel>,
        colour: bool,
    ) -> anyhow::Result<CommandOutcome> {
        let methods = history.methods.iter().map(|line| line.name.clone());
        let known = sources.methods().into_iter().chain(methods).collect();
        self.filter.check(&known)?;
        self.arguments.baseline()?.apply(&mut history.diffs)?;
        for diff in &mut history.diffs {
            self.filter.apply(diff);
        }
        let too_bad = |diff: &Diff| {
            fails.is_some_and(|limit| {
                !diff.uncompared.is_empty() || diff.rows.iter().any(|row| row.level >= limit)
            })
        };
        let passed = !history.diffs.iter().any(too_bad);
        let text = self.render(&history, fails, colour)?;
        let text = match self.output {
            Some(file) => {
                // The file may be a link, a pipe or a device: it is written into, never replaced.
                let written = std::fs::write(file, &text);
                written.map_err(|cause| Error::io("write", file, cause))?;
                format!("{}: {} bytes\n", file.display(), text.len())
            }
            None => text,
        };
        Ok(CommandOutcome { text, passed })
    }

    /// Returns the format that the name of the output has.
    fn named_format(&self) -> ReportFormat {
        let name = self.output.and_then(Path::extension);
        match name.and_then(|name| name.to_str()) {
            Some("html") => ReportFormat::Html,
            Some("json") => ReportFormat::Json,
            Some("md") => ReportFormat::Markdown,
            _ => ReportFormat::Text,
        }
    }

    /// Returns the columns of the terminal that the output goes to, if it goes to one.
    fn width(&self) -> Option<usize> {
        if self.output.is_some() || !std::io::stdout().is_terminal() {
            return None;
        }
        let (width, _) = terminal_size::terminal_size()?;
        Some(usize::from(width.0))
    }

    fn render(
        &self,
        history: &SchemaHistory,
        fails: Option<ChangeLevel>,
        colour: bool,
    ) -> anyhow::Result<String> {
        let (diffs, arguments) = (&history.diffs, self.arguments);
        let format = arguments.format.unwrap_or_else(|| self.named_format());
        let is_text = matches!(format, ReportFormat::Text);
        let has_colours = colour && is_text && self.output.is_none();
        let text = match format {
            ReportFormat::Text => {
                let options = TextOptions {
                    colour: has_colours,
                    paths: arguments.paths,
                    witnesses: arguments.examples,
                    only_breaking: !arguments.verbose && self.filter.is_empty(),
                    without_fingerprints: !arguments.fingerprints,
                    width: self.width(),
                };
                let texts = diffs.iter().map(|diff| text::render(diff, options));
                texts.collect::<Vec<_>>().join("\n")
            }
            ReportFormat::Markdown => {
                let texts: Vec<String> = diffs.iter().map(markdown::render).collect();
                texts.join("\n")
            }
            ReportFormat::Json => {
                return Ok(match (self.is_whole, diffs.as_slice()) {
                    (false, [only]) => json::diff(only)?,
                    _ => json::history(history)?,
                });
            }
            ReportFormat::Github => (diffs.iter())
                .map(|diff| github::render(diff, fails))
                .collect(),
            ReportFormat::Html => html::render(history)?,
        };
        // A schema may have any names, and people read these formats in a terminal.
        Ok(harmless(&text, |rest| has_colours && is_colour(rest)).into_owned())
    }
}

impl ReportArguments {
    fn baseline(&self) -> anyhow::Result<Baseline> {
        let mut baseline = Baseline::default();
        for fingerprint in &self.ignore {
            baseline.ignore(fingerprint)?;
        }
        for file in &self.baseline {
            let text = std::fs::read_to_string(file)
                .map_err(|cause| UnreadOption(Error::io("read", file, cause)))?;
            baseline.read(&file.display().to_string(), &text)?;
        }
        Ok(baseline)
    }

    /// Returns the rows that are asked for.
    fn filter(&self) -> RowFilter {
        let directions = self.direction.iter().map(|direction| match direction {
            DiffDirection::C2s => "C2S".to_owned(),
            DiffDirection::S2c => "S2C".to_owned(),
        });
        RowFilter {
            methods: self.method.clone(),
            directions: directions.collect(),
            kinds: self.kind.clone(),
            levels: self.level.clone(),
            uncovered: false,
        }
    }
}
