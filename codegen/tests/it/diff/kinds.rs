//! What a diff says of each change of the catalogue; `rules` has the kinds of the rule file.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use mcp_revisions_diff::{ChangeKind, ComparedSide, Diff, DiffRow, compare};

use super::{diff_of, opened, row_at, schema, sources, undoes};
use crate::changes::{Change, FILES, catalogue, changed, each_file};
use crate::specs::spec;

/// How a diff differs from what its change is said to come to.
fn wrong(change: &Change, diff: &Diff) -> Option<String> {
    let short = |row: &DiffRow| {
        let paths = row.paths.iter().map(ToString::to_string);
        paths.min_by_key(|path| (path.len(), path.clone()))
    };
    let told = |row: &DiffRow| format!("{} {}", row.kind, row.level);
    let says = |row: &DiffRow, said: &str| {
        let rest = said.strip_prefix(&told(row));
        rest.is_some_and(|rest| {
            let has = |path: &str| row.paths.iter().any(|is| is.to_string() == path);
            rest.is_empty() || rest.trim_start().split(" & ").all(has)
        })
    };
    let said = &change.diff;
    let all = said
        .iter()
        .all(|said| diff.rows.iter().any(|row| says(row, said)))
        && diff
            .rows
            .iter()
            .all(|row| said.iter().any(|said| says(row, said)));
    // Each row is told, or else only what kinds of them there are.
    let each: Vec<String> = (diff.rows.iter())
        .map(|row| {
            format!("{} {}", told(row), short(row).unwrap_or_default())
                .trim()
                .to_owned()
        })
        .collect();
    let kinds: SortedSet<String> = diff.rows.iter().map(told).collect();
    let found = if each.len() > 2 {
        kinds.into_iter().collect()
    } else {
        each
    };
    (!all).then(|| format!("{}:\ndiff = {found:?}", change.what))
}

/// What the diff says of the changes of a file, there and back.
fn check(file: &str) {
    let mut told = Vec::new();
    let mut olds: SortedMap<String, ComparedSide> = SortedMap::new();
    for change in catalogue(file) {
        let schema = schema(&change.of);
        let new = changed(&schema, &change.steps).to_string();
        // What refers to nothing is no schema to the diff.
        let Ok(new) = sources().of_text("new.json", &new, false) else {
            if change.diff != ["refused"] {
                told.push(format!("{}:\ndiff = [\"refused\"]", change.what));
            }
            continue;
        };
        let old = olds.entry(change.of.clone());
        let old = old.or_insert_with(|| opened("old.json", &schema, false));
        let diff = compare(old, &new);
        told.extend(wrong(&change, &diff));
        for row in compare(&new, old).rows {
            let mut kinds = diff.rows.iter().map(|row| row.kind);
            assert!(
                kinds.any(|kind| undoes(row.kind, kind)),
                "{}: {row:?}",
                change.what
            );
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n\n"));
}

each_file!(check);

#[test]
fn every_kind_is_provoked_and_explained() {
    let kinds = |file: &&str| catalogue(file).into_iter().flat_map(|change| change.diff);
    let kinds = |file: &&str| kinds(file).filter(|row| row != "refused");
    let mut provoked: SortedSet<ChangeKind> = (FILES.iter().flat_map(kinds))
        .map(|row| row.split(' ').next().unwrap_or_default().parse().unwrap())
        .collect();
    provoked.extend([
        ChangeKind::ResultAdded,
        ChangeKind::ErrorCodeAdded,
        ChangeKind::ErrorCodeChanged,
        ChangeKind::HeaderAdded,
        ChangeKind::HeaderRemoved,
        ChangeKind::HeaderChanged,
        ChangeKind::RuleAdded,
        ChangeKind::RuleRemoved,
        ChangeKind::RuleChanged,
        ChangeKind::Undeprecated,
        // The tests of locks provoke what no schema says.
        ChangeKind::TextChanged,
        ChangeKind::HintWeakened,
        ChangeKind::HiddenCharacters,
        ChangeKind::StatementChanged,
    ]);
    for kind in ChangeKind::ALL {
        assert!(provoked.contains(kind), "{kind} is not provoked");
        let told = kind.explain();
        for text in [told.means, told.breaks, told.todo, told.example] {
            assert!(!text.is_empty(), "{kind}");
        }
        assert_eq!(kind.id().parse::<ChangeKind>().unwrap(), *kind);
    }
}

#[test]
fn a_result_that_an_extension_adds_to_a_request_of_its_revision_is_compared() {
    let tasks = (spec().extensions.iter()).find(|one| !one.results.is_empty());
    let old = &tasks.unwrap().raw;
    let new = changed(old, "put Task/properties/flavour {\"type\": \"integer\"}");
    let diff = diff_of(old, &new);
    row_at(&diff, "S2C tools/call result $.flavour");
    assert!(diff_of(old, old).rows.is_empty());
}
