//! Random messages between every two revisions: the receiver's schema accepts what arrives, and what is exact comes back.
//!
//! Each step is held by `shims_laws`; here the whole way is, by method, with the judge at its end only. A longer run:
//! `ORACLE_SAMPLES=2000 ORACLE_SEED=7 cargo test --release -p mcp-tests --test it oracle`.

use std::collections::BTreeSet;

use mcp_revisions_core::values::{TABLES, method_name};
use mcp_revisions_core::{Outcome, Part, Revision, Subject, UnknownFields};
use mcp_tests::random::seed;
use mcp_tests::sampler::{Recipe, Sampler};
use mcp_tests::shims::laws::same_but_for_implied;
use mcp_tests::shims::steps::context;
use mcp_tests::shims::world::World;
use mcp_tests::tree::Style;
use mcp_tests::{parallel, text};
use mcp_wire::{Json, MethodInfo};

use crate::shims_laws::complete;

/// How many random samples each part of a method has, for each target, if `ORACLE_SAMPLES` says nothing else.
const SAMPLES: u64 = 12;

/// A number from the environment.
fn number(variable: &str, default: u64) -> u64 {
    let value = std::env::var(variable).ok();
    let number = value.map(|value| value.parse().expect("a number"));
    number.unwrap_or(default)
}

/// What became of a sample.
#[derive(Clone, Copy)]
enum Verdict {
    /// No value arrived.
    Stopped,
    /// A value, and losses or new shapes that are told.
    Told,
    /// A value that is exact and comes back equal.
    Exact,
    /// A value that is exact, and whose way back needs a connection, which alone knows what its client has asked for.
    OneWay,
}

/// A part of a method, on the way from one revision to another.
struct Way {
    row: &'static MethodInfo,
    part: Part,
    from: Revision,
    to: Revision,
}

impl Way {
    fn label(&self) -> String {
        let Self { from, to, .. } = self;
        format!("{from} to {to}: {} {:?}", self.row.name, self.part)
    }

    /// The method as a revision calls it.
    fn method_in(&self, at: Revision) -> &'static str {
        method_name(self.row.name, self.row.direction, self.from, at)
    }

    fn convert(&self, from: Revision, to: Revision, text: &str) -> Result<Outcome<Json>, String> {
        let method = self.method_in(from);
        let subject = Subject::Method(method, self.part, Some(self.row.direction));
        let cx = context(UnknownFields::Drop);
        let outcome = mcp_revisions_core::values::convert(subject, from, to, text, cx);
        outcome.map_err(|failure| format!("not read in {from}: {failure}"))
    }

    /// The type that the part has where the way ends; none if the method is not there.
    fn target(&self) -> Option<&'static str> {
        let name = self.method_in(self.to);
        let mut rows = self.to.methods().iter();
        let row = rows.find(|row| row.name == name && row.direction == self.row.direction)?;
        let ty = self.to.type_named(self.part.of(row)?)?;
        Some(ty.rust_name)
    }

    /// Converts one sample, and checks what arrives.
    fn check(&self, world: &World<'_>, sample: &str) -> Result<Verdict, String> {
        let outcome = self.convert(self.from, self.to, sample)?;
        let is_exact = outcome.is_exact();
        let Some(there) = outcome.value() else {
            return Ok(Verdict::Stopped);
        };
        let there = there.text();
        let target = self
            .target()
            .ok_or("a value of a method that is not there")?;
        let judge = &world.side(self.to.id()).ok_or("no such side")?.judge;
        judge
            .check(target, there)
            .map_err(|problem| format!("the receiver refuses it: {problem}\n  to: {there}"))?;
        if !is_exact {
            return Ok(Verdict::Told);
        }
        let back = self.convert(self.to, self.from, there)?;
        if matches!(back, Outcome::RequiresState(_)) {
            return Ok(Verdict::OneWay);
        }
        let read = |text: &str| text::parse(text).map_err(|at| format!("no JSON at {at}"));
        let before = read(sample)?;
        let after = back.clone().value().map(|value| read(value.text()));
        let after = after.transpose()?;
        match after.is_some_and(|after| same_but_for_implied(&world.rules, &before, &after)) {
            true => Ok(Verdict::Exact),
            false => Err(format!(
                "exact, and comes back as another value: {back:?}\n  to: {there}"
            )),
        }
    }
}

fn ways() -> Vec<Way> {
    let revisions = || TABLES.revisions.iter().map(|row| row.id.parse().unwrap());
    let mut ways = Vec::new();
    for from in revisions() {
        for to in revisions().filter(|to| *to != from) {
            let from: Revision = from;
            for row in from.methods() {
                for part in [Part::Params, Part::Result] {
                    if part.of(row).is_some() {
                        ways.push(Way {
                            row,
                            part,
                            from,
                            to,
                        });
                    }
                }
            }
        }
    }
    ways
}

#[test]
fn what_arrives_is_valid_for_its_receiver_and_what_is_exact_comes_back() {
    let samples = number("ORACLE_SAMPLES", SAMPLES);
    let base = number("ORACLE_SEED", 1);
    let world = crate::specs::world();
    let results = parallel::map(&ways(), |way| {
        let side = world.side(way.from.id()).unwrap();
        let sampler = Sampler::new(side.model, side.id);
        let ty = way.from.type_named(way.part.of(way.row).unwrap()).unwrap();
        let (mut counts, mut failures) = ([0usize; 4], Vec::new());
        for index in 0..samples {
            let words = [&way.label(), &base.to_string(), &index.to_string()];
            let seed = seed(&words.map(String::as_str));
            let mut instance = sampler.instance(ty.rust_name, Recipe::Random, seed);
            // A result type that nobody knows is refused, and hides all else that the sample shows.
            if index % 8 != 0 && complete(&mut instance.node) {
                instance.text = instance.node.text(&mut Style::plain());
            }
            let sample = instance.text;
            match way.check(world, &sample) {
                Ok(verdict) => counts[verdict as usize] += 1,
                Err(problem) => {
                    let label = way.label();
                    failures.push(format!(
                        "{label}, seed {seed:#x}: {problem}\n  from: {sample}"
                    ));
                }
            }
        }
        (counts, failures)
    });
    let mut counts = [0; 4];
    let mut failures = Vec::new();
    for (more, problems) in results {
        for (all, one) in counts.iter_mut().zip(more) {
            *all += one;
        }
        failures.extend(problems);
    }
    let [stopped, told, exact, one_way] = counts;
    println!(
        "{exact} exact, {one_way} exact without a way back, {told} with what is told, {stopped} without a value"
    );
    assert!(
        exact > 1000 && told > 500,
        "the samples show too little: {counts:?}"
    );
    // One of each way, so that one defect does not hide another.
    let mut seen = BTreeSet::new();
    let is_first = |one: &&String| seen.insert(one.split(", seed").next().map(str::to_owned));
    let shown: Vec<String> = (failures.iter().filter(is_first).take(20))
        .map(|one| one.chars().take(1500).collect())
        .collect();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        shown.join("\n")
    );
}
