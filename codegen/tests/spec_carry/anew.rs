//! An import from nothing: every revision of this workspace is removed and imported again.
//!
//! The schemas are those in `../../shared/upstream` where that folder is there. Elsewhere the canonical ones stand in
//! for them: an import of one gives the same facts, but for the digest of the file.

use std::collections::BTreeSet;

use mcp_codegen::Revision;
use mcp_codegen::spec::{Imported, Removed, Spec, sha256};

use super::*;

/// What is said of a revision, before, without and with it once more.
struct Anew {
    before: Directory,
    without: Directory,
    removed: Removed,
    imported: Imported,
    after: Directory,
}

/// Remove a revision, and import it again with the options that its row stands for.
fn anew(id: &str) -> Anew {
    let dir = spec_dir();
    let before = Directory::read(&dir).unwrap();
    let spec = before.spec().unwrap();
    let at = spec
        .revisions
        .iter()
        .position(|revision| revision.id == id)
        .unwrap();
    let row = &spec.revisions[at];
    let mut without = before.clone();
    let removed = without.remove(id).unwrap();
    let mut after = without.clone();
    let options = ImportOptions {
        revision: id.to_owned(),
        wire: Some(row.wire.clone()),
        era: Some(row.era),
        status: Some(row.status),
        from: None,
        after: at
            .checked_sub(1)
            .map(|before| spec.revisions[before].id.clone()),
        source: Some(row.source.clone()),
        reference: Some(row.reference.clone()),
    };
    let imported = after.import(&schema_of(id, &spec), &options).unwrap();
    Anew {
        before,
        without,
        removed,
        imported,
        after,
    }
}

fn upstream_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/upstream")
}

/// The file that was imported as a revision, where it lies beside this checkout; the draft of upstream moves on.
fn imported_file(row: &Revision) -> Option<Upstream> {
    let path = upstream_dir().join(&row.id).join("schema.json");
    let imported = path.is_file()
        && (row.status != Status::Draft || sha256(&std::fs::read(&path).unwrap()) == row.sha256);
    imported.then(|| Upstream::read(&path).unwrap())
}

fn schema_of(id: &str, spec: &Spec) -> Upstream {
    let row = spec.revision(id).unwrap();
    if let Some(imported) = imported_file(row) {
        return imported;
    }
    eprintln!(
        "no upstream schema of {id} beside this checkout: the canonical one stands in for it"
    );
    upstream(&row.raw.to_string())
}

/// Every revision but the oldest, which has none before it to take anything from.
fn later() -> Vec<String> {
    let spec = Spec::read(&spec_dir()).unwrap();
    let ids = spec.revisions.into_iter().map(|revision| revision.id);
    ids.skip(1).collect()
}

#[test]
fn what_is_open_after_an_import_is_what_was_removed() {
    std::thread::scope(|scope| {
        for id in later() {
            scope.spawn(move || {
                let anew = anew(&id);
                leaves_no_trace(&id, &anew.without);
                gives_its_facts_back(&id, &anew);
                is_open_as_removed(&id, &anew);
            });
        }
    });
}

fn leaves_no_trace(id: &str, without: &Directory) {
    let of_revision = format!("{id}/");
    for (name, text) in without.files() {
        assert!(!name.starts_with(&of_revision), "{name}");
        // Rules of conversions may speak of its wire string, which the draft can share.
        if name.starts_with("shims/") {
            continue;
        }
        let list = name == "revisions.toml";
        for entry in text.lines().filter(|line| !line.starts_with('#')) {
            let named =
                entry.contains(&format!("\"{id}\"")) || entry.contains(&format!("revisions.{id}"));
            // Another revision may go by its wire string, and remembers whose facts it took over.
            let remembers = name.ends_with("/carried.toml") && entry.starts_with("from = ");
            assert!(
                !named || remembers || list && entry.starts_with("wire"),
                "{id} in {name}: {entry}"
            );
        }
    }
    without.spec().unwrap();
}

