//! `cargo xtask replay`: the history of a draft, one line per schema, with the result.

use mcp_revisions_schema::sorted::SortedMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use mcp_codegen::import::SpecDirectory;
use mcp_codegen::replay::{Made, Refused, Replay, Step};
use mcp_revisions_diff::ChangeLevel;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::decision::QuestionKind;

use crate::progress::ProgressLine;
use crate::workspace::spec_dir;
use mcp_revisions_diff::command::CommandOutcome;

mod compile;

use compile::Workshop;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder of schemas in upstream form, named by their dates: YYYY-MM-DD-anything.json
    dir: PathBuf,
    /// Compile the crate of each draft and its conversions as well
    #[arg(long)]
    compile: bool,
}

/// The columns of the rows of a diff by level, worst first.
const WIDTHS: [usize; 4] = [9, 7, 12, 16];

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let schemas = dated(&arguments.dir)?;
    let directory = SpecDirectory::read(&spec_dir()?)?;
    let mut replay = Replay::new(directory)?;
    let compile = arguments.compile;
    let workshop = compile.then(Workshop::set_up).transpose()?;
    let mut history = History::default();
    let mut progress = ProgressLine::of(schemas.len());
    tell(&history.heading(compile));
    // As many at once as there are processors; what is printed of each one rests on the one before.
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    for some in schemas.chunks(threads) {
        let read = |(name, path): &(String, PathBuf)| {
            progress.step(name);
            let text =
                std::fs::read_to_string(path).map_err(|cause| Error::io("read", path, cause))?;
            Ok((name.clone(), text))
        };
        let texts: Vec<(String, String)> = some.iter().map(read).collect::<Result<_, Error>>()?;
        let made = side_by_side(&replay, &texts);
        for ((name, text), (made, ms)) in texts.iter().zip(made) {
            let step = replay
                .follow(name, text, made)
                .and_then(|step| compiled(step, workshop.as_ref()));
            tell(&history.line(name, step, ms));
        }
    }
    Ok(CommandOutcome {
        passed: history.refused == 0,
        text: history.summary(),
    })
}

/// What was made of a schema, and the milliseconds that it took beside others.
type Timed = (Result<Made, Refused>, u128);

