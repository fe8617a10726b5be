//! A way over several revisions is the sum of its steps, by method, by type and typed, with texts in between or without.

use mcp_revisions_core::values::{TABLES, convert_value};
use mcp_revisions_core::{
    Context, Loss, Outcome, Part, Revision, Severity, Subject, UnknownFields,
};
use mcp_revisions_core::{v2024_11_05, v2025_11_25, v2026_07_28};
use mcp_revisions_schema::model::Model;
use mcp_tests::parallel;
use mcp_tests::sampler::Sampler;
use mcp_tests::shims::steps::{self, Way, context};
use mcp_wire::Direction;

/// How many samples each part of a method has at least.
const LEAST: usize = 60;

/// A part of a method of a revision, and the type that it has there.
struct Start {
    at: usize,
    method: &'static str,
    part: Part,
    direction: Direction,
    rust_name: &'static str,
}

/// The type of a part of a method in a revision.
fn type_of(at: usize, method: &str, part: Part) -> Option<&'static str> {
    let revision = TABLES.revisions.get(at)?;
    let row = revision.methods.iter().find(|row| row.name == method)?;
    Some(revision.type_named(part.of(row)?)?.rust_name)
}

fn starts() -> Vec<Start> {
    let mut starts = Vec::new();
    for (at, revision) in TABLES.revisions.iter().enumerate() {
        for row in revision.methods {
            for part in [Part::Params, Part::Result] {
                if let Some(rust_name) = type_of(at, row.name, part) {
                    starts.push(Start {
                        at,
                        method: row.name,
                        part,
                        direction: row.direction,
                        rust_name,
                    });
                }
            }
        }
    }
    starts
}

#[test]
fn a_chain_is_the_composition_of_its_steps() {
    let models = crate::specs::models();
    let ways = steps::all();
    let revisions: Vec<&Model> = TABLES
        .revisions
        .iter()
        .map(|row| &models.get(row.id).unwrap().model)
        .collect();
    let counts = parallel::map(&starts(), |start| check(revisions[start.at], &ways, start));
    let [long, values]: [usize; 2] = counts
        .iter()
        .fold([0, 0], |all, one| [all[0] + one[0], all[1] + one[1]]);
    println!("{long} conversions over more than one step, {values} of them to a value");
    assert!(
        values > 10_000,
        "{values} of {long} long conversions came to a value"
    );
}

fn check(model: &Model, ways: &[Way], start: &Start) -> [usize; 2] {
    let id = TABLES.revisions[start.at].id;
    let sampler = Sampler::new(model, id);
    let mut counts = [0, 0];
    for instance in sampler.instances(start.rust_name, LEAST) {
        for to in 0..TABLES.revisions.len() {
            if to.abs_diff(start.at) < 2 {
                continue;
            }
            let subject = Subject::Method(start.method, start.part, Some(start.direction));
            let whole = mcp_revisions_core::values::convert(
                subject,
                revision(start.at),
                revision(to),
                &instance.text,
                context(UnknownFields::Drop),
            );
            let whole = match whole {
                Ok(outcome) => outcome.map(mcp_wire::Json::into_text),
                Err(failure) => panic!("{} {:?} of {id}: {failure}", start.method, start.part),
            };
            counts[0] += 1;
            counts[1] += usize::from(matches!(
                whole,
                Outcome::Exact(_) | Outcome::Reversible(..) | Outcome::Lossy(..)
            ));
            let Some(composed) = compose(ways, start, to, &instance.text) else {
                continue;
            };
            assert_eq!(
                whole, composed,
                "{} {:?} of {id}: {}",
                start.method, start.part, instance.text
            );
        }
    }
    counts
}

/// The same, step by step, with a text after each; none where the method itself ends the chain.
fn compose(ways: &[Way], start: &Start, to: usize, text: &str) -> Option<Outcome<String>> {
    let (mut at, mut name, mut text) = (start.at, start.rust_name, text.to_owned());
    let mut losses: Vec<Loss> = Vec::new();
    while at != to {
        let next = if at < to { at + 1 } else { at - 1 };
        let (pair, up) = (at.min(next), at < next);
        let gone = |direction| {
            let row = |row: &&mcp_convert::dynamic::MethodStep| {
                let fate = if up { row.up } else { row.down };
                row.method == start.method && row.direction == direction && fate.is_some()
            };
            TABLES.pairs[pair].methods.iter().any(|one| row(&one))
        };
        if gone(start.direction) {
            return None;
        }
        let wanted = type_of(next, start.method, start.part)?;
        let way = ways.iter().find(|way| {
            way.pair == pair
                && way.up == up
                && way.source.rust_name == name
                && way.target.rust_name == wanted
        });
        let way = way.unwrap_or_else(|| panic!("no way from {name} to {wanted}"));
        let outcome = way.there(&text, UnknownFields::Drop).unwrap();
        losses.extend(outcome.losses().iter().cloned());
        match outcome {
            Outcome::Exact(value) | Outcome::Reversible(value, _) | Outcome::Lossy(value, _) => {
                text = value;
            }
            stopped => return Some(stopped),
        }
        (at, name) = (next, wanted);
    }
    Some(match losses.iter().any(|loss| loss.change.is_loss()) {
        _ if losses.is_empty() => Outcome::Exact(text),
        true => Outcome::Lossy(text, losses),
        false => Outcome::Reversible(text, losses),
    })
}

