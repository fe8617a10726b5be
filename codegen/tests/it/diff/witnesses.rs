//! Every breaking row has its witness, and an independent validator agrees with it.

use std::collections::HashMap;

use jsonschema::Validator;
use mcp_revisions_diff::{ChangeLevel, ComparedEnd, ComparedSide, Diff, ExchangePart, compare};
use serde_json::{Value, json};

use super::{row_at, sides, sources, spec};

/// Validators of places in schemas, made once each.
#[derive(Default)]
pub(super) struct Judge {
    validators: HashMap<(String, Vec<String>), Validator>,
}

impl Judge {
    /// Whether one of the places admits the text; no place admits nothing.
    fn admits(&mut self, side: &ComparedSide, at: &[String], text: &Value) -> bool {
        let key = (side.label.clone(), at.to_vec());
        let validator = self.validators.entry(key).or_insert_with(|| {
            let places: Vec<Value> = at
                .iter()
                .map(|pointer| json!({"$ref": format!("#{}", escaped(pointer))}))
                .collect();
            let mut schema = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$defs": side.schema["$defs"],
            });
            match places.is_empty() {
                true => schema["not"] = json!({}),
                false => schema["anyOf"] = Value::Array(places),
            }
            jsonschema::validator_for(&schema).unwrap()
        });
        validator.is_valid(text)
    }
}

/// A JSON pointer as the fragment of a URI.
fn escaped(pointer: &str) -> String {
    pointer
        .replace('%', "%25")
        .replace('$', "%24")
        .replace('"', "%22")
}

pub(super) fn check(
    judge: &mut Judge,
    diff: &Diff,
    old: &ComparedSide,
    new: &ComparedSide,
) -> usize {
    let mut checked = 0;
    for row in &diff.rows {
        let (from, to, first) = (&old.label, &new.label, row.paths.first());
        let place = || format!("{from} -> {to}: {} {first:?}", row.kind);
        let refused = [
            (ComparedEnd::Old, row.verdicts.old_to_new),
            (ComparedEnd::New, row.verdicts.new_to_old),
        ];
        for (sender, verdict) in refused {
            let mut witnesses = row.witnesses.iter();
            let witness = witnesses.find(|witness| witness.valid_in == sender);
            // A header that is missing stands in no JSON text.
            let by_text = !verdict.valid && verdict.over.is_none();
            let has_one = witness.is_some();
            assert_eq!(has_one, by_text, "a witness for each refusal: {}", place());
            let of_header = row
                .paths
                .first()
                .is_some_and(|path| path.part == ExchangePart::Header);
            assert!(verdict.over.is_none() || of_header, "{}", place());
            let Some(witness) = witness else { continue };
            let in_old = judge.admits(old, &witness.old, &witness.json);
            let in_new = judge.admits(new, &witness.new, &witness.json);
            let expected = (sender == ComparedEnd::Old, sender == ComparedEnd::New);
            assert_eq!((in_old, in_new), expected, "{}: {}", place(), witness.json);
            if [&witness.old, &witness.new].iter().any(|at| at.is_empty()) {
                // Nothing lists messages of that kind: no definition of the role is there.
                assert_eq!(witness.part, ExchangePart::Message, "{}", place());
            }
            checked += 1;
        }
        let over_http = refused.iter().any(|(_, verdict)| verdict.over.is_some());
        let breaks = !row.witnesses.is_empty() || over_http;
        assert_eq!(row.level == ChangeLevel::Breaking, breaks, "{}", place());
    }
    checked
}

#[test]
fn every_witness_holds_between_any_two_revisions() {
    let mut judge = Judge::default();
    let mut checked = 0;
    for old in sides() {
        for new in sides() {
            checked += check(&mut judge, &compare(old, new), old, new);
        }
    }
    assert!(checked > 1_000, "{checked} witnesses");
}

#[test]
fn every_witness_holds_without_errata() {
    let raw: Vec<ComparedSide> = spec()
        .revisions
        .iter()
        .map(|revision| sources().of_revision(revision, true).unwrap())
        .collect();
    let mut judge = Judge::default();
    let mut checked = 0;
    for pair in raw.windows(2) {
        checked += check(&mut judge, &compare(&pair[0], &pair[1]), &pair[0], &pair[1]);
    }
    assert!(checked > 100, "{checked} witnesses");
}

/// A witness shows the change of its row: undone at that place alone, the text is admitted.
#[test]
fn the_witness_of_a_missing_member_lacks_just_that_member() {
    let diff = compare(super::side("2025-11-25"), super::side("2026-07-28"));
    let witness = &row_at(&diff, "S2C tools/list result $.ttlMs").witnesses[0];
    let mut judge = Judge::default();
    let new = super::side("2026-07-28");
    assert!(!judge.admits(new, &witness.new, &witness.json));
    let mut mended = witness.json.clone();
    mended["ttlMs"] = json!(0);
    assert!(judge.admits(new, &witness.new, &mended));
}

/// What else differs at the same place is no witness: an open object passes over a member that it no longer knows.
#[test]
fn a_removed_optional_member_of_an_open_object_is_refused_by_nobody() {
    let diff = compare(super::side("2025-11-25"), super::side("2026-07-28"));
    for path in [
        "C2S tools/call params $.task",
        "S2C tools/list result $.tools[].execution",
        "C2S roots/list result $._meta",
    ] {
        let row = row_at(&diff, path);
        let found = (row.level, row.witnesses.len());
        assert_eq!(found, (ChangeLevel::Risky, 0), "{path}");
    }
}
