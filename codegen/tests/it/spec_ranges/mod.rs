//! What holds for an imported revision by the ranges of earlier facts, and how that is confirmed.
//!
//! On a made-up spec directory in memory, and on the one of this workspace.

use crate::says;
use mcp_revisions_schema::sorted::SortedMap;

use mcp_codegen::import::{Fact, ImportOptions, Imported, SpecDirectory, UpstreamFile};
use mcp_revisions_schema::spec::{Lifecycle, RevisionStage};

mod answered;
mod scaffold;
mod seeded;

use crate::specs::files;

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
since = \"old\"

[[result]]
method = \"wall/wash\"
result = \"Wall\"
since = \"old\"
";

const ERRORS: &str = "\
[[error]]
code = -1
name = \"Wet\"
since = \"old\"
meaning = \"The paint is wet.\"
page = \"pages/{revision}\"

# Only there.
[[header]]
name = \"Colour\"
since = \"elder\"
until = \"elder\"
meaning = \"The colour.\"
page = \"pages/{revision}\"

[[header]]
name = \"Colour\"
meaning = \"The colour, in German.\"
since = \"old\"
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
[Wall.since.\"old\"]
doc = \"A wall of old.\"
[Wall.since.\"old\".members]
colour = \"Its faded colour.\"

[PaintRequest]
doc = \"Paints.\"

[WashRequest]
doc = \"Washes.\"

[ClientRequest]
doc = \"What clients ask.\"
";

const ERRATA: &str = "\
# Of the wall.
[[erratum]]
id = \"colour\"
reason = \"A colour is a name.\"
source = \"schema/{revision}/schema.ts, Wall\"
since = \"old\"
at = \"/$defs/Wall/properties/colour/type\"
expect = \"integer\"
replace = \"string\"

[[erratum]]
id = \"request-meta\"
reason = \"Requests have one.\"
source = \"schema/{revision}/schema.ts\"
since = \"old\"
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

fn upstream(text: &str) -> UpstreamFile {
    UpstreamFile::of_text("schema.json", text).unwrap()
}

/// The made-up spec: `old`, and a draft that is the same.
fn made_up() -> SpecDirectory {
    let mut directory = SpecDirectory::from_files(files(&[
        ("methods.toml", METHODS),
        ("errors.toml", ERRORS),
        ("docs.toml", DOCS),
        ("revisions.toml", REVISIONS),
        ("errata.toml", ERRATA),
    ]));
    let bare = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Wall": {"type": "object", "properties": {"colour": {"type": "integer"}}}}}"#;
    for (id, schema) in [
        ("elder", bare.to_owned()),
        ("old", schema("integer", true)),
        ("draft", schema("integer", true)),
    ] {
        let imported = directory.import(&upstream(&schema), &again(id)).unwrap();
        assert!(imported.held.is_empty() && imported.stale.is_none());
    }
    directory
}

/// Imports a schema as [`schema`] makes it.
fn import(
    directory: &mut SpecDirectory,
    (colour, washed): (&str, bool),
    options: &ImportOptions,
) -> Imported {
    let schema = upstream(&schema(colour, washed));
    directory.import(&schema, options).unwrap()
}

/// The schema of `old`.
const SAME: (&str, bool) = ("integer", true);

/// The options of a revision that is there.
fn again(id: &str) -> ImportOptions {
    ImportOptions {
        revision: id.to_owned(),
        ..ImportOptions::default()
    }
}

fn new(id: &str) -> ImportOptions {
    ImportOptions {
        revision: id.to_owned(),
        lifecycle: Some(Lifecycle::Handshake),
        status: Some(RevisionStage::Released),
        ..ImportOptions::default()
    }
}

fn names(facts: &[Fact]) -> Vec<&str> {
    facts.iter().map(Fact::as_str).collect()
}

fn text_of<'d>(directory: &'d SpecDirectory, name: &str) -> &'d str {
    directory.files().get(name).map_or("", String::as_str)
}

/// The lines of a directory's rule files that another one does not have.
fn lines_beyond(directory: &SpecDirectory, other: &SortedMap<String, String>) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, text) in directory.files() {
        if name.ends_with(".toml") {
            let before = other.get(name).map_or("", String::as_str);
            let mut before: Vec<&str> = before.lines().collect();
            for line in text.lines() {
                match before.iter().position(|other| *other == line) {
                    Some(at) => drop(before.remove(at)),
                    None => lines.push(line.to_owned()),
                }
            }
        }
    }
    lines
}

