//! Much of everything: the time grows with the size, and no faster.

use crate::says;
use std::time::Duration;

use mcp_revisions_diff::compare;
use mcp_revisions_schema::{Models, Spec};
use serde_json::{Map, Value, json};

use crate::diff::opened;
use crate::hostile_generator::{
    from_text, generated, object, reference, refused, refused_at, schema, string, within,
};
use crate::specs::{files, released};

/// Definitions of every kind that refer to each other, none of them large.
fn definitions(count: usize) -> Value {
    let name = |at: usize| format!("T{at}");
    let one = |at: usize| match at % 5 {
        0 => string(),
        1 => json!({"type": "array", "items": reference(&name(at - 1))}),
        2 => json!({"type": "string", "enum": ["a", "b"]}),
        3 => object(&[("next", reference(&name((at + 5) % count)))], &[]),
        _ => json!({"anyOf": [reference(&name(at - 1)), reference(&name(at - 2))]}),
    };
    let all: Map<String, Value> = (0..count).map(|at| (name(at), one(at))).collect();
    all.into()
}

/// How long this thread has been computing: what else runs on the machine does not count, where the system says so.
fn busy() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat");
    let of_thread = stat.ok().and_then(|text| {
        let nanoseconds = text.split_whitespace().next()?;
        nanoseconds.parse().ok().map(Duration::from_nanos)
    });
    of_thread.unwrap_or_else(|| {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    })
}

fn time(job: impl Fn()) -> Duration {
    let start = busy();
    job();
    busy() - start
}

/// All takes at most 24 times as long as an eighth: where a step is quadratic, it takes 64 times as long, and what sorts a
/// little more than eight. A busy machine is not three times as slow for the one as for the other, and a doubtful outcome
/// is measured again.
#[track_caller]
fn assert_linear(eighth: impl Fn(), all: impl Fn()) {
    let (mut small, mut large) = (Duration::MAX, Duration::MAX);
    for _ in 0..4 {
        small = small.min(time(&eighth));
        large = large.min(time(&all));
        if large < small * 24 {
            return;
        }
    }
    panic!("eight times the schema took {large:?} instead of {small:?}");
}

/// From the text of a schema to its model.
fn model(text: &str) {
    let revisions = released(&["one"]);
    let all = files(&[("revisions.toml", &revisions), ("one/schema.json", text)]);
    let spec = Spec::from_files(all).unwrap();
    let models = Models::build(&spec).unwrap();
    assert!(models.revisions[0].model.types.len() >= 2_000);
}

#[test]
fn the_time_of_definitions_grows_as_their_number() {
    let (small, large) = (schema(&definitions(2_500)), schema(&definitions(20_000)));
    assert_linear(|| model(&small), || model(&large));
}

/// Each holds the next by value: what holds itself is looked for along the whole chain.
#[test]
fn the_time_of_a_chain_of_structs_grows_as_its_length() {
    let chain = |count: usize| {
        let link = |at: usize| match at + 1 < count {
            true => object(&[("next", reference(&format!("T{}", at + 1)))], &["next"]),
            false => object(&[("last", reference("T0"))], &[]),
        };
        let all: Map<String, Value> = (0..count).map(|at| (format!("T{at}"), link(at))).collect();
        schema(&all.into())
    };
    let (small, large) = (chain(2_500), chain(20_000));
    assert_linear(|| model(&small), || model(&large));
}

/// All the way to the text of the crate, which takes some fifty times as long as the model:
/// as many as take some seconds.
#[test]
fn the_time_of_a_crate_grows_as_its_definitions() {
    let count = if cfg!(debug_assertions) { 250 } else { 2_500 };
    let (small, large) = (schema(&definitions(count)), schema(&definitions(8 * count)));
    let make = |text: &str, count: usize| assert_eq!(from_text(text).unwrap().types, count);
    assert_linear(|| make(&small, count), || make(&large, 8 * count));
}

/// Each value that came is a row with a message that shows it.
#[test]
fn the_time_of_a_diff_grows_as_its_values() {
    let side = |count: usize| {
        let values: Vec<String> = (0..count).map(|at| format!("value{at}")).collect();
        let method = json!({"type": "string", "const": "notifications/note"});
        let level = json!({"type": "string", "enum": values});
        let params = object(&[("level", level)], &["level"]);
        let note = object(&[("method", method), ("params", params)], &["method"]);
        let text = schema(&json!({"ClientNotification": reference("Note"), "Note": note}));
        opened("made.json", &serde_json::from_str(&text).unwrap(), true)
    };
    let (one, small, large) = (side(1), side(250), side(2_000));
    let rows = |new, count: usize| assert_eq!(compare(&one, new).rows.len(), count - 1);
    assert_linear(|| rows(&small, 250), || rows(&large, 2_000));
}

#[test]
fn what_doubles_at_every_level_is_refused_or_done_at_once() {
    let name = |letter: char, at: usize| format!("{letter}{at}");
    let levels = |leaf: &dyn Fn(char) -> Value, node: &dyn Fn(Value, Value) -> Value| {
        let mut all = Map::new();
        for letter in ['A', 'B'] {
            for at in 0..60 {
                let below = |letter| reference(&name(letter, at + 1));
                all.insert(name(letter, at), node(below('A'), below('B')));
            }
            all.insert(name(letter, 60), leaf(letter));
        }
        Value::Object(all)
    };
    let leaf = |letter: char| object(&[(&letter.to_string(), string())], &[&letter.to_string()]);
    let all_of = levels(&leaf, &|a, b| json!({"allOf": [a, b]}));
    let said = within(60, move || refused(&all_of));
    says(&said, "an `allOf` of at most 10000 schemas");
    let any_of = levels(&leaf, &|a, b| json!({"anyOf": [a, b]}));
    within(60, move || refused(&any_of));
    // Members that are joined are as many as the names, not as the ways to them.
    let members = levels(&leaf, &|a, b| object(&[("a", a), ("b", b)], &[]));
    within(60, move || generated(&members).unwrap());
}

#[test]
fn a_chain_of_aliases_ends_after_sixty_four() {
    let chain = |count: usize| {
        let mut all = Map::new();
        for at in 0..count {
            all.insert(format!("T{at:05}"), reference(&format!("T{:05}", at + 1)));
        }
        all.insert(format!("T{count:05}"), string());
        Value::Object(all)
    };
    generated(&chain(60)).unwrap();
    let long = chain(10_000);
    within(60, move || {
        refused_at(
            &long,
            "/$defs/T00000",
            "more than 64 aliases of each other: T00000 -> T00001",
        );
    });
}

#[test]
fn a_union_of_more_variants_than_a_reader_looks_for() {
    let union = |count: usize, tagged: bool| {
        let mut all = Map::new();
        let names: Vec<String> = (0..count).map(|at| format!("V{at}")).collect();
        for name in &names {
            let member = name.to_lowercase();
            let variant = match tagged {
                true => object(
                    &[("tag", json!({"const": member, "type": "string"}))],
                    &["tag"],
                ),
                false => object(&[(member.as_str(), string())], &[member.as_str()]),
            };
            all.insert(name.clone(), variant);
        }
        let variants: Vec<Value> = names.iter().map(|name| reference(name)).collect();
        all.insert("Any".to_owned(), json!({"anyOf": variants}));
        Value::Object(all)
    };
    generated(&union(128, false)).unwrap();
    refused_at(
        &union(200, false),
        "/$defs/Any",
        "200 variants without a tag",
    );
    let tagged = union(1_000, true);
    within(60, move || generated(&tagged).unwrap());
}
