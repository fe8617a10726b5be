//! Import and verify on disk, and the spec/ of this workspace.

use crate::says;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::import::{
    ExtensionOptions, ImportOptions, Imported, SpecDirectory, UpstreamFile, verify,
};
use mcp_revisions_schema::spec::{Lifecycle, RevisionStage, Spec};
use mcp_revisions_schema::{Error, Revision};

use crate::scratch::Scratch;

/// A spec directory, and upstream files beside it.
struct Disk(Scratch);

impl Disk {
    fn new() -> Self {
        Self(Scratch::new())
    }

    fn spec(&self) -> PathBuf {
        self.0.0.join("spec")
    }

    /// An upstream file of that revision with one definition.
    fn upstream(&self, id: &str, definition: &str) -> PathBuf {
        let text = format!(
            r#"{{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {{"{definition}": {{"type": "object", "description": "prose"}}}}}}"#
        );
        self.0.put(&format!("upstream/{id}/schema.json"), text)
    }

    /// Imports such a file.
    fn import(&self, definition: &str, options: &ImportOptions) -> Result<Imported, Error> {
        let file = self.upstream(&options.revision, definition);
        import(&self.spec(), &file, options)
    }

    fn list(&self) -> String {
        self.0.get("spec/revisions.toml").unwrap()
    }

    fn ids(&self) -> Vec<String> {
        let spec = Spec::read(&self.spec()).unwrap();
        spec.revisions.into_iter().map(|one| one.id).collect()
    }
}

/// Does what `cargo xtask spec import` does: a refused import writes nothing.
fn import(dir: &Path, file: &Path, options: &ImportOptions) -> Result<Imported, Error> {
    let mut directory = SpecDirectory::read(dir)?;
    let imported = directory.import(&UpstreamFile::read(file)?, options)?;
    directory.write(dir)?;
    Ok(imported)
}

fn new(id: &str, status: RevisionStage) -> ImportOptions {
    ImportOptions {
        revision: id.to_owned(),
        lifecycle: Some(Lifecycle::Handshake),
        status: Some(status),
        ..ImportOptions::default()
    }
}

fn released(id: &str) -> ImportOptions {
    new(id, RevisionStage::Released)
}

fn existing(id: &str) -> ImportOptions {
    ImportOptions {
        revision: id.to_owned(),
        ..ImportOptions::default()
    }
}

#[test]
fn new_revisions_find_their_place() {
    let disk = Disk::new();
    let dir = disk.spec();
    for (id, status) in [
        ("b", RevisionStage::Released),
        ("draft", RevisionStage::Draft),
        ("d", RevisionStage::Released),
    ] {
        let imported = disk.import("A", &new(id, status)).unwrap();
        assert!(imported.added && imported.schema_changed && imported.stale.is_none());
        assert_eq!(imported.definitions, 1);
    }
    assert_eq!(disk.ids(), ["b", "d", "draft"]);
    let after = ImportOptions {
        after: Some("b".into()),
        wire: Some("d".into()),
        ..new("c", RevisionStage::Candidate)
    };
    disk.import("A", &after).unwrap();
    assert_eq!(disk.ids(), ["b", "c", "d", "draft"]);
    assert!(disk.list().contains(
        "reference = \"https://modelcontextprotocol.io/specification/c/schema#{anchor}\""
    ));
    assert_eq!(
        fs::read_to_string(dir.join("c/schema.json")).unwrap(),
        "{\n  \"$defs\": {\n    \"A\": {\n      \"type\": \"object\"\n    }\n  },\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\"\n}\n"
    );
    let verified = verify(&dir, Some(&disk.0.0.join("upstream"))).unwrap();
    assert_eq!(verified.revisions, ["b", "c", "d", "draft"]);
    assert!(verified.upstream);
}

#[test]
fn a_revision_goes_before_a_lone_draft() {
    let disk = Disk::new();
    disk.import("A", &new("draft", RevisionStage::Draft))
        .unwrap();
    disk.import("A", &released("a")).unwrap();
    assert_eq!(disk.ids(), ["a", "draft"]);
    assert!(
        disk.list().starts_with("# The revisions"),
        "{}",
        disk.list()
    );
}

