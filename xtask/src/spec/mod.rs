//! `cargo xtask spec`: import, verify and list the schemas in spec/.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use mcp_codegen::import::{
    ExtensionOptions, ImportOptions, Left, SpecDirectory, SpecGaps, UpstreamFile, Verified,
};
use mcp_revisions_plans::rules::PairRules;
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::sorted::SortedSet;
use mcp_revisions_schema::spec::extensions::{ExtensionStage, SignInExtension, stage_named};
use mcp_revisions_schema::spec::{
    ExtensionSpec, Lifecycle, Revision, RevisionStage, Spec, canonical,
};
use mcp_revisions_schema::{Error, Models, Undocumented};

use crate::tally::columns;
use crate::workspace::spec_dir;
use mcp_revisions_diff::command::CommandOutcome;

pub(crate) mod errata;
mod told;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The spec directory [default: spec/ of this workspace]
    #[arg(long, global = true, value_name = "DIR")]
    spec: Option<PathBuf>,
    #[command(subcommand)]
    command: SpecCommand,
}

#[derive(Subcommand)]
enum SpecCommand {
    /// Import an upstream schema.json as the schema of a revision or of an extension
    Import(Import),
    /// Check that every schema is canonical, every erratum applies and every rule matches
    Verify {
        /// Compare with the upstream files DIR/REVISION/schema.json as well
        #[arg(long, value_name = "DIR")]
        upstream: Option<PathBuf>,
    },
    /// Confirm facts of an imported revision, or, with --drop, end them before it
    Confirm {
        /// Id of the revision
        revision: String,
        /// Names of facts, as `spec confirm REVISION` lists them [default: list them]
        #[arg(value_name = "FACT", conflicts_with = "all")]
        facts: Vec<String>,
        /// Confirm or end all of them
        #[arg(long)]
        all: bool,
        /// End the facts with the revision before
        #[arg(long)]
        drop: bool,
    },
    /// List the revisions and the extensions
    List,
    /// List definitions and members without a doc line
    Docs,
    /// List the errata of a revision or an extension, or print them as a JSON Patch
    Errata(errata::Arguments),
}