#[test]
fn what_holds_for_a_new_revision_is_listed_and_not_copied() {
    let mut directory = made_up();
    let before = directory.files().clone();
    let imported = import(&mut directory, SAME, &new("new"));
    assert_eq!(imported.from, None);
    assert_eq!(
        names(&imported.held),
        [
            "docs/Wall",
            "errata/colour",
            "errata/request-meta",
            "errors/error/-1",
            "errors/header/Colour",
            "methods/result/wall/paint",
            "methods/result/wall/wash",
        ]
    );
    assert!(imported.left.is_empty(), "{:?}", imported.left);
    assert_eq!(directory.unconfirmed("new").unwrap(), imported.held);
    // Its row is all that is written, and says that nothing of this is confirmed.
    let lines = lines_beyond(&directory, &before);
    assert_eq!(lines.len(), 10, "{lines:#?}");
    assert!(lines.contains(&"confirmed = []".to_owned()), "{lines:#?}");
    let spec = directory.spec().unwrap();
    let errata = &spec.revision("new").unwrap().errata;
    assert_eq!(errata.len(), 2);
}

#[test]
fn what_does_not_hold_is_named_with_the_reason_and_ends_before() {
    let mut directory = made_up();
    let before = directory.files().clone();
    let imported = import(&mut directory, ("string", false), &new("new"));
    let left: Vec<(&str, &str)> = imported
        .left
        .iter()
        .map(|left| (left.fact.as_str(), left.why.lines().next().unwrap()))
        .collect();
    let colour = (
        "errata/colour",
        "another value stands at `/$defs/Wall/properties/colour/type`",
    );
    assert_eq!(left, [colour]);
    assert!(text_of(&directory, "errata.toml").contains("since = \"old\"\nuntil = \"old\"\nat"));
    // An erratum that still has one of its places is for people to part.
    let stale = imported.stale.unwrap().to_string();
    assert!(
        stale.starts_with("spec/errata.toml:13: erratum `request-meta` of `new`: `/$defs/WashRequest/properties/_meta` leads nowhere"),
        "{stale}"
    );
    assert!(
        stale.ends_with("look at schema/new/schema.ts again: if the schema is right now, end the erratum with `until = \"old\"`"),
        "{stale}"
    );
    // The cure as it is written, and a row with the rest.
    let mut files = directory.files().clone();
    let errata = files.get_mut("errata.toml").unwrap();
    let row = errata[errata.rfind("[[erratum]]").unwrap()..].to_owned();
    let rest = row
        .replace("since = \"old\"", "since = \"new\"")
        .replace("  \"/$defs/WashRequest/properties/_meta\",\n", "");
    let ended = row.replace("since = \"old\"\n", "since = \"old\"\nuntil = \"old\"\n");
    *errata = errata.replace(&row, &format!("{ended}\n{rest}"));
    let directory = SpecDirectory::from_files(files);
    let spec = directory.spec().unwrap();
    // The draft that still is the release before has what that release has.
    let of = |id: &str| spec.revision(id).unwrap();
    assert_eq!(of("draft").schema, of("old").schema);
    let lines = lines_beyond(&directory, &before);
    let ended = lines.iter().filter(|line| *line == "until = \"old\"");
    assert_eq!(ended.count(), 2, "{lines:#?}");
    let message =
        mcp_revisions_schema::spec::methods::MethodRules::read(&directory.spec().unwrap())
            .unwrap_err()
            .to_string();
    assert_eq!(
        message,
        "spec/methods.toml:8: result of `wall/wash`: revision `new` has no request of that method\n  help: end it with `until = \"old\"`"
    );
}

#[test]
fn facts_are_confirmed_one_by_one_or_ended() {
    let mut directory = made_up();
    let before = directory.files().clone();
    import(&mut directory, SAME, &new("new"));
    let some = ["errors/error/-1".to_owned(), "docs/Wall".to_owned()];
    assert_eq!(directory.confirm("new", &some, true).unwrap().len(), 2);
    assert_eq!(directory.unconfirmed("new").unwrap().len(), 5);
    assert!(
        text_of(&directory, "revisions.toml")
            .contains("\nconfirmed = [\n  \"docs/Wall\",\n  \"errors/error/-1\",\n]\n")
    );

    let header = ["errors/header/Colour".to_owned()];
    directory.confirm("new", &header, false).unwrap();
    assert_eq!(
        text_of(&directory, "errors.toml"),
        before["errors.toml"].replacen(
            "since = \"old\"\npage",
            "since = \"old\"\nuntil = \"old\"\npage",
            1
        )
    );
    let message = directory
        .confirm("new", &header, true)
        .unwrap_err()
        .to_string();
    says(
        &message,
        "`errors/header/Colour` is not among the facts of `new`",
    );
    says(&message, "still to confirm: errata/colour");
    // What another release has, too, is not ended by the way.
    let without = directory.clone();
    import(&mut directory, SAME, &new("newer"));
    let message = directory
        .confirm("new", &["errata/colour".to_owned()], false)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "`errata/colour` holds for revisions after `new`, too\n  help: in spec/errata.toml, end it with `until = \"old\"`, and add a second one that begins after `new`"
    );

    let mut directory = without;
    directory.confirm("new", &[], true).unwrap();
    assert!(directory.unconfirmed("new").unwrap().is_empty());
    assert!(!text_of(&directory, "revisions.toml").contains("confirmed"));
}