#[test]
fn an_existing_revision_keeps_its_facts_and_comments() {
    let disk = Disk::new();
    let dir = disk.spec();
    disk.import("A", &released("a")).unwrap();
    disk.import("A", &new("b", RevisionStage::Draft)).unwrap();
    let commented = disk
        .list()
        .replace("lifecycle =", "# why\nlifecycle =")
        .replace("status = \"draft\"", "status = \"draft\" # still");
    fs::write(dir.join("revisions.toml"), &commented).unwrap();

    let again = disk.import("A", &existing("a")).unwrap();
    assert!(!again.added && !again.schema_changed);
    assert_eq!(disk.list(), commented);

    let before = Spec::read(&dir).unwrap().revisions[0].sha256.clone();
    let changed = disk.import("Another", &existing("a")).unwrap();
    assert!(changed.schema_changed && changed.sha256 != before);
    assert_eq!(disk.list(), commented.replacen(&before, &changed.sha256, 1));
    let read = Spec::read(&dir).unwrap();
    assert!(read.revisions[0].definition("Another").is_some());

    let (mut status, mut wire, mut after) = (existing("a"), existing("a"), existing("a"));
    status.status = Some(RevisionStage::Draft);
    wire.wire = Some("z".into());
    after.after = Some("b".into());
    for contradicting in [status, wire, after] {
        let error = disk.import("A", &contradicting).unwrap_err();
        assert!(error.is_of_the_request(), "{error}");
    }
}

#[test]
fn an_import_that_is_refused_writes_nothing() {
    let disk = Disk::new();
    let dir = disk.spec();
    let good = disk.upstream("a", "A");
    let bad = disk.0.put("bad.json", "{}");
    let not_text = disk.0.put("not-text.json", [0xff, 0xfe]);
    for (file, options, expected) in [
        (&bad, released("a"), "expected definitions"),
        (&not_text, released("a"), "cannot read"),
        (&disk.0.0.join("absent.json"), released("a"), "cannot read"),
        (
            &good,
            existing("a"),
            "its lifecycle and its status have to be given",
        ),
        (&good, released("../a"), "cannot name a revision"),
        (
            &good,
            ImportOptions {
                after: Some("gone".into()),
                ..released("a")
            },
            "no revision `gone`",
        ),
    ] {
        let message = import(&dir, file, &options).unwrap_err().to_string();
        says(&message, expected);
        assert!(!dir.exists(), "{message}");
    }
}

#[test]
fn a_corrected_schema_ends_the_errata_that_no_longer_apply_and_names_them() {
    let disk = Disk::new();
    let dir = disk.spec();
    disk.import("A", &released("a")).unwrap();
    let erratum = "[[erratum]]\nid = \"e\"\nreason = \"r\"\nsource = \"s\"\nsince = \"a\"\nat = \"/$defs/A/type\"\nexpect = \"object\"\nreplace = \"array\"\n";
    fs::write(dir.join("errata.toml"), erratum).unwrap();
    assert!(disk.import("A", &existing("a")).unwrap().stale.is_none());
    let imported = disk.import("B", &existing("a")).unwrap();
    assert!(imported.stale.is_none());
    let left: Vec<&str> = imported.left.iter().map(|one| one.fact.as_str()).collect();
    assert_eq!(left, ["errata/e"]);
}