#[derive(Args)]
struct Import {
    /// Path of the upstream schema.json
    file: PathBuf,
    /// Id of the revision; with --extension, of the one that it rests on [default then: the one that handlers are written in]
    #[arg(long, value_name = "ID", required_unless_present = "extension")]
    revision: Option<String>,
    /// Name of the extension, with the id of its state [default: the last state, of a new extension the id of the revision]
    #[arg(long, value_name = "NAME[@STATE]", conflicts_with_all = ["wire", "lifecycle", "from", "after"])]
    extension: Option<String>,
    /// Identifier by which peers declare the extension; needed for a new one
    #[arg(long, value_name = "PREFIX/NAME", requires = "extension")]
    identifier: Option<String>,
    /// Protocol version on the wire [default: the id]
    #[arg(long)]
    wire: Option<String>,
    /// Lifecycle: handshake or per-request; needed for a new revision
    #[arg(long)]
    lifecycle: Option<Lifecycle>,
    /// Status: released, candidate or draft; needed for a new revision [default of an extension's state: draft if it is called so, else
    /// released]
    #[arg(long)]
    status: Option<RevisionStage>,
    /// Stage of an extension's new state: experimental, beta or stable [default: the folder of that name in --source or --reference]
    #[arg(long, requires = "extension", value_parser = stage)]
    stage: Option<ExtensionStage>,
    /// Draft that a new revision was: facts that begin with the draft begin with the revision [default: the draft if it has the same schema]
    #[arg(long, value_name = "ID")]
    from: Option<String>,
    /// Write a stub into spec/ for each open question
    #[arg(long)]
    scaffold: bool,
    /// Revision that a new one follows [default: the last one, before drafts]
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Path of the file in the specification's repository [default: schema/ID/schema.json, of an extension schema/schema.json]
    #[arg(long, value_name = "PATH")]
    source: Option<String>,
    /// Remove answers that the schema has no use for, even if they are not committed
    #[arg(long)]
    drop_answers: bool,
    /// Reference page, {anchor} for a definition in lower case [default: the schema page of ID, of an extension its overview]
    #[arg(long, value_name = "URL")]
    reference: Option<String>,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<CommandOutcome> {
    let dir = arguments.spec.map_or_else(spec_dir, Ok)?;
    match arguments.command {
        SpecCommand::Import(import) => {
            let upstream = match import.extension {
                Some(_) => UpstreamFile::read_extension(&import.file)?,
                None => UpstreamFile::read(&import.file)?,
            };
            let mut directory = SpecDirectory::read(&dir)?;
            let name = import.extension.as_ref();
            let folder = name.and_then(|name| name.split('@').next().map(str::to_owned));
            let (text, stands) = match import.extension {
                Some(name) => {
                    let options = ExtensionOptions {
                        name,
                        status: import.status,
                        stage: import.stage,
                        identifier: import.identifier,
                        revision: import.revision,
                        source: import.source,
                        reference: import.reference,
                    };
                    let imported = directory.import_extension(&upstream, &options)?;
                    let text = told::imported_extension(&imported);
                    (text, imported.stale.is_none())
                }
                None => {
                    let options = ImportOptions {
                        revision: import.revision.unwrap_or_default(),
                        wire: import.wire,
                        lifecycle: import.lifecycle,
                        status: import.status,
                        from: import.from,
                        after: import.after,
                        source: import.source,
                        reference: import.reference,
                    };
                    let imported = directory.import(&upstream, &options)?;
                    if !import.drop_answers {
                        refuse_uncommitted(&dir, &imported.left)?;
                    }
                    (told::imported(&imported), imported.stale.is_none())
                }
            };
            let stubs = Stubs {
                are_written: import.scaffold,
                extension: folder,
            };
            ends(&mut directory, &dir, text, stands, &stubs)
        }
        SpecCommand::Confirm {
            revision,
            facts,
            all,
            drop,
        } => {
            let mut directory = SpecDirectory::read(&dir)?;
            if facts.is_empty() && !all {
                let open = directory.unconfirmed(&revision)?;
                return Ok(CommandOutcome::passed(told::unconfirmed(&revision, &open)));
            }
            let settled = directory.confirm(&revision, &facts, !drop)?;
            directory.write(&dir)?;
            let left = directory.unconfirmed(&revision)?.len();
            Ok(CommandOutcome::passed(told::confirmed(
                &settled, drop, left,
            )))
        }
        SpecCommand::Verify { upstream } => {
            let verified = mcp_codegen::import::verify(&dir, upstream.as_deref())?;
            // Whether rules match is what the generator finds out.
            let spec = Spec::read(&dir)?;
            mcp_codegen::generate::generate(&spec)?;
            // The rules are read with their examples, which a first generation does without.
            let files = (spec.rules.iter()).filter(|(name, _)| RevisionPair::is_rule_file(name));
            let read = files.map(|(_, file)| PairRules::read(file.clone()));
            Error::check(read.filter_map(Result::err).collect())?;
            Ok(CommandOutcome::passed(verify_text(&verified)))
        }
        SpecCommand::Docs => docs(&Spec::read(&dir)?),
        SpecCommand::Errata(of) => errata::run(&of, &Spec::read(&dir)?),
        SpecCommand::List => Ok(CommandOutcome::passed(list_text(&Spec::read(&dir)?)?)),
    }
}

/// Refuses to take answers out of files whose state is committed nowhere: they would be gone.
fn refuse_uncommitted(dir: &Path, left: &[Left]) -> anyhow::Result<()> {
    let of_files = left.iter().filter_map(|one| one.fact.split_once(".toml: "));
    let files: SortedSet<String> = of_files.map(|(file, _)| format!("{file}.toml")).collect();
    if files.is_empty() {
        return Ok(());
    }
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(dir).args(["status", "--porcelain", "--"]);
    let Ok(said) = git.args(&files).output() else {
        return Ok(());
    };
    let changed = String::from_utf8_lossy(&said.stdout);
    if !said.status.success() || changed.trim().is_empty() {
        return Ok(());
    }
    let gone: Vec<String> = left.iter().map(|one| format!("\n  {}", one.fact)).collect();
    let problem = format!(
        "answers that the schema has no use for would go, and are committed nowhere:{}",
        gone.concat()
    );
    let help = "commit spec/ first, or say --drop-answers";
    Err(Error::usage(problem, help).into())
}

/// Which stubs an import writes.
struct Stubs {
    are_written: bool,
    /// The extension in whose folder they all lie, if one is imported.
    extension: Option<String>,
}

/// Lists the questions that an import leaves open, writes stubs for them if they are wanted, and writes the directory.
fn ends(
    directory: &mut SpecDirectory,
    dir: &Path,
    mut text: String,
    stands: bool,
    stubs: &Stubs,
) -> anyhow::Result<CommandOutcome> {
    // With errata or facts that do not hold, nothing more can be said of it.
    let mut passed = stands;
    if stands {
        let open = SpecGaps::of(&directory.spec()?);
        passed = open.problems.is_empty();
        let open = match &stubs.extension {
            Some(name) => open.of_extension(name),
            None => open,
        };
        text.push_str(&told::open(&open));
        if stubs.are_written {
            text.push_str(&told::scaffolded(&directory.scaffold(&open)?));
        }
    }
    directory.write(dir)?;
    Ok(CommandOutcome { passed, text })
}

fn docs(spec: &Spec) -> anyhow::Result<CommandOutcome> {
    let models = Models::build(spec)?;
    let undocumented = models.undocumented();
    Error::check(models.unused_docs())?;
    let mut text = String::new();
    let (mut of_others, mut of_drafts) = (0, 0);
    for one in undocumented {
        let Undocumented { of, file, missing } = &one;
        // What a draft adds may go again: its lines are asked for, and insisted on once it is released.
        match spec.revision(of).map(|revision| revision.status) {
            Ok(RevisionStage::Draft) => of_drafts += missing.len(),
            _ => of_others += missing.len(),
        }
        for name in one.names() {
            text.push_str(&format!("{of}: {name} has no line in {file}\n"));
        }
    }
    if of_drafts > 0 {
        text.push_str(&format!("{of_drafts} missing in drafts\n"));
    }
    text += &match of_others {
        0 => "every definition and member of every revision and extension has a doc line\n"
            .to_owned(),
        _ => format!("{of_others} missing\n"),
    };
    Ok(CommandOutcome {
        passed: of_others == 0,
        text,
    })
}

/// Lists the revisions with facts that are not confirmed, one per line.
pub(crate) fn unconfirmed(dir: &Path, spec: &Spec) -> anyhow::Result<String> {
    let directory = SpecDirectory::read(dir)?;
    let mut text = String::new();
    for Revision { id, .. } in &spec.revisions {
        let open = directory.unconfirmed(id)?.len();
        if open > 0 {
            text.push_str(&format!(
                "{open} facts hold for {id} and are not confirmed: cargo xtask spec confirm {id}\n"
            ));
        }
    }
    Ok(text)
}

fn verify_text(verified: &Verified) -> String {
    let upstream = match (verified.upstream, verified.moved_on.as_slice()) {
        (false, _) => "not compared with upstream: give --upstream DIR for that".to_owned(),
        (true, []) => "each equal to its upstream file and digest".to_owned(),
        (true, drafts) => format!(
            "each equal to its upstream file and digest, but for {}: upstream has another file by now, or none",
            drafts.join(", ")
        ),
    };
    let extensions = match verified.extensions.as_slice() {
        [] => String::new(),
        [name] => format!("1 extension: {name}\n"),
        names => format!("{} extensions: {}\n", names.len(), names.join(", ")),
    };
    let (revisions, errata) = (&verified.revisions, verified.errata);
    format!(
        "{} revisions: {}\n{extensions}schemas canonical, {errata} errata apply, rules match\n{upstream}\n",
        revisions.len(),
        revisions.join(", ")
    )
}

fn list_text(spec: &Spec) -> Result<String, Error> {
    let heading = [
        "id",
        "wire",
        "lifecycle",
        "status",
        "definitions",
        "errata",
        "sha256",
    ]
    .map(str::to_owned);
    let mut table = vec![heading];
    table.extend(spec.revisions.iter().map(row));
    table.extend(spec.extensions.iter().map(|of| extension_row(of, spec)));
    table.extend(SignInExtension::read(spec)?.into_iter().map(|of| {
        let status = format!("extension, sign-in, {}", of.stage);
        let [none, nothing, rest, last, end] = [const { String::new() }; 5];
        [of.name, none, nothing, status, rest, last, end]
    }));
    Ok(columns(&table, false))
}

/// Reads the name of a stage.
fn stage(word: &str) -> Result<ExtensionStage, String> {
    let known = ExtensionStage::ALL.map(ExtensionStage::as_str).join(", ");
    stage_named(word).ok_or_else(|| format!("one of {known}"))
}

fn row(revision: &Revision) -> [String; 7] {
    [
        revision.id.clone(),
        revision.wire.clone(),
        revision.lifecycle.to_string(),
        revision.status.to_string(),
        revision.definitions().count().to_string(),
        revision.errata.len().to_string(),
        revision.sha256.chars().take(12).collect(),
    ]
}

/// Lists an extension with what it has from the revision that it rests on.
fn extension_row(extension: &ExtensionSpec, spec: &Spec) -> [String; 7] {
    let base = spec.revision(&extension.revision);
    let lifecycle = base.map_or_else(|_| String::new(), |base| base.lifecycle.to_string());
    [
        extension.name.clone(),
        extension.revision.clone(),
        lifecycle,
        {
            let stage = (extension.stage).map_or_else(String::new, |stage| format!(", {stage}"));
            let ours = (extension.written_from)
                .as_ref()
                .map_or("", |_| ", schema of ours");
            format!("extension, {}{stage}{ours}", extension.status())
        },
        canonical::definitions(&extension.raw).count().to_string(),
        extension.errata.len().to_string(),
        extension.sha256.chars().take(12).collect(),
    ]
}
