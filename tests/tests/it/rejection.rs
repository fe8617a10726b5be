//! Every valid text, broken in one place, is refused there; and where a crate and its schema disagree, it is on purpose.

use mcp_revisions_core::Revision;
use std::collections::{BTreeMap, BTreeSet};

use mcp_revisions_schema::RevisionModel;
use mcp_tests::breaks::{self, Break, Harm};
use mcp_tests::judge::Judge;
use mcp_tests::leniency::{self, Case, Verdict};
use mcp_tests::random::{Random, seed};
use mcp_tests::sampler::{Instance, Sampler};
use mcp_tests::tree::{Node, Style, Value};
use mcp_tests::{parallel, text};

/// How many samples of a type are broken at least.
const SAMPLES: usize = 30;
/// How many breaks of a type are tried at most.
const MOST: usize = 300;

/// What the breaks of one type have shown.
#[derive(Default)]
struct Outcome {
    broken: usize,
    refused: usize,
    /// How often each entry of the list of leniencies was used.
    covered: Vec<usize>,
    failures: Vec<String>,
}

#[test]
fn every_break_is_refused_where_it_is() {
    let models = crate::specs::models();
    let mut all = Outcome::default();
    all.covered.resize(leniency::ALL.len(), 0);
    for of in &models.revisions {
        let judge = Judge::new(of.revision, &of.model).unwrap();
        let sampler = Sampler::new(&of.model, &of.revision.id);
        let names: Vec<&String> = of.model.types.keys().collect();
        for one in parallel::map(&names, |name| check(of, &judge, &sampler, name)) {
            all.broken += one.broken;
            all.refused += one.refused;
            all.failures.extend(one.failures);
            for (total, count) in all.covered.iter_mut().zip(one.covered) {
                *total += count;
            }
        }
    }
    println!(
        "{} texts broken, {} of them refused where they are",
        all.broken, all.refused
    );
    for (entry, count) in leniency::ALL.iter().zip(&all.covered) {
        println!(
            "{count:7} {:?} {}: {}",
            entry.verdict, entry.id, entry.reason
        );
        if *count == 0 {
            all.failures
                .push(format!("{} covers nothing: take it out", entry.id));
        }
    }
    let shown: Vec<String> = all.failures.iter().take(20).cloned().collect();
    assert!(
        all.failures.is_empty(),
        "{} failures:\n{}",
        all.failures.len(),
        shown.join("\n")
    );
}

#[test]
fn every_leniency_has_a_name_and_a_reason() {
    let ids: BTreeSet<&str> = leniency::ALL.iter().map(|entry| entry.id).collect();
    assert_eq!(ids.len(), leniency::ALL.len());
    for entry in leniency::ALL {
        assert!(entry.reason.len() > 40, "{}: {}", entry.id, entry.reason);
    }
}

fn check(of: &RevisionModel<'_>, judge: &Judge, sampler: &Sampler<'_>, name: &str) -> Outcome {
    let revision = of.revision.id.as_str();
    let listed: Revision = revision.parse().unwrap();
    let row = listed.type_named(name).unwrap();
    let mut outcome = Outcome::default();
    outcome.covered.resize(leniency::ALL.len(), 0);
    let instances = sampler.instances(name, SAMPLES);
    for (one, instance) in chosen(of, &instances, seed(&[revision, name])) {
        let Some(broken) = one.apply(&instance.node) else {
            continue;
        };
        outcome.broken += 1;
        let text = broken.text(&mut Style::any(instance.seed));
        // What a type keeps as text is held to its schema by `check` and by conversions, not by whoever reads the type.
        let read = row
            .read(&text)
            .map(|value| row.write(&value).unwrap().into_text());
        let allowed = judge.accepts(name, &text);
        let verdict = match &read {
            Err(error) if !allowed && error.pointer() == one.pointer() => {
                outcome.refused += 1;
                continue;
            }
            Ok(written) if allowed && text::same(&text, written) => continue,
            Ok(_) if allowed => Verdict::Rewritten,
            Ok(_) => Verdict::Lenient,
            Err(_) if allowed => Verdict::Strict,
            Err(_) => Verdict::Elsewhere,
        };
        let case = Case {
            verdict,
            of: &one,
            broken: &broken,
            error: read.as_ref().err(),
            model: &of.model,
            judge,
        };
        match leniency::covering(&case) {
            Some(index) => {
                outcome.covered[index] += 1;
                if let Ok(written) = &read
                    && !is_kept(&one, &broken, written)
                {
                    let failure = format!("{revision} {name}: {text}\n  is written as {written}");
                    outcome.failures.push(failure);
                }
            }
            None => outcome.failures.push(format!(
                "{revision} {name}, {:?}, seed {:#x}: {verdict:?}, {:?} at {:?}: {read:?}\n  text: {text}",
                instance.recipe,
                instance.seed,
                one.harm,
                one.pointer(),
            )),
        }
    }
    outcome
}

/// Whether a text that is taken all the same is written whole, but for a null that is no more than absence,
/// and for the spelling of a constant.
fn is_kept(one: &Break, broken: &Node, written: &str) -> bool {
    let mut expected = broken.clone();
    let (outer, member) = match &one.harm {
        Harm::Replaced("null") => match one.path.split_last() {
            Some((member, outer)) => (outer, member),
            None => return false,
        },
        Harm::Stray {
            member,
            value: "null",
            ..
        } => (one.path.as_slice(), member),
        Harm::Respelled => {
            let Some(Value::Word(word)) = expected.get_mut(&one.path).map(|node| &mut node.value)
            else {
                return false;
            };
            *word = word.trim_end_matches(".0").to_owned();
            return text::same(&expected.text(&mut Style::plain()), written);
        }
        _ => return text::same(&expected.text(&mut Style::plain()), written),
    };
    if let Some(Value::Object(members)) = expected.get_mut(outer).map(|node| &mut node.value) {
        members.retain(|other| other.name != *member);
    }
    text::same(&expected.text(&mut Style::plain()), written)
}

/// Every way to break the samples once, in an order that the seed decides, up to the most that are tried.
fn chosen<'i>(
    of: &RevisionModel<'_>,
    instances: &'i [Instance],
    seed: u64,
) -> Vec<(Break, &'i Instance)> {
    let mut all = BTreeMap::new();
    for instance in instances {
        for one in breaks::find(&of.model, &instance.node) {
            all.entry(one.key()).or_insert((one, instance));
        }
    }
    let mut all: Vec<(Break, &Instance)> = all.into_values().collect();
    Random::new(seed).shuffle(&mut all);
    // What stands at the type's own level is all tried: everything below has a type of its own.
    all.sort_by_key(|(one, _)| one.path.len() > 1);
    let own = all.partition_point(|(one, _)| one.path.len() <= 1);
    all.truncate(own.max(MOST));
    all
}
