//! `cargo xtask generate`: all crates, some of them, or one from any schema.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use mcp_codegen::emit::CrateFiles;
use mcp_codegen::files::FileSet;
use mcp_codegen::generate::{self, Alone, Crate, Generated};
use mcp_codegen::surface;
use mcp_revisions_schema::sorted::SortedMap;
use mcp_revisions_schema::{Decision, Spec};

use crate::tally::columns;
use crate::workspace::{root, spec_dir};
use mcp_revisions_diff::command::CommandOutcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a file on disk differs
    #[arg(long, conflicts_with = "schema")]
    check: bool,
    /// Generate one crate from a schema.json in upstream form
    #[arg(long, value_name = "FILE", requires = "out")]
    schema: Option<PathBuf>,
    /// Folder of that crate: a new one, or that of an earlier run
    #[arg(long, value_name = "DIR", requires = "schema")]
    out: Option<PathBuf>,
    /// Name of that crate [default: the name of its folder]
    #[arg(long, requires = "schema")]
    name: Option<String>,
    /// Fail with the open questions, instead of taking safe answers
    #[arg(long)]
    strict: bool,
    /// Write changes of public items of released revisions, too [default: refuse them]
    #[arg(long, conflicts_with_all = ["check", "schema"])]
    change_released: bool,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let start = Instant::now();
    let dir = spec_dir()?;
    let (strict, spec) = (arguments.strict, Spec::read(&dir)?);
    if let (Some(schema), Some(out)) = (arguments.schema, arguments.out) {
        return alone(&spec, &schema, &out, arguments.name, strict, start);
    }
    let generated = generate::generate(&spec)?;
    if !arguments.check && !arguments.change_released {
        let root = root()?;
        let stands = surface::packages(&spec)
            .into_iter()
            .filter_map(|package| {
                let folder = root.join(generate::GENERATED).join(&package);
                folder.is_dir().then(|| Ok((package, sources(&folder)?)))
            })
            .collect::<Result<SortedMap<_, _>, mcp_revisions_schema::Error>>()?;
        surface::check(&spec, &stands, &generated)?;
    }
    let Generated {
        mut files,
        sections,
        crates,
        decisions,
    } = generated;
    for section in &sections {
        section.put(&root()?, &mut files)?;
    }
    let unconfirmed = crate::spec::unconfirmed(&dir, &spec)?;
    if strict {
        refuse(&decisions)?;
        anyhow::ensure!(unconfirmed.is_empty(), "{}", unconfirmed.trim_end());
    }
    if arguments.check {
        let comparison = files.compare(&root()?)?;
        return Ok(CommandOutcome {
            passed: comparison.is_clean(),
            text: comparison.report("cargo xtask generate"),
        });
    }
    let written = files.write(&root()?)?;
    let rows = crates.iter().map(|one| {
        let folder = format!("{}/{}/", generate::GENERATED, one.package);
        let of_crate = |paths: &[String]| {
            paths
                .iter()
                .filter(|path| path.starts_with(&folder))
                .count()
        };
        let new = of_crate(&written.written);
        let counts = [new, one.files.len() - new, of_crate(&written.deleted)];
        (one, counts)
    });
    let text = table(rows, start) + &safe_answers(&decisions) + &unconfirmed;
    Ok(CommandOutcome::passed(text))
}

/// Reads the Rust files of a crate, by path below its root.
fn sources(folder: &Path) -> Result<CrateFiles, mcp_revisions_schema::Error> {
    let mut files = CrateFiles::new();
    let mut open = vec!["src".to_owned()];
    while let Some(below) = open.pop() {
        let path = folder.join(&below);
        let unreadable = |cause| mcp_revisions_schema::Error::io("read", &path, cause);
        for entry in std::fs::read_dir(&path).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            let name = format!("{below}/{name}");
            if path.is_dir() {
                open.push(name);
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path);
                let text =
                    text.map_err(|cause| mcp_revisions_schema::Error::io("read", &path, cause))?;
                files.insert(name, text);
            }
        }
    }
    Ok(files)
}

/// Takes no safe answer: every decision is a failure.
fn refuse(decisions: &[Decision]) -> Result<(), mcp_revisions_schema::Error> {
    let refused = decisions.iter().cloned().map(Decision::refused);
    mcp_revisions_schema::Error::check(refused.collect())
}

/// Returns the safe answers that were taken, and how to settle each; empty for none.
fn safe_answers(decisions: &[Decision]) -> String {
    let lines = decisions.iter().map(|decision| format!("{decision}\n"));
    let text: String = lines.collect();
    match decisions.len() {
        0 => text,
        1 => text + "1 decision is open, and was given a safe answer\n",
        many => format!("{text}{many} decisions are open, and were given safe answers\n"),
    }
}

