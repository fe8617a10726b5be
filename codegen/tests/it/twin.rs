//! The spec of this workspace with a draft that is its newest release, whatever the draft of today is.

use std::path::{Path, PathBuf};

use mcp_schema::spec::{Directory, ImportOptions, Spec, Status, Upstream};

fn spec_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

/// The newest release of a spec.
pub(crate) fn newest(spec: &Spec) -> &mcp_schema::Revision {
    let mut revisions = spec.revisions.iter();
    let is_released = |row: &&mcp_schema::Revision| row.status == Status::Released;
    revisions.rfind(is_released).unwrap()
}

/// The directory in memory: the draft is taken out, and the newest release imported in its place.
pub(crate) fn directory() -> Directory {
    let mut directory = Directory::read(&spec_dir()).unwrap();
    let spec = directory.spec().unwrap();
    let status = |wanted| move |row: &&mcp_schema::Revision| row.status == wanted;
    let draft = spec.revisions.iter().find(status(Status::Draft)).unwrap();
    let newest = newest(&spec);
    let options = ImportOptions {
        revision: draft.id.clone(),
        wire: Some(newest.wire.clone()),
        era: Some(newest.era),
        status: Some(Status::Draft),
        from: None,
        after: None,
        source: Some(draft.source.clone()),
        reference: Some(draft.reference.clone()),
    };
    directory.remove(&draft.id).unwrap();
    let schema = Upstream::of_text("newest", &newest.raw.to_string()).unwrap();
    directory.import(&schema, &options).unwrap();
    directory.confirm(&draft.id, &[], true).unwrap();
    directory
}

/// What it says.
pub(crate) fn spec() -> Spec {
    directory().spec().unwrap()
}
