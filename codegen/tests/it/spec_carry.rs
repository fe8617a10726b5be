//! What an import takes over from the revision before, how that is confirmed, and how all of it is undone.
//!
//! On a made-up spec directory in memory, and on the one of this workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_schema::spec::{Directory, Fact, ImportOptions, Lifecycle, Status, Upstream};

mod anew;
mod scaffold;

const REVISIONS: &str = "\
# Oldest first.

[[revision]]
id = \"elder\"
lifecycle = \"handshake\"
status = \"released\"

[[revision]]
id = \"old\"
wire = \"old\"
lifecycle = \"handshake\"
status = \"released\"
source = \"schema/old/schema.json\"

[[revision]]
id = \"draft\"
lifecycle = \"handshake\"
status = \"draft\"
source = \"schema/draft/schema.json\"
";

const METHODS: &str = "\
# Paint is answered by the wall.
[[result]]
method = \"wall/paint\"
result = \"Wall\"
revisions = [\"old\", \"draft\"]

[[result]]
method = \"wall/wash\"
result = \"Wall\"
revisions = [
  \"old\",
  \"draft\",
]
";

const ERRORS: &str = "\
[[error]]
code = -1
name = \"Wet\"
revisions = [\"old\", \"draft\"]
meaning = \"The paint is wet.\"
page = \"pages/{revision}\"

# Only there.
[[header]]
name = \"Colour\"
revisions = [\"old\"]
meaning = \"The colour.\"
page = \"pages/{revision}\"

[[header]]
name = \"Colour\"
revisions = [\"draft\"]
meaning = \"The colour, in German.\"
page = \"pages/{revision}\"
";

const DOCS: &str = "\
[everywhere.members]
method = \"The method.\"
_meta = \"Metadata.\"

[Wall]
doc = \"A wall.\"
[Wall.members]
colour = \"Its colour.\"
[Wall.revisions.\"old\"]
doc = \"A wall of old.\"
[Wall.revisions.\"old\".members]
colour = \"Its faded colour.\"

[PaintRequest]
doc = \"Paints.\"

[WashRequest]
doc = \"Washes.\"

[ClientRequest]
doc = \"What clients ask.\"
";

const ERRATA: &str = "\
# Defects of the schema of old: two.

# Of the wall.
[[erratum]]
id = \"colour\"
reason = \"A colour is a name.\"
source = \"schema/old/schema.ts, Wall\"
at = \"/$defs/Wall/properties/colour/type\"
expect = \"integer\"
replace = \"string\"

[[erratum]]
id = \"request-meta\"
reason = \"Requests have one.\"
source = \"schema/old/schema.ts\"
at = [
  \"/$defs/PaintRequest/properties/_meta\",
  \"/$defs/WashRequest/properties/_meta\",
]
expect-absent = true
replace = { type = \"object\" }
";

/// A schema in canonical form: the colour's type, and whether walls can be washed.
fn schema(colour: &str, washed: bool) -> String {
    let request = |method: &str| {
        format!(
            r#"{{"type": "object", "required": ["method"], "properties": {{"method": {{"const": "{method}", "type": "string"}}}}}}"#
        )
    };
    let (wash, choice) = match washed {
        true => (
            format!(r#""WashRequest": {},"#, request("wall/wash")),
            r##", {"$ref": "#/$defs/WashRequest"}"##,
        ),
        false => (String::new(), ""),
    };
    format!(
        r##"{{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {{
          "ClientRequest": {{"anyOf": [{{"$ref": "#/$defs/PaintRequest"}}{choice}]}},
          "PaintRequest": {}, {wash}
          "Wall": {{"type": "object", "properties": {{"colour": {{"type": "{colour}"}}}}}}
        }}}}"##,
        request("wall/paint")
    )
}

fn upstream(text: &str) -> Upstream {
    Upstream::of_text("schema.json", text).unwrap()
}

/// The made-up spec: `old`, and a draft that is the same.
fn made_up() -> Directory {
    let mut directory = Directory::from_files(BTreeMap::from(
        [
            ("methods.toml", METHODS),
            ("errors.toml", ERRORS),
            ("docs.toml", DOCS),
            ("revisions.toml", REVISIONS),
            ("old/errata.toml", ERRATA),
            ("draft/errata.toml", ERRATA),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned())),
    ));
    let bare = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Wall": {"type": "object", "properties": {"colour": {"type": "integer"}}}}}"#;
    for (id, schema) in [
        ("elder", bare.to_owned()),
        ("old", schema("integer", true)),
        ("draft", schema("integer", true)),
    ] {
        let options = ImportOptions {
            revision: id.to_owned(),
            ..ImportOptions::default()
        };
        let imported = directory.import(&upstream(&schema), &options).unwrap();
        assert!(imported.carried.is_empty() && imported.stale.is_none());
    }
    directory
}

fn new(id: &str) -> ImportOptions {
    ImportOptions {
        revision: id.to_owned(),
        lifecycle: Some(Lifecycle::Handshake),
        status: Some(Status::Released),
        ..ImportOptions::default()
    }
}

fn names(facts: &[Fact]) -> Vec<&str> {
    facts.iter().map(Fact::as_str).collect()
}

fn text_of<'d>(directory: &'d Directory, name: &str) -> &'d str {
    directory.files().get(name).map_or("", String::as_str)
}

#[test]
fn what_holds_is_carried_over_and_listed() {
    let mut directory = made_up();
    let imported = directory
        .import(&upstream(&schema("integer", true)), &new("new"))
        .unwrap();
    assert_eq!(imported.from.as_deref(), Some("old"));
    assert_eq!(
        names(&imported.carried),
        [
            "errata/colour",
            "errata/request-meta",
            "docs/Wall",
            "docs/Wall.colour",
            "errors/error/-1",
            "errors/header/Colour",
            "methods/result/wall/paint",
            "methods/result/wall/wash",
        ]
    );
    assert!(imported.left.is_empty(), "{:?}", imported.left);
    let methods = text_of(&directory, "methods.toml");
    assert!(
        methods.contains("revisions = [\"old\", \"new\", \"draft\"]"),
        "{methods}"
    );
    assert!(
        methods.contains("  \"old\",\n  \"new\",\n  \"draft\",\n"),
        "{methods}"
    );
    let docs = text_of(&directory, "docs.toml");
    assert!(
        docs.contains("colour = \"Its faded colour.\"\n[Wall.revisions.new]\ndoc = \"A wall of old.\"\n[Wall.revisions.new.members]\ncolour = \"Its faded colour.\"\n\n[PaintRequest]"),
        "{docs}"
    );
    let errata = text_of(&directory, "new/errata.toml");
    assert!(
        errata.starts_with("# Defects of the schema of new: two.\n"),
        "{errata}"
    );
    assert!(
        errata.contains("source = \"schema/new/schema.ts, Wall\""),
        "{errata}"
    );
    assert_eq!(
        names(&directory.carried("new").unwrap().unwrap().facts),
        names(&imported.carried)
    );
    directory.spec().unwrap();
}

#[test]
fn what_does_not_hold_is_named_with_the_reason() {
    let mut directory = made_up();
    let imported = directory
        .import(&upstream(&schema("string", false)), &new("new"))
        .unwrap();
    let left: Vec<(&str, &str)> = imported
        .left
        .iter()
        .map(|left| (left.fact.as_str(), left.why.lines().next().unwrap()))
        .collect();
    assert_eq!(
        left,
        [
            (
                "errata/colour",
                "another value stands at `/$defs/Wall/properties/colour/type`"
            ),
            (
                "errata/request-meta",
                "`/$defs/WashRequest/properties/_meta` leads nowhere: the object that would hold it is not there"
            ),
            (
                "methods/result/wall/wash",
                "revision `new` has no request of that method"
            ),
        ]
    );
    assert!(names(&imported.carried).contains(&"errata/request-meta"));
    let errata = text_of(&directory, "new/errata.toml");
    assert!(
        !errata.contains("colour") && !errata.contains("Wash"),
        "{errata}"
    );
    assert!(errata.contains("PaintRequest/properties/_meta"), "{errata}");
    assert!(imported.stale.is_none());
    directory.spec().unwrap();
}

#[test]
fn a_removal_leaves_no_trace_of_an_import() {
    for (colour, washed) in [
        ("integer", true),
        ("string", true),
        ("integer", false),
        ("boolean", false),
    ] {
        for (status, after) in [
            (Status::Released, None),
            (Status::Candidate, Some("old")),
            (Status::Draft, None),
        ] {
            let mut directory = made_up();
            let before = directory.files().clone();
            let options = ImportOptions {
                status: Some(status),
                after: after.map(str::to_owned),
                ..new("new")
            };
            directory
                .import(&upstream(&schema(colour, washed)), &options)
                .unwrap();
            let removed = directory.remove("new").unwrap();
            assert!(removed.unused.is_empty(), "{:?}", removed.unused);
            same(directory.files(), &before);
        }
    }
}

#[test]
fn what_was_written_for_a_revision_alone_goes_with_it() {
    let mut directory = made_up();
    let before = directory.files().clone();
    let with_shine = schema("integer", true).replace(
        "\"colour\":",
        "\"shine\": {\"type\": \"string\"}, \"colour\":",
    );
    directory
        .import(&upstream(&with_shine), &new("new"))
        .unwrap();
    let mut files = directory.files().clone();
    let docs = files.get_mut("docs.toml").unwrap();
    *docs = docs.replace(
        "colour = \"Its colour.\"\n",
        "colour = \"Its colour.\"\nshine = \"How it shines.\"\n",
    );
    files.insert("shims/old..new.toml".into(), "# Decisions.\n".into());
    let mut directory = Directory::from_files(files);
    let removed = directory.remove("new").unwrap();
    assert_eq!(removed.unused, ["docs.toml: [Wall.members] shine"]);
    assert!(removed.files.contains(&"shims/old..new.toml".to_owned()));
    same(directory.files(), &before);
}

#[test]
fn facts_are_confirmed_one_by_one_or_taken_back() {
    let mut directory = made_up();
    let before = text_of(&directory, "errors.toml").to_owned();
    directory
        .import(&upstream(&schema("integer", true)), &new("new"))
        .unwrap();
    let some = ["errors/error/-1".to_owned(), "docs/Wall".to_owned()];
    assert_eq!(
        names(&directory.confirm("new", &some, true).unwrap()).len(),
        2
    );
    assert_eq!(directory.carried("new").unwrap().unwrap().facts.len(), 6);
    assert!(
        text_of(&directory, "docs.toml")
            .contains("doc = \"A wall of old.\"\n[Wall.revisions.new.members]")
    );

    let header = ["errors/header/Colour".to_owned()];
    directory.confirm("new", &header, false).unwrap();
    let errors = text_of(&directory, "errors.toml");
    assert_eq!(
        errors,
        before.replacen("\"old\", ", "\"old\", \"new\", ", 1)
    );

    let message = directory
        .confirm("new", &header, true)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`errors/header/Colour` is not among the facts"),
        "{message}"
    );
    assert!(
        message.contains("still to confirm: errata/colour"),
        "{message}"
    );

    directory.confirm("new", &[], true).unwrap();
    assert!(directory.carried("new").unwrap().is_none());
    assert!(!directory.files().contains_key("new/carried.toml"));
}

