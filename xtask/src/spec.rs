//! `cargo xtask spec`: import, verify and list the schemas in spec/.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use mcp_codegen::generate::Models;
use mcp_codegen::spec::{self, Era, ImportOptions, Imported, Revision, Spec, Status, Verified};

use crate::outcome::Outcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The spec directory [default: spec/ of this workspace]
    #[arg(long, global = true, value_name = "DIR")]
    spec: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Take an upstream schema.json as the schema of a revision
    Import(Import),
    /// Check that every schema is canonical, every erratum applies and every rule matches
    Verify {
        /// Compare with the upstream files DIR/REVISION/schema.json as well
        #[arg(long, value_name = "DIR")]
        upstream: Option<PathBuf>,
    },
    /// List the revisions
    List,
    /// List definitions and members without a doc line
    Docs,
}

#[derive(Args)]
struct Import {
    /// The upstream schema.json
    file: PathBuf,
    /// Which revision it is
    #[arg(long, value_name = "ID")]
    revision: String,
    /// The version string on the wire [default: the id]
    #[arg(long)]
    wire: Option<String>,
    /// handshake or per-request; needed for a new revision
    #[arg(long)]
    era: Option<Era>,
    /// released, candidate or draft; needed for a new revision
    #[arg(long)]
    status: Option<Status>,
    /// The revision that a new one follows [default: the last one, before drafts]
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Path of the file in the specification's repository [default: schema/ID/schema.json]
    #[arg(long, value_name = "PATH")]
    source: Option<String>,
    /// Reference page, {anchor} for a definition in lower case [default: the schema page of ID]
    #[arg(long, value_name = "URL")]
    reference: Option<String>,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let dir = arguments.spec.unwrap_or_else(default_dir);
    match arguments.command {
        Command::Import(import) => {
            let Import {
                file,
                revision,
                wire,
                era,
                status,
                after,
                source,
                reference,
            } = import;
            let options = ImportOptions {
                revision,
                wire,
                era,
                status,
                after,
                source,
                reference,
            };
            let imported = spec::import(&dir, &file, &options)?;
            Ok(Outcome {
                passed: imported.stale.is_none(),
                text: import_text(&imported),
            })
        }
        Command::Verify { upstream } => {
            let verified = spec::verify(&dir, upstream.as_deref())?;
            Ok(Outcome::passed(verify_text(&verified)))
        }
        Command::Docs => docs(&Spec::read(&dir)?),
        Command::List => Ok(Outcome::passed(list_text(&Spec::read(&dir)?))),
    }
}

fn docs(spec: &Spec) -> anyhow::Result<Outcome> {
    let models = Models::build(spec)?;
    let undocumented = models.undocumented();
    mcp_codegen::Error::check(models.docs.unused())?;
    let mut text = String::new();
    let mut missing = 0;
    for (revision, names) in &undocumented {
        missing += names.len();
        for name in names {
            text.push_str(&format!("{revision}: {name} has no line in docs.toml\n"));
        }
    }
    if missing == 0 {
        text.push_str("every definition and member of every revision has a doc line\n");
    } else {
        text.push_str(&format!("{missing} missing\n"));
    }
    Ok(Outcome {
        passed: missing == 0,
        text,
    })
}

/// spec/ of the workspace that this was built in, as seen from the working directory where that is shorter.
pub(crate) fn default_dir() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = package.parent().unwrap_or(package).join("spec");
    let here = std::env::current_dir().ok();
    match here.and_then(|here| dir.strip_prefix(here).map(Path::to_owned).ok()) {
        Some(relative) => relative,
        None => dir,
    }
}

fn import_text(imported: &Imported) -> String {
    let Imported {
        revision,
        added,
        schema_changed,
        definitions,
        sha256,
        errata,
        stale,
    } = imported;
    let what = match (added, schema_changed) {
        (true, _) => "added",
        (false, true) => "schema changed",
        (false, false) => "schema as before",
    };
    let mut text = format!(
        "{revision}: {what}, {definitions} definitions, {errata} errata, sha256 {sha256}\n"
    );
    if let Some(error) = stale {
        text.push_str(&format!(
            "imported, but errata have to be looked at:\n{error}\n"
        ));
    }
    text
}

fn verify_text(verified: &Verified) -> String {
    let Verified {
        revisions,
        errata,
        upstream,
    } = verified;
    let upstream = if *upstream {
        "each equal to its upstream file and digest"
    } else {
        "not compared with upstream: give --upstream DIR for that"
    };
    format!(
        "{} revisions: {}\nschemas canonical, {errata} errata apply, rules match\n{upstream}\n",
        revisions.len(),
        revisions.join(", ")
    )
}

fn list_text(spec: &Spec) -> String {
    let heading = [
        "id",
        "wire",
        "era",
        "status",
        "definitions",
        "errata",
        "sha256",
    ]
    .map(str::to_owned);
    let mut table = vec![heading];
    table.extend(spec.revisions.iter().map(row));
    let mut widths = [0; 7];
    for row in &table {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let mut text = String::new();
    for row in &table {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn row(revision: &Revision) -> [String; 7] {
    [
        revision.id.clone(),
        revision.wire.clone(),
        revision.era.to_string(),
        revision.status.to_string(),
        revision.definitions().count().to_string(),
        revision.errata.len().to_string(),
        revision.sha256.chars().take(12).collect(),
    ]
}
