//! Import and verify on disk, and the spec/ of this workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_schema::spec::{
    Directory, ImportOptions, Lifecycle, Spec, Status, Upstream, import, verify,
};
use mcp_schema::{Error, Revision};

/// A directory of its own for one test, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "mcp-codegen-import-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let dir = std::env::temp_dir().join(name);
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn spec(&self) -> PathBuf {
        self.0.join("spec")
    }

    /// An upstream file of that revision with one definition.
    fn upstream(&self, id: &str, definition: &str) -> PathBuf {
        let path = self.0.join("upstream").join(id).join("schema.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!(
            r#"{{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {{"{definition}": {{"type": "object", "description": "prose"}}}}}}"#
        );
        fs::write(&path, text).unwrap();
        path
    }

    fn list(&self) -> String {
        fs::read_to_string(self.spec().join("revisions.toml")).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        Spec::read(&self.spec())
            .unwrap()
            .revisions
            .into_iter()
            .map(|revision| revision.id)
            .collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn new(id: &str, status: Status) -> ImportOptions {
    ImportOptions {
        revision: id.to_owned(),
        lifecycle: Some(Lifecycle::Handshake),
        status: Some(status),
        ..ImportOptions::default()
    }
}

fn existing(id: &str) -> ImportOptions {
    ImportOptions {
        revision: id.to_owned(),
        ..ImportOptions::default()
    }
}

#[test]
fn new_revisions_find_their_place() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    for (id, status) in [
        ("b", Status::Released),
        ("draft", Status::Draft),
        ("d", Status::Released),
    ] {
        let imported = import(&dir, &scratch.upstream(id, "A"), &new(id, status)).unwrap();
        assert!(imported.added && imported.schema_changed && imported.stale.is_none());
        assert_eq!(imported.definitions, 1);
    }
    assert_eq!(scratch.ids(), ["b", "d", "draft"]);
    let after = ImportOptions {
        after: Some("b".into()),
        wire: Some("d".into()),
        ..new("c", Status::Candidate)
    };
    import(&dir, &scratch.upstream("c", "A"), &after).unwrap();
    assert_eq!(scratch.ids(), ["b", "c", "d", "draft"]);
    assert!(scratch.list().contains(
        "reference = \"https://modelcontextprotocol.io/specification/c/schema#{anchor}\""
    ));
    assert_eq!(
        fs::read_to_string(dir.join("c/schema.json")).unwrap(),
        "{\n  \"$defs\": {\n    \"A\": {\n      \"type\": \"object\"\n    }\n  },\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\"\n}\n"
    );
    let verified = verify(&dir, Some(&scratch.0.join("upstream"))).unwrap();
    assert_eq!(verified.revisions, ["b", "c", "d", "draft"]);
    assert!(verified.upstream);
}

#[test]
fn a_revision_goes_before_a_lone_draft() {
    let scratch = Scratch::new();
    import(
        &scratch.spec(),
        &scratch.upstream("draft", "A"),
        &new("draft", Status::Draft),
    )
    .unwrap();
    import(
        &scratch.spec(),
        &scratch.upstream("a", "A"),
        &new("a", Status::Released),
    )
    .unwrap();
    assert_eq!(scratch.ids(), ["a", "draft"]);
    assert!(
        scratch.list().starts_with("# The revisions"),
        "{}",
        scratch.list()
    );
}

#[test]
fn an_existing_revision_keeps_its_facts_and_comments() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    import(
        &dir,
        &scratch.upstream("a", "A"),
        &new("a", Status::Released),
    )
    .unwrap();
    import(&dir, &scratch.upstream("b", "A"), &new("b", Status::Draft)).unwrap();
    let commented = scratch
        .list()
        .replace("lifecycle =", "# why\nlifecycle =")
        .replace("status = \"draft\"", "status = \"draft\" # still");
    fs::write(dir.join("revisions.toml"), &commented).unwrap();

    let again = import(&dir, &scratch.upstream("a", "A"), &existing("a")).unwrap();
    assert!(!again.added && !again.schema_changed);
    assert_eq!(scratch.list(), commented);

    let before = Spec::read(&dir).unwrap().revisions[0].sha256.clone();
    let changed = import(&dir, &scratch.upstream("a", "Another"), &existing("a")).unwrap();
    assert!(changed.schema_changed && changed.sha256 != before);
    assert_eq!(
        scratch.list(),
        commented.replacen(&before, &changed.sha256, 1)
    );
    assert_eq!(
        Spec::read(&dir).unwrap().revisions[0]
            .definitions()
            .next()
            .unwrap()
            .0,
        "Another"
    );

    for contradicting in [
        ImportOptions {
            status: Some(Status::Draft),
            ..existing("a")
        },
        ImportOptions {
            wire: Some("z".into()),
            ..existing("a")
        },
        ImportOptions {
            after: Some("b".into()),
            ..existing("a")
        },
    ] {
        let error = import(&dir, &scratch.upstream("a", "A"), &contradicting).unwrap_err();
        assert!(error.is_of_the_request(), "{error}");
    }
}

