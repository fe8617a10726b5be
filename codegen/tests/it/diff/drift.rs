//! What a new receiver may refuse is never told as compatible: every keyword that can refuse, judged by another validator.

use mcp_revisions_diff::render::{change_line, verdict_word};
use mcp_revisions_diff::{ChangeLevel, ComparedSide, DiffRow, compare};
use serde::Deserialize;
use serde_json::{Value, json};

use super::witnesses::{Judge, check};
use super::{latest, opened, schema};
use crate::changes::{json as parsed, read};

#[derive(Deserialize)]
struct File {
    of: Vec<Drift>,
    told: Vec<Told>,
}

/// What a member says before, and what it says after with all that is reported of that.
#[derive(Deserialize)]
struct Told {
    old: String,
    new: Vec<Vec<String>>,
}

/// What a member says before, what it says after, and values that only the first admits.
#[derive(Deserialize)]
struct Drift {
    old: String,
    /// What the new one says more.
    #[serde(default)]
    more: Vec<[String; 2]>,
    /// All that the new one says.
    #[serde(default)]
    new: Vec<[String; 2]>,
}

/// A member before and after, and a value that only the first admits.
fn drifts() -> Vec<[Value; 3]> {
    let mut all = Vec::new();
    for Drift { old, more, new } in read::<File>("drift").of {
        let old = parsed(&old);
        for [more, refused] in more {
            let mut new = old.clone();
            let more = parsed(&more).as_object().cloned().unwrap();
            new.as_object_mut().unwrap().extend(more);
            all.push([old.clone(), new, parsed(&refused)]);
        }
        for [new, refused] in new {
            all.push([old.clone(), parsed(&new), parsed(&refused)]);
        }
    }
    // A text that is too long to be written down.
    let long = json!({"type": "string", "maxLength": 5000});
    all.push([json!({"type": "string"}), long, json!("x".repeat(5001))]);
    all
}

/// The latest release with a member of that kind in a tool.
fn with_probe(probe: &Value) -> Value {
    let mut schema = schema(latest());
    schema["$defs"]["Tool"]["properties"]["probe"] = probe.clone();
    schema
}

fn open(name: &str, schema: &Value) -> ComparedSide {
    opened(name, schema, true)
}

/// Whether a schema admits a tool with that probe, as the validator sees it.
fn admits(schema: &Value, probe: &Value) -> bool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": schema["$defs"],
        "$ref": "#/$defs/Tool/properties/probe",
    });
    jsonschema::validator_for(&schema).unwrap().is_valid(probe)
}

#[test]
fn what_a_new_receiver_refuses_is_breaking_and_shown() {
    let mut judge = Judge::default();
    let mut wrong = Vec::new();
    for [old, new, refused] in drifts() {
        let name = &new;
        let (before, after) = (with_probe(&old), with_probe(&new));
        assert!(
            admits(&before, &refused) && !admits(&after, &refused),
            "{name}: the case itself is wrong"
        );
        let (left, right) = (open("old.json", &before), open("new.json", &after));
        for (old, new, there) in [(&left, &right, true), (&right, &left, false)] {
            let diff = compare(old, new);
            check(&mut judge, &diff, old, new);
            let refused = diff.rows.iter().any(|row| match there {
                true => !row.verdicts.old_to_new.valid,
                false => !row.verdicts.new_to_old.valid,
            });
            if !refused || diff.summary().wire != Some(ChangeLevel::Breaking) {
                let rows = diff
                    .rows
                    .iter()
                    .map(|row| (row.kind, row.level, &row.subject));
                wrong.push(format!("{name} ({there}): {:?}", rows.collect::<Vec<_>>()));
            }
        }
        judge = Judge::default();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_that_is_told_of_a_change_is_so() {
    let mut judge = Judge::default();
    let mut wrong = Vec::new();
    for Told { old, new } in read::<File>("drift").told {
        let before = open("old.json", &with_probe(&parsed(&old)));
        for new in new {
            let (new, said) = new.split_first().unwrap();
            let after = open("new.json", &with_probe(&parsed(new)));
            let diff = compare(&before, &after);
            check(&mut judge, &diff, &before, &after);
            let told = |row: &DiffRow| {
                let (line, of) = (change_line(row), row.verdicts);
                let [up, down] = [of.old_to_new, of.new_to_old].map(verdict_word);
                format!("{line}, {up} up, {down} down")
            };
            let told: Vec<String> = diff.rows.iter().map(told).collect();
            if told != said {
                wrong.push(format!("{old} -> {new}: {told:#?}"));
            }
            judge = Judge::default();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A keyword that is not known here may refuse anything to whoever knows it.
#[test]
fn a_keyword_that_is_not_understood_is_told() {
    let text = json!({"type": "string"});
    for (keyword, value) in [
        ("alphabet", json!("latin")),
        ("$dynamicRef", json!("#node")),
    ] {
        let mut new = text.clone();
        new[keyword] = value;
        let diff = compare(
            &open("old.json", &with_probe(&text)),
            &open("new.json", &with_probe(&new)),
        );
        let [row] = diff.rows.as_slice() else {
            panic!("{keyword}: {:?}", diff.rows);
        };
        assert_eq!(row.subject.as_deref(), Some(keyword));
        assert_eq!(row.level, ChangeLevel::Risky, "{keyword}");
        let after = &row.after.as_ref().unwrap().text;
        assert!(after.contains("not understood"), "{after}");
    }
}

/// What stands within such a keyword is compared wherever it stands.
#[test]
fn a_definition_that_a_not_refers_to_is_compared() {
    let probe = json!({"type": "object", "not": {"$ref": "#/$defs/Probe"}});
    let with = |definition: Value| {
        let mut schema = with_probe(&probe);
        schema["$defs"]["Probe"] = definition;
        schema
    };
    let old = with(json!({"type": "object", "required": ["a", "b"]}));
    let new = with(json!({"type": "object", "required": ["a"]}));
    assert!(admits(&old, &json!({"a": 1})) && !admits(&new, &json!({"a": 1})));
    let (old, new) = (open("old.json", &old), open("new.json", &new));
    let diff = compare(&old, &new);
    assert_eq!(check(&mut Judge::default(), &diff, &old, &new), 1);
}

/// Names of definitions do not matter within them.
#[test]
fn a_definition_within_a_not_may_be_renamed() {
    let with = |name: &str| {
        let mut schema = with_probe(&json!({"not": {"$ref": format!("#/$defs/{name}")}}));
        schema["$defs"][name] = json!({"type": "object", "required": ["a"]});
        schema
    };
    let diff = compare(
        &open("old.json", &with("Probe")),
        &open("new.json", &with("Sample")),
    );
    assert!(
        diff.rows
            .iter()
            .all(|row| row.level == ChangeLevel::Representation),
        "{:?}",
        diff.rows
    );
}

/// Schemas that refer to themselves end, whatever they say.
#[test]
fn a_not_of_itself_ends() {
    let with = |limit: u32| {
        let mut schema = with_probe(&json!({"$ref": "#/$defs/Probe"}));
        schema["$defs"]["Probe"] = json!({
            "not": {"$ref": "#/$defs/Probe"},
            "allOf": [{"not": {"$ref": "#/$defs/Probe"}}, {"maxLength": limit}],
        });
        schema
    };
    let diff = compare(&open("old.json", &with(1)), &open("new.json", &with(2)));
    assert!(
        diff.rows.iter().all(|row| row.level >= ChangeLevel::Risky),
        "{:?}",
        diff.rows
    );
    assert!(!diff.rows.is_empty());
}
