//! Doc lines: those that no revision has use for, and those that are missing.

use mcp_revisions_schema::Models;
use mcp_revisions_schema::Spec;

use crate::rules_bite::{METHODS, bites, made_up, passes};

#[test]
fn a_doc_line() {
    let unused = "no revision has use for it";
    passes(
        "docs.toml",
        "[everywhere.members]\nnotes = \"Remarks.\"\n\n[Wall]\ndoc = \"Upright.\"\n[Wall.members]\ncolour = \"Of the paint.\"\n",
    );
    for (text, line, of) in [
        ("[Floor]\ndoc = \"Level.\"\n", 2, "doc line of `Floor`"),
        (
            "[Wall.members]\ncolour = \"Of the paint.\"\ncolor = \"Of the paint.\"\n",
            3,
            "doc line of `Wall.color`",
        ),
        (
            "[everywhere.members]\ncarpet = \"Soft.\"\n",
            2,
            "doc line of `everywhere.carpet`",
        ),
        (
            "[Wall.since.\"new\"]\ndoc = \"Upright.\"\n[Floor.since.\"new\"]\ndoc = \"Flat.\"\n",
            4,
            "doc line of `Floor` since new",
        ),
        (
            "[Wall.since.\"new\".members]\ncolor = \"Of the paint.\"\n",
            2,
            "doc line of `Wall.color` since new",
        ),
        // `Long` has no member that `Wall` has a line for.
        (
            "[Wall.members]\ncolour = \"Of the paint.\"\n\n[Long]\nlike = \"Wall\"\n",
            5,
            "`like` of `Long`",
        ),
        ("[Long]\nlike = \"Nothing\"\n", 2, "`like` of `Long`"),
    ] {
        let start = format!("spec/docs.toml:{line}: {of}: {unused}");
        bites("docs.toml", text, &start);
    }
    // Where every revision has a line of its own, the common one is of no use.
    bites(
        "docs.toml",
        "[Wall]\ndoc = \"Upright.\"\n\n[Wall.since.\"old\"]\ndoc = \"Stone.\"\n\n[Wall.since.\"new\"]\ndoc = \"Paper.\"\n",
        &format!("spec/docs.toml:2: doc line of `Wall`: {unused}"),
    );
    // Of two ranges that hold for a revision, the one that begins last gives the line.
    bites(
        "docs.toml",
        "[Wall.since.\"new\"]\ndoc = \"Upright.\"\n\n[Wall.since.\"old\"]\nuntil = \"old\"\ndoc = \"Stone.\"\n\n[Short.since.\"latest\"]\ndoc = \"Brief.\"\n",
        "spec/docs.toml:8: doc lines of `Short` since latest: no revision `latest`; known: old, new",
    );
    passes(
        "docs.toml",
        "[Wall.since.\"new\"]\ndoc = \"Upright.\"\n\n[Wall.since.\"old\"]\ndoc = \"Stone.\"\n",
    );
    bites(
        "docs.toml",
        "[Wall.since.\"old\"]\nuntil = \"old\"\n",
        "spec/docs.toml:1: doc lines of `Wall` since old: it has no line",
    );
    passes(
        "docs.toml",
        "[Short.members]\na = \"A letter.\"\n\n[Long]\nlike = \"Short\"\n",
    );
}

#[test]
fn a_line_that_is_missing_is_listed() {
    let docs = "[everywhere.members]\nmethod = \"What is asked.\"\na = \"A letter.\"\n\n[Wall]\ndoc = \"Upright.\"\n\n[Wall.members]\npaper = \"On it.\"\n\n[Wall.since.\"new\".members]\ncolour = \"Of the paint.\"\n";
    let mut files = made_up(METHODS);
    files.insert("docs.toml".to_owned(), docs.to_owned());
    let spec = Spec::from_files(files).unwrap();
    let models = Models::build(&spec).unwrap();
    let undocumented = models.undocumented();
    let of = |revision: &str| -> Vec<String> {
        let found = undocumented.iter().find(|one| one.of == revision);
        (found.unwrap().names())
            .filter(|key| {
                ["Wall", "Long", "Short"]
                    .iter()
                    .any(|name| key.starts_with(name))
            })
            .collect()
    };
    assert_eq!(
        of("old"),
        [
            "Long",
            "Long.b",
            "Short",
            "Wall.colour",
            "Wall.notes",
            "WallPaper",
            "WallPaper.pattern"
        ]
    );
    assert_eq!(
        of("new"),
        [
            "Long",
            "Long.b",
            "Short",
            "Wall.notes",
            "WallPaper",
            "WallPaper.pattern"
        ]
    );
}