#[test]
fn a_draft_takes_over_the_facts_of_the_release_on_the_day_it_differs() {
    let mut directory = made_up();
    let again = ImportOptions {
        revision: "draft".to_owned(),
        ..ImportOptions::default()
    };
    let imported = directory
        .import(&upstream(&schema("integer", false)), &again)
        .unwrap();
    assert_eq!(imported.from.as_deref(), Some("old"));
    assert_eq!(names(&imported.carried), ["docs/Wall", "docs/Wall.colour"]);
    let left: Vec<&str> = imported
        .left
        .iter()
        .map(|left| left.fact.as_str())
        .collect();
    assert_eq!(left, ["errata/request-meta", "methods/result/wall/wash"]);
    assert!(imported.stale.is_none());
    directory.spec().unwrap();

    // The next one takes nothing over any more, and keeps what is not confirmed.
    let next = directory
        .import(&upstream(&schema("boolean", false)), &again)
        .unwrap();
    assert_eq!((next.from, next.carried.len()), (None, 0));
    assert_eq!(directory.carried("draft").unwrap().unwrap().facts.len(), 2);

    let removed = directory.remove("draft").unwrap();
    assert!(
        removed.replaced.is_some(),
        "what it replaced is not put back, and it says so"
    );
    assert!(
        directory
            .files()
            .keys()
            .all(|name| !name.starts_with("draft/"))
    );
    let rules = directory
        .files()
        .iter()
        .filter(|(name, _)| name.ends_with(".toml"));
    for (name, text) in rules {
        assert!(!text.contains("draft"), "{name}: {text}");
    }
}

