//! What must hold of diffs: laws, kinds, witnesses, formats, settings, hostile input.

mod compared;
mod drift;
mod formats;
mod golden;
mod hostile;
mod kinds;
mod laws;
mod locks;
mod oracle;
mod page;
mod places;
mod rules;
mod settings;
mod witnesses;

use mcp_revisions_schema::sorted::SortedMap;
use std::sync::OnceLock;

use mcp_revisions_diff::{ChangeKind, ComparedSide, Diff, DiffRow, SideSources, between, compare};
use serde_json::Value;

use crate::specs::{self, spec};

pub(crate) fn sources() -> &'static SideSources<'static> {
    static SOURCES: OnceLock<SideSources<'static>> = OnceLock::new();
    SOURCES.get_or_init(|| SideSources::read(spec()).unwrap())
}

/// The sides of all revisions, with errata.
fn sides() -> &'static [ComparedSide] {
    static SIDES: OnceLock<Vec<ComparedSide>> = OnceLock::new();
    SIDES.get_or_init(|| {
        let open = |revision: &mcp_revisions_schema::Revision| {
            sources().of_revision(revision, false).unwrap()
        };
        spec().revisions.iter().map(open).collect()
    })
}

/// The id of the latest release.
fn latest() -> &'static str {
    &specs::latest(spec()).id
}

fn side(id: &str) -> &'static ComparedSide {
    sides().iter().find(|side| side.label == id).unwrap()
}

/// The raw schema of a revision, to be changed.
fn schema(id: &str) -> Value {
    spec().revision(id).unwrap().raw.clone()
}

/// A side that is given as the text of a file; `raw` leaves out its errata.
pub(crate) fn opened(name: &str, schema: &Value, raw: bool) -> ComparedSide {
    let text = schema.to_string();
    sources().of_text(name, &text, raw).unwrap()
}

/// The diff of two schemas, given as the texts of files.
fn diff_of(old: &Value, new: &Value) -> Diff {
    let [old, new] =
        [("old.json", old), ("new.json", new)].map(|(name, it)| opened(name, it, false));
    compare(&old, &new)
}

fn kinds_of(diff: &Diff) -> Vec<ChangeKind> {
    let mut kinds: Vec<ChangeKind> = diff.rows.iter().map(|row| row.kind).collect();
    kinds.dedup();
    kinds
}

/// The kinds that undo each other, whichever of two additions it was; every other one undoes itself.
const OPPOSITES: &[(ChangeKind, ChangeKind)] = &[
    (ChangeKind::MethodAdded, ChangeKind::MethodRemoved),
    (ChangeKind::ResultAdded, ChangeKind::ResultRemoved),
    (ChangeKind::MemberAddedOptional, ChangeKind::MemberRemoved),
    (ChangeKind::MemberAddedRequired, ChangeKind::MemberRemoved),
    (ChangeKind::BecameRequired, ChangeKind::BecameOptional),
    (ChangeKind::TypeWidened, ChangeKind::TypeNarrowed),
    (ChangeKind::UnionMemberAdded, ChangeKind::UnionMemberRemoved),
    (ChangeKind::EnumValueAdded, ChangeKind::EnumValueRemoved),
    (ChangeKind::Deprecated, ChangeKind::Undeprecated),
    (ChangeKind::ErrorCodeAdded, ChangeKind::ErrorCodeRemoved),
    (ChangeKind::HeaderAdded, ChangeKind::HeaderRemoved),
    (ChangeKind::RuleAdded, ChangeKind::RuleRemoved),
];

/// Whether a change of one kind undoes one of another.
fn undoes(one: ChangeKind, other: ChangeKind) -> bool {
    let of = |kind: ChangeKind| {
        OPPOSITES
            .iter()
            .filter(move |(a, b)| [a, b].contains(&&kind))
    };
    match of(one).next() {
        None => one == other,
        Some(_) => OPPOSITES.contains(&(one, other)) || OPPOSITES.contains(&(other, one)),
    }
}

/// The diff of two revisions.
fn diff(old: &str, new: &str) -> Diff {
    between(sources(), old, new, false).unwrap()
}

/// The row of a wire path.
pub(crate) fn row_at<'d>(diff: &'d Diff, path: &str) -> &'d DiffRow {
    let has = |row: &&DiffRow| row.paths.iter().any(|is| is.to_string() == path);
    let paths = || diff.rows.iter().map(|row| &row.paths).collect::<Vec<_>>();
    let row = diff.rows.iter().find(has);
    row.unwrap_or_else(|| panic!("no row at {path}: {:?}", paths()))
}

/// How many rows of a diff are so.
fn count(diff: &Diff, is: impl Fn(&DiffRow) -> bool) -> usize {
    diff.rows.iter().filter(|row| is(row)).count()
}

/// The row of that path in a diff whose rows are all of one kind.
fn only_row<'d>(diff: &'d Diff, kind: ChangeKind, path: &str) -> &'d DiffRow {
    assert_eq!(kinds_of(diff), [kind], "{:#?}", diff.rows);
    row_at(diff, path)
}

/// The release that the draft is in [`spec_files`].
const TWIN: &str = "2026-07-28";

/// The files of spec/ with a draft that is [`TWIN`], to be changed.
fn spec_files() -> SortedMap<String, String> {
    let mut files = specs::twin_directory_of(TWIN).files().clone();
    // Diffs are told here without the conversions.
    files.retain(|name, _| !name.starts_with("shims/"));
    files
}

/// The diff of the latest release to a draft that is the same.
fn of_twins() -> Diff {
    let spec = specs::twin();
    between(&SideSources::read(&spec).unwrap(), latest(), "draft", false).unwrap()
}
