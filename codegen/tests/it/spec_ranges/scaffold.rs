//! What is open after an import, and the stubs that are written for it.

use crate::says;
use mcp_codegen::import::SpecGaps;
use mcp_revisions_schema::Undocumented;
use mcp_revisions_schema::decision::{Decision, Scope};

use super::*;
use crate::specs;

/// The made-up spec with a revision of its own: walls shine, and may be praised, which nothing answers.
fn opened() -> (SpecDirectory, SpecGaps) {
    let mut directory = made_up();
    let praise = r#""PraiseRequest": {"type": "object", "required": ["method"], "properties": {"method": {"const": "wall/praise", "type": "string"}}}, "Wall""#;
    let text = schema("integer", true)
        .replace(
            "\"colour\":",
            "\"shine\": {\"type\": \"string\"}, \"colour\":",
        )
        .replace("\"Wall\"", praise)
        .replace(
            "[{\"$ref\"",
            "[{\"$ref\": \"#/$defs/PraiseRequest\"}, {\"$ref\"",
        );
    directory.import(&upstream(&text), &new("new")).unwrap();
    let mut open = SpecGaps::of(&directory.spec().unwrap());
    // The rest of the made-up spec leaves much open, too.
    open.decisions.retain(|decision| match &decision.scope {
        Scope::Revision(id) => id == "new",
        Scope::Pair(pair) => pair.new == "new",
        Scope::Schema(_) | Scope::Extension { .. } => false,
    });
    open.undocumented.retain(|one| one.of == "new");
    (directory, open)
}

#[test]
fn everything_that_is_open_is_said_once() {
    let (_, open) = opened();
    assert!(open.problems.is_empty(), "{:?}", open.problems);
    let places: Vec<(&str, &str)> = open
        .decisions
        .iter()
        .map(|decision| (decision.question.as_str(), decision.place.as_str()))
        .collect();
    assert_eq!(
        places,
        [
            ("result", "/$defs/PraiseRequest"),
            ("change", "Wall.shine"),
            ("change", "wall/praise"),
        ]
    );
    let of_new = open.undocumented.iter().filter(|one| one.of == "new");
    let names: Vec<String> = of_new.flat_map(Undocumented::names).collect();
    for name in ["PraiseRequest", "Wall.shine"] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }
}

#[test]
fn stubs_fail_until_they_are_written() {
    let (mut directory, open) = opened();
    let before = made_up().files().clone();
    let written = directory.scaffold(&open).unwrap();
    assert_eq!(written.get("methods.toml"), Some(&1), "{written:?}");
    assert_eq!(written.get("shims/old..new.toml"), Some(&2), "{written:?}");
    assert!(
        text_of(&directory, "methods.toml")
            .ends_with("[[result]]\nmethod = \"wall/praise\"\nresult = \"\"\nsince = \"new\"\n")
    );
    let rules = text_of(&directory, "shims/old..new.toml");
    says(rules, "id = \"wall-shine\"\n");
    let docs = text_of(&directory, "docs.toml");
    says(docs, "colour = \"Its colour.\"\nshine = \"\"\n");
    says(docs, "\n\n[PraiseRequest]\ndoc = \"\"\n");

    // A second time there is nothing to add.
    assert!(directory.scaffold(&open).unwrap().is_empty());
    // An empty line is as none, and an empty row is refused.
    let again = SpecGaps::of(&directory.spec().unwrap());
    let said: Vec<String> = again.problems.iter().map(ToString::to_string).collect();
    assert!(
        said.iter()
            .any(|problem| problem.contains("has no definition ``")),
        "{said:?}"
    );

    keeps_every_line(&directory, &before);
}

#[test]
fn a_stub_of_a_doc_line_stands_below_a_last_line_without_its_break() {
    let (directory, open) = opened();
    let mut files = directory.files().clone();
    let requests = ["ClientRequest", "PaintRequest", "PraiseRequest"];
    let others = requests.map(|name| format!("[{name}]\ndoc = \"A request.\"\n"));
    let docs = format!(
        "[everywhere.members]\nmethod = \"The method.\"\n_meta = \"Metadata.\"\n{}[Wall]\ndoc = \"A wall.\"",
        others.concat()
    );
    files.insert("docs.toml".to_owned(), docs);
    let mut directory = SpecDirectory::from_files(files);
    directory.scaffold(&open).unwrap();
    let docs = text_of(&directory, "docs.toml");
    says(docs, "doc = \"A wall.\"\n[Wall.members]\ncolour = \"\"\n");
}