/// Lines under a header of their own, and lines of members alone, end and begin again byte for byte.
#[test]
fn the_end_of_doc_lines_is_written_where_their_table_is() {
    for docs in [
        DOCS.to_owned(),
        DOCS.replace("[Wall.since.\"old\"]\ndoc = \"A wall of old.\"\n", ""),
        DOCS.replace(
            "[Wall.since.\"old\".members]\ncolour = \"Its faded colour.\"\n",
            "",
        ),
    ] {
        let mut files = made_up().files().clone();
        files.insert("docs.toml".to_owned(), docs.clone());
        let mut directory = SpecDirectory::from_files(files.clone());
        import(&mut directory, SAME, &new("new"));
        let lines = ["docs/Wall".to_owned()];
        directory.confirm("new", &lines, false).unwrap();
        let text = text_of(&directory, "docs.toml");
        says(text, "[Wall.since.\"old\"]\nuntil = \"old\"\n");
        keeps_every_line(&directory, &files);
    }
}

#[test]
fn what_a_draft_has_no_more_is_passed_over_there() {
    let mut directory = made_up();
    let before = directory.files().clone();
    let imported = import(&mut directory, ("integer", false), &again("draft"));
    let left: Vec<&str> = imported
        .left
        .iter()
        .map(|left| left.fact.as_str())
        .collect();
    assert_eq!(left, ["errata/request-meta", "methods/result/wall/wash"]);
    assert!(imported.stale.is_none());
    // The files stay, but for the schema and its digest: a draft that has it again is served as before.
    assert_eq!(lines_beyond(&directory, &before).len(), 1);
    let spec = directory.spec().unwrap();
    let of = |id: &str| spec.revision(id).unwrap();
    assert_eq!(of("draft").errata.len(), 2);
    assert_eq!(
        of("draft").definition("PaintRequest"),
        of("old").definition("PaintRequest")
    );
    assert!(directory.unconfirmed("draft").unwrap().is_empty());

    // A fact of the draft only is removed once the draft contradicts it.
    let mut files = directory.files().clone();
    let own = "\n[[result]]\nmethod = \"wall/wash\"\nresult = \"Wall\"\nsince = \"draft\"\n";
    let methods = files.get_mut("methods.toml").unwrap();
    let until = "result = \"Wall\"\nsince = \"old\"\nuntil = \"old\"\n";
    *methods = format!(
        "{}{own}",
        methods.replacen(
            "wall/wash\"\nresult = \"Wall\"\nsince = \"old\"\n",
            &format!("wall/wash\"\n{until}"),
            1
        )
    );
    let ended = methods.replace(own, "");
    let mut directory = SpecDirectory::from_files(files);
    let next = import(&mut directory, ("boolean", false), &again("draft"));
    assert!(
        next.left
            .iter()
            .any(|left| left.fact.as_str() == "methods/result/wall/wash"),
        "{:?}",
        next.left
    );
    assert_eq!(text_of(&directory, "methods.toml"), ended);
}

/// A draft that is still an earlier release takes none of what came later; once it moves, it does.
#[test]
fn a_draft_that_moves_is_told_what_of_later_releases_it_does_not_have() {
    let mut directory = made_up();
    import(&mut directory, ("string", true), &new("new"));
    let mut files = directory.files().clone();
    let methods = files.get_mut("methods.toml").unwrap();
    let row = "method = \"wall/wash\"\nresult = \"Wall\"\nsince = \"old\"\n";
    let later = row.replace("old", "new");
    let split = format!("{row}until = \"old\"\n\n[[result]]\n{later}");
    *methods = methods.replacen(row, &split, 1);
    let mut directory = SpecDirectory::from_files(files.clone());
    let imported = import(&mut directory, ("string", false), &again("draft"));
    let facts: Vec<&str> = (imported.left.iter())
        .map(|left| left.fact.as_str())
        .collect();
    assert!(facts.contains(&"methods/result/wall/wash"), "{facts:?}");
    // The digest.
    assert_eq!(lines_beyond(&directory, &files).len(), 1);
}

