//! A released schema changed at random, and converted from and to the one that it was.
//!
//! Each change of the catalogue, with two at random beside it, is planned both ways: what no rule answers is listed, once, and
//! the rows that it proposes settle it. Many changes together are emitted, compiled, and held to the laws on sampled values.

use mcp_revisions_schema::sorted::SortedMap;

use mcp_revisions_diff::ComparedSchemas;
use mcp_revisions_plans::rules::PairRules;
use mcp_revisions_plans::{PairSide, Planned, plan_compared};
use mcp_revisions_schema::Spec;
use mcp_revisions_schema::decision::{Decision, Scope};
use mcp_revisions_schema::model::Model;
use mcp_revisions_schema::rules::Rules;
use mcp_revisions_schema::spec::methods::MethodRules;
use mcp_revisions_schema::spec::rules::RuleFile;
use serde_json::Value;

pub(crate) mod compiled;
mod sample;

use crate::changes::random::{KINDS, Random, change};
use crate::changes::{FILES, catalogue, changed};
use crate::specs;

/// Rules of the spec, and what they make of a schema.
struct Maker {
    spec: &'static Spec,
    rules: Rules,
    methods: MethodRules,
}

impl Maker {
    fn new() -> Self {
        let spec = specs::spec();
        let rules = Rules::read(&spec.rules).unwrap();
        let methods = MethodRules::read(spec).unwrap();
        Self {
            spec,
            rules,
            methods,
        }
    }

    /// The model of a schema; nothing for a change that no schema can have.
    fn model(&self, schema: &Value, revision: &str) -> Option<Model> {
        let scope = Scope::Revision(revision.to_owned());
        let prose = SortedMap::new();
        let built = Model::build(schema, &scope, &self.rules, &self.methods, &prose);
        built.ok().map(|built| built.model)
    }
}

/// Plans two models, whose schemas are compared, by the text of a rule file.
fn planned(old: &Model, new: &Model, compared: &ComparedSchemas, rules: &str) -> Planned {
    let side = |id, model| PairSide {
        id,
        wire: id,
        model,
        errors: &[],
    };
    let rules = PairRules::read(RuleFile::new("rules.toml", rules)).unwrap();
    plan_compared(side("old", old), side("new", new), Some(compared), &rules)
}

/// The rows of decisions that leave nothing to be filled in but reason and source.
fn rows(open: &[Decision]) -> (String, Vec<&str>) {
    let complete = |open: &&Decision| {
        let stub = &open.settle.stub;
        !stub.contains("{ default = {} }") && !stub.contains("= \"\" }")
    };
    let settled: Vec<&Decision> = open.iter().filter(complete).collect();
    // One row may settle several decisions; it is written once, as the scaffold writes it.
    let mut stubs: Vec<&str> = Vec::new();
    for open in &settled {
        let stub = open.settle.stub.as_str();
        if !stubs.contains(&stub) {
            stubs.push(stub);
        }
    }
    (
        specs::filled(&stubs.concat()),
        settled.iter().map(|open| open.place.as_str()).collect(),
    )
}

/// Plans a change both ways: adds what is wrong, and returns how many of the plans leave something open.
fn carried_or_named(told: &str, one: &Model, other: &Model, wrong: &mut Vec<String>) -> usize {
    let mut named = 0;
    for (old, new) in [(one, other), (other, one)] {
        // The rows that a plan proposes change nothing in the schemas, which are compared once for each way.
        let compared = match ComparedSchemas::of(old, new) {
            Ok(compared) => compared,
            Err(errors) => {
                wrong.extend(errors.iter().map(|error| format!("{told}: {error}")));
                return named;
            }
        };
        let first = planned(old, new, &compared, "");
        if let Some(fault) = first.faults.first() {
            wrong.push(format!("{told}: {fault}"));
        }
        named += usize::from(!first.plan.open.is_empty());
        let (rows, places) = rows(&first.plan.open);
        if places.is_empty() {
            continue;
        }
        let again = planned(old, new, &compared, &rows);
        if let Some(fault) = again.faults.first() {
            wrong.push(format!("{told}: by its own rows: {fault}\n{rows}"));
        }
        let mut left = again.plan.open.iter();
        if let Some(left) = left.find(|open| places.contains(&&*open.place)) {
            wrong.push(format!("{told}: still open: {left}"));
        }
    }
    named
}

#[test]
fn each_change_is_carried_or_named_and_its_row_settles_it() {
    let maker = Maker::new();
    let mut bases = SortedMap::new();
    let (mut made, mut named, mut wrong) = (0, 0, Vec::new());
    let rows = FILES.iter().flat_map(|file| catalogue(file));
    for (seed, row) in rows.enumerate() {
        let id = row.of.as_str();
        let schema = &maker.spec.revision(id).unwrap().schema;
        let base = bases.entry(row.of.clone());
        let base = base.or_insert_with(|| maker.model(schema, id).unwrap());
        let randomly = |mut schema: Value| {
            let mut random = Random::new(seed as u64);
            let kinds = [2 * seed, 2 * seed + 1].map(|at| &KINDS[at % KINDS.len()]);
            let steps = kinds.map(|kind| change(kind, &mut schema, &mut random));
            let steps: Vec<String> = steps.into_iter().flatten().collect();
            (schema, steps)
        };
        let with_row = changed(schema, &row.steps);
        let (with_all, steps) = randomly(with_row.clone());
        let mut check = |schema: &Value, steps: &[String]| {
            let model = maker.model(schema, id)?;
            let told = format!("{}, {id}, {}", row.what, steps.join("; "));
            made += 1 + steps.len();
            named += carried_or_named(&told, base, &model, &mut wrong);
            Some(())
        };
        if check(&with_all, &steps).is_none() {
            // The generator refuses the schema with all these changes: each is tried in a schema of its own.
            let _ = check(&with_row, &[]);
            let (schema, steps) = randomly(schema.clone());
            let _ = check(&schema, &steps);
        }
    }
    println!("{made} changes, {named} plans with something open");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(made >= 380 && named >= 250, "{made} changes, {named}");
}