#[test]
fn an_import_that_is_refused_writes_nothing() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    let good = scratch.upstream("a", "A");
    let bad = scratch.0.join("bad.json");
    fs::write(&bad, "{}").unwrap();
    let not_text = scratch.0.join("not-text.json");
    fs::write(&not_text, [0xff, 0xfe]).unwrap();
    for (file, options, expected) in [
        (&bad, new("a", Status::Released), "expected definitions"),
        (&not_text, new("a", Status::Released), "cannot read"),
        (
            &scratch.0.join("absent.json"),
            new("a", Status::Released),
            "cannot read",
        ),
        (
            &good,
            existing("a"),
            "its lifecycle and its status have to be given",
        ),
        (
            &good,
            new("../a", Status::Released),
            "cannot name a revision",
        ),
        (
            &good,
            ImportOptions {
                after: Some("gone".into()),
                ..new("a", Status::Released)
            },
            "no revision `gone`",
        ),
    ] {
        let message = import(&dir, file, &options).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(!dir.exists(), "{message}");
    }
}

#[test]
fn an_import_names_the_errata_that_no_longer_apply() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    import(
        &dir,
        &scratch.upstream("a", "A"),
        &new("a", Status::Released),
    )
    .unwrap();
    let erratum = "[[erratum]]\nid = \"e\"\nreason = \"r\"\nsource = \"s\"\nsince = \"a\"\nat = \"/$defs/A/type\"\nexpect = \"object\"\nreplace = \"array\"\n";
    fs::write(dir.join("errata.toml"), erratum).unwrap();
    assert!(
        import(&dir, &scratch.upstream("a", "A"), &existing("a"))
            .unwrap()
            .stale
            .is_none()
    );
    let imported = import(&dir, &scratch.upstream("a", "B"), &existing("a")).unwrap();
    let stale = imported.stale.unwrap().to_string();
    assert!(
        stale.contains("errata.toml:2: erratum `e` of `a`"),
        "{stale}"
    );
}

#[test]
fn verify_names_everything_that_was_tampered_with() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    let upstream = scratch.0.join("upstream");
    for id in ["a", "b", "c"] {
        import(&dir, &scratch.upstream(id, "A"), &new(id, Status::Released)).unwrap();
    }
    let tamper = |id: &str, from: &str, to: &str| {
        let path = dir.join(id).join("schema.json");
        fs::write(&path, fs::read_to_string(&path).unwrap().replace(from, to)).unwrap();
    };
    tamper("a", "object", "array");
    verify(&dir, None).unwrap();
    let message = verify(&dir, Some(&upstream)).unwrap_err().to_string();
    assert!(
        message.contains("a/schema.json: not the canonical form of"),
        "{message}"
    );
    assert!(
        message.contains("-       \"type\": \"array\"")
            && message.contains("+       \"type\": \"object\""),
        "{message}"
    );

    tamper("b", "  ", " ");
    scratch.upstream("b", "A2");
    fs::remove_file(upstream.join("c/schema.json")).unwrap();
    fs::create_dir(dir.join("extra")).unwrap();
    fs::copy(dir.join("c/schema.json"), dir.join("extra/schema.json")).unwrap();
    let message = verify(&dir, Some(&upstream)).unwrap_err().to_string();
    for expected in [
        "a/schema.json: not the canonical form of",
        "b/schema.json: not in canonical form",
        "b/schema.json: not the file that was imported as revision `b`",
        "sha256 recorded:",
        "revision `c` has no upstream file",
        "extra/schema.json: a schema of a revision that revisions.toml does not list",
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let message = verify(&dir, None).unwrap_err().to_string();
    assert!(
        message.contains("b/schema.json: not in canonical form") && message.contains("extra/"),
        "{message}"
    );
    assert!(!message.contains("spec/a/schema.json"), "{message}");
}

#[test]
fn the_spec_of_this_workspace_holds() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let verified = verify(&dir, None).unwrap();
    assert_eq!(verified.revisions.last().map(String::as_str), Some("draft"));
    let spec = Spec::read(&dir).unwrap();
    let (draft, latest) = (spec.revision("draft").unwrap(), crate::specs::latest(&spec));
    assert_eq!(
        draft.schema == latest.schema,
        draft.raw == latest.raw,
        "the draft and the release it equals need the same errata"
    );
}

#[test]
fn the_spec_of_this_workspace_is_that_of_upstream() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let upstream = here.join("../../shared/upstream");
    if !upstream.is_dir() {
        eprintln!("skipped: no upstream schemas at {}", upstream.display());
        return;
    }
    verify(&here.join("../spec"), Some(&upstream)).unwrap();
}

/// Revisions of a protocol are folders, crates, modules and features; some of these names are taken.
#[test]
fn an_id_that_is_the_name_of_something_else_is_refused() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    let file = scratch.upstream("a", "A");
    for id in [
        "shims", "Shims", "registry", "wire", "fn", "default", "a/b", "..", "a..b", "a.", "",
    ] {
        let message = import(&dir, &file, &new(id, Status::Released)).unwrap_err();
        assert!(
            message.to_string().contains("cannot name a revision"),
            "{id}: {message}"
        );
        assert!(!dir.exists(), "{id}: nothing is written");
    }
    import(&dir, &file, &new("2031-01-01", Status::Released)).unwrap();
}