/// A row that makes a type opaque leaves no doc line to be written about it.
#[test]
fn doc_lines_are_asked_for_as_the_proposed_rows_leave_the_types() {
    let mut directory = made_up();
    let text = schema("integer", true)
        .replace(
            "\"colour\":",
            "\"w\": {\"anyOf\": [{\"type\": \"string\", \"enum\": [\"a\", \"b\"]}, {\"type\": \"string\", \"format\": \"uri\"}]}, \"colour\":",
        )
        .replace(
            "\"Wall\": {",
            "\"Mode\": {\"type\": \"string\", \"enum\": [\"a b\", \"a-b\"]}, \"Mixed.Type-Name<X>\": {\"type\": \"object\", \"properties\": {\"q.r\": {\"$ref\": \"#/$defs/Mode\"}}}, \"Wall\": {",
        );
    directory.import(&upstream(&text), &new("new")).unwrap();
    let open = SpecGaps::of(&directory.spec().unwrap());
    directory.scaffold(&open).unwrap();
    let docs = text_of(&directory, "docs.toml");
    says(docs, "w = \"\"\n");
    says(docs, "[\"Mixed.Type-Name<X>\".members]\n\"q.r\" = \"\"\n");
    let mut files = directory.files().clone();
    for file in ["docs.toml", "shapes.toml", "errata.toml"] {
        let text = files.get_mut(file).unwrap();
        *text = text.replace("= \"\"\n", "= \"x\"\n");
    }
    let again = SpecGaps::of(&SpecDirectory::from_files(files).spec().unwrap());
    let of_docs = again.problems.iter().map(ToString::to_string);
    let of_docs: Vec<String> = of_docs.filter(|told| told.contains("docs.toml")).collect();
    assert_eq!(of_docs, [""; 0]);
}

/// What is proposed for a new revision says so: the types of a release are called as before.
#[test]
fn the_name_that_is_proposed_for_a_new_revision_is_no_name_of_another() {
    let mut files = made_up().files().clone();
    let named = "[types]\nWall = \"Fence\"\n".to_owned();
    files.insert("names.toml".to_owned(), named.clone());
    let mut directory = SpecDirectory::from_files(files);
    let vec = "\"Vec\": {\"type\": \"object\"}, \"Wall\": {";
    let text = schema("integer", true).replace("\"Wall\": {", vec);
    directory.import(&upstream(&text), &new("new")).unwrap();
    let open = SpecGaps::of(&directory.spec().unwrap());
    directory.scaffold(&open).unwrap();
    let names = text_of(&directory, "names.toml");
    assert!(names.starts_with(&named), "{names}");
    says(
        names,
        "[[type]]\ndefinition = \"Vec\"\nname = \"VecType\"\nsince = \"new\"\n",
    );
    let facts = directory.facts("new").unwrap();
    assert!(facts.contains(&"names/type/Vec".to_owned()), "{facts:?}");
}

/// A code that gave way to another one needs a conversion, which is a row to be filled in, as that of the other one is.
#[test]
fn a_code_that_ended_is_proposed_as_a_conversion() {
    let latest = specs::latest(specs::spec());
    let mut schema = latest.raw.clone();
    let code = "/$defs/HeaderMismatchError/properties/error/allOf/1/properties/code/const";
    let ended = schema.pointer(code).unwrap().clone();
    *schema.pointer_mut(code).unwrap() = (-32098).into();
    let mut directory = specs::twin_directory();
    let before = directory.files().clone();
    let options = ImportOptions {
        lifecycle: Some(latest.lifecycle),
        ..new("2099-01-15")
    };
    directory
        .import(&upstream(&schema.to_string()), &options)
        .unwrap();
    let open = SpecGaps::of(&directory.spec().unwrap());
    directory.scaffold(&open).unwrap();
    keeps_every_line(&directory, &before);
    // The new code is the only row for all revisions.
    let errors = text_of(&directory, "errors.toml");
    assert_eq!(errors.matches("# To decide").count(), 1, "{errors}");
    let conversions = format!("shims/{}..2099-01-15.toml", latest.id);
    let rows = text_of(&directory, &conversions);
    says(rows, &format!("[[error]]\ncode = {ended}\n"));
    says(rows, "up = { code = -32603 }\n");
    says(rows, "[[error]]\ncode = -32098\n");

    let mut files = directory.files().clone();
    let text = files.get_mut(&conversions).unwrap();
    *text = specs::filled(text).replace("{ error = \"\"", "{ error = \"tools/call\"");
    let text = files.get_mut("errors.toml").unwrap();
    *text = text.replace("meaning = \"\"", "meaning = \"A header differs.\"");
    let filled = SpecGaps::of(&SpecDirectory::from_files(files).spec().unwrap());
    assert!(filled.problems.is_empty(), "{:?}", filled.problems);
    let of_pair =
        |one: &&Decision| matches!(&one.scope, Scope::Pair(pair) if pair.new == options.revision);
    assert_eq!(filled.decisions.iter().find(of_pair), None);
}
