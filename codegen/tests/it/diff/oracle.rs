//! Seeded edits of real schemas, with values that an independent validator judges: what the diff calls harmless is refused
//! by no receiver, and each example of what breaks holds. A longer run:
//! `ORACLE_SAMPLES=5000 ORACLE_SEED=7 cargo test --release -p mcp-codegen --test it oracle`.

use std::collections::BTreeSet;

use jsonschema::Validator;
use mcp_revisions_diff::{Diff, Meaning, compare};
use serde_json::{Map, Value, json};

use super::witnesses::{self, Judge};
use super::{opened, spec};
use crate::changes::apply;
use crate::changes::random::{KINDS, Random, SPELLINGS, change, number_from};

/// How many edits each test has, if `ORACLE_SAMPLES` says nothing else.
const SAMPLES: u64 = 40;
/// How many values are drawn for each side of an edit.
const VALUES: usize = 60;
/// The depth from which on an object has only the members that it must have.
const DEPTH: usize = 2;

/// Values of the definitions of a schema, most of them valid.
struct Drawing<'s> {
    schema: &'s Value,
    random: Random,
}

impl Drawing<'_> {
    /// A value of no particular type.
    fn any(&mut self) -> Value {
        let any = [
            json!("a"),
            json!("abc"),
            json!(1),
            json!(2.5),
            json!(true),
            json!(null),
            json!([]),
            json!(["a", "a"]),
            json!({}),
            json!({"x-a": 1}),
        ];
        self.random.pick(&any).unwrap().clone()
    }

    fn value(&mut self, node: &Value, depth: usize) -> Value {
        if depth > 0 && depth <= DEPTH && self.random.once_in(9) {
            return self.any();
        }
        if let Some(target) = node["$ref"].as_str() {
            let schema = self.schema;
            let target = schema.pointer(target.trim_start_matches('#'));
            return self.value(target.unwrap(), depth);
        }
        if let Some(constant) = node.get("const") {
            return constant.clone();
        }
        if let Some(values) = node["enum"].as_array() {
            return self.random.pick(values).unwrap().clone();
        }
        for list in ["anyOf", "oneOf"] {
            let choices = node[list].as_array();
            let choices = choices.filter(|_| node.get("properties").is_none());
            if let Some(choice) = choices.and_then(|choices| self.random.pick(choices).cloned()) {
                return self.value(&choice, depth);
            }
        }
        if let Some(parts) = node["allOf"].as_array() {
            let mut whole = Map::new();
            for part in parts {
                whole.extend(
                    self.value(part, depth)
                        .as_object()
                        .cloned()
                        .unwrap_or_default(),
                );
            }
            return Value::Object(whole);
        }
        let kinds = node["type"].as_array().cloned();
        let kind = kinds.and_then(|kinds| self.random.pick(&kinds).cloned());
        let kind = kind.unwrap_or_else(|| node["type"].clone());
        let one = |random: &mut Random, all: &[Value]| random.pick(all).unwrap().clone();
        match kind.as_str() {
            _ if node.get("properties").is_some() => self.object(node, depth),
            Some("object") => self.object(node, depth),
            Some("array") => {
                let count = self.random.below(4);
                let items = node["items"].clone();
                (0..count).map(|_| self.value(&items, depth + 1)).collect()
            }
            Some("string") => {
                let texts = ["", "a", "ab", "abc", "abcd", "a long one", "b"];
                json!(self.random.pick(&texts).unwrap())
            }
            Some("integer") => json!([-1, 0, 1, 2, 3, 4, 100][self.random.below(7)]),
            Some("number") => {
                let numbers = [
                    json!(-1),
                    json!(0),
                    json!(0.5),
                    json!(1),
                    json!(1.5),
                    json!(2),
                ];
                one(&mut self.random, &numbers)
            }
            Some("boolean") => json!(self.random.once_in(2)),
            Some("null") => Value::Null,
            _ => self.any(),
        }
    }

    fn object(&mut self, node: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required: Vec<&str> = (node["required"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        for (name, member) in node["properties"].as_object().into_iter().flatten() {
            let is_wanted = match required.contains(&name.as_str()) {
                true => !self.random.once_in(12),
                false => depth < DEPTH && self.random.once_in(2),
            };
            if is_wanted {
                object.insert(name.clone(), self.value(member, depth + 1));
            }
        }
        let each = node["additionalProperties"].clone();
        let entries = if depth < DEPTH {
            self.random.below(4)
        } else {
            0
        };
        for _ in 0..entries {
            // No name that one side alone gives a meaning: the diff takes it for the same member.
            let names = ["x-a", "x-b", "a", "flavour of it", ""];
            let name = *self.random.pick(&names).unwrap();
            let value = match each.is_object() && !self.random.once_in(4) {
                true => self.value(&each, depth + 1),
                false => self.any(),
            };
            object.entry(name).or_insert(value);
        }
        Value::Object(object)
    }
}

/// The definitions that messages lead to.
fn reached(schema: &Value) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<String> = ["Client", "Server"]
        .iter()
        .flat_map(|side| ["Request", "Notification", "Result"].map(|part| format!("{side}{part}")))
        .collect();
    while let Some(name) = open.pop() {
        let definition = &schema["$defs"][&name];
        if definition.is_null() || !reached.insert(name) {
            continue;
        }
        let text = definition.to_string();
        let targets = text.split("\"#/$defs/").skip(1);
        open.extend(targets.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
    }
    reached
}

/// The schema of a revision of some age, without what upstream has wrong.
fn schema(random: &mut Random) -> (&'static str, Value) {
    let revision = *random.pick(&["2025-11-25", "2026-07-28"]).unwrap();
    (revision, spec().revision(revision).unwrap().schema.clone())
}

fn validator(schema: &Value, definition: &str) -> Option<Validator> {
    let mut whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("#/$defs/{definition}"),
    });
    whole["$defs"] = schema["$defs"].clone();
    schema["$defs"].get(definition)?;
    jsonschema::validator_for(&whole).ok()
}

