//! The tables of pages that name revisions by hand have each of them, as `docs/new-revision.md` says.

use std::fs;

use mcp_revisions_schema::spec::RevisionStage;

use crate::specs::{latest, spec};
use crate::workspace::repository;

/// The cells of the rows of the tables of a page.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository().join(page)).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let cells = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    rows.map(cells).collect()
}

#[test]
fn the_table_of_the_readme_has_each_revision_and_no_other() {
    let rows = rows("README.md");
    let ids: Vec<&str> = rows
        .iter()
        .filter(|row| row.len() == 6)
        .map(|row| row[0].as_str())
        .collect();
    let revisions = &spec().revisions;
    let expected: Vec<&str> = ["revision"]
        .into_iter()
        .chain(revisions.iter().map(|row| row.id.as_str()))
        .collect();
    assert_eq!(ids, expected);
    for revision in revisions {
        let id = &revision.id;
        let row = rows
            .iter()
            .find(|row| row.len() == 6 && row[0] == *id)
            .unwrap();
        let status = match revision.status {
            RevisionStage::Released => "released",
            RevisionStage::Candidate => "candidate",
            RevisionStage::Draft => "moves",
        };
        assert_eq!(row[1], format!("`{}`", revision.wire), "{id}");
        assert!(
            row[2] == revision.lifecycle.as_str() && row[3].starts_with(status),
            "{row:?}"
        );
        assert_eq!(row[4], format!("`mcp-{id}`"));
        assert_eq!(
            row[3].ends_with("latest"),
            *id == latest(spec()).id,
            "{row:?}"
        );
    }
}

#[test]
fn the_features_of_the_guide_reach_from_the_first_release_to_the_one_before_the_latest() {
    let is_released = |row: &&mcp_revisions_schema::Revision| row.status == RevisionStage::Released;
    let released: Vec<&str> = (spec().revisions.iter().filter(is_released))
        .map(|row| row.id.as_str())
        .collect();
    let [first, .., before, _] = released.as_slice() else {
        panic!("{released:?}")
    };
    let feature = format!("`v{first}` to `v{before}`");
    assert!(
        rows("docs/server.md").iter().any(|row| row[0] == feature),
        "{feature}"
    );
}