fn revision(at: usize) -> Revision {
    TABLES.revisions[at].id.parse().unwrap()
}

#[test]
fn a_typed_chain_says_what_the_chain_of_texts_says() {
    let text = r#"{"name":"t","title":"T","inputSchema":{"type":"object"},"outputSchema":{"type":["object","null"]},
        "icons":[{"src":"https://example.com/i.png"}],"annotations":{"destructiveHint":true},"x-vendor":1.50}"#;
    let tool: v2026_07_28::Tool = mcp_wire::from_str(text).unwrap();
    let typed: Outcome<v2024_11_05::Tool> = convert_value(tool, Context::default());
    let texts = mcp_revisions_core::values::convert(
        Subject::Type("Tool"),
        Revision::V2026_07_28,
        Revision::V2024_11_05,
        text,
        Context::default(),
    );
    let typed = typed.map(|tool| mcp_wire::Json::of(&tool));
    assert_eq!(typed, texts.unwrap());
    let steps: Vec<&str> = typed.losses().iter().map(|loss| loss.step).collect();
    assert!(
        steps.contains(&"2025-11-25..2025-06-18") && steps.contains(&"2025-03-26..2024-11-05"),
        "{steps:?}"
    );
    let worst = typed.losses().iter().map(Loss::severity).max();
    assert_eq!(worst, Some(Severity::Safety));
}

#[test]
fn a_typed_chain_finds_its_way_through_types_of_other_names() {
    let reference = v2024_11_05::ResourceReference::new("file:///a");
    let there: Outcome<v2026_07_28::ResourceTemplateReference> =
        convert_value(reference.clone(), Context::default());
    let Outcome::Exact(there) = there else {
        panic!("{there:?}")
    };
    let back: Outcome<v2024_11_05::ResourceReference> = convert_value(there, Context::default());
    assert_eq!(back, Outcome::Exact(reference));
}

#[test]
fn a_typed_chain_ends_at_what_has_no_counterpart() {
    let tool = v2025_11_25::Tool::new("t", mcp_wire::JsonObject::new());
    let other: Outcome<v2024_11_05::Prompt> = convert_value(tool.clone(), Context::default());
    assert!(matches!(other, Outcome::Rejected(_)), "{other:?}");
    let same: Outcome<v2025_11_25::Tool> = convert_value(tool.clone(), Context::default());
    assert_eq!(same, Outcome::Exact(tool));
}

#[test]
fn every_type_is_found_by_its_rust_name() {
    for revision in TABLES.revisions {
        for row in revision.types {
            let found = revision.rust_type(row.rust_name).map(|row| row.name);
            assert_eq!(found, Some(row.name), "{}", revision.id);
        }
    }
}

#[test]
fn a_type_keeps_its_name_where_it_can() {
    let outcome = mcp_revisions_core::values::convert(
        Subject::Type("CallToolResult"),
        Revision::V2025_06_18,
        Revision::V2026_07_28,
        r#"{"content":[]}"#,
        Context::default(),
    );
    assert_eq!(
        outcome.unwrap().map(mcp_wire::Json::into_text),
        Outcome::Exact(r#"{"content":[],"resultType":"complete"}"#.to_owned())
    );
}

#[test]
fn the_draft_is_the_newest_revision() {
    for (from, to) in [
        (Revision::Draft, Revision::V2026_07_28),
        (Revision::V2026_07_28, Revision::Draft),
    ] {
        let text = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
        let outcome = mcp_revisions_core::values::convert(
            Subject::Type("Tool"),
            from,
            to,
            text,
            Context::default(),
        );
        let Ok(Outcome::Exact(value)) = outcome else {
            panic!("{outcome:?}")
        };
        assert!(
            mcp_tests::text::same(value.text(), text),
            "{}",
            value.text()
        );
    }
}