fn alone(
    spec: &Spec,
    schema: &Path,
    out: &Path,
    name: Option<String>,
    strict: bool,
    start: Instant,
) -> anyhow::Result<CommandOutcome> {
    let text = std::fs::read(schema)
        .map_err(|cause| mcp_revisions_schema::Error::io("read", schema, cause))?;
    let sha256 = mcp_revisions_schema::spec::sha256(&text);
    let text = String::from_utf8(text)
        .ok()
        .with_context(|| format!("{} is not UTF-8", schema.display()))?;
    let package = name.map_or_else(|| folder_name(out), Ok)?;
    let wire = relative(out, &root()?.join("runtime/wire"))?;
    let one = generate::alone(
        spec,
        &Alone {
            text: &text,
            file: &schema.display().to_string(),
            package: &package,
            wire: &wire,
            sha256: &sha256,
        },
    )?;
    if strict {
        refuse(&one.decisions)?;
    }
    check_folder(out, &one.files)?;
    let mut files = FileSet::new(vec!["src".to_owned()]);
    let mut beside = Vec::new();
    for (path, text) in &one.files {
        if path.starts_with("src/") {
            files.insert(path.clone(), text.as_bytes())?
        } else {
            beside.push((out.join(path), text))
        }
    }
    std::fs::create_dir_all(out)
        .map_err(|cause| mcp_revisions_schema::Error::io("create", out, cause))?;
    // The manifest comes first: a run that breaks off is completed by the next one.
    for (path, text) in beside {
        mcp_codegen::files::write_file(&path, text.as_bytes())?;
    }
    let written = files.write(out)?;
    let (new, deleted) = (written.written.len(), written.deleted.len());
    let counts = [new, written.unchanged, deleted];
    let text = table([(&one, counts)].into_iter(), start) + &safe_answers(&one.decisions);
    let manifest = out.join("Cargo.toml");
    Ok(CommandOutcome::passed(format!(
        "{text}try it: cargo build --manifest-path {}\n",
        manifest.display()
    )))
}

/// Refuses a folder with files that a user wrote: what is not of the crate is deleted from `src`, and the rest overwritten.
fn check_folder(out: &Path, files: &CrateFiles) -> Result<(), mcp_revisions_schema::Error> {
    let manifest = std::fs::read(out.join("Cargo.toml"));
    if manifest.is_ok_and(|text| text.starts_with(b"# @generated by ")) {
        return Ok(());
    }
    let mut parts = files.keys().filter_map(|path| path.split('/').next());
    let Some(part) = parts.find(|part| out.join(part).exists()) else {
        return Ok(());
    };
    let place = out.display();
    Err(mcp_revisions_schema::Error::usage(
        format!("`{place}` has a `{part}` that no generation wrote; nothing was written"),
        format!("give a new folder with --out, or delete `{part}` from `{place}`"),
    ))
}

/// Returns the way from a folder to another one, so that a crate names no place of the machine that it was made on.
fn relative(from: &Path, to: &Path) -> anyhow::Result<String> {
    std::fs::create_dir_all(from)
        .map_err(|cause| mcp_revisions_schema::Error::io("create", from, cause))?;
    // What is a link counts as what it leads to, as cargo sees it.
    let (from, to) = (from.canonicalize()?, to.canonicalize()?);
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down =
        (to.components().skip(shared)).map(|step| step.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}

fn folder_name(out: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(out)?;
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .map(str::to_owned);
    name.with_context(|| format!("{} has no name: give one with --name", out.display()))
}

/// Returns a line per crate with the numbers of files that were written, unchanged and deleted, and the time that it took.
fn table<'c>(crates: impl Iterator<Item = (&'c Crate, [usize; 3])>, start: Instant) -> String {
    let heading = [
        "crate",
        "types",
        "methods",
        "written",
        "unchanged",
        "deleted",
    ];
    let mut rows = vec![heading.map(str::to_owned)];
    let mut totals = [0; 5];
    let row = |name: String, counts: [usize; 5]| {
        let [types, methods, new, unchanged, deleted] = counts.map(|count| count.to_string());
        [name, types, methods, new, unchanged, deleted]
    };
    for (one, [new, unchanged, deleted]) in crates {
        let counts = [one.types, one.methods, new, unchanged, deleted];
        for (total, count) in totals.iter_mut().zip(counts) {
            *total += count;
        }
        let name = match &one.reexports {
            Some(of) => format!("{} = {of}", one.package),
            None => one.package.clone(),
        };
        rows.push(row(name, counts));
    }
    rows.push(row("total".to_owned(), totals));
    let ms = start.elapsed().as_millis();
    format!("{}in {ms} ms\n", columns(&rows, true))
}