/// What another command has done since a directory was read is neither undone nor overwritten.
#[test]
fn two_imports_at_once_do_not_delete_each_others_folders() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    import(
        &dir,
        &scratch.upstream("a", "A"),
        &new("a", Status::Released),
    )
    .unwrap();
    let mut late = Directory::read(&dir).unwrap();
    let upstream = Upstream::read(&scratch.upstream("b", "A")).unwrap();
    late.import(&upstream, &new("b", Status::Released)).unwrap();
    import(
        &dir,
        &scratch.upstream("c", "A"),
        &new("c", Status::Released),
    )
    .unwrap();
    let message = late.write(&dir).unwrap_err().to_string();
    assert!(message.contains("another command"), "{message}");
    assert!(message.contains("run the command again"), "{message}");
    assert_eq!(scratch.ids(), ["a", "c"]);
}

/// A command that was interrupted in the middle is finished by running it again.
#[test]
fn an_interrupted_import_is_finished_by_the_next_one() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    import(
        &dir,
        &scratch.upstream("a", "A"),
        &new("a", Status::Released),
    )
    .unwrap();
    fs::write(
        dir.join("errata.toml"),
        "[[erratum]]\nid = \"e\"\nreason = \"r\"\nsource = \"s\"\nsince = \"a\"\nat = \"/$defs/A/type\"\nexpect = \"object\"\nreplace = \"string\"\n",
    )
    .unwrap();
    let upstream = scratch.upstream("b", "B");
    let run = || -> Result<Directory, Error> {
        let mut directory = Directory::read(&dir)?;
        directory.import(&Upstream::read(&upstream)?, &new("b", Status::Released))?;
        directory.write(&dir)?;
        Ok(directory)
    };
    // A folder where a file has to be: the write stops before the list of revisions, which comes last.
    let in_the_way = dir.join("b/schema.json");
    fs::create_dir_all(&in_the_way).unwrap();
    assert!(run().is_err());
    assert_eq!(scratch.ids(), ["a"]);
    fs::remove_dir(&in_the_way).unwrap();
    let whole = run().unwrap();
    assert_eq!(*Directory::read(&dir).unwrap().files(), *whole.files());
    assert_eq!(scratch.ids(), ["a", "b"]);
    let errata = fs::read_to_string(dir.join("errata.toml")).unwrap();
    assert!(
        errata.contains("since = \"a\"\nuntil = \"a\"\n"),
        "{errata}"
    );
}

/// What cannot be read says what to do about it.
#[test]
fn a_file_that_cannot_be_read_says_what_to_do() {
    let scratch = Scratch::new();
    let dir = scratch.spec();
    let file = scratch.upstream("a", "A");
    let text = fs::read(&file).unwrap();
    let said = |bytes: Option<Vec<u8>>| {
        match bytes {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let error = import(&dir, &file, &new("a", Status::Released)).unwrap_err();
        error.to_string()
    };
    let marked = said(Some([b"\xef\xbb\xbf".as_slice(), &text].concat()));
    assert!(marked.contains("save it as UTF-8 without one"), "{marked}");
    let latin = said(Some([&text, b"\xe9".as_slice()].concat()));
    assert!(latin.contains("save the file as UTF-8"), "{latin}");
    let gone = said(None);
    assert!(gone.contains("check the path"), "{gone}");
}

/// Handlers are moved to another revision by whoever moves them, in a change of its own.
#[test]
fn handlers_are_written_in_the_same_revision_when_a_newer_one_is_released() {
    let mut directory = crate::specs::twin_directory();
    let spec = directory.spec().unwrap();
    let handlers = Revision::of_handlers(spec.revisions.iter())
        .unwrap()
        .clone();
    let schema = Upstream::of_text("next", &crate::specs::latest(&spec).raw.to_string()).unwrap();
    let options = ImportOptions {
        revision: "next".to_owned(),
        wire: None,
        lifecycle: Some(handlers.lifecycle),
        status: Some(Status::Released),
        from: None,
        after: None,
        source: None,
        reference: None,
    };
    directory.import(&schema, &options).unwrap();
    let spec = directory.spec().unwrap();
    assert_eq!(crate::specs::latest(&spec).id, "next");
    let generated = mcp_codegen::generate(&spec).unwrap();
    let list = generated
        .files
        .get("generated/mcp-protocol/src/revision.rs");
    let list = String::from_utf8_lossy(list.unwrap());
    let variant = mcp_schema::names::variant(&handlers.id);
    let latest = format!("pub const LATEST: Self = Self::{variant};");
    assert!(list.contains(&latest), "there is no `{latest}`");
    // The next one comes with its feature, as every revision besides.
    assert!(list.contains("#[cfg(feature = \"next\")]"), "{list}");
}