/// Makes crates of some schemas, each on a thread of its own, and returns them in order.
fn side_by_side(replay: &Replay, schemas: &[(String, String)]) -> Vec<Timed> {
    let timed = &|(name, text): &(String, String)| {
        let begun = Instant::now();
        let made = replay.make(name, text);
        (made, begun.elapsed().as_millis())
    };
    std::thread::scope(|scope| {
        let begin = |schema| scope.spawn(move || timed(schema));
        let running: Vec<_> = schemas.iter().map(begin).collect();
        let finished = running.into_iter().map(|one| one.join());
        finished
            .map(|one| one.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Prints a line at once; a reader that has seen enough, as `head` does, is not a failure.
fn tell(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A step, with the seconds that compiling took where that was asked for.
type Compiled = (Step, Option<u64>);

/// Compiles a step where that is asked for.
fn compiled(step: Step, workshop: Option<&Workshop>) -> Result<Compiled, Refused> {
    let Some(workshop) = workshop else {
        return Ok((step, None));
    };
    let begun = Instant::now();
    workshop.compile(&step.generated)?;
    Ok((step, Some(begun.elapsed().as_secs())))
}

/// Returns the schemas of a folder by their names, oldest first.
pub(crate) fn dated(dir: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(dir).map_err(|cause| Error::io("read", dir, cause))?;
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot list {}", dir.display()))?
            .path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if let Some(stem) = name.strip_suffix(".json").filter(|stem| is_dated(stem)) {
            found.push((stem.to_owned(), path.clone()));
        }
    }
    found.sort();
    anyhow::ensure!(
        !found.is_empty(),
        "{} holds no schema with a day in its name: YYYY-MM-DD-anything.json",
        dir.display()
    );
    Ok(found)
}

fn is_dated(stem: &str) -> bool {
    let form = "0000-00-00";
    let fits = |(letter, form): (char, char)| match form {
        '0' => letter.is_ascii_digit(),
        _ => letter == form,
    };
    stem.len() >= form.len() && stem.chars().zip(form.chars()).all(fits)
}

/// Returns the first of some problems, and how many more there are.
fn first(problems: &Error) -> String {
    match problems.each() {
        [first, more @ ..] if !more.is_empty() => format!("{first}\nand {} more", more.len()),
        _ => problems.to_string(),
    }
}

/// What the steps came to.
#[derive(Default)]
struct History {
    through: usize,
    /// Schemas that are none by themselves.
    invalid: usize,
    refused: usize,
    slowest: u128,
    asked: SortedMap<QuestionKind, SortedMap<String, usize>>,
}

impl History {
    fn heading(&self, compile: bool) -> String {
        let levels = ChangeLevel::ALL.iter().zip(WIDTHS);
        let levels: String = levels
            .map(|(level, width)| format!("{level:>width$}"))
            .collect();
        let compile = if compile { "  compiled" } else { "" };
        format!(
            "{:24}{levels}{:>7}{:>6}{:>7}{compile}",
            "schema", "open", "new", "ms"
        )
    }

    /// Returns the line of a step: rows of the diff by level, decisions, those newly open, time.
    fn line(&mut self, name: &str, made: Result<Compiled, Refused>, ms: u128) -> String {
        self.slowest = self.slowest.max(ms);
        let (step, seconds) = match made {
            Ok(made) => made,
            Err(refused) => {
                let (word, count, problem) = match refused {
                    Refused::Invalid(error) => {
                        ("invalid by itself", &mut self.invalid, error.to_string())
                    }
                    Refused::Unanswered(error) => ("refused", &mut self.refused, first(&error)),
                };
                *count += 1;
                let indented = problem.trim_end().replace('\n', "\n    ");
                return format!("{name:24}  {word}: {indented}");
            }
        };
        self.through += 1;
        let mut line = format!("{name:24}");
        for (level, width) in ChangeLevel::ALL.iter().zip(WIDTHS) {
            let rows = step.rows.as_ref().map_or_else(
                || "-".to_owned(),
                |rows| rows.get(level).copied().unwrap_or_default().to_string(),
            );
            let _ = write!(line, "{rows:>width$}");
        }
        let _ = write!(line, "{:>7}{:>6}{ms:>7}", step.open.len(), step.new);
        if let Some(seconds) = seconds {
            let _ = write!(line, "  in {seconds} s");
        }
        for decision in &step.open {
            let places = self.asked.entry(decision.question).or_default();
            *places.entry(decision.place.clone()).or_default() += 1;
        }
        line
    }

    /// Returns the number of schemas without a failure, and the most frequent questions.
    fn summary(&self) -> String {
        let Self {
            through,
            invalid,
            refused,
            slowest,
            asked,
        } = self;
        let mut text = format!(
            "{through} of {} schemas went through, {invalid} invalid by themselves, {refused} refused; the slowest step took {slowest} ms ({} build)\n",
            through + invalid + refused,
            if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            }
        );
        let mut kinds: Vec<_> = asked.iter().collect();
        kinds.sort_by_key(|(_, places)| std::cmp::Reverse(places.values().sum::<usize>()));
        if !kinds.is_empty() {
            text.push_str("asked for most:\n");
        }
        for (question, places) in kinds {
            let mut often: Vec<_> = places.iter().collect();
            often.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
            let most = often
                .iter()
                .take(3)
                .map(|(place, times)| format!("{place} ({times})"));
            let _ = writeln!(
                text,
                "  {:>5} x {question}, at {} places: {}",
                places.values().sum::<usize>(),
                places.len(),
                most.collect::<Vec<_>>().join(", ")
            );
        }
        text
    }
}