/// Whether a diff says that a receiver takes all that a sender of the old side, 0, or the new one, 1, sends.
fn is_harmless(diff: &Diff, sender: usize) -> bool {
    diff.uncompared.is_empty()
        && diff.rows.iter().all(|row| {
            let verdict = [row.verdicts.old_to_new, row.verdicts.new_to_old][sender];
            verdict.valid && verdict.meaning != Meaning::Changed
        })
}

/// What the edits of a test came to.
#[derive(Default)]
struct Tally {
    edits: usize,
    examples: usize,
    harmless: usize,
    values: usize,
    failures: Vec<String>,
}

impl Tally {
    /// Compares two schemas that differ in one definition, and puts values of both to both.
    fn compare(&mut self, told: &str, schemas: [&Value; 2], definition: &str, seed: u64) {
        let [old, new] = [("old", 0), ("new", 1)].map(|(name, at)| opened(name, schemas[at], true));
        let diff = compare(&old, &new);
        // Shown where an example does not hold.
        println!("{told}");
        self.edits += 1;
        self.examples += witnesses::check(&mut Judge::default(), &diff, &old, &new);
        let validators = schemas.map(|schema| validator(schema, definition));
        let [Some(of_old), Some(of_new)] = &validators else {
            return;
        };
        for sender in [0, 1] {
            if !is_harmless(&diff, sender) {
                continue;
            }
            self.harmless += 1;
            let (own, theirs) = ([of_old, of_new][sender], [of_new, of_old][sender]);
            let schema = schemas[sender];
            let random = Random::new(seed);
            let mut drawing = Drawing { schema, random };
            let node = &schema["$defs"][definition];
            let mut values = (0..VALUES).map(|_| drawing.value(node, 0));
            let valid: Vec<Value> = values
                .by_ref()
                .filter(|value| own.is_valid(value))
                .collect();
            self.values += valid.len();
            if let Some(value) = valid.iter().find(|value| !theirs.is_valid(value)) {
                let rows: Vec<String> = (diff.rows.iter())
                    .map(|row| format!("{} {:?} {:?}", row.kind, row.verdicts, row.paths.first()))
                    .collect();
                self.failures.push(format!(
                    "{told}: from side {sender} {definition} may be {value}, which is refused; rows: {rows:#?}"
                ));
            }
        }
    }

    fn close(self, least_values: usize) {
        let Self {
            edits,
            examples,
            harmless,
            values,
            failures,
        } = self;
        println!(
            "{edits} edits, {examples} examples, {harmless} harmless directions, {values} values"
        );
        assert!(
            failures.is_empty(),
            "{} failures:\n{}",
            failures.len(),
            failures
                .iter()
                .take(12)
                .cloned()
                .collect::<Vec<_>>()
                .join("\n")
        );
        assert!(
            values > least_values,
            "the values show too little: {values}"
        );
    }
}

#[test]
fn an_edit_that_is_called_harmless_is_refused_by_nobody() {
    let base = number_from("ORACLE_SEED", 1);
    let mut tally = Tally::default();
    for at in 0..number_from("ORACLE_SAMPLES", SAMPLES) {
        let seed = base.wrapping_mul(1_000_003).wrapping_add(at);
        let mut random = Random::new(seed);
        let (revision, old) = schema(&mut random);
        let kind = random.pick(KINDS).unwrap();
        let mut new = old.clone();
        let Some(steps) = change(kind, &mut new, &mut random) else {
            continue;
        };
        let place = steps.split(' ').nth(1).unwrap();
        let definition = place.split('/').next().unwrap();
        if reached(&old).contains(definition) {
            let told = format!("{revision}, seed {seed}: {}: {steps}", kind.0);
            tally.compare(&told, [&old, &new], definition, seed);
        }
    }
    tally.close(300);
}

#[test]
fn a_limit_that_is_called_harmless_is_refused_by_nobody() {
    let base = number_from("ORACLE_SEED", 1);
    let mut tally = Tally::default();
    for at in 0..number_from("ORACLE_SAMPLES", SAMPLES) {
        let seed = base.wrapping_mul(1_000_003).wrapping_add(at);
        let mut random = Random::new(seed);
        let (revision, plain) = schema(&mut random);
        let (places, spellings) = random.pick(SPELLINGS).unwrap();
        let reached = reached(&plain);
        let mut places = places(&plain);
        places.retain(|place| reached.contains(place.split('/').next().unwrap()));
        let Some(place) = random.pick(&places).cloned() else {
            continue;
        };
        let mut sides = [plain.clone(), plain];
        let mut told = format!("{revision}, seed {seed}: {place}");
        for side in &mut sides {
            let steps = random.pick(spellings).unwrap().replace("$at", &place);
            apply(side, &steps);
            told += &format!(" | {}", steps.replace('\n', ", "));
        }
        let definition = place.split('/').next().unwrap();
        let [old, new] = &sides;
        tally.compare(&told, [old, new], definition, seed);
    }
    tally.close(300);
}
