//! Every valid text of every type of every revision is read and written without loss.

use mcp_revisions_core::Revision;
use mcp_revisions_schema::RevisionModel;
use mcp_tests::coverage::Coverage;
use mcp_tests::judge::Judge;
use mcp_tests::sampler::Sampler;
use mcp_tests::{parallel, text};

/// How many samples each type has at least.
const LEAST: usize = 200;

/// How many of them, the corners first, have to show the whole schema.
const SHOWING: usize = 80;

/// What the samples of one type have shown.
struct Outcome<'s> {
    samples: usize,
    coverage: Coverage<'s>,
    failures: Vec<String>,
}

#[test]
fn every_valid_text_is_read_and_written_without_loss() {
    let models = crate::specs::models();
    let mut failures = Vec::new();
    let (mut types, mut samples, mut parts) = (0, 0, 0);
    for of in &models.revisions {
        let judge = Judge::new(of.revision, &of.model).unwrap();
        let sampler = Sampler::new(&of.model, &of.revision.id);
        let names: Vec<&String> = of.model.types.keys().collect();
        let outcomes = parallel::map(&names, |name| check(of, &judge, &sampler, name));
        let mut coverage = Coverage::new(&of.revision.schema);
        for outcome in outcomes {
            samples += outcome.samples;
            failures.extend(outcome.failures);
            coverage.join(outcome.coverage);
        }
        types += names.len();
        parts += coverage.count();
        let missing = coverage.missing().into_iter();
        failures.extend(missing.map(|part| format!("{}: no sample shows {part}", of.revision.id)));
    }
    println!("{samples} samples of {types} types, {parts} parts of the schemas shown");
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

fn check<'s>(
    of: &'s RevisionModel<'_>,
    judge: &Judge,
    sampler: &Sampler<'_>,
    name: &str,
) -> Outcome<'s> {
    let revision = of.revision.id.as_str();
    let listed: Revision = revision.parse().expect("a row for each revision");
    let row = listed
        .type_named(name)
        .unwrap_or_else(|| panic!("{revision} has no {name}"));
    let mut coverage = Coverage::new(&of.revision.schema);
    let mut failures = Vec::new();
    let instances = sampler.instances(name, LEAST);
    for (index, instance) in instances.iter().enumerate() {
        let mut fail = |what: String| {
            failures.push(format!(
                "{revision} {name}, {:?}, seed {:#x}: {what}\n  text: {}",
                instance.recipe, instance.seed, instance.text
            ));
        };
        let value = match judge.check(name, &instance.text) {
            Ok(value) => value,
            Err(problem) => {
                fail(format!("the sample does not meet its schema: {problem}"));
                continue;
            }
        };
        match row.round_trip(&instance.text) {
            Err(error) => fail(format!("refused: {error}")),
            Ok(written) if !text::same(&instance.text, &written) => {
                fail(format!("written as {written}"));
            }
            Ok(_) => {}
        }
        if let Some(definition) = &of.model.types[name].definition
            && index < SHOWING
        {
            coverage.mark(definition, &value);
        }
    }
    Outcome {
        samples: instances.len(),
        coverage,
        failures,
    }
}

#[test]
fn the_same_seed_gives_the_same_sample() {
    let models = crate::specs::models();
    let of = models.get("2025-11-25").unwrap();
    let texts = || -> Vec<String> {
        let sampler = Sampler::new(&of.model, "2025-11-25");
        let instances = sampler.instances("Tool", LEAST);
        instances
            .into_iter()
            .map(|instance| instance.text)
            .collect()
    };
    let all = texts();
    assert_eq!(all, texts());
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert!(
        different.len() > LEAST * 9 / 10,
        "{} different samples",
        different.len()
    );
}
