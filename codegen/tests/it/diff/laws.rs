//! Laws: nothing from nothing, a mirror, names do not matter, the parts account for the whole.

use std::collections::BTreeSet;

use mcp_revisions_diff::{ChangeKind, ComparedEnd, ComparedSide, Diff, DiffRow, Verdicts, compare};
use serde_json::Value;

use super::{diff_of, opened, schema, sides, sources, spec, undoes};
use crate::changes::{apply, changed};

#[test]
fn a_revision_does_not_differ_from_itself() {
    for side in sides() {
        assert_eq!(compare(side, side).rows, [], "{}", side.label);
    }
    for revision in &spec().revisions {
        let raw = sources().of_revision(revision, true).unwrap();
        assert_eq!(compare(&raw, &raw).rows, [], "{} raw", revision.id);
    }
}

/// What a row says, in a form that can be compared with its mirror image.
fn told(row: &DiffRow, mirrored: bool) -> String {
    let verdicts = if mirrored {
        Verdicts::of(row.verdicts.new_to_old, row.verdicts.old_to_new)
    } else {
        row.verdicts
    };
    let paths = |paths: &[mcp_revisions_diff::WirePath]| -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    };
    let text = |view: &Option<mcp_revisions_diff::View>| {
        view.as_ref().map(|view| (view.required, view.text.clone()))
    };
    let mut facts = [
        (paths(&row.from), text(&row.before)),
        (paths(&row.to), text(&row.after)),
    ];
    let mut ends: Vec<ComparedEnd> = row
        .witnesses
        .iter()
        .map(|witness| witness.valid_in)
        .collect();
    if mirrored {
        facts.reverse();
        for end in &mut ends {
            *end = if *end == ComparedEnd::Old {
                ComparedEnd::New
            } else {
                ComparedEnd::Old
            };
        }
        ends.sort_unstable();
    }
    format!("{:?} {facts:?} {verdicts:?} {ends:?}", paths(&row.paths))
}

#[test]
fn two_directions_mirror_each_other() {
    for (index, old) in sides().iter().enumerate() {
        // Each pair once: the mirror of a mirror is the same statement.
        for new in &sides()[index..] {
            let (there, back) = (compare(old, new), compare(new, old));
            let mut forward: Vec<(String, ChangeKind)> = there
                .rows
                .iter()
                .map(|row| (told(row, false), row.kind))
                .collect();
            let mut backward: Vec<(String, ChangeKind)> = back
                .rows
                .iter()
                .map(|row| (told(row, true), row.kind))
                .collect();
            forward.sort();
            backward.sort();
            let pair = format!("{} and {}", old.label, new.label);
            assert_eq!(forward.len(), backward.len(), "{pair}");
            for ((left, kind), (right, undone)) in forward.iter().zip(&backward) {
                assert_eq!(left, right, "{pair}");
                assert!(
                    undoes(*undone, *kind),
                    "{pair}: {kind} and {undone} at {left}"
                );
            }
        }
    }
}

#[test]
fn fingerprints_tell_rows_apart_and_do_not_depend_on_the_labels() {
    for (index, old) in sides().iter().enumerate() {
        for new in &sides()[index + 1..] {
            let diff = compare(old, new);
            let unique: BTreeSet<&str> = diff
                .rows
                .iter()
                .map(|row| row.fingerprint.as_str())
                .collect();
            assert_eq!(unique.len(), diff.rows.len(), "{} {}", old.label, new.label);
            for row in &diff.rows {
                assert!(
                    row.fingerprint.len() == 12
                        && row.fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit())
                );
            }
        }
    }
    // Two choices that are told apart by nothing but what is in them keep their ids without each other.
    let bare = schema("2024-11-05");
    let list = |most: u32| {
        format!(
            "put JSONRPCMessage/anyOf/- {{\"type\": \"array\", \"items\": {{\"type\": \"string\", \"maxLength\": {most}}}}}\n"
        )
    };
    let limited = changed(&bare, &(list(3) + &list(5)));
    let alike = |diff: &Diff| -> BTreeSet<String> {
        let arrays = diff
            .rows
            .iter()
            .filter(|row| row.subject.as_deref() == Some("array"));
        arrays.map(|row| row.fingerprint.clone()).collect()
    };
    for both in [schema("2025-03-26"), limited] {
        let all = alike(&diff_of(&bare, &both));
        assert_eq!(all.len(), 2);
        let choices = both["$defs"]["JSONRPCMessage"]["anyOf"].as_array().unwrap();
        let lists = (0..choices.len()).filter(|at| choices[*at]["type"] == "array");
        for at in lists {
            let one = changed(&both, &format!("take JSONRPCMessage/anyOf/{at}"));
            let left = alike(&diff_of(&bare, &one));
            assert_eq!(left.len(), 1);
            assert!(left.is_subset(&all), "{left:?} of {all:?}");
        }
    }

    let old = schema("2026-07-28");
    let flavour = |name: &str| format!("put {name}/properties/flavour {{\"type\": \"string\"}}");
    let first = changed(&old, &flavour("Tool"));
    // The next draft of the day has the same change and another one.
    let second = changed(&first, &flavour("Prompt"));
    let (first, second) = (diff_of(&old, &first), diff_of(&old, &second));
    let ids = |diff: &Diff| -> BTreeSet<String> {
        diff.rows
            .iter()
            .map(|row| row.fingerprint.clone())
            .collect()
    };
    assert_eq!((first.rows.len(), second.rows.len()), (1, 2));
    assert!(ids(&first).is_subset(&ids(&second)));
}