#[test]
fn verify_names_everything_that_was_tampered_with() {
    let disk = Disk::new();
    let dir = disk.spec();
    let upstream = disk.0.0.join("upstream");
    for id in ["a", "b", "c"] {
        disk.import("A", &released(id)).unwrap();
    }
    let tamper = |id: &str, from: &str, to: &str| {
        let path = dir.join(id).join("schema.json");
        fs::write(&path, fs::read_to_string(&path).unwrap().replace(from, to)).unwrap();
    };
    tamper("a", "object", "array");
    verify(&dir, None).unwrap();
    let message = verify(&dir, Some(&upstream)).unwrap_err().to_string();
    says(&message, "a/schema.json: not the canonical form of");
    assert!(
        message.contains("-       \"type\": \"array\"")
            && message.contains("+       \"type\": \"object\""),
        "{message}"
    );

    tamper("b", "  ", " ");
    disk.upstream("b", "A2");
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
fn verify_looks_at_the_schemas_of_extensions() {
    let disk = Disk::new();
    let dir = disk.spec();
    disk.import("A", &released("a")).unwrap();
    let schema = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Cup": {"type": "object"}}}"#;
    let upstream = UpstreamFile::of_extension_text("dice.json", schema).unwrap();
    let mut directory = SpecDirectory::read(&dir).unwrap();
    let options = ExtensionOptions {
        name: "dice@first".to_owned(),
        identifier: Some("com.example/dice".to_owned()),
        ..ExtensionOptions::default()
    };
    directory.import_extension(&upstream, &options).unwrap();
    directory.write(&dir).unwrap();
    assert_eq!(verify(&dir, None).unwrap().extensions, ["dice"]);
    let stands = disk
        .0
        .get("spec/extensions/dice/first/schema.json")
        .unwrap();
    disk.0.put("spec/extensions/dice/gone/schema.json", &stands);
    let spaced = stands.replace("  ", " ");
    disk.0.put("spec/extensions/dice/first/schema.json", spaced);
    let message = verify(&dir, None).unwrap_err().to_string();
    says(&message, "dice/first/schema.json: not in canonical form");
    says(&message, "spec import FILE --extension dice@first");
    says(
        &message,
        "dice/gone/schema.json: a schema of a state that no extension.toml lists",
    );
}

#[test]
fn verify_names_the_rules_that_cannot_be_read() {
    for file in ["methods.toml", "errors.toml"] {
        let disk = Disk::new();
        disk.import("A", &released("a")).unwrap();
        verify(&disk.spec(), None).unwrap();
        disk.0.put(&format!("spec/{file}"), "nonsense = 1\n");
        let message = verify(&disk.spec(), None).unwrap_err().to_string();
        says(&message, &format!("{file}:1"));
    }
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
    let disk = Disk::new();
    let dir = disk.spec();
    let file = disk.upstream("a", "A");
    for id in [
        "shims", "Shims", "registry", "wire", "fn", "default", "a/b", "..", "a..b", "a.", "",
    ] {
        let message = import(&dir, &file, &released(id)).unwrap_err();
        assert!(
            message.to_string().contains("cannot name a revision"),
            "{id}: {message}"
        );
        assert!(!dir.exists(), "{id}: nothing is written");
    }
    import(&dir, &file, &released("2031-01-01")).unwrap();
}

/// What the generated part of a manifest has is the revisions' and the extensions' own.
#[test]
fn the_names_of_this_workspace_are_no_ids() {
    let root = crate::workspace::repository();
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let folders = |below: &str| {
        let entries = fs::read_dir(root.join(below)).unwrap();
        entries.map(|entry| entry.unwrap().path())
    };
    let all = ["", "codegen", "runtime", "tests", "generated"].into_iter();
    let manifests: Vec<String> = (all
        .flat_map(folders)
        .map(|folder| folder.join("Cargo.toml")))
    .chain(
        ["schema", "diff", "plans"].map(|name| root.join("codegen").join(name).join("Cargo.toml")),
    )
    .filter(|path| path.is_file())
    .map(|path| read(&path))
    .collect();
    let list = read(&root.join("spec/revisions.toml"));
    let is_revision = |name: &&String| list.contains(&format!("id = \"{name}\"\n"));
    let mut taken: Vec<String> = Vec::new();
    for manifest in &manifests {
        let manifest: toml::Table = toml::from_str(manifest).unwrap();
        let features = manifest.get("features").and_then(toml::Value::as_table);
        // A revision has a feature in some of the crates.
        let beside = features.filter(|features| features.contains_key("draft"));
        taken.extend(beside.into_iter().flat_map(toml::Table::keys).cloned());
        let package = manifest.get("package").and_then(|of| of["name"].as_str());
        taken.extend(package.and_then(|name| Some(name.strip_prefix("mcp-")?.to_owned())));
    }
    let tables = read(&root.join("generated/mcp-revisions-tables/src/lib.rs"));
    let modules = tables
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
    taken.extend(modules.map(|name| name.trim_end_matches(';').to_owned()));
    let of_dates = |name: &&String| !name.starts_with("v20");
    let taken: Vec<&String> = (taken.iter().filter(of_dates))
        .filter(|name| !is_revision(name))
        .collect();
    assert!(taken.len() > 40, "{taken:?}");
    let upstream =
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"A": {}}}"#;
    let upstream = UpstreamFile::of_text("a.json", upstream).unwrap();
    for name in taken {
        let mut directory = SpecDirectory::from_files(crate::specs::files(&[]));
        match directory.import(&upstream, &released(name)) {
            Err(error) => says(&error.to_string(), "cannot name a revision"),
            Ok(_) => panic!("`{name}` names something else, and is an id"),
        }
    }
}