#[test]
fn the_rules_of_a_draft_become_those_of_its_release() {
    let mut directory = made_up();
    let again = ImportOptions {
        revision: "draft".to_owned(),
        ..ImportOptions::default()
    };
    directory
        .import(&upstream(&schema("integer", false)), &again)
        .unwrap();
    let mut files = directory.files().clone();
    let rules = "# Decisions between old and draft: fewer.\n";
    files.insert("shims/old..draft.toml".into(), rules.into());
    let change = "[[change]]\nid = \"a\"\nbetween = \"old..draft\"\n";
    files.insert("changes.toml".into(), change.into());
    for (text, from) in [
        (schema("integer", false), None),
        (schema("boolean", false), Some("draft")),
    ] {
        let mut directory = Directory::from_files(files.clone());
        let options = ImportOptions {
            from: from.map(str::to_owned),
            ..new("new")
        };
        let imported = directory.import(&upstream(&text), &options).unwrap();
        assert_eq!(imported.from.as_deref(), Some("draft"));
        assert_eq!(imported.displaced, ["shims/old..draft.toml"]);
        assert!(names(&imported.carried).contains(&"shims/old..new"));
        assert_eq!(
            directory
                .files()
                .get("shims/old..new.toml")
                .map(String::as_str),
            Some("# Decisions between old and new: fewer.\n")
        );
        assert!(!directory.files().contains_key("shims/old..draft.toml"));
        assert!(text_of(&directory, "changes.toml").contains("\"old..new\""));
        directory.remove("new").unwrap();
        same(directory.files(), &files);
    }
}

/// Two states of a directory are the same; where not, the file is named.
fn same(left: &BTreeMap<String, String>, right: &BTreeMap<String, String>) {
    for (name, text) in right {
        assert_eq!(left.get(name), Some(text), "{name}");
    }
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(left), names(right));
}

#[test]
fn a_revision_that_is_not_there_cannot_be_removed_or_taken_from() {
    let mut directory = made_up();
    let before = directory.files().clone();
    let message = directory.remove("gone").unwrap_err().to_string();
    assert_eq!(message, "no revision `gone`\n  known: elder, old, draft");
    let from = |from: &str| ImportOptions {
        from: Some(from.to_owned()),
        ..new("new")
    };
    let schema = upstream(&schema("integer", true));
    for (options, expected) in [
        (from("gone"), "no revision `gone`"),
        (from("new"), "cannot take over its own facts"),
    ] {
        let message = directory.import(&schema, &options).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    same(directory.files(), &before);
}

fn spec_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}
