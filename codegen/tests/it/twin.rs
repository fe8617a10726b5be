//! The spec of this workspace with a draft that is its latest release, independent of the draft of today.

use std::path::{Path, PathBuf};

use mcp_schema::spec::{Directory, ImportOptions, Spec, Status, Upstream};

fn spec_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

/// The latest release of a spec.
pub(crate) fn latest(spec: &Spec) -> &mcp_schema::Revision {
    let mut revisions = spec.revisions.iter();
    let is_released = |row: &&mcp_schema::Revision| row.status == Status::Released;
    revisions.rfind(is_released).unwrap()
}

/// The directory in memory: the draft is taken out, and the latest release imported in its place.
pub(crate) fn directory() -> Directory {
    let spec = Directory::read(&spec_dir()).unwrap().spec().unwrap();
    directory_of(&latest(&spec).id)
}

/// The same with that revision in the place of the draft.
pub(crate) fn directory_of(id: &str) -> Directory {
    let mut directory = Directory::read(&spec_dir()).unwrap();
    let spec = directory.spec().unwrap();
    let is_draft = |row: &&mcp_schema::Revision| row.status == Status::Draft;
    let draft = spec.revisions.iter().find(is_draft).unwrap();
    let twin = spec.revision(id).unwrap();
    let options = ImportOptions {
        revision: draft.id.clone(),
        wire: Some(twin.wire.clone()),
        lifecycle: Some(twin.lifecycle),
        status: Some(Status::Draft),
        from: None,
        after: None,
        source: Some(draft.source.clone()),
        reference: Some(draft.reference.clone()),
    };
    directory.remove(&draft.id).unwrap();
    let schema = Upstream::of_text("twin", &twin.raw.to_string()).unwrap();
    directory.import(&schema, &options).unwrap();
    directory
}

/// What it says.
pub(crate) fn spec() -> Spec {
    directory().spec().unwrap()
}