/// What another command has done since a directory was read is neither undone nor overwritten.
#[test]
fn two_imports_at_once_do_not_delete_each_others_folders() {
    let disk = Disk::new();
    let dir = disk.spec();
    disk.import("A", &released("a")).unwrap();
    let mut late = SpecDirectory::read(&dir).unwrap();
    let upstream = UpstreamFile::read(&disk.upstream("b", "A")).unwrap();
    late.import(&upstream, &released("b")).unwrap();
    disk.import("A", &released("c")).unwrap();
    let message = late.write(&dir).unwrap_err().to_string();
    says(&message, "another command");
    says(&message, "run the command again");
    assert_eq!(disk.ids(), ["a", "c"]);
}

/// A command that was interrupted in the middle is finished by running it again.
#[test]
fn an_interrupted_import_is_finished_by_the_next_one() {
    let disk = Disk::new();
    let dir = disk.spec();
    disk.import("A", &released("a")).unwrap();
    fs::write(
        dir.join("errata.toml"),
        "[[erratum]]\nid = \"e\"\nreason = \"r\"\nsource = \"s\"\nsince = \"a\"\nat = \"/$defs/A/type\"\nexpect = \"object\"\nreplace = \"string\"\n",
    )
    .unwrap();
    let upstream = disk.upstream("b", "B");
    let run = || -> Result<SpecDirectory, Error> {
        let mut directory = SpecDirectory::read(&dir)?;
        directory.import(&UpstreamFile::read(&upstream)?, &released("b"))?;
        directory.write(&dir)?;
        Ok(directory)
    };
    // A folder where a file has to be: the write stops before the list of revisions, which comes last.
    let in_the_way = dir.join("b/schema.json");
    fs::create_dir_all(&in_the_way).unwrap();
    assert!(run().is_err());
    assert_eq!(disk.ids(), ["a"]);
    fs::remove_dir(&in_the_way).unwrap();
    let whole = run().unwrap();
    assert_eq!(*SpecDirectory::read(&dir).unwrap().files(), *whole.files());
    assert_eq!(disk.ids(), ["a", "b"]);
    let errata = fs::read_to_string(dir.join("errata.toml")).unwrap();
    says(&errata, "since = \"a\"\nuntil = \"a\"\n");
}

/// What cannot be read says what to do about it.
#[test]
fn a_file_that_cannot_be_read_says_what_to_do() {
    let disk = Disk::new();
    let dir = disk.spec();
    let file = disk.upstream("a", "A");
    let text = fs::read(&file).unwrap();
    let said = |bytes: Option<Vec<u8>>| {
        match bytes {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let error = import(&dir, &file, &released("a")).unwrap_err();
        error.to_string()
    };
    let marked = said(Some([b"\xef\xbb\xbf".as_slice(), &text].concat()));
    says(&marked, "save it as UTF-8 without one");
    let latin = said(Some([&text, b"\xe9".as_slice()].concat()));
    says(&latin, "save the file as UTF-8");
    let gone = said(None);
    says(&gone, "check the path");
}

/// Handlers are moved to another revision by whoever moves them, in a change of its own.
#[test]
fn handlers_are_written_in_the_same_revision_when_a_newer_one_is_released() {
    let mut directory = crate::specs::twin_directory();
    let spec = directory.spec().unwrap();
    let handlers = Revision::of_handlers(spec.revisions.iter())
        .unwrap()
        .clone();
    let schema =
        UpstreamFile::of_text("next", &crate::specs::latest(&spec).raw.to_string()).unwrap();
    let options = ImportOptions {
        lifecycle: Some(handlers.lifecycle),
        ..released("next")
    };
    directory.import(&schema, &options).unwrap();
    let spec = directory.spec().unwrap();
    assert_eq!(crate::specs::latest(&spec).id, "next");
    let generated = mcp_codegen::generate(&spec).unwrap();
    let list = generated
        .files
        .get("generated/mcp-revisions-tables/src/revision.rs");
    let list = String::from_utf8_lossy(list.unwrap());
    let variant = mcp_revisions_schema::names::variant(&handlers.id);
    let latest = format!("pub const LATEST: Self = Self::{variant};");
    assert!(list.contains(&latest), "there is no `{latest}`");
    // The next one comes with its feature, as every revision besides.
    says(&list, "#[cfg(feature = \"next\")]");
}
