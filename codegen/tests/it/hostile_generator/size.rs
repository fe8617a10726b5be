//! Much of everything, long and deep: it is done, or refused.

use crate::says;

use mcp_revisions_schema::{Models, Spec};
use serde_json::{Map, Value, json};

use crate::hostile_generator::{
    generated, object, reference, refused, refused_at, schema, string, within,
};
use crate::specs::{files, released};

/// Definitions of every kind that refer to each other, and a chain of structs each of which holds the next by value: what holds
/// itself is looked for along the whole chain, which no stack bears.
#[test]
fn twenty_thousand_definitions_make_a_model() {
    let one = |at: usize| match at {
        0..2_000 => match at % 5 {
            0 => string(),
            1 => json!({"type": "array", "items": reference(&format!("T{}", at - 1))}),
            2 => json!({"type": "string", "enum": ["a", "b"]}),
            3 => object(
                &[("next", reference(&format!("T{}", (at + 5) % 2_000)))],
                &[],
            ),
            _ => {
                json!({"anyOf": [reference(&format!("T{}", at - 1)), reference(&format!("T{}", at - 2))]})
            }
        },
        19_999 => object(&[("last", reference("T2000"))], &[]),
        _ => object(&[("next", reference(&format!("T{}", at + 1)))], &["next"]),
    };
    let all: Map<String, Value> = (0..20_000).map(|at| (format!("T{at}"), one(at))).collect();
    let (revisions, text) = (released(&["one"]), schema(&all.into()));
    let all = files(&[("revisions.toml", &revisions), ("one/schema.json", &text)]);
    let spec = Spec::from_files(all).unwrap();
    let models = Models::build(&spec).unwrap();
    assert_eq!(models.revisions[0].model.types.len(), 20_000);
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
