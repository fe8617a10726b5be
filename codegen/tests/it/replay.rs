//! The history of a made-up draft: what went through, what was asked, what was refused.

use crate::says;
use mcp_revisions_schema::sorted::SortedMap;
use std::fs;
use std::path::Path;

use mcp_codegen::import::{ImportOptions, SpecDirectory, UpstreamFile};
use mcp_codegen::replay::{Refused, Replay};
use mcp_revisions_diff::ChangeLevel;
use mcp_revisions_schema::spec::{Lifecycle, RevisionStage};

fn draft(name: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay");
    fs::read_to_string(dir.join(format!("{name}.json"))).unwrap()
}

/// A spec with one release, which the first draft is.
fn spec() -> SpecDirectory {
    let methods = "[[result]]\nmethod = \"wall/paint\"\nresult = \"Wall\"\nsince = \"old\"\n";
    let mut directory = SpecDirectory::from_files(SortedMap::from_iter([
        ("methods.toml".to_owned(), methods.to_owned()),
        (
            "docs.toml".to_owned(),
            "[Wall]\ndoc = \"A wall.\"\n".to_owned(),
        ),
    ]));
    let first = UpstreamFile::of_text("first", &draft("2027-01-01-release")).unwrap();
    for (id, status) in [
        ("old", RevisionStage::Released),
        ("draft", RevisionStage::Draft),
    ] {
        let options = ImportOptions {
            revision: id.to_owned(),
            lifecycle: Some(Lifecycle::PerRequest),
            status: Some(status),
            ..ImportOptions::default()
        };
        directory.import(&first, &options).unwrap();
    }
    directory
}

#[test]
fn the_history_of_a_draft() {
    let mut replay = Replay::new(spec()).unwrap();
    let mut step = |name: &str| replay.step(name, &draft(name));

    let release = step("2027-01-01-release").unwrap();
    assert!(release.rows.is_none() && release.open.is_empty() && release.new == 0);

    // A member that the release does not have.
    let shine = step("2027-01-08-shine").unwrap();
    assert_eq!(
        shine.rows.unwrap(),
        SortedMap::from_iter([(ChangeLevel::Compatible, 1)])
    );
    let places: Vec<&str> = shine.open.iter().map(|one| one.place.as_str()).collect();
    assert_eq!((places, shine.new), (vec!["Wall.shine"], 1));

    // A reference to what is not there: refused with the place, and the next one goes on.
    let Err(Refused::Invalid(dangling)) = step("2027-01-15-dangling") else {
        unreachable!("a schema that refers to what is not there is none");
    };
    let dangling = dangling.to_string();
    says(
        &dangling,
        "2027-01-15-dangling#/$defs/Wall/properties/shine/$ref",
    );

    // A request that nothing answers, beside the member of before.
    let praise = step("2027-01-22-praise").unwrap();
    assert_eq!((praise.open.len(), praise.new), (3, 2), "{:?}", praise.open);
    let package = |name: &str| {
        let found = praise
            .generated
            .crates
            .iter()
            .find(|one| one.package == name);
        found.unwrap().reexports.clone()
    };
    assert_eq!(package("mcp-draft"), None);
}