fn gives_its_facts_back(id: &str, anew: &Anew) {
    let Anew {
        before,
        imported,
        after,
        ..
    } = anew;
    assert!(
        imported.added && imported.stale.is_none(),
        "{id}: {:?}",
        imported.stale
    );
    for name in ["revisions.toml".to_owned(), format!("{id}/schema.json")] {
        // Without the upstream file there is no digest of it.
        let row = before.spec().unwrap().revision(id).unwrap().clone();
        if name == "revisions.toml" && imported_file(&row).is_none() {
            continue;
        }
        assert_eq!(
            after.files().get(&name),
            before.files().get(&name),
            "{id}: {name}"
        );
    }
    // Nothing is said that was not said before, unless it is on the list of what is to be confirmed.
    let open: BTreeSet<&str> = imported.carried.iter().map(Fact::as_str).collect();
    for fact in facts(after, id).difference(&facts(before, id)) {
        assert!(open.contains(fact.as_str()), "{id}: {fact}");
    }
}

/// Each fact that was removed is to be confirmed, or is not said any more.
fn is_open_as_removed(id: &str, anew: &Anew) {
    let Anew {
        removed,
        imported,
        after,
        ..
    } = anew;
    let open: BTreeSet<&str> = imported.carried.iter().map(Fact::as_str).collect();
    let stands = facts(after, id);
    for fact in &removed.facts {
        assert!(
            open.contains(fact.as_str()) || !stands.contains(fact.as_str()),
            "{id}: {fact}"
        );
    }
}

/// What is said of a revision.
fn facts(directory: &Directory, id: &str) -> BTreeSet<String> {
    let facts = directory.facts(id).unwrap();
    facts.into_iter().map(|fact| fact.to_string()).collect()
}

#[test]
fn a_release_that_the_draft_equals_comes_back_byte_for_byte() {
    let spec = Spec::read(&spec_dir()).unwrap();
    let draft = spec.revisions.last().unwrap();
    let twin = spec
        .revisions
        .iter()
        .find(|other| other.raw == draft.raw && other.id != draft.id);
    let Some(twin) = twin.filter(|_| upstream_dir().is_dir()) else {
        eprintln!(
            "skipped: the draft is no release, or there are no upstream schemas beside this checkout"
        );
        return;
    };
    let Anew {
        before,
        imported,
        mut after,
        ..
    } = anew(&twin.id);
    assert!(!imported.carried.is_empty());
    after.confirm(&twin.id, &[], true).unwrap();
    for (name, text) in before.files() {
        assert_eq!(after.files().get(name), Some(text), "{name}");
    }
    assert_eq!(after.files().len(), before.files().len());
}

/// What people say of a revision is theirs; all else is written again as it was, and nothing lies about besides.
#[test]
fn every_release_comes_back_byte_for_byte_once_its_decisions_are_restored() {
    let spec = Spec::read(&spec_dir()).unwrap();
    let released = |id: &String| spec.revision(id).unwrap().status == Status::Released;
    let whole = upstream_dir().is_dir();
    std::thread::scope(|scope| {
        for id in later().into_iter().filter(released) {
            scope.spawn(move || {
                let Anew {
                    before, mut after, ..
                } = anew(&id);
                after.confirm(&id, &[], true).unwrap();
                let mut restored = after.files().clone();
                for (name, text) in before.files() {
                    let written = name.ends_with("/schema.json") || name == "revisions.toml";
                    // Without the upstream file there is no digest of it.
                    if !written || (name == "revisions.toml" && !whole) {
                        restored.insert(name.clone(), text.clone());
                    }
                }
                for (name, text) in &restored {
                    assert_eq!(before.files().get(name), Some(text), "{id}: {name}");
                }
                assert_eq!(restored.len(), before.files().len(), "{id}");
            });
        }
    });
}
