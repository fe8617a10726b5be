//! The spec of this workspace, read once, and the same with a draft that is its latest release: independent of the
//! draft of today.

use mcp_revisions_schema::sorted::SortedMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use mcp_codegen::generate::{Generated, generate};
use mcp_codegen::import::{ImportOptions, SpecDirectory, UpstreamFile};
use mcp_revisions_diff::{ChangeKind, SideSources, between};
use mcp_revisions_plans::{PairPlan, cover};
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::spec::{RevisionStage, Spec};
use mcp_revisions_schema::{Error, Models, Revision};

use crate::workspace::repository;

static DIRECTORY: LazyLock<SpecDirectory> =
    LazyLock::new(|| SpecDirectory::read(&spec_dir()).unwrap());
static SPEC: LazyLock<Spec> = LazyLock::new(|| DIRECTORY.spec().unwrap());
static TWIN: LazyLock<Spec> = LazyLock::new(|| twin_directory().spec().unwrap());
static MODELS: LazyLock<Models<'static>> = LazyLock::new(|| Models::build(&SPEC).unwrap());
static PLANS: LazyLock<Vec<PairPlan>> =
    LazyLock::new(|| mcp_revisions_plans::plan_shims(&MODELS, &SPEC).unwrap());
static GENERATED: LazyLock<Generated> = LazyLock::new(|| generate(&SPEC).unwrap());
static GENERATED_TWIN: LazyLock<Generated> = LazyLock::new(|| generate(&TWIN).unwrap());
static TWINS: Mutex<SortedMap<String, SpecDirectory>> = Mutex::new(SortedMap::new());

fn spec_dir() -> PathBuf {
    repository().join("spec")
}

/// Files by path, as a spec is read from memory.
pub(crate) fn files(texts: &[(&str, &str)]) -> SortedMap<String, String> {
    let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    texts.iter().map(own).collect()
}

/// The directory as it stands.
pub(crate) fn directory() -> SpecDirectory {
    DIRECTORY.clone()
}

/// What it says.
pub(crate) fn spec() -> &'static Spec {
    &SPEC
}

/// Its models.
pub(crate) fn models() -> &'static Models<'static> {
    &MODELS
}

/// What the generator makes of it.
pub(crate) fn generated() -> &'static Generated {
    &GENERATED
}

/// What is planned between it and the revisions beside it, and between its extensions and their cores.
pub(crate) fn plans() -> &'static [PairPlan] {
    &PLANS
}

/// The list of revisions of a made-up spec, all released.
pub(crate) fn released(ids: &[&str]) -> String {
    let row = |id: &&str| {
        format!(
            "[[revision]]\nid = \"{id}\"\nlifecycle = \"per-request\"\nstatus = \"released\"\nreference = \"https://example.com/core#{{anchor}}\"\n"
        )
    };
    ids.iter().map(row).collect()
}

/// The latest release of a spec.
pub(crate) fn latest(spec: &Spec) -> &Revision {
    let mut revisions = spec.revisions.iter();
    let is_released = |row: &&Revision| row.status == RevisionStage::Released;
    revisions.rfind(is_released).unwrap()
}

/// The latest release of a spec and its draft.
pub(crate) fn last_pair(spec: &Spec) -> RevisionPair {
    RevisionPair::new(latest(spec).id.clone(), "draft")
}

/// What is planned between these two by rules.
pub(crate) fn planned_by(spec: &Spec, rules: &str) -> Result<PairPlan, Error> {
    let pair = last_pair(spec);
    let file = RuleFile::new(format!("spec/{}", pair.file()), rules);
    mcp_revisions_plans::plan_pair(&Models::build(spec)?, &pair, file)
}

/// The same, if no rule speaks of it.
pub(crate) fn planned(spec: &Spec) -> PairPlan {
    planned_by(spec, "").unwrap()
}

/// What covers the rows of a kind between them.
pub(crate) fn covered(spec: &Spec, plan: &PairPlan, kind: ChangeKind) -> Vec<String> {
    let sources = SideSources::read(spec).unwrap();
    let diff = between(&sources, &plan.pair.old, &plan.pair.new, false).unwrap();
    let rows = diff.rows.iter().filter(|row| row.kind == kind);
    rows.flat_map(|row| cover(row, plan)).collect()
}

/// Proposed rows with what they ask of a person filled in.
pub(crate) fn filled(rows: &str) -> String {
    rows.replace("reason = \"\"", "reason = \"x\"")
        .replace("source = \"\"", "source = \"x\"")
        .replace("input = ''", "input = '{}'")
        .replace("output = ''", "output = '{}'")
        .replace("{ default = {} }", "{ default = \"x\" }")
        .replace("{ implied = {} }", "{ implied = \"x\" }")
}

/// The directory in memory: the latest release is imported as the draft.
pub(crate) fn twin_directory() -> SpecDirectory {
    twin_directory_of(&latest(spec()).id)
}

/// The same with that revision in the place of the draft.
pub(crate) fn twin_directory_of(id: &str) -> SpecDirectory {
    let mut twins = TWINS.lock().unwrap_or_else(PoisonError::into_inner);
    let twin = twins.entry(id.to_owned());
    twin.or_insert_with(|| made_of(id)).clone()
}

/// What the directory with the latest release for its draft says.
pub(crate) fn twin() -> Spec {
    TWIN.clone()
}

/// What the generator makes of that.
pub(crate) fn generated_twin() -> &'static Generated {
    &GENERATED_TWIN
}

fn made_of(id: &str) -> SpecDirectory {
    let mut directory = directory();
    let is_draft = |row: &&Revision| row.status == RevisionStage::Draft;
    let draft = spec().revisions.iter().find(is_draft).unwrap();
    let twin = spec().revision(id).unwrap();
    let options = ImportOptions {
        revision: draft.id.clone(),
        wire: Some(twin.wire.clone()),
        lifecycle: Some(twin.lifecycle),
        ..ImportOptions::default()
    };
    let schema = UpstreamFile::of_text("twin", &twin.raw.to_string()).unwrap();
    directory.import(&schema, &options).unwrap();
    directory
}