#[test]
fn the_rules_of_a_draft_become_those_of_its_release() {
    let mut directory = made_up();
    import(&mut directory, ("string", false), &again("draft"));
    let mut files = directory.files().clone();
    let rules = "# Decisions between old and draft: fewer.\n";
    files.insert("shims/old..draft.toml".into(), rules.into());
    let change = "[[change]]\nid = \"a\"\nbetween = \"old..draft\"\n";
    files.insert("changes.toml".into(), change.into());
    let header = "\n[[header]]\nname = \"Shine\"\nsince = \"draft\"\nmeaning = \"How it shines.\"\npage = \"pages\"\n";
    files.get_mut("errors.toml").unwrap().push_str(header);
    for (text, from) in [
        (schema("string", false), None),
        (schema("boolean", false), Some("draft")),
    ] {
        let mut directory = SpecDirectory::from_files(files.clone());
        let options = ImportOptions {
            from: from.map(str::to_owned),
            ..new("new")
        };
        let imported = directory.import(&upstream(&text), &options).unwrap();
        assert_eq!(imported.from.as_deref(), Some("draft"));
        assert_eq!(imported.displaced, [""; 0]);
        assert_eq!(
            text_of(&directory, "shims/old..new.toml"),
            "# Decisions between old and new: fewer.\n"
        );
        assert!(!directory.files().contains_key("shims/old..draft.toml"));
        assert!(text_of(&directory, "changes.toml").contains("\"old..new\""));
        assert!(text_of(&directory, "errors.toml").ends_with(&header.replace("draft", "new")));
    }
    // A release that the draft did not become leaves the draft what it has.
    let mut directory = SpecDirectory::from_files(files.clone());
    let imported = import(&mut directory, ("boolean", false), &new("new"));
    assert_eq!(imported.displaced, ["shims/old..draft.toml"]);
    keeps_every_line(&directory, &files);
}

/// Checks that an import has taken no line away: it adds lines, and ends what does not hold.
fn keeps_every_line(directory: &SpecDirectory, before: &SortedMap<String, String>) {
    let stood = SpecDirectory::from_files(before.clone());
    assert_eq!(lines_beyond(&stood, directory.files()), [""; 0]);
}

#[test]
fn an_import_adds_lines_and_takes_none_away() {
    for (colour, washed) in [
        ("integer", true),
        ("string", true),
        ("integer", false),
        ("boolean", false),
    ] {
        for (status, after) in [
            (RevisionStage::Released, None),
            (RevisionStage::Candidate, Some("old")),
            (RevisionStage::Draft, None),
        ] {
            let mut directory = made_up();
            let before = directory.files().clone();
            let options = ImportOptions {
                status: Some(status),
                after: after.map(str::to_owned),
                ..new("new")
            };
            import(&mut directory, (colour, washed), &options);
            keeps_every_line(&directory, &before);
            let added = lines_beyond(&directory, &before);
            let ends = added.iter().filter(|line| *line == "until = \"old\"");
            // Its row, and the ends.
            assert!(added.len() - ends.count() <= 10, "{added:#?}");
        }
    }
}

/// Two states of a directory are the same; where not, the file is named.
fn same(left: &SortedMap<String, String>, right: &SortedMap<String, String>) {
    for (name, text) in right {
        assert_eq!(left.get(name), Some(text), "{name}");
    }
    let names = |files: &SortedMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(left), names(right));
}

#[test]
fn nothing_is_taken_from_a_revision_that_is_not_there() {
    let mut directory = made_up();
    let before = directory.files().clone();
    let from = |from: &str| ImportOptions {
        from: Some(from.to_owned()),
        ..new("new")
    };
    let schema = upstream(&schema("integer", true));
    for (options, expected) in [
        (from("gone"), "no revision `gone`"),
        (from("new"), "`new` is not the revision after `new`"),
        (
            from("old"),
            "give --from draft: what begins with that revision begins with `new` then",
        ),
    ] {
        let message = directory.import(&schema, &options).unwrap_err().to_string();
        says(&message, expected);
    }
    same(directory.files(), &before);
}
