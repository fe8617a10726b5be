//! What is open after an import, and the stubs that are written for it.

use crate::says;
use mcp_schema::decision::Scope;
use mcp_schema::open::{Open, Undocumented};

use super::*;

/// The made-up spec with a revision of its own: walls shine, and may be praised, which nothing answers.
fn opened() -> (Directory, Open) {
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
    let mut open = Open::of(&directory.spec().unwrap());
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
    let again = Open::of(&directory.spec().unwrap());
    let said: Vec<String> = again.problems.iter().map(ToString::to_string).collect();
    assert!(
        said.iter()
            .any(|problem| problem.contains("has no definition ``")),
        "{said:?}"
    );

    directory.remove("new").unwrap();
    same(directory.files(), &before);
}

/// A release that took over the rules of a draft takes its own with it when it is removed, and no others.
#[test]
fn the_rules_of_a_release_are_none_of_the_draft_that_comes_back() {
    let mut directory = crate::specs::twin_directory();
    let mut schema = crate::specs::latest(&directory.spec().unwrap()).raw.clone();
    let member = |name: &str| format!("put Tool/properties/{name} {{\"type\": \"string\"}}");
    let upstream_of = |schema: &serde_json::Value| upstream(&schema.to_string());
    let scaffold = |directory: &mut Directory| {
        let mut open = Open::of(&directory.spec().unwrap());
        open.undocumented.clear();
        directory.scaffold(&open).unwrap();
    };
    let fill_in = |directory: &mut Directory| {
        let mut files = directory.files().clone();
        for (file, text) in files.iter_mut() {
            if file.contains("next") || file.ends_with("..draft.toml") {
                *text = crate::specs::filled(text);
            }
        }
        *directory = Directory::from_files(files);
        let open = Open::of(&directory.spec().unwrap());
        assert!(
            open.decisions.is_empty() && open.problems.is_empty(),
            "{open:?}"
        );
    };
    crate::changes::apply(&mut schema, &member("shelf"));
    directory
        .import(&upstream_of(&schema), &again("draft"))
        .unwrap();
    scaffold(&mut directory);
    fill_in(&mut directory);
    let before = directory.files().clone();
    crate::changes::apply(&mut schema, &member("kind"));
    let options = ImportOptions {
        from: Some("draft".to_owned()),
        lifecycle: Some(Lifecycle::PerRequest),
        ..new("next")
    };
    // Whether anybody has filled in what was proposed or not.
    for is_filled_in in [false, true] {
        let mut directory = Directory::from_files(before.clone());
        directory.import(&upstream_of(&schema), &options).unwrap();
        scaffold(&mut directory);
        if is_filled_in {
            fill_in(&mut directory);
        }
        says(
            text_of(&directory, "shims/2026-07-28..next.toml"),
            "id = \"tool-kind\"",
        );
        let removed = directory.remove("next").unwrap();
        let mut unused = removed.unused.iter();
        assert!(
            unused.any(|rule| rule.ends_with("tool-kind")),
            "{removed:?}"
        );
        same(directory.files(), &before);
    }
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
    let open = Open::of(&directory.spec().unwrap());
    directory.scaffold(&open).unwrap();
    let docs = text_of(&directory, "docs.toml");
    says(docs, "w = \"\"\n");
    says(docs, "[\"Mixed.Type-Name<X>\".members]\n\"q.r\" = \"\"\n");
    let mut files = directory.files().clone();
    for file in ["docs.toml", "shapes.toml", "errata.toml"] {
        let text = files.get_mut(file).unwrap();
        *text = text.replace("= \"\"\n", "= \"x\"\n");
    }
    let again = Open::of(&Directory::from_files(files).spec().unwrap());
    let of_docs = again.problems.iter().map(ToString::to_string);
    let of_docs: Vec<String> = of_docs.filter(|told| told.contains("docs.toml")).collect();
    assert_eq!(of_docs, [""; 0]);
}

/// A file may have a table once.
#[test]
fn the_stub_of_a_name_is_written_into_the_table_that_stands_there() {
    let mut files = made_up().files().clone();
    let named = "[types]\nWall = \"Fence\"\n".to_owned();
    files.insert("names.toml".to_owned(), named);
    let mut directory = Directory::from_files(files);
    let vec = "\"Vec\": {\"type\": \"object\"}, \"Wall\": {";
    let text = schema("integer", true).replace("\"Wall\": {", vec);
    directory.import(&upstream(&text), &new("new")).unwrap();
    let open = Open::of(&directory.spec().unwrap());
    directory.scaffold(&open).unwrap();
    let names = text_of(&directory, "names.toml");
    says(names, "\n\"Vec\" = \"VecType\"\n");
    assert_eq!(names.matches("[types]").count(), 1, "{names}");
}