/// Definitions whose names carry meaning: they list messages, or pair requests with results.
fn is_named_by_the_protocol(name: &str) -> bool {
    let ends = [
        "Request",
        "Result",
        "Response",
        "Notification",
        "Error",
        "Message",
    ];
    ends.iter().any(|end| name.ends_with(end))
}

/// The diff to a schema as it stands.
fn raw_diff_of(old: &ComparedSide, new: &Value) -> Diff {
    compare(old, &opened("new.json", new, true))
}

#[test]
fn renaming_every_definition_gives_renames_and_nothing_else() {
    for revision in &spec().revisions {
        let old = schema(&revision.id);
        let mut new = old.clone();
        let names: Vec<String> = old["$defs"].as_object().unwrap().keys().cloned().collect();
        let mut renamed = 0;
        for name in names.iter().filter(|name| !is_named_by_the_protocol(name)) {
            apply(&mut new, &format!("rename {name} Other{name}"));
            renamed += 1;
        }
        assert!(
            renamed > 20,
            "{}: the script renames {renamed}",
            revision.id
        );
        // Errata name definitions by their old names: compare without them.
        let diff = raw_diff_of(&opened("old.json", &old, true), &new);
        for row in &diff.rows {
            assert_eq!(
                row.kind,
                ChangeKind::DefinitionRenamed,
                "{}: {row:?}",
                revision.id
            );
            let place = &row.places[0];
            assert_eq!(format!("Other{}", place.old), place.new, "{}", revision.id);
        }
        assert!(
            diff.rows.len() > 10,
            "{}: {} renames seen",
            revision.id,
            diff.rows.len()
        );
    }
}

#[test]
fn inlining_a_definition_gives_no_wire_row() {
    // Each with the least number of definitions that are inlined in it.
    let revisions = spec().revisions.iter().map(|one| (&one.id, &one.raw, 21));
    // An extension without messages has nothing on the wire.
    let talking = spec()
        .extensions
        .iter()
        .filter(|one| !one.methods.is_empty());
    let extensions = talking.map(|one| (&one.name, &one.raw, 1));
    let states: Vec<(&String, &Value, usize)> = revisions.chain(extensions).collect();
    for (at, (state, old, least)) in states.iter().enumerate() {
        // A draft that says what its release says has nothing of its own to inline.
        if states[..at].iter().any(|(_, other, _)| other == old) {
            continue;
        }
        let side = opened("old.json", old, true);
        let mut inlined = 0;
        // Every other definition, and then those between, in each of which stand others.
        for first in [0, 1] {
            let (mut new, mut names) = (Value::clone(old), Vec::new());
            let all = old["$defs"].as_object().unwrap().keys();
            for name in all
                .filter(|name| !is_named_by_the_protocol(name))
                .skip(first)
                .step_by(2)
            {
                let itself = format!("#/$defs/{name}\"");
                if !new["$defs"][name].to_string().contains(&itself) {
                    apply(&mut new, &format!("inline {name}"));
                    names.push(name);
                }
            }
            // An erratum that went into the definition no longer finds it: compare without errata.
            let diff = raw_diff_of(&side, &new);
            assert_eq!(diff.rows, [], "{state}: {names:?} inlined");
            inlined += names.len();
        }
        assert!(inlined >= *least, "{state}: {inlined} inlined");
    }
}

#[test]
fn extracting_inline_params_gives_no_wire_row() {
    let old = schema("2025-06-18");
    let mut new = old.clone();
    let mut extracted = 0;
    for (name, definition) in old["$defs"].as_object().unwrap() {
        if definition["properties"]["params"]
            .get("properties")
            .is_some()
        {
            let params = format!("extract {name}/properties/params {name}Params");
            apply(&mut new, &params);
            extracted += 1;
        }
    }
    assert!(extracted > 10);
    let diff = raw_diff_of(&opened("old.json", &old, true), &new);
    assert_eq!(diff.rows, []);
}

/// A path as it is printed, without what tells the choices of unions apart.
fn without_choices(path: &str) -> String {
    let mut bare = String::new();
    let mut depth = 0_usize;
    for letter in path.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            letter if depth == 0 => bare.push(letter),
            _ => {}
        }
    }
    bare
}

#[test]
fn adjacent_revisions_account_for_the_ends() {
    let bare = |row: &DiffRow| -> Vec<String> {
        row.paths
            .iter()
            .map(|path| without_choices(&path.to_string()))
            .collect()
    };
    let steps: Vec<Diff> = sides()
        .windows(2)
        .map(|pair| compare(&pair[0], &pair[1]))
        .collect();
    let touched: BTreeSet<String> = steps
        .iter()
        .flat_map(|diff| &diff.rows)
        .flat_map(bare)
        .collect();
    let above_or_below = |path: &str| {
        touched.iter().any(|other| {
            let begins = |long: &str, short: &str| {
                long.strip_prefix(short).is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with(['.', '[', ' ']) || short.ends_with('$')
                })
            };
            begins(path, other) || begins(other, path)
        })
    };
    let ends = compare(&sides()[0], sides().last().unwrap());
    assert!(ends.rows.len() > 50);
    for row in &ends.rows {
        for path in bare(row) {
            assert!(
                above_or_below(&path),
                "no step touches {path} ({})",
                row.kind
            );
        }
    }
    // And the other way round: what every step leaves alone is the same at both ends.
    let untouched = ends.rows.iter().filter(|row| row.paths.is_empty());
    for row in untouched {
        assert_eq!(row.kind, ChangeKind::DefinitionRenamed);
    }
}
